/*
 * trace.h - run a program and stop it on entry to chosen system calls, in any of its threads and children
 *
 * A seccomp filter picks the calls, so that all others run at full speed; ptrace brings the stops. Linux only.
 */
#ifndef TESTS_TRACE_H
#define TESTS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum trace_test {
	TRACE_ALWAYS,
	TRACE_CREATES,		/* openat: only with O_CREAT or O_TMPFILE */
	TRACE_NOT_STANDARD,	/* only on handles above the three standard ones */
};

struct trace_call {
	const char *name;
	unsigned int number;
	enum trace_test test;
};

enum trace_next {
	TRACE_GO,	/* on with the call, or with what was made of it */
	TRACE_LEAVE,	/* on, and stop once more at its end */
	TRACE_KILL,	/* kill all of the program's processes: the call never happens */
};

struct trace_watch {
	const char *self;	/* name of the tracer, for its messages */
	const struct trace_call *calls;
	size_t n_calls;
	enum trace_next (*enter)(pid_t thread, size_t row, void *ctx);	/* a call of row @row begins */
	void (*leave)(pid_t thread, void *ctx);		/* the end of one for which enter said TRACE_LEAVE; may be NULL */
	void (*loaded)(pid_t thread, void *ctx);	/* right after the exec of the program; may be NULL */
	void *ctx;
};

/**
 * trace_run - run @argv[0] (a path) with @argv under @w until all its processes have ended
 * Return: its exit status, 128 + N when signal N ended it, 125 when it could not be run or traced.
 */
int trace_run(const struct trace_watch *w, char **argv);

#endif
