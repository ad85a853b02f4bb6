/*
 * pack_rows.c - the order of the bundle: frames of deltas first, then full copies, each in the order of the plan. A delta
 * that turned out to be no smaller than a full copy is no delta: in slim mode it becomes the full copy.
 */
#include <stdlib.h>

#include "builder/pack_result.h"
#include "dray/frame.h"

enum { DROPPED, DELTA, FULL };

struct rows {
	struct build_resolved *rs;
	const struct pack_plan *p;
	const struct pack_result *results;
	bool slim;
	struct build_packed *to;
	uint8_t *use;		/* by use: what it became */
	uint8_t *section;	/* by frame: DELTA stands before FULL */
	uint32_t *row;		/* by frame */
	bool *full;		/* by content: has a full copy */
	size_t *first;		/* by content: where its uses begin in `sorted` */
	uint32_t *sorted;	/* numbers of uses, by content */
};

static void
keep_frames(struct rows *k, const struct pack_use *u, uint8_t section)
{
	for (size_t i = u->first; i < u->first + u->n; i++)
		k->section[k->p->parts[i].frame] = section;
}

static void
decide(struct rows *k)
{
	const struct pack_plan *p = k->p;

	for (size_t i = 0; i < p->n_uses; i++)
		if (p->uses[i].bases == 0)
			k->full[p->uses[i].content] = true;
	for (size_t i = 0; i < p->n_uses; i++) {
		const struct pack_use *u = &p->uses[i];
		uint64_t based = 0;

		for (size_t j = u->first; j < u->first + u->n; j++)
			if (k->results[p->parts[j].frame].kind != DRAY_FRAME_PLAIN)
				based += p->parts[j].len;
		if (u->bases == 0) {
			k->use[i] = FULL;
		} else if (k->slim ? based > 0 : based > 0 && based >= k->rs->contents[u->content].size / 4) {
			/* a large content of which only a small part is old is better read as a full copy, if there is one */
			k->use[i] = DELTA;
		} else if (k->slim && !k->full[u->content]) {
			k->full[u->content] = true;
			k->use[i] = FULL;
		}
		if (k->use[i] != DROPPED)
			keep_frames(k, u, k->use[i]);
	}
}

static int
add_to_block(struct build_packed *to, uint32_t len, struct dray_err *e)
{
	if (to->n_blocks == 0 || to->blocks[to->n_blocks - 1] + len > BUILD_BLOCK_BYTES) {
		if (to->n_blocks == to->cap_blocks) {
			size_t cap = to->cap_blocks == 0 ? 64 : to->cap_blocks * 2;
			uint64_t *v = realloc(to->blocks, cap * sizeof(*v));

			if (v == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			to->blocks = v;
			to->cap_blocks = cap;
		}
		to->blocks[to->n_blocks++] = 0;
	}
	to->blocks[to->n_blocks - 1] += len;
	return 0;
}

static void
add_up(struct build_packed *to, const struct pack_frame *f, const struct pack_result *r)
{
	uint64_t memory = (r->kind != DRAY_FRAME_PLAIN ? f->ref : 0) + r->raw + f->out;

	to->stored += r->len;
	to->out += f->out;
	to->max_out = f->out > to->max_out ? f->out : to->max_out;
	to->max_raw = r->raw > to->max_raw ? r->raw : to->max_raw;
	to->max_memory = memory > to->max_memory ? memory : to->max_memory;
	to->delta |= r->kind != DRAY_FRAME_PLAIN || r->filter != DRAY_FILTER_NONE;
	to->kind[r->kind].n++;
	to->kind[r->kind].out += f->out;
	to->kind[r->kind].stored += r->len;
}

static int
add_frames(struct rows *k, uint8_t section, struct dray_err *e)
{
	for (size_t i = 0; i < k->p->n_frames; i++) {
		const struct pack_frame *f = &k->p->frames[i];
		const struct pack_result *r = &k->results[i];
		struct build_packed *to = k->to;
		struct dray_frame row = { .kind = r->kind, .filter = r->filter, .stored = r->len, .out = f->out,
			.raw = r->raw, .sha256 = r->sha256 };
		size_t n = r->kind == DRAY_FRAME_PLAIN ? 0 : f->ranges;

		if (k->section[i] != section)
			continue;
		if (add_to_block(to, r->len, e) != 0)
			return -1;
		row.block = (uint32_t)(to->n_blocks - 1);
		if (dray_iw_frame(k->rs->tables, &row, k->p->ranges + f->range_first, n, &k->row[i], e) != 0)
			return -1;
		to->frames[to->n_frames++] = (struct build_stored){ r->at, r->len };
		add_up(to, f, r);
	}
	return 0;
}

/* counting sort by content, stable */
static void
sort_uses(struct rows *k)
{
	const struct pack_plan *p = k->p;

	for (size_t i = 0; i < p->n_uses; i++)
		k->first[p->uses[i].content + 1]++;
	for (size_t i = 1; i <= k->rs->n_contents; i++)
		k->first[i] += k->first[i - 1];
	for (size_t i = 0; i < p->n_uses; i++)
		k->sorted[k->first[p->uses[i].content]++] = (uint32_t)i;
	for (size_t i = k->rs->n_contents; i > 0; i--)
		k->first[i] = k->first[i - 1];
	k->first[0] = 0;
}

#define RECIPES_MAX 256		/* bundle-format.md 7 */

/* the recipes of one content, best first */
static int
add_recipes(struct rows *k, uint32_t content, struct dray_piece *pieces, struct dray_err *e)
{
	const struct build_content *c = &k->rs->contents[content];
	const struct pack_plan *p = k->p;
	struct dray_recipe recipes[RECIPES_MAX];
	const struct dray_piece *lists[RECIPES_MAX];
	size_t n = 0;

	if (c->bases != 0 && c->size > 0) {
		recipes[n] = (struct dray_recipe){ .kind = DRAY_RECIPE_COPY };
		lists[n++] = pieces;
		k->to->copy.n++;
		k->to->copy.out += c->size;
		k->to->delta = true;
	}
	for (int what = DELTA; what <= FULL; what++)
		for (size_t i = k->first[content]; i < k->first[content + 1]; i++) {
			const struct pack_use *u = &p->uses[k->sorted[i]];

			if (k->use[k->sorted[i]] != what)
				continue;
			recipes[n] = (struct dray_recipe){
				.kind = what == DELTA ? DRAY_RECIPE_DELTA : DRAY_RECIPE_FULL, .piece_count = (uint32_t)u->n };
			lists[n++] = pieces;
			for (size_t j = u->first; j < u->first + u->n; j++)
				*pieces++ = (struct dray_piece){ k->row[p->parts[j].frame], p->parts[j].offset, p->parts[j].len };
		}
	k->to->n_delta += n > 0 && recipes[0].kind != DRAY_RECIPE_FULL;
	k->to->n_full += k->full[content];
	k->to->n_only += !k->full[content];
	return dray_iw_recipes(k->rs->tables, content, recipes, n, lists, e);
}

static int
make_room(struct rows *k, struct dray_err *e)
{
	size_t uses = k->p->n_uses + 1, frames = k->p->n_frames + 1, contents = k->rs->n_contents + 2;

	k->use = calloc(uses, 1);
	k->sorted = calloc(uses, sizeof(*k->sorted));
	k->section = calloc(frames, 1);
	k->row = calloc(frames, sizeof(*k->row));
	k->full = calloc(contents, sizeof(*k->full));
	k->first = calloc(contents, sizeof(*k->first));
	k->to->frames = calloc(frames, sizeof(*k->to->frames));
	if (k->use == NULL || k->sorted == NULL || k->section == NULL || k->row == NULL || k->full == NULL ||
	    k->first == NULL || k->to->frames == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

int
build_pack_rows(struct build_resolved *rs, const struct pack_plan *p, const struct pack_result *results, bool slim,
    struct build_packed *to, struct dray_err *e)
{
	struct rows k = { .rs = rs, .p = p, .results = results, .slim = slim, .to = to };
	struct dray_piece *pieces = calloc(p->n_parts + 1, sizeof(*pieces));
	int rc = -1;

	if (pieces == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (make_room(&k, e) != 0)
		goto out;
	decide(&k);
	if (add_frames(&k, DELTA, e) != 0 || add_frames(&k, FULL, e) != 0)
		goto out;
	sort_uses(&k);
	for (uint32_t i = 0; i < rs->n_contents; i++)
		if (rs->contents[i].wanted && add_recipes(&k, i, pieces, e) != 0)
			goto out;
	rc = 0;
out:
	free(pieces);
	free(k.use);
	free(k.sorted);
	free(k.section);
	free(k.row);
	free(k.full);
	free(k.first);
	return rc;
}
