/*
 * forget.c - free what the slots hold. A local edit or a foreign object is never lost: only objects that are exactly
 * what the plan says are deleted; the others stay until they are asked for by name of "parked".
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"

#include "installer/evidence.h"
#include "installer/switch.h"
#include "installer/work.h"

#define TRASH "trash"

/* nobody's to free? *there: is anything in the slot at all */
static int
is_parked(struct inst_swapper *w, const struct inst_op *op, bool old_side, bool *parked, bool *there, struct dray_err *e)
{
	char slot[24], aside[32];
	struct inst_ident id;
	struct dray_stat st;
	bool untouched;

	*parked = false;
	*there = false;
	if (w->tx->slots[op->site].dir == -1)	/* freed by a run that was cut */
		return inst_slots_all(w->tx, e);
	if (inst_slot_look(w, op, &id, e) != 0)
		return -1;
	*there = id.type != DRAY_ABSENT;
	/* an object that stood aside when somebody took its place (swap.c, settle) */
	snprintf(aside, sizeof(aside), "%s~", inst_tx_slot(op->slot, slot));
	if (os_stat_at(w->slot.root, aside, &st) == 0)
		*there = *parked = true;
	if (!*there || *parked)
		return 0;
	/* a trigger made it or worked on it, once its step was switched */
	if (!old_side && (op->flags & INST_OP_OUTPUT) != 0 && op->step <= w->tx->done)
		return 0;
	if (inst_slot_holds_untouched(w, op, old_side, &untouched, e) != 0)
		return -1;
	*parked = !untouched || (old_side && (op->flags & INST_OP_PARK));
	return 0;
}

static int
empty_trash(const struct inst_tx *tx, struct dray_err *e)
{
	for (size_t i = 0; i < tx->n_slots; i++)
		if (tx->slots[i].dir != -1 && inst_rmtree(tx->slots[i].dir, TRASH, e) != 0)
			return -1;
	return 0;
}

static int
make_trash(struct inst_tx *tx, struct dray_err *e)
{
	for (size_t i = 0; i < tx->n_slots; i++)
		while (tx->slots[i].dir != -1 && mkdirat(tx->slots[i].dir, TRASH, 0700) == -1) {
			dray_fail_errno(e, "create the trash folder");
			if (!inst_tx_made_room(tx, e))
				return -1;
		}
	return 0;
}

/* a plain object goes in one step; a directory must not be seen half deleted by a later run */
static int
free_slot(int dir, uint32_t number, struct dray_err *e)
{
	char slot[24], to[32];

	if (unlinkat(dir, inst_tx_slot(number, slot), 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return dray_fail_errno(e, "delete slot %s", slot);
	snprintf(to, sizeof(to), TRASH "/%u", (unsigned)number);
	if (renameat(dir, slot, dir, to) == -1)
		return dray_fail_errno(e, "move slot %s to the trash", slot);
	return 0;
}

enum { THERE = 1, PARKED = 2 };

/*
 * All slots are looked at before the first is freed: freeing one name of a file changes what the inside of a directory that
 * holds another one looks like. @found: per swap
 */
static int
look_slots(struct inst_swapper *w, bool old_side, uint8_t *found, struct dray_err *e)
{
	bool parked, there;

	for (size_t i = 0; i < w->tx->n_swaps; i++) {
		if (is_parked(w, &w->tx->ops[i], old_side, &parked, &there, e) != 0)
			return -1;
		found[i] = (uint8_t)((there ? THERE : 0) | (parked ? PARKED : 0));
	}
	return 0;
}

int
inst_free_slots(const struct inst_state *s, struct inst_tx *tx, bool old_side, size_t *freed, size_t *kept,
    struct inst_foreign *f, struct dray_err *e)
{
	struct inst_swapper w;
	uint8_t *found = calloc(tx->n_swaps + 1, 1);
	struct inst_ident id;
	size_t i;
	int rc = -1;

	*freed = *kept = 0;
	inst_work_begin(s, old_side ? "forgetting" : "cleaning", tx->n_swaps);
	inst_swapper_init(&w, s->root, tx, false);
	if (found == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (inst_slots_all(tx, e) != 0 || empty_trash(tx, e) != 0 || make_trash(tx, e) != 0 ||
	    look_slots(&w, old_side, found, e) != 0)
		goto out;
	for (i = 0; i < tx->n_swaps; i++) {
		const struct inst_op *op = &tx->ops[i];

		inst_work_at(s, i);
		if ((found[i] & THERE) == 0)
			continue;
		if ((found[i] & PARKED) != 0) {
			(*kept)++;
			if (inst_foreign_add(f, op->path, op->len, e) != 0)
				goto out;
			continue;
		}
		if (inst_slot_look(&w, op, &id, e) != 0 || free_slot(w.slot.root, op->slot, e) != 0)
			goto out;
		(*freed)++;
	}
	rc = empty_trash(tx, e);
out:
	free(found);
	inst_swapper_close(&w);
	return inst_work_end(s, rc) == 0 ? 0 : dray_wrap(e, "free the stash");
}

/* the objects are gone or stay for good: that is the end of this one */
static int
record(const struct inst_state *s, const struct inst_tx *tx, enum inst_end end, const struct inst_foreign *kept,
    struct dray_err *e)
{
	struct inst_anchor a;

	/* cut while its folder was deleted, the plan before the log: it was recorded before that began */
	if (!tx->has_plan)
		return 0;
	if (inst_anchor_load(s, &a, e) != 0 || inst_evidence_end(s, tx, end, kept, &a, e) != 0)
		return -1;
	return inst_anchor_save(s, &a, e);
}

static int
forgotten(const struct inst_state *s, const struct inst_tx *tx, enum inst_end end, const struct inst_foreign *kept,
    struct dray_err *e)
{
	inst_work_begin(s, "recording", 0);
	return inst_work_end(s, record(s, tx, end, kept, e));
}

int
inst_forget_go_on(const struct inst_state *s, struct inst_tx *tx, size_t *freed, size_t *kept, struct inst_foreign *f,
    struct dray_err *e)
{
	*freed = *kept = 0;
	if (tx->has_plan && tx->arg != INST_FORGET_ALL) {
		if (inst_free_slots(s, tx, true, freed, kept, f, e) != 0 || forgotten(s, tx, INST_END_FORGOTTEN, f, e) != 0)
			return -1;
		if (*kept > 0)
			return inst_tx_record(tx, INST_TX_FORGET, INST_FORGET_DONE, e);
	} else if (forgotten(s, tx, INST_END_FORGOTTEN_ALL, NULL, e) != 0) {
		return -1;
	}
	return inst_tx_drop(s, tx->number, e);
}

static size_t
count_slots(const struct inst_state *s, struct inst_tx *tx)
{
	struct inst_swapper w;
	struct inst_ident id;
	struct dray_err ignored = { 0 };	/* a count for a message only */
	size_t i, n = 0;

	inst_work_begin(s, "counting", tx->n_swaps);
	inst_swapper_init(&w, s->root, tx, false);
	for (i = 0; i < tx->n_swaps; i++) {
		if (inst_slot_look(&w, &tx->ops[i], &id, &ignored) == 0 && id.type != DRAY_ABSENT)
			n++;
		inst_work_at(s, i + 1);
	}
	inst_swapper_close(&w);
	(void)inst_work_end(s, 0);
	return n;
}

static int
forget_one(const struct inst_state *s, struct inst_tx *tx, bool parked, struct inst_forgotten *out, struct dray_err *e)
{
	struct inst_foreign f = { 0 };
	bool leftover = tx->state == INST_TX_FORGET && tx->arg == INST_FORGET_DONE;
	size_t freed, kept, all;
	int rc;

	if (tx->state != INST_TX_FINISHED && !leftover)
		return 0;
	if (inst_slots_all(tx, e) != 0)
		return -1;
	all = count_slots(s, tx);
	if (leftover && !parked) {
		out->kept += all;
		return 0;
	}
	if (inst_tx_record(tx, INST_TX_FORGET, parked ? INST_FORGET_ALL : INST_FORGET_BEGUN, e) != 0)
		return -1;
	out->begun = true;
	rc = inst_forget_go_on(s, tx, &freed, &kept, &f, e);
	inst_foreign_free(&f);
	if (rc != 0)
		return -1;
	out->generations++;
	out->slots += parked ? all : freed;
	out->kept += kept;
	return 0;
}

/* how many of these transactions can be rolled back */
static int
count_ways_back(const struct inst_state *s, const uint32_t *list, size_t n, size_t *ways, struct dray_err *e)
{
	struct inst_tx *tx;

	*ways = 0;
	for (size_t i = 0; i < n; i++) {
		if (inst_tx_open(s, list[i], false, &tx, e) != 0)
			return -1;
		*ways += tx->state == INST_TX_FINISHED;
		inst_tx_close(tx);
	}
	return 0;
}

int
inst_forget(const struct inst_state *s, bool parked, size_t keep, struct inst_forgotten *out, struct dray_err *e)
{
	struct inst_tx *tx;
	uint32_t *list;
	size_t n, ways, i;
	int rc = -1;

	*out = (struct inst_forgotten){ 0 };
	if (inst_tx_list(s, &list, &n, e) != 0)
		return -1;
	if (count_ways_back(s, list, n, &ways, e) != 0)
		goto out;
	/* oldest first: a cut leaves the newest way back, if any */
	for (i = 0; i < n && (keep == 0 || ways > keep); i++) {
		int r = 0;

		if (inst_tx_open(s, list[i], true, &tx, e) != 0)
			goto out;
		ways -= tx->state == INST_TX_FINISHED;
		/* with some to be kept, what is left of older ones is nobody's business */
		if (keep == 0 || tx->state == INST_TX_FINISHED)
			r = forget_one(s, tx, parked, out, e);
		inst_tx_close(tx);
		if (r != 0)
			goto out;
	}
	rc = inst_prune_heads(s, e);
out:
	free(list);
	return rc;
}

/* what is local inside a directory in the stash; in path order, so those of one directory stand together */
static int
add_along(const struct inst_tx *tx, const struct inst_op *op, struct inst_foreign *f, struct dray_err *e)
{
	if ((op->flags & INST_OP_SUBTREE) == 0)
		return 0;
	for (size_t i = 0; i < tx->n_along; i++)
		if (dray_path_under(tx->along[i].p, tx->along[i].len, op->path, op->len) &&
		    inst_foreign_add(f, tx->along[i].p, tx->along[i].len, e) != 0)
			return -1;
	return 0;
}

int
inst_parked(const struct inst_state *s, const struct inst_tx *tx, struct inst_foreign *f, struct dray_err *e)
{
	struct inst_tx view = *tx;	/* a swapper wants a writable one; nothing is written */
	struct inst_swapper w;
	bool parked, there, leftover = tx->state == INST_TX_FORGET;
	size_t i;
	int rc = -1;

	inst_swapper_init(&w, s->root, &view, false);
	for (i = 0; i < tx->n_swaps; i++) {
		const struct inst_op *op = &tx->ops[i];

		if (tx->state == INST_TX_DONE && op->step > tx->done)
			continue;	/* its slot holds the new object yet */
		if (is_parked(&w, op, true, &parked, &there, e) != 0)
			goto out;
		if (!there || (!parked && !leftover))
			continue;
		if (inst_foreign_add(f, op->path, op->len, e) != 0 || add_along(tx, op, f, e) != 0)
			goto out;
	}
	rc = 0;
out:
	inst_swapper_close(&w);
	return rc;
}

/* is the head of this bundle id still named by a transaction? */
static int
head_named(const struct inst_state *s, const uint8_t id[32], bool *named, struct dray_err *e)
{
	struct inst_tx *tx;
	uint32_t *list;
	size_t n, i;
	int rc = -1;

	*named = false;
	if (inst_tx_list(s, &list, &n, e) != 0)
		return -1;
	for (i = 0; i < n && !*named; i++) {
		if (inst_tx_open(s, list[i], false, &tx, e) != 0)
			goto out;
		if (tx->has_plan && tx->state != INST_TX_FORGET)
			*named = memcmp(tx->from.id, id, 32) == 0 || memcmp(tx->to.id, id, 32) == 0;
		inst_tx_close(tx);
	}
	rc = 0;
out:
	free(list);
	return rc;
}

int
inst_prune_heads(const struct inst_state *s, struct dray_err *e)
{
	struct inst_anchor a;
	struct dirent *de;
	uint8_t id[32];
	bool named;
	DIR *d = NULL;
	int fd, rc = -1;

	fd = openat(s->dir, "release", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return errno == ENOENT ? 0 : dray_fail_errno(e, "open %s/release", s->rel);
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return dray_fail_errno(e, "list %s/release", s->rel);
	}
	if (inst_anchor_load(s, &a, e) != 0)
		goto out;
	for (errno = 0; (de = readdir(d)) != NULL; errno = 0) {
		if (strlen(de->d_name) != 64 + 5 ||
		    (strcmp(de->d_name + 64, ".head") != 0 && strcmp(de->d_name + 64, ".kept") != 0) ||
		    !dray_unhex(de->d_name, 64, id, sizeof(id)))
			continue;
		if (a.installed.known && memcmp(a.installed.id, id, 32) == 0)
			continue;
		if (head_named(s, id, &named, e) != 0)
			goto out;
		if (!named && unlinkat(dirfd(d), de->d_name, 0) == -1) {
			dray_fail_errno(e, "delete a record of an old release");
			goto out;
		}
	}
	if (errno != 0) {
		dray_fail_errno(e, "list %s/release", s->rel);
		goto out;
	}
	rc = 0;
out:
	closedir(d);
	return rc;
}
