/*
 * decide_repair.c - what a repair does with each path: what was chosen becomes what the release says, all else stays.
 * Source: spec/apply.md, "Repair".
 */
#include "installer/planning.h"

/* where a directory has to be: not replaced with all that it may hide before it was named */
static const char *
in_the_way(struct inst_item *it)
{
	it->asks = it->id.type != INST_SOCKET;
	return it->id.type == DRAY_SYMLINK ? "is a symlink here, a directory in the release" :
	    "is no directory here, but in the release";
}

/* looked at for the sake of others: a directory on the way to them, or another name of their file */
static void
decide_bystander(const struct inst_planning *pl, struct inst_item *it)
{
	struct dray_state s;
	bool wanted = inst_item_target(pl, it, &s);

	if (it->is_target)
		it->decision = INST_D_SAME;
	else if (it->id.type == DRAY_ABSENT)
		inst_keep(it, INST_NOTE_KEPT_DELETED);	/* but comes back if it is a directory that something goes into */
	else if (wanted && s.type == DRAY_DIR && inst_has_children(pl, it))
		inst_conflict(it, in_the_way(it));
	else
		inst_keep(it, INST_NOTE_KEPT_LOCAL);
}

/* its content is a local decision, its owner, mode and extended attributes are not */
static int
decide_edited(const struct inst_planning *pl, struct inst_item *it, const struct dray_state *s, struct dray_err *e)
{
	bool same;

	inst_keep(it, INST_NOTE_KEPT_META);
	if (it->id.type != s->type)
		return 0;
	if (inst_attrs_are(pl, it, s, false, &same, e) != 0)
		return -1;
	if (!same) {
		it->decision = INST_D_META;
		it->edited = true;
	}
	return 0;
}

/* type and content are right */
static int
decide_attrs(const struct inst_planning *pl, struct inst_item *it, const struct dray_state *s, bool named, struct dray_err *e)
{
	bool attrs, all;

	if (inst_attrs_are(pl, it, s, false, &attrs, e) != 0 || inst_attrs_are(pl, it, s, true, &all, e) != 0)
		return -1;
	it->decision = INST_D_SAME;
	/* whatever is made in a directory moves its time: alone that is work only where it was asked for */
	if (attrs && !all && it->id.type == DRAY_DIR && !named)
		it->follow = true;
	else if (!all)
		it->decision = INST_D_META;
	return 0;
}

int
inst_decide_repair(const struct inst_planning *pl, struct inst_item *it, struct dray_err *e)
{
	uint8_t how = pl->policy->repair[it->row];
	struct dray_state s;

	if (how == 0) {
		decide_bystander(pl, it);
		return 0;
	}
	if (!inst_item_target(pl, it, &s)) {
		it->decision = it->id.type == DRAY_ABSENT ? INST_D_SAME : INST_D_REMOVE;
		it->park = it->decision == INST_D_REMOVE && it->bases == 0 && it->id.type != DRAY_DIR;
		return 0;
	}
	if (it->id.type == DRAY_ABSENT) {
		it->decision = (how & INST_REPAIR_KEEP_CONTENT) != 0 ? INST_D_SAME : INST_D_ADD;
		return 0;
	}
	if (it->id.type == INST_SOCKET) {
		inst_conflict(it, "a socket is in the way");
		return 0;
	}
	if ((how & INST_REPAIR_KEEP_CONTENT) != 0)
		return decide_edited(pl, it, &s, e);
	if (it->is_target)
		return decide_attrs(pl, it, &s, (how & INST_REPAIR_NAMED) != 0, e);
	if (s.type == DRAY_DIR && (how & INST_REPAIR_NAMED) == 0 && inst_has_children(pl, it)) {
		inst_conflict(it, in_the_way(it));
		return 0;
	}
	it->decision = it->id.type == s.type ? INST_D_UPDATE : INST_D_TYPE;
	/* what no release had there may be somebody's work as well as damage */
	it->park = it->bases == 0;
	return 0;
}

bool
inst_repair_links(const struct inst_planning *pl, const struct inst_item *it)
{
	return pl->policy->repair != NULL && (pl->policy->repair[it->row] & INST_REPAIR_LINKS) != 0;
}
