/*
 * switch.h - the parts of commit that recovery and rollback use too
 */
#ifndef INST_SWITCH_H
#define INST_SWITCH_H

#include "installer/commit.h"
#include "installer/swap.h"

/**
 * inst_barrier - everything written so far is on the disk; write-back errors are told (barrier.c)
 * @switched: after the swaps; else before them. Matters only where there is no syncfs.
 */
DRAY_MUST_CHECK int inst_barrier(const struct inst_state *s, struct inst_tx *tx, bool switched, struct dray_err *e);

/** inst_run_ops - all swaps of the steps in question (backwards when @back), then their METAs;
 * repeatable. @fresh: straight after staging.
 * @f: targets of METAs that are somebody else's object now, left alone */
DRAY_MUST_CHECK int inst_run_ops(const struct inst_state *s, struct inst_tx *tx, bool back, bool fresh,
    struct inst_foreign *f, struct dray_err *e);

/** inst_undo_step - the steps after tx->done backwards; the transaction is between two steps again */
DRAY_MUST_CHECK int inst_undo_step(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f,
    struct dray_err *e);

/** inst_roll_forward - from the COMMIT record to DONE; a failure is undone by itself (DRAY_E_WENT_BACK) */
DRAY_MUST_CHECK int inst_roll_forward(const struct inst_state *s, struct inst_tx *tx, bool fresh,
    struct inst_foreign *f, struct dray_err *e);

/**
 * inst_refuse_copy - may recovery and rollback go by what the slots hold? DRAY_E_SYSTEM when the tree was copied (copied.c)
 */
DRAY_MUST_CHECK int inst_refuse_copy(const struct inst_state *s, struct inst_tx *tx, struct dray_err *e);

/** inst_foreign_add - @path quoted; once only */
DRAY_MUST_CHECK int inst_foreign_add(struct inst_foreign *f, const char *path, size_t len, struct dray_err *e);

/**
 * inst_free_slots - delete what the slots hold, but keep local edits and foreign objects, naming them in @f
 * @old_side: after a commit (the slots hold old objects) or after an undo (new ones)
 * Repeatable: a slot is moved to the trash folder before it is taken apart.
 */
DRAY_MUST_CHECK int inst_free_slots(const struct inst_state *s, struct inst_tx *tx, bool old_side, size_t *freed,
    size_t *kept, struct inst_foreign *f, struct dray_err *e);

/** inst_prune_heads - delete stored heads, and records of what was left alone, that neither the anchor nor a transaction names */
DRAY_MUST_CHECK int inst_prune_heads(const struct inst_state *s, struct dray_err *e);

/** inst_forget_go_on - finish a FORGET that was begun */
DRAY_MUST_CHECK int inst_forget_go_on(const struct inst_state *s, struct inst_tx *tx, size_t *freed, size_t *kept,
    struct inst_foreign *f, struct dray_err *e);

/** inst_undo_end - after UNDONE: anchor, mark, and the slots nobody wants; repeatable */
DRAY_MUST_CHECK int inst_undo_end(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f,
    struct dray_err *e);

#endif
