/*
 * nodes.c - what an op brings and takes along: the objects to make, in entry order, and those that go with a directory.
 * Source: spec/apply.md, "Plan".
 */
#include <stdlib.h>

#include "installer/planning.h"

static int
make_nodes(struct inst_planning *pl, const uint32_t *op_of, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct dray_state s;
	size_t n = 0;

	for (size_t i = 0; i < pl->n; i++)
		if (pl->items[i].decision == INST_D_ADD || pl->items[i].decision == INST_D_UPDATE ||
		    pl->items[i].decision == INST_D_TYPE)
			n++;
	if ((p->nodes = calloc(n + 1, sizeof(*p->nodes))) == NULL)
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
		node->group = s.type == DRAY_FILE ? s.link : 0;
		node->rel = en.len;
		if (it->top != DRAY_NONE) {
			dray_index_entry(pl->ix, pl->items[it->top].row, &top);
			node->rel = top.len + 1;
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

/* one inode has its names on one file system: a group that spans several is a group on each. Numbers stay below the nodes' */
static int
split_groups(struct inst_plan *p, struct dray_err *e)
{
	struct member *v;
	uint32_t number = 0;
	size_t n = 0;

	if ((v = malloc((p->n_nodes + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < p->n_nodes; i++)
		if (p->nodes[i].group != 0)
			v[n++] = (struct member){ p->nodes[i].group, (uint32_t)i, p->ops[p->nodes[i].op].site };
	if (n > 0)
		qsort(v, n, sizeof(*v), member_cmp);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || v[i].group != v[i - 1].group || v[i].site != v[i - 1].site)
			number++;
		p->nodes[v[i].node].group = number;
	}
	free(v);
	return 0;
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
	return make_nodes(pl, op_of, e) == 0 && split_groups(pl->plan, e) == 0 ? list_inside(pl, e) : -1;
}
