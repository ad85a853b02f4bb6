/*
 * commit.h - the switch, the way back, and what a run after a crash does. Source: spec/apply.md, "Commit".
 */
#ifndef INST_COMMIT_H
#define INST_COMMIT_H

#include "installer/journal.h"

struct inst_foreign { char **paths; size_t n; };	/* objects somebody else put in a target's place; now in their slots */
void inst_foreign_free(struct inst_foreign *f);

/** inst_commit - barrier A, COMMIT record, swaps, METAs, barrier B, DONE record
 * Fails before the record: nothing live changed. After it: undone by itself and DRAY_E_WENT_BACK. */
DRAY_MUST_CHECK int inst_commit(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e);

/** inst_undo - UNDO record, the same ops backwards, barrier, UNDONE record */
DRAY_MUST_CHECK int inst_undo(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e);

enum inst_pending { INST_PENDING_NONE, INST_PENDING_FORWARD, INST_PENDING_BACKWARD, INST_PENDING_FORGET, INST_PENDING_FINISH };

/** inst_pending - read-only: is there something a writing run would finish first? *number: which */
DRAY_MUST_CHECK int inst_pending(const struct inst_state *s, enum inst_pending *what, uint32_t *number, struct dray_err *e);

/** inst_recover - finish it: COMMIT without DONE forward (or @back), UNDO without UNDONE backward, FORGET deleting,
 * DONE without FINISHED: record what is installed */
DRAY_MUST_CHECK int inst_recover(const struct inst_state *s, bool back, enum inst_pending *did, struct inst_foreign *f,
    struct dray_err *e);

/** inst_finish - anchor, stored head (already in the transaction), FINISHED record */
DRAY_MUST_CHECK int inst_finish(const struct inst_state *s, struct inst_tx *tx, struct dray_err *e);

#endif
