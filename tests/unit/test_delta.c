/*
 * test_delta.c - inside an addcopy frame: every number that may be wrong, told by an oracle of its own; what the matcher
 * makes comes back, and hostile texts cost it no more than a small multiple of their length.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "test.h"

#include "dray/delta.h"
#include "dray/frame.h"
#include "dray/num.h"

static uint32_t
next(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* a copy of exactly this size, so that a sanitizer sees the first byte beyond it */
static uint8_t *
exactly(const void *p, size_t len)
{
	uint8_t *q = malloc(len != 0 ? len : 1);

	if (q == NULL)
		abort();
	if (p != NULL && len != 0)
		memcpy(q, p, len);
	return q;
}

static int
apply(const uint8_t *raw, size_t raw_len, const uint8_t *ref, size_t ref_len, uint8_t *out, size_t out_len,
    struct dray_err *e)
{
	uint8_t *a = exactly(raw, raw_len), *b = exactly(ref, ref_len), *c = exactly(NULL, out_len);
	int rc;

	memset(e, 0, sizeof *e);
	rc = dray_delta_apply(a, raw_len, b, ref_len, c, out_len, e);
	if (rc == 0)
		memcpy(out, c, out_len);
	else
		CHECK_EQ(e->code, DRAY_E_FORMAT);
	free(a);
	free(b);
	free(c);
	return rc;
}

static void
the_vector_of_the_spec_comes_out(void)
{
	static const uint8_t raw[] = {
		0x09, 0, 0, 0, 0x04, 0, 0, 0, 0x01, 0, 0, 0,		/* 9 control, 4 difference, 1 extra */
		0x02, 0x00, 0x02, 0x01, 0x01, 0x03, 0x01, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x02,
		0x21,
	};
	struct dray_err e;
	uint8_t out[5];

	CHECK_EQ(apply(raw, sizeof raw, (const uint8_t *)"abcd", 4, out, 5, &e), 0);
	CHECK(memcmp(out, "abd!e", 5) == 0);
}

/* --- hostile numbers ----------------------------------------------------------------------------------------------- */

enum { STEPS = 3, REF = 64, OUT = 50, DIFF = 38, EXTRA = 12 };

struct prog { uint64_t add[STEPS], copy[STEPS]; int64_t seek[STEPS]; };

static const struct prog good = { { 20, 10, 8 }, { 5, 7, 0 }, { 10, -30, 0 } };

static uint8_t *
put(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static size_t
write_prog(const struct prog *g, uint8_t *raw)
{
	uint8_t *p = raw + 12;

	for (size_t i = 0; i < STEPS; i++) {
		p = put(put(p, g->add[i]), g->copy[i]);
		p = put(p, g->seek[i] < 0 ? (uint64_t)-(g->seek[i] + 1) * 2 + 1 : (uint64_t)g->seek[i] * 2);
	}
	dray_put_u32(raw, (uint32_t)(p - raw) - 12);
	dray_put_u32(raw + 4, DIFF);
	dray_put_u32(raw + 8, EXTRA);
	for (size_t i = 0; i < OUT; i++)
		*p++ = (uint8_t)i;
	return (size_t)(p - raw);
}

/* what must be said, by arithmetic that cannot overflow: 64 bits of mantissa hold each of these numbers */
static const char *
oracle(const struct prog *g)
{
	long double pos = 0, diff = DIFF, extra = EXTRA;

	for (size_t i = 0; i < STEPS; i++) {
		if (g->add[i] == 0 && g->copy[i] == 0)
			return "a step makes nothing";
		if (pos + (long double)g->add[i] > REF)
			return " of a base of 64";
		if ((long double)g->add[i] > diff)
			return " difference bytes of ";
		if ((long double)g->copy[i] > extra)
			return " extra bytes of ";
		diff -= (long double)g->add[i];
		extra -= (long double)g->copy[i];
		pos += (long double)g->add[i] + (long double)g->seek[i];
		if (pos < 0 || pos > REF)
			return "a seek leaves the base of 64 bytes";
	}
	return diff == 0 && extra == 0 ? NULL : "control ends with ";
}

static void
compare_with_oracle(const struct prog *g, const char *field, uint64_t value)
{
	const char *want = oracle(g);
	uint8_t raw[512], ref[REF], out[OUT];
	unsigned before = test_bad;
	struct dray_err e;
	int rc;

	memset(ref, 7, sizeof ref);
	rc = apply(raw, write_prog(g, raw), ref, REF, out, OUT, &e);
	CHECK_EQ(rc, want == NULL ? 0 : -1);
	if (want != NULL)
		CHECK_HAS(e.text, want);
	if (test_bad != before)
		printf("# %s = %" PRIu64 "\n", field, value);
}

static void
every_control_number_is_checked(void)
{
	/* len: the base, the output, both parts, and what is left of each at that step */
	static const int64_t lens[] = { 20, 10, 8, 5, 7, 30, 34, 35, 44, REF, OUT, DIFF, EXTRA };
	int64_t values[3 * 13 + 8], n = 0;

	for (size_t i = 0; i < 13; i++)
		for (int64_t d = -1; d <= 1; d++)
			values[n++] = lens[i] + d;
	values[n++] = 0;
	values[n++] = 1;
	values[n++] = -1;
	values[n++] = INT32_MAX;
	values[n++] = INT64_C(1) << 31;
	values[n++] = INT64_C(1) << 32;
	values[n++] = INT64_MAX;
	values[n++] = INT64_MIN;
	CHECK(oracle(&good) == NULL);
	for (size_t i = 0; i < STEPS; i++)
		for (int64_t k = 0; k < n; k++) {
			struct prog g = good;

			g.add[i] = (uint64_t)values[k];
			compare_with_oracle(&g, "add", (uint64_t)values[k]);
			g = good;
			g.copy[i] = (uint64_t)values[k];
			compare_with_oracle(&g, "copy", (uint64_t)values[k]);
			g = good;
			g.seek[i] = values[k];
			compare_with_oracle(&g, "seek", (uint64_t)values[k]);
			g.seek[i] = -values[k / 2];	/* also the other way */
			compare_with_oracle(&g, "seek", (uint64_t)-values[k / 2]);
			/* two at once, so that sums still fit */
			g = good;
			g.add[i] = (uint64_t)values[k];
			g.add[(i + 1) % STEPS] = DIFF - good.add[(i + 2) % STEPS] - (uint64_t)values[k];
			compare_with_oracle(&g, "both add", (uint64_t)values[k]);
		}
}

static void
every_length_is_checked(void)
{
	static const uint32_t values[] = { 0, 1, UINT32_MAX, 8, 9, 10, 11, 12, 13, 36, 37, 38, 39, 49, 50, 51, 88, 89, 90, 100,
	    INT32_MAX, UINT32_C(1) << 31 };
	uint8_t raw[512], ref[REF] = { 0 }, out[OUT];
	size_t len = write_prog(&good, raw);
	uint32_t control = dray_get_u32(raw);
	struct dray_err e;

	CHECK_EQ(apply(raw, len, ref, REF, out, OUT, &e), 0);
	for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
		uint32_t v = values[k];

		if (v != control) {
			dray_put_u32(raw, v);
			CHECK_EQ(apply(raw, len, ref, REF, out, OUT, &e), -1);
			CHECK_HAS(e.text, v == 0 || v > OUT / 2 + 64 ? " control bytes for 50 bytes" : "parts do not make its 71 bytes");
			dray_put_u32(raw, control);
		}
		for (size_t at = 4; at <= 8; at += 4) {
			uint32_t was = dray_get_u32(raw + at);

			dray_put_u32(raw + at, v);
			CHECK_EQ(apply(raw, len, ref, REF, out, OUT, &e), v == was ? 0 : -1);
			if (v != was)
				CHECK_HAS(e.text, "are not the output of 50");
			dray_put_u32(raw + at, was);
		}
		/* a difference that the extra bytes make up for */
		dray_put_u32(raw + 4, v);
		dray_put_u32(raw + 8, OUT - v);
		CHECK_EQ(apply(raw, len, ref, REF, out, OUT, &e), v == DIFF ? 0 : -1);
		if (v > OUT)
			CHECK_HAS(e.text, "are not the output of 50");
		else if (v != DIFF)
			CHECK_HAS(e.text, v < DIFF ? "difference bytes of" : "extra bytes of");
		write_prog(&good, raw);
	}
	CHECK_EQ(len, 71);
	for (size_t n = 0; n < len; n++) {
		CHECK_EQ(apply(raw, n, ref, REF, out, OUT, &e), -1);
		CHECK_HAS(e.text, n < 12 ? "ends inside its lengths" : "parts do not make");
	}
	CHECK_EQ(apply(raw, len + 1, ref, REF, out, OUT, &e), -1);
	CHECK_STR(e.text, "delta: its parts do not make its 72 bytes");
	CHECK_EQ(apply(raw, len, ref, REF, out, OUT + 1, &e), -1);
	CHECK_HAS(e.text, "are not the output of 51");
	for (size_t n = 0; n < REF; n++) {	/* a base that is too short: the first step that needs more says so */
		CHECK_EQ(apply(raw, len, ref, n, out, OUT, &e), n < 40 ? -1 : 0);
		if (n < 40)
			CHECK_HAS(e.text, n < 20 || n >= 30 ? " of a base of " : "a seek leaves the base");
	}
}

static void
a_number_has_one_form(void)
{
	static const struct { const char *name, *text; uint8_t bytes[12]; size_t len; } bads[] = {
		{ "padded zero", "longer than it must be", { 0x80, 0x00 }, 2 },
		{ "padded one", "longer than it must be", { 0x81, 0x00 }, 2 },
		{ "padded to ten", "longer than it must be", { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 }, 10 },
		{ "65 bits", "above 64 bits", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 }, 10 },
		{ "eleven bytes", "above 64 bits", { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 0x00 }, 11 },
		{ "64 bits", "of a base of 64", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 }, 10 },
		{ "cut", "ends inside a number", { 0x80 }, 1 },
		{ "cut later", "ends inside a number", { 0xff, 0xff, 0xff }, 3 },
		{ "nothing", "ends inside a number", { 0 }, 0 },
	};
	uint8_t ref[REF] = { 0 }, out[OUT];

	for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++)
		for (unsigned before = 0; before < 3; before++) {	/* as add, as copy, as seek */
			bool cut = strstr(bads[i].text, "inside") != NULL, large = strstr(bads[i].text, "base") != NULL;
			uint8_t raw[256], *p = raw + 12;
			struct dray_err e;

			for (unsigned k = 0; k < before; k++)
				*p++ = (uint8_t)(k + 1);
			if (bads[i].len != 0)
				memcpy(p, bads[i].bytes, bads[i].len);
			p += bads[i].len;
			if (!cut)
				p = put(put(p, 0), 0);
			if (p == raw + 12)
				continue;	/* no control at all is another case */
			dray_put_u32(raw, (uint32_t)(p - raw) - 12);
			dray_put_u32(raw + 4, DIFF);
			dray_put_u32(raw + 8, EXTRA);
			memset(p, 0, OUT);
			CHECK_EQ(apply(raw, (size_t)(p - raw) + OUT, ref, REF, out, OUT, &e), -1);
			CHECK_HAS(e.text, !large || before == 0 ? bads[i].text : before == 1 ? "extra bytes of" : "a seek leaves");
		}
}

static void
any_bytes_are_safe(void)
{
	uint8_t raw[128], ref[REF] = { 1 }, out[OUT];
	struct dray_err e;
	uint32_t x = 11;
	unsigned fine = 0;

	for (unsigned round = 0; round < 20000; round++) {
		size_t len = write_prog(&good, raw), flips = 1 + next(&x) % 3;

		for (size_t i = 0; i < flips; i++)
			raw[next(&x) % len] = (uint8_t)(next(&x) % 4 == 0 ? next(&x) : next(&x) % 64);
		fine += apply(raw, len, ref, next(&x) % (REF + 1), out, OUT, &e) == 0;
	}
	CHECK(fine > 100);
}

/* --- the matcher --------------------------------------------------------------------------------------------------- */

/* Return: what dray_delta_make did; if it made something, that comes back */
static int
round_trip(const uint8_t *src, size_t len, const uint8_t *ref, size_t ref_len, struct dray_delta *d)
{
	uint8_t *a = exactly(src, len), *b = exactly(ref, ref_len), *out = exactly(NULL, len);
	struct dray_err e;
	int rc;

	memset(&e, 0, sizeof e);
	rc = dray_delta_make(a, len, b, ref_len, d, &e);
	CHECK(rc == 0 || rc == 1);
	if (rc == 0) {
		CHECK_EQ(d->exact + d->diff + d->extra, len);
		CHECK(d->len > 12 && d->len - len <= DRAY_DELTA_OVERHEAD(len));
		CHECK_EQ(apply(d->raw, d->len, b, ref_len, out, len, &e), 0);
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
		size_t run = 1 + next(x) % 400;

		switch (next(x) % 6) {
		case 0:
			i += run / 8;
			break;
		case 1:
			for (size_t k = 0; k < run / 8 && n < cap; k++)
				to[n++] = (uint8_t)next(x);
			break;
		case 2:
			for (size_t k = 0, from = next(x) % len; k < run && n < cap && from < len; k++)
				to[n++] = old[from++];
			break;
		default:
			for (size_t k = 0; k < run && n < cap && i < len; k++, i++)
				to[n++] = (uint8_t)(old[i] + (next(x) % 9 == 0 ? next(x) % 3 : 0));
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
		size_t len = 1 + next(&x) % (round < 50 ? 200 : sizeof old), n;

		for (size_t i = 0; i < len; i++)
			old[i] = (uint8_t)(next(&x) >> (round % 3 == 0 ? 14 : 0));
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
		old[i] = (uint8_t)next(&x);
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
		old[i] = (uint8_t)next(&x);
		new[i] = (uint8_t)next(&x);
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
		old[i] = (uint8_t)(next(&x) >> 12);
	n = edit(old, sizeof old, new, sizeof new, &x);
	again = exactly(new, n);	/* at another address, with a used delta */
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
		p[i] = (uint8_t)('a' + (next(&seed) >> 9 & 1));
}

/* short runs of zeros between counters: each position agrees a bit with any alignment */
static void
sparse(uint8_t *p, size_t len, uint32_t seed)
{
	memset(p, 0, len);
	for (size_t i = 0; i < len; i += 5 + next(&seed) % 9)
		p[i] = (uint8_t)next(&seed);
}

static void
hostile_texts_cost_a_small_multiple_of_their_length(void)
{
	static const struct { const char *name; void (*fill)(uint8_t *p, size_t len, uint32_t seed); } texts[] = {
		{ "zeros", zeros }, { "periodic", periodic }, { "fibonacci", fibonacci }, { "almost blocks", almost_blocks },
		{ "two letters", two_letters }, { "sparse", sparse },
	};
	enum { SIZE = 1 << 18, N = sizeof texts / sizeof texts[0] };
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
	RUN(the_vector_of_the_spec_comes_out);
	RUN(every_control_number_is_checked);
	RUN(every_length_is_checked);
	RUN(a_number_has_one_form);
	RUN(any_bytes_are_safe);
	RUN(edited_texts_come_back);
	RUN(short_texts_come_back);
	RUN(moved_code_costs_only_its_addresses);
	RUN(a_text_that_is_not_in_the_base_is_not_worth_it);
	RUN(the_same_input_gives_the_same_bytes);
	RUN(hostile_texts_cost_a_small_multiple_of_their_length);
	return test_done();
}
