/*
 * test_num.c - checked arithmetic, numbers as text, little-endian.
 */
#include "dray/num.h"

#include "test.h"

static void
overflow_is_false_and_leaves_the_output(void)
{
	uint64_t n = 5;

	CHECK(dray_add(UINT64_MAX - 1, 1, &n) && n == UINT64_MAX);
	n = 5;
	CHECK(!dray_add(UINT64_MAX, 1, &n) && n == 5);
	CHECK(dray_mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &n) && n == 0xffffffff00000000);
	n = 5;
	CHECK(!dray_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &n) && n == 5);
	CHECK(dray_mul(0, UINT64_MAX, &n) && n == 0);
}

static void
a_length_fits_up_to_size_max(void)
{
	size_t s = 5;

	CHECK(dray_fit(SIZE_MAX, &s) && s == SIZE_MAX);
#if SIZE_MAX < UINT64_MAX
	s = 5;
	CHECK(!dray_fit((uint64_t)SIZE_MAX + 1, &s) && s == 5);
#endif
}

static void
rounding_up_wants_a_power_of_two_and_room(void)
{
	uint64_t n = 5;

	CHECK(dray_round_up(0, 512, &n) && n == 0);
	CHECK(dray_round_up(1, 512, &n) && n == 512);
	CHECK(dray_round_up(512, 512, &n) && n == 512);
	CHECK(dray_round_up(7, 1, &n) && n == 7);
	n = 5;
	CHECK(!dray_round_up(UINT64_MAX - 510, 512, &n) && n == 5);
	CHECK(!dray_round_up(1, 3, &n) && n == 5);
	CHECK(!dray_round_up(1, 0, &n) && n == 5);
}

static void
a_number_is_the_whole_text(void)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "01", "00", "1k", "0x1", "1.", "1e3",
		"18446744073709551616", "99999999999999999999999", "\n1" };
	uint64_t n = 5;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!dray_parse_u64(bad[i], 0, UINT64_MAX, &n));
		CHECK_EQ(n, 5);
	}
	CHECK(dray_parse_u64("0", 0, 9, &n) && n == 0);
	CHECK(dray_parse_u64("18446744073709551615", 0, UINT64_MAX, &n) && n == UINT64_MAX);
	CHECK(dray_parse_u64("10", 10, 10, &n) && n == 10);
	n = 5;
	CHECK(!dray_parse_u64("9", 10, 20, &n) && n == 5);
	CHECK(!dray_parse_u64("21", 10, 20, &n) && n == 5);
}

static void
a_size_may_carry_one_unit(void)
{
	static const char *const bad[] = { "", "k", "1kk", "1KB", "1T", "1 k", "-1k", "01k", "18014398509481984k",
		"17179869184G" };
	uint64_t n = 5;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!dray_parse_size(bad[i], 0, UINT64_MAX, &n));
		CHECK_EQ(n, 5);
	}
	CHECK(dray_parse_size("7", 0, 9, &n) && n == 7);
	CHECK(dray_parse_size("1k", 0, 2048, &n) && n == 1024);
	CHECK(dray_parse_size("2K", 0, 2048, &n) && n == 2048);
	CHECK(dray_parse_size("3M", 0, UINT64_MAX, &n) && n == 3145728);
	CHECK(dray_parse_size("17179869183G", 0, UINT64_MAX, &n) && n == UINT64_C(17179869183) << 30);
	n = 5;
	CHECK(!dray_parse_size("3k", 0, 2048, &n) && n == 5);
}

static void
hexadecimal_goes_both_ways_in_lower_case_only(void)
{
	static const uint8_t bytes[3] = { 0x00, 0x9f, 0xff };
	uint8_t back[3] = { 1, 2, 3 };
	char text[7];

	CHECK_STR(dray_hex(bytes, 3, text), "009fff");
	CHECK(dray_unhex(text, 6, back, 3));
	CHECK(memcmp(back, bytes, 3) == 0);
	back[0] = 1;
	CHECK(!dray_unhex("009ffF", 6, back, 3));
	CHECK(!dray_unhex("009ff", 5, back, 3));
	CHECK(!dray_unhex("009fff0", 7, back, 3));
	CHECK(!dray_unhex("009fff00", 8, back, 3));
	CHECK(!dray_unhex("009ff ", 6, back, 3));
	CHECK(!dray_unhex("0x9fff", 6, back, 3));
	CHECK_EQ(back[0], 1);
	CHECK(dray_unhex("", 0, back, 0));
}

static void
little_endian_goes_both_ways(void)
{
	static const uint8_t want[8] = { 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0xf1 };
	uint8_t p[9];

	memset(p, 0, sizeof(p));
	dray_put_u64(p + 1, 0xf123456789abcdef);	/* unaligned on purpose */
	CHECK(memcmp(p + 1, want, 8) == 0);
	CHECK(dray_get_u64(p + 1) == 0xf123456789abcdef);
	CHECK(dray_get_u32(p + 1) == 0x89abcdef);
	CHECK(dray_get_u16(p + 1) == 0xcdef);
	dray_put_u32(p, 0xfffefdfc);
	CHECK(dray_get_u32(p) == 0xfffefdfc);
	dray_put_u16(p, 0xfffe);
	CHECK(dray_get_u16(p) == 0xfffe);
}

int
main(void)
{
	RUN(overflow_is_false_and_leaves_the_output);
	RUN(a_length_fits_up_to_size_max);
	RUN(rounding_up_wants_a_power_of_two_and_room);
	RUN(a_number_is_the_whole_text);
	RUN(a_size_may_carry_one_unit);
	RUN(hexadecimal_goes_both_ways_in_lower_case_only);
	RUN(little_endian_goes_both_ways);
	return test_done();
}
