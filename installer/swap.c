/* swap.c - one journalled operation, forward or backward (swap.h tells the idea) */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"

#include "installer/meta.h"
#include "installer/swap.h"
#include "installer/tree.h"

void
inst_swapper_init(struct inst_swapper *w, int root, struct inst_tx *tx, bool fresh)
{
	w->tx = tx;
	w->fresh = fresh;
	dray_walk_init(&w->target, root);
	dray_walk_init(&w->slot, tx->slots[0].dir);
	w->site = 0;
}

void
inst_swapper_close(struct inst_swapper *w)
{
	dray_walk_close(&w->target);
	dray_walk_close(&w->slot);
}

/* the walk that leads to the op's slot; 1: it was freed */
static int
enter_slots(struct inst_swapper *w, const struct inst_op *op, struct dray_err *e)
{
	int dir, r;

	if (w->site == op->site)
		return 0;
	if ((r = inst_slots_of(w->tx, op, &dir, e)) != 0)
		return r;
	dray_walk_close(&w->slot);
	dray_walk_init(&w->slot, dir);
	w->site = op->site;
	return 0;
}

int
inst_slot_look(struct inst_swapper *w, const struct inst_op *op, struct inst_ident *id, struct dray_err *e)
{
	struct dray_stat st;
	char name[24];
	int r;

	inst_tx_slot(op->slot, name);
	*id = (struct inst_ident){ .type = DRAY_ABSENT };
	if ((r = enter_slots(w, op, e)) != 0)
		return r > 0 ? 0 : -1;
	if (inst_look(&w->slot, name, strlen(name), id, &st, e) != 0)
		return dray_wrap(e, "slot %s", name);
	return 0;
}

int
inst_slot_holds_untouched(struct inst_swapper *w, const struct inst_op *op, bool old, bool *yes, struct dray_err *e)
{
	const struct inst_ident *want = old ? &op->old : &op->now;
	struct inst_ident have;
	uint8_t now[32];
	char name[24];

	*yes = false;
	if (inst_slot_look(w, op, &have, e) != 0)
		return -1;
	if (!inst_ident_object(&have, want))
		return 0;
	if (have.type == DRAY_DIR) {
		/* its own times move with every rename; what is inside tells */
		struct inst_but but = { op->path, op->len, w->tx->outputs,
			!old && (op->flags & INST_OP_OUTPUT_INSIDE) != 0 ? w->tx->n_outputs : 0 };

		if (inst_tree_digest_but(w->slot.root, inst_tx_slot(op->slot, name), &but, now, e) != 0)
			return dray_wrap(e, "slot %s", name);
		*yes = !(op->flags & INST_OP_SUBTREE) || memcmp(now, old ? op->trees->old : op->trees->now, 32) == 0;
		return 0;
	}
	*yes = inst_ident_same(&have, want);
	return 0;
}

struct place {			/* an op's names: "N~" is where the target stands aside while it is traded without exchange */
	int slot_dir, target_dir;
	char slot[DRAY_NAME_MAX + 1], target[DRAY_NAME_MAX + 1], aside[DRAY_NAME_MAX + 3];
};

enum move { TAKE, GIVE, TRADE };	/* target to slot, slot to target, exchange */

static int
stat_or_absent(int dir, const char *name, struct dray_stat *st, struct inst_ident *id, struct dray_err *e)
{
	*id = (struct inst_ident){ .type = DRAY_ABSENT };
	if (os_stat_at(dir, name, st) == 0) {
		inst_ident_from(st, id);
		return 0;
	}
	return errno == ENOENT ? 0 : dray_fail_errno(e, "look at %s", name);
}

/*
 * Trade two names where the file system cannot exchange them: the target steps aside (a second link for what can have
 * one, so that its name never vanishes; a rename for directories), the slot's object takes its place, and what stood
 * aside takes the slot. settle() makes a cut in between look as if it was at one end. -1 with errno, as os_exchange.
 */
static int
trade(const struct place *p)
{
	struct dray_stat slot, target;
	bool dirs;

	if (os_stat_at(p->slot_dir, p->slot, &slot) != 0 || os_stat_at(p->target_dir, p->target, &target) != 0)
		return -1;
	dirs = (slot.mode & 0170000) == 0040000 || (target.mode & 0170000) == 0040000;
	if (dirs || linkat(p->target_dir, p->target, p->slot_dir, p->aside, 0) == -1) {
		if (!dirs && errno != EPERM && errno != EMLINK && errno != ENOTSUP)
			return -1;
		if (os_rename_noreplace(p->target_dir, p->target, p->slot_dir, p->aside) == -1 ||
		    os_rename_noreplace(p->slot_dir, p->slot, p->target_dir, p->target) == -1)
			return -1;
	} else if (renameat(p->slot_dir, p->slot, p->target_dir, p->target) == -1) {
		return -1;
	}
	return os_rename_noreplace(p->slot_dir, p->aside, p->slot_dir, p->slot);
}

/* a trade that was cut: finish it, or take it back; only then does the slot tell what was done */
static int
settle(const struct place *p, struct dray_err *e)
{
	struct inst_ident aside, slot, target;
	struct dray_stat st;
	int r = 0;

	if (stat_or_absent(p->slot_dir, p->aside, &st, &aside, e) != 0 ||
	    stat_or_absent(p->slot_dir, p->slot, &st, &slot, e) != 0 ||
	    stat_or_absent(p->target_dir, p->target, &st, &target, e) != 0)
		return -1;
	if (aside.type == DRAY_ABSENT) {
		/* a rename made of link and unlink, cut between the two: either end will do */
		if (!inst_ident_object(&slot, &target))
			return 0;
		return unlinkat(p->slot_dir, p->slot, 0) == 0 ? 0 : dray_fail_errno(e, "finish a cut rename");
	}
	if (slot.type == DRAY_ABSENT)
		r = os_rename_noreplace(p->slot_dir, p->aside, p->slot_dir, p->slot);
	else if (target.type == DRAY_ABSENT)
		r = os_rename_noreplace(p->slot_dir, p->aside, p->target_dir, p->target);
	else if (inst_ident_object(&aside, &target))
		r = unlinkat(p->slot_dir, p->aside, 0);		/* one of two links */
	/* else somebody replaced the target meanwhile: the old object stays aside, as a parked one */
	return r == 0 ? 0 : dray_fail_errno(e, "finish a cut trade");
}

/* 0 done, 1 nothing to take, 2 the other side is occupied, 3 the target is not there to trade */
static int
move(const struct place *p, enum move m, struct dray_err *e)
{
	int r = -1;

	switch (m) {
	case TAKE:
		r = os_rename_noreplace(p->target_dir, p->target, p->slot_dir, p->slot);
		break;
	case GIVE:
		r = os_rename_noreplace(p->slot_dir, p->slot, p->target_dir, p->target);
		break;
	case TRADE:
		r = os_exchange(p->slot_dir, p->slot, p->target_dir, p->target);
		if (r == -1 && (errno == ENOSYS || errno == EINVAL || errno == ENOTSUP))
			r = trade(p);
		break;
	}
	if (r == 0)
		return 0;
	if (errno == ENOENT)
		return m == TRADE ? 3 : 1;
	if (errno == EEXIST)
		return 2;
	return dray_fail_errno(e, "%s", m == TRADE ? "exchange" : "rename");
}

/* put what is in the slot into the target's place, whatever stands there */
static int
put(const struct place *p, bool expect_occupied, struct dray_err *e)
{
	int r, tries;

	for (tries = 0; tries < 8; tries++) {
		r = move(p, expect_occupied ? TRADE : GIVE, e);
		if (r <= 0)
			return r;
		if (r == 1)
			return dray_fail(e, DRAY_E_IO, "its slot is empty");
		/* somebody made or removed the target meanwhile: take the other way */
		expect_occupied = !expect_occupied;
	}
	return dray_fail(e, DRAY_E_DRIFT, "another program keeps making and removing it");
}

static int
forward(struct inst_swapper *w, const struct inst_op *op, const struct place *p, struct dray_err *e)
{
	struct inst_ident slot = op->now;
	int r;

	if (!w->fresh && inst_slot_look(w, op, &slot, e) != 0)
		return -1;
	if (op->now.type == DRAY_ABSENT) {
		if (slot.type != DRAY_ABSENT)
			return 0;	/* taken already */
		r = move(p, TAKE, e);
		if (r == 1)
			return 0;	/* gone before we came */
		return r == 2 ? dray_fail(e, DRAY_E_IO, "its slot is occupied") : r;
	}
	if (!inst_ident_object(&slot, &op->now))
		return 0;	/* done already */
	return put(p, op->old.type != DRAY_ABSENT, e);
}

/*
 * Backward, by what the slot holds:
 *   (an output of a trigger that nobody else makes, absent on both sides: what is there now is taken out)
 *   the new object          nothing to do: never done, or undone already
 *   the old object          put it back, whatever stands there
 *   nothing                 an addition: take the target out; a removal, or the target had vanished: undone already
 *   a third object          it stood in the target's place when we switched; back only if the new object is there now
 */
static int
backward(struct inst_swapper *w, const struct inst_op *op, const struct place *p, struct dray_err *e)
{
	struct inst_ident slot, target;
	struct dray_stat st;
	int r;

	if (inst_slot_look(w, op, &slot, e) != 0)
		return -1;
	if (op->old.type == DRAY_ABSENT && op->now.type == DRAY_ABSENT) {
		/* a trigger has made it, if one ran: none does before its step is switched */
		r = slot.type != DRAY_ABSENT || op->step > w->tx->done ? 0 : move(p, TAKE, e);
		return r == 1 ? 0 : r == 2 ? dray_fail(e, DRAY_E_IO, "its slot is occupied") : r;
	}
	if (inst_ident_object(&slot, &op->now))
		return 0;
	if (inst_ident_object(&slot, &op->old))
		return put(p, op->now.type != DRAY_ABSENT, e);
	if (slot.type == DRAY_ABSENT) {
		if (op->now.type == DRAY_ABSENT)
			return 0;
		if (inst_look(&w->target, op->path, op->len, &target, &st, e) != 0)
			return -1;
		if (inst_ident_object(&target, &op->old))
			return 0;	/* back already, and nothing was there to give way */
		r = move(p, TAKE, e);
		if (r == 1)
			return 0;
		return r == 2 ? dray_fail(e, DRAY_E_IO, "its slot is occupied") : r;
	}
	if (inst_look(&w->target, op->path, op->len, &target, &st, e) != 0)
		return -1;
	if (op->now.type == DRAY_ABSENT ? target.type == DRAY_ABSENT : inst_ident_object(&target, &op->now))
		return put(p, op->now.type != DRAY_ABSENT, e);
	return 0;
}

int
inst_swap(struct inst_swapper *w, const struct inst_op *op, bool back, struct dray_err *e)
{
	struct place p;
	char slot[24], q[512];
	int r;

	inst_tx_slot(op->slot, slot);
	if (enter_slots(w, op, e) != 0)
		return dray_wrap(e, "%s", dray_quote(op->path, op->len, q, sizeof(q)));
	if ((r = dray_walk_parent(&w->slot, slot, strlen(slot), &p.slot_dir, p.slot, e)) != 0)
		return r > 0 ? dray_fail(e, DRAY_E_IO, "slot folder of %s is missing", slot) : dray_wrap(e, "slot %s", slot);
	r = dray_walk_parent(&w->target, op->path, op->len, &p.target_dir, p.target, e);
	if (r > 0) {
		/* the directory it belongs into is gone or something else: with a fresh plan that is drift */
		if (!w->fresh)
			return 0;	/* the slot still holds its object, and that is told */
		dray_fail(e, DRAY_E_DRIFT, "the directory above it is gone");
	}
	if (r == 0) {
		snprintf(p.aside, sizeof(p.aside), "%s~", p.slot);
		r = w->fresh ? 0 : settle(&p, e);
	}
	if (r == 0)
		r = back ? backward(w, op, &p, e) : forward(w, op, &p, e);
	if (r != 0)
		return dray_wrap(e, "%s", dray_quote(op->path, op->len, q, sizeof(q)));
	/* a directory may have moved: the remembered handle could be one inside it */
	if (op->old.type == DRAY_DIR || op->now.type == DRAY_DIR)
		dray_walk_forget(&w->target);
	return 0;
}

/* was the file written to since? Its time is that of neither side then, or its size is not the old one */
static bool
edited(const struct inst_op *op, const struct inst_ident *id)
{
	bool before = id->mtime_sec == op->old.mtime_sec && id->mtime_nsec == op->old.mtime_nsec;
	const struct inst_meta *now = &op->attrs->after;
	bool after = (now->has & DRAY_HAS_MTIME) != 0 && id->mtime_sec == now->mtime_sec && id->mtime_nsec == now->mtime_nsec;

	return op->old.type == DRAY_FILE && (id->size != op->old.size || !(before || after));
}

/* are the attributes what they shall be, whatever setting them said? */
static bool
is_so(int dir, const char *leaf, uint8_t type, const struct inst_meta *m)
{
	struct dray_err ignored = { 0 };	/* the failure to set them is the one to tell */
	struct inst_meta have = { 0 };
	struct dray_stat st;
	bool same = false;
	int fd = -1;

	if ((type == DRAY_FILE || type == DRAY_DIR) &&
	    (fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1)
		return false;
	if ((fd != -1 ? os_stat_at(fd, "", &st) : os_stat_at(dir, leaf, &st)) == 0 &&
	    inst_meta_read(fd, &st, m->has, &have, &ignored) == 0)
		same = inst_meta_same(m, &have);
	inst_meta_free(&have);
	if (fd != -1)
		close(fd);	/* read-only, nothing to lose */
	return same;
}

int
inst_dir_time(struct inst_swapper *w, const struct inst_op *op, bool back, struct dray_err *e)
{
	const struct inst_ident *want = back ? &op->old : &op->now;
	struct inst_meta m = { .has = DRAY_HAS_MTIME, .mtime_sec = want->mtime_sec, .mtime_nsec = want->mtime_nsec };
	char leaf[DRAY_NAME_MAX + 1], q[512];
	struct inst_ident id;
	int dir, r = 0;

	if (want->type != DRAY_DIR)
		return 0;
	if (inst_look(&w->target, op->path, op->len, &id, NULL, e) != 0)
		r = -1;
	else if (!inst_ident_object(&id, want) || inst_ident_same(&id, want))
		return 0;
	if (r == 0)
		r = dray_walk_parent(&w->target, op->path, op->len, &dir, leaf, e);
	if (r == 0)
		r = inst_meta_apply(dir, leaf, -1, DRAY_DIR, &m, e);
	return r >= 0 ? 0 : dray_wrap(e, "%s", dray_quote(op->path, op->len, q, sizeof(q)));
}

int
inst_fflags_op(struct inst_swapper *w, const struct inst_op *op, uint8_t mask, uint8_t fflags, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1] = "", q[512];
	struct inst_ident id;
	struct dray_stat st;
	int dir = w->target.root;

	if (inst_look(&w->target, op->path, op->len, &id, &st, e) != 0)
		goto fail;
	/* somebody else's object keeps the flags it has */
	if ((!inst_ident_object(&id, &op->old) && !inst_ident_object(&id, &op->now)) ||
	    ((st.fflags ^ fflags) & mask & st.fflags_here) == 0)
		return 0;
	if (op->len > 0 && dray_walk_parent(&w->target, op->path, op->len, &dir, leaf, e) != 0)
		goto fail;
	if (os_fflags_set(dir, leaf, mask & st.fflags_here, fflags) == 0 || errno == EOPNOTSUPP)
		return 0;
	dray_fail_errno(e, "%s its file flags", fflags == 0 ? "clear" : "set");
fail:
	return dray_wrap(e, "%s", op->len == 0 ? "/" : dray_quote(op->path, op->len, q, sizeof(q)));
}

int
inst_meta_op(struct inst_swapper *w, const struct inst_op *op, const struct inst_meta *want, bool back, bool *foreign,
    struct dray_err *e)
{
	struct inst_meta m = *want;	/* a view: what it points to is the op's */
	char leaf[DRAY_NAME_MAX + 1] = ".", q[512];
	struct inst_ident id;
	struct dray_stat st;
	int dir = w->target.root;

	*foreign = false;
	if (op->len > 0) {
		if (inst_look(&w->target, op->path, op->len, &id, &st, e) != 0)
			goto fail;
		if (!inst_ident_object(&id, &op->old)) {
			*foreign = true;
			return 0;
		}
		/* the time of an edit tells backups and the next plan of it */
		if (edited(op, &id))
			m.has &= (uint16_t)~DRAY_HAS_MTIME;
		if (dray_walk_parent(&w->target, op->path, op->len, &dir, leaf, e) != 0)
			goto fail;
	}
	if (inst_meta_apply(dir, leaf, -1, op->old.type, &m, e) != 0) {
		/* what refuses to be changed was not changed forward either: that must not stop the way back */
		if (!back || !is_so(dir, leaf, op->old.type, &m))
			goto fail;
		dray_err_clear(e);
	}
	return 0;
fail:
	return dray_wrap(e, "%s", op->len == 0 ? "/" : dray_quote(op->path, op->len, q, sizeof(q)));
}
