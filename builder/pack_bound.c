/*
 * pack_bound.c - a bound on what applying may cost. Frames that a machine above the bound reads are encoded once more in
 * cheaper ways: by zstd where it was LZMA, without a filter, and by prefix where it was addcopy; then as many of them as it takes are stored so.
 * Decided from sizes alone. What had a base keeps it, so that which frames are kept and read stays as it was.
 */
#include <stdlib.h>

#include "builder/apply_cost.h"
#include "builder/cheaper.h"
#include "builder/pack_in.h"
#include "dray/pool.h"

#define WAYS 4u		/* of one frame: as it is, by zstd, without filter, by prefix */

struct again {			/* a frame in another way */
	uint32_t frame;
	unsigned kinds;		/* DRAY_TRY_* */
	uint8_t filter;
	struct pack_result r;
};

struct bounding {
	struct packer *k;
	struct again *jobs;		/* by frame */
	size_t n_jobs;
	struct build_saving *steps;	/* id: number of a job */
	size_t n_steps;
};

/* bit mask of the bases that are above the bound */
static uint64_t
dear_bases(const struct packer *k, const struct pack_costs *c)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < c->n; i++)
		mask |= c->ns[i] > k->o->apply_ns ? UINT64_C(1) << i : 0;
	return mask;
}

static int
list_jobs(struct bounding *b, const struct pack_costs *c, struct dray_err *e)
{
	const struct packer *k = b->k;
	uint64_t dear = dear_bases(k, c);

	if ((b->jobs = calloc(k->plan.n_frames * (WAYS - 1) + 1, sizeof(*b->jobs))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < k->plan.n_frames; i++) {
		const struct pack_result *r = &k->results[i];
		unsigned kinds = r->kind == DRAY_FRAME_PLAIN ? DRAY_TRY_PLAIN : DRAY_TRY_PREFIX | DRAY_TRY_ADDCOPY;

		if ((c->readers[i] & dear) == 0)
			continue;
		kinds |= DRAY_TRY_ZSTD;
		if (r->codec != DRAY_CODEC_ZSTD)
			b->jobs[b->n_jobs++] = (struct again){ .frame = i, .kinds = kinds, .filter = r->filter };
		if (r->filter != DRAY_FILTER_NONE)
			b->jobs[b->n_jobs++] = (struct again){ .frame = i, .kinds = kinds };
		if (r->kind == DRAY_FRAME_ADDCOPY)
			b->jobs[b->n_jobs++] = (struct again){ .frame = i, .kinds = DRAY_TRY_PREFIX | DRAY_TRY_ZSTD };
	}
	return 0;
}

static int
do_job(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct bounding *b = ctx;
	struct again *j = &b->jobs[i];
	struct pack_frame f = b->k->plan.frames[j->frame];

	f.filter = j->filter;
	f.kinds = j->kinds;
	return build_pack_frame(b->k, &b->k->workers[worker], &f, &j->r, e);
}

static int
encode_again(struct bounding *b, struct dray_err *e)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < b->n_jobs; i++)
		bytes += b->k->plan.frames[b->jobs[i].frame].out;
	build_work_begin(&b->k->work, "cheaper", bytes);
	return build_work_end(&b->k->work, dray_parallel(b->k->o->threads, b->n_jobs, 1, do_job, b, e));
}

static struct build_way
way_of(const struct bounding *b, uint32_t frame, const struct pack_result *r, size_t job)
{
	return (struct build_way){ .ns = build_pack_frame_cost(&b->k->plan, &b->k->plan.frames[frame], r), .bytes = r->len,
		.id = (uint32_t)job };
}

static int
list_steps(struct bounding *b, struct dray_err *e)
{
	if ((b->steps = calloc(b->n_jobs + 1, sizeof(*b->steps))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0, end; i < b->n_jobs; i = end) {
		uint32_t frame = b->jobs[i].frame;
		struct build_way ways[WAYS] = { way_of(b, frame, &b->k->results[frame], b->n_jobs) };
		size_t n = 1;

		for (end = i; end < b->n_jobs && b->jobs[end].frame == frame; end++)
			ways[n++] = way_of(b, frame, &b->jobs[end].r, end);
		b->n_steps += build_cheaper_steps(frame, ways, n, b->steps + b->n_steps);
	}
	build_cheaper_order(b->steps, b->n_steps);
	return 0;
}

/* the bound cannot be met: say which one can */
static int
refuse(uint64_t least, struct dray_err *e)
{
	char text[BUILD_COST_TEXT];

	build_cost_text(least, text);
	dray_fail(e, DRAY_E_USAGE, "--apply-cpu cannot be met: applying takes %s s at least", text);
	return dray_hint(e, "give --apply-cpu %s or more, or leave it out", text);
}

static void
take_over(const struct bounding *b)
{
	struct packer *k = b->k;

	for (size_t i = 0; i < b->n_steps; i++) {
		const struct build_saving *s = &b->steps[i];
		struct pack_result *r = &k->results[s->frame];

		if (!s->taken)
			continue;
		k->to->cheaper.frames += s->turn == 0;
		k->to->cheaper.bytes += (int64_t)b->jobs[s->id].r.len - r->len;
		*r = b->jobs[s->id].r;
	}
}

int
build_pack_bound(struct packer *k, struct pack_costs *c, struct dray_err *e)
{
	struct bounding b = { .k = k };
	uint64_t least;
	int rc = -1;

	if (dear_bases(k, c) == 0)
		return 0;
	if (list_jobs(&b, c, e) != 0 || encode_again(&b, e) != 0 || list_steps(&b, e) != 0)
		goto out;
	least = build_cheaper_take(b.steps, b.n_steps, c->readers, k->o->apply_ns, c->ns, c->n);
	if (least > k->o->apply_ns) {
		refuse(least, e);
		goto out;
	}
	take_over(&b);
	rc = 0;
out:
	free(b.jobs);
	free(b.steps);
	return rc;
}
