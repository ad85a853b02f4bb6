/* recover.c - undo, finish, and what a later run does with an unfinished transaction */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"

#include "installer/due.h"
#include "installer/evidence.h"
#include "installer/kept.h"
#include "installer/switch.h"
#include "installer/work.h"

int
inst_undo(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	if (inst_slots_all(tx, e) != 0)
		return -1;
	while (inst_state_mark(s, true, e) != 0)
		if (!inst_tx_made_room(tx, e))
			return -1;
	if (tx->state != INST_TX_UNDO && inst_tx_record(tx, INST_TX_UNDO, 0, e) != 0)
		return -1;
	if (inst_run_ops(s, tx, true, false, f, e) != 0 || inst_barrier(s, tx, true, e) != 0 ||
	    inst_tx_record(tx, INST_TX_UNDONE, 0, e) != 0)
		return -1;
	return inst_undo_end(s, tx, f, e);
}

/* what is installed is what was installed before */
static int
take_back(const struct inst_state *s, struct inst_tx *tx, struct inst_anchor *a, struct dray_err *e)
{
	if (inst_anchor_load(s, a, e) != 0)
		return -1;
	/* what ran after a switch that was seen, or of a phase, has to run again for what is there now */
	if (tx->done > 0 && inst_due_add(s, tx, tx->done, true, e) != 0)
		return -1;
	a->installed = tx->from;	/* the floor stays: going back is not news to it */
	while (inst_anchor_save(s, a, e) != 0)
		if (!inst_tx_made_room(tx, e))
			return -1;
	while (inst_kept_back(s, tx, e) != 0)
		if (!inst_tx_made_room(tx, e))
			return -1;
	return inst_state_mark(s, false, e);
}

static int
record_back(const struct inst_state *s, struct inst_tx *tx, const struct inst_foreign *f, struct inst_anchor *a,
    struct dray_err *e)
{
	while (inst_evidence_end(s, tx, INST_END_BACK, f, a, e) != 0 || inst_anchor_save(s, a, e) != 0)
		if (!inst_tx_made_room(tx, e))
			return -1;
	return 0;
}

int
inst_undo_end(const struct inst_state *s, struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	struct inst_anchor a;
	size_t freed, kept;

	/* cut between the plan and the log, the last two to be deleted: all else was done and recorded */
	if (!tx->has_plan)
		return inst_tx_drop(s, tx->number, e) != 0 ? -1 : inst_prune_heads(s, e);
	inst_work_begin(s, "recording", 0);
	if (inst_work_end(s, take_back(s, tx, &a, e)) != 0 || inst_free_slots(s, tx, false, &freed, &kept, f, e) != 0)
		return -1;
	inst_work_begin(s, "recording", 0);
	if (inst_work_end(s, record_back(s, tx, f, &a, e)) != 0)
		return -1;
	if (kept == 0) {
		if (inst_tx_drop(s, tx->number, e) != 0)
			return -1;
	} else if (inst_tx_record(tx, INST_TX_FORGET, INST_FORGET_DONE, e) != 0) {
		return -1;
	}
	return inst_prune_heads(s, e);
}

static int
finish(const struct inst_state *s, struct inst_tx *tx, const struct inst_foreign *f, struct dray_err *e)
{
	char name[2 * 32 + 32], hex[2 * 32 + 1];
	struct inst_anchor a;

	if (mkdirat(s->dir, "release", 0700) == -1 && errno != EEXIST)
		return dray_fail_errno(e, "create %s/release", s->rel);
	snprintf(name, sizeof(name), "release/%s.head", dray_hex(tx->to.id, 32, hex));
	/* absent: an earlier run moved it and was cut */
	if (renameat(tx->dir, "head", s->dir, name) == -1 && errno != ENOENT)
		return dray_fail_errno(e, "keep the record of the release");
	if (inst_kept_finish(s, tx, e) != 0 || inst_anchor_load(s, &a, e) != 0 || inst_anchor_raise(&a, &tx->to, e) != 0)
		return -1;
	a.installed = tx->to;
	if (inst_due_add(s, tx, INST_STEP_ALL, false, e) != 0)
		return -1;
	while (inst_evidence_end(s, tx, INST_END_DONE, f, &a, e) != 0)
		if (!inst_tx_made_room(tx, e))
			return -1;
	if (inst_anchor_save(s, &a, e) != 0 || inst_state_mark(s, false, e) != 0)
		return -1;
	return inst_tx_record(tx, INST_TX_FINISHED, 0, e);
}

int
inst_finish(const struct inst_state *s, struct inst_tx *tx, const struct inst_foreign *f, struct dray_err *e)
{
	int rc;

	inst_work_begin(s, "finishing", 0);
	rc = inst_work_end(s, finish(s, tx, f, e));
	if (rc == 0 || e->code != DRAY_E_ROOM)
		return rc;
	e->code = DRAY_E_IO;	/* that of no room says that nothing was written, but every path is switched */
	return dray_hint(e, "the new files are in place, only the records of it are not; make room or free inodes, and run dray-install resume");
}

static enum inst_pending
pending_of(const struct inst_tx *tx)
{
	switch (tx->state) {
	case INST_TX_OPEN:
		return INST_PENDING_STAGED;
	case INST_TX_COMMIT:
		return INST_PENDING_FORWARD;
	case INST_TX_DONE:
		return inst_tx_between(tx) ? INST_PENDING_BETWEEN : INST_PENDING_FINISH;
	case INST_TX_UNDO:
	case INST_TX_UNDONE:		/* back on the disk, but not in the anchor yet */
		return INST_PENDING_BACKWARD;
	case INST_TX_FORGET:
		return tx->arg == INST_FORGET_DONE ? INST_PENDING_NONE : INST_PENDING_FORGET;
	case INST_TX_FINISHED:
		break;
	}
	return INST_PENDING_NONE;
}

/* the gravest first */
static int
gravity(enum inst_pending p)
{
	static const int rank[] = { [INST_PENDING_NONE] = 0, [INST_PENDING_STAGED] = 1, [INST_PENDING_FORGET] = 2,
		[INST_PENDING_BETWEEN] = 3, [INST_PENDING_FINISH] = 4, [INST_PENDING_BACKWARD] = 5, [INST_PENDING_FORWARD] = 5 };

	return rank[p];
}

int
inst_pending(const struct inst_state *s, enum inst_pending *what, uint32_t *number, struct dray_err *e)
{
	struct inst_tx *tx;
	uint32_t *list;
	size_t n, i;
	int rc = -1;

	*what = INST_PENDING_NONE;
	*number = 0;
	if (inst_tx_list(s, &list, &n, e) != 0)
		return -1;
	for (i = 0; i < n; i++) {
		enum inst_pending p;

		if (inst_tx_open(s, list[i], false, &tx, e) != 0)
			goto out;
		p = pending_of(tx);
		inst_tx_close(tx);
		if (gravity(p) > gravity(*what)) {
			*what = p;
			*number = list[i];
		}
	}
	rc = 0;
out:
	free(list);
	return rc;
}

static int
recover_one(const struct inst_state *s, struct inst_tx *tx, bool back, bool drop_staged, struct inst_foreign *f,
    struct dray_err *e)
{
	size_t freed, kept;

	if ((tx->state == INST_TX_COMMIT || tx->state == INST_TX_UNDO) && inst_refuse_copy(s, tx, e) != 0)
		return -1;
	switch (tx->state) {
	case INST_TX_OPEN:
		return drop_staged ? inst_tx_drop(s, tx->number, e) : 0;
	case INST_TX_COMMIT:
		if (back)
			return tx->done > 0 ? inst_undo_step(s, tx, f, e) : inst_undo(s, tx, f, e);
		if (inst_roll_forward(s, tx, false, f, e) != 0)
			return -1;
		return inst_tx_between(tx) ? 0 : inst_finish(s, tx, f, e);
	case INST_TX_DONE:
		if (inst_tx_between(tx))
			return 0;	/* the operator says how it goes on */
		return back ? inst_undo(s, tx, f, e) : inst_finish(s, tx, f, e);
	case INST_TX_UNDO:
		return tx->undo_step ? inst_undo_step(s, tx, f, e) : inst_undo(s, tx, f, e);
	case INST_TX_UNDONE:
		return inst_undo_end(s, tx, f, e);
	case INST_TX_FORGET:
		if (tx->arg == INST_FORGET_DONE)
			return 0;
		return inst_forget_go_on(s, tx, &freed, &kept, f, e);
	case INST_TX_FINISHED:
		break;
	}
	return 0;
}

int
inst_recover(const struct inst_state *s, bool back, bool drop_staged, enum inst_pending *did, struct inst_foreign *f,
    struct dray_err *e)
{
	struct inst_tx *tx;
	uint32_t *list;
	bool between = false;
	size_t n, i;
	int rc = -1;

	*did = INST_PENDING_NONE;
	if (inst_tx_list(s, &list, &n, e) != 0)
		return -1;
	for (i = 0; i < n; i++) {
		enum inst_pending p;
		int r;

		if (inst_tx_open(s, list[i], true, &tx, e) != 0)
			goto out;
		p = pending_of(tx);
		r = recover_one(s, tx, back, drop_staged, f, e);
		between |= inst_tx_between(tx);
		inst_tx_close(tx);
		if (p != INST_PENDING_BETWEEN && gravity(p) > gravity(*did) && !(p == INST_PENDING_STAGED && !drop_staged))
			*did = p;
		if (r != 0)
			goto out;
	}
	/* nothing is half-way now; a run cut between the mark and its decision left the mark */
	rc = between ? 0 : inst_state_mark(s, false, e);
out:
	free(list);
	return rc;
}

int
inst_between(const struct inst_state *s, struct inst_tx **out, struct dray_err *e)
{
	enum inst_pending what;
	uint32_t number;

	*out = NULL;
	if (s->dir == -1 || inst_pending(s, &what, &number, e) != 0)
		return s->dir == -1 ? 0 : -1;
	return what == INST_PENDING_BETWEEN ? inst_tx_open(s, number, s->lock != -1, out, e) : 0;
}

int
inst_stash(const struct inst_state *s, bool write, struct inst_tx **out, struct dray_err *e)
{
	struct inst_tx *tx;
	uint32_t *list;
	size_t n;
	int rc = -1;

	*out = NULL;
	if (inst_tx_list(s, &list, &n, e) != 0)
		return -1;
	while (n > 0) {
		if (inst_tx_open(s, list[--n], write, &tx, e) != 0)
			goto out;
		if (tx->state == INST_TX_FINISHED || tx->state == INST_TX_DONE) {
			*out = tx;
			break;
		}
		inst_tx_close(tx);
	}
	rc = 0;
out:
	free(list);
	return rc;
}
