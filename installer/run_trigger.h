/*
 * run_trigger.h - one declared program run, and what is kept of that.
 */
#ifndef INST_RUN_TRIGGER_H
#define INST_RUN_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/json.h"

#include "installer/state.h"

struct inst_trigger_end {
	enum dray_code code;	/* DRAY_OK, or DRAY_E_TRIGGER and then why */
	char why[120];
	int64_t ms;		/* how long it took */
	char *output;		/* the end of what it said: printable UTF-8 with line feeds; never NULL */
};

/**
 * inst_trigger_run - run @t, which dray_trigger_check has passed, beneath the root of @s
 * @other: that is not the root of this system: a chroot, confined as far as it is to be had
 * Return: 0, whatever became of it; -1: it could not be started, or DRAY_E_SIGNAL
 */
DRAY_MUST_CHECK int inst_trigger_run(const struct inst_state *s, const struct dray_json *t, bool other,
    struct inst_trigger_end *r, struct dray_err *e);
void inst_trigger_end_free(struct inst_trigger_end *r);

#endif
