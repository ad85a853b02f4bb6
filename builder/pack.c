/*
 * pack.c - the largest frames first, so that all cores are busy to the end; the order of the bundle is made later, from the
 * plan. Memory is bounded by the frames under way.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/apply_cost.h"
#include "builder/inside.h"
#include "builder/pack_in.h"
#include "builder/temp.h"
#include "dray/descriptor.h"
#include "dray/meter.h"
#include "dray/pool.h"

static int
pack_one(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct packer *k = ctx;
	uint32_t frame = k->order[i];

	return build_pack_frame(k, &k->workers[worker], &k->plan.frames[frame], &k->results[frame], e);
}

uint64_t
build_pack_cost(const struct packer *k, const struct pack_frame *f)
{
	return dray_cost_pack(k->o->level, f->filter, f->out, f->ref);
}

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
		struct pack_worker *w = &k->workers[i];

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
	k->workers = NULL;
	k->order = NULL;
	k->results = NULL;
	k->desc = NULL;
	k->plan = (struct pack_plan){ .n_parts = 0 };
	k->bases = (struct build_bases){ .n = 0 };
}

/* what making .gz again may take of the bound: half of what is left when each path is looked at and written. The other
 * half is for frames */
static uint64_t
budget(const struct packer *k)
{
	uint64_t paths, most = 0;

	if (k->o->apply_ns == 0)
		return UINT64_MAX;
	for (size_t i = 0; i < (k->rs->n_bases > 0 ? k->rs->n_bases : 1); i++) {
		paths = build_cost_paths(k->rs->n_bases > 0 ? k->rs->releases[i + 1] : NULL, k->rs->releases[0]);
		most = paths > most ? paths : most;
	}
	return most < k->o->apply_ns ? (k->o->apply_ns - most) / 2 : 0;
}

static int
plan(struct packer *k, bool inside, struct dray_err *e)
{
	if (build_pack_reader_begin(&k->reader, k->rs, e) != 0 ||
	    (inside && build_insides_find(k->rs, &k->reader, &k->work, budget(k), e) != 0) ||
	    build_bases_choose(&k->reader, &k->work, &k->bases, e) != 0)
		return -1;
	return build_pack_plan_make(&k->reader, &k->bases, &k->work, k->o->slim, &k->plan, e);
}

static int
encode_all(struct packer *k, struct dray_err *e)
{
	uint64_t bytes = 0, costs = 0;
	int rc;

	if (largest_first(k, e) != 0 || make_workers(k, e) != 0)
		return -1;
	for (size_t i = 0; i < k->plan.n_frames; i++)
		bytes += k->plan.frames[i].out, costs += build_pack_cost(k, &k->plan.frames[i]);
	build_work_begin(&k->work, "pack", bytes);
	build_work_costs(&k->work, costs);
	rc = dray_parallel(k->o->threads, k->plan.n_frames, 1, pack_one, k, e);
	return build_work_end(&k->work, rc);
}

/* what applying costs; with a bound, frames change until it fits */
static int
weigh(struct packer *k, struct dray_err *e)
{
	struct pack_costs c;
	int rc;

	rc = build_pack_costs_make(k->rs, &k->plan, k->results, k->o->slim, &c, e);
	if (rc == 0 && k->o->apply_ns != 0)
		rc = build_pack_bound(k, &c, e);
	memcpy(k->to->apply_ns, c.ns, sizeof(c.ns));
	build_pack_costs_free(&c);
	return rc;
}

/* @inside: .gz may be looked into */
static int
pack(struct packer *k, bool inside, struct dray_err *e)
{
	int64_t at = tool_now_ms();

	if (plan(k, inside, e) != 0)
		return -1;
	k->to->look_ms += tool_now_ms() - at;
	at = tool_now_ms();
	if (encode_all(k, e) != 0 || weigh(k, e) != 0 ||
	    build_pack_rows(k->rs, &k->plan, k->results, k->o->slim, k->to, e) != 0)
		return -1;
	k->to->encode_ms += tool_now_ms() - at;
	return 0;
}

int
build_pack(struct build_resolved *rs, const struct build_pack_opts *o, struct build_packed **out, struct dray_err *e)
{
	struct build_packed *to = calloc(1, sizeof(*to));
	struct packer k = { .o = o, .rs = rs, .to = to, .work = { .threads = o->threads, .common = o->common } };
	int rc = -1;

	*out = NULL;
	if (to == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	to->fd = -1;
	if (build_temp_unnamed(o->dir, &to->fd, e) != 0) {
		build_temp_failed(o->dir, e);
		goto out;
	}
	rc = pack(&k, true, e);
	/* the bound cannot be kept: perhaps it can when no .gz has to be made again */
	if (rc != 0 && e->code == DRAY_E_USAGE && build_insides_forget(rs)) {
		dray_err_clear(e);
		packer_free(&k);
		rc = pack(&k, false, e);
	}
	if (rc != 0)
		goto out;
	*out = to;
	to = NULL;
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
