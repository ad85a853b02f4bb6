/*
 * group.c - small contents of one kind and alike names share a frame, programs stand alone, large contents are cut into
 * pieces. What people edit is never pooled with anything, and all contents of a frame share their components and bases.
 * Nor is what builds on a state that a path of a history had at times: which states stand side by side on a machine, nobody
 * knows, and a frame needs all its bases at once.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/pack_plan.h"
#include "dray/descriptor.h"
#include "dray/frame.h"
#include "dray/meter.h"
#include "dray/pool.h"

#define HUGE_BYTES (UINT64_C(256) * 1024u * 1024u)	/* of a content and its base together */
#define RANGES_MAX 4096u	/* of a frame of small contents: a file to open for each */

struct item {			/* one use to be planned */
	const struct build_content *c;
	const struct build_node *nd;
	uint32_t content, base;	/* base: DRAY_NONE for a full copy */
	uint64_t bases;
	uint8_t kind;
	bool loose;		/* some machines of a history lack the base content */
	bool spare;		/* a full copy that only those need whose files are no longer those of a base */
	bool former;		/* a text to merge with, which the release does not have */
	struct pack_ranges map;	/* of a large base */
	bool mapped;
};

struct planner {
	struct pack_reader *r;
	const struct build_resolved *rs;
	const struct build_bases *b;
	struct build_work *work;
	struct pack_plan *p;
	struct item *items;
	size_t n;
	uint32_t *in_frame;	/* by content: 1 + number of the frame that has it among its ranges */
};

static void *
grow(void *v, size_t n, size_t *cap, size_t item)
{
	size_t more = *cap == 0 ? 256 : *cap * 2;

	if (n < *cap)
		return v;
	if (more > UINT32_MAX || more > SIZE_MAX / item || (v = realloc(v, more * item)) == NULL)
		return NULL;
	*cap = more;
	return v;
}

static int
new_frame(struct pack_plan *p, const struct item *it, struct dray_err *e)
{
	struct pack_frame *v = grow(p->frames, p->n_frames, &p->cap_frames, sizeof(*v));

	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->frames = v;
	p->frames[p->n_frames++] = (struct pack_frame){ .first = p->n_parts, .range_first = p->n_ranges,
		.filter = it->kind == BUILD_PROGRAM_X86 ? DRAY_FILTER_X86 : DRAY_FILTER_NONE };
	return 0;
}

/* to the frame that was begun last */
static int
add_part(struct pack_plan *p, uint32_t content, uint64_t at, uint32_t len, struct dray_err *e)
{
	struct pack_frame *f = &p->frames[p->n_frames - 1];
	struct pack_part *v = grow(p->parts, p->n_parts, &p->cap_parts, sizeof(*v));

	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->parts = v;
	p->parts[p->n_parts++] = (struct pack_part){ .content = content, .at = at, .len = len,
		.frame = (uint32_t)(p->n_frames - 1), .offset = f->out };
	f->n++;
	f->out += len;
	return 0;
}

static int
add_range(struct pack_plan *p, const struct dray_range *range, struct dray_err *e)
{
	struct pack_frame *f = &p->frames[p->n_frames - 1];
	struct dray_range *v = grow(p->ranges, p->n_ranges, &p->cap_ranges, sizeof(*v));

	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->ranges = v;
	p->ranges[p->n_ranges++] = *range;
	f->ranges++;
	f->ref += range->len;
	return 0;
}

static int
add_use(struct pack_plan *p, const struct item *it, struct dray_err *e)
{
	struct pack_use *v = grow(p->uses, p->n_uses, &p->cap_uses, sizeof(*v));

	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->uses = v;
	p->uses[p->n_uses++] = (struct pack_use){ .content = it->content, .bases = it->bases, .first = p->n_parts };
	return 0;
}

static bool
is_alone(const struct item *it)
{
	return it->kind >= BUILD_PROGRAM || it->c->config || it->mapped || it->loose ||
	    build_content_len(it->c) > PACK_GROUP_BYTES / 2;
}

static int
item_cmp(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int c;

	if (a->bases != b->bases)
		return a->bases > b->bases ? -1 : 1;
	if (a->spare != b->spare)
		return a->spare ? 1 : -1;
	if (a->former != b->former)
		return a->former ? 1 : -1;
	if (a->c->comps != b->c->comps)
		return a->c->comps < b->c->comps ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if ((c = build_fold_cmp(a->nd->path, a->nd->len, b->nd->path, b->nd->len)) != 0)
		return c;
	if (a->content != b->content)
		return a->content < b->content ? -1 : 1;
	return (a->base > b->base) - (a->base < b->base);
}

/* may @it join the frame that was begun with @first? */
static bool
joins(const struct planner *k, const struct item *first, const struct item *it)
{
	const struct pack_frame *f = &k->p->frames[k->p->n_frames - 1];
	uint64_t ref = it->base == DRAY_NONE || k->in_frame[it->base] == k->p->n_frames ? 0 :
	    build_content_len(&k->rs->contents[it->base]);

	return !is_alone(first) && !is_alone(it) && first->bases == it->bases && first->c->comps == it->c->comps &&
	    first->kind == it->kind && first->spare == it->spare &&
	    first->former == it->former && f->out + build_content_len(it->c) <= PACK_GROUP_BYTES && f->ref + ref <= PACK_REF_MAX &&
	    f->ranges < RANGES_MAX;
}

/* the whole of a base, once in a frame */
static int
add_base(struct planner *k, const struct item *it, struct dray_err *e)
{
	const struct build_content *base = &k->rs->contents[it->base];
	const struct dray_range whole = { .content = it->base, .len = build_content_len(base), .inside = base->inside != 0 };

	if (k->in_frame[it->base] == k->p->n_frames)
		return 0;
	k->in_frame[it->base] = (uint32_t)k->p->n_frames;
	return add_range(k->p, &whole, e);
}

static int
add_pieces(struct planner *k, const struct item *it, struct dray_err *e)
{
	uint32_t most = it->c->inside != 0 ? it->c->inside : DRAY_FRAME_DEFAULT;	/* an inside is one piece */
	size_t piece = 0;

	for (uint64_t at = 0; at < build_content_len(it->c); piece++) {
		uint64_t left = build_content_len(it->c) - at;
		uint32_t len = left > most ? most : (uint32_t)left;

		if ((at > 0 && new_frame(k->p, it, e) != 0) || add_part(k->p, it->content, at, len, e) != 0)
			return -1;
		if (it->base != DRAY_NONE && !it->mapped && add_base(k, it, e) != 0)
			return -1;
		for (size_t i = it->mapped ? it->map.first[piece] : 0; it->mapped && i < it->map.first[piece + 1]; i++)
			if (add_range(k->p, &it->map.v[i], e) != 0)
				return -1;
		at += len;
	}
	return 0;
}

static int
fill_frames(struct planner *k, struct dray_err *e)
{
	const struct item *first = NULL;

	for (size_t i = 0; i < k->n; i++) {
		const struct item *it = &k->items[i];

		if (it->c->size == 0) {		/* a full recipe without pieces */
			if (add_use(k->p, it, e) != 0)
				return -1;
			continue;
		}
		if (first == NULL || !joins(k, first, it)) {
			first = it;
			if (new_frame(k->p, it, e) != 0)
				return -1;
		}
		if (add_use(k->p, it, e) != 0 || add_pieces(k, it, e) != 0)
			return -1;
		k->p->uses[k->p->n_uses - 1].n = k->p->n_parts - k->p->uses[k->p->n_uses - 1].first;
	}
	return 0;
}

/* worth all threads by itself, one such item after the other */
static bool
is_huge(const struct planner *k, const struct item *it)
{
	return k->work->threads > 1 && it->c->size + k->rs->contents[it->base].size > HUGE_BYTES;
}

static int
map_item(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct planner *k = ctx;
	struct item *it = &k->items[i];

	(void)worker;
	return it->mapped && !is_huge(k, it) ? build_pieces_map(k->r, k->work, 1, it->content, it->base, &it->map, e) : 0;
}

static int
map_items(struct planner *k, struct dray_err *e)
{
	uint64_t bytes = 0, costs = 0, base;
	int rc = 0;

	for (size_t i = 0; i < k->n; i++) {
		const struct item *it = &k->items[i];

		if (!it->mapped)
			continue;
		base = k->rs->contents[it->base].size * (is_huge(k, it) ? 2 : 1);
		bytes += it->c->size + base;
		costs += it->c->size * DRAY_COST_PIECE + base * DRAY_COST_LEARN;
	}
	build_work_begin(k->work, "match", bytes);
	build_work_costs(k->work, costs);
	for (size_t i = 0; rc == 0 && i < k->n; i++) {
		struct item *it = &k->items[i];

		if (it->mapped && is_huge(k, it))
			rc = build_pieces_map(k->r, k->work, k->work->threads, it->content, it->base, &it->map, e);
	}
	if (rc == 0)
		rc = dray_parallel(k->work->threads, k->n, 1, map_item, k, e);
	return build_work_end(k->work, rc);
}

/* the choices for one content: @v, @n; @row: the content */
struct ways { const struct build_choice *v; size_t n; uint32_t row; };

static bool
has_way(const struct ways *w, uint32_t base, uint64_t bit)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].base == base && (w->v[i].bases & bit) != 0)
			return true;
	return base == w->row;		/* a copy */
}

/* is there a way from each state that the path of entry @row had in the history of @bit? */
static bool
leads_from_all(const struct planner *k, const struct ways *w, uint32_t row, uint64_t bit)
{
	const struct build_content *c = &k->rs->contents[w->row];
	bool any = false;
	size_t n;
	const struct build_old *o = build_resolved_olds(k->rs, row, &n);

	for (size_t i = 0; i < n; i++) {
		if ((o[i].bases & bit) == 0)
			continue;
		any = true;
		/* a machine without the component of this path has none of its states */
		if ((o[i].gaps & bit) != 0 || o[i].config || (c->comps & ~o[i].comps) != 0 || !has_way(w, o[i].content, bit))
			return false;
	}
	return any;
}

/* the histories for which every machine can make the content, whichever states its paths have */
static uint64_t
covered_histories(const struct planner *k, const struct ways *w)
{
	const struct build_content *c = &k->rs->contents[w->row];
	uint64_t covered = 0;

	for (unsigned b = 0; b < k->rs->n_bases; b++) {
		uint64_t bit = UINT64_C(1) << b;
		bool all;

		if ((k->rs->history & bit) == 0)
			continue;
		all = c->node != DRAY_NONE && leads_from_all(k, w, k->rs->releases[0]->v[c->node].row, bit);
		for (size_t i = 0; i < w->n && !all; i++) {
			const struct build_content *x = &k->rs->contents[w->v[i].base];

			if ((w->v[i].bases & bit) == 0)
				continue;
			all = ((x->sure & bit) != 0 && (c->comps & ~x->sure_comps) == 0) ||
			    leads_from_all(k, w, k->rs->releases[x->old_base + 1u]->v[x->old_node].row, bit);
		}
		covered |= all ? bit : 0;
	}
	return covered;
}

/* does every base have a copy or a delta? */
static bool
is_covered(const struct planner *k, const struct ways *w)
{
	const struct build_content *c = &k->rs->contents[w->row];
	uint64_t covered = covered_histories(k, w);

	for (size_t i = 0; i < w->n; i++)
		covered |= w->v[i].bases & ~k->rs->history;
	/* a machine without the component that holds it cannot copy */
	if ((c->comps & ~c->sure_comps) == 0)
		covered |= c->sure;
	return k->rs->n_bases > 0 && c->size > 0 && covered == build_resolved_all(k->rs);
}

static bool
is_former_text(const struct build_bases *b, const struct build_content *c, uint32_t i)
{
	return c->former && b->kind[i] == BUILD_TEXT;
}

static int
list_items(struct planner *k, bool slim, struct dray_err *e)
{
	const struct build_bases *b = k->b;
	size_t at = 0;

	if ((k->items = calloc(k->rs->n_contents + b->n + 1, sizeof(*k->items))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < k->rs->n_contents; i++) {
		const struct build_content *c = &k->rs->contents[i];
		struct item it = { .c = c, .content = i, .kind = b->kind[i] };
		struct ways w = { .v = b->v + at, .row = i };

		it.nd = c->node != DRAY_NONE ? &k->rs->releases[0]->v[c->node] :
		    &k->rs->releases[c->old_base + 1u]->v[c->old_node];
		for (; at < b->n && b->v[at].content == i; at++, w.n++) {
			it.base = b->v[at].base;
			it.bases = b->v[at].bases;
			it.mapped = build_content_len(&k->rs->contents[it.base]) > PACK_REF_MAX;
			it.loose = (it.bases & k->rs->history & ~k->rs->contents[it.base].sure) != 0;
			k->items[k->n++] = it;
		}
		it.spare = is_covered(k, &w);
		it.former = !c->wanted;
		if (!is_former_text(b, c, i) && (!c->wanted || (slim && it.spare && !c->config)))
			continue;
		it.base = DRAY_NONE;
		it.bases = 0;
		it.mapped = false;
		it.loose = false;
		k->items[k->n++] = it;
	}
	qsort(k->items, k->n, sizeof(k->items[0]), item_cmp);
	return 0;
}

int
build_pack_plan_make(struct pack_reader *r, const struct build_bases *b, struct build_work *o, bool slim,
    struct pack_plan *p, struct dray_err *e)
{
	struct planner k = { .r = r, .rs = r->rs, .b = b, .work = o, .p = p };
	int rc = -1;

	if ((k.in_frame = calloc(r->rs->n_contents + 1, sizeof(*k.in_frame))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (list_items(&k, slim, e) != 0 || map_items(&k, e) != 0 || fill_frames(&k, e) != 0)
		goto out;
	rc = 0;
out:
	for (size_t i = 0; k.items != NULL && i < k.n; i++) {
		free(k.items[i].map.v);
		free(k.items[i].map.first);
	}
	free(k.items);
	free(k.in_frame);
	return rc;
}

void
build_pack_plan_free(struct pack_plan *p)
{
	free(p->parts);
	free(p->frames);
	free(p->ranges);
	free(p->uses);
}
