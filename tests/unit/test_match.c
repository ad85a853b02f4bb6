/* test_match.c - what contents are compared by before a base is chosen: folded names, kinds, features */
#include <stdlib.h>

#include "builder/match_index.h"
#include "builder/pack_plan.h"
#include "noise.h"
#include "test.h"

static void
versions_fold_and_letters_do_not(void)
{
	CHECK_EQ(build_fold_cmp("libfoo.so.1.2.3", 15, "libfoo.so.10", 12), 0);
	CHECK_EQ(build_fold_cmp("php/20240924/x", 14, "php/1/x", 7), 0);
	CHECK(build_fold_cmp("a", 1, "b", 1) < 0);
	CHECK(build_fold_cmp("a1b", 3, "ab", 2) != 0);
	CHECK(build_fold_cmp("a1.", 3, "a1", 2) > 0);
	CHECK_EQ(build_fold_cmp("", 0, "", 0), 0);
}

static void
kinds_are_told_by_first_bytes(void)
{
	uint8_t elf[64] = { 0x7f, 'E', 'L', 'F', 2, 1 };

	elf[16] = 3;
	elf[18] = 62;
	CHECK_EQ(build_kind_of(elf, 64), BUILD_PROGRAM_X86);
	elf[18] = 3;	/* i386 */
	CHECK_EQ(build_kind_of(elf, 64), BUILD_PROGRAM);
	elf[18] = 183;
	CHECK_EQ(build_kind_of(elf, 64), BUILD_PROGRAM);
	elf[16] = 1;
	CHECK_EQ(build_kind_of(elf, 64), BUILD_OBJECT);
	CHECK_EQ(build_kind_of(elf, 19), BUILD_BINARY);		/* cut short */
	CHECK_EQ(build_kind_of((const uint8_t *)"hello\n", 6), BUILD_TEXT);
	CHECK_EQ(build_kind_of((const uint8_t *)"a\0b", 3), BUILD_BINARY);
	CHECK_EQ(build_kind_of((const uint8_t *)"\xde\x12\x04\x95", 4), BUILD_CATALOGUE);
	CHECK_EQ(build_kind_of((const uint8_t *)"\x1f\x8b\x08", 3), BUILD_DENSE);
	CHECK_EQ(build_kind_of((const uint8_t *)"", 0), BUILD_TEXT);
}

static void
a_run_of_one_byte_gives_one_feature(void)
{
	struct match_roll r = { .shift = MATCH_SHIFT_MIN };
	struct match_list l = { .n = 0 };
	uint8_t *p = calloc(1000000, 1);
	struct dray_err e;

	CHECK(p != NULL);
	CHECK_EQ(build_match_roll_add(&r, p, 1000000, UINT64_MAX, &l, &e), 0);
	CHECK(l.n <= 1);
	free(p);
	free(l.v);
}

#define BYTES 100000u

/* features of @p as it comes in stretches of 1 to @most bytes, or, with 0, at once */
static struct match_list
roll(const uint8_t *p, unsigned shift, size_t most)
{
	struct match_roll r = { .shift = shift };
	struct match_list l = { .n = 0 };
	struct dray_err e;

	for (size_t at = 0, n = most == 0 ? BYTES : 1; at < BYTES; at += n, n = n % (most + (most == 0)) + 1) {
		size_t len = BYTES - at < n ? BYTES - at : n;

		CHECK_EQ(build_match_roll_add(&r, p + at, len, 4096, &l, &e), 0);
	}
	return l;
}

/* short stretches are walked byte by byte, long ones in four places at a time: the same features in the same order */
static void
features_do_not_depend_on_how_bytes_arrive(void)
{
	static const unsigned shifts[] = { 1, MATCH_SHIFT_MIN, 12 };
	static const size_t most[] = { 0, 4111, 4112, 9000 };
	uint8_t *p = noise(BYTES, 3);

	for (int data = 0; data < 4; data++) {
		for (size_t i = 0; data > 0 && i < BYTES; i++)	/* a short period, a long one, runs */
			p[i] = data == 1 ? (uint8_t)(i % 3) : data == 2 ? (uint8_t)(i % 1021 * 7) : (uint8_t)(i >> 9);
		for (size_t s = 0; s < 3; s++) {
			struct match_list want = roll(p, shifts[s], 97);

			if (data == 0 && shifts[s] == MATCH_SHIFT_MIN)
				CHECK(want.n > 1000 && want.n < 2200);
			for (size_t m = 0; m < 4; m++) {
				struct match_list l = roll(p, shifts[s], most[m]);

				CHECK_EQ(l.n, want.n);
				CHECK(l.n != want.n || l.n == 0 || memcmp(l.v, want.v, l.n * sizeof(l.v[0])) == 0);
				free(l.v);
			}
			free(want.v);
		}
	}
	free(p);
}

int
main(void)
{
	RUN(versions_fold_and_letters_do_not);
	RUN(kinds_are_told_by_first_bytes);
	RUN(a_run_of_one_byte_gives_one_feature);
	RUN(features_do_not_depend_on_how_bytes_arrive);
	return test_done();
}
