/*
 * look_old.c - which bases hold which content.
 */
#include <stdlib.h>

#include "tool/look.h"

/* the content of the @k-th alternative, DRAY_NONE: it is no file; gives its bases too */
static uint32_t
old_content(const struct dray_index *ix, const struct dray_entry *en, uint32_t k, uint64_t *bases)
{
	struct dray_state s;
	struct dray_alt alt;

	dray_index_alt(ix, en->alt_first + k, &alt);
	*bases = alt.bases;
	if (alt.state == DRAY_NONE)
		return DRAY_NONE;
	dray_index_state(ix, alt.state, &s);
	return s.type == DRAY_FILE ? s.content : DRAY_NONE;
}

/* the contents that an entry has in bases, each once; @here: by content row, zeros before and after */
static void
each_of(const struct dray_index *ix, uint32_t row, const struct dray_entry *en, uint64_t *here, tool_old_fn *fn,
    void *ctx)
{
	uint64_t once = 0, mixed = 0, bases;	/* mixed: there are several contents, or there is no file */
	uint32_t c;

	for (int tell = 0; tell < 2; tell++) {
		for (uint32_t k = 0; k < en->alt_count; k++) {
			if ((c = old_content(ix, en, k, &bases)) == DRAY_NONE)
				mixed |= bases;
			else
				here[c] |= bases;
		}
		for (uint32_t k = 0; k < en->alt_count; k++) {
			if ((c = old_content(ix, en, k, &bases)) == DRAY_NONE || here[c] == 0)
				continue;
			bases = here[c];
			here[c] = 0;
			if (tell) {
				fn(ctx, row, c, bases, bases & ~mixed);
			} else {
				mixed |= once & bases;
				once |= bases;
			}
		}
	}
}

int
tool_each_old(const struct dray_index *ix, const struct dray_desc *desc, tool_old_fn *fn, void *ctx)
{
	const uint64_t all = desc->n_bases >= 64 ? UINT64_MAX : (UINT64_C(1) << desc->n_bases) - 1;
	uint64_t *here = calloc((size_t)dray_index_rows(ix, DRAY_T_CONTENTS) + 1, sizeof(*here));

	if (here == NULL)
		return -1;
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		struct dray_entry en;
		struct dray_state s;

		dray_index_entry(ix, i, &en);
		if ((en.flags & DRAY_ENTRY_SAME) == 0) {
			each_of(ix, i, &en, here, fn, ctx);
			continue;
		}
		dray_index_state(ix, en.target, &s);
		if (s.type == DRAY_FILE)
			fn(ctx, i, s.content, all, all);
	}
	free(here);
	return 0;
}

static void
hold(void *ctx, uint32_t entry, uint32_t content, uint64_t bases, uint64_t sure)
{
	struct tool_held *held = ctx;

	(void)entry;
	held[content].bases |= bases;
	held[content].sure |= sure;
}

struct tool_held *
tool_held_of(const struct dray_index *ix, const struct dray_desc *desc)
{
	struct tool_held *held = calloc((size_t)dray_index_rows(ix, DRAY_T_CONTENTS) + 1, sizeof(*held));

	if (held != NULL && tool_each_old(ix, desc, hold, held) != 0) {
		free(held);
		held = NULL;
	}
	return held;
}

uint64_t
tool_recipe_bases(const struct dray_index *ix, const struct tool_held *held, uint32_t content,
    const struct dray_recipe *r)
{
	uint64_t bases = r->kind == DRAY_RECIPE_COPY ? held[content].bases : UINT64_MAX;

	for (uint32_t i = 0; i < r->piece_count; i++) {
		struct dray_piece p;
		struct dray_frame f;
		struct dray_range g;

		dray_index_piece(ix, r->piece_first + i, &p);
		dray_index_frame(ix, p.frame, &f);
		for (uint32_t k = 0; k < f.range_count; k++) {
			dray_index_range(ix, f.range_first + k, &g);
			bases &= held[g.content].bases;
		}
	}
	return bases;
}
