/*
 * child.h - a piece of a test in a process of its own, and its end: at once, or for coverage.sh by exit(3), which writes the counters.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

/* where the counters are, or NULL */
static inline const char *
child_counters(void)
{
	return getenv("DRAY_COUNTERS");
}

/* what a sanitizer does in exit(3) a confined process may not do */
static inline void
child_end(int status)
{
	if (child_counters() != NULL)
		exit(status);
	_exit(status);
}

/* its exit status, or 256 and the signal */
static inline int
child_status(pid_t pid)
{
	int status = -1;

	CHECK(pid != -1 && waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
