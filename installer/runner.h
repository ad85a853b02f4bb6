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

#define INST_RAN_OUTPUT (16u * 1024u)

struct inst_program {
	int rootfd;		/* what / is for it; -1: the running system's. Another root needs the right to chroot(2) */
	char *const *argv;	/* NULL-terminated; argv[0] is an absolute path */
	unsigned timeout_s;	/* 0: it may take as long as it wants */
	int (*stop)(void);	/* nonzero: a signal was seen; may be NULL */
	bool confine;		/* os_confine: of another root, as far as it is to be had */
};

struct inst_ran {
	enum inst_ran_how how;
	int code;
	char output[INST_RAN_OUTPUT];	/* the end of what it wrote to standard output and error, NUL-terminated, not quoted */
	size_t len;
};

/**
 * inst_run_program - run it until it ends, or has to: then it is asked to, and killed 3 s later with all it has started
 * It stands in / and in a session of its own, has no open file of ours or of our caller, and ends with us, however we end.
 * Return: 0, whatever came of it; -1: it could not be started for want of memory or processes, or DRAY_E_SIGNAL by @stop.
 */
DRAY_MUST_CHECK int inst_run_program(const struct inst_program *p, struct inst_ran *out, struct dray_err *e);

/** inst_ran_text - how it ended, in words: "exit status 3" */
const char *inst_ran_text(const struct inst_ran *r, char out[80]);

#endif
