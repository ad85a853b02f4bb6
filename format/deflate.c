/*
 * deflate.c - which bytes of a deflate stream stand for which earlier ones, as zlib and GNU gzip find them: chains of places
 * with the same three bytes, and a match is only taken when none longer begins one byte later. Source: RFC 1951, section 4,
 * and what the programs do; their windows, ends of blocks and odd corners are kept, because each bit counts.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/deflate.h"

#include "deflate_priv.h"

enum {
	WINDOW = 32768,
	AHEAD = DEF_MATCH_MAX + DEF_MATCH_MIN + 1,	/* bytes after a place that are looked at */
	FAR = WINDOW - AHEAD,		/* of a match, at most */
	SHORT_FAR = 4096,		/* of one of three bytes */
	HASHES = 65536,
	NOWHERE = 0,			/* also the very first place: no match leads there */
	GUESS_EVERY = 4096,		/* symbols, after which GNU gzip thinks about the end of a block */
};

struct how {
	const char *name;
	bool gnu;
	uint16_t good, lazy, nice, chain;	/* of the level; zlib.h, deflateTune */
	uint8_t hash_bits, hash_shift;
	uint16_t symbols;		/* of a block */
};

static const struct how ways[DRAY_DEFLATE_LAST + 1] = {
	[DRAY_DEFLATE_GNU_9] = { "gzip -9", true, 32, 258, 258, 4096, 15, 5, 32767 },
	[DRAY_DEFLATE_GNU_6] = { "gzip -6", true, 8, 16, 128, 128, 15, 5, 32767 },
	[DRAY_DEFLATE_ZLIB_9] = { "zlib 9", false, 32, 258, 258, 4096, 15, 5, 16383 },
	[DRAY_DEFLATE_ZLIB_6] = { "zlib 6", false, 8, 16, 128, 128, 15, 5, 16383 },
	[DRAY_DEFLATE_ZLIB_9_LARGE] = { "zlib 9, memLevel 9", false, 32, 258, 258, 4096, 16, 6, 32767 },
	[DRAY_DEFLATE_ZLIB_6_LARGE] = { "zlib 6, memLevel 9", false, 8, 16, 128, 128, 16, 6, 32767 },
};

struct dray_deflater {
	struct def_block block;
	struct how how;
	/* two halves; when the place is near the end of the second one, that becomes the first one */
	uint8_t window[2 * WINDOW + AHEAD];
	uint16_t head[HASHES];		/* by hash: the latest place */
	uint16_t prev[WINDOW];		/* by place: the one before of the same hash */
	const uint8_t *src;
	size_t left;			/* of it, not in the window yet */
	uint32_t at;			/* place in the window */
	uint32_t ahead;			/* bytes from there on */
	int32_t found;			/* place of the latest match, from where nothing longer was found since */
	int32_t begin;			/* of the block; below 0: it has left the window */
	bool ended;			/* GNU gzip has seen the end of the input */
	uint64_t steps, steps_max;
};

int
dray_deflater_new(struct dray_deflater **out, struct dray_err *e)
{
	if ((*out = malloc(sizeof(**out))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	(*out)->steps = 0;
	return 0;
}

void
dray_deflater_free(struct dray_deflater *d)
{
	free(d);
}

/* --- window -------------------------------------------------------------------------------------------------------- */

static void
slide_places(uint16_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = v[i] >= WINDOW ? (uint16_t)(v[i] - WINDOW) : NOWHERE;
}

/* what stood in the second half stays there until it is read over: GNU gzip compares with that behind the end */
static void
slide(struct dray_deflater *d)
{
	memcpy(d->window, d->window + WINDOW, WINDOW);
	slide_places(d->head, HASHES);
	slide_places(d->prev, WINDOW);
	d->at -= WINDOW;
	d->found -= WINDOW;
	d->begin -= WINDOW;
}

static void
fill(struct dray_deflater *d)
{
	while (d->ahead < AHEAD && !d->ended) {
		size_t n;

		if (d->at >= WINDOW + FAR)
			slide(d);
		n = 2 * (size_t)WINDOW - d->at - d->ahead;
		n = n < d->left ? n : d->left;
		if (n > 0)
			memcpy(d->window + d->at + d->ahead, d->src, n);
		d->src += n;
		d->left -= n;
		d->ahead += (uint32_t)n;
		if (n > 0)
			continue;
		if (!d->how.gnu)
			return;
		d->ended = true;
		memset(d->window + d->at + d->ahead, 0, DEF_MATCH_MIN - 1);
	}
}

/* remember the place @at. Return: the latest one before it with the same hash */
static uint32_t
insert(struct dray_deflater *d, uint32_t at)
{
	const uint8_t *p = d->window + at;
	unsigned shift = d->how.hash_shift, h;
	uint32_t last;

	h = ((unsigned)p[0] << 2 * shift ^ (unsigned)p[1] << shift ^ p[2]) & ((1u << d->how.hash_bits) - 1);
	last = d->head[h];
	d->prev[at % WINDOW] = (uint16_t)last;
	d->head[h] = (uint16_t)at;
	return last;
}

/* --- matches ------------------------------------------------------------------------------------------------------- */

static unsigned
common(const uint8_t *a, const uint8_t *b, unsigned max)
{
	unsigned n = 0;

	for (; max - n >= 8; n += 8)
		if (memcmp(a + n, b + n, 8) != 0)
			break;
	while (n < max && a[n] == b[n])
		n++;
	return n;
}

/* along the chain from @from on: is there a match longer than @best here? d->found: its place, if so. Return: its length, or @best */
static unsigned
longest(struct dray_deflater *d, uint32_t from, unsigned best)
{
	const struct how *how = &d->how;
	const uint8_t *here = d->window + d->at;
	uint32_t limit = d->at > FAR ? d->at - FAR : NOWHERE;
	unsigned chain = best >= how->good ? how->chain >> 2 : how->chain, max = DEF_MATCH_MAX, nice = how->nice;

	if (!how->gnu && max > d->ahead)
		max = d->ahead;
	nice = nice < max ? nice : max;
	if (best >= max)
		return best;
	do {
		const uint8_t *there = d->window + from;
		unsigned len;

		d->steps++;
		if (there[best] == here[best] && there[best - 1] == here[best - 1] && there[0] == here[0] &&
		    there[1] == here[1]) {
			len = common(there, here, max);
			d->steps += len / 8;
			if (len > best) {
				d->found = (int32_t)from;
				best = len;
				if (len >= nice)
					break;
			}
		}
		from = d->prev[from % WINDOW];
	} while (from > limit && --chain != 0);
	return best < d->ahead ? best : d->ahead;
}

/* a match that is longer than @before, the one that begins a byte earlier. Return: its length, or less */
static unsigned
look(struct dray_deflater *d, uint32_t last, unsigned before)
{
	unsigned len;

	if (last == NOWHERE || before >= d->how.lazy || d->at - last > FAR || d->at > 2 * WINDOW - AHEAD)
		return DEF_MATCH_MIN - 1;
	len = longest(d, last, before);
	return len == DEF_MATCH_MIN && (int32_t)d->at - d->found > SHORT_FAR ? DEF_MATCH_MIN - 1 : len;
}

/* --- blocks -------------------------------------------------------------------------------------------------------- */

/* is the block full? GNU gzip also ends one that has shrunk well and has few matches */
static bool
is_full(const struct dray_deflater *d)
{
	const struct def_block *b = &d->block;

	if (d->how.gnu && b->n % GUESS_EVERY == 0) {
		uint64_t out = ((uint64_t)b->n * 8 + dray_def_distance_bits(b)) / 8, in = (uint64_t)((int64_t)d->at - d->begin);

		if (b->matches < b->n / 2 && out < in / 2)
			return true;
	}
	return b->n == d->how.symbols;
}

static void
flush(struct dray_deflater *d, bool last)
{
	dray_def_flush(&d->block, d->begin >= 0 ? d->window + d->begin : NULL, (size_t)((int64_t)d->at - d->begin), last);
	d->begin = (int32_t)d->at;
}

/* @len bytes from the place before this one on are a match: go behind it */
static void
skip(struct dray_deflater *d, unsigned len)
{
	uint32_t end = d->at + d->ahead;

	d->ahead -= len - 1;
	for (len -= 2; len > 0; len--) {
		d->at++;
		if (d->how.gnu || d->at + DEF_MATCH_MIN <= end)
			insert(d, d->at);
	}
	d->at++;
}

static void
run(struct dray_deflater *d)
{
	unsigned len = DEF_MATCH_MIN - 1, before;
	int32_t before_found;
	uint32_t last;
	bool waiting = false, full;	/* waiting: the byte before this place belongs to nothing yet */

	for (fill(d); d->ahead != 0 && !d->block.failed && d->steps <= d->steps_max; fill(d)) {
		last = d->how.gnu || d->ahead >= DEF_MATCH_MIN ? insert(d, d->at) : NOWHERE;
		before = len;
		before_found = d->found;
		len = look(d, last, before);
		if (before >= DEF_MATCH_MIN && len <= before) {
			dray_def_match(&d->block, before, (unsigned)((int32_t)d->at - 1 - before_found));
			full = is_full(d);
			skip(d, before);
			waiting = false;
			len = DEF_MATCH_MIN - 1;
			if (full)
				flush(d, false);
			continue;
		}
		if (waiting) {
			dray_def_literal(&d->block, d->window[d->at - 1]);
			if (is_full(d))
				flush(d, false);
		}
		waiting = true;
		d->at++;
		d->ahead--;
	}
	if (waiting)
		dray_def_literal(&d->block, d->window[d->at - 1]);
	flush(d, true);
}

static bool
make(struct dray_deflater *d, unsigned id, const uint8_t *src, size_t len, uint8_t *dst, const uint8_t *want, size_t cap)
{
	d->how = ways[id];
	memset(d->window, 0, sizeof(d->window));
	memset(d->head, 0, sizeof(d->head));
	memset(d->prev, 0, sizeof(d->prev));
	d->src = src;
	d->left = len;
	d->at = d->ahead = 0;
	d->begin = d->found = 0;
	d->ended = false;
	d->steps = 0;
	d->steps_max = (uint64_t)len * DRAY_DEFLATE_STEPS + DRAY_DEFLATE_STEPS_FREE;
	dray_def_begin(&d->block, dst, want, cap);
	run(d);
	return !d->block.failed && d->ahead == 0 && d->left == 0;
}

bool
dray_deflate(struct dray_deflater *d, unsigned id, const uint8_t *src, size_t len, uint8_t *dst, size_t cap, size_t *out)
{
	bool done = make(d, id, src, len, dst, NULL, cap);

	*out = d->block.out;
	return done;
}

bool
dray_deflate_gives(struct dray_deflater *d, unsigned id, const uint8_t *src, size_t len, const uint8_t *want, size_t want_len)
{
	return make(d, id, src, len, NULL, want, want_len) && d->block.out == want_len;
}

const char *
dray_deflate_name(unsigned id)
{
	return ways[id].name;
}

uint64_t
dray_deflate_steps(const struct dray_deflater *d)
{
	return d->steps;
}
