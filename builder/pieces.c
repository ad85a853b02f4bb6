/*
 * pieces.c - a large base is too much for one frame, so each piece of a large content names only the blocks it has
 * features in common with. One walk over the base and one over the content, whatever their sizes: the larger they are,
 * the fewer windows are looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/match_index.h"
#include "builder/pack_plan.h"
#include "dray/descriptor.h"

#define FEATURES (2u * 1024u * 1024u)		/* of the base, about: 8 bytes each */
#define REPEATS 8u				/* of the blocks that have a feature so many count */
#define BLOCKS_MAX (PACK_REF_MAX / PACK_SUM_BLOCK)

struct hits { uint32_t block, n; };

struct mapper {
	struct build_work *work;
	struct pack_walk walk;
	struct match_roll roll;
	struct match_list base, piece;
	uint32_t *count;		/* by block of the base; zero between pieces */
	struct hits *hits;		/* the blocks with a count */
	size_t n_hits;
	uint64_t base_size, size;
	uint32_t base_content;
	uint32_t blocks;
	struct pack_ranges *out;
	size_t n_pieces;
};

static int
take_base(void *ctx, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e)
{
	struct mapper *m = ctx;

	(void)at;
	if (build_work_step(m->work, len, e) != 0)
		return -1;
	return build_match_roll_add(&m->roll, p, len, PACK_SUM_BLOCK, &m->base, e);
}

static void
hit(struct mapper *m, uint32_t block, uint32_t n)
{
	if (m->count[block] == 0)
		m->hits[m->n_hits++].block = block;
	m->count[block] += n;
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
add_range(struct mapper *m, uint64_t from, uint64_t to, struct dray_err *e)
{
	struct pack_ranges *o = m->out;

	if (to > m->base_size)
		to = m->base_size;
	if (o->n == o->cap) {
		size_t cap = o->cap == 0 ? 256 : o->cap * 2;
		struct dray_range *v = realloc(o->v, cap * sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		o->v = v;
		o->cap = cap;
	}
	o->v[o->n++] = (struct dray_range){ .content = m->base_content, .offset = from, .len = to - from };
	return 0;
}

static void
count_hits(struct mapper *m)
{
	struct match_list *l = &m->piece;

	build_match_list_sort(l);
	for (size_t i = 0, at = 0, end; i < l->n; i++) {
		if (i > 0 && l->v[i].value == l->v[i - 1].value)
			continue;
		while (at < m->base.n && m->base.v[at].value < l->v[i].value)
			at++;
		for (end = at; end < m->base.n && m->base.v[end].value == l->v[i].value; end++)
			;
		for (size_t k = at; k < end && k - at < REPEATS; k++)
			hit(m, m->base.v[k].where, 1);
	}
}

/* the piece is over: choose blocks, best first, then what stands beside them, as long as there is room */
static int
end_piece(struct mapper *m, struct dray_err *e)
{
	size_t n, i, end;

	count_hits(m);
	for (i = 0; i < m->n_hits; i++)
		m->hits[i].n = m->count[m->hits[i].block];
	qsort(m->hits, m->n_hits, sizeof(m->hits[0]), hits_cmp);
	/* next to nothing in common is chance: 32 bits tell a window */
	for (n = 0; n < m->n_hits && n < BLOCKS_MAX && m->hits[n].n >= m->hits[0].n / 64; n++)
		;
	for (i = n; i < m->n_hits; i++)
		m->count[m->hits[i].block] = 0;
	/* a block in use keeps its count, so that its neighbours do not add it again */
	m->n_hits = n;
	for (i = 0; i < n && m->n_hits < BLOCKS_MAX; i++) {
		uint32_t b = m->hits[i].block;

		if (b + 1 < m->blocks && m->count[b + 1] == 0)
			hit(m, b + 1, 1);
		if (b > 0 && m->count[b - 1] == 0 && m->n_hits < BLOCKS_MAX)
			hit(m, b - 1, 1);
	}
	qsort(m->hits, m->n_hits, sizeof(m->hits[0]), block_cmp);
	for (i = 0; i < m->n_hits; i = end) {
		for (end = i + 1; end < m->n_hits && m->hits[end].block == m->hits[end - 1].block + 1; end++)
			;
		if (add_range(m, (uint64_t)m->hits[i].block * PACK_SUM_BLOCK,
		    ((uint64_t)m->hits[end - 1].block + 1) * PACK_SUM_BLOCK, e) != 0)
			return -1;
	}
	for (i = 0; i < m->n_hits; i++)
		m->count[m->hits[i].block] = 0;
	m->n_hits = 0;
	m->piece.n = 0;
	m->roll = (struct match_roll){ .shift = m->roll.shift };
	m->out->first[++m->n_pieces] = m->out->n;
	return 0;
}

static int
take_content(void *ctx, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e)
{
	struct mapper *m = ctx;

	if (build_work_step(m->work, len, e) != 0)
		return -1;
	/* a piece is a whole number of walks */
	if (build_match_roll_add(&m->roll, p, len, UINT64_MAX, &m->piece, e) != 0)
		return -1;
	if ((at + len) % DRAY_FRAME_DEFAULT != 0 && at + len < m->size)
		return 0;
	return end_piece(m, e);
}

_Static_assert(DRAY_FRAME_DEFAULT % PACK_WALK_BYTES == 0, "a piece is a whole number of walks");

int
build_pieces_map(struct pack_reader *r, struct build_work *o, uint32_t content, uint32_t base,
    struct pack_ranges *out, struct dray_err *e)
{
	struct mapper m = { .work = o, .base_content = base, .base_size = r->rs->contents[base].size,
		.size = r->rs->contents[content].size, .out = out };
	unsigned shift = build_match_shift(m.base_size, FEATURES, MATCH_SHIFT_MIN);
	int rc = -1;

	m.blocks = (uint32_t)((m.base_size + PACK_SUM_BLOCK - 1) / PACK_SUM_BLOCK);
	m.count = calloc((size_t)m.blocks + 1, sizeof(*m.count));
	m.hits = calloc((size_t)m.blocks + 1, sizeof(*m.hits));
	m.walk = (struct pack_walk){ .buf = malloc(PACK_WALK_BYTES), .take = take_base, .ctx = &m, .sums = true };
	out->first = calloc((size_t)(m.size / DRAY_FRAME_DEFAULT) + 2, sizeof(*out->first));
	if (m.count == NULL || m.hits == NULL || m.walk.buf == NULL || out->first == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	m.roll.shift = shift;
	if (dray_sha256_new(&m.walk.block, e) != 0 || dray_sha256_new(&m.walk.whole, e) != 0 ||
	    build_pack_walk(r, &m.walk, base, true, e) != 0)
		goto out;
	build_match_list_sort(&m.base);
	m.roll = (struct match_roll){ .shift = shift };
	m.walk.take = take_content;
	m.walk.sums = false;
	if (build_pack_walk(r, &m.walk, content, false, e) != 0)
		goto out;
	rc = 0;
out:
	dray_sha256_free(m.walk.block);
	dray_sha256_free(m.walk.whole);
	free(m.walk.buf);
	free(m.base.v);
	free(m.piece.v);
	free(m.count);
	free(m.hits);
	return rc;
}
