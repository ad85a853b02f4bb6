/*
 * journal.h - one transaction on disk: the plan of all ops, and an append-only log of 64-byte records that says how
 * far it is. The log, not the tree, decides what a run after a crash does. Source: spec/apply.md, "Journal".
 */
#ifndef INST_JOURNAL_H
#define INST_JOURNAL_H

#include "installer/plan.h"
#include "installer/state.h"

enum inst_tx_state {
	INST_TX_OPEN = 0,	/* no record: staging; drop it or use it again */
	INST_TX_COMMIT = 1,	/* decided: forward */
	INST_TX_DONE = 2,	/* switched and durable: the slots are the stash */
	INST_TX_FINISHED = 3,	/* floor and installed record are written */
	INST_TX_UNDO = 4,	/* decided: backward */
	INST_TX_UNDONE = 5,	/* back; the slots hold what is not wanted, and parked edits */
	INST_TX_FORGET = 6,	/* being deleted */
};

struct inst_tx {
	uint32_t number;
	int dir;			/* tx/NNNNNN */
	enum inst_tx_state state;
	bool went_back;			/* UNDO was decided by us, after a failed switch */
	uint32_t seq;			/* of the last record */
	uint8_t plan_sha256[32];
	/* from the plan file */
	struct inst_op *ops;		/* owned */
	size_t n_ops, n_swaps;
	char *arena;
	struct inst_installed from, to;	/* what the anchor said before, and what this brings */
};

/** inst_tx_list - numbers of all transactions, ascending; malloc'ed */
DRAY_MUST_CHECK int inst_tx_list(const struct inst_state *s, uint32_t **numbers, size_t *n, struct dray_err *e);

/** inst_tx_create - the folder of a new transaction, with its 64 slot folders */
DRAY_MUST_CHECK int inst_tx_create(const struct inst_state *s, struct inst_tx **out, struct dray_err *e);

/** inst_tx_open - of an existing one; the plan is read and its hash checked when the log has a record */
DRAY_MUST_CHECK int inst_tx_open(const struct inst_state *s, uint32_t number, struct inst_tx **out, struct dray_err *e);
void inst_tx_close(struct inst_tx *tx);

/** inst_tx_slot - "xx/N" of a slot */
const char *inst_tx_slot(uint32_t slot, char out[24]);

/** inst_tx_write_plan - plan file, written and fsync'ed; the ops are copied into @tx */
DRAY_MUST_CHECK int inst_tx_write_plan(struct inst_tx *tx, const struct inst_plan *p, const struct inst_installed *from,
    const struct inst_installed *to, struct dray_err *e);

/** inst_tx_record - append one record and fdatasync: COMMIT is the decision */
DRAY_MUST_CHECK int inst_tx_record(struct inst_tx *tx, enum inst_tx_state state, uint32_t arg, struct dray_err *e);

/** inst_tx_drop - delete the folder and all in it, never crossing a mount, never following a symlink */
DRAY_MUST_CHECK int inst_tx_drop(const struct inst_state *s, uint32_t number, struct dray_err *e);

#endif
