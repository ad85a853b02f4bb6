/*
 * match_index.c - features of all old contents in 256 shards by their first bits, each sorted; a table of starts makes
 * a lookup one step. About 8 bytes per feature, so 1.5 GB of contents take some 200 MB.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/match_index.h"
#include "dray/pool.h"

#define SHARDS 256u
#define STARTS 16384u		/* of a shard, by the 14 bits behind the first 8 */
#define COMMON 48u		/* a feature that more contents have tells nothing */

#define MULT UINT64_C(0x9e3779b97f4a7c15)	/* odd, bits well mixed: 2^64 / golden ratio */

struct posting { uint32_t value, content; };

struct shard {
	struct posting *v;
	size_t n, cap;
	uint32_t *start;	/* STARTS + 1 */
};

struct match_index {
	struct shard *parts;	/* SHARDS for each thread; the first SHARDS hold all in the end */
	unsigned threads;
	uint8_t *shift;		/* by content */
	size_t contents;
};

/* --- features ------------------------------------------------------------------------------------------------------ */

unsigned
build_match_shift(uint64_t size, uint64_t features, unsigned least)
{
	unsigned shift = least;

	while (shift < 40 && size >> shift > features)
		shift++;
	return shift;
}

/* MULT to the power MATCH_WINDOW: what the byte that leaves the window has become */
static uint64_t
leaving(void)
{
	uint64_t m = 1;

	for (unsigned i = 0; i < MATCH_WINDOW; i++)
		m *= MULT;
	return m;
}

/* a rare window that ends with byte @at of the content */
static int
take_feature(struct match_roll *r, uint64_t h, uint64_t at, uint64_t block, struct match_list *to, struct dray_err *e)
{
	uint32_t value = (uint32_t)((h ^ h >> 31) * MULT >> 32);

	if (r->any && value == r->before)
		return 0;
	r->any = true;
	r->before = value;
	if (to->n == to->cap) {
		size_t cap = to->cap == 0 ? 1024 : to->cap * 2;
		struct match_feature *v = realloc(to->v, cap * sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		to->v = v;
		to->cap = cap;
	}
	to->v[to->n++] = (struct match_feature){ value, (uint32_t)(at / block) };
	return 0;
}

/* one byte after the other: the window may begin in bytes of the call before */
static int
roll_slow(struct match_roll *r, const uint8_t *p, size_t len, uint64_t block, struct match_list *to, struct dray_err *e)
{
	const uint64_t out = leaving(), rare = UINT64_MAX << (64 - r->shift);

	for (size_t i = 0; i < len; i++, r->at++) {
		uint8_t *slot = &r->last[r->at % MATCH_WINDOW];

		r->h = r->h * MULT + p[i] + 1 - (r->at >= MATCH_WINDOW ? out * (*slot + 1u) : 0);
		*slot = p[i];
		if ((r->h & rare) == 0 && r->at >= MATCH_WINDOW - 1 && take_feature(r, r->h, r->at, block, to, e) != 0)
			return -1;
	}
	return 0;
}

/* the hash of the window before @p */
static uint64_t
hash_before(const uint8_t *p)
{
	uint64_t h = 0;

	for (const uint8_t *q = p - MATCH_WINDOW; q < p; q++)
		h = h * MULT + *q + 1;
	return h;
}

#define LANES 4u
#define LANE 1024u	/* bytes */

struct lanes {
	uint64_t rare;
	uint64_t gone[256];		/* what a byte that leaves the window adds, and the 1 of the one that enters */
	uint64_t hit[LANES][LANE];	/* hashes of rare windows */
	uint16_t where[LANES][LANE];
	size_t n[LANES];
};

static inline void
look(struct lanes *l, size_t lane, size_t i, uint64_t h)
{
	if ((h & l->rare) != 0)
		return;
	l->where[lane][l->n[lane]] = (uint16_t)i;
	l->hit[lane][l->n[lane]++] = h;
}

/*
 * Each step of a hash waits for the multiplication of the one before, so four stretches are walked side by side.
 * @p: LANES * LANE bytes with a whole window in front of them
 */
static void
walk_lanes(struct lanes *l, const uint8_t *p)
{
	const uint8_t *q = p, *back = p - MATCH_WINDOW;
	uint64_t a = hash_before(q), b = hash_before(q + LANE), c = hash_before(q + 2 * LANE), d = hash_before(q + 3 * LANE);

	memset(l->n, 0, sizeof(l->n));
	for (size_t i = 0; i < LANE; i++) {
		a = a * MULT + q[i] + l->gone[back[i]];
		b = b * MULT + q[i + LANE] + l->gone[back[i + LANE]];
		c = c * MULT + q[i + 2 * LANE] + l->gone[back[i + 2 * LANE]];
		d = d * MULT + q[i + 3 * LANE] + l->gone[back[i + 3 * LANE]];
		look(l, 0, i, a);
		look(l, 1, i, b);
		look(l, 2, i, c);
		look(l, 3, i, d);
	}
}

/* @n times LANES * LANE bytes, with a whole window in front of them: the same features in the same order as by roll_slow */
static int
roll_fast(struct match_roll *r, const uint8_t *p, size_t n, uint64_t block, struct match_list *to, struct dray_err *e)
{
	struct lanes l;
	const uint64_t out = leaving();

	l.rare = UINT64_MAX << (64 - r->shift);
	for (unsigned i = 0; i < 256; i++)
		l.gone[i] = 1 - out * (i + 1u);
	for (; n > 0; n--, p += LANES * LANE, r->at += LANES * LANE) {
		walk_lanes(&l, p);
		for (size_t k = 0; k < LANES; k++)
			for (size_t i = 0; i < l.n[k]; i++)
				if (take_feature(r, l.hit[k][i], r->at + k * LANE + l.where[k][i], block, to, e) != 0)
					return -1;
	}
	/* what follows goes on from here: the window is what stands before it */
	r->h = hash_before(p);
	for (unsigned k = 1; k <= MATCH_WINDOW; k++)
		r->last[(r->at - k) % MATCH_WINDOW] = p[-(int)k];
	return 0;
}

int
build_match_roll_add(struct match_roll *r, const uint8_t *p, size_t len, uint64_t block, struct match_list *to,
    struct dray_err *e)
{
	size_t head = len < MATCH_WINDOW ? len : MATCH_WINDOW, n = (len - head) / (LANES * LANE);

	if (roll_slow(r, p, head, block, to, e) != 0)
		return -1;
	p += head;
	len -= head;
	if (n > 0 && roll_fast(r, p, n, block, to, e) != 0)
		return -1;
	n *= LANES * LANE;
	return roll_slow(r, p + n, len - n, block, to, e);
}

static int
feature_cmp(const void *pa, const void *pb)
{
	const struct match_feature *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (a->where > b->where) - (a->where < b->where);
}

void
build_match_list_sort(struct match_list *l)
{
	size_t n = 0;

	if (l->n < 2)
		return;
	qsort(l->v, l->n, sizeof(l->v[0]), feature_cmp);
	for (size_t i = 0; i < l->n; i++)
		if (n == 0 || feature_cmp(&l->v[n - 1], &l->v[i]) != 0)
			l->v[n++] = l->v[i];
	l->n = n;
}

/* --- the index ----------------------------------------------------------------------------------------------------- */

int
build_match_index_new(size_t contents, unsigned threads, struct match_index **out, struct dray_err *e)
{
	struct match_index *ix = calloc(1, sizeof(*ix));

	*out = NULL;
	if (ix == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	ix->threads = threads;
	ix->contents = contents;
	ix->parts = calloc((size_t)threads * SHARDS, sizeof(*ix->parts));
	ix->shift = calloc(contents + 1, 1);
	if (ix->parts == NULL || ix->shift == NULL) {
		build_match_index_free(ix);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*out = ix;
	return 0;
}

void
build_match_index_free(struct match_index *ix)
{
	if (ix == NULL)
		return;
	for (size_t i = 0; ix->parts != NULL && i < (size_t)ix->threads * SHARDS; i++) {
		free(ix->parts[i].v);
		free(ix->parts[i].start);
	}
	free(ix->parts);
	free(ix->shift);
	free(ix);
}

static int
room(struct shard *s, size_t more, struct dray_err *e)
{
	struct posting *v;
	size_t cap = s->cap;

	if (more <= s->cap - s->n)
		return 0;
	while (cap < s->n + more)
		cap += cap / 2 + 256;
	if ((v = realloc(s->v, cap * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	s->v = v;
	s->cap = cap;
	return 0;
}

int
build_match_index_add(struct match_index *ix, unsigned worker, uint32_t content, unsigned shift,
    struct match_list *l, struct dray_err *e)
{
	ix->shift[content] = (uint8_t)shift;
	build_match_list_sort(l);
	for (size_t i = 0; i < l->n; i++) {
		struct shard *s = &ix->parts[(size_t)worker * SHARDS + (l->v[i].value >> 24)];

		/* sorted, so that equal values in several blocks follow each other */
		if (i > 0 && l->v[i].value == l->v[i - 1].value)
			continue;
		if (room(s, 1, e) != 0)
			return -1;
		s->v[s->n++] = (struct posting){ l->v[i].value, content };
	}
	return 0;
}

static int
posting_cmp(const void *pa, const void *pb)
{
	const struct posting *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (a->content > b->content) - (a->content < b->content);
}

/* one shard of all threads into one, sorted, without what is too common */
static int
finish_shard(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct match_index *ix = ctx;
	struct shard *s = &ix->parts[i];
	size_t n = 0;

	(void)worker;
	for (unsigned t = 1; t < ix->threads; t++) {
		struct shard *from = &ix->parts[(size_t)t * SHARDS + i];

		if (from->n > 0) {
			if (room(s, from->n, e) != 0)
				return -1;
			memcpy(s->v + s->n, from->v, from->n * sizeof(*s->v));
			s->n += from->n;
		}
		free(from->v);
		*from = (struct shard){ .n = 0 };
	}
	if (s->n > 1)
		qsort(s->v, s->n, sizeof(s->v[0]), posting_cmp);
	for (size_t k = 0, end; k < s->n; k = end) {
		for (end = k + 1; end < s->n && s->v[end].value == s->v[k].value; end++)
			;
		if (end - k > COMMON)
			continue;
		memmove(s->v + n, s->v + k, (end - k) * sizeof(*s->v));
		n += end - k;
	}
	s->n = n;
	if ((s->start = calloc(STARTS + 1, sizeof(*s->start))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t k = 0; k < n; k++)
		s->start[(s->v[k].value >> 10 & (STARTS - 1)) + 1]++;
	for (size_t k = 1; k <= STARTS; k++)
		s->start[k] += s->start[k - 1];
	return 0;
}

int
build_match_index_finish(struct match_index *ix, unsigned threads, struct dray_err *e)
{
	return dray_parallel(threads, SHARDS, 1, finish_shard, ix, e);
}

static int
score_cmp(const void *pa, const void *pb)
{
	const struct match_score *a = pa, *b = pb;

	if (a->shared != b->shared)
		return a->shared > b->shared ? -1 : 1;
	return (a->content > b->content) - (a->content < b->content);
}

static int
count(const struct match_index *ix, struct match_query *q, const struct posting *p, unsigned shift, struct dray_err *e)
{
	unsigned coarse = ix->shift[p->content];

	if (q->shared[p->content] == 0) {
		if (q->n == q->cap) {
			size_t cap = q->cap == 0 ? 256 : q->cap * 2;
			struct match_score *v = realloc(q->v, cap * sizeof(*v));

			if (v == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			q->v = v;
			q->cap = cap;
		}
		q->v[q->n++] = (struct match_score){ p->content, 0 };
	}
	/* one that was looked at more coarsely can only share every other, fourth, ... feature */
	q->shared[p->content] += 1u << (coarse > shift ? coarse - shift : 0);
	return 0;
}

int
build_match_index_find(const struct match_index *ix, struct match_query *q, unsigned shift, struct match_list *l,
    struct dray_err *e)
{
	q->n = 0;
	if (q->shared == NULL) {
		if ((q->shared = calloc(ix->contents + 1, sizeof(*q->shared))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		q->contents = ix->contents;
	}
	build_match_list_sort(l);
	for (size_t i = 0; i < l->n; i++) {
		uint32_t value = l->v[i].value, k;
		const struct shard *s = &ix->parts[value >> 24];

		if (i > 0 && value == l->v[i - 1].value)
			continue;
		for (k = s->start[value >> 10 & (STARTS - 1)]; k < s->start[(value >> 10 & (STARTS - 1)) + 1]; k++)
			if (s->v[k].value == value && count(ix, q, &s->v[k], shift, e) != 0)
				return -1;
	}
	for (size_t i = 0; i < q->n; i++) {
		q->v[i].shared = q->shared[q->v[i].content];
		q->shared[q->v[i].content] = 0;
	}
	if (q->n > 1)
		qsort(q->v, q->n, sizeof(q->v[0]), score_cmp);
	return 0;
}

void
build_match_query_free(struct match_query *q)
{
	free(q->shared);
	free(q->v);
	*q = (struct match_query){ .n = 0 };
}
