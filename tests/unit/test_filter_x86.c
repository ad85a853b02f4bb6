/*
 * test_filter_x86.c - the x86 filter: what it converts, and that unfilter undoes it on any bytes in pieces of any size.
 */
#include <stdlib.h>

#include "test.h"

#include "dray/filter.h"

#define LEN 65536u

static uint8_t plain[LEN], work[LEN];

static uint32_t
next(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* both ways round, in place, on a buffer of exactly this size so that a sanitizer sees a byte too far */
static void
comes_back(const uint8_t *src, size_t len, uint64_t at)
{
	uint8_t *p = malloc(len != 0 ? len : 1);

	if (p == NULL)
		abort();
	memcpy(p, src, len);
	dray_x86_filter(p, len, at);
	dray_x86_unfilter(p, len, at);
	CHECK(memcmp(p, src, len) == 0);
	dray_x86_unfilter(p, len, at);
	dray_x86_filter(p, len, at);
	CHECK(memcmp(p, src, len) == 0);
	free(p);
}

static void
calls_and_operands_become_absolute(void)
{
	/* the vector of bundle-format.md 6.5, at 16 */
	static const uint8_t from[] = {
		0x90, 0xe8, 0xfb, 0xff, 0xff, 0xff,		/* nop; call itself + 0 */
		0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00,	/* mov rax, [rip + 16] */
		0xe9, 0x00, 0x10, 0x00, 0x00,			/* a jump stays */
		0x0f, 0xb6, 0x05, 0x00, 0x00, 0x00, 0xff,	/* movzx eax, [rip - 16 MiB] */
		0xe8, 0x00, 0x00, 0x00, 0x01,			/* too far: stays */
		0x8b, 0x45, 0xf8, 0x00, 0xe8, 0x00, 0x00, 0x00, 0x00,	/* [rbp - 8] stays; fewer than 7 bytes are left */
	}, to[] = {
		0x90, 0xe8, 0x11, 0x00, 0x00, 0x00,
		0x48, 0x8b, 0x05, 0x2d, 0x00, 0x00, 0x00,
		0xe9, 0x00, 0x10, 0x00, 0x00,
		0x0f, 0xb6, 0x05, 0x29, 0x00, 0x00, 0xff,
		0xe8, 0x00, 0x00, 0x00, 0x01,
		0x8b, 0x45, 0xf8, 0x00, 0xe8, 0x00, 0x00, 0x00, 0x00,
	};
	uint8_t p[sizeof from];

	memcpy(p, from, sizeof p);
	dray_x86_filter(p, sizeof p, 16);
	for (size_t i = 0; i < sizeof p; i++)
		CHECK_EQ(p[i], to[i]);
	dray_x86_unfilter(p, sizeof p, 16);
	CHECK(memcmp(p, from, sizeof p) == 0);
}

static void
one_target_looks_the_same_from_everywhere(void)
{
	uint8_t a[16] = { 0xe8, 0x00, 0x01, 0x00, 0x00 }, b[16] = { 0xe8, 0x00, 0x00, 0x00, 0x00 };

	dray_x86_filter(a, sizeof a, 1000);
	dray_x86_filter(b, sizeof b, 1256);
	CHECK(memcmp(a, b, sizeof a) == 0);
}

static void
random_bytes_come_back(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < LEN; i++)
		plain[i] = (uint8_t)next(&x);
	comes_back(plain, LEN, 0);
	comes_back(plain, LEN, UINT64_MAX - 5);
	for (size_t len = 0; len < 300; len++)
		comes_back(plain + len, len, next(&x));
}

/* bytes that mean something to the filter, so close together that operands overlap opcodes in every way */
static void
adversarial_bytes_come_back(void)
{
	static const uint8_t letters[] = { 0xe8, 0xe9, 0x00, 0xff, 0x8b, 0x05, 0x0f, 0x3d, 0x01, 0xfe };
	static const uint64_t at[] = { 0, 1, 0xffffff, 0x1000000, 0x1fffffe, 0xffffffff, UINT64_C(0x123456789abcdef), UINT64_MAX };
	uint32_t x = 7;

	for (unsigned round = 0; round < 200; round++) {
		size_t len = 1 + next(&x) % 2000;
		unsigned n = 2 + next(&x) % (sizeof letters - 1);

		for (size_t i = 0; i < len; i++)
			plain[i] = letters[next(&x) % n];
		comes_back(plain, len, at[round % 8]);
	}
}

/* every text of eight bytes over the five letters that matter most */
static void
all_short_texts_come_back(void)
{
	static const uint8_t letters[] = { 0xe8, 0x8b, 0x05, 0x00, 0xff };
	uint8_t text[8], p[8];
	unsigned bad = 0;

	for (uint32_t k = 0; k < 390625; k++) {
		uint32_t v = k;

		for (size_t i = 0; i < 8; i++, v /= 5)
			text[i] = letters[v % 5];
		memcpy(p, text, 8);
		dray_x86_filter(p, 8, k * 77u);
		dray_x86_unfilter(p, 8, k * 77u);
		bad += memcmp(p, text, 8) != 0;
	}
	CHECK_EQ(bad, 0);
}

/* real code: this very program */
static void
a_program_comes_back_in_chunks(void)
{
	static uint8_t whole[1u << 20];
	FILE *f = fopen("/proc/self/exe", "rb");
	size_t n, changed = 0;
	uint32_t x = 3;

	CHECK(f != NULL);
	if (f == NULL)
		return;
	n = fread(whole, 1, sizeof whole, f);
	fclose(f);
	CHECK(n > 8192);
	for (size_t at = 0, len; at < n; at += len) {
		len = 1 + next(&x) % LEN;
		if (len > n - at)
			len = n - at;
		comes_back(whole + at, len, at);
		memcpy(work, whole + at, len);
		dray_x86_filter(work, len, at);
		for (size_t i = 0; i < len; i++)
			changed += work[i] != whole[at + i];
	}
	CHECK(changed > 500);
}

int
main(void)
{
	RUN(calls_and_operands_become_absolute);
	RUN(one_target_looks_the_same_from_everywhere);
	RUN(random_bytes_come_back);
	RUN(adversarial_bytes_come_back);
	RUN(all_short_texts_come_back);
	RUN(a_program_comes_back_in_chunks);
	return test_done();
}
