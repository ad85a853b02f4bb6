/*
 * commit.c - the switch and the way back: two barriers, one deciding record, no log per operation.
 *
 *   barrier A  everything staged, the plan and the log's name are on the disk
 *   COMMIT     the decision
 *   swaps, METAs
 *   barrier B  the switch is on the disk
 *   DONE
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"

#include "installer/commit.h"
#include "installer/evidence.h"
#include "installer/switch.h"

void
inst_foreign_free(struct inst_foreign *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->paths[i]);
	free(f->paths);
	*f = (struct inst_foreign){ 0 };
}

int
inst_foreign_add(struct inst_foreign *f, const char *path, size_t len, struct dray_err *e)
{
	size_t i, cap;
	char **grown, *q;

	if ((q = malloc(DRAY_QUOTE_CAP(len) + 2)) == NULL)
		return dray_fail_errno(e, "list of foreign objects");
	dray_quote(len != 0 ? path : "/", len != 0 ? len : 1, q, DRAY_QUOTE_CAP(len) + 2);
	for (i = 0; i < f->n; i++) {
		if (strcmp(f->paths[i], q) == 0) {
			free(q);
			return 0;
		}
	}
	if (f->n == f->cap) {
		cap = f->cap == 0 ? 16 : f->cap * 2;
		if ((grown = realloc(f->paths, cap * sizeof(*grown))) == NULL) {
			free(q);
			return dray_fail_errno(e, "list of foreign objects");
		}
		f->paths = grown;
		f->cap = cap;
	}
	f->paths[f->n++] = q;
	return 0;
}

/* one op; a full disk gets what is kept for that and another try */
static int
run_op(struct inst_swapper *w, const struct inst_op *op, bool back, bool *foreign, struct dray_err *e)
{
	*foreign = false;
	while ((op->kind == INST_OP_SWAP ? inst_swap(w, op, back, e) : inst_meta_op(w, op, back, foreign, e)) != 0)
		if (!inst_tx_made_room(w->tx, e))
			return -1;
	return 0;
}

/* flags that forbid the switch: cleared on whatever object of ours is there now, set on the one that stays */
static int
lock_ops(struct inst_swapper *w, bool set, bool back, struct dray_err *e)
{
	for (size_t i = 0; i < w->tx->n_ops; i++) {
		const struct inst_op *op = &w->tx->ops[i];
		uint8_t locks = !set ? 0 : back ? op->locks_before : op->locks_after;

		if ((op->flags & INST_OP_LOCKED) != 0 && inst_lock_op(w, op, locks, e) != 0)
			return -1;
	}
	dray_walk_forget(&w->target);
	return 0;
}

int
inst_run_ops(const struct inst_state *s, struct inst_tx *tx, bool back, bool fresh, struct inst_foreign *f,
    struct dray_err *e)
{
	struct inst_swapper w;
	bool foreign;
	size_t i;
	int rc = -1;

	inst_swapper_init(&w, s->root, tx, fresh);
	if (inst_slots_all(tx, e) != 0 || lock_ops(&w, false, back, e) != 0)
		goto out;
	for (i = 0; i < tx->n_swaps; i++) {
		if (run_op(&w, &tx->ops[back ? tx->n_swaps - 1 - i : i], back, &foreign, e) != 0)
			goto out;
	}
	dray_walk_forget(&w.target);
	for (i = 0; i < tx->n_swaps; i++) {
		if (inst_dir_time(&w, &tx->ops[i], back, e) != 0)
			goto out;
	}
	for (i = tx->n_swaps; i < tx->n_ops; i++) {
		const struct inst_op *op = &tx->ops[i];

		if (run_op(&w, op, back, &foreign, e) != 0 ||
		    (foreign && inst_foreign_add(f, op->path, op->len, e) != 0))
			goto out;
	}
	rc = lock_ops(&w, true, back, e);
out:
	inst_swapper_close(&w);
	return rc;
}

/* after a switch: which slots hold something else than plan saw? An addition's holds nothing, unless it had no place */
static int
name_foreign(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	struct inst_swapper w;
	struct inst_ident id;
	bool same;
	size_t i;
	int rc = -1;

	inst_swapper_init(&w, s->root, tx, false);
	for (i = 0; i < tx->n_swaps; i++) {
		const struct inst_op *op = &tx->ops[i];

		if (inst_slot_look(&w, op, &id, e) != 0)
			goto out;
		if (id.type == DRAY_ABSENT)
			continue;
		if (inst_slot_holds_untouched(&w, op, true, &same, e) != 0 ||
		    (!same && inst_foreign_add(f, op->path, op->len, e) != 0))
			goto out;
	}
	rc = 0;
out:
	inst_swapper_close(&w);
	return rc;
}

/* barrier B, DONE record, ballast mostly freed, foreign objects named */
static int
switch_end(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	if (inst_barrier(s, tx, true, e) != 0 || inst_tx_record(tx, INST_TX_DONE, 0, e) != 0)
		return -1;
	inst_tx_shrink_ballast(tx);
	return name_foreign(s, tx, f, e);
}

/* after COMMIT something failed: back, and say both */
static int
go_back(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	struct dray_err why = *e, undo = { 0 };

	inst_run_blame(s, DRAY_E_WENT_BACK, why.text);
	if (inst_undo(s, tx, f, &undo) != 0) {
		dray_fail(e, DRAY_E_IO, "the switch stopped (%.500s) and going back stopped too (%.500s)", why.text, undo.text);
		return dray_hint(e, "repair the cause, then: dray-install resume --root %s", s->root_path);
	}
	dray_fail(e, DRAY_E_WENT_BACK, "the switch failed, everything is as it was: %s", why.text);
	return dray_hint(e, "repair the cause, then run apply again");
}

int
inst_roll_forward(const struct inst_state *s, struct inst_tx *tx, bool fresh, struct inst_foreign *f, struct dray_err *e)
{
	if (inst_slots_all(tx, e) != 0)
		return -1;
	if (inst_run_ops(s, tx, false, fresh, f, e) == 0 && switch_end(s, tx, f, e) == 0)
		return 0;
	if (tx->state == INST_TX_DONE)
		return -1;	/* switched and durable; only looking around failed */
	return go_back(s, tx, f, e);
}

int
inst_commit(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	if (inst_state_mark(s, true, e) != 0)
		return -1;
	if (inst_barrier(s, tx, false, e) != 0 || inst_tx_record(tx, INST_TX_COMMIT, s->no_sync ? INST_COMMIT_UNSYNCED : 0, e) != 0) {
		struct dray_err ignored = { 0 };

		/* not decided, so the mark must not stay; the first failure is the one to tell */
		if (inst_state_mark(s, false, &ignored) != 0)
			dray_wrap(e, "%s", ignored.text);
		return -1;
	}
	return inst_roll_forward(s, tx, true, f, e);
}
