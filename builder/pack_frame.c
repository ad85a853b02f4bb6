/*
 * pack_frame.c - one frame: read what it is made of, look into the cache, encode, decode what was encoded, append it to the
 * unnamed file. What is stored depends on the bytes and the level alone.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/pack_in.h"
#include "builder/temp.h"
#include "dray/descriptor.h"
#include "dray/num.h"

#define CACHE_RULES "dray frame 1"	/* changes when the same inputs are to give something else */
#define PAYS 95u		/* per cent of a full copy: above this a delta is not worth its risk */

static int
room(struct pack_buf *b, size_t want, struct dray_err *e)
{
	if (want <= b->cap && b->p != NULL)
		return 0;
	free(b->p);
	b->cap = 0;
	if ((b->p = malloc(want + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	b->cap = want;
	return 0;
}

static int
read_ref(struct packer *k, struct pack_worker *w, const struct pack_frame *f, struct dray_err *e)
{
	size_t at = 0;

	if (room(&w->ref, (size_t)f->ref, e) != 0)
		return -1;
	for (size_t i = f->range_first; i < f->range_first + f->ranges; i++) {
		const struct dray_range *r = &k->plan.ranges[i];

		if (build_pack_read(&k->reader, w->h, r->content, true, r->offset, (size_t)r->len, w->ref.p + at, e) != 0)
			return -1;
		at += (size_t)r->len;
	}
	return 0;
}

static int
read_src(struct packer *k, struct pack_worker *w, const struct pack_frame *f, struct dray_err *e)
{
	if (room(&w->src, f->out, e) != 0)
		return -1;
	for (size_t i = f->first; i < f->first + f->n; i++) {
		const struct pack_part *p = &k->plan.parts[i];

		if (build_pack_read(&k->reader, w->h, p->content, k->rs->contents[p->content].node == DRAY_NONE, p->at, p->len, w->src.p + p->offset, e) != 0)
			return -1;
	}
	return 0;
}

/* all that the stored bytes depend on */
static int
key_of(const struct packer *k, struct pack_worker *w, const struct pack_frame *f, uint8_t key[32], struct dray_err *e)
{
	uint8_t head[2 * DRAY_SHA256_LEN + 32] = { 0 }, num[16];
	const char *ids[] = { CACHE_RULES, dray_encoder_id(), dray_match_id(), dray_lzma_id() };
	const size_t n_ids = k->o->level == DRAY_LEVEL_BEST ? 4 : 3;

	if (dray_sha256_once(w->h, w->src.p, f->out, head, e) != 0 ||
	    dray_sha256_once(w->h, w->ref.p, (size_t)f->ref, head + DRAY_SHA256_LEN, e) != 0)
		return -1;
	dray_put_u64(head + 64, f->out);
	dray_put_u64(head + 72, f->ref);
	dray_put_u32(head + 80, (uint32_t)k->o->level);
	head[84] = f->filter;
	head[85] = (uint8_t)f->kinds;
	dray_put_u64(head + 88, f->filter != 0 ? k->plan.parts[f->first].at : 0);
	if (dray_sha256_begin(w->h, e) != 0)
		return -1;
	for (size_t i = 0; i < n_ids; i++)
		if (dray_sha256_add(w->h, ids[i], strlen(ids[i]) + 1, e) != 0)
			return -1;
	if (dray_sha256_add(w->h, head, sizeof(head), e) != 0)
		return -1;
	/* without a filter only the bytes count, not where they stand */
	for (size_t i = f->range_first; f->filter != 0 && i < f->range_first + f->ranges; i++) {
		dray_put_u64(num, k->plan.ranges[i].offset);
		dray_put_u64(num + 8, k->plan.ranges[i].len);
		if (dray_sha256_add(w->h, num, sizeof(num), e) != 0)
			return -1;
	}
	return dray_sha256_end(w->h, key, e);
}

/* does what was stored give back what went in? Filters w->ref in place */
static int
prove(const struct packer *k, struct pack_worker *w, const struct pack_frame *f, const struct dray_encode_out *o, struct dray_err *e)
{
	bool based = o->kind != DRAY_FRAME_PLAIN;
	struct dray_ref ref = { .p = w->ref.p, .len = based ? (size_t)f->ref : 0,
		.ranges = k->plan.ranges + f->range_first, .n = based ? f->ranges : 0 };
	struct dray_frame row = { .kind = o->kind, .filter = f->filter, .codec = o->codec, .stored = (uint32_t)o->len, .out = f->out, .raw = o->raw,
		.range_count = based ? (uint32_t)f->ranges : 0 };

	if (room(&w->back, f->out, e) != 0 ||
	    dray_decode_frame(w->dec, &row, o->p, &ref, k->plan.parts[f->first].at, k->desc, w->back.p, e) != 0)
		return -1;
	if (memcmp(w->back.p, w->src.p, f->out) != 0)
		return dray_fail(e, DRAY_E_IO, "decodes to other bytes");
	return 0;
}

/* the smallest way to store it; a delta that hardly saves anything is not one */
static int
encode(struct packer *k, struct pack_worker *w, const struct pack_frame *f, struct dray_encode_out *best,
    struct dray_err *e)
{
	struct dray_encode_in in = { .src = w->src.p, .len = f->out, .ref = w->ref.p, .ref_len = (size_t)f->ref,
		.filter = f->filter, .ranges = k->plan.ranges + f->range_first, .n_ranges = f->ranges,
		.content_at = k->plan.parts[f->first].at, .kinds = f->kinds };
	struct dray_encode_out plain;

	if (dray_encode_best(w->enc, &in, best, e) != 0)
		return -1;
	if (best->kind == DRAY_FRAME_PLAIN || f->kinds != 0 || (uint64_t)best->len * 100 <= (uint64_t)best->plain * PAYS)
		return 0;
	if (room(&w->kept, best->len, e) != 0)
		return -1;
	memcpy(w->kept.p, best->p, best->len);
	best->p = w->kept.p;
	in.ref_len = 0;
	in.n_ranges = 0;
	in.kinds = DRAY_TRY_PLAIN;
	if (dray_encode_best(w->enc, &in, &plain, e) != 0)
		return -1;
	if ((uint64_t)best->len * 100 > (uint64_t)plain.len * PAYS)
		*best = plain;
	return 0;
}

static int
store(struct packer *k, struct pack_worker *w, const struct pack_frame *f, struct pack_result *r, const struct dray_encode_out *o,
    struct dray_err *e)
{
	*r = (struct pack_result){ .len = (uint32_t)o->len, .raw = o->raw, .kind = o->kind, .codec = o->codec, .filter = f->filter };
	r->at = atomic_fetch_add(&k->end, o->len);
	if (dray_sha256_once(w->h, o->p, o->len, r->sha256, e) != 0)
		return -1;
	if (build_temp_write(k->to->fd, r->at, o->p, o->len, e) != 0)
		return build_temp_failed(k->o->dir, e);
	return 0;
}

static bool
lzma_may(const struct packer *k, const struct pack_frame *f)
{
	return k->o->level == DRAY_LEVEL_BEST && (f->kinds & DRAY_TRY_ZSTD) == 0;
}

/* 1: not in the cache */
static int
from_cache(struct packer *k, struct pack_worker *w, const struct pack_frame *f, const uint8_t key[32],
    struct pack_result *r, struct dray_err *e)
{
	struct build_cached *v = &w->cached;
	struct dray_encode_out o;
	struct dray_err ignored;

	if (!build_cache_get(k->o->cache, w->h, key, v))
		return 1;
	dray_err_clear(&ignored);
	o = (struct dray_encode_out){ .kind = v->kind, .codec = v->codec, .raw = v->raw, .len = v->len, .p = v->p };
	if (v->kind <= DRAY_FRAME_ADDCOPY && v->codec <= DRAY_CODEC_LZMA && (v->codec == DRAY_CODEC_ZSTD || lzma_may(k, f)) && (f->kinds == 0 || (f->kinds >> v->kind & 1) != 0) && (v->kind == DRAY_FRAME_PLAIN || f->ref > 0) &&
	    (v->kind == DRAY_FRAME_ADDCOPY ? v->raw <= f->out + DRAY_DELTA_OVERHEAD(f->out) : v->raw == f->out) &&
	    prove(k, w, f, &o, &ignored) == 0)
		return store(k, w, f, r, &o, e);
	/* a cache of somebody else's making; the proof has left its traces in the base bytes */
	build_cache_drop(k->o->cache, key);
	return read_ref(k, w, f, e) == 0 ? 1 : -1;
}

int
build_pack_frame(struct packer *k, struct pack_worker *w, const struct pack_frame *f, struct pack_result *r,
    struct dray_err *e)
{
	struct dray_encode_out best = { .p = NULL };
	uint8_t key[32] = { 0 };
	uint64_t cost = build_pack_cost(k, f);
	int rc = 1;

	/* a frame under way counts half: the largest come first and take long */
	if (build_work_spend(&k->work, 0, cost / 2, e) != 0 || read_src(k, w, f, e) != 0 || read_ref(k, w, f, e) != 0)
		return -1;
	if (k->o->cache != NULL && (key_of(k, w, f, key, e) != 0 || (rc = from_cache(k, w, f, key, r, e)) < 0))
		return -1;
	if (rc == 1) {
		if (encode(k, w, f, &best, e) != 0)
			return -1;
		if (prove(k, w, f, &best, e) != 0)
			return dray_wrap(e, "internal: a new frame does not decode");
		if (store(k, w, f, r, &best, e) != 0)
			return -1;
		build_cache_put(k->o->cache, w->h, key, best.kind, best.codec, best.raw, best.p, best.len);
	}
	return build_work_spend(&k->work, f->out, cost - cost / 2, e);
}
