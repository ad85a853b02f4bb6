/*
 * pack_rows.c - the order of the bundle: frames of deltas first, then full copies, each in the order of the plan.
 */
#include <stdlib.h>

#include "builder/pack_result.h"
#include "dray/deflate.h"
#include "dray/frame.h"

struct rows {
	struct build_resolved *rs;
	const struct pack_plan *p;
	const struct pack_result *results;
	const struct pack_kept *kept;
	struct build_packed *to;
	uint32_t *row;		/* by frame */
};

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
add_sum(struct build_kind_sum *s, const struct pack_frame *f, const struct pack_result *r)
{
	s->n++;
	s->out += f->out;
	s->stored += r->len;
}

static void
add_up(struct build_packed *to, const struct pack_frame *f, const struct pack_result *r, bool former)
{
	const struct dray_frame row = { .kind = r->kind, .codec = r->codec, .out = f->out, .raw = r->raw };
	uint64_t memory = dray_frame_memory(&row, r->kind != DRAY_FRAME_PLAIN ? f->ref : 0);

	to->stored += r->len;
	to->out += f->out;
	to->max_out = f->out > to->max_out ? f->out : to->max_out;
	to->max_raw = r->raw > to->max_raw ? r->raw : to->max_raw;
	to->max_memory = memory > to->max_memory ? memory : to->max_memory;
	to->delta |= r->kind != DRAY_FRAME_PLAIN || r->filter != DRAY_FILTER_NONE;
	add_sum(&to->kind[r->kind], f, r);
	if (r->codec == DRAY_CODEC_LZMA)
		add_sum(&to->by_lzma, f, r);
	if (former) {
		to->former.out += f->out;
		to->former.stored += r->len;
	}
}

static int
add_frames(struct rows *k, uint8_t section, struct dray_err *e)
{
	for (size_t i = 0; i < k->p->n_frames; i++) {
		const struct pack_frame *f = &k->p->frames[i];
		const struct pack_result *r = &k->results[i];
		struct build_packed *to = k->to;
		struct dray_frame row = { .kind = r->kind, .filter = r->filter, .codec = r->codec, .stored = r->len, .out = f->out,
			.raw = r->raw, .sha256 = r->sha256 };
		size_t n = r->kind == DRAY_FRAME_PLAIN ? 0 : f->ranges;

		if (k->kept->section[i] != section)
			continue;
		if (add_to_block(to, r->len, e) != 0)
			return -1;
		row.block = (uint32_t)(to->n_blocks - 1);
		if (dray_iw_frame(k->rs->tables, &row, k->p->ranges + f->range_first, n, &k->row[i], e) != 0)
			return -1;
		for (size_t j = 0; j < n; j++)
			to->gzip |= k->p->ranges[f->range_first + j].inside;
		to->frames[to->n_frames++] = (struct build_stored){ r->at, r->len };
		add_up(to, f, r, !k->rs->contents[k->p->parts[f->first].content].wanted);
	}
	return 0;
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

	if (c->wanted && c->bases != 0 && c->size > 0) {
		recipes[n] = (struct dray_recipe){ .kind = DRAY_RECIPE_COPY };
		lists[n++] = pieces;
		k->to->copy.n++;
		k->to->copy.out += c->size;
		k->to->delta = true;
	}
	for (int what = PACK_DELTA; what <= PACK_FULL; what++)
		for (size_t i = k->kept->first[content]; i < k->kept->first[content + 1]; i++) {
			const struct pack_use *u = &p->uses[k->kept->sorted[i]];

			if (k->kept->use[k->kept->sorted[i]] != what)
				continue;
			recipes[n] = (struct dray_recipe){
				.kind = what == PACK_DELTA ? DRAY_RECIPE_DELTA : DRAY_RECIPE_FULL, .wrap = c->wrap,
				.piece_count = (uint32_t)u->n };
			k->to->gzip |= c->wrap != DRAY_DEFLATE_NONE;
			lists[n++] = pieces;
			for (size_t j = u->first; j < u->first + u->n; j++)
				*pieces++ = (struct dray_piece){ k->row[p->parts[j].frame], p->parts[j].offset, p->parts[j].len };
		}
	if (!c->wanted) {
		k->to->former.n += n;
		return n == 0 ? 0 : dray_iw_recipes(k->rs->tables, content, recipes, n, lists, e);
	}
	k->to->n_delta += n > 0 && recipes[0].kind != DRAY_RECIPE_FULL;
	k->to->n_full += k->kept->full[content];
	k->to->n_only += !k->kept->full[content];
	return dray_iw_recipes(k->rs->tables, content, recipes, n, lists, e);
}

int
build_pack_rows(struct build_resolved *rs, const struct pack_plan *p, const struct pack_result *results, bool slim,
    struct build_packed *to, struct dray_err *e)
{
	struct pack_kept kept = { .use = NULL };
	struct rows k = { .rs = rs, .p = p, .results = results, .kept = &kept, .to = to };
	struct dray_piece *pieces = calloc(p->n_parts + 1, sizeof(*pieces));
	int rc = -1;

	k.row = calloc(p->n_frames + 1, sizeof(*k.row));
	to->frames = calloc(p->n_frames + 1, sizeof(*to->frames));
	if (pieces == NULL || k.row == NULL || to->frames == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (build_pack_keep(rs, p, results, slim, &kept, e) != 0 || add_frames(&k, PACK_DELTA, e) != 0 ||
	    add_frames(&k, PACK_FULL, e) != 0)
		goto out;
	for (uint32_t i = 0; i < rs->n_contents; i++)
		if ((rs->contents[i].wanted || rs->contents[i].former) && add_recipes(&k, i, pieces, e) != 0)
			goto out;
	rc = 0;
out:
	build_pack_kept_free(&kept);
	free(pieces);
	free(k.row);
	return rc;
}
