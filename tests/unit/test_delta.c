/*
 * test_delta.c - inside an addcopy frame: every number that may be wrong, told by an oracle of its own.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "test.h"

#include "dray/delta.h"
#include "dray/num.h"

#include "delta_try.h"

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

	CHECK_EQ(delta_apply(raw, sizeof raw, (const uint8_t *)"abcd", 4, out, 5, &e), 0);
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
	rc = delta_apply(raw, write_prog(g, raw), ref, REF, out, OUT, &e);
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

	CHECK_EQ(delta_apply(raw, len, ref, REF, out, OUT, &e), 0);
	for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
		uint32_t v = values[k];

		if (v != control) {
			dray_put_u32(raw, v);
			CHECK_EQ(delta_apply(raw, len, ref, REF, out, OUT, &e), -1);
			CHECK_HAS(e.text, v < 3 || v > OUT / 2 + 64 ? " control bytes for 50 bytes" : "parts do not make its 71 bytes");
			dray_put_u32(raw, control);
		}
		for (size_t at = 4; at <= 8; at += 4) {
			uint32_t was = dray_get_u32(raw + at);

			dray_put_u32(raw + at, v);
			CHECK_EQ(delta_apply(raw, len, ref, REF, out, OUT, &e), v == was ? 0 : -1);
			if (v != was)
				CHECK_HAS(e.text, "are not the output of 50");
			dray_put_u32(raw + at, was);
		}
		/* a difference that the extra bytes make up for */
		dray_put_u32(raw + 4, v);
		dray_put_u32(raw + 8, OUT - v);
		CHECK_EQ(delta_apply(raw, len, ref, REF, out, OUT, &e), v == DIFF ? 0 : -1);
		if (v > OUT)
			CHECK_HAS(e.text, "are not the output of 50");
		else if (v != DIFF)
			CHECK_HAS(e.text, v < DIFF ? "difference bytes of" : "extra bytes of");
		write_prog(&good, raw);
	}
	CHECK_EQ(len, 71);
	for (size_t n = 0; n < len; n++) {
		CHECK_EQ(delta_apply(raw, n, ref, REF, out, OUT, &e), -1);
		CHECK_HAS(e.text, n < 12 ? "ends inside its lengths" : "parts do not make");
	}
	CHECK_EQ(delta_apply(raw, len + 1, ref, REF, out, OUT, &e), -1);
	CHECK_STR(e.text, "delta: its parts do not make its 72 bytes");
	CHECK_EQ(delta_apply(raw, len, ref, REF, out, OUT + 1, &e), -1);
	CHECK_HAS(e.text, "are not the output of 51");
	for (size_t n = 0; n < REF; n++) {	/* a base that is too short: the first step that needs more says so */
		CHECK_EQ(delta_apply(raw, len, ref, n, out, OUT, &e), n < 40 ? -1 : 0);
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
			if (p - raw < 12 + 3)
				continue;	/* too little control is another case */
			dray_put_u32(raw, (uint32_t)(p - raw) - 12);
			dray_put_u32(raw + 4, DIFF);
			dray_put_u32(raw + 8, EXTRA);
			memset(p, 0, OUT);
			CHECK_EQ(delta_apply(raw, (size_t)(p - raw) + OUT, ref, REF, out, OUT, &e), -1);
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
		size_t len = write_prog(&good, raw), flips = 1 + delta_next(&x) % 3;

		for (size_t i = 0; i < flips; i++)
			raw[delta_next(&x) % len] = (uint8_t)(delta_next(&x) % 4 == 0 ? delta_next(&x) : delta_next(&x) % 64);
		fine += delta_apply(raw, len, ref, delta_next(&x) % (REF + 1), out, OUT, &e) == 0;
	}
	CHECK(fine > 100);
}

int
main(void)
{
	RUN(the_vector_of_the_spec_comes_out);
	RUN(every_control_number_is_checked);
	RUN(every_length_is_checked);
	RUN(a_number_has_one_form);
	RUN(any_bytes_are_safe);
	return test_done();
}
