/*
 * swap.h - one journalled operation, forward or backward, repeatable from any point.
 *
 * The slot decides: only this program touches slots, and neither the old nor the new object is freed while a
 * transaction lives, so type, inode and birth time name each of them for certain. What lies in the target's place
 * may be anybody's; it is swapped all the same and stays in its slot. Source: spec/apply.md, "Swap".
 */
#ifndef INST_SWAP_H
#define INST_SWAP_H

#include "dray/path.h"

#include "installer/journal.h"

struct inst_swapper {
	struct inst_tx *tx;
	struct dray_walk target, slot;	/* beneath the root, beneath the folder of the slots of one file system */
	uint8_t site;			/* of @slot */
	bool fresh;			/* first run after staging: every op is known to be undone */
};

void inst_swapper_init(struct inst_swapper *w, int root, struct inst_tx *tx, bool fresh);
void inst_swapper_close(struct inst_swapper *w);

/**
 * inst_swap - do one SWAP; @back: undo it
 * Whatever plan never saw and stood in the way is in the slot afterwards; inst_slot_holds_untouched tells.
 */
DRAY_MUST_CHECK int inst_swap(struct inst_swapper *w, const struct inst_op *op, bool back, struct dray_err *e);

/** inst_dir_time - a directory that arrived gets its own time again: xfs changes it when two names are exchanged */
DRAY_MUST_CHECK int inst_dir_time(struct inst_swapper *w, const struct inst_op *op, bool back, struct dray_err *e);

/** inst_fflags_op - of the file flags in @mask set exactly those in @fflags on what is at the op's path now, if that is
 * the op's old or new object. Those that its file system does not keep are left out. */
DRAY_MUST_CHECK int inst_fflags_op(struct inst_swapper *w, const struct inst_op *op, uint8_t mask, uint8_t fflags,
    struct dray_err *e);

/**
 * inst_meta_op - do one META
 * @m: what to set: op->after, op->before, or a part of one of them
 * @back: on the way back, where what refuses to be changed was not changed forward either
 * *foreign: another object is there now, left alone
 */
DRAY_MUST_CHECK int inst_meta_op(struct inst_swapper *w, const struct inst_op *op, const struct inst_meta *m, bool back,
    bool *foreign, struct dray_err *e);

/** inst_slot_look - what is in the op's slot */
DRAY_MUST_CHECK int inst_slot_look(struct inst_swapper *w, const struct inst_op *op, struct inst_ident *id,
    struct dray_err *e);

/** inst_slot_holds_untouched - is the slot's object exactly the op's old one (@old) or new one, inside too? */
DRAY_MUST_CHECK int inst_slot_holds_untouched(struct inst_swapper *w, const struct inst_op *op, bool old, bool *yes,
    struct dray_err *e);

#endif
