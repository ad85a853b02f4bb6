/*
 * due.h - triggers that wait for being run: what an upgrade, a phase of it, or a way back has called stays recorded until
 * it was run or somebody said that it was done. Source: spec/apply.md, "Triggers".
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
 * @back: those of the steps that were switched, because they are taken back
 */
DRAY_MUST_CHECK int inst_due_add(const struct inst_state *s, struct inst_tx *tx, uint8_t goal, bool back,
    struct dray_err *e);

/** inst_due_load - those that wait, in the order in which they run: an array of entries, dray_json_free. Damaged: DRAY_E_SYSTEM */
DRAY_MUST_CHECK int inst_due_load(const struct inst_state *s, struct dray_json **list, struct dray_err *e);

/** inst_due_called - those that a transaction calls, as entries; an array, dray_json_free */
DRAY_MUST_CHECK int inst_due_called(const struct inst_tx *tx, struct dray_json **list, struct dray_err *e);
bool inst_due_has(const struct dray_json *list, const char *id);
/** inst_due_allow - all that wait, and all that any transaction here calls, may be run later; lists that cannot be read call none */
void inst_due_allow(const struct inst_state *s);

/* of an entry: its trigger (an entry that is one already is given back), the number of the transaction that called it last
 * (0: a way back), whether it ran and failed since */
const struct dray_json *inst_due_trigger(const struct dray_json *entry);
uint32_t inst_due_of(const struct dray_json *entry);
bool inst_due_failed(const struct dray_json *entry);

/** inst_due_ended - it ran: @well: it waits no more; else it waits on, as one that failed */
DRAY_MUST_CHECK int inst_due_ended(const struct inst_state *s, const char *id, bool well, struct dray_err *e);

/** inst_due_id - of a trigger; never NULL */
const char *inst_due_id(const struct dray_json *t);

#endif
