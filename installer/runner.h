/*
 * runner.h - programs, run by a process that was made before anything foreign was read. Which ones there are is told to it once;
 * from then on they are asked for by their number. Each is run to its end: no shell, a fixed environment, its output kept, and
 * not longer than it may take. Source: spec/apply.md, "Programs".
 */
#ifndef INST_RUNNER_H
#define INST_RUNNER_H

#include <stdbool.h>
#include <stddef.h>

#include "dray/err.h"

enum inst_program_kind {
	INST_PROGRAM_TRIGGER,
	INST_PROGRAM_CONFINED,	/* a trigger that needs nothing of the running system, and gets nothing of it there either */
	INST_PROGRAM_CHECK,	/* of a merged file: each %f in its words becomes the name of a copy of it */
	INST_PROGRAM_HOOK,	/* of the site: always in the running system, something to read on standard input */
};

struct inst_runner_opts {
	const char *root;	/* the tree; opened before the process is made */
	const char *state;	/* the state folder beneath it, without a leading slash */
	bool here;		/* the tree is the running system's, so its programs may be run as they are */
	bool chroot;		/* ... in a chroot(2), confined by os_confine */
};

/** inst_runner_begin - make the process; where that fails, the first program to be run fails for it */
void inst_runner_begin(const struct inst_runner_opts *o);
/** inst_runner_end - and wait until it is gone */
void inst_runner_end(void);

/**
 * inst_runner_allow - a program that may be run; several that are alike are one. Before begin, or until seal
 * @argv: copied; argv[0] is an absolute path
 * @timeout_s: 0: it may take as long as it wants
 */
DRAY_MUST_CHECK int inst_runner_allow(enum inst_program_kind kind, unsigned timeout_s, char *const *argv, struct dray_err *e);
/** inst_runner_seal - these are all; where there is none, there is nothing left to do for the process */
DRAY_MUST_CHECK int inst_runner_seal(struct dray_err *e);

enum inst_ran_how {
	INST_RAN_EXIT,		/* by itself: @code is its exit status */
	INST_RAN_SIGNAL,	/* by a signal: @code is its number */
	INST_RAN_TIMEOUT,	/* it took too long and was killed, with all that it had started */
	INST_RAN_MISSING,	/* there is no such program, or it is none: @code is the errno */
};

#define INST_RAN_OUTPUT (16u * 1024u)
#define INST_RAN_INPUT (64u * 1024u)

struct inst_program {
	enum inst_program_kind kind;
	char *const *argv;	/* as it was allowed, and ... */
	unsigned timeout_s;	/* ... with this */
	bool chroot;		/* in the tree as the root, which needs the right to chroot(2); else in the running system */
	const char *text;	/* CHECK: the name for %f; HOOK: what it reads, less than INST_RAN_INPUT bytes; else NULL */
	int (*stop)(void);	/* nonzero: a signal was seen; may be NULL */
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
 * Return: 0, whatever came of it; -1: it is none that was allowed, could not be started for want of memory or processes, or
 * DRAY_E_SIGNAL by @stop.
 */
DRAY_MUST_CHECK int inst_run_program(const struct inst_program *p, struct inst_ran *out, struct dray_err *e);

/** inst_ran_text - how it ended, in words: "exit status 3" */
const char *inst_ran_text(const struct inst_ran *r, char out[80]);

#endif
