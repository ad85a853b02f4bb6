/*
 * run_trigger.h - one declared program run, and what is kept of that.
 */
#ifndef INST_RUN_TRIGGER_H
#define INST_RUN_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/json.h"

struct inst_trigger_end {
	enum dray_code code;	/* DRAY_OK, or DRAY_E_TRIGGER and then why */
	char why[120];
	int64_t ms;		/* how long it took */
	char *output;		/* the end of what it said: printable UTF-8 with line feeds; never NULL */
};

struct inst_ran;
/** inst_ran_printable - what a program said, line by line, for a terminal; malloc'ed, NULL: no memory */
char *inst_ran_printable(const struct inst_ran *ran);

/** inst_trigger_allow - that one may be run later; before the runner is sealed */
int inst_trigger_allow(const struct dray_json *t, struct dray_err *e);

/**
 * inst_trigger_run - run @t, which dray_trigger_check has passed, in the tree that the runner was made for
 * @other: that is not the root of this system: a chroot, confined as far as it is to be had
 * Return: 0, whatever became of it; -1: it could not be started, or DRAY_E_SIGNAL
 */
DRAY_MUST_CHECK int inst_trigger_run(const struct dray_json *t, bool other, struct inst_trigger_end *r, struct dray_err *e);
void inst_trigger_end_free(struct inst_trigger_end *r);

#endif
