/*
 * steps.c - which phase of the bundle each operation belongs to, so that a phase can be switched by itself.
 * Source: spec/apply.md, "Steps".
 */
#include <stdlib.h>
#include <string.h>

#include "installer/planning.h"

static uint8_t
phase_of(const struct inst_planning *pl, uint32_t row)
{
	struct dray_entry en;

	dray_index_entry(pl->ix, row, &en);
	return (uint8_t)(en.phase + 1);
}

/*
 * A swap that brings objects belongs to the first phase that one of them is of: no phase waits for what a later one
 * brings. One that only takes away belongs to the last: nothing goes before its phase has come.
 */
static void
swap_steps(struct inst_planning *pl, const uint32_t *op_of)
{
	struct inst_plan *p = pl->plan;
	uint8_t step;

	for (size_t i = 0; i < p->n_nodes; i++) {
		struct inst_op *op = &p->ops[p->nodes[i].op];

		step = phase_of(pl, p->nodes[i].entry);
		if (op->step == 0 || step < op->step)
			op->step = step;
	}
	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];
		uint32_t at = op_of[it->top != DRAY_NONE ? it->top : i];

		if (at == DRAY_NONE || it->decision != INST_D_REMOVE || p->ops[at].now.type != DRAY_ABSENT)
			continue;
		step = phase_of(pl, it->row);
		if (step > p->ops[at].step)
			p->ops[at].step = step;
	}
	/* what a trigger makes anew after an earlier step; until here a swap's times say so */
	for (size_t i = 0; i < p->n_swaps; i++) {
		struct inst_op *op = &p->ops[i];

		if (op->times != 0 && op->times < op->step)
			op->step = (uint8_t)op->times;
		op->times = 0;
	}
}

static int
path_of_op(const void *a, const void *b)
{
	const struct inst_op *x = a, *y = b;

	return -dray_path_cmp(x->path, x->len, y->path, y->len);	/* METAs stand deepest first */
}

static uint8_t
first_step(uint16_t times)
{
	uint8_t step = 1;

	while (times > 0 && (times >> (step - 1) & 1) == 0)
		step++;
	return step;
}

/* a directory gets its time after each step that switches something in it */
static void
meta_steps(struct inst_planning *pl)
{
	struct inst_plan *p = pl->plan;
	struct inst_op up = { .path = NULL }, *meta;

	for (size_t i = 0; i < p->n_swaps; i++) {
		up.path = p->ops[i].path;
		up.len = (uint16_t)inst_parent_len(up.path, p->ops[i].len);
		meta = bsearch(&up, p->ops + p->n_swaps, p->n_ops - p->n_swaps, sizeof(up), path_of_op);
		if (meta != NULL)
			meta->times |= (uint16_t)(1u << (p->ops[i].step - 1));
	}
	for (size_t i = p->n_swaps; i < p->n_ops; i++) {
		meta = &p->ops[i];
		meta->step = meta->entry != DRAY_NONE ? phase_of(pl, meta->entry) : first_step(meta->times);
	}
}

void
inst_steps(struct inst_planning *pl, const uint32_t *op_of)
{
	struct inst_plan *p = pl->plan;

	swap_steps(pl, op_of);
	meta_steps(pl);
	for (size_t i = 0; i < p->n_ops; i++)
		p->in_step[p->ops[i].step - 1]++;
}
