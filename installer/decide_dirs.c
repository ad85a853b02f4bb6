/*
 * decide_dirs.c - directories with what they hold: which go as a whole, which stay, and what moves along with them.
 * Source: spec/apply.md, "Plan".
 */
#include <string.h>

#include "installer/planning.h"

/* something new goes into a directory that was deleted here: the directory comes back, what it held does not */
static void
force_parents(struct inst_planning *pl)
{
	struct dray_state s;

	for (size_t i = pl->n; i-- > 0; ) {
		struct inst_item *it = &pl->items[i], *up;

		if (it->decision != INST_D_ADD || it->up == DRAY_NONE)
			continue;
		up = &pl->items[it->up];
		if (up->decision != INST_D_KEEP || up->id.type != DRAY_ABSENT)
			continue;
		if (!inst_item_target(pl, up, &s) || s.type != DRAY_DIR)
			continue;
		up->decision = INST_D_ADD;
		up->note = 0;
		up->forced = true;
	}
}

/* may a directory that has to give way take along what is local in it? */
static bool
takes_along(const struct inst_planning *pl, const struct inst_item *it)
{
	return (inst_wants_strict(pl, it->row) && !it->held) || (it->decision == INST_D_TYPE && pl->policy->park);
}

/* one directory that shall go: it does when all it holds goes too, or may be taken along. *goes: it does */
static int
settle_dir(struct inst_planning *pl, struct inst_item *it, bool *goes, struct dray_err *e)
{
	bool alone = !it->stays && inst_rare(it)->foreign == NULL;

	*goes = alone;
	if (alone)
		return 0;
	if (inst_rare(it)->foreign != NULL && (pl->policy->park || takes_along(pl, it)) && inst_park_list(pl, it, e) != 0)
		return -1;
	if (takes_along(pl, it) && inst_rare(it)->broke != NULL) {
		it->decision = INST_D_BLOCKED;
		it->why = it->rare->broke;
	} else if (takes_along(pl, it) && !it->fixed) {
		it->takes = it->park_inside = true;
		*goes = true;
	} else if (it->decision == INST_D_REMOVE) {
		it->park = false;
		it->decision = INST_D_KEEP;
		it->note = INST_NOTE_KEPT_DIR + 1;
	} else if (takes_along(pl, it)) {
		it->park = false;
		it->decision = INST_D_BLOCKED;
		it->why = "holds a mount or something that this user may not read, which cannot be taken along";
	} else {
		it->park = false;
		it->decision = INST_D_CONFLICT;
	}
	return 0;
}

/* bottom-up: may a directory that shall go, go as a whole? */
static int
settle_dirs(struct inst_planning *pl, struct dray_err *e)
{
	struct dray_state s;

	for (size_t i = pl->n; i-- > 0; ) {
		struct inst_item *it = &pl->items[i], *up;
		bool goes = it->decision == INST_D_REMOVE;

		if (it->id.type == DRAY_DIR && (it->decision == INST_D_REMOVE || it->decision == INST_D_TYPE) &&
		    settle_dir(pl, it, &goes, e) != 0)
			return -1;
		if (it->up == DRAY_NONE || (it->id.type == DRAY_ABSENT && !it->unreadable))
			continue;
		up = &pl->items[it->up];
		if (inst_item_target(pl, up, &s) && s.type == DRAY_DIR)
			continue;
		if (it->fixed || inst_rare(it)->broke != NULL || it->decision == INST_D_BLOCKED || it->decision == INST_D_UNREAD)
			up->fixed = true;
		up->held |= it->held;
		if (!goes) {
			up->stays = true;
			up->stays_for = it->stays ? it->stays_for : (uint32_t)i;
		} else if (it->park || it->park_inside) {
			up->park_inside = true;
		}
	}
	return 0;
}

static bool
holds(const struct inst_planning *pl, const struct inst_item *up, const struct inst_item *it)
{
	struct dray_entry a, b;

	dray_index_entry(pl->ix, up->row, &a);
	dray_index_entry(pl->ix, it->row, &b);
	return inst_parent_len(b.path, b.len) == a.len;
}

/* what would have stayed, in a directory that takes it along */
static void
take(struct inst_item *it)
{
	if (it->id.type == DRAY_ABSENT || (it->decision != INST_D_KEEP && it->decision != INST_D_CONFLICT))
		return;
	it->decision = INST_D_REMOVE;
	it->note = 0;
	it->why = NULL;
	it->takes = true;
	if (it->id.type == DRAY_DIR)
		it->park_inside = true;
	else
		it->park = true;
}

/* top-down: what moves along with a directory, and what lies beneath a conflict */
static void
cover(struct inst_planning *pl)
{
	for (size_t i = 0; i < pl->n; i++) {
		struct inst_item *it = &pl->items[i];
		const struct inst_item *up = it->up == DRAY_NONE ? NULL : &pl->items[it->up];

		if (up != NULL && (up->decision == INST_D_CONFLICT || up->decision == INST_D_BLOCKED ||
		    up->decision == INST_D_UNDER || up->decision == INST_D_UNREAD || up->covers)) {
			if (it->decision != INST_D_SAME && it->decision != INST_D_CONFLICT)
				it->decision = INST_D_UNDER;
			continue;
		}
		if (up != NULL && up->takes)
			take(it);
		if (it->decision != INST_D_ADD && it->decision != INST_D_REMOVE)
			continue;
		if (up != NULL && holds(pl, up, it) && (up->decision == INST_D_ADD || up->decision == INST_D_TYPE ||
		    up->decision == INST_D_REMOVE)) {
			it->top = up->top != DRAY_NONE ? up->top : it->up;
			if (it->decision == INST_D_ADD)	/* its directory was not there to be looked at */
				it->site = it->up_site = pl->items[it->top].up_site;
			continue;
		}
		if (it->decision == INST_D_ADD && it->way != INST_WAY_THERE)
			inst_conflict(it, "the directory for it is not there, and the release does not bring it");
	}
}

int
inst_decide_dirs(struct inst_planning *pl, struct dray_err *e)
{
	force_parents(pl);
	if (settle_dirs(pl, e) != 0)
		return -1;
	cover(pl);
	return 0;
}
