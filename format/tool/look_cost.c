/*
 * look_cost.c - what the bytes of a bundle are for: by kind of recipe, and for each base what a machine that starts
 * there reads.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/frame.h"
#include "tool/look.h"

void
tool_each_old(const struct dray_index *ix, const struct dray_desc *desc, tool_old_fn *fn, void *ctx)
{
	const uint64_t all = desc->n_bases >= 64 ? UINT64_MAX : (UINT64_C(1) << desc->n_bases) - 1;

	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		struct dray_entry en;
		struct dray_alt alt;
		struct dray_state s;
		bool same;

		dray_index_entry(ix, i, &en);
		same = (en.flags & DRAY_ENTRY_SAME) != 0;
		for (uint32_t k = 0; k < (same ? 1 : en.alt_count); k++) {
			if (same)
				alt = (struct dray_alt){ en.target, all };
			else
				dray_index_alt(ix, en.alt_first + k, &alt);
			if (alt.state == DRAY_NONE)
				continue;
			dray_index_state(ix, alt.state, &s);
			if (s.type == DRAY_FILE)
				fn(ctx, i, s.content, alt.bases);
		}
	}
}

static void
hold(void *ctx, uint32_t entry, uint32_t content, uint64_t bases)
{
	uint64_t *held = ctx;

	(void)entry;
	held[content] |= bases;
}

uint64_t *
tool_held_of(const struct dray_index *ix, const struct dray_desc *desc)
{
	uint64_t *held = calloc((size_t)dray_index_rows(ix, DRAY_T_CONTENTS) + 1, sizeof(*held));

	if (held != NULL)
		tool_each_old(ix, desc, hold, held);
	return held;
}

uint64_t
tool_recipe_bases(const struct dray_index *ix, const uint64_t *held, uint32_t content,
    const struct dray_recipe *r)
{
	uint64_t bases = r->kind == DRAY_RECIPE_COPY ? held[content] : UINT64_MAX;

	for (uint32_t i = 0; i < r->piece_count; i++) {
		struct dray_piece p;
		struct dray_frame f;
		struct dray_range g;

		dray_index_piece(ix, r->piece_first + i, &p);
		dray_index_frame(ix, p.frame, &f);
		for (uint32_t k = 0; k < f.range_count; k++) {
			dray_index_range(ix, f.range_first + k, &g);
			bases &= held[g.content];
		}
	}
	return bases;
}

static void
count_contents(const struct dray_index *ix, struct tool_costs *c, uint8_t *full)
{
	struct dray_content ct;
	struct dray_recipe r;
	struct dray_piece p;

	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_CONTENTS); i++) {
		bool has[DRAY_RECIPE_COPY + 1] = { false };

		dray_index_content(ix, i, &ct);
		for (uint32_t k = 0; k < ct.recipe_count; k++) {
			dray_index_recipe(ix, ct.recipe_first + k, &r);
			has[r.kind] = true;
			for (uint32_t m = 0; m < r.piece_count && r.kind == DRAY_RECIPE_FULL; m++) {
				dray_index_piece(ix, r.piece_first + m, &p);
				full[p.frame] = 1;
			}
		}
		for (int kind = DRAY_RECIPE_FULL; kind <= DRAY_RECIPE_COPY; kind++)
			c->recipe[kind].contents += has[kind];
	}
}

/* the content that @en needs on a machine with base @bit; DRAY_NONE: it needs none */
static uint32_t
needed(const struct dray_index *ix, const struct dray_entry *en, uint64_t bit)
{
	struct dray_state to, from;
	struct dray_alt alt;

	if (en->target == DRAY_NONE || (en->flags & DRAY_ENTRY_SAME) != 0)
		return DRAY_NONE;
	dray_index_state(ix, en->target, &to);
	if (to.type != DRAY_FILE)
		return DRAY_NONE;
	for (uint32_t k = 0; k < en->alt_count; k++) {
		dray_index_alt(ix, en->alt_first + k, &alt);
		if ((alt.bases & bit) == 0 || alt.state == DRAY_NONE)
			continue;
		dray_index_state(ix, alt.state, &from);
		if (from.type == DRAY_FILE && from.content == to.content && from.link == to.link)
			return DRAY_NONE;
	}
	return to.content;
}

/* the first recipe that a machine with this base can follow, and the frames it then reads */
static void
read_content(const struct dray_index *ix, const uint64_t *held, uint32_t content, uint64_t bit,
    uint8_t *frame_seen, struct tool_base_cost *c)
{
	struct dray_content ct;
	struct dray_recipe r;
	struct dray_piece p;
	struct dray_frame f;

	dray_index_content(ix, content, &ct);
	for (uint32_t k = 0; k < ct.recipe_count; k++) {
		dray_index_recipe(ix, ct.recipe_first + k, &r);
		if (r.kind != DRAY_RECIPE_FULL && (tool_recipe_bases(ix, held, content, &r) & bit) == 0)
			continue;
		c->contents[r.kind]++;
		for (uint32_t m = 0; m < r.piece_count; m++) {
			dray_index_piece(ix, r.piece_first + m, &p);
			if (frame_seen[p.frame] != 0)
				continue;
			frame_seen[p.frame] = 1;
			dray_index_frame(ix, p.frame, &f);
			c->bytes += f.stored;
		}
		return;
	}
}

static void
count_base(const struct dray_index *ix, const uint64_t *held, uint64_t bit, uint8_t *content_seen,
    uint8_t *frame_seen, struct tool_base_cost *c)
{
	memset(content_seen, 0, (size_t)dray_index_rows(ix, DRAY_T_CONTENTS) + 1);
	memset(frame_seen, 0, (size_t)dray_index_rows(ix, DRAY_T_FRAMES) + 1);
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		struct dray_entry en;
		uint32_t content;

		dray_index_entry(ix, i, &en);
		content = needed(ix, &en, bit);
		if (content == DRAY_NONE || content_seen[content] != 0)
			continue;
		content_seen[content] = 1;
		read_content(ix, held, content, bit, frame_seen, c);
	}
}

int
tool_cost(const struct dray_index *ix, const struct dray_desc *desc, struct tool_costs *c, struct dray_err *e)
{
	uint32_t frames = dray_index_rows(ix, DRAY_T_FRAMES);
	uint8_t *content_seen = calloc((size_t)dray_index_rows(ix, DRAY_T_CONTENTS) + 1, 1);
	uint8_t *frame_seen = calloc((size_t)frames + 1, 1);
	uint64_t *held = tool_held_of(ix, desc);
	struct dray_frame f;
	uint64_t stored = 0;
	int rc = -1;

	*c = (struct tool_costs){ .metadata = 0 };
	if (content_seen == NULL || frame_seen == NULL || held == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	count_contents(ix, c, frame_seen);
	for (uint32_t i = 0; i < frames; i++) {
		int kind = frame_seen[i] != 0 ? DRAY_RECIPE_FULL : DRAY_RECIPE_DELTA;

		dray_index_frame(ix, i, &f);
		stored += f.stored;
		c->recipe[kind].frames++;
		c->recipe[kind].bytes += f.stored;
		c->kind[f.kind].frames++;
		c->kind[f.kind].bytes += f.stored;
	}
	c->metadata = desc->length - stored;	/* the index has proved that frames lie within the length */
	for (size_t i = 0; i < desc->n_bases; i++)
		count_base(ix, held, UINT64_C(1) << i, content_seen, frame_seen, &c->base[i]);
	rc = 0;
out:
	free(content_seen);
	free(frame_seen);
	free(held);
	return rc;
}
