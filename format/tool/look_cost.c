/*
 * look_cost.c - what the bytes of a bundle are for: by kind of recipe, and for each base what a machine that starts
 * there reads.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/frame.h"
#include "tool/look.h"

enum { FRAME_FULL = 1, FRAME_FORMER = 2 };

/* the contents that the release has somewhere */
static void
mark_ours(const struct dray_index *ix, uint8_t *ours)
{
	struct dray_entry en;
	struct dray_state s;

	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(ix, i, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &s);
		if (s.type == DRAY_FILE)
			ours[s.content] = 1;
	}
}

static void
count_contents(const struct dray_index *ix, struct tool_costs *c, const uint8_t *ours, uint8_t *full)
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
				full[p.frame] |= ours[i] != 0 ? FRAME_FULL : FRAME_FORMER;
			}
		}
		if (ours[i] == 0)
			c->former.contents += has[DRAY_RECIPE_FULL];
		for (int kind = DRAY_RECIPE_FULL; ours[i] != 0 && kind <= DRAY_RECIPE_COPY; kind++)
			c->recipe[kind].contents += has[kind];
	}
}

/* one base: what its machines read */
struct tally {			/* of one content: the dearest way to it */
	uint64_t all, own;	/* stored bytes of its frames; of those that no other content uses */
	uint8_t kind;		/* 0: no machine of this base needs it */
};

struct counting {
	const struct dray_index *ix;
	const struct tool_held *held;
	uint64_t bit;
	const uint32_t *owner;		/* by frame: the content that alone uses it, DRAY_NONE: several do */
	uint8_t *frame_seen;
	struct tally *tally;		/* by content */
	struct tool_base_cost *c;
};

static void
take_recipe(struct counting *k, uint32_t content, const struct dray_recipe *r)
{
	struct tally *t = &k->tally[content];
	uint64_t all = 0, own = 0;
	uint32_t last = DRAY_NONE;
	struct dray_piece p;
	struct dray_frame f;

	for (uint32_t m = 0; m < r->piece_count; m++) {
		dray_index_piece(k->ix, r->piece_first + m, &p);
		if (p.frame == last)
			continue;
		last = p.frame;
		dray_index_frame(k->ix, p.frame, &f);
		all += f.stored;
		if (k->owner[p.frame] == content) {
			own += f.stored;
		} else if (k->frame_seen[p.frame] == 0) {
			k->frame_seen[p.frame] = 1;
			k->c->bytes += f.stored;
		}
	}
	if (t->kind == 0 || all > t->all) {
		t->kind = r->kind;
		t->all = all;
	}
	t->own = own > t->own ? own : t->own;
}

/* has such a machine all that the recipe builds on, whatever state its other paths are in? */
static bool
is_sure(const struct counting *k, uint32_t content, const struct dray_recipe *r, uint32_t old)
{
	struct dray_piece p;
	struct dray_frame f;
	struct dray_range g;

	if (r->kind == DRAY_RECIPE_COPY)
		return content == old || (k->held[content].sure & k->bit) != 0;
	for (uint32_t i = 0; i < r->piece_count; i++) {
		dray_index_piece(k->ix, r->piece_first + i, &p);
		dray_index_frame(k->ix, p.frame, &f);
		for (uint32_t m = 0; m < f.range_count; m++) {
			dray_index_range(k->ix, f.range_first + m, &g);
			if (g.content != old && (k->held[g.content].sure & k->bit) == 0)
				return false;
		}
	}
	return true;
}

/* a machine that has @old (DRAY_NONE: no file) where it needs @content: the recipes that it may come to follow */
static void
take_need(struct counting *k, uint32_t content, uint32_t old)
{
	struct dray_content ct;
	struct dray_recipe r;

	dray_index_content(k->ix, content, &ct);
	for (uint32_t i = 0; i < ct.recipe_count; i++) {
		dray_index_recipe(k->ix, ct.recipe_first + i, &r);
		if (r.kind != DRAY_RECIPE_FULL && (tool_recipe_bases(k->ix, k->held, content, &r) & k->bit) == 0)
			continue;
		take_recipe(k, content, &r);
		if (r.kind == DRAY_RECIPE_FULL || is_sure(k, content, &r, old))
			return;
	}
}

/* each state that the path may have there */
static void
take_entry(struct counting *k, const struct dray_entry *en, bool history)
{
	struct dray_state to, from;
	struct dray_alt alt;

	if (en->target == DRAY_NONE || (en->flags & DRAY_ENTRY_SAME) != 0)
		return;
	dray_index_state(k->ix, en->target, &to);
	if (to.type != DRAY_FILE || (!history && k->tally[to.content].kind != 0))
		return;
	for (uint32_t i = 0; i < en->alt_count; i++) {
		uint32_t old = DRAY_NONE;

		dray_index_alt(k->ix, en->alt_first + i, &alt);
		if ((alt.bases & k->bit) == 0)
			continue;
		if (alt.state != DRAY_NONE) {
			dray_index_state(k->ix, alt.state, &from);
			old = from.type == DRAY_FILE ? from.content : DRAY_NONE;
			if (old == to.content && from.link == to.link)
				continue;
		}
		take_need(k, to.content, old);
	}
}

static void
count_base(struct counting *k, bool history)
{
	uint32_t contents = dray_index_rows(k->ix, DRAY_T_CONTENTS);
	struct dray_entry en;

	memset(k->tally, 0, ((size_t)contents + 1) * sizeof(*k->tally));
	memset(k->frame_seen, 0, (size_t)dray_index_rows(k->ix, DRAY_T_FRAMES) + 1);
	for (uint32_t i = 0; i < dray_index_rows(k->ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(k->ix, i, &en);
		take_entry(k, &en, history);
	}
	for (uint32_t i = 0; i < contents; i++) {
		k->c->contents[k->tally[i].kind] += k->tally[i].kind != 0;
		k->c->bytes += k->tally[i].own;
	}
}

#define UNUSED (DRAY_NONE - 1)	/* by any content that was looked at */

static void
find_owners(const struct dray_index *ix, uint32_t *owner)
{
	struct dray_content ct;
	struct dray_recipe r;
	struct dray_piece p;

	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_FRAMES); i++)
		owner[i] = UNUSED;
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_CONTENTS); i++) {
		dray_index_content(ix, i, &ct);
		for (uint32_t k = 0; k < ct.recipe_count; k++) {
			dray_index_recipe(ix, ct.recipe_first + k, &r);
			for (uint32_t m = 0; m < r.piece_count; m++) {
				dray_index_piece(ix, r.piece_first + m, &p);
				owner[p.frame] = owner[p.frame] == UNUSED || owner[p.frame] == i ? i : DRAY_NONE;
			}
		}
	}
}

int
tool_cost(const struct dray_index *ix, const struct dray_desc *desc, struct tool_costs *c, struct dray_err *e)
{
	uint32_t frames = dray_index_rows(ix, DRAY_T_FRAMES);
	struct tally *tally = calloc((size_t)dray_index_rows(ix, DRAY_T_CONTENTS) + 1, sizeof(*tally));
	uint32_t *owner = calloc((size_t)frames + 1, sizeof(*owner));
	uint8_t *frame_seen = calloc((size_t)frames + 1, 1);
	uint8_t *ours = calloc((size_t)dray_index_rows(ix, DRAY_T_CONTENTS) + 1, 1);
	struct tool_held *held = tool_held_of(ix, desc);
	struct counting k = { .ix = ix, .held = held, .owner = owner, .frame_seen = frame_seen, .tally = tally };
	struct dray_frame f;
	uint64_t stored = 0;
	int rc = -1;

	*c = (struct tool_costs){ .metadata = 0 };
	if (tally == NULL || owner == NULL || frame_seen == NULL || ours == NULL || held == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	mark_ours(ix, ours);
	count_contents(ix, c, ours, frame_seen);
	for (uint32_t i = 0; i < frames; i++) {
		struct tool_recipe_cost *r = frame_seen[i] == FRAME_FORMER ? &c->former :
		    &c->recipe[frame_seen[i] != 0 ? DRAY_RECIPE_FULL : DRAY_RECIPE_DELTA];

		dray_index_frame(ix, i, &f);
		stored += f.stored;
		r->frames++;
		r->bytes += f.stored;
		c->kind[f.kind].frames++;
		c->kind[f.kind].bytes += f.stored;
		if (f.codec == DRAY_CODEC_LZMA) {
			c->lzma.frames++;
			c->lzma.bytes += f.stored;
		}
	}
	c->metadata = desc->length - stored;	/* the index has proved that frames lie within the length */
	find_owners(ix, owner);
	for (size_t i = 0; i < desc->n_bases; i++) {
		k.bit = UINT64_C(1) << i;
		k.c = &c->base[i];
		count_base(&k, desc->bases[i].history);
	}
	rc = 0;
out:
	free(tally);
	free(owner);
	free(frame_seen);
	free(ours);
	free(held);
	return rc;
}
