/*
 * journal.h - one transaction on disk: the plan of all ops, and an append-only log of 64-byte records that says how
 * far it is. The log, not the tree, decides what a run after a crash does. Source: spec/apply.md, "Journal".
 */
#ifndef INST_JOURNAL_H
#define INST_JOURNAL_H

#include "installer/plan.h"
#include "installer/files.h"
#include "installer/slots.h"
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

/* arg of a COMMIT, DONE or UNDO record: in bits 8 to 15 the step, 0 for all of them */
enum { INST_COMMIT_UNSYNCED = 1, INST_ARG_STEP_SHIFT = 8 };
#define INST_STEP_ALL 255u
enum { INST_FORGET_BEGUN = 0, INST_FORGET_DONE = 1, INST_FORGET_ALL = 2 };	/* arg of a FORGET record */

struct inst_tx {
	uint32_t number;
	int dir;			/* tx/NNNNNN */
	int log;			/* -1: opened read-only */
	enum inst_tx_state state;
	uint32_t arg;			/* of the last record */
	bool unsynced;			/* committed without flushing anything (--no-sync) */
	uint8_t goal, done;		/* the last step decided, the last one switched; 0: none */
	uint8_t last;			/* the last step that has an op */
	bool undo_step;			/* UNDO: only of the steps after @done */
	uint32_t seq;			/* of the last record, 0: none */
	bool has_plan;			/* everything below is filled */
	uint8_t plan_sha256[32];
	struct inst_op *ops;		/* owned; path points into @arena */
	size_t n_ops, n_swaps;
	struct inst_text *along;	/* owned list; local objects inside directories in the stash */
	size_t n_along;
	struct inst_text *outputs;	/* owned list; of triggers, as in the plan */
	size_t n_outputs;
	char (*phases)[65];		/* owned names, in order: step N is phases[N - 1] */
	size_t n_phases;
	uint8_t plan_id[32], policy_id[32];
	uint8_t *arena;			/* the plan file's bytes */
	struct inst_installed from, to;	/* what the anchor said before, and what this brings */
	struct inst_slots *slots;	/* by op->site; number 0 lies in @dir */
	size_t n_slots;
	uint8_t slots_sha256[32];	/* of the file that names them; zero when there is one only */
};

/** inst_tx_list - numbers of all transactions, ascending; malloc'ed */
DRAY_MUST_CHECK int inst_tx_list(const struct inst_state *s, uint32_t **numbers, size_t *n, struct dray_err *e);

/** inst_tx_create - the folder of a new transaction, with the folders of the plan's slots, an empty log and the ballast */
DRAY_MUST_CHECK int inst_tx_create(const struct inst_state *s, const struct inst_plan *p, struct inst_tx **out,
    struct dray_err *e);

/** inst_tx_open - of an existing one; the plan is read and its hash checked when the log has a record
 * @write: for a run that holds the lock */
DRAY_MUST_CHECK int inst_tx_open(const struct inst_state *s, uint32_t number, bool write, struct inst_tx **out,
    struct dray_err *e);
void inst_tx_close(struct inst_tx *tx);

/** inst_tx_slot - "xx/N" of a slot, beneath the folder that inst_slots_of gives; runs of neighbours share a folder */
#define INST_SLOT_FOLDERS 64u
#define INST_SLOT_RUN 1024u
const char *inst_tx_slot(uint32_t slot, char out[24]);

/** inst_tx_write_head - head of the bundle (signature, descriptor, index), for check after the end; read back and proven */
DRAY_MUST_CHECK int inst_tx_write_head(struct inst_tx *tx, const struct dray_bundle *b, struct dray_err *e);

/** inst_tx_write_plan - plan file, written and fsync'ed */
DRAY_MUST_CHECK int inst_tx_write_plan(struct inst_tx *tx, const struct inst_plan *p, const struct inst_installed *from,
    const struct inst_installed *to, struct dray_err *e);
/** inst_tx_take_plan - read back into @tx: what commit works on is what a later run would read */
DRAY_MUST_CHECK int inst_tx_take_plan(struct inst_tx *tx, struct dray_err *e);

/** inst_tx_between - some steps are switched and others wait for the operator: nothing goes on by itself */
bool inst_tx_between(const struct inst_tx *tx);

/** inst_tx_record - append one record and fdatasync: COMMIT is the decision */
DRAY_MUST_CHECK int inst_tx_record(struct inst_tx *tx, enum inst_tx_state state, uint32_t arg, struct dray_err *e);

/** inst_tx_shrink_ballast - give back the room kept for the switch, but for a little that rollback may need */
void inst_tx_shrink_ballast(struct inst_tx *tx);

/**
 * inst_tx_made_room - something failed: was it for want of room, and is there any to give back?
 * Only while a switch or its undoing goes on. Return: true, @e cleared: try again. It ends being true.
 */
bool inst_tx_made_room(struct inst_tx *tx, struct dray_err *e);

/** inst_tx_drop - delete the folder and all in it; slots first, the log last, so that a cut leaves a state to go on from */
DRAY_MUST_CHECK int inst_tx_drop(const struct inst_state *s, uint32_t number, struct dray_err *e);

/* plan_file.c */
DRAY_MUST_CHECK int inst_plan_encode(const struct inst_plan *p, const struct inst_tx *tx,
    const struct inst_installed *from, const struct inst_installed *to, uint8_t **out, size_t *len, struct dray_err *e);
/** inst_plan_decode - fills ops, n_ops, n_swaps, along, n_along, from, to of @tx from tx->arena; DRAY_E_IO when it is damaged */
DRAY_MUST_CHECK int inst_plan_decode(struct inst_tx *tx, size_t len, struct dray_err *e);

#endif
