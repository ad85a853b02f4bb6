/*
 * pack_cost.c - what applying a bundle costs, from what became of each frame.
 */
#include <stdlib.h>

#include "builder/apply_cost.h"
#include "builder/pack_result.h"
#include "dray/frame.h"

struct costing {
	const struct build_resolved *rs;
	const struct pack_plan *p;
	struct pack_kept kept;
	uint64_t *ns;		/* by frame */
};

uint64_t
build_pack_frame_cost(const struct pack_plan *p, const struct pack_frame *f, const struct pack_result *r)
{
	struct build_cost_in in = { .kind = r->kind, .filter = r->filter, .codec = r->codec, .stored = r->len, .raw = r->raw, .out = f->out,
		.ref = f->ref };

	for (size_t i = f->range_first; i < f->range_first + f->ranges; i++)
		in.inside += p->ranges[i].inside ? p->ranges[i].len : 0;
	return build_cost_frame(&in);
}

static uint64_t
cost_of_use(const struct costing *k, const struct pack_use *u)
{
	uint64_t sum = 0;

	for (size_t i = u->first; i < u->first + u->n; i++)
		sum += k->ns[k->p->parts[i].frame];
	return sum;
}

/* the way in which a machine of the base @bit, 0 for none, makes a content; NULL: it has it, or it is empty */
static const struct pack_use *
way_of(const struct costing *k, uint32_t content, uint64_t bit)
{
	const struct build_content *c = &k->rs->contents[content];
	bool history = (k->rs->history & bit) != 0;
	const struct pack_use *best = NULL;

	if (((history ? c->sure : c->bases) & bit) != 0)
		return NULL;
	for (size_t i = k->kept.first[content]; i < k->kept.first[content + 1]; i++) {
		const struct pack_use *u = &k->p->uses[k->kept.sorted[i]];
		uint8_t what = k->kept.use[k->kept.sorted[i]];

		if (what == PACK_DROPPED || (what == PACK_DELTA && (u->bases & bit) == 0))
			continue;
		/* of a history any of them may be the one, and the full copy too; else a delta comes before it */
		if (best == NULL || (history ? cost_of_use(k, u) > cost_of_use(k, best) : what == PACK_DELTA))
			best = u;
	}
	return best;
}

/* mark the frames that a machine of base @i reads. Return: what making a .gz from what they give costs it */
static uint64_t
mark_readers(const struct costing *k, size_t i, uint64_t *readers)
{
	uint64_t bit = UINT64_C(1) << i, base = k->rs->n_bases > 0 ? bit : 0, ns = 0;

	for (uint32_t c = 0; c < k->rs->n_contents; c++) {
		const struct pack_use *u = k->rs->contents[c].wanted ? way_of(k, c, base) : NULL;

		for (size_t j = 0; u != NULL && j < u->n; j++)
			readers[k->p->parts[u->first + j].frame] |= bit;
		ns += u != NULL ? k->rs->contents[c].make_ns : 0;
	}
	return ns;
}

static void
sum_up(const struct costing *k, struct pack_costs *c)
{
	for (size_t i = 0; i < c->n; i++) {
		c->ns[i] = build_cost_paths(k->rs->n_bases > 0 ? k->rs->releases[i + 1] : NULL, k->rs->releases[0]);
		c->ns[i] += mark_readers(k, i, c->readers);
		for (size_t f = 0; f < k->p->n_frames; f++)
			c->ns[i] += (c->readers[f] >> i & 1) != 0 ? k->ns[f] : 0;
	}
}

int
build_pack_costs_make(const struct build_resolved *rs, const struct pack_plan *p, const struct pack_result *results,
    bool slim, struct pack_costs *c, struct dray_err *e)
{
	struct costing k = { .rs = rs, .p = p };
	int rc = -1;

	*c = (struct pack_costs){ .n = rs->n_bases > 0 ? rs->n_bases : 1 };
	k.ns = calloc(p->n_frames + 1, sizeof(*k.ns));
	c->readers = calloc(p->n_frames + 1, sizeof(*c->readers));
	if (k.ns == NULL || c->readers == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (build_pack_keep(rs, p, results, slim, &k.kept, e) != 0)
		goto out;
	for (size_t i = 0; i < p->n_frames; i++)
		k.ns[i] = build_pack_frame_cost(p, &p->frames[i], &results[i]);
	sum_up(&k, c);
	rc = 0;
out:
	build_pack_kept_free(&k.kept);
	free(k.ns);
	return rc;
}

void
build_pack_costs_free(struct pack_costs *c)
{
	free(c->readers);
	c->readers = NULL;
}
