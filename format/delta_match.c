/*
 * delta_match.c - equal stretches of two texts, in time that any input can only stretch by a small factor.
 *
 * First the blocks: ref is cut into blocks of 32 bytes, which go into a hash table; a rolling hash walks over src. An
 * equal stretch of 63 bytes or more holds a whole block, so it is found. The rest has only shorter ones, so looking for
 * them in a suffix array never has to compare more than 64 bytes, whatever the texts are made of.
 */
#include <divsufsort.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "delta_match.h"

enum {
	BLOCK = 32,
	CANDIDATES = 16,	/* blocks of equal hash that are compared */
	RANK = 256,		/* bytes compared to tell which of them is longest */
	NEAR = 64,		/* no stretch outside of covers is longer */
	GRAM = 12,		/* a string this long is hardly there by chance */
	SAMPLE = 7,		/* one string of src in so many is looked for; coprime to the sizes of records */
	BUCKETS_FROM = 16384,	/* bytes of ref from which on a table of first bytes pays */
	ALIGNED = 12,		/* bytes that match on the alignment in use: no need to look further */
};

#define MULT UINT64_C(0x9e3779b97f4a7c15)	/* odd, bits well mixed: 2^64 / golden ratio */

/* bytes that are equal, at most @max */
static size_t
same(const uint8_t *a, const uint8_t *b, size_t max)
{
	size_t n = 0;

	for (; max - n >= 8; n += 8) {
		uint64_t differ = dray_get_u64(a + n) ^ dray_get_u64(b + n);

		if (differ != 0)
			return n + (size_t)__builtin_ctzll(differ) / 8;
	}
	while (n < max && a[n] == b[n])
		n++;
	return n;
}

static size_t
min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* --- blocks -------------------------------------------------------------------------------------------------------- */

struct blocks {
	uint32_t *head, *next;		/* 1 + number of a block; 0: none */
	unsigned shift;			/* of a hash, to an index of head */
};

static uint64_t
hash_of(const uint8_t *p)
{
	uint64_t h = 0;

	for (size_t i = 0; i < BLOCK; i++)
		h = h * MULT + p[i] + 1;
	return h;
}

/* high bits of a polynomial depend on all bytes, low ones do not */
static size_t
slot_of(const struct blocks *b, uint64_t h)
{
	return (size_t)((h ^ h >> 29) * MULT >> b->shift);
}

static int
index_blocks(const struct dray_matcher *m, struct blocks *b, struct dray_err *e)
{
	size_t n = m->ref_len / BLOCK;
	unsigned bits = 8;

	while (bits < 31 && (size_t)1 << bits < 2 * n)
		bits++;
	b->shift = 64 - bits;
	b->head = calloc((size_t)1 << bits, sizeof *b->head);
	b->next = malloc((n + 1) * sizeof *b->next);
	if (b->head == NULL || b->next == NULL)
		return dray_fail(e, DRAY_E_IO, "matching: out of memory");
	for (size_t i = n; i-- > 0; ) {		/* so that the first block of equal ones comes first */
		size_t s = slot_of(b, hash_of(m->ref + i * BLOCK));

		b->next[i] = b->head[s];
		b->head[s] = (uint32_t)i + 1;
	}
	return 0;
}

static int
add_cover(struct dray_matcher *m, size_t src, size_t ref, size_t len, struct dray_err *e)
{
	if (m->n == m->cap) {
		size_t cap = m->cap * 2 + 256;
		struct dray_cover *v = realloc(m->covers, cap * sizeof *v);

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "matching: out of memory");
		m->covers = v;
		m->cap = cap;
	}
	m->covers[m->n++] = (struct dray_cover){ (uint32_t)src, (uint32_t)ref, (uint32_t)len };
	m->covered += len;
	return 0;
}

/* the best block for src from @i on; false: none is equal. Goes on with alignment @diag if that matches */
static bool
best_block(struct dray_matcher *m, const struct blocks *b, uint64_t h, size_t i, int64_t diag, size_t *ref)
{
	int64_t on = (int64_t)i + diag;
	size_t best = BLOCK - 1;
	uint32_t k = b->head[slot_of(b, h)];

	if (k == 0)
		return false;
	if (on >= 0 && (uint64_t)on <= m->ref_len - BLOCK && memcmp(m->src + i, m->ref + on, BLOCK) == 0) {
		*ref = (size_t)on;
		return true;
	}
	for (unsigned tries = 0; k != 0 && tries < CANDIDATES && best < RANK; k = b->next[k - 1], tries++) {
		size_t at = (size_t)(k - 1) * BLOCK;
		size_t n = same(m->src + i, m->ref + at, min_of(RANK, min_of(m->len - i, m->ref_len - at)));

		m->work += n + 1;
		if (n > best) {
			best = n;
			*ref = at;
		}
	}
	return best >= BLOCK;
}

int
dray_match_blocks(struct dray_matcher *m, struct dray_err *e)
{
	struct blocks b = { 0 };
	uint64_t h = 0, out = 1;	/* out: what the oldest byte of the window weighs */
	size_t i = 0, end = 0;		/* end: of the last cover */
	int64_t diag = 0;
	int rc = -1;

	if (m->len < BLOCK || m->ref_len < BLOCK)
		return 0;
	for (unsigned k = 0; k < BLOCK - 1; k++)
		out *= MULT;
	if (index_blocks(m, &b, e) != 0)
		goto out;
	h = hash_of(m->src);
	for (;;) {
		size_t ref, back = 0, n;

		if (!best_block(m, &b, h, i, diag, &ref)) {
			if (i + BLOCK >= m->len)
				break;
			h = (h - (m->src[i] + UINT64_C(1)) * out) * MULT + m->src[i + BLOCK] + 1;
			i++;
			continue;
		}
		while (i - back > end && ref > back && m->src[i - back - 1] == m->ref[ref - back - 1])
			back++;
		n = same(m->src + i, m->ref + ref, min_of(m->len - i, m->ref_len - ref));
		m->work += back + n;
		if (add_cover(m, i - back, ref - back, back + n, e) != 0)
			goto out;
		diag = (int64_t)ref - (int64_t)i;
		i = end = i + n;
		if (m->len - i < BLOCK)
			break;
		h = hash_of(m->src + i);
	}
	rc = 0;
out:
	free(b.head);
	free(b.next);
	return rc;
}

/* --- a guess ------------------------------------------------------------------------------------------------------- */

/* of the GRAM bytes at @p; bytes are put together by hand, so that every machine gets the same */
static uint64_t
hash_gram(const uint8_t *p)
{
	uint64_t a = dray_get_u64(p), b = dray_get_u32(p + 8);

	a = (a ^ b * MULT) * MULT;
	return a ^ a >> 32;
}

int
dray_match_share(const struct dray_matcher *m, unsigned *per_cent, struct dray_err *e)
{
	size_t bits = 1024, asked = 0, found = 0;
	uint8_t *map;

	*per_cent = 0;
	if (m->len < GRAM || m->ref_len < GRAM)
		return 0;
	while (bits < m->ref_len * 16)
		bits *= 2;
	if ((map = calloc(bits / 8, 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "matching: out of memory");
	for (size_t i = 0; i + GRAM <= m->ref_len; i++) {
		uint64_t h = hash_gram(m->ref + i) & (bits - 1);

		map[h / 8] |= (uint8_t)(1u << h % 8);
	}
	for (size_t i = 0; i + GRAM <= m->len; i += SAMPLE, asked++) {
		uint64_t h = hash_gram(m->src + i) & (bits - 1);

		found += map[h / 8] >> h % 8 & 1;
	}
	*per_cent = (unsigned)(found * 100 / asked);
	free(map);
	return 0;
}

/* --- suffixes ------------------------------------------------------------------------------------------------------ */

int
dray_match_suffixes(struct dray_matcher *m, struct dray_err *e)
{
	size_t n = m->ref_len;

	if ((m->sa = malloc((n + 1) * sizeof *m->sa)) == NULL || divsufsort(m->ref, m->sa, (saidx_t)n) != 0)
		return dray_fail(e, DRAY_E_IO, "matching: out of memory");
	if (n < BUCKETS_FROM)
		return 0;
	if ((m->bucket = calloc(65537, sizeof *m->bucket)) == NULL)
		return dray_fail(e, DRAY_E_IO, "matching: out of memory");
	/* the last suffix is one byte long and stands before all that begin with that byte */
	for (size_t i = 0; i < n; i++)
		m->bucket[(m->ref[i] << 8 | (i + 1 < n ? m->ref[i + 1] : 0)) + 1]++;
	for (size_t i = 0; i < 65536; i++)
		m->bucket[i + 1] += m->bucket[i];
	return 0;
}

static size_t
search(struct dray_matcher *m, size_t i, size_t *pos)
{
	const uint8_t *p = m->src + i;
	size_t left = m->len - i, best = 0, lo = 0, hi = m->ref_len;
	size_t below = 0, above = 0;	/* bytes that p shares with the suffix before lo, and with the one at hi */

	if (left < 2)
		return 0;
	if (m->bucket != NULL) {
		lo = m->bucket[p[0] << 8 | p[1]];
		hi = m->bucket[(p[0] << 8 | p[1]) + 1];
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2, at = (size_t)m->sa[mid];
		size_t max = min_of(NEAR, min_of(left, m->ref_len - at)), shared = min_of(below, above);
		size_t n = shared + same(p + shared, m->ref + at + shared, max - shared);	/* all between share as much */

		m->work += n - shared + 1;
		if (n > best) {
			best = n;
			*pos = at;
		}
		/* a suffix that ends is lower than one that goes on */
		if (n < max ? m->ref[at + n] < p[n] : max == m->ref_len - at && max < left)
			lo = mid + 1, below = n;
		else
			hi = mid, above = n;
	}
	return best;
}

size_t
dray_match_find(struct dray_matcher *m, size_t i, int64_t diag, size_t *pos)
{
	int64_t on = (int64_t)i + diag;

	while (m->at < m->n && m->covers[m->at].src + m->covers[m->at].len <= i)
		m->at++;
	if (m->at < m->n && m->covers[m->at].src <= i) {
		const struct dray_cover *c = &m->covers[m->at];

		*pos = c->ref + (i - c->src);
		return c->len - (i - c->src);
	}
	if (on >= 0 && (uint64_t)on < m->ref_len) {
		size_t n = same(m->src + i, m->ref + on, min_of(NEAR, min_of(m->len - i, m->ref_len - (size_t)on)));

		m->work += n + 1;
		if (n >= ALIGNED) {
			*pos = (size_t)on;
			return n;
		}
	}
	return m->sa != NULL ? search(m, i, pos) : 0;
}

void
dray_match_free(struct dray_matcher *m)
{
	free(m->covers);
	free(m->sa);
	free(m->bucket);
}
