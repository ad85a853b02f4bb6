/*
 * stage_cost.c - what staging costs, for the progress line: an object to make, frames to decode, bytes to write, .gz to make
 * again. An object that is taken over from an earlier staging costs nothing, and its frames are not counted.
 */
#include <stdlib.h>

#include "installer/recipe.h"
#include "installer/staging.h"

uint64_t
inst_stage_cost_frame(const struct stage *s, const struct dray_frame *f)
{
	uint64_t ref = 0, inside = 0;
	struct dray_range r;

	for (uint32_t i = 0; i < f->range_count; i++) {
		dray_index_range(s->ix, f->range_first + i, &r);
		ref += r.len;
		inside += r.inside ? r.len : 0;
	}
	return dray_cost_frame(f, ref, inside);
}

uint64_t
inst_stage_cost_use(const struct want *w, uint32_t piece, uint32_t len)
{
	uint64_t each = (uint64_t)len * DRAY_COST_WRITE + (piece + 1 == w->n_pieces ? DRAY_COST_MAKE : 0);

	return w->n_nodes * each + (w->wrap != DRAY_DEFLATE_NONE ? (uint64_t)len * DRAY_COST_DEFLATE : 0);
}

uint64_t
inst_stage_cost_copy(uint64_t bytes)
{
	return bytes * (DRAY_COST_HASH + DRAY_COST_WRITE);
}

/* @seen: a byte for each frame */
static uint64_t
cost_want(const struct stage *s, const struct want *want, uint8_t *seen)
{
	struct want w = { .n_nodes = want->n_nodes };
	struct dray_content c;
	struct dray_recipe r;
	struct dray_piece p;
	struct dray_frame f;
	uint64_t sum = 0;

	if (inst_recipe_next(s->ix, want->content, want->ordinal, s->p->live_of, &r) == INST_RECIPE_NONE)
		return 0;
	dray_index_content(s->ix, want->content, &c);
	if (r.kind == DRAY_RECIPE_COPY)
		return w.n_nodes * (inst_stage_cost_copy(dray_content_bytes(&c)) + DRAY_COST_MAKE);
	w.wrap = r.wrap;
	w.n_pieces = r.piece_count;
	for (uint32_t k = 0; k < r.piece_count; k++) {
		dray_index_piece(s->ix, r.piece_first + k, &p);
		sum += inst_stage_cost_use(&w, k, p.len);
		if (seen[p.frame] != 0)
			continue;
		seen[p.frame] = 1;
		dray_index_frame(s->ix, p.frame, &f);
		sum += inst_stage_cost_frame(s, &f);
	}
	return sum;
}

static uint64_t
cost_plain(const struct stage *s, uint32_t node)
{
	struct dray_content c;
	struct dray_entry en;
	struct dray_state st;

	dray_index_entry(s->ix, s->p->nodes[node].entry, &en);
	dray_index_state(s->ix, en.target, &st);
	if (st.type != DRAY_FILE || !s->p->nodes[node].from_live)
		return DRAY_COST_MAKE;
	dray_index_content(s->ix, st.content, &c);
	return DRAY_COST_MAKE + inst_stage_cost_copy(dray_content_bytes(&c));
}

int
inst_stage_cost_left(const struct stage *s, bool plain, uint64_t *sum, struct dray_err *e)
{
	uint8_t *seen = calloc((size_t)dray_index_rows(s->ix, DRAY_T_FRAMES) + 1, 1);

	*sum = (uint64_t)s->p->n_swaps * DRAY_COST_OP;
	if (seen == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; plain && i < s->n_plain; i++)
		*sum += cost_plain(s, s->plain[i]);
	for (size_t i = 0; i < s->n_wants; i++)
		if (!s->wants[i].have)
			*sum += cost_want(s, &s->wants[i], seen);
	free(seen);
	return 0;
}
