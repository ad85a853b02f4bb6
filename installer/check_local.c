/*
 * check_local.c - what differs because somebody here decided so is no damage: edited config files, what upgrades left
 * alone, components that this tree does not have.
 */
#include "dray/json.h"
#include "dray/path.h"

#include "installer/checking.h"

#define MISSING INST_DIFF_BIT(INST_DIFF_MISSING)
#define MTIME INST_DIFF_BIT(INST_DIFF_MTIME)
#define GONE (MISSING | INST_DIFF_BIT(INST_DIFF_TYPE))	/* what lies beneath cannot be there */
#define EDITED (INST_DIFF_BIT(INST_DIFF_TYPE) | INST_DIFF_BIT(INST_DIFF_CONTENT) | INST_DIFF_BIT(INST_DIFF_MTIME) | \
    INST_DIFF_BIT(INST_DIFF_LINKS))
#define ATTRS (INST_DIFF_BIT(INST_DIFF_OWNER) | INST_DIFF_BIT(INST_DIFF_MODE) | INST_DIFF_BIT(INST_DIFF_FLAGS))

uint16_t
inst_check_decided(const struct inst_check *c, uint32_t row)
{
	uint16_t may = 0;

	switch ((enum inst_local)c->why[row]) {
	case INST_LOCAL_NO:
		break;
	case INST_LOCAL_CONFIG:
	case INST_LOCAL_MADE:
		may = MISSING | EDITED;
		break;
	case INST_LOCAL_DELETED:
		may = MISSING;
		break;
	case INST_LOCAL_ABSENT:	/* directories of it may be here, which is nothing to judge */
	case INST_LOCAL_POLICY:
		may = UINT16_MAX;
		break;
	case INST_LOCAL_EDITED:
		may = EDITED;
		break;
	case INST_LOCAL_ATTRS:
		may = ATTRS;
		break;
	case INST_LOCAL_OWN:
		may = MISSING | EDITED | ATTRS;
		break;
	case INST_LOCAL_SYMLINK:
		may = INST_DIFF_BIT(INST_DIFF_TYPE);
		break;
	}
	return c->diffs[row] & may;
}

uint16_t
inst_check_damage(const struct inst_check *c, uint32_t row)
{
	return c->diffs[row] & (uint16_t)~(inst_check_decided(c, row) | INST_CHECK_STATE);
}

size_t
inst_check_beneath(const struct inst_check *c, const struct dray_index *ix, uint32_t row)
{
	struct dray_entry top, en;
	size_t n = 0;

	if ((c->diffs[row] & GONE) == 0 || (c->diffs[row] & INST_CHECK_BENEATH) != 0)
		return 0;
	dray_index_entry(ix, row, &top);
	for (uint32_t i = row + 1; i < c->rows; i++) {
		dray_index_entry(ix, i, &en);
		if (!dray_path_under(en.path, en.len, top.path, top.len))
			break;
		n += (c->diffs[i] & INST_CHECK_BENEATH) != 0 && c->why[i] != INST_LOCAL_ABSENT;
	}
	return n;
}

/* per component: does anything belong to it alone, and is any of that here? First what is no directory, then those */
struct presence { uint64_t has[2], here[2]; };

static void
look_at_components(const struct inst_checking *ck, struct presence *p)
{
	struct dray_entry en;
	struct dray_state s;

	for (uint32_t row = 0; row < ck->c->rows; row++) {
		uint64_t set;
		bool dir;

		dray_index_entry(ck->ix, row, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ck->ix, en.target, &s);
		set = dray_index_compset(ck->ix, en.compset);
		dir = s.type == DRAY_DIR;
		if ((set & (set - 1)) != 0)
			continue;
		p->has[dir] |= set;
		if ((ck->c->diffs[row] & MISSING) == 0)
			p->here[dir] |= set;
	}
}

/* a component of whose files none is here; a directory alone may stand for it where it has nothing else */
static uint64_t
absent_components(const struct inst_checking *ck)
{
	struct presence p = { .has = { 0, 0 } };
	uint64_t absent;

	look_at_components(ck, &p);
	absent = (p.has[0] & ~p.here[0]) | (p.has[1] & ~p.has[0] & ~p.here[1]);
	/* all of them: the tree is empty, and that is no choice of components */
	return absent == (p.has[0] | p.has[1]) ? 0 : absent;
}

/* a directory that the release removed, and that is still here for what a policy keeps in it */
static bool
holds_kept(const struct inst_checking *ck, uint32_t row, const struct dray_entry *dir)
{
	struct dray_entry en;

	for (uint32_t i = row + 1; i < ck->c->rows; i++) {
		dray_index_entry(ck->ix, i, &en);
		if (!dray_path_under(en.path, en.len, dir->path, dir->len))
			return false;
		if (ck->o->kept[i] == INST_LOCAL_POLICY && (ck->c->diffs[i] & INST_DIFF_BIT(INST_DIFF_EXTRA)) != 0)
			return true;
	}
	return false;
}

/* what a trigger makes is the machine's own: of its password file, its libraries, its kernels */
static bool
is_made(const struct dray_desc *d, const struct dray_entry *en)
{
	const struct dray_json *outputs, *t;
	struct dray_err ignored;
	const char *path;
	size_t n, len;

	for (size_t i = 0; i < d->n_triggers; i++) {
		t = dray_json_at(d->triggers, i);
		if (!dray_json_has(t, "outputs") || dray_json_arr(t, "outputs", &outputs, &n, "", &ignored) != 0)
			continue;
		for (size_t k = 0; k < n; k++)
			if ((path = dray_json_text(dray_json_at(outputs, k), &len)) != NULL &&
			    dray_path_under(en->path, en->len, path, len))
				return true;
	}
	return false;
}

static enum inst_local
reason(const struct inst_checking *ck, const struct dray_desc *d, uint32_t row, const struct dray_entry *en, uint64_t absent)
{
	if (inst_row_absent(ck->ix, en, absent))
		return INST_LOCAL_ABSENT;
	if (ck->o->strict)
		return INST_LOCAL_NO;
	if (ck->o->kept != NULL && ck->o->kept[row] == INST_LOCAL_POLICY)
		return INST_LOCAL_POLICY;
	if (en->target == DRAY_NONE)
		return ck->o->kept != NULL && holds_kept(ck, row, en) ? INST_LOCAL_POLICY : INST_LOCAL_NO;
	if ((en->flags & DRAY_ENTRY_CONFIG) != 0)
		return ck->o->kept != NULL && (ck->o->kept[row] == INST_LOCAL_ATTRS || ck->o->kept[row] == INST_LOCAL_OWN) ?
		    INST_LOCAL_OWN : INST_LOCAL_CONFIG;
	if (ck->o->kept != NULL && ck->o->kept[row] != INST_LOCAL_NO)
		return (enum inst_local)ck->o->kept[row];
	return is_made(d, en) ? INST_LOCAL_MADE : INST_LOCAL_NO;
}

static void
count(struct inst_check *c, uint32_t row)
{
	uint16_t damage = inst_check_damage(c, row);

	for (unsigned d = 0; d < INST_DIFFS; d++)
		c->of[d] += damage >> d & 1;
	c->differ += damage != 0;
	c->local += damage == 0 && inst_check_decided(c, row) != 0 && c->why[row] != INST_LOCAL_ABSENT;
	c->unread += (c->diffs[row] & INST_CHECK_UNREAD) != 0 && c->why[row] != INST_LOCAL_ABSENT;
}

void
inst_check_local(struct inst_checking *ck, const struct dray_desc *desc)
{
	struct inst_check *c = ck->c;
	struct dray_entry en;
	struct dray_state s;
	uint32_t top = DRAY_NONE;

	if (desc->n_components > 1)
		c->absent = ck->o->components ? ck->o->absent : absent_components(ck);
	for (uint32_t row = 0; row < c->rows; row++) {
		dray_index_entry(ck->ix, row, &en);
		c->entries += en.target != DRAY_NONE && !inst_row_absent(ck->ix, &en, c->absent);
		if (c->diffs[row] == 0)
			continue;
		c->why[row] = (uint8_t)reason(ck, desc, row, &en, c->absent);
		if (en.target != DRAY_NONE && !c->strict) {
			dray_index_state(ck->ix, en.target, &s);
			if (s.type == DRAY_DIR && (c->diffs[row] & MTIME) != 0)
				c->diffs[row] ^= MTIME | INST_CHECK_DIR_TIME;
		}
		if ((c->diffs[row] & INST_CHECK_BENEATH) == 0)
			top = (c->diffs[row] & GONE) != 0 ? row : top;
		else if (c->why[row] != INST_LOCAL_ABSENT && top != DRAY_NONE && (inst_check_decided(c, top) & GONE) != 0)
			c->why[row] = INST_LOCAL_DELETED;	/* whoever decided on the directory decided on what it held */
		count(c, row);
	}
}
