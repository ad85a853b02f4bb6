/*
 * pieces.c - a large base is too much for one frame, so each piece of a large content names only the blocks it has
 * features in common with. One walk over the base and one over the content, whatever their sizes: the larger they are,
 * the fewer windows are looked at. Both are walked in stretches, several at a time; what comes out is what one walk from
 * front to back would give, so it does not depend on the threads.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/match_index.h"
#include "builder/pack_plan.h"
#include "dray/descriptor.h"
#include "dray/meter.h"
#include "dray/pool.h"

#define FEATURES (2u * 1024u * 1024u)		/* of the base, about: 8 bytes each */
#define REPEATS 8u				/* of the blocks that have a feature so many count */
#define BLOCKS_MAX (PACK_REF_MAX / PACK_SUM_BLOCK)
#define STRETCH (UINT64_C(16) * 1024u * 1024u)	/* of the base */
#define COUNTS_MAX (UINT64_C(256) * 1024u * 1024u)	/* memory for counters of all workers, about */

struct hits { uint32_t block, n; };

struct map_worker {
	struct pack_walk walk;
	struct mapper *m;
	struct match_roll roll;
	struct match_list *to;		/* where the features of the base go; NULL: they are not asked for */
	struct match_list piece;
	uint32_t *count;		/* by block of the base; zero between pieces */
	struct hits *hits;		/* the blocks with a count */
	size_t n_hits;
};

struct stretch { struct match_list l; uint32_t last; bool any; };	/* last: value of its last feature */

struct mapper {
	struct pack_reader *r;
	struct build_work *work;
	struct map_worker *workers;
	unsigned threads;
	unsigned shift;
	uint64_t base_size, size;
	uint32_t content, base_content;
	uint32_t blocks;
	struct stretch *stretches;
	size_t n_stretches;
	struct match_list base;		/* features of all stretches */
	struct pack_ranges *pieces;	/* of each piece; `first` is not used */
	size_t n_pieces;
};

/* --- the base ------------------------------------------------------------------------------------------------------ */

static int
take_base(void *ctx, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e)
{
	struct map_worker *w = ctx;

	if (build_work_spend(w->m->work, len, len * DRAY_COST_LEARN, e) != 0)
		return -1;
	if (w->to == NULL)
		return 0;
	if (w->roll.at == 0 && at != 0) {	/* the window before a stretch: what ends there belongs to the one before */
		if (build_match_roll_add(&w->roll, p, MATCH_WINDOW, PACK_SUM_BLOCK, w->to, e) != 0)
			return -1;
		w->to->n = 0;
		w->roll.any = false;
		w->roll.at = at + MATCH_WINDOW;
		p += MATCH_WINDOW;
		len -= MATCH_WINDOW;
	}
	return build_match_roll_add(&w->roll, p, len, PACK_SUM_BLOCK, w->to, e);
}

/* the next bytes of a piece, which is looked at as if it stood alone */
static int
take_piece(void *ctx, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e)
{
	struct map_worker *w = ctx;

	(void)at;
	if (build_work_spend(w->m->work, len, len * DRAY_COST_PIECE, e) != 0)
		return -1;
	return build_match_roll_add(&w->roll, p, len, UINT64_MAX, &w->piece, e);
}

/*
 * One worker alone: job 0 does it all, so that the base is read once. Several: job 0 proves the whole and takes the sums
 * of its blocks, the others take the features of a stretch each.
 */
static int
walk_base(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct mapper *m = ctx;
	struct map_worker *w = &m->workers[worker];
	bool alone = m->threads == 1;
	struct stretch *s = alone ? &m->stretches[0] : i > 0 ? &m->stretches[i - 1] : NULL;

	w->walk.take = take_base;
	w->walk.sums = i == 0;
	w->walk.from = w->walk.to = 0;
	w->to = s != NULL ? &s->l : NULL;
	w->roll = (struct match_roll){ .shift = m->shift };
	if (i > 0) {
		w->walk.from = (i - 1) * STRETCH - (i > 1 ? MATCH_WINDOW : 0);
		w->walk.to = i * STRETCH < m->base_size ? i * STRETCH : m->base_size;
	}
	if (build_pack_walk(m->r, &w->walk, m->base_content, true, e) != 0)
		return -1;
	if (s != NULL) {
		s->any = w->roll.any;
		s->last = w->roll.before;
	}
	return 0;
}

_Static_assert(STRETCH % MATCH_WINDOW == 0 && STRETCH % PACK_SUM_BLOCK == 0, "where a byte stands in the window stays");

/* as if one walk had gone over all of them: there a feature that is equal to the one before it is left out */
static int
join_stretches(struct mapper *m, struct dray_err *e)
{
	uint32_t last = 0;
	size_t n = 0;
	bool any = false;

	for (size_t i = 0; i < m->n_stretches; i++)
		n += m->stretches[i].l.n;
	if ((m->base.v = malloc((n + 1) * sizeof(*m->base.v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	m->base.cap = n + 1;
	for (size_t i = 0; i < m->n_stretches; i++) {
		struct stretch *s = &m->stretches[i];
		size_t skip = any && s->l.n > 0 && s->l.v[0].value == last;

		if (s->l.n > skip)
			memcpy(m->base.v + m->base.n, s->l.v + skip, (s->l.n - skip) * sizeof(*s->l.v));
		m->base.n += s->l.n - skip;
		last = s->any ? s->last : last;
		any |= s->any;
		free(s->l.v);
		s->l = (struct match_list){ .n = 0 };
	}
	build_match_list_sort(&m->base);
	return 0;
}

/* --- the pieces ---------------------------------------------------------------------------------------------------- */

static void
hit(struct map_worker *w, uint32_t block)
{
	if (w->count[block] == 0)
		w->hits[w->n_hits++].block = block;
	w->count[block]++;
}

static int
hits_cmp(const void *pa, const void *pb)
{
	const struct hits *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

static int
block_cmp(const void *pa, const void *pb)
{
	const struct hits *a = pa, *b = pb;

	return (a->block > b->block) - (a->block < b->block);
}

static int
add_range(const struct mapper *m, struct pack_ranges *o, uint64_t from, uint64_t to, struct dray_err *e)
{
	if (to > m->base_size)
		to = m->base_size;
	if (o->n == o->cap) {
		size_t cap = o->cap == 0 ? 16 : o->cap * 2;
		struct dray_range *v = realloc(o->v, cap * sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		o->v = v;
		o->cap = cap;
	}
	o->v[o->n++] = (struct dray_range){ .content = m->base_content, .offset = from, .len = to - from };
	return 0;
}

/* the first item from @at on that is not below @value; near ones are found soon */
static size_t
skip_below(const struct match_list *l, size_t at, uint32_t value)
{
	size_t step = 1, high = at;

	while (high < l->n && l->v[high].value < value) {
		at = high + 1;
		high = l->n - high > step ? high + step : l->n;
		step *= 2;
	}
	while (at < high) {
		size_t mid = at + (high - at) / 2;

		if (l->v[mid].value < value)
			at = mid + 1;
		else
			high = mid;
	}
	return at;
}

static void
count_hits(const struct mapper *m, struct map_worker *w)
{
	struct match_list *l = &w->piece;

	build_match_list_sort(l);
	for (size_t i = 0, at = 0; i < l->n; i++) {
		if (i > 0 && l->v[i].value == l->v[i - 1].value)
			continue;
		at = skip_below(&m->base, at, l->v[i].value);
		for (size_t k = at; k < m->base.n && k - at < REPEATS && m->base.v[k].value == l->v[i].value; k++)
			hit(w, m->base.v[k].where);
	}
}

/* choose blocks, best first, then what stands beside them, as long as there is room */
static int
choose_blocks(const struct mapper *m, struct map_worker *w, struct pack_ranges *to, struct dray_err *e)
{
	size_t n, i, end;
	int rc = 0;

	count_hits(m, w);
	for (i = 0; i < w->n_hits; i++)
		w->hits[i].n = w->count[w->hits[i].block];
	qsort(w->hits, w->n_hits, sizeof(w->hits[0]), hits_cmp);
	/* next to nothing in common is chance: 32 bits tell a window */
	for (n = 0; n < w->n_hits && n < BLOCKS_MAX && w->hits[n].n >= w->hits[0].n / 64; n++)
		;
	for (i = n; i < w->n_hits; i++)
		w->count[w->hits[i].block] = 0;
	/* a block in use keeps its count, so that its neighbours do not add it again */
	w->n_hits = n;
	for (i = 0; i < n && w->n_hits < BLOCKS_MAX; i++) {
		uint32_t b = w->hits[i].block;

		if (b + 1 < m->blocks && w->count[b + 1] == 0)
			hit(w, b + 1);
		if (b > 0 && w->count[b - 1] == 0 && w->n_hits < BLOCKS_MAX)
			hit(w, b - 1);
	}
	qsort(w->hits, w->n_hits, sizeof(w->hits[0]), block_cmp);
	for (i = 0; rc == 0 && i < w->n_hits; i = end) {
		for (end = i + 1; end < w->n_hits && w->hits[end].block == w->hits[end - 1].block + 1; end++)
			;
		rc = add_range(m, to, (uint64_t)w->hits[i].block * PACK_SUM_BLOCK,
		    ((uint64_t)w->hits[end - 1].block + 1) * PACK_SUM_BLOCK, e);
	}
	for (i = 0; i < w->n_hits; i++)
		w->count[w->hits[i].block] = 0;
	w->n_hits = 0;
	return rc;
}

static int
map_piece(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct mapper *m = ctx;
	struct map_worker *w = &m->workers[worker];
	uint64_t from = (uint64_t)i * DRAY_FRAME_DEFAULT;

	w->walk.take = take_piece;
	w->walk.sums = false;
	w->walk.from = from;
	w->walk.to = m->size - from < DRAY_FRAME_DEFAULT ? m->size : from + DRAY_FRAME_DEFAULT;
	w->piece.n = 0;
	w->roll = (struct match_roll){ .shift = m->shift };
	if (build_pack_walk(m->r, &w->walk, m->content, false, e) != 0)
		return -1;
	return choose_blocks(m, w, &m->pieces[i], e);
}

static int
join_pieces(struct mapper *m, struct pack_ranges *out, struct dray_err *e)
{
	for (size_t i = 0; i < m->n_pieces; i++)
		out->cap += m->pieces[i].n;
	out->first = calloc(m->n_pieces + 1, sizeof(*out->first));
	out->v = calloc(out->cap + 1, sizeof(*out->v));
	if (out->first == NULL || out->v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < m->n_pieces; i++) {
		const struct pack_ranges *p = &m->pieces[i];

		if (p->n > 0)
			memcpy(out->v + out->n, p->v, p->n * sizeof(*p->v));
		out->n += p->n;
		out->first[i + 1] = out->n;
	}
	return 0;
}

/* --- both ---------------------------------------------------------------------------------------------------------- */

static int
make_room(struct mapper *m, struct dray_err *e)
{
	m->stretches = calloc(m->n_stretches + 1, sizeof(*m->stretches));
	m->pieces = calloc(m->n_pieces + 1, sizeof(*m->pieces));
	if (m->stretches == NULL || m->pieces == NULL || (m->workers = calloc((size_t)m->threads + 1, sizeof(*m->workers))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned i = 0; i < m->threads; i++) {
		struct map_worker *w = &m->workers[i];

		w->m = m;
		w->walk = (struct pack_walk){ .buf = malloc(PACK_WALK_BYTES), .ctx = w };
		w->count = calloc((size_t)m->blocks + 1, sizeof(*w->count));
		w->hits = calloc((size_t)m->blocks + 1, sizeof(*w->hits));
		if (w->walk.buf == NULL || w->count == NULL || w->hits == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (dray_sha256_new(&w->walk.block, e) != 0 || dray_sha256_new(&w->walk.whole, e) != 0)
			return -1;
	}
	return 0;
}

static void
free_all(struct mapper *m)
{
	for (unsigned i = 0; m->workers != NULL && i < m->threads; i++) {
		struct map_worker *w = &m->workers[i];

		dray_sha256_free(w->walk.block);
		dray_sha256_free(w->walk.whole);
		free(w->walk.buf);
		free(w->piece.v);
		free(w->count);
		free(w->hits);
	}
	for (size_t i = 0; m->stretches != NULL && i < m->n_stretches; i++)
		free(m->stretches[i].l.v);
	for (size_t i = 0; m->pieces != NULL && i < m->n_pieces; i++)
		free(m->pieces[i].v);
	free(m->workers);
	free(m->stretches);
	free(m->pieces);
	free(m->base.v);
}

int
build_pieces_map(struct pack_reader *r, struct build_work *o, unsigned threads, uint32_t content, uint32_t base,
    struct pack_ranges *out, struct dray_err *e)
{
	struct mapper m = { .r = r, .work = o, .threads = threads, .content = content, .size = r->rs->contents[content].size,
		.base_content = base, .base_size = r->rs->contents[base].size };
	uint64_t counts = (m.base_size / PACK_SUM_BLOCK + 1) * (sizeof(uint32_t) + sizeof(struct hits));
	int rc = -1;

	m.shift = build_match_shift(m.base_size, FEATURES, MATCH_SHIFT_MIN);
	m.blocks = (uint32_t)((m.base_size + PACK_SUM_BLOCK - 1) / PACK_SUM_BLOCK);
	m.n_pieces = (size_t)((m.size + DRAY_FRAME_DEFAULT - 1) / DRAY_FRAME_DEFAULT);
	while (m.threads > 1 && counts * m.threads > COUNTS_MAX)
		m.threads--;
	m.n_stretches = m.threads == 1 ? 1 : (size_t)((m.base_size + STRETCH - 1) / STRETCH);
	if (make_room(&m, e) != 0 ||
	    dray_parallel(m.threads, m.threads == 1 ? 1 : m.n_stretches + 1, 1, walk_base, &m, e) != 0 ||
	    join_stretches(&m, e) != 0 || dray_parallel(m.threads, m.n_pieces, 1, map_piece, &m, e) != 0 ||
	    join_pieces(&m, out, e) != 0)
		goto out;
	rc = 0;
out:
	free_all(&m);
	return rc;
}
