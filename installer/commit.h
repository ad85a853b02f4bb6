/*
 * commit.h - the switch, the way back, and what a run after a crash does. Source: spec/apply.md, "Commit".
 */
#ifndef INST_COMMIT_H
#define INST_COMMIT_H

#include "installer/journal.h"

/* paths told to the user after a switch: objects somebody else put in a target's place, or edited since */
struct inst_foreign {
	char **paths;		/* quoted text, owned */
	size_t n, cap;
};
void inst_foreign_free(struct inst_foreign *f);

/**
 * inst_commit - barrier A, COMMIT record, swaps, METAs, barrier B, DONE record
 * @tx: its plan is written. Fails before the record: nothing live changed, the code is the failure's own. After it:
 * undone by itself and DRAY_E_WENT_BACK, or DRAY_E_IO when even that failed (the next run goes on).
 * @goal: the last step to switch, INST_STEP_ALL for the rest. With more steps to come it ends between them:
 * inst_tx_between, and inst_finish has to wait. What is undone by itself are the steps of this call.
 * @f: objects that were not what plan saw; they are in their slots, and forget keeps them
 */
DRAY_MUST_CHECK int inst_commit(const struct inst_state *s, struct inst_tx *tx, uint8_t goal, struct inst_foreign *f,
    struct dray_err *e);

/** inst_undo - UNDO record, the same ops backwards, barrier, UNDONE record, anchor as before, slots freed but for
 * objects edited since, which @f names; evidence */
DRAY_MUST_CHECK int inst_undo(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e);

/** inst_finish - stored head, evidence (which names @f), anchor, FINISHED record */
DRAY_MUST_CHECK int inst_finish(const struct inst_state *s, struct inst_tx *tx, const struct inst_foreign *f,
    struct dray_err *e);

enum inst_pending {
	INST_PENDING_NONE,
	INST_PENDING_STAGED,	/* an unfinished staging: costs room only; apply uses it again, resume drops it */
	INST_PENDING_FORWARD, INST_PENDING_BACKWARD, INST_PENDING_FINISH, INST_PENDING_FORGET,
	INST_PENDING_BETWEEN,	/* between two steps, as it was asked for: no run finishes that by itself */
};

/** inst_between - the transaction that is between two steps, opened for writing; *out NULL: none */
DRAY_MUST_CHECK int inst_between(const struct inst_state *s, struct inst_tx **out, struct dray_err *e);

/** inst_pending - read-only: is there something a writing run would finish first? *number: which */
DRAY_MUST_CHECK int inst_pending(const struct inst_state *s, enum inst_pending *what, uint32_t *number, struct dray_err *e);

/**
 * inst_recover - finish what is pending; the lock is held
 * @back: a commit without its end goes backward instead of forward
 * @drop_staged: delete an unfinished staging too
 * @did: what was finished, or begun and not finished on failure (the gravest)
 */
DRAY_MUST_CHECK int inst_recover(const struct inst_state *s, bool back, bool drop_staged, enum inst_pending *did,
    struct inst_foreign *f, struct dray_err *e);

/** inst_stash - the newest transaction that can be rolled back, opened; *out NULL when there is none */
DRAY_MUST_CHECK int inst_stash(const struct inst_state *s, bool write, struct inst_tx **out, struct dray_err *e);

/** inst_parked - names of the objects in @tx's slots that are nobody's to free: local edits and foreign objects
 * @f: "path (slot xx/N)"; */
DRAY_MUST_CHECK int inst_parked(const struct inst_state *s, const struct inst_tx *tx, struct inst_foreign *f,
    struct dray_err *e);

struct inst_forgotten { size_t generations, slots, kept; bool begun; };	/* begun: set on failure too */
/** inst_forget - free all stashes but the @keep newest; parked objects only with @parked. There is no way back over them */
DRAY_MUST_CHECK int inst_forget(const struct inst_state *s, bool parked, size_t keep, struct inst_forgotten *out,
    struct dray_err *e);

#endif
