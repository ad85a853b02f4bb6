/*
 * symlinks.c - a directory of the release that is a symlink here: one conflict for all beneath it, or what the operator
 * decided. Source: spec/apply.md, "Symlinks for directories".
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "installer/symlinks.h"

static bool
is_dir(const struct inst_planning *pl, const struct dray_entry *en)
{
	struct dray_state s;

	if (en->target == DRAY_NONE)
		return false;
	dray_index_state(pl->ix, en->target, &s);
	return s.type == DRAY_DIR;
}

DRAY_PRINTF(3, 4) static int
say_why(struct inst_decided *d, struct dray_err *e, const char *fmt, ...)
{
	va_list ap;
	char why[160];

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return (d->why = strdup(why)) != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

/* the place of the redirect has to stay a directory, and must not be ours */
static int
place_ok(const struct inst_planning *pl, const struct inst_lead *l, struct inst_decided *d, struct dray_err *e)
{
	struct dray_entry en;
	char q[90];
	uint32_t row;

	if (dray_path_reserved(l->path, l->len) ||
	    (pl->o->state != NULL && dray_path_under(l->path, l->len, pl->o->state, strlen(pl->o->state))))
		return say_why(d, e, "cannot be redirected: it leads into the state folder");
	for (size_t n = l->len; n > 0; n = inst_parent_len(l->path, n)) {
		if ((row = dray_index_find(pl->ix, l->path, n)) == DRAY_NONE)
			continue;
		dray_index_entry(pl->ix, row, &en);
		if (!is_dir(pl, &en))
			return say_why(d, e, "cannot be redirected: %s is no directory in the release",
			    dray_quote(l->path, n, q, sizeof(q)));
	}
	return 0;
}

/* another path of the release that would lie at @path; DRAY_NONE: none */
static uint32_t
other_at(const struct inst_planning *pl, const char *path, size_t len, uint32_t but)
{
	const struct inst_plan *p = pl->plan;
	uint32_t row = dray_index_find(pl->ix, path, len);
	char buf[DRAY_PATH_MAX];

	for (size_t i = 0; i < p->n_redirects && (row == DRAY_NONE || row == but); i++) {
		const struct inst_redirect *r = &p->redirects[i];

		if (r->only_read || !dray_path_under(path, len, r->to, r->to_len) || len == r->to_len ||
		    r->from_len + len - r->to_len >= DRAY_PATH_MAX)
			continue;
		memcpy(buf, r->from, r->from_len);
		memcpy(buf + r->from_len, path + r->to_len, len - r->to_len);
		row = dray_index_find(pl->ix, buf, r->from_len + len - r->to_len);
	}
	return row == but ? DRAY_NONE : row;
}

/* no path beneath may meet another one of the release, unless both are directories */
static int
meets_none(const struct inst_planning *pl, struct inst_decided *d, struct dray_err *e)
{
	struct dray_entry top, en, other;
	char buf[DRAY_PATH_MAX], a[60], b[60];
	const char *path;
	uint32_t row;
	size_t len;

	dray_index_entry(pl->ix, d->row, &top);
	for (uint32_t i = d->row + 1; i < dray_index_rows(pl->ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(pl->ix, i, &en);
		if (!dray_path_under(en.path, en.len, top.path, top.len))
			break;
		path = en.path;
		len = en.len;
		if (!inst_where(pl->plan, false, &path, &len, buf) || dray_path_reserved(path, len))
			return say_why(d, e, "cannot be redirected: %s would have a name of dray, or one too long",
			    dray_quote(en.path, en.len, a, sizeof(a)));
		if ((row = other_at(pl, path, len, i)) == DRAY_NONE)
			continue;
		dray_index_entry(pl->ix, row, &other);
		if (!is_dir(pl, &en) || !is_dir(pl, &other))
			return say_why(d, e, "cannot be redirected: %s would meet %s",
			    dray_quote(en.path, en.len, a, sizeof(a)), dray_quote(other.path, other.len, b, sizeof(b)));
	}
	return 0;
}

static int
add_redirect(struct inst_planning *pl, const struct inst_link *link, const struct inst_lead *l, uint32_t row,
    struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct inst_redirect *v;
	struct dray_entry en;

	if ((v = realloc(p->redirects, (p->n_redirects + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->redirects = v;
	dray_index_entry(pl->ix, row, &en);
	v += p->n_redirects;
	*v = (struct inst_redirect){ .from = en.path, .from_len = en.len, .to_len = l->len,
		.only_read = link->how == INST_LINK_RESTORE };
	if ((v->to = strndup(l->path, l->len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->n_redirects++;
	return 0;
}

/* all that the directory holds in the release comes back with it */
static void
want_all(struct inst_planning *pl, uint32_t row)
{
	struct dray_entry top, en;

	dray_index_entry(pl->ix, row, &top);
	for (uint32_t i = row + 1; i < dray_index_rows(pl->ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(pl->ix, i, &en);
		if (!dray_path_under(en.path, en.len, top.path, top.len))
			return;
		pl->mark[i] |= INST_MARK_WANTED;
	}
}

/* a component that the tree gets now: all of it, as if nothing had been deleted here */
static void
want_fresh(struct inst_planning *pl)
{
	uint64_t others = ~pl->policy->fresh;
	struct dray_entry en;

	for (uint32_t i = 0; pl->policy->fresh != 0 && i < dray_index_rows(pl->ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(pl->ix, i, &en);
		if ((dray_index_compset(pl->ix, en.compset) & others & ~pl->policy->absent) == 0)
			pl->mark[i] |= INST_MARK_WANTED;
	}
}

/* one decision: is there a symlink, and does what was decided work with it? */
static int
one_link(struct inst_planning *pl, struct dray_walk *w, const struct inst_link *link, struct inst_decided *d,
    struct dray_err *e)
{
	char text[DRAY_PATH_MAX + 1], words[INST_LEAD_TEXT], buf[DRAY_PATH_MAX], q[200];
	const char *path = link->path;
	size_t len = link->len, text_len;
	struct dray_entry en;
	struct inst_lead l;
	int r;

	d->row = dray_index_find(pl->ix, link->path, link->len);
	if (d->row != DRAY_NONE)
		dray_index_entry(pl->ix, d->row, &en);
	if (d->row == DRAY_NONE || !is_dir(pl, &en))
		return dray_fail(e, DRAY_E_USAGE, "%s: %s is no directory of the release",
		    link->ruled ? "--policy" : "--symlink", dray_quote(link->path, link->len, q, sizeof(q)));
	pl->mark[d->row] |= INST_MARK_DECIDED;
	if (!inst_where(pl->plan, false, &path, &len, buf))
		return 0;
	if ((r = inst_link_text(w, path, len, text, &text_len, e)) != 0)
		return r < 0 ? -1 : 0;
	if (link->how == INST_LINK_RESTORE)
		want_all(pl, d->row);
	if (link->how == INST_LINK_IGNORE)
		return 0;
	if (inst_lead_find(w, path, len, text, text_len, &l, e) != 0)
		return -1;
	if (l.kind != INST_LEAD_DIR)
		return link->how == INST_LINK_RESTORE ? 0 :
		    say_why(d, e, "cannot be redirected: it %s", inst_lead_text(&l, text, text_len, words));
	if (link->how == INST_LINK_RESTORE)
		return add_redirect(pl, link, &l, d->row, e);
	if (place_ok(pl, &l, d, e) != 0 || (d->why == NULL && add_redirect(pl, link, &l, d->row, e) != 0))
		return -1;
	return d->why == NULL ? meets_none(pl, d, e) : 0;
}

int
inst_links_begin(struct inst_planning *pl, struct dray_err *e)
{
	const struct inst_policy *p = pl->policy;
	struct dray_walk w;
	int rc = 0;

	if (p->n_links == 0 && p->fresh == 0)
		return 0;
	pl->mark = calloc((size_t)dray_index_rows(pl->ix, DRAY_T_ENTRIES) + 1, 1);
	pl->decided = calloc(p->n_links + 1, sizeof(*pl->decided));
	if (pl->mark == NULL || pl->decided == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	want_fresh(pl);
	dray_walk_init(&w, pl->root);
	w.component_walk = pl->o->component_walk;
	for (size_t i = 0; rc == 0 && i < p->n_links; i++)
		rc = one_link(pl, &w, &p->links[i], &pl->decided[i], e);
	dray_walk_close(&w);
	return rc;
}

void
inst_links_end(struct inst_planning *pl)
{
	for (size_t i = 0; pl->decided != NULL && i < pl->policy->n_links; i++)
		free(pl->decided[i].why);
	free(pl->decided);
	free(pl->mark);
}

/* not decided: where it leads, so that a person can */
static int
ask(const struct inst_planning *pl, struct inst_item *it, const struct dray_entry *en, struct dray_err *e)
{
	static const char text[] = "is a symlink here, a directory in the release";
	char words[INST_LEAD_TEXT], buf[DRAY_PATH_MAX], why[sizeof(text) + sizeof(words) + 4];
	const struct inst_rare *r = inst_rare(it);
	const char *path = en->path;
	size_t len = en->len;
	struct inst_lead l;
	struct dray_walk w;
	int rc;

	inst_conflict(it, text);
	it->asks = true;
	if (!inst_where(pl->plan, false, &path, &len, buf))
		return 0;
	dray_walk_init(&w, pl->root);
	w.component_walk = pl->o->component_walk;
	rc = inst_lead_find(&w, path, len, r->link, r->link_len, &l, e);
	dray_walk_close(&w);
	if (rc != 0)
		return -1;
	inst_lead_text(&l, r->link, r->link_len, words);
	snprintf(why, sizeof(why), "%s (%s)", text, words);
	if (inst_item_broke(it, why, e) != 0)
		return -1;
	it->why = it->rare->broke;
	return 0;
}

bool
inst_link_decided(const struct inst_planning *pl, const struct inst_item *it)
{
	return pl->mark != NULL && (pl->mark[it->row] & INST_MARK_DECIDED) != 0;
}

int
inst_link_decide(const struct inst_planning *pl, struct inst_item *it, struct dray_err *e)
{
	const enum dray_action rule = inst_rule(pl, it->row);
	enum inst_link_how how = inst_wants_strict(pl, it->row) ? INST_LINK_RESTORE :
	    rule == DRAY_ACT_IGNORE || rule == DRAY_ACT_MINE ? INST_LINK_IGNORE : INST_LINK_ASK;
	const char *why = NULL;
	struct dray_entry en;

	dray_index_entry(pl->ix, it->row, &en);
	for (size_t i = 0; i < pl->policy->n_links; i++)
		if (pl->decided[i].row == it->row) {
			how = pl->policy->links[i].how;
			why = pl->decided[i].why;
		}
	switch (how) {
	case INST_LINK_ASK:
		return ask(pl, it, &en, e);
	case INST_LINK_RESTORE:
		it->decision = INST_D_TYPE;
		it->park = true;
		return 0;
	case INST_LINK_IGNORE:
	case INST_LINK_REDIRECT:
		break;
	}
	if (why != NULL) {
		inst_conflict(it, why);
		it->asks = true;
		return 0;
	}
	it->decision = INST_D_KEEP;
	it->covers = how == INST_LINK_IGNORE;
	it->note = (uint8_t)((how == INST_LINK_IGNORE ? INST_NOTE_LINK_IGNORED : INST_NOTE_LINK_REDIRECTED) + 1);
	return 0;
}

bool
inst_link_shadowed(const struct inst_planning *pl, const struct inst_item *it)
{
	char buf[DRAY_PATH_MAX];
	struct dray_entry en;
	const char *path;
	size_t len;

	if (pl->plan->n_redirects == 0)
		return false;
	dray_index_entry(pl->ix, it->row, &en);
	path = en.path;
	len = en.len;
	return inst_where(pl->plan, false, &path, &len, buf) && path == buf &&
	    other_at(pl, path, len, it->row) != DRAY_NONE;
}
