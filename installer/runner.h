/*
 * runner.h - one program of the target, run to its end: no shell, a fixed environment, nothing to read, its output kept, and
 * not longer than it may take.
 */
#ifndef INST_RUNNER_H
#define INST_RUNNER_H

#include <stdbool.h>
#include <stddef.h>

#include "dray/err.h"

enum inst_ran_how {
	INST_RAN_EXIT,		/* by itself: @code is its exit status */
	INST_RAN_SIGNAL,	/* by a signal: @code is its number */
	INST_RAN_TIMEOUT,	/* it took too long and was killed, with all that it had started */
	INST_RAN_MISSING,	/* there is no such program, or it is none: @code is the errno */
};

struct inst_ran {
	enum inst_ran_how how;
	int code;
	char output[1024];	/* the end of what it wrote to standard output and error, NUL-terminated, not quoted */
	size_t len;
};

/**
 * inst_run_program - run argv[0], an absolute path, with these arguments
 * @rootfd: what / is for it; -1: the running system's. Another root needs the right to chroot(2)
 * @argv: NULL-terminated
 * @stop: nonzero: a signal was seen, it is killed and DRAY_E_SIGNAL returned; may be NULL
 * It stands in / and in a process group of its own. Open files of ours are closed for it (O_CLOEXEC).
 * Return: 0, whatever came of it; -1: it could not be started for want of memory or processes, or DRAY_E_SIGNAL.
 */
DRAY_MUST_CHECK int inst_run_program(int rootfd, char *const *argv, unsigned timeout_s, int (*stop)(void),
    struct inst_ran *out, struct dray_err *e);

/** inst_ran_text - how it ended, in words: "exit status 3" */
const char *inst_ran_text(const struct inst_ran *r, char out[80]);

#endif
