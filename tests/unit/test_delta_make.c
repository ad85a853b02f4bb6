/*
 * test_delta_make.c - what the matcher makes comes back, and hostile texts cost it no more than a small multiple of their
 * length.
 */
#include <stdlib.h>
#include <time.h>

#include "test.h"

#include "dray/delta.h"
#include "dray/frame.h"

#include "delta_try.h"

/* Return: what dray_delta_make did; if it made something, that comes back */
static int
round_trip(const uint8_t *src, size_t len, const uint8_t *ref, size_t ref_len, struct dray_delta *d)
{
	uint8_t *a = delta_buf(src, len), *b = delta_buf(ref, ref_len), *out = delta_buf(NULL, len);
	struct dray_err e;
	int rc;

	memset(&e, 0, sizeof e);
	rc = dray_delta_make(a, len, b, ref_len, d, &e);
	CHECK(rc == 0 || rc == 1);
	if (rc == 0) {
		CHECK_EQ(d->exact + d->diff + d->extra, len);
		CHECK(d->len > 12 && d->len - len <= DRAY_DELTA_OVERHEAD(len));
		CHECK_EQ(delta_apply(d->raw, d->len, b, ref_len, out, len, &e), 0);
		CHECK(memcmp(out, src, len) == 0);
	}
	free(a);
	free(b);
	free(out);
	return rc;
}

/* old text with stretches changed, left out, put in and moved */
static size_t
edit(const uint8_t *old, size_t len, uint8_t *to, size_t cap, uint32_t *x)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < cap; ) {
		size_t run = 1 + delta_next(x) % 400;

		switch (delta_next(x) % 6) {
		case 0:
			i += run / 8;
			break;
		case 1:
			for (size_t k = 0; k < run / 8 && n < cap; k++)
				to[n++] = (uint8_t)delta_next(x);
			break;
		case 2:
			for (size_t k = 0, from = delta_next(x) % len; k < run && n < cap && from < len; k++)
				to[n++] = old[from++];
			break;
		default:
			for (size_t k = 0; k < run && n < cap && i < len; k++, i++)
				to[n++] = (uint8_t)(old[i] + (delta_next(x) % 9 == 0 ? delta_next(x) % 3 : 0));
		}
	}
	return n;
}

static void
edited_texts_come_back(void)
{
	static uint8_t old[30000], new[40000];
	struct dray_delta d = { 0 };
	uint32_t x = 5;
	unsigned made = 0;

	for (unsigned round = 0; round < 150; round++) {
		size_t len = 1 + delta_next(&x) % (round < 50 ? 200 : sizeof old), n;

		for (size_t i = 0; i < len; i++)
			old[i] = (uint8_t)(delta_next(&x) >> (round % 3 == 0 ? 14 : 0));
		n = edit(old, len, new, sizeof new, &x);
		if (n != 0)
			made += round_trip(new, n, old, len, &d) == 0;
	}
	CHECK(made > 120);
	dray_delta_free(&d);
}

static void
short_texts_come_back(void)
{
	struct dray_delta d = { 0 };
	uint8_t src[6], ref[5];

	/* all texts of up to 5 letters a, b against some bases: the beginning, one byte, no match, match at the end */
	for (size_t len = 1; len <= 5; len++)
		for (unsigned k = 0; k < 1u << len; k++)
			for (size_t ref_len = 1; ref_len <= 5; ref_len++)
				for (unsigned r = 0; r < 1u << ref_len; r += 3) {
					for (size_t i = 0; i < len; i++)
						src[i] = (uint8_t)('a' + (k >> i & 1));
					for (size_t i = 0; i < ref_len; i++)
						ref[i] = (uint8_t)('a' + (r >> i & 1));
					CHECK_EQ(round_trip(src, len, ref, ref_len, &d), 0);
				}
	dray_delta_free(&d);
}

static void
moved_code_costs_only_its_addresses(void)
{
	static uint8_t old[100000], new[100000 + 24];
	struct dray_delta d = { 0 };
	uint32_t x = 9;

	for (size_t i = 0; i < sizeof old; i++)
		old[i] = (uint8_t)delta_next(&x);
	memcpy(new, old, 50000);
	memset(new + 50000, 'n', 24);
	memcpy(new + 50024, old + 50000, 50000);
	for (size_t i = 10; i < sizeof new; i += 37)	/* no stretch of 63 equal bytes is left: the suffix array finds the rest */
		new[i]++;
	CHECK_EQ(round_trip(new, sizeof new, old, sizeof old, &d), 0);
	CHECK(d.steps <= 4);
	CHECK(d.extra < 40);
	CHECK(d.diff < 2800);
	dray_delta_free(&d);
}

static void
a_text_that_is_not_in_the_base_is_not_worth_it(void)
{
	static uint8_t old[20000], new[20000];
	struct dray_delta d = { 0 };
	uint32_t x = 2;

	for (size_t i = 0; i < sizeof old; i++) {
		old[i] = (uint8_t)delta_next(&x);
		new[i] = (uint8_t)delta_next(&x);
	}
	CHECK_EQ(round_trip(new, sizeof new, old, sizeof old, &d), 1);
	dray_delta_free(&d);
}

static void
the_same_input_gives_the_same_bytes(void)
{
	static uint8_t old[30000], new[40000], *again;
	struct dray_delta a = { 0 }, b = { 0 };
	struct dray_err e = { 0 };
	uint32_t x = 77;
	size_t n;

	for (size_t i = 0; i < sizeof old; i++)
		old[i] = (uint8_t)(delta_next(&x) >> 12);
	n = edit(old, sizeof old, new, sizeof new, &x);
	again = delta_buf(new, n);	/* at another address, with a used delta */
	CHECK_EQ(dray_delta_make(old, 1000, old, 900, &b, &e), 0);
	CHECK_EQ(dray_delta_make(new, n, old, sizeof old, &a, &e), 0);
	CHECK_EQ(dray_delta_make(again, n, old, sizeof old, &b, &e), 0);
	CHECK_EQ(a.len, b.len);
	CHECK(memcmp(a.raw, b.raw, a.len) == 0);
	free(again);
	dray_delta_free(&a);
	dray_delta_free(&b);
}

/* --- hostile texts ------------------------------------------------------------------------------------------------- */

static void
zeros(uint8_t *p, size_t len, uint32_t seed)
{
	memset(p, 0, len);
	p[len / 2] = (uint8_t)seed;
}

static void
periodic(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i % (31 + seed) % 251);
}

static void
fibonacci(uint8_t *p, size_t len, uint32_t seed)
{
	size_t a = 1, b = 2;

	p[0] = 'a';
	p[1] = 'b';
	while (b < len) {
		size_t n = a < len - b ? a : len - b;

		memcpy(p + b, p, n);
		a = b;
		b += n;
		if (n < a && b >= len)
			break;
	}
	p[len - 1 - seed] ^= 1;
}

/* runs of 31 bytes, too short for a block to be equal, that begin everywhere alike */
static void
almost_blocks(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = i % 32 == 31 ? (uint8_t)(i / 32 * 7 + seed) : (uint8_t)(i % 32);
}

/* two letters at random: many long and hardly any good matches */
static void
two_letters(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)('a' + (delta_next(&seed) >> 9 & 1));
}

/* short runs of zeros between counters: each position agrees a bit with any alignment */
static void
sparse(uint8_t *p, size_t len, uint32_t seed)
{
	memset(p, 0, len);
	for (size_t i = 0; i < len; i += 5 + delta_next(&seed) % 9)
		p[i] = (uint8_t)delta_next(&seed);
}

static void
hostile_texts_cost_a_small_multiple_of_their_length(void)
{
	static const struct { const char *name; void (*fill)(uint8_t *p, size_t len, uint32_t seed); } texts[] = {
		{ "zeros", zeros }, { "periodic", periodic }, { "fibonacci", fibonacci }, { "almost blocks", almost_blocks },
		{ "two letters", two_letters }, { "sparse", sparse },
	};
	enum { SIZE = 1 << 17, N = sizeof texts / sizeof texts[0] };
	uint8_t *src = malloc(SIZE), *ref = malloc(SIZE);
	struct dray_delta d = { 0 };
	clock_t start = clock();

	if (src == NULL || ref == NULL)
		abort();
	for (size_t a = 0; a < N; a++)
		for (size_t b = 0; b < N; b++)
			for (size_t len = SIZE / 4; len <= SIZE; len *= 4) {
				texts[a].fill(src, len, 1);
				texts[b].fill(ref, len, 2);
				memcpy(src, ref, len / 8);	/* so much is in the base that it is gone into */
				round_trip(src, len, ref, len, &d);
				CHECK(d.work <= 300 * len);
				if (d.work > 300 * len)
					printf("# %s against %s, %zu bytes: %" PRIu64 "\n", texts[a].name, texts[b].name, len, d.work);
			}
	/* and what is not counted, above all the suffix array: generous, for slow machines and sanitizers */
	CHECK((clock() - start) / CLOCKS_PER_SEC < 60);
	free(src);
	free(ref);
	dray_delta_free(&d);
}

int
main(void)
{
	RUN(edited_texts_come_back);
	RUN(short_texts_come_back);
	RUN(moved_code_costs_only_its_addresses);
	RUN(a_text_that_is_not_in_the_base_is_not_worth_it);
	RUN(the_same_input_gives_the_same_bytes);
	RUN(hostile_texts_cost_a_small_multiple_of_their_length);
	return test_done();
}
