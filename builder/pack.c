/*
 * pack.c - the largest frames first, so that all cores are busy to the end. Each worker reads what its frame is made of,
 * looks into the cache, encodes, decodes what it encoded, and appends it to an unnamed file; the order of the bundle is
 * made later, from the plan. Memory is bounded by the frames under way.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "builder/pack.h"
#include "builder/pack_result.h"
#include "builder/temp.h"
#include "dray/descriptor.h"
#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/num.h"
#include "dray/pool.h"

#define CACHE_RULES "dray frame 1"	/* changes when the same inputs are to give something else */
#define TRIAL_LEVEL 3
#define SURELY 60u		/* per cent of a trial: a delta below this pays, whatever the level */
#define PAYS 95u		/* per cent of a full copy: above this a delta is not worth its risk */

struct buf { uint8_t *p; size_t cap; };

struct worker {
	struct dray_encoder *enc;
	struct dray_decoder *dec;
	struct dray_sha256 *h;
	struct buf src, ref, back, kept;
	struct build_cached cached;
};

struct packer {
	const struct build_pack_opts *o;
	struct build_resolved *rs;
	struct build_packed *to;
	struct pack_reader reader;
	struct build_bases bases;
	struct pack_plan plan;
	struct pack_result *results;	/* by frame of the plan */
	uint32_t *order;		/* in which frames are packed */
	struct worker *workers;
	struct dray_desc *desc;		/* the widest limits, to decode with */
	struct build_work work;
	_Atomic uint64_t end;		/* of the unnamed file */
};

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int
room(struct buf *b, size_t want, struct dray_err *e)
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
read_ref(struct packer *k, struct worker *w, const struct pack_frame *f, struct dray_err *e)
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
read_src(struct packer *k, struct worker *w, const struct pack_frame *f, struct dray_err *e)
{
	if (room(&w->src, f->out, e) != 0)
		return -1;
	for (size_t i = f->first; i < f->first + f->n; i++) {
		const struct pack_part *p = &k->plan.parts[i];

		if (build_pack_read(&k->reader, w->h, p->content, false, p->at, p->len, w->src.p + p->offset, e) != 0)
			return -1;
	}
	return 0;
}

/* all that the stored bytes depend on */
static int
key_of(const struct packer *k, struct worker *w, const struct pack_frame *f, uint8_t key[32], struct dray_err *e)
{
	uint8_t head[2 * DRAY_SHA256_LEN + 32] = { 0 }, num[16];
	const char *ids[] = { CACHE_RULES, dray_encoder_id(), dray_match_id() };

	if (dray_sha256_once(w->h, w->src.p, f->out, head, e) != 0 ||
	    dray_sha256_once(w->h, w->ref.p, (size_t)f->ref, head + DRAY_SHA256_LEN, e) != 0)
		return -1;
	dray_put_u64(head + 64, f->out);
	dray_put_u64(head + 72, f->ref);
	dray_put_u32(head + 80, (uint32_t)k->o->level);
	head[84] = f->filter;
	dray_put_u64(head + 88, f->filter != 0 ? k->plan.parts[f->first].at : 0);
	if (dray_sha256_begin(w->h, e) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
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
prove(const struct packer *k, struct worker *w, const struct pack_frame *f, uint8_t kind, uint32_t raw,
    const uint8_t *p, size_t len, struct dray_err *e)
{
	bool based = kind != DRAY_FRAME_PLAIN;
	struct dray_ref ref = { .p = w->ref.p, .len = based ? (size_t)f->ref : 0,
		.ranges = k->plan.ranges + f->range_first, .n = based ? f->ranges : 0 };
	struct dray_frame row = { .kind = kind, .filter = f->filter, .stored = (uint32_t)len, .out = f->out, .raw = raw,
		.range_count = based ? (uint32_t)f->ranges : 0 };

	if (room(&w->back, f->out, e) != 0 ||
	    dray_decode_frame(w->dec, &row, p, &ref, k->plan.parts[f->first].at, k->desc, w->back.p, e) != 0)
		return -1;
	if (memcmp(w->back.p, w->src.p, f->out) != 0)
		return dray_fail(e, DRAY_E_IO, "decodes to other bytes");
	return 0;
}

/* the smallest way to store it; a delta that hardly saves anything is not one */
static int
encode(struct packer *k, struct worker *w, const struct pack_frame *f, struct dray_encode_out *best,
    struct dray_err *e)
{
	struct dray_encode_in in = { .src = w->src.p, .len = f->out, .ref = w->ref.p, .ref_len = (size_t)f->ref,
		.filter = f->filter, .ranges = k->plan.ranges + f->range_first, .n_ranges = f->ranges,
		.content_at = k->plan.parts[f->first].at };
	struct dray_encode_out plain;

	if (dray_encode_best(w->enc, &in, best, e) != 0)
		return -1;
	if (best->kind == DRAY_FRAME_PLAIN)
		return 0;
	if (room(&w->kept, best->len, e) != 0)
		return -1;
	memcpy(w->kept.p, best->p, best->len);
	best->p = w->kept.p;
	in.ref_len = 0;
	in.n_ranges = 0;
	in.kinds = DRAY_TRY_PLAIN;
	in.level = k->o->level < TRIAL_LEVEL ? 0 : TRIAL_LEVEL;
	if (dray_encode_best(w->enc, &in, &plain, e) != 0)
		return -1;
	if ((uint64_t)best->len * 100 <= (uint64_t)plain.len * SURELY)
		return 0;
	in.level = 0;
	if (dray_encode_best(w->enc, &in, &plain, e) != 0)
		return -1;
	if ((uint64_t)best->len * 100 > (uint64_t)plain.len * PAYS)
		*best = plain;
	return 0;
}

static int
store(struct packer *k, struct worker *w, struct pack_result *r, uint8_t kind, uint32_t raw, const uint8_t *p,
    size_t len, struct dray_err *e)
{
	*r = (struct pack_result){ .len = (uint32_t)len, .raw = raw, .kind = kind };
	r->at = atomic_fetch_add(&k->end, len);
	if (dray_sha256_once(w->h, p, len, r->sha256, e) != 0)
		return -1;
	if (build_temp_write(k->to->fd, r->at, p, len, e) != 0)
		return build_temp_failed(k->o->dir, e);
	return 0;
}

/* 1: not in the cache */
static int
from_cache(struct packer *k, struct worker *w, const struct pack_frame *f, const uint8_t key[32],
    struct pack_result *r, struct dray_err *e)
{
	struct build_cached *v = &w->cached;
	struct dray_err ignored;

	if (!build_cache_get(k->o->cache, w->h, key, v))
		return 1;
	dray_err_clear(&ignored);
	if (v->kind <= DRAY_FRAME_ADDCOPY && (v->kind == DRAY_FRAME_PLAIN || f->ref > 0) &&
	    (v->kind == DRAY_FRAME_ADDCOPY ? v->raw <= f->out + DRAY_DELTA_OVERHEAD(f->out) : v->raw == f->out) &&
	    prove(k, w, f, v->kind, v->raw, v->p, v->len, &ignored) == 0)
		return store(k, w, r, v->kind, v->raw, v->p, v->len, e);
	/* a cache of somebody else's making; the proof has left its traces in the base bytes */
	build_cache_drop(k->o->cache, key);
	return read_ref(k, w, f, e) == 0 ? 1 : -1;
}

static int
pack_one(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct packer *k = ctx;
	struct worker *w = &k->workers[worker];
	const struct pack_frame *f = &k->plan.frames[k->order[i]];
	struct pack_result *r = &k->results[k->order[i]];
	struct dray_encode_out best = { .p = NULL };
	uint8_t key[32] = { 0 };
	int rc = 1;

	if (build_work_step(&k->work, 0, e) != 0)
		return -1;
	if (read_src(k, w, f, e) != 0 || read_ref(k, w, f, e) != 0)
		return -1;
	if (k->o->cache != NULL && (key_of(k, w, f, key, e) != 0 || (rc = from_cache(k, w, f, key, r, e)) < 0))
		return -1;
	if (rc == 1) {
		if (encode(k, w, f, &best, e) != 0)
			return -1;
		if (prove(k, w, f, best.kind, best.raw, best.p, best.len, e) != 0)
			return dray_wrap(e, "internal: a new frame does not decode");
		if (store(k, w, r, best.kind, best.raw, best.p, best.len, e) != 0)
			return -1;
		build_cache_put(k->o->cache, w->h, key, best.kind, best.raw, best.p, best.len);
	}
	return build_work_step(&k->work, f->out, e);
}

/* --- the whole ----------------------------------------------------------------------------------------------------- */

struct cost { uint64_t bytes; uint32_t frame; };

static int
cost_cmp(const void *pa, const void *pb)
{
	const struct cost *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static int
largest_first(struct packer *k, struct dray_err *e)
{
	struct cost *v = calloc(k->plan.n_frames + 1, sizeof(*v));

	k->order = calloc(k->plan.n_frames + 1, sizeof(*k->order));
	k->results = calloc(k->plan.n_frames + 1, sizeof(*k->results));
	if (v == NULL || k->order == NULL || k->results == NULL) {
		free(v);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	for (size_t i = 0; i < k->plan.n_frames; i++)
		v[i] = (struct cost){ k->plan.frames[i].out + k->plan.frames[i].ref, (uint32_t)i };
	qsort(v, k->plan.n_frames, sizeof(*v), cost_cmp);
	for (size_t i = 0; i < k->plan.n_frames; i++)
		k->order[i] = v[i].frame;
	free(v);
	return 0;
}

static int
make_workers(struct packer *k, struct dray_err *e)
{
	if ((k->workers = calloc(k->o->threads, sizeof(*k->workers))) == NULL || (k->desc = dray_desc_new()) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	k->desc->limit_window = DRAY_WINDOW_MAX;
	for (unsigned i = 0; i < k->o->threads; i++)
		if (dray_encoder_new(k->o->level, &k->workers[i].enc, e) != 0 ||
		    dray_decoder_new(&k->workers[i].dec, e) != 0 || dray_sha256_new(&k->workers[i].h, e) != 0)
			return -1;
	return 0;
}

static void
packer_free(struct packer *k)
{
	for (unsigned i = 0; k->workers != NULL && i < k->o->threads; i++) {
		struct worker *w = &k->workers[i];

		dray_encoder_free(w->enc);
		dray_decoder_free(w->dec);
		dray_sha256_free(w->h);
		free(w->src.p);
		free(w->ref.p);
		free(w->back.p);
		free(w->kept.p);
		free(w->cached.p);
	}
	free(k->workers);
	free(k->order);
	free(k->results);
	dray_desc_free(k->desc);
	build_pack_plan_free(&k->plan);
	build_bases_free(&k->bases);
	build_pack_reader_end(&k->reader);
}

static int
plan(struct packer *k, struct dray_err *e)
{
	if (build_pack_reader_begin(&k->reader, k->rs, e) != 0 ||
	    build_bases_choose(&k->reader, &k->work, &k->bases, e) != 0)
		return -1;
	return build_pack_plan_make(&k->reader, &k->bases, &k->work, k->o->slim, &k->plan, e);
}

static int
encode_all(struct packer *k, struct dray_err *e)
{
	uint64_t bytes = 0;
	int rc;

	if (largest_first(k, e) != 0 || make_workers(k, e) != 0)
		return -1;
	for (size_t i = 0; i < k->plan.n_frames; i++)
		bytes += k->plan.frames[i].out;
	build_work_begin(&k->work, "pack", bytes);
	rc = dray_parallel(k->o->threads, k->plan.n_frames, 1, pack_one, k, e);
	return build_work_end(&k->work, rc);
}

int
build_pack(struct build_resolved *rs, const struct build_pack_opts *o, struct build_packed **out, struct dray_err *e)
{
	struct build_packed *to = calloc(1, sizeof(*to));
	struct packer k = { .o = o, .rs = rs, .to = to, .work = { .threads = o->threads, .common = o->common } };
	int64_t at = now_ms();
	int rc = -1;

	*out = NULL;
	if (to == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	to->fd = -1;
	if (build_temp_unnamed(o->dir, &to->fd, e) != 0) {
		build_temp_failed(o->dir, e);
		goto out;
	}
	if (plan(&k, e) != 0)
		goto out;
	to->look_ms = now_ms() - at;
	at += to->look_ms;
	if (encode_all(&k, e) != 0 || build_pack_rows(rs, &k.plan, k.results, o->slim, to, e) != 0)
		goto out;
	to->encode_ms = now_ms() - at;
	*out = to;
	to = NULL;
	rc = 0;
out:
	packer_free(&k);
	build_packed_free(to);
	return rc;
}

void
build_packed_free(struct build_packed *p)
{
	if (p == NULL)
		return;
	if (p->fd != -1)
		close(p->fd);
	free(p->frames);
	free(p->blocks);
	free(p);
}
