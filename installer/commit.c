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
#include "installer/due.h"
#include "installer/evidence.h"
#include "installer/switch.h"
#include "installer/work.h"

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

/* steps: those after @after, up to @upto. What lies before stays switched, what lies behind was never begun */
struct span { uint8_t after, upto; };

static bool
in_span(const struct span *s, const struct inst_op *op)
{
	return op->step > s->after && op->step <= s->upto;
}

/* does anything in the directory change in the steps from @after + 1 to @upto? */
static bool
moves(const struct inst_op *op, uint8_t after, uint8_t upto)
{
	for (unsigned step = after + 1u; step <= upto && step <= DRAY_MAX_PHASES; step++)
		if ((op->times >> (step - 1) & 1) != 0)
			return true;
	return false;
}

static bool
touched(const struct span *s, const struct inst_op *op)
{
	return in_span(s, op) || moves(op, s->after, s->upto);
}

static void
take_time(struct inst_meta *m, const struct inst_meta *from)
{
	m->mtime_sec = from->mtime_sec;
	m->mtime_nsec = from->mtime_nsec;
}

/* what a META sets in these steps: all it is for, or only the time of a directory in which something was switched */
static struct inst_meta
meta_for(const struct span *s, const struct inst_op *op, bool back)
{
	/* going back over a part of the steps: the time is again what the steps before had made it */
	bool keeps_time = back && s->after > 0 && (op->step <= s->after || moves(op, 0, s->after));
	struct inst_meta m;

	if (in_span(s, op)) {
		m = back ? op->attrs->before : op->attrs->after;
		if (keeps_time)
			take_time(&m, &op->attrs->after);
		return m;
	}
	m = (struct inst_meta){ .has = op->attrs->after.has & DRAY_HAS_MTIME };
	take_time(&m, back && !keeps_time ? &op->attrs->before : &op->attrs->after);
	return m;
}

/* one op; a full disk gets what is kept for that and another try */
static int
run_op(struct inst_swapper *w, const struct span *s, const struct inst_op *op, bool back, bool *foreign,
    struct dray_err *e)
{
	struct inst_meta m = { .has = 0 };

	*foreign = false;
	if (op->kind == INST_OP_META)
		m = meta_for(s, op, back);
	while ((op->kind == INST_OP_SWAP ? inst_swap(w, op, back, e) : inst_meta_op(w, op, &m, back, foreign, e)) != 0) {
		if (!inst_tx_made_room(w->tx, e))
			return -1;
		w->fresh = false;	/* a trade without exchange may have come half-way */
	}
	return 0;
}

/* of a META whose time alone is set in these steps, what its own step has made of it */
static uint8_t
fflags_for(const struct span *s, const struct inst_op *op, bool back)
{
	return (in_span(s, op) ? back : op->step > s->after) ? op->fflags_before : op->fflags_after;
}

/* flags that forbid the switch: cleared on whatever object of ours is there now; all are set on the one that stays */
static int
lock_ops(struct inst_swapper *w, const struct span *s, bool set, bool back, struct dray_err *e)
{
	for (size_t i = 0; i < w->tx->n_ops; i++) {
		const struct inst_op *op = &w->tx->ops[i];

		if ((op->flags & INST_OP_FFLAGS) != 0 && touched(s, op) &&
		    inst_fflags_op(w, op, set ? UINT8_MAX : DRAY_FF_LOCKS, set ? fflags_for(s, op, back) : 0, e) != 0)
			return -1;
	}
	dray_walk_forget(&w->target);
	return 0;
}

int
inst_run_ops(const struct inst_state *s, struct inst_tx *tx, bool back, bool fresh, struct inst_foreign *f,
    struct dray_err *e)
{
	struct span steps = { back && !tx->undo_step ? 0 : tx->done, tx->goal };
	struct inst_swapper w;
	bool foreign;
	size_t i;
	int rc = -1;

	inst_work_begin(s, back ? "going back" : "switching", tx->n_ops);
	inst_swapper_init(&w, s->root, tx, fresh);
	if (inst_slots_all(tx, e) != 0 || lock_ops(&w, &steps, false, back, e) != 0)
		goto out;
	for (i = 0; i < tx->n_swaps; i++) {
		const struct inst_op *op = &tx->ops[back ? tx->n_swaps - 1 - i : i];

		if (in_span(&steps, op) && run_op(&w, &steps, op, back, &foreign, e) != 0)
			goto out;
		inst_work_at(s, i + 1);
	}
	dray_walk_forget(&w.target);
	for (i = 0; i < tx->n_swaps; i++) {
		if (in_span(&steps, &tx->ops[i]) && inst_dir_time(&w, &tx->ops[i], back, e) != 0)
			goto out;
	}
	for (i = tx->n_swaps; i < tx->n_ops; i++) {
		const struct inst_op *op = &tx->ops[i];

		if (!touched(&steps, op))
			continue;
		if (run_op(&w, &steps, op, back, &foreign, e) != 0 ||
		    (foreign && inst_foreign_add(f, op->path, op->len, e) != 0))
			goto out;
		inst_work_at(s, i + 1);
	}
	rc = lock_ops(&w, &steps, true, back, e);
out:
	inst_swapper_close(&w);
	return inst_work_end(s, rc);
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

	inst_work_begin(s, "comparing", tx->n_swaps);
	inst_swapper_init(&w, s->root, tx, false);
	for (i = 0; i < tx->n_swaps; i++) {
		const struct inst_op *op = &tx->ops[i];

		inst_work_at(s, i);
		if (op->step > tx->goal)
			continue;
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
	return inst_work_end(s, rc);
}

static uint32_t
step_arg(uint8_t step)
{
	return step == INST_STEP_ALL ? 0 : (uint32_t)step << INST_ARG_STEP_SHIFT;
}

/* barrier B, DONE record, ballast mostly freed, foreign objects named */
static int
switch_end(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	if (inst_barrier(s, tx, true, e) != 0)
		return -1;
	/* between phases: what the ones so far call is due now; at the end inst_finish sees to it */
	if (tx->goal < tx->last && inst_due_add(s, tx, tx->goal, false, e) != 0)
		return -1;
	if (inst_tx_record(tx, INST_TX_DONE, step_arg(tx->goal), e) != 0)
		return -1;
	if (!inst_tx_between(tx))
		inst_tx_shrink_ballast(tx);
	return name_foreign(s, tx, f, e);
}

/* after COMMIT something failed: back, and say both */
static int
go_back(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	struct dray_err why = *e, undo = { 0 };
	bool part = tx->done > 0;

	inst_run_blame(s, DRAY_E_WENT_BACK, why.text);
	if ((part ? inst_undo_step(s, tx, f, &undo) : inst_undo(s, tx, f, &undo)) != 0) {
		dray_fail(e, DRAY_E_IO, "the switch stopped (%.500s) and going back stopped too (%.500s)", why.text, undo.text);
		return dray_hint(e, "repair the cause, then: dray-install resume --root %s", s->root_path);
	}
	dray_fail(e, DRAY_E_WENT_BACK, "the switch failed, everything is as it was%s: %s", part ? " before this phase" : "",
	    why.text);
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
inst_undo_step(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	uint8_t done = tx->done;

	if (inst_slots_all(tx, e) != 0 ||
	    (tx->state != INST_TX_UNDO && inst_tx_record(tx, INST_TX_UNDO, step_arg(tx->goal == INST_STEP_ALL ? tx->last :
	    tx->goal), e) != 0))
		return -1;
	if (inst_run_ops(s, tx, true, false, f, e) != 0 || inst_barrier(s, tx, true, e) != 0)
		return -1;
	return inst_tx_record(tx, INST_TX_DONE, step_arg(done), e);
}

int
inst_commit(const struct inst_state *s, struct inst_tx *tx, uint8_t goal, struct inst_foreign *f, struct dray_err *e)
{
	uint32_t arg = step_arg(goal >= tx->last ? INST_STEP_ALL : goal);
	bool between = inst_tx_between(tx);

	if (inst_state_mark(s, true, e) != 0)
		return -1;
	if (inst_barrier(s, tx, false, e) != 0 ||
	    inst_tx_record(tx, INST_TX_COMMIT, arg | (s->no_sync ? INST_COMMIT_UNSYNCED : 0), e) != 0) {
		struct dray_err ignored = { 0 };

		/* not decided, so the mark must not stay; the first failure is the one to tell */
		if (!between && inst_state_mark(s, false, &ignored) != 0)
			dray_wrap(e, "%s", ignored.text);
		return -1;
	}
	return inst_roll_forward(s, tx, true, f, e);
}
