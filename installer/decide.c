/*
 * decide.c - what happens to each path, from its facts, each for itself; decide_dirs.c then looks at directories.
 * Source: spec/apply.md, "Plan".
 */
#include <string.h>

#include "installer/planning.h"

/* what a release or a base says of the path: target, and former states; an untouched path has one state everywhere */
struct view {
	struct dray_entry en;
	bool has_target;
	struct dray_state target;
};

struct former { bool absent; struct dray_state s; uint64_t bases; };

static void
view_of(const struct inst_planning *pl, const struct inst_item *it, struct view *v)
{
	dray_index_entry(pl->ix, it->row, &v->en);
	v->has_target = v->en.target != DRAY_NONE;
	if (v->has_target)
		dray_index_state(pl->ix, v->en.target, &v->target);
}

static uint32_t
formers(const struct view *v)
{
	return (v->en.flags & DRAY_ENTRY_SAME) != 0 ? 1 : v->en.alt_count;
}

static void
former(const struct inst_planning *pl, const struct view *v, uint32_t i, struct former *f)
{
	struct dray_alt alt;

	if ((v->en.flags & DRAY_ENTRY_SAME) != 0) {
		f->absent = false;
		f->s = v->target;
		f->bases = UINT64_MAX;
		return;
	}
	dray_index_alt(pl->ix, v->en.alt_first + i, &alt);
	f->bases = alt.bases;
	f->absent = alt.state == DRAY_NONE;
	if (!f->absent)
		dray_index_state(pl->ix, alt.state, &f->s);
}

bool
inst_item_target(const struct inst_planning *pl, const struct inst_item *it, struct dray_state *s)
{
	struct dray_entry en;

	dray_index_entry(pl->ix, it->row, &en);
	if (en.target == DRAY_NONE)
		return false;
	dray_index_state(pl->ix, en.target, s);
	return true;
}

/* type and content of two states */
static bool
same_content(const struct dray_state *a, const struct dray_state *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case DRAY_FILE:
		return a->content == b->content;
	case DRAY_SYMLINK:
		return a->target_len == b->target_len && memcmp(a->target, b->target, a->target_len) == 0;
	case DRAY_CHARDEV:
	case DRAY_BLOCKDEV:
		return a->rdev_major == b->rdev_major && a->rdev_minor == b->rdev_minor;
	default:
		return true;
	}
}

/* *same: are the live attributes those of @s? @times: the modification time too */
int
inst_attrs_are(const struct inst_planning *pl, const struct inst_item *it, const struct dray_state *s, bool times,
    bool *same, struct dray_err *e)
{
	struct inst_meta m, live = inst_item_meta(it);

	if (inst_meta_of_state(pl->ix, s, &m, e) != 0)
		return -1;
	if (pl->policy->no_owner)
		inst_meta_plain(&m);
	if (!times)
		m.has &= (uint16_t)~DRAY_HAS_MTIME;
	m.fflags_known &= inst_sites_fflags(pl->sites, it->site);
	*same = inst_meta_same(&m, &live);
	inst_meta_free(&m);
	return 0;
}

uint8_t
inst_fflags_after(const struct inst_planning *pl, const struct inst_item *it, uint8_t *known)
{
	struct dray_state s;
	uint8_t want, kept;

	*known = 0;
	if (!inst_item_target(pl, it, &s))
		return 0;
	kept = s.type == it->id.type ? it->fflags : 0;	/* what the release says nothing of stays as it is here */
	want = dray_index_fflags(pl->ix, &s, os_name(), known);
	if (pl->policy->no_owner)
		*known = 0;
	return (uint8_t)((kept & ~*known) | (want & *known));
}

void
inst_keep(struct inst_item *it, enum inst_note_kind note)
{
	it->decision = INST_D_KEEP;
	it->note = (uint8_t)(note + 1);
}

void
inst_conflict(struct inst_item *it, const char *why)
{
	it->decision = INST_D_CONFLICT;
	it->why = why;
}

static bool
time_is(const struct inst_item *it, const struct dray_state *s)
{
	return s->has_mtime && s->mtime_sec == it->id.mtime_sec && s->mtime_nsec == it->id.mtime_nsec;
}

/* what the former states say about the object that is there */
struct past {
	bool any_absent;	/* one of them is "nothing there"; also when no base is known at all */
	bool any_type;		/* one of them has the type of what is there */
	bool only_meta;		/* all of them have the target's content: the release changes attributes alone */
	bool attrs_known;	/* one that matches has these attributes too */
	bool time_known;	/* one that matches has this time too */
};

static int
look_back(const struct inst_planning *pl, struct inst_item *it, const struct view *v, struct past *p, struct dray_err *e)
{
	uint32_t n = formers(v);
	struct former f;
	bool same;

	*p = (struct past){ .any_absent = n == 0, .only_meta = n > 0 && v->has_target };
	for (uint32_t i = 0; i < n; i++) {
		former(pl, v, i, &f);
		if (f.absent) {
			p->any_absent = true;
			p->only_meta = false;
			if (it->id.type == DRAY_ABSENT)
				it->bases |= f.bases;
			continue;
		}
		if (f.s.type == it->id.type)
			p->any_type = true;
		if (v->has_target && !same_content(&f.s, &v->target))
			p->only_meta = false;
		if (!inst_state_is(pl->ix, &f.s, it))
			continue;
		it->bases |= f.bases;
		if (inst_attrs_are(pl, it, &f.s, false, &same, e) != 0)
			return -1;
		p->attrs_known |= same;
		p->time_known |= time_is(it, &f.s);
	}
	return 0;
}

bool
inst_has_children(const struct inst_planning *pl, const struct inst_item *it)
{
	struct dray_entry en, next;

	dray_index_entry(pl->ix, it->row, &en);
	/* path order: what a directory holds follows it */
	for (uint32_t row = it->row + 1; row < dray_index_rows(pl->ix, DRAY_T_ENTRIES); row++) {
		dray_index_entry(pl->ix, row, &next);
		if (!dray_path_under(next.path, next.len, en.path, en.len))
			return false;
		if (next.target != DRAY_NONE)
			return true;
	}
	return false;
}

/* what is there has the target's type and content already: only attributes may differ */
static int
decide_attrs(const struct inst_planning *pl, struct inst_item *it, const struct view *v, const struct past *p,
    struct dray_err *e)
{
	bool attrs, all;

	if (inst_attrs_are(pl, it, &v->target, false, &attrs, e) != 0 || inst_attrs_are(pl, it, &v->target, true, &all, e) != 0)
		return -1;
	it->decision = INST_D_SAME;
	if (!attrs) {
		it->decision = INST_D_META;
		it->lost = !p->attrs_known;
	} else if (!all && it->id.type == DRAY_DIR) {
		/* anything made in a directory moves its time; alone that is no reason to touch it */
		if (p->time_known && inst_sites_refuse(pl->sites, it->site) == NULL) {
			it->decision = INST_D_META;
			it->times_only = true;
		} else {
			it->follow = true;
		}
	} else if (!all) {
		it->decision = INST_D_META;
	}
	if (it->untouched)	/* not the release's doing: what it does not change is not looked after */
		it->decision = INST_D_SAME;
	return 0;
}

/* is it a text that people edit, or one that a rule wants merged? */
static bool
to_merge(const struct inst_planning *pl, const struct inst_item *it, const struct view *v)
{
	enum dray_action a = inst_rule(pl, it->row);

	if (it->id.type != DRAY_FILE || v->target.type != DRAY_FILE || inst_database_text(v->en.path, v->en.len) != NULL)
		return false;
	return (v->en.flags & DRAY_ENTRY_CONFIG) != 0 || a == DRAY_ACT_MERGE || a == DRAY_ACT_USE;
}

int
inst_keep_edit(const struct inst_planning *pl, struct inst_item *it, enum inst_note_kind note, struct dray_err *e)
{
	struct dray_state s;
	bool same;

	inst_keep(it, note);
	it->park = false;
	it->edited = true;
	/* an edit's own time says when it was made: left as it is */
	if (!inst_item_target(pl, it, &s) || inst_attrs_are(pl, it, &s, false, &same, e) != 0)
		return -1;
	if (!same && !it->own_attrs)
		it->decision = INST_D_META;
	it->own_attrs = false;
	return 0;
}

/* a local object where the release has something else */
static void
decide_local(const struct inst_planning *pl, struct inst_item *it, const struct view *v, const struct past *p)
{
	bool strict = inst_wants_strict(pl, it->row);

	if (it->id.type == INST_SOCKET) {
		if (!v->has_target && p->any_absent)
			inst_keep(it, INST_NOTE_KEPT_LOCAL);
		else
			inst_conflict(it, "a socket is in the way");
		return;
	}
	if (!v->has_target) {
		if (p->any_absent && it->id.type != DRAY_DIR && !strict) {
			inst_keep(it, INST_NOTE_KEPT_LOCAL);
			return;
		}
		it->decision = INST_D_REMOVE;
		it->park = true;
		return;
	}
	if (v->target.type == DRAY_DIR) {
		if (!p->any_absent && !p->any_type && !strict && inst_has_children(pl, it)) {
			inst_conflict(it, "is no directory here, but in the release");
			return;
		}
	} else if (p->only_meta && !strict) {
		/* the release only sets attributes: the edited content stays */
		inst_keep(it, INST_NOTE_KEPT_META);
		if (it->id.type == v->target.type) {
			it->decision = INST_D_META;
			it->edited = true;
		}
		return;
	}
	if (it->untouched) {
		inst_keep(it, INST_NOTE_KEPT_LOCAL);
		return;
	}
	it->decision = it->id.type == v->target.type ? INST_D_UPDATE : INST_D_TYPE;
	it->park = true;
	it->merges = !strict && to_merge(pl, it, v);
}

static bool
acts(const struct inst_item *it)
{
	return it->decision == INST_D_ADD || it->decision == INST_D_UPDATE || it->decision == INST_D_TYPE ||
	    it->decision == INST_D_REMOVE || it->decision == INST_D_META;
}

/* what of the place forbids it: its file system, or that it is a mount itself; NULL: nothing */
static const char *
cannot(const struct inst_planning *pl, const struct inst_item *it, const char *path, size_t len)
{
	const char *why = inst_fstab_below(&pl->fstab, path, len);

	if (why != NULL)
		return why;
	if (!pl->unlocks && ((it->fflags & DRAY_FF_LOCKS) != 0 ||
	    ((it->up_fflags & DRAY_FF_LOCKS) != 0 && it->decision != INST_D_META)))
		return (it->fflags & DRAY_FF_LOCKS) != 0 ? "is immutable or append-only, and this user may not change that" :
		    "lies in a directory that is immutable or append-only, and this user may not change that";
	if (it->decision == INST_D_META)
		return inst_sites_refuse(pl->sites, it->site);
	if (it->id.type != DRAY_ABSENT && it->site != it->up_site)
		return "has something mounted on it";
	if ((why = inst_sites_refuse(pl->sites, it->up_site)) != NULL)
		return why;
	if (it->id.type == DRAY_DIR && inst_sites_overlay(pl->sites, it->up_site) &&
	    !inst_sites_moves_dirs(pl->sites, it->up_site))
		return "is a directory on overlayfs mounted without redirect_dir=on";
	return NULL;
}

/* missing here */
static void
decide_absent(const struct inst_planning *pl, struct inst_item *it, const struct view *v, const struct past *p)
{
	bool wanted = inst_wants_strict(pl, it->row) || (pl->mark != NULL && (pl->mark[it->row] & INST_MARK_WANTED) != 0);

	if (!v->has_target)
		it->decision = INST_D_SAME;
	else if (p->any_absent || wanted)
		it->decision = INST_D_ADD;
	else
		inst_keep(it, INST_NOTE_KEPT_DELETED);
}

/* a symlink where the release has a directory, unless the release itself made it one */
static bool
link_for_dir(const struct inst_planning *pl, const struct inst_item *it, const struct view *v, const struct past *p)
{
	return it->id.type == DRAY_SYMLINK && v->has_target && v->target.type == DRAY_DIR &&
	    (inst_link_decided(pl, it) || (it->bases == 0 && !p->any_type));
}

/* shall it become immutable or append-only, and this user may not do that? */
static bool
may_not_lock(const struct inst_planning *pl, const struct inst_item *it)
{
	uint8_t known;

	return !pl->unlocks && (inst_fflags_after(pl, it, &known) & known & DRAY_FF_LOCKS) != 0;
}

/* what must not be changed, whatever was decided */
static void
bar(const struct inst_planning *pl, struct inst_item *it, const struct dray_entry *en)
{
	char buf[DRAY_PATH_MAX];
	const char *path = en->path;
	size_t len = en->len;

	if (!acts(it) || !inst_where(pl->plan, false, &path, &len, buf))
		return;
	if (it->way == INST_WAY_THERE && (it->why = cannot(pl, it, path, len)) != NULL) {
		it->decision = INST_D_BLOCKED;
	} else if (may_not_lock(pl, it)) {
		it->decision = INST_D_BLOCKED;
		it->why = "is immutable or append-only in the release, and this user may not set that";
	} else if (pl->o->state != NULL && dray_path_under(path, len, pl->o->state, strlen(pl->o->state))) {
		it->decision = INST_D_BLOCKED;
		it->why = "lies in the state folder; name another one with --state";
	}
}

static int
decide_alone(const struct inst_planning *pl, struct inst_item *it, struct dray_err *e)
{
	struct view v;
	struct past p;
	bool same;

	view_of(pl, it, &v);
	if (it->unreadable) {
		it->decision = INST_D_UNREAD;
		return 0;
	}
	if (look_back(pl, it, &v, &p, e) != 0)
		return -1;
	it->is_target = it->id.type == DRAY_ABSENT ? !v.has_target :
	    v.has_target && inst_state_is(pl->ix, &v.target, it);
	if (inst_link_shadowed(pl, it)) {
		it->decision = INST_D_SAME;
	} else if (pl->policy->no_owner && v.has_target && inst_is_device(v.target.type)) {
		inst_keep(it, INST_NOTE_LEFT_OUT);
	} else if (pl->policy->repair != NULL) {
		if (inst_decide_repair(pl, it, e) != 0)
			return -1;
	} else if (it->id.type == DRAY_ABSENT) {
		decide_absent(pl, it, &v, &p);
	} else if (link_for_dir(pl, it, &v, &p)) {
		if (inst_link_decide(pl, it, e) != 0)
			return -1;
	} else if (it->is_target) {
		if (decide_attrs(pl, it, &v, &p, e) != 0)
			return -1;
	} else if (it->bases == 0) {
		decide_local(pl, it, &v, &p);
		if (it->edited) {
			/* an edit's own time says when it was made: left as it is */
			if (inst_attrs_are(pl, it, &v.target, false, &same, e) != 0)
				return -1;
			if (same)
				it->decision = INST_D_KEEP;
		}
	} else if (!v.has_target) {
		it->decision = INST_D_REMOVE;
	} else {
		it->decision = it->id.type == v.target.type ? INST_D_UPDATE : INST_D_TYPE;
		if (!p.attrs_known && v.target.type == it->id.type) {
			if (inst_attrs_are(pl, it, &v.target, false, &same, e) != 0)
				return -1;
			it->lost = !same;
		}
	}
	if (pl->policy->repair == NULL) {
		inst_decide_own(pl, it);
		inst_rules_apply(pl, it);
	}
	bar(pl, it, &v.en);
	return 0;
}

static void
count_bases(struct inst_planning *pl)
{
	struct inst_plan *p = pl->plan;

	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];
		struct dray_entry en;

		dray_index_entry(pl->ix, it->row, &en);
		if (it->untouched || it->unreadable || en.alt_count == 0)
			continue;
		for (size_t b = 0; b < pl->desc->n_bases; b++)
			if ((it->bases >> b & 1) != 0)
				p->matched[b]++;
		if (it->bases == 0 && !it->is_target)
			p->unmatched++;
	}
}

int
inst_decide(struct inst_planning *pl, struct dray_err *e)
{
	for (size_t i = 0; i < pl->n; i++)
		if (decide_alone(pl, &pl->items[i], e) != 0)
			return -1;
	if (inst_merges(pl, e) != 0)
		return -1;
	inst_databases(pl);
	if (inst_decide_dirs(pl, e) != 0)
		return -1;
	count_bases(pl);
	return 0;
}
