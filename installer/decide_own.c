/*
 * decide_own.c - owner, mode and flags that were set here: a rule keeps them, whatever becomes of the content, or the release's
 * come with a merged text, and that is told.
 */
#include "installer/planning.h"

static bool
owner_is(const struct inst_planning *pl, const struct inst_item *it, const struct dray_state *s)
{
	struct dray_attrs a;
	uint8_t known, want = dray_index_fflags(pl->ix, s, os_name(), &known);

	if (s->type != it->id.type)
		return false;
	dray_index_attrs(pl->ix, s->attrs, &a);
	known &= inst_sites_fflags(pl->sites, it->site);
	return ((a.has & DRAY_HAS_MODE) == 0 || a.mode == it->mode) && ((a.has & DRAY_HAS_UID) == 0 || a.uid == it->uid) &&
	    ((a.has & DRAY_HAS_GID) == 0 || a.gid == it->gid) && ((want ^ it->fflags) & known) == 0;
}

/* has the release, or had some base, this owner, mode and these flags? */
static bool
owner_known(const struct inst_planning *pl, const struct inst_item *it, const struct dray_state *target)
{
	struct dray_entry en;
	struct dray_state s;
	struct dray_alt alt;

	if (owner_is(pl, it, target))
		return true;
	dray_index_entry(pl->ix, it->row, &en);
	for (uint32_t i = 0; i < en.alt_count; i++) {
		dray_index_alt(pl->ix, en.alt_first + i, &alt);
		if (alt.state == DRAY_NONE)
			continue;
		dray_index_state(pl->ix, alt.state, &s);
		if (owner_is(pl, it, &s))
			return true;
	}
	return false;
}

void
inst_decide_own(const struct inst_planning *pl, struct inst_item *it)
{
	const struct dray_rule *r = inst_rule_of(pl, it->row);
	const bool keeps = r != NULL && r->keep_metadata;
	struct dray_state s;

	if ((!keeps && !it->merges) || (it->decision != INST_D_UPDATE && it->decision != INST_D_META) || it->times_only ||
	    !inst_item_target(pl, it, &s) || it->id.type != s.type || s.type == DRAY_SYMLINK ||
	    (keeps && s.type == DRAY_FILE && s.link != 0) || owner_known(pl, it, &s))
		return;
	if (!keeps) {
		it->lost = true;
		return;
	}
	if (it->decision == INST_D_UPDATE)
		it->own_attrs = true;
	else if (it->edited)
		it->decision = INST_D_KEEP;
	else
		inst_keep(it, INST_NOTE_KEPT_ATTRS);
	it->lost = false;
}
