/*
 * plan.c - what apply would do here: which paths to look at, and the steps from facts to plan.
 * Source: spec/apply.md, "Plan".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "installer/outputs.h"

static void
planning_free(struct inst_planning *pl)
{
	for (size_t i = 0; i < pl->n; i++)
		inst_item_free(&pl->items[i]);
	free(pl->items);
	free(pl->at);
	free(pl->sure);
	free(pl->rule);
	free(pl->outputs);
	free(pl->output_refs);
	inst_sites_free(pl->sites);
	inst_fstab_free(&pl->fstab);
	inst_links_end(pl);
	inst_plan_free(pl->plan);
}

void
inst_plan_let_go(struct inst_plan *p)
{
	inst_ops_free(p->ops, p->n_ops);
	free(p->nodes);
	free(p->inside);
	free(p->frames);
	free(p->live_of);
	free(p->recipe_of);
	free(p->facts);
	free(p->sums);
	inst_merges_let_go(p);
	p->ops = NULL;
	p->nodes = NULL;
	p->inside = NULL;
	p->frames = NULL;
	p->live_of = p->recipe_of = NULL;
	p->facts = NULL;
	p->sums = NULL;
}

void
inst_plan_free(struct inst_plan *p)
{
	if (p == NULL)
		return;
	inst_plan_let_go(p);
	free(p->notes);
	free(p->rules_used);
	free(p->outputs);
	free(p->merges);
	free(p->decides);
	for (size_t i = 0; i < p->n_sites; i++)
		free(p->sites[i].path);
	free(p->sites);
	inst_park_free(p->texts, p->n_texts);
	inst_where_free(p);
	inst_park_free(p->along, p->n_along);
	free(p);
}

static uint32_t
group_of(const struct inst_planning *pl, const struct dray_entry *en)
{
	struct dray_state s;

	if (en->target == DRAY_NONE)
		return 0;
	dray_index_state(pl->ix, en->target, &s);
	return s.type == DRAY_FILE ? s.link : 0;
}

/* does the plan decide about it? Else it is looked at only for the sake of others */
static bool
decides(const struct inst_planning *pl, uint32_t row, const struct dray_entry *en)
{
	if (inst_row_absent(pl->ix, en, pl->policy->absent))
		return false;
	if (pl->policy->repair != NULL)
		return pl->policy->repair[row] != 0;
	return (inst_wants_strict(pl, row) && inst_rule(pl, row) != DRAY_ACT_THEIRS) || (en->flags & DRAY_ENTRY_SAME) == 0 || (pl->mark != NULL && pl->mark[row] != 0);
}

static bool
looks_at(const struct inst_planning *pl, uint32_t row, const struct dray_entry *en, const uint8_t *groups)
{
	return pl->plan->decides[row] != 0 ||
	    (groups[group_of(pl, en)] != 0 && !inst_row_absent(pl->ix, en, pl->policy->absent));
}

/* what the release changes or was asked for, and all other names of a hard-link group of which it changes one */
static int
choose(struct inst_planning *pl, struct dray_err *e)
{
	uint32_t rows = dray_index_rows(pl->ix, DRAY_T_ENTRIES), group;
	struct dray_entry en;
	uint8_t *groups;
	size_t n = 0;

	groups = calloc((size_t)rows + 2, 1);
	pl->at = malloc(((size_t)rows + 1) * sizeof(*pl->at));
	pl->plan->decides = calloc((size_t)rows + 1, 1);
	if (groups == NULL || pl->at == NULL || pl->plan->decides == NULL)
		goto memory;
	for (uint32_t i = 0; i < rows; i++) {
		pl->at[i] = DRAY_NONE;
		dray_index_entry(pl->ix, i, &en);
		pl->plan->decides[i] = decides(pl, i, &en);
		if (pl->plan->decides[i] != 0 && (group = group_of(pl, &en)) != 0)
			groups[group] = 1;
	}
	for (uint32_t i = 0; i < rows; i++) {
		dray_index_entry(pl->ix, i, &en);
		n += looks_at(pl, i, &en, groups);
	}
	if ((pl->items = calloc(n + 1, sizeof(*pl->items))) == NULL)
		goto memory;
	for (uint32_t i = 0; i < rows; i++) {
		struct inst_item *it = &pl->items[pl->n];

		dray_index_entry(pl->ix, i, &en);
		if (!looks_at(pl, i, &en, groups))
			continue;
		inst_item_init(it, i, pl->plan->decides[i] == 0);
		pl->n++;
	}
	free(groups);
	return 0;
memory:
	free(groups);
	return dray_fail(e, DRAY_E_IO, "out of memory");
}

static int
item_cmp(const void *a, const void *b)
{
	const struct inst_item *x = a, *y = b;

	return (x->row > y->row) - (x->row < y->row);	/* rows are in path order */
}

/* where the way to a path is missing or blocked, the directories above it matter too */
static int
add_parents(struct inst_planning *pl, struct dray_err *e)
{
	size_t first = pl->n, cap = pl->n;

	for (size_t i = 0; i < first; i++)
		pl->at[pl->items[i].row] = (uint32_t)i;
	for (size_t i = 0; i < first; i++) {
		struct dray_entry en;
		size_t len;

		if (pl->items[i].way == INST_WAY_THERE)
			continue;
		dray_index_entry(pl->ix, pl->items[i].row, &en);
		for (len = en.len; (len = inst_parent_len(en.path, len)) > 0; ) {
			uint32_t row = dray_index_find(pl->ix, en.path, len);
			struct inst_item *p;

			if (row == DRAY_NONE)
				continue;
			if (pl->at[row] != DRAY_NONE)
				break;	/* and so are those above it, or they will be for its own sake */
			if (pl->n == cap) {
				cap += cap / 4 + 16;
				if ((p = realloc(pl->items, cap * sizeof(*p))) == NULL)
					return dray_fail(e, DRAY_E_IO, "out of memory");
				pl->items = p;
			}
			inst_item_init(&pl->items[pl->n], row, true);
			pl->at[row] = (uint32_t)pl->n++;
		}
	}
	if (pl->n == first)
		return 0;
	return inst_look_items(pl, first, e);
}

/* path order again, and for each item the nearest one above it */
static void
arrange(struct inst_planning *pl)
{
	bool sorted = true;
	struct dray_entry en, up;

	/* nearly always they are in order: sorting them takes as much memory again */
	for (size_t i = 1; i < pl->n && sorted; i++)
		sorted = pl->items[i - 1].row < pl->items[i].row;
	if (!sorted)
		qsort(pl->items, pl->n, sizeof(*pl->items), item_cmp);
	for (size_t i = 0; i < pl->n; i++) {
		uint32_t at = i == 0 ? DRAY_NONE : (uint32_t)(i - 1);

		pl->at[pl->items[i].row] = (uint32_t)i;
		dray_index_entry(pl->ix, pl->items[i].row, &en);
		while (at != DRAY_NONE) {
			dray_index_entry(pl->ix, pl->items[at].row, &up);
			if (dray_path_under(en.path, en.len, up.path, up.len))
				break;
			at = pl->items[at].up;
		}
		pl->items[i].up = at;
	}
}

int
inst_plan_make(int rootfd, const struct dray_bundle *b, const struct inst_plan_opts *o, struct inst_plan **out,
    struct dray_err *e)
{
	static const struct inst_policy usual;
	struct inst_planning pl = { .root = rootfd, .b = b, .desc = dray_bundle_desc(b), .ix = dray_bundle_index(b), .o = o,
		.policy = o->policy != NULL ? o->policy : &usual, .unlocks = os_fflags_mine() };
	int rc = -1;

	*out = NULL;
	if ((pl.plan = calloc(1, sizeof(*pl.plan))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	pl.plan->ix = pl.ix;
	pl.plan->no_owner = pl.policy->no_owner;
	pl.plan->absent = pl.policy->absent;
	pl.plan->desc = pl.desc;
	if (inst_sites_new(rootfd, o->component_walk, &pl.sites, e) != 0 || inst_links_begin(&pl, e) != 0 || inst_rules_begin(&pl, e) != 0 ||
	    choose(&pl, e) != 0 || inst_look_items(&pl, 0, e) != 0 || add_parents(&pl, e) != 0 ||
	    inst_outputs_look(&pl, e) != 0 || inst_sites_settle(pl.sites, pl.policy->no_sync, e) != 0 || inst_fstab_load(rootfd, &pl.fstab, e) != 0)
		goto out;
	arrange(&pl);
	if (inst_decide(&pl, e) != 0 || inst_decide_links(&pl, e) != 0 || inst_outputs_decide(&pl, e) != 0 || inst_order(&pl, e) != 0 ||
	    inst_sites_plan(pl.sites, pl.plan, e) != 0 || inst_facts(&pl, e) != 0 || inst_need(&pl, e) != 0 ||
	    inst_notes(&pl, e) != 0 || inst_plan_id(&pl, e) != 0)
		goto out;
	*out = pl.plan;
	pl.plan = NULL;
	rc = 0;
out:
	planning_free(&pl);
	return rc;
}
