/*
 * runner_in.h - private to the runner: its list of programs (runner_list.c), the process (runner_serve.c), and one program in
 * it (runner_child.c).
 */
#ifndef INST_RUNNER_IN_H
#define INST_RUNNER_IN_H

#include <stdint.h>

#include "installer/runner.h"

#define INST_ALLOWED_MAX 65536u
#define INST_ALLOWED_BYTES (2u * 1024u * 1024u)	/* words of one program; a trigger has at most 256 of 4096 bytes */

struct inst_allowed {
	enum inst_program_kind kind;
	unsigned timeout_s;
	char **argv;		/* and its words, in one block */
};

struct inst_allowed_list {
	struct inst_allowed *v;
	size_t n;
	uint64_t bytes;		/* of all words; bounded */
	bool sealed;
};

/** inst_allowed_add - @words: texts, each with its NUL, @len bytes in all; 1: it is there already */
DRAY_MUST_CHECK int inst_allowed_add(struct inst_allowed_list *l, enum inst_program_kind kind, unsigned timeout_s, const char *words,
    size_t len, struct dray_err *e);
/** inst_allowed_find - its number, or -1 */
long inst_allowed_find(const struct inst_allowed_list *l, enum inst_program_kind kind, unsigned timeout_s, char *const *argv);
void inst_allowed_free(struct inst_allowed_list *l);

/** inst_allowed_file_ok - a name that a check may be given: /STATE/tx/NNNNNN/check/NAME, @state the state folder */
bool inst_allowed_file_ok(const char *state, const char *file);
/** inst_allowed_with - @argv with @file for each %f, one block to be freed; NULL: no memory */
char **inst_allowed_with(char *const *argv, const char *file);

enum inst_runner_what { INST_ASK_ALLOW, INST_ASK_SEAL, INST_ASK_RUN, INST_ASK_STOP };

/* from the run to the runner; @len bytes follow */
struct inst_ask {
	uint32_t what;
	uint32_t a, b;		/* ALLOW: kind, timeout. RUN: number, 1: chroot */
	uint32_t len;		/* ALLOW: words. RUN: text */
};

enum inst_runner_said { INST_SAID_RAN, INST_SAID_STOPPED, INST_SAID_NOT_STARTED, INST_SAID_REFUSED };

/* ... and back, once for each RUN; @len bytes of output follow */
struct inst_answer {
	uint32_t said;
	uint32_t how;
	int32_t code;		/* NOT_STARTED: errno */
	uint32_t len;
};

/** inst_runner_serve - be the runner: until the other end of @asks is closed, which also ends what runs then. Ends the process */
_Noreturn void inst_runner_serve(int asks, int answers, int rootfd, const struct inst_runner_opts *o, struct inst_allowed_list *l);

/** inst_fd_write - @len bytes; false: the other end is gone */
bool inst_fd_write(int fd, const void *p, size_t len);

struct inst_child {
	char *const *argv;
	int rootfd;		/* what / is for it; -1: the running system's */
	bool confine;		/* os_confine */
	unsigned timeout_s;
	const char *input;	/* NULL: nothing */
	int asks;		/* heard while it runs: STOP, or the end */
};

/**
 * inst_child_run - as inst_run_program, in the runner
 * Return: what came of it; NOT_STARTED with out->code; when @asks ends or says anything but STOP, the process ends with it
 */
enum inst_runner_said inst_child_run(const struct inst_child *c, struct inst_ran *out);

#endif
