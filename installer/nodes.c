/*
 * nodes.c - what an op brings and takes along: the objects to make, in entry order, and those that go with a directory.
 * Source: spec/apply.md, "Plan".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"

#include "installer/planning.h"

/*
 * names of one file in the release that become the same merged text stay one file, whatever becomes of the others: all that
 * are like the first of them, by whose entry the release names the group
 */
static uint32_t
merged_group(const struct inst_planning *pl, const struct inst_item *it, const struct dray_state *s)
{
	uint32_t first = s->link == 0 ? DRAY_NONE : pl->at[s->link - 1];

	if (first == DRAY_NONE || !pl->items[first].merged ||
	    memcmp(inst_merge_of(pl->plan, &pl->items[first])->sha256, inst_merge_of(pl->plan, it)->sha256, DRAY_SHA256_LEN) != 0)
		return 0;
	return dray_index_rows(pl->ix, DRAY_T_ENTRIES) + s->link;
}

static int
make_nodes(struct inst_planning *pl, const uint32_t *op_of, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct dray_state s;
	size_t n = 0, owned = 0;

	for (size_t i = 0; i < pl->n; i++) {
		n += pl->items[i].decision == INST_D_ADD || pl->items[i].decision == INST_D_UPDATE ||
		    pl->items[i].decision == INST_D_TYPE;
		owned += pl->items[i].own_attrs;
	}
	p->nodes = calloc(n + 1, sizeof(*p->nodes));
	p->owned = calloc(owned + 1, sizeof(*p->owned));
	if (p->nodes == NULL || p->owned == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];
		struct inst_node *node = &p->nodes[p->n_nodes];
		struct dray_entry en, top;

		if (it->decision != INST_D_ADD && it->decision != INST_D_UPDATE && it->decision != INST_D_TYPE)
			continue;
		if (!inst_item_target(pl, it, &s))
			continue;
		dray_index_entry(pl->ix, it->row, &en);
		/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the caller filled all of it with DRAY_NONE */
		node->op = op_of[it->top != DRAY_NONE ? it->top : i];
		if (node->op == DRAY_NONE)
			return dray_fail(e, DRAY_E_IO, "internal: an object to make without an operation that brings it");
		node->entry = it->row;
		node->group = s.type != DRAY_FILE ? 0 : it->merged ? merged_group(pl, it, &s) : s.link;
		node->merge = it->merged ? inst_rare(it)->merge : 0;
		if (it->own_attrs) {
			p->owned[p->n_owned++] = (struct inst_owned){ .uid = it->uid, .gid = it->gid, .mode = it->mode };
			node->owned = (uint32_t)p->n_owned;
		}
		node->rel = (uint16_t)en.len;	/* paths are shorter than DRAY_PATH_MAX */
		if (it->top != DRAY_NONE) {
			dray_index_entry(pl->ix, pl->items[it->top].row, &top);
			node->rel = (uint16_t)(top.len + 1);
		}
		node->from_live = it->from_live;
		node->live = it->from_live ? it->live_row : DRAY_NONE;
		p->n_nodes++;
	}
	return 0;
}

struct member { uint32_t group, node; uint8_t site; };

static int
member_cmp(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* more names than one file can have here: known now, and not when the last of them fails */
static int
limit_names(struct inst_planning *pl, const struct member *first, size_t n, struct dray_err *e)
{
	uint64_t max = pl->o->max_links != 0 ? pl->o->max_links : inst_sites_max_links(pl->sites, first->site);
	struct inst_item *it = &pl->items[pl->at[pl->plan->nodes[first->node].entry]];
	char text[120];

	if (n <= max)
		return 0;
	snprintf(text, sizeof(text), "is one of %zu names of one file; this file system gives it %" PRIu64 " at most", n, max);
	if (inst_rare(it)->broke == NULL && inst_item_broke(it, text, e) != 0)
		return -1;
	it->decision = INST_D_BLOCKED;
	it->why = it->rare->broke;
	return 0;
}

/* one inode has its names on one file system: a group that spans several is a group on each. Numbers stay below the nodes' */
static int
split_groups(struct inst_planning *pl, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct member *v;
	uint32_t number = 0;
	size_t n = 0, first = 0;
	int rc = 0;

	if ((v = malloc((p->n_nodes + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < p->n_nodes; i++)
		if (p->nodes[i].group != 0)
			v[n++] = (struct member){ p->nodes[i].group, (uint32_t)i, p->ops[p->nodes[i].op].site };
	if (n > 0)
		qsort(v, n, sizeof(*v), member_cmp);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (i == 0 || v[i].group != v[i - 1].group || v[i].site != v[i - 1].site) {
			number++;
			first = i;
		}
		if (i + 1 == n || v[i].group != v[i + 1].group || v[i].site != v[i + 1].site)
			rc = limit_names(pl, &v[first], i + 1 - first, e);
		p->nodes[v[i].node].group = number;
	}
	free(v);
	return rc;
}

static bool
goes_along(const struct inst_item *it)
{
	return it->top != DRAY_NONE && it->id.type != DRAY_ABSENT;
}

/* what a directory takes along on its way out: the recheck must not stop at its door */
static int
list_inside(struct inst_planning *pl, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct inst_inside *in;
	struct dray_entry en;
	size_t n = 0;

	for (size_t i = 0; i < pl->n; i++)
		n += goes_along(&pl->items[i]);
	if ((p->inside = calloc(n + 1, sizeof(*p->inside))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];

		if (!goes_along(it))
			continue;
		dray_index_entry(pl->ix, it->row, &en);
		in = &p->inside[p->n_inside++];
		in->id = it->id;
		if (inst_where_keep(pl->plan, &en, &in->path, &in->len, e) != 0)
			return -1;
	}
	return 0;
}

int
inst_nodes(struct inst_planning *pl, const uint32_t *op_of, struct dray_err *e)
{
	return make_nodes(pl, op_of, e) == 0 && split_groups(pl, e) == 0 ? list_inside(pl, e) : -1;
}
