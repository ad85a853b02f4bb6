/*
 * carry.h - one run that changes the tree, shared by apply and repair: finish what is pending, plan, stage, commit,
 * finish. Until the commit record nothing live is changed. Source: spec/apply.md.
 */
#ifndef INST_CARRY_H
#define INST_CARRY_H

#include "installer/cmd.h"

struct inst_carry {
	struct inst_front f;
	const char *plan_id;		/* --plan, or NULL */
	struct inst_plan *p;
	struct inst_tx *tx, *earlier;	/* after begin: @tx is between two phases, or NULL. @earlier: an interrupted staging whose files can be taken over */
	struct inst_foreign foreign;	/* changed by somebody else during the switch */
	enum inst_pending recovered;
	uint64_t memory;		/* --memory; 0: not given */
	bool verify_writes;
	struct inst_run_due due;	/* triggers that were run at the end */
	bool rules;			/* policies count: those of the site and of the bundle */
	uint64_t keep;			/* --keep; UINT64_MAX: not given */
	struct inst_forgotten freed;	/* old generations that were freed for it */
	bool locked;			/* the state folder was there, and is ours */
	bool done, reboot;
};

/* options of every command that carries out a plan; the table ends after them */
#define INST_OPTS_CARRY(a) \
	{ .name = "memory", .kind = TOOL_SIZE, .out = &(a).memory, .arg = "SIZE", .min = 1, .max = INT64_MAX, \
	    .help = "for frames in work; fewer workers keep to it" }, \
	{ .name = "verify-writes", .kind = TOOL_FLAG, .out = &(a).verify_writes, \
	    .help = "read all that was written back from the disk first" }, \
	INST_OPTS_TRIGGERS((a).f)

void inst_carry_init(struct inst_carry *a, const char *verb);
void inst_carry_close(struct inst_carry *a);

/** inst_carry_id_ok - is --plan, if given, the text of an id? DRAY_E_USAGE */
DRAY_MUST_CHECK int inst_carry_id_ok(const struct inst_carry *a, struct dray_err *e);

/** inst_carry_begin - bundle, state folder if there is one, and what an interrupted run left is finished */
DRAY_MUST_CHECK int inst_carry_begin(struct inst_carry *a, struct dray_err *e);

/** inst_carry_go_on - between two phases (@a->tx is set after begin): the next step of that upgrade */
DRAY_MUST_CHECK int inst_carry_go_on(struct inst_carry *a, struct dray_err *e);

/** inst_carry_plan - a plan that may go ahead; a refusal's plan is in @a->p for the report, if it came that far */
DRAY_MUST_CHECK int inst_carry_plan(struct inst_carry *a, struct dray_err *e);

/**
 * inst_carry_out - stage, commit, finish; nothing when the plan has no ops
 * @to: what the tree is to be recorded as
 * @head: keep the bundle's head as the record of the release
 */
DRAY_MUST_CHECK int inst_carry_out(struct inst_carry *a, const struct inst_installed *to, bool head, struct dray_err *e);

/**
 * inst_carry_triggers - after the end of an upgrade or a phase: run what waits, if it may be run
 * Failures are in @a->due, for the end of the run; -1: interrupted, I/O, or DRAY_E_WENT_BACK
 */
DRAY_MUST_CHECK int inst_carry_triggers(struct inst_carry *a, struct dray_err *e);

/** inst_carry_keep - after the end of an upgrade: free the generations that --keep does not keep */
DRAY_MUST_CHECK int inst_carry_keep(struct inst_carry *a, struct dray_err *e);

/** inst_touches_boot - does a swap of the steps in (@after, @upto] change what lies in boot? */
bool inst_touches_boot(const struct inst_op *ops, size_t n_swaps, uint8_t after, uint8_t upto);

/** inst_carry_error - a run has failed: the site's hooks hear of it, and so does the caller. Return: the exit status */
int inst_carry_error(struct inst_carry *a, const struct dray_err *e);

/** inst_carry_status - the exit status of a run that did not fail, --exit-detail or not */
int inst_carry_status(const struct inst_carry *a);

/** inst_carry_told - what others changed meanwhile, and what a change of / needs after it */
void inst_carry_told(const struct inst_carry *a);

/** inst_carry_json - "result", "reboot" and "foreign" */
void inst_carry_json(const struct inst_carry *a, struct dray_json *o);

#endif
