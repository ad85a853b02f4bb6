/*
 * plan_notes.c - what a person has to know about single paths, and the counts of the report.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "installer/outputs.h"

DRAY_PRINTF(5, 0) static int
note_path(struct inst_planning *pl, const char *path, size_t len, enum inst_note_kind kind, const char *fmt, va_list ap)
{
	struct inst_plan *p = pl->plan;
	struct inst_note *n;

	if (p->n_notes == pl->cap_notes) {
		size_t cap = pl->cap_notes == 0 ? 64 : pl->cap_notes * 2;

		if ((n = realloc(p->notes, cap * sizeof(*n))) == NULL)
			return -1;
		p->notes = n;
		pl->cap_notes = cap;
	}
	n = &p->notes[p->n_notes++];
	memset(n, 0, sizeof(*n));
	n->kind = kind;
	n->path = path;
	n->len = len;
	vsnprintf(n->why, sizeof(n->why), fmt, ap);
	return 0;
}

DRAY_PRINTF(4, 5) static int
note(struct inst_planning *pl, const struct inst_item *it, enum inst_note_kind kind, const char *fmt, ...)
{
	struct dray_entry en;
	va_list ap;
	int rc;

	dray_index_entry(pl->ix, it->row, &en);
	va_start(ap, fmt);
	rc = note_path(pl, en.path, en.len, kind, fmt, ap);
	va_end(ap);
	return rc;
}

/* a local object that goes along with a directory; takes @path, which the note shares with the plan */
DRAY_PRINTF(3, 4) static int
note_along(struct inst_planning *pl, char *path, const char *fmt, ...)
{
	struct inst_plan *p = pl->plan;
	va_list ap;
	char **v;
	int rc;

	if (path == NULL || (v = realloc(p->along, (p->n_along + 1) * sizeof(*v))) == NULL) {
		free(path);
		return -1;
	}
	p->along = v;
	v[p->n_along++] = path;
	va_start(ap, fmt);
	rc = note_path(pl, path, strlen(path), INST_NOTE_PARKED, fmt, ap);
	va_end(ap);
	p->parked++;
	return rc;
}

/* what the release does not know in a directory that goes */
static int
locals(struct inst_planning *pl, struct inst_item *it)
{
	struct inst_rare *r = it->rare;
	char *path;

	for (size_t i = 0; it->takes && r != NULL && i < r->n_locals; i++) {
		path = r->locals[i];
		r->locals[i] = NULL;
		if (note_along(pl, path, "made here; goes into the stash with its directory") != 0)
			return -1;
	}
	return 0;
}

/* the thing that keeps a directory from going, as a printable path */
static const char *
holder(const struct inst_planning *pl, const struct inst_item *it, char *buf, size_t cap)
{
	const struct inst_item *at = inst_rare(it)->foreign == NULL && it->stays ? &pl->items[it->stays_for] : it;
	const char *foreign = inst_rare(at)->foreign;
	char path[DRAY_PATH_MAX + 256];
	struct dray_entry en;
	int n;

	dray_index_entry(pl->ix, at->row, &en);
	n = snprintf(path, sizeof(path), "%.*s%s%s", (int)en.len, en.path, foreign != NULL ? "/" : "",
	    foreign != NULL ? foreign : "");
	return dray_quote(path, n > 0 && (size_t)n < sizeof(path) ? (size_t)n : en.len, buf, cap);
}

static int
parked(struct inst_planning *pl, const struct inst_item *it)
{
	char buf[DRAY_PATH_MAX];
	struct dray_entry en;
	const char *path;
	size_t len;

	if (it->top != DRAY_NONE) {
		dray_index_entry(pl->ix, it->row, &en);
		path = en.path;
		len = en.len;
		if (!inst_where(pl->plan, false, &path, &len, buf))
			return -1;
		return note_along(pl, strndup(path, len), "edited here; goes into the stash with its directory");
	}
	pl->plan->parked++;
	if (pl->policy->repair != NULL)
		return note(pl, it, INST_NOTE_PARKED, "was not as any release had it; kept in the stash");
	return note(pl, it, INST_NOTE_PARKED, it->decision == INST_D_REMOVE ? "edited here and removed; kept in the stash" :
	    "edited here and replaced; the old one is kept in the stash");
}

static int
redirected(struct inst_planning *pl, const struct inst_item *it)
{
	char q[90] = "";
	struct dray_entry en;

	dray_index_entry(pl->ix, it->row, &en);
	for (size_t i = 0; i < pl->plan->n_redirects; i++)
		if (pl->plan->redirects[i].from == en.path)
			dray_quote(pl->plan->redirects[i].to, pl->plan->redirects[i].to_len, q, sizeof(q));
	return note(pl, it, INST_NOTE_LINK_REDIRECTED, "is a symlink here; what is beneath it goes to %s", q);
}

/* file flags of the release that cannot be set, because the file system has no place for them */
static int
without_fflags(struct inst_planning *pl, const struct inst_item *it)
{
	uint8_t known, fflags = inst_fflags_after(pl, it, &known), site = it->decision == INST_D_META ? it->site : it->up_site;
	char words[DRAY_FF_TEXT];

	if (it->top != DRAY_NONE)
		site = pl->items[it->top].up_site;
	fflags &= (uint8_t)(known & ~inst_sites_fflags(pl->sites, site));
	if (fflags == 0 || it->decision == INST_D_REMOVE)
		return 0;
	return note(pl, it, INST_NOTE_NO_FLAGS, "its file system does not keep %s", dray_fflags_text(fflags, words));
}

static const char merged_mine[] = "edited here; nothing of the release is new in it",
    own_attributes[] = "its owner, mode or flags were set here and stay";

/* an update by a merge */
static int
merged(struct inst_planning *pl, const struct inst_item *it)
{
	const struct inst_merge *m = inst_merge_of(pl->plan, it);
	char fits[DRAY_QUOTE_CAP(64)] = "";

	if (m == NULL || it->decision != INST_D_UPDATE)
		return 0;
	pl->plan->merged++;
	if (m->result == INST_MERGED_THEIRS)
		return note(pl, it, INST_NOTE_MERGED_THEIRS, "edited here; all of that is in the release");
	if (m->result == INST_MERGED_USED)
		return note(pl, it, INST_NOTE_USED, "becomes the text decided on, %s", dray_hex(m->sha256, 8, fits));
	return note(pl, it, INST_NOTE_MERGED, "edited here; merged with the release's");
}

static int
kept_db(struct inst_planning *pl, const struct inst_item *it)
{
	struct dray_entry en;

	dray_index_entry(pl->ix, it->row, &en);
	return note(pl, it, INST_NOTE_KEPT_DB, "stays; to be built again from %s", inst_database_text(en.path, en.len));
}

static int
one(struct inst_planning *pl, struct inst_item *it)
{
	struct inst_plan *p = pl->plan;
	char what[100];

	switch ((enum inst_decision)it->decision) {
	case INST_D_UNREAD:
		p->partial = true;
		return note(pl, it, INST_NOTE_UNREADABLE, "cannot be read by this user");
	case INST_D_CONFLICT:
		p->conflicts++;
		if (pl->policy->repair != NULL)
			p->naming += it->asks;
		else
			p->asking += it->asks;
		p->unmerged += it->unmerged;
		if (it->why != NULL)
			return note(pl, it, INST_NOTE_CONFLICT, "%s", it->why);
		p->holding++;
		return note(pl, it, INST_NOTE_CONFLICT, "has to give way, but holds %s", holder(pl, it, what, sizeof(what)));
	case INST_D_BLOCKED:
		p->blocked++;
		return note(pl, it, INST_NOTE_BLOCKED, "%s", it->why);
	case INST_D_KEEP:
		if (it->untouched && it->note != INST_NOTE_LINK_IGNORED + 1)
			return 0;
		p->left_alone++;
		if (it->note == INST_NOTE_KEPT_DIR + 1)
			return note(pl, it, INST_NOTE_KEPT_DIR, "stays, because it holds %s", holder(pl, it, what, sizeof(what)));
		if (it->note == INST_NOTE_KEPT_META + 1)
			return note(pl, it, INST_NOTE_KEPT_META, pl->policy->repair != NULL ? "edited here, so its content stays" :
			    "edited here; the release only changes attributes");
		if (it->note == INST_NOTE_MERGED_MINE + 1)
			return note(pl, it, INST_NOTE_MERGED_MINE, merged_mine);
		if (it->note == INST_NOTE_KEPT_ATTRS + 1)
			return note(pl, it, INST_NOTE_KEPT_ATTRS, own_attributes);
		if (it->note == INST_NOTE_KEPT_DB + 1)
			return kept_db(pl, it);
		if (it->note == INST_NOTE_LINK_IGNORED + 1)
			return note(pl, it, INST_NOTE_LINK_IGNORED, "is a symlink here; nothing beneath it is changed");
		if (it->note == INST_NOTE_LINK_REDIRECTED + 1)
			return redirected(pl, it);
		if (it->note == INST_NOTE_IGNORED + 1)
			return note(pl, it, INST_NOTE_IGNORED, "left alone, as the policy says");
		if (it->note == INST_NOTE_NOT_ADDED + 1)
			return note(pl, it, INST_NOTE_NOT_ADDED, "not there, and not added, as the policy says");
		if (it->note == INST_NOTE_MINE + 1)
			return note(pl, it, INST_NOTE_MINE, "edited here; the policy keeps it");
		if (it->note == INST_NOTE_LEFT_OUT + 1)
			return note(pl, it, INST_NOTE_LEFT_OUT, "a device, left out with --no-owner");
		if (it->note == INST_NOTE_KEPT_LOCAL + 1)
			return note(pl, it, INST_NOTE_KEPT_LOCAL, "made here; no release has it in that place");
		return note(pl, it, INST_NOTE_KEPT_DELETED, "deleted here, stays deleted");
	case INST_D_META:
		p->meta_only++;
		if (it->note == INST_NOTE_MERGED_MINE + 1) {
			if (note(pl, it, INST_NOTE_MERGED_MINE, merged_mine) != 0)
				return -1;
		} else if (it->edited && note(pl, it, INST_NOTE_KEPT_META, "edited here; only its attributes are set") != 0)
			return -1;
		break;
	case INST_D_ADD:
		p->added++;
		break;
	case INST_D_UPDATE:
		p->updated++;
		break;
	case INST_D_TYPE:
		p->type_changed++;
		break;
	case INST_D_REMOVE:
		p->removed++;
		break;
	case INST_D_SAME:
		if (!it->untouched)
			p->already++;
		return 0;
	case INST_D_UNDER:
		return 0;
	}
	if (locals(pl, it) != 0 || merged(pl, it) != 0)
		return -1;
	if (it->own_attrs && note(pl, it, INST_NOTE_KEPT_ATTRS, own_attributes) != 0)
		return -1;
	if (it->park) {
		if (parked(pl, it) != 0)
			return -1;
	} else if (it->lost && note(pl, it, INST_NOTE_META_LOST, "its owner, mode or other attributes were set here") != 0) {
		return -1;
	}
	if (it->split && note(pl, it, INST_NOTE_SPLIT_LINK, "has other names on another file system: a file of its own here") != 0)
		return -1;
	if (without_fflags(pl, it) != 0)
		return -1;
	if (it->outside && note(pl, it, INST_NOTE_OUTSIDE_LINK, "has other names, which keep the old content") != 0)
		return -1;
	return 0;
}

static int
by_path(const void *a, const void *b)
{
	const struct inst_note *x = a, *y = b;
	int c = dray_path_cmp(x->path, x->len, y->path, y->len);

	return c != 0 ? c : (int)x->kind - (int)y->kind;
}

DRAY_PRINTF(4, 5) static int
note_at(struct inst_planning *pl, const struct inst_output *o, enum inst_note_kind kind, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = note_path(pl, o->path, o->len, kind, fmt, ap);
	va_end(ap);
	return rc;
}

int
inst_notes(struct inst_planning *pl, struct dray_err *e)
{
	for (size_t i = 0; i < pl->n_outputs; i++)
		if (pl->outputs[i].step != 0 && pl->outputs[i].why != NULL &&
		    note_at(pl, &pl->outputs[i], INST_NOTE_OUTPUT, "%s; what makes it runs again then", pl->outputs[i].why) != 0)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < pl->n; i++) {
		struct inst_item *it = &pl->items[i];

		if (!it->untouched || (it->decision != INST_D_SAME && it->decision != INST_D_KEEP))
			pl->plan->touched++;
		if (one(pl, it) != 0 || (inst_link_decided(pl, it) && it->id.type != DRAY_SYMLINK &&
		    note(pl, it, INST_NOTE_NO_SYMLINK, "is no symlink here; --symlink has nothing to decide") != 0))
			return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	if (pl->plan->n_notes > 1)
		qsort(pl->plan->notes, pl->plan->n_notes, sizeof(*pl->plan->notes), by_path);
	inst_park_sort(pl->plan->along, pl->plan->n_along);
	return 0;
}
