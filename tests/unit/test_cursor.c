/*
 * test_cursor.c - a window on bytes: what fits is given, what does not leaves everything as it was.
 */
#include "dray/cursor.h"

#include "test.h"

static const uint8_t bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 0x80, 0, 0, 0, 0, 0, 0, 9 };

static bool
same(const struct dray_cursor *a, const struct dray_cursor *b)
{
	return a->p == b->p && a->left == b->left && a->at == b->at;
}

static void
numbers_are_read_in_order_and_little_endian(void)
{
	struct dray_cursor c = { bytes, sizeof(bytes), 100 };
	uint64_t d = 0;
	uint32_t w = 0;
	uint16_t h = 0;
	uint8_t b = 0;

	CHECK(dray_cursor_u8(&c, &b) && b == 1);
	CHECK(dray_cursor_u16(&c, &h) && h == 0x0302);
	CHECK(dray_cursor_u32(&c, &w) && w == 0x07060504);
	CHECK_EQ(c.at, 107);
	CHECK(dray_cursor_u64(&c, &d) && d == 0x8008);
	CHECK_EQ(c.left, 1);
	CHECK_EQ(c.at, 115);
}

static void
taking_up_to_the_end_works_and_one_more_fails(void)
{
	struct dray_cursor c = { bytes, 4, 0 }, sub = { NULL, 77, 77 }, before = c;

	CHECK(!dray_cursor_take(&c, 5, &sub));
	CHECK(same(&c, &before) && sub.left == 77);
	CHECK(!dray_cursor_take(&c, SIZE_MAX, &sub));
	CHECK(same(&c, &before));
	CHECK(dray_cursor_take(&c, 4, &sub));
	CHECK(sub.p == bytes && sub.left == 4 && sub.at == 0);
	CHECK_EQ(c.left, 0);
	CHECK_EQ(c.at, 4);
	CHECK(dray_cursor_take(&c, 0, &sub));
	CHECK_EQ(sub.left, 0);
}

static void
a_failed_read_leaves_cursor_and_output(void)
{
	struct dray_cursor c = { bytes, 0, 9 }, before;
	const uint8_t *p = bytes;
	uint64_t d = 7;
	uint32_t w = 7;
	uint16_t h = 7;
	uint8_t b = 7;
	size_t left;

	for (left = 0; left < 8; left++) {
		c = (struct dray_cursor){ bytes, left, 9 };
		before = c;
		CHECK(!dray_cursor_u64(&c, &d) && d == 7 && same(&c, &before));
		CHECK(!dray_cursor_bytes(&c, left + 1, &p) && p == bytes && same(&c, &before));
		CHECK(!dray_cursor_zeros(&c, left + 1) && same(&c, &before));
		if (left < 4)
			CHECK(!dray_cursor_u32(&c, &w) && w == 7 && same(&c, &before));
		if (left < 2)
			CHECK(!dray_cursor_u16(&c, &h) && h == 7 && same(&c, &before));
		if (left < 1)
			CHECK(!dray_cursor_u8(&c, &b) && b == 7 && same(&c, &before));
	}
}

static void
an_empty_window_without_address_is_a_window(void)
{
	struct dray_cursor c = { NULL, 0, 0 }, sub;

	CHECK(dray_cursor_take(&c, 0, &sub));
	CHECK(dray_cursor_zeros(&c, 0));
	CHECK(!dray_cursor_take(&c, 1, &sub));
}

static void
a_taken_window_can_be_the_cursor_itself(void)
{
	struct dray_cursor c = { bytes, 16, 0 };

	CHECK(dray_cursor_take(&c, 8, &c));
	CHECK_EQ(c.left, 8);
	CHECK(c.p == bytes);
}

static void
zeros_are_zero_to_the_last_byte(void)
{
	struct dray_cursor c = { bytes + 9, 7, 9 };

	CHECK(!dray_cursor_zeros(&c, 7));
	CHECK_EQ(c.left, 7);
	CHECK(dray_cursor_zeros(&c, 6));
	CHECK_EQ(c.left, 1);
	CHECK_EQ(c.at, 15);
}

static void
bytes_are_borrowed_in_place(void)
{
	struct dray_cursor c = { bytes, 16, 0 };
	const uint8_t *p = NULL;

	CHECK(dray_cursor_bytes(&c, 3, &p) && p == bytes);
	CHECK(dray_cursor_bytes(&c, 13, &p) && p == bytes + 3);
	CHECK_EQ(c.left, 0);
}

int
main(void)
{
	RUN(numbers_are_read_in_order_and_little_endian);
	RUN(taking_up_to_the_end_works_and_one_more_fails);
	RUN(a_failed_read_leaves_cursor_and_output);
	RUN(an_empty_window_without_address_is_a_window);
	RUN(a_taken_window_can_be_the_cursor_itself);
	RUN(zeros_are_zero_to_the_last_byte);
	RUN(bytes_are_borrowed_in_place);
	return test_done();
}
