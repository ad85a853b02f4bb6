/*
 * due.h - triggers that wait for being run: what an upgrade, a phase of it, or a way back has called stays recorded until
 * `triggers` has run it or was told that it was done. Source: spec/apply.md, "Triggers".
 */
#ifndef INST_DUE_H
#define INST_DUE_H

#include "dray/json.h"

#include "installer/journal.h"

/** inst_due_stage - before the decision: those that the plan calls, into the transaction's folder, flushed */
DRAY_MUST_CHECK int inst_due_stage(struct inst_tx *tx, const struct inst_plan *p, const struct dray_desc *d,
    struct dray_err *e);

/**
 * inst_due_add - those of a transaction, up to the step @goal, wait from now on; repeatable
 * One that waits already has its place behind the others, and is as the newer release has it.
 */
DRAY_MUST_CHECK int inst_due_add(const struct inst_state *s, struct inst_tx *tx, uint8_t goal, struct dray_err *e);

/** inst_due_load - those that wait, in the order in which they run: an array, dray_json_free. Damaged: DRAY_E_SYSTEM */
DRAY_MUST_CHECK int inst_due_load(const struct inst_state *s, struct dray_json **list, struct dray_err *e);

/** inst_due_done - @id waits no more */
DRAY_MUST_CHECK int inst_due_done(const struct inst_state *s, const char *id, struct dray_err *e);

/** inst_due_id - of an element of such a list; never NULL */
const char *inst_due_id(const struct dray_json *t);

#endif
