/*
 * copied.c - was a tree with its state folder brought to another place file by file, by a backup or by cp? A journal tells
 * objects by inode and birth time: of a copy it knows none, and every slot would look as if somebody else had been there.
 */
#include "installer/switch.h"

/* 1: the slot holds one of the op's two objects; 0: a third one; 2: nothing */
static int
known(struct inst_swapper *w, const struct inst_op *op, struct dray_err *e)
{
	struct inst_ident id;

	if (inst_slot_look(w, op, &id, e) != 0)
		return -1;
	if (id.type == DRAY_ABSENT)
		return 2;
	return inst_ident_object(&id, &op->old) || inst_ident_object(&id, &op->now);
}

int
inst_refuse_copy(const struct inst_state *s, struct inst_tx *tx, struct dray_err *e)
{
	const bool half = tx->state == INST_TX_COMMIT || tx->state == INST_TX_UNDO;
	struct inst_swapper w;
	struct inst_ident id;
	size_t thirds = 0;
	int r = 0;

	if (inst_slots_all(tx, e) != 0)
		return -1;
	inst_swapper_init(&w, s->root, tx, false);
	/* of a tree that was not copied the first one tells already, nearly always */
	for (size_t i = 0; i < tx->n_swaps && r != 1 && r != -1; i++) {
		r = known(&w, &tx->ops[i], e);
		if (r == 0) {
			thirds++;
			/* somebody replaced it in the moments of the switch: then the upgrade's object is in the tree */
			if (inst_look(&w.target, tx->ops[i].path, tx->ops[i].len, &id, NULL, e) != 0)
				r = -1;
			else if (id.type != DRAY_ABSENT && inst_ident_object(&id, &tx->ops[i].now))
				r = 1;
		}
	}
	inst_swapper_close(&w);
	if (r == -1 || r == 1 || thirds == 0)
		return r == -1 ? -1 : 0;
	dray_fail(e, DRAY_E_SYSTEM, "the tree was copied since: not one object in %s/tx/%06u is the one that was put there", s->rel,
	    (unsigned)tx->number);
	return dray_hint(e, half ? "nothing was changed; the tree is half switched: move that folder out of the way by hand, then apply "
	    "the bundle again" :
	    "nothing was changed; a copy has no way back: give it up with forget, or bring the tree to a release with repair BUNDLE");
}
