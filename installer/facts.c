/*
 * facts.c - what the plan knows of each path it changes or leaves alone, as the list that stays for good.
 * Source: spec/apply.md, "Evidence".
 */
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/num.h"

#include "installer/planning.h"

char
inst_fact_letter(const struct inst_item *it)
{
	switch ((enum inst_decision)it->decision) {
	case INST_D_ADD:
		return '+';
	case INST_D_UPDATE:
		return '~';
	case INST_D_REMOVE:
		return '-';
	case INST_D_TYPE:
		return 't';
	case INST_D_META:
		return it->times_only ? '\0' : 'm';
	case INST_D_KEEP:
		return it->untouched ? '\0' : '.';
	case INST_D_SAME:
	case INST_D_CONFLICT:	/* these refuse the plan as a whole */
	case INST_D_BLOCKED:
	case INST_D_UNREAD:
	case INST_D_UNDER:
		break;
	}
	return '\0';
}

/* what the release does not tell of the attributes, or what was not asked for, stays as it is */
static int
attributes(const struct inst_plan *p, const struct dray_state *state, struct dray_ev_side *s, struct dray_err *e)
{
	struct inst_meta m;

	if (inst_meta_of_state(p->ix, state, &m, e) != 0)
		return -1;
	if (p->no_owner)
		inst_meta_plain(&m);
	if ((m.has & DRAY_HAS_MODE) != 0)
		s->mode = m.mode;
	if ((m.has & DRAY_HAS_UID) != 0)
		s->uid = m.uid;
	if ((m.has & DRAY_HAS_GID) != 0)
		s->gid = m.gid;
	s->has |= (uint8_t)(m.has & (DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID));
	inst_meta_free(&m);
	return 0;
}

/* what was there, as it was noted; uses up a hash of plan->sums if it has to */
static void
before(const struct inst_plan *p, const struct inst_fact *f, const struct inst_sum **next, struct dray_ev_side *s)
{
	struct dray_content c;

	*s = (struct dray_ev_side){ .type = f->type, .has = f->has, .mode = f->mode, .uid = f->uid, .gid = f->gid };
	if (f->type != DRAY_FILE && f->type != DRAY_SYMLINK)
		return;
	if (f->content == DRAY_NONE) {
		memcpy(s->sha256, (*next)++->sha256, 32);
		return;
	}
	dray_index_content(p->ix, f->content, &c);
	memcpy(s->sha256, c.sha256, 32);
}

static void
keep_attributes(const struct dray_ev_side *before, struct dray_ev_side *s)
{
	s->has = before->has;
	s->mode = before->mode;
	s->uid = before->uid;
	s->gid = before->gid;
}

static int
after(const struct inst_plan *p, const struct inst_fact *f, uint32_t target, struct dray_sha256 *h, struct dray_ev_row *row,
    struct dray_err *e)
{
	struct dray_ev_side *s = &row->after;
	struct dray_content c;
	struct dray_state state;

	*s = (struct dray_ev_side){ .type = DRAY_ABSENT };
	if (row->change == '.')
		*s = row->before;
	if (row->change == '.' || row->change == '-' || target == DRAY_NONE)
		return 0;
	dray_index_state(p->ix, target, &state);
	if (row->change == 'm') {
		*s = row->before;
		return attributes(p, &state, s, e);
	}
	s->type = state.type;
	if (attributes(p, &state, s, e) != 0)
		return -1;
	if ((row->flags & DRAY_EV_OWN_ATTRS) != 0)
		keep_attributes(&row->before, s);
	if (f->merge != 0) {
		memcpy(s->sha256, p->merges[f->merge - 1].sha256, 32);
	} else if (state.type == DRAY_FILE) {
		dray_index_content(p->ix, state.content, &c);
		memcpy(s->sha256, c.sha256, 32);
	} else if (state.type == DRAY_SYMLINK) {
		return dray_sha256_once(h, state.target, state.target_len, s->sha256, e);
	}
	return 0;
}

static int
write_rows(const struct inst_plan *p, struct dray_ev_writer *w, struct dray_err *e)
{
	const struct inst_sum *next = p->sums;
	struct dray_sha256 *h = NULL;
	int rc = dray_sha256_new(&h, e);

	for (size_t i = 0; i < p->n_facts && rc == 0; i++) {
		const struct inst_fact *f = &p->facts[i];
		struct dray_ev_row row = { .change = f->change, .flags = f->flags };
		struct dray_entry en;

		dray_index_entry(p->ix, f->row, &en);
		row.path = en.path;
		row.len = en.len;
		before(p, f, &next, &row.before);
		rc = after(p, f, en.target, h, &row, e) != 0 ? -1 : dray_ev_add(w, &row, e);
	}
	dray_sha256_free(h);
	return rc == 0 ? dray_ev_end(w, e) : -1;
}

int
inst_facts_list(const struct inst_plan *p, struct dray_ev_writer *w, struct dray_err *e)
{
	size_t len;

	*w = (struct dray_ev_writer){ .p = NULL };
	if (!dray_fit(p->list_len, &len))
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return dray_ev_reserve(w, len, e) != 0 ? -1 : write_rows(p, w, e);
}

/* a hash that the index does not have */
static int
keep_sum(struct inst_plan *p, const struct inst_item *it, struct dray_sha256 *h, struct dray_err *e)
{
	const struct inst_rare *r = inst_rare(it);
	struct inst_sum *s;

	if ((p->n_sums & (p->n_sums - 1)) == 0) {	/* none, or a power of two: full */
		if ((s = realloc(p->sums, (p->n_sums == 0 ? 1 : 2 * p->n_sums) * sizeof(*s))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		p->sums = s;
	}
	s = &p->sums[p->n_sums++];
	if (it->id.type == DRAY_SYMLINK)
		return dray_sha256_once(h, r->link, r->link_len, s->sha256, e);
	memcpy(s->sha256, r->sha256, sizeof(s->sha256));
	return 0;
}

static int
note_fact(struct inst_planning *pl, const struct inst_item *it, char change, struct dray_sha256 *h, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct dray_entry en;
	struct inst_fact *f = &p->facts[p->n_facts++];

	dray_index_entry(pl->ix, it->row, &en);
	*f = (struct inst_fact){ .row = it->row, .content = DRAY_NONE, .type = it->id.type, .change = change,
		.flags = (uint8_t)((it->park ? DRAY_EV_PARKED : 0) | (it->edited && change == 'm' ? DRAY_EV_EDIT : 0) |
		    (it->lost ? DRAY_EV_ATTRS : 0) | (it->own_attrs ? DRAY_EV_OWN_ATTRS : 0) | (it->merged ? DRAY_EV_MERGED : 0) | ((en.flags & DRAY_ENTRY_CONFIG) != 0 ? DRAY_EV_CONFIG : 0)) };
	if (it->merged)
		f->merge = inst_rare(it)->merge;
	if (f->type != DRAY_ABSENT) {
		f->has = (uint8_t)(it->has & (DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID));
		f->mode = it->mode;
		f->uid = it->uid;
		f->gid = it->gid;
	}
	if (f->type == DRAY_FILE)
		f->content = it->content;
	if ((f->type == DRAY_FILE || f->type == DRAY_SYMLINK) && f->content == DRAY_NONE && keep_sum(p, it, h, e) != 0)
		return -1;
	return 0;
}

int
inst_facts(struct inst_planning *pl, struct dray_err *e)
{
	struct dray_ev_writer dry = { .dry = true };
	struct dray_sha256 *h = NULL;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < pl->n; i++)
		n += inst_fact_letter(&pl->items[i]) != '\0';
	if ((pl->plan->facts = calloc(n + 1, sizeof(*pl->plan->facts))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (dray_sha256_new(&h, e) != 0)
		return -1;
	for (size_t i = 0; i < pl->n && rc == 0; i++) {
		char change = inst_fact_letter(&pl->items[i]);

		if (change != '\0')
			rc = note_fact(pl, &pl->items[i], change, h, e);
	}
	dray_sha256_free(h);
	if (rc != 0 || write_rows(pl->plan, &dry, e) != 0)
		return -1;
	pl->plan->list_len = dry.len;
	return 0;
}
