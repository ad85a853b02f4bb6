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

static void
features_do_not_depend_on_how_bytes_arrive(void)
{
	struct match_list a = { .n = 0 }, b = { .n = 0 };
	struct match_roll r = { .shift = MATCH_SHIFT_MIN };
	uint8_t *p = noise(100000, 3);
	struct dray_err e;

	CHECK_EQ(build_match_roll_add(&r, p, 100000, 4096, &a, &e), 0);
	r = (struct match_roll){ .shift = MATCH_SHIFT_MIN };
	for (size_t at = 0, n = 1; at < 100000; at += n, n = n % 97 + 1) {
		size_t len = 100000 - at < n ? 100000 - at : n;

		CHECK_EQ(build_match_roll_add(&r, p + at, len, 4096, &b, &e), 0);
	}
	CHECK_EQ(a.n, b.n);
	CHECK(a.n > 1000 && a.n < 2200);
	CHECK(memcmp(a.v, b.v, a.n * sizeof(a.v[0])) == 0);
	free(p);
	free(a.v);
	free(b.v);
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
