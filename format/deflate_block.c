/*
 * deflate_block.c - how a block of a deflate stream is written: by which codes, and bit by bit. Which of several equally good
 * Huffman codes is taken, and when stored or fixed blocks are, is what zlib and GNU gzip do. Source: RFC 1951.
 */
#include <string.h>

#include "deflate_priv.h"

enum {
	END = 256,			/* symbol of the end of a block */
	LEN_MAX = 15, LEN_LEN_MAX = 7,	/* longest codes: of symbols, of lengths of codes */
	AGAIN = 16, ZEROS = 17, MANY_ZEROS = 18,	/* RFC 1951, 3.2.7 */
	STORED_MAX = 65535,
};

/* RFC 1951, 3.2.5 */
static const uint16_t len_base[29] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99,
	115, 131, 163, 195, 227, 258 };
static const uint8_t len_extra[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
static const uint16_t dist_base[30] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025,
	1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
static const uint8_t dist_extra[30] = { 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
	12, 13, 13 };
static const uint8_t len_len_extra[19] = { [AGAIN] = 2, [ZEROS] = 3, [MANY_ZEROS] = 7 };
static const uint8_t len_len_order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };

static unsigned
log2_of(unsigned v)
{
	unsigned n = 0;

	while (v >>= 1)
		n++;
	return n;
}

/* @len: less DEF_MATCH_MIN */
static unsigned
len_symbol(unsigned len)
{
	unsigned k;

	if (len < 8)
		return len;
	if (len == DEF_MATCH_MAX - DEF_MATCH_MIN)
		return 28;
	k = log2_of(len);
	return 4 * (k - 1) + (len >> (k - 2) & 3);
}

static unsigned
dist_symbol(unsigned dist)
{
	unsigned k;

	if (--dist < 4)
		return dist;
	k = log2_of(dist);
	return 2 * k + (dist >> (k - 1) & 1);
}

/* fixed codes: RFC 1951, 3.2.6 */
static unsigned
fixed_len(unsigned lit)
{
	return lit < 144 ? 8 : lit < 256 ? 9 : lit < 280 ? 7 : 8;
}

enum { FIXED_DIST_LEN = 5 };

/* --- bits ---------------------------------------------------------------------------------------------------------- */

static void
put_byte(struct def_block *b, uint8_t c)
{
	if (b->out == b->cap || (b->want != NULL && b->want[b->out] != c)) {
		b->failed = true;
		return;
	}
	if (b->want == NULL)
		b->dst[b->out] = c;
	b->out++;
}

static void
put_bits(struct def_block *b, unsigned v, unsigned n)
{
	b->acc |= (uint64_t)v << b->acc_bits;
	b->acc_bits += n;
	for (; b->acc_bits >= 8; b->acc_bits -= 8, b->acc >>= 8)
		put_byte(b, (uint8_t)b->acc);
}

static void
to_byte(struct def_block *b)
{
	put_bits(b, 0, (8 - b->acc_bits) & 7);
}

/* the first bit of a code is written first */
static unsigned
mirror(unsigned code, unsigned len)
{
	unsigned out = 0;

	for (; len > 0; len--, code >>= 1)
		out = out << 1 | (code & 1);
	return out;
}

/* --- Huffman codes ------------------------------------------------------------------------------------------------- */

static bool
is_rarer(const struct def_code *c, const struct def_heap *h, int a, int b)
{
	return c->freq[a] < c->freq[b] || (c->freq[a] == c->freq[b] && h->depth[a] <= h->depth[b]);
}

/* let the node at @k sink until none below it is rarer */
static void
sink(const struct def_code *c, struct def_heap *h, int k)
{
	int v = h->v[k];

	for (int j = 2 * k; j <= h->n; k = j, j *= 2) {
		if (j < h->n && is_rarer(c, h, h->v[j + 1], h->v[j]))
			j++;
		if (is_rarer(c, h, v, h->v[j]))
			break;
		h->v[k] = h->v[j];
	}
	h->v[k] = v;
}

static void
take_all_used(struct def_code *c, struct def_heap *h, int symbols)
{
	h->n = 0;
	c->last = -1;
	for (int i = 0; i < symbols; i++) {
		c->len[i] = 0;
		if (c->freq[i] == 0)
			continue;
		h->v[++h->n] = c->last = i;
		h->depth[i] = 0;
	}
}

/* join the two rarest until one is left: the parents of all nodes */
static void
join(struct def_code *c, struct def_heap *h, int symbols)
{
	int node = symbols;

	h->done = DEF_NODES;
	for (int i = h->n / 2; i >= 1; i--)
		sink(c, h, i);
	do {
		int a = h->v[1], b;

		h->v[1] = h->v[h->n--];
		sink(c, h, 1);
		b = h->v[1];
		h->v[--h->done] = a;
		h->v[--h->done] = b;
		c->freq[node] = (uint16_t)(c->freq[a] + c->freq[b]);
		h->depth[node] = (uint8_t)((h->depth[a] >= h->depth[b] ? h->depth[a] : h->depth[b]) + 1);
		c->parent[a] = c->parent[b] = (uint16_t)node;
		h->v[1] = node++;
		sink(c, h, 1);
	} while (h->n >= 2);
	h->v[--h->done] = h->v[1];
}

/* lengths from parents; none above @max: what would be longer is made up for by others, the most frequent of the longest */
static void
set_lengths(struct def_code *c, const struct def_heap *h, int max)
{
	uint8_t depth[DEF_NODES];
	int count[LEN_MAX + 1] = { 0 }, above = 0, at = DEF_NODES;

	depth[h->v[h->done]] = 0;
	for (int i = h->done + 1; i < DEF_NODES; i++) {
		int n = h->v[i], len = depth[c->parent[n]] + 1;

		if (len > max) {
			len = max;
			above++;
		}
		depth[n] = (uint8_t)len;
		if (n > c->last)
			continue;	/* no symbol */
		c->len[n] = (uint8_t)len;
		count[len]++;
	}
	if (above == 0)
		return;
	for (; above > 0; above -= 2) {
		int len = max - 1;

		while (count[len] == 0)
			len--;
		count[len]--;
		count[len + 1] += 2;
		count[max]--;
	}
	for (int len = max; len > 0; len--)
		for (int n = count[len]; n > 0;) {
			int m = h->v[--at];

			if (m > c->last)
				continue;
			c->len[m] = (uint8_t)len;
			n--;
		}
}

static void
set_bits(struct def_code *c)
{
	unsigned next[LEN_MAX + 1] = { 0 }, count[LEN_MAX + 1] = { 0 };

	for (int i = 0; i <= c->last; i++)
		count[c->len[i]]++;
	count[0] = 0;
	for (int len = 1; len <= LEN_MAX; len++)
		next[len] = (next[len - 1] + count[len - 1]) << 1;
	for (int i = 0; i <= c->last; i++)
		if (c->len[i] != 0)
			c->bits[i] = (uint16_t)mirror(next[c->len[i]]++, c->len[i]);
}

/* a code has two symbols at least; those that nobody uses are not counted in b->own_bits, nor in b->fixed_bits */
static void
make_code(struct def_block *b, struct def_code *c, int symbols, int max, int *unused)
{
	struct def_heap *h = &b->heap;

	take_all_used(c, h, symbols);
	*unused = 0;
	while (h->n < 2) {
		int n = c->last < 2 ? ++c->last : 0;

		h->v[++h->n] = n;
		c->freq[n] = 1;
		h->depth[n] = 0;
		++*unused;
	}
	join(c, h, symbols);
	set_lengths(c, h, max);
	set_bits(c);
}

/* --- lengths of codes ---------------------------------------------------------------------------------------------- */

static void
len_code(struct def_block *b, int sym, unsigned extra, bool put)
{
	if (!put) {
		b->len.freq[sym]++;
		return;
	}
	put_bits(b, b->len.bits[sym], b->len.len[sym]);
	put_bits(b, extra, len_len_extra[sym]);
}

/* the lengths of a code as runs; @put: written, else counted */
static void
runs(struct def_block *b, const struct def_code *c, bool put)
{
	int before = -1;

	for (int i = 0, n; i <= c->last; i += n) {
		int len = c->len[i], most = len == 0 ? 138 : len == before ? 6 : 7, least = len == 0 || len == before ? 3 : 4;

		for (n = 1; n < most && i + n <= c->last && c->len[i + n] == len; n++)
			;
		if (n < least) {
			for (int k = 0; k < n; k++)
				len_code(b, len, 0, put);
		} else if (len == 0) {
			len_code(b, n <= 10 ? ZEROS : MANY_ZEROS, (unsigned)(n <= 10 ? n - 3 : n - 11), put);
		} else {
			if (len != before)
				len_code(b, len, 0, put);
			len_code(b, AGAIN, (unsigned)(len != before ? n - 4 : n - 3), put);
		}
		before = len;
	}
}

/* --- a block ------------------------------------------------------------------------------------------------------- */

static void
empty(struct def_block *b)
{
	memset(b->lit.freq, 0, sizeof(b->lit.freq));
	memset(b->dist.freq, 0, sizeof(b->dist.freq));
	memset(b->len.freq, 0, sizeof(b->len.freq));
	b->lit.freq[END] = 1;
	b->n = b->matches = 0;
}

void
dray_def_begin(struct def_block *b, uint8_t *dst, const uint8_t *want, size_t cap)
{
	b->acc = 0;
	b->acc_bits = 0;
	b->dst = dst;
	b->want = want;
	b->out = 0;
	b->cap = cap;
	b->failed = false;
	empty(b);
}

void
dray_def_literal(struct def_block *b, uint8_t c)
{
	b->at[b->n] = 0;
	b->sym[b->n++] = c;
	b->lit.freq[c]++;
}

void
dray_def_match(struct def_block *b, unsigned len, unsigned dist)
{
	b->at[b->n] = (uint16_t)dist;
	b->sym[b->n++] = (uint8_t)(len - DEF_MATCH_MIN);
	b->matches++;
	b->lit.freq[END + 1 + len_symbol(len - DEF_MATCH_MIN)]++;
	b->dist.freq[dist_symbol(dist)]++;
}

uint64_t
dray_def_distance_bits(const struct def_block *b)
{
	uint64_t sum = 0;

	for (int i = 0; i < DEF_DISTANCES; i++)
		sum += (uint64_t)b->dist.freq[i] * (5u + dist_extra[i]);
	return sum;
}

/* codes of its own: make them and count what they take, and what the fixed ones would. Return: lengths of lengths to send */
static int
weigh(struct def_block *b)
{
	int unused, n = DEF_LENGTHS - 1;

	b->own_bits = b->fixed_bits = 3;
	make_code(b, &b->lit, DEF_LITERALS, LEN_MAX, &unused);
	for (int i = 0; i <= b->lit.last; i++) {
		unsigned extra = i > END ? len_extra[i - END - 1] : 0;

		b->own_bits += (uint64_t)b->lit.freq[i] * (b->lit.len[i] + extra);
		b->fixed_bits += (uint64_t)b->lit.freq[i] * (fixed_len((unsigned)i) + extra);
	}
	b->own_bits -= (unsigned)unused;	/* it is counted with one bit */
	b->fixed_bits -= (unsigned)unused * fixed_len(0);	/* END is used, so it is 0 that is not */
	make_code(b, &b->dist, DEF_DISTANCES, LEN_MAX, &unused);
	for (int i = 0; i <= b->dist.last; i++) {
		b->own_bits += (uint64_t)b->dist.freq[i] * (b->dist.len[i] + (unsigned)dist_extra[i]);
		b->fixed_bits += (uint64_t)b->dist.freq[i] * (FIXED_DIST_LEN + (unsigned)dist_extra[i]);
	}
	b->own_bits -= (unsigned)unused;
	b->fixed_bits -= (unsigned)unused * FIXED_DIST_LEN;
	runs(b, &b->lit, false);
	runs(b, &b->dist, false);
	make_code(b, &b->len, DEF_LENGTHS, LEN_LEN_MAX, &unused);
	for (int i = 0; i <= b->len.last; i++)
		b->own_bits += (uint64_t)b->len.freq[i] * (b->len.len[i] + (unsigned)len_len_extra[i]);
	b->own_bits -= (unsigned)unused;
	while (n >= 3 && b->len.len[len_len_order[n]] == 0)
		n--;
	b->own_bits += 3u * ((unsigned)n + 1) + 5 + 5 + 4;
	return n + 1;
}

static void
put_codes(struct def_block *b, int lengths)
{
	put_bits(b, (unsigned)b->lit.last + 1 - 257, 5);
	put_bits(b, (unsigned)b->dist.last + 1 - 1, 5);
	put_bits(b, (unsigned)lengths - 4, 4);
	for (int i = 0; i < lengths; i++)
		put_bits(b, b->len.len[len_len_order[i]], 3);
	runs(b, &b->lit, true);
	runs(b, &b->dist, true);
}

/* put the fixed codes in the place of its own ones */
static void
fix_codes(struct def_block *b)
{
	for (unsigned i = 0; i < DEF_LITERALS; i++) {
		unsigned code = i < 144 ? 0x30 + i : i < 256 ? 0x190 + i - 144 : i < 280 ? i - 256 : 0xc0 + i - 280;

		b->lit.len[i] = (uint8_t)fixed_len(i);
		b->lit.bits[i] = (uint16_t)mirror(code, b->lit.len[i]);
	}
	for (unsigned i = 0; i < DEF_DISTANCES; i++) {
		b->dist.len[i] = FIXED_DIST_LEN;
		b->dist.bits[i] = (uint16_t)mirror(i, FIXED_DIST_LEN);
	}
}

static void
put_symbols(struct def_block *b)
{
	for (uint32_t i = 0; i < b->n && !b->failed; i++) {
		unsigned s = b->sym[i], k;

		if (b->at[i] == 0) {
			put_bits(b, b->lit.bits[s], b->lit.len[s]);
			continue;
		}
		k = len_symbol(s);
		put_bits(b, b->lit.bits[END + 1 + k], b->lit.len[END + 1 + k]);
		put_bits(b, s + DEF_MATCH_MIN - len_base[k], len_extra[k]);
		k = dist_symbol(b->at[i]);
		put_bits(b, b->dist.bits[k], b->dist.len[k]);
		put_bits(b, b->at[i] - (unsigned)dist_base[k], dist_extra[k]);
	}
	put_bits(b, b->lit.bits[END], b->lit.len[END]);
}

static void
put_stored(struct def_block *b, const uint8_t *raw, size_t len)
{
	to_byte(b);
	put_bits(b, (unsigned)len, 16);
	put_bits(b, ~(unsigned)len & 0xffff, 16);
	for (size_t i = 0; i < len && !b->failed; i++)
		put_byte(b, raw[i]);
}

void
dray_def_flush(struct def_block *b, const uint8_t *raw, size_t raw_len, bool last)
{
	int lengths = weigh(b);
	uint64_t own = (b->own_bits + 7) / 8, fixed = (b->fixed_bits + 7) / 8, least = fixed <= own ? fixed : own;

	if (raw != NULL && raw_len + 4 <= least) {
		put_bits(b, last, 3);
		if (raw_len > STORED_MAX)
			b->failed = true;	/* what the programs do then is of no use to anybody */
		else
			put_stored(b, raw, raw_len);
	} else if (fixed == least) {
		put_bits(b, 2u + last, 3);
		fix_codes(b);
		put_symbols(b);
	} else {
		put_bits(b, 4u + last, 3);
		put_codes(b, lengths);
		put_symbols(b);
	}
	if (last)
		to_byte(b);
	empty(b);
}
