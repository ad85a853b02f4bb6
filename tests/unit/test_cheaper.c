/*
 * test_cheaper.c - what applying costs by the model, and which frames become cheaper until a bound is met.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/apply_cost.h"
#include "builder/cheaper.h"
#include "builder/recipe.h"
#include "dray/frame.h"
#include "test.h"

/* --- the model ----------------------------------------------------------------------------------------------------- */

static void
a_frame_costs_what_is_read_and_what_is_made(void)
{
	struct build_cost_in plain = { .kind = DRAY_FRAME_PLAIN, .stored = 400000, .raw = 1000000, .out = 1000000,
		.ref = 7000000 };
	struct build_cost_in prefix = plain, addcopy = plain, filtered = plain;

	/* 0.4 MB at 6.8 ns, 1 MB at 0.2 ns; base bytes of a plain frame are not read */
	CHECK_EQ(build_cost_frame(&plain), 2720000 + 200000);
	prefix.kind = DRAY_FRAME_PREFIX;
	CHECK_EQ(build_cost_frame(&prefix), 2720000 + 200000 + 700000);
	addcopy.kind = DRAY_FRAME_ADDCOPY;
	addcopy.raw = 1500000;
	CHECK_EQ(build_cost_frame(&addcopy), 2720000 + 300000 + 400000 + 700000);
	filtered.filter = DRAY_FILTER_X86;
	CHECK_EQ(build_cost_frame(&filtered), 2720000 + 200000 + 1600000);
	filtered.kind = DRAY_FRAME_PREFIX;
	CHECK_EQ(build_cost_frame(&filtered), 2720000 + 200000 + 700000 + 1600000 * 8);
}

static struct build_release
release(struct build_node *v, size_t n)
{
	return (struct build_release){ .v = v, .n = n };
}

static struct build_node
file(const char *path, uint32_t row, uint64_t size, uint8_t hash)
{
	struct build_node nd = { .path = path, .len = (uint32_t)strlen(path), .row = row, .type = DRAY_FILE, .size = size };

	nd.sha256[0] = hash;
	return nd;
}

enum { PATH = 200000, ENTRY = 200 };

static void
paths_cost_by_what_happens_to_them(void)
{
	struct build_node old[] = { file("a", 0, 1000000, 1), file("b", 1, 1000000, 1), file("c", 2, 1000000, 1),
		file("d", 3, 1000000, 1) };
	struct build_node new[] = { file("a", 0, 1000000, 1), file("b", 1, 2000000, 2), file("c", 2, 1000000, 1),
		file("e", 4, 3000000, 3) };
	struct build_release from = release(old, 4), to = release(new, 4);
	const uint64_t look = 2300000, put = 2500000;	/* for a million bytes */

	new[2].mode = 0755;
	/* a stays; b is looked at and written; c gets its mode, but it is looked at; d goes; e comes */
	CHECK_EQ(build_cost_paths(&from, &to), 5 * ENTRY + 4 * PATH + 3 * look + 5 * put);
	CHECK_EQ(build_cost_paths(NULL, &to), 4 * ENTRY + 4 * PATH + 7 * put);
	CHECK_EQ(build_cost_paths(&to, &to), 4 * ENTRY);
}

static void
one_more_name_of_a_file_is_not_written_again(void)
{
	struct build_node new[] = { file("a", 0, 1000000, 1), file("b", 1, 1000000, 1) };
	struct build_release to = release(new, 2);

	new[0].link = new[1].link = 1;
	CHECK_EQ(build_cost_paths(NULL, &to), 2 * (ENTRY + PATH) + 2500000);
}

static void
of_several_former_states_the_dearest_counts(void)
{
	struct build_node old[] = { file("a", 0, 1000000, 1), file("a", 0, 3000000, 2), file("b", 1, 0, 0) };
	struct build_node new[] = { file("a", 0, 1000000, 1), file("b", 1, 1000000, 5) };
	struct build_release from = release(old, 3), to = release(new, 2);

	old[2].type = DRAY_ABSENT;
	CHECK_EQ(build_cost_paths(&from, &to), 2 * (ENTRY + PATH) + 3 * 2300000 + 2 * 2500000);
}

/* --- the choice ---------------------------------------------------------------------------------------------------- */

static void
each_step_of_a_frame_saves_less_for_a_byte(void)
{
	/* 2 saves most for a byte; 1 lies between 0 and 2 but is worse than going to 2 at once; 3 is the cheapest; 4 is
	 * dearer than all, 5 larger than 3 and no cheaper */
	const struct build_way ways[] = { { 1000, 100, 0 }, { 990, 110, 1 }, { 500, 150, 2 }, { 400, 300, 3 },
		{ 2000, 50, 4 }, { 400, 350, 5 } };
	struct build_saving v[5];

	CHECK_EQ(build_cheaper_steps(7, ways, 6, v), 2);
	CHECK_EQ(v[0].frame, 7);
	CHECK_EQ(v[0].id, 2);
	CHECK_EQ(v[0].turn, 0);
	CHECK_EQ(v[0].ns, 500);
	CHECK_EQ(v[0].bytes, 50);
	CHECK_EQ(v[1].id, 3);
	CHECK_EQ(v[1].turn, 1);
	CHECK_EQ(v[1].ns, 100);
	CHECK_EQ(v[1].bytes, 150);
	/* nothing is cheaper */
	CHECK_EQ(build_cheaper_steps(0, ways, 1, v), 0);
	CHECK_EQ(build_cheaper_steps(0, &ways[3], 2, v), 0);
	/* cheaper and smaller: taken first, whatever else there is */
	CHECK_EQ(build_cheaper_steps(0, (const struct build_way[]){ { 10, 10, 0 }, { 1, 100, 1 }, { 9, 5, 2 } }, 3, v), 2);
	CHECK_EQ(v[0].id, 2);
	CHECK_EQ(v[0].bytes, 1);
	CHECK_EQ(v[1].id, 1);
}

static void
what_saves_most_for_a_byte_comes_first(void)
{
	struct build_saving v[] = {
		{ .frame = 0, .turn = 0, .ns = 100, .bytes = 10 },
		{ .frame = 0, .turn = 1, .ns = 100, .bytes = 10 },
		{ .frame = 1, .turn = 0, .ns = 1000000000, .bytes = 4000000000 },
		{ .frame = 2, .turn = 0, .ns = 101, .bytes = 10 },
		{ .frame = 3, .turn = 0, .ns = 1000000001, .bytes = 4000000000 },
		{ .frame = 4, .turn = 0, .ns = 100, .bytes = 10 },
	};
	static const uint32_t order[] = { 2, 0, 0, 4, 3, 1 };

	build_cheaper_order(v, 6);
	for (size_t i = 0; i < 6; i++)
		CHECK_EQ(v[i].frame, order[i]);
	CHECK_EQ(v[1].turn, 0);
	CHECK_EQ(v[2].turn, 1);
}

/* four frames, of which two bases read {0, 1} and {1, 2, 3} */
static const uint64_t readers[] = { 1, 3, 2, 2 };

static void
make_steps(struct build_saving *v)
{
	static const struct build_saving steps[] = {
		{ .frame = 0, .ns = 40, .bytes = 1 }, { .frame = 2, .ns = 30, .bytes = 1 },
		{ .frame = 1, .ns = 20, .bytes = 1 }, { .frame = 3, .ns = 10, .bytes = 1 },
		{ .frame = 1, .turn = 1, .ns = 5, .bytes = 1 },
	};

	memcpy(v, steps, sizeof(steps));
}

static unsigned
taken(const struct build_saving *v)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < 5; i++)
		mask |= (unsigned)v[i].taken << i;
	return mask;
}

static void
no_more_steps_are_taken_than_the_bound_needs(void)
{
	/* the second base is the dearer one: 200 with savings of 65 in all; the first one of 150 can save 65 too */
	static const struct { uint64_t bound, most; unsigned taken; } want[] = {
		{ 200, 200, 0 }, { 199, 170, 2 }, { 170, 170, 2 }, { 169, 150, 6 }, { 150, 150, 6 }, { 149, 140, 15 },
		{ 140, 140, 15 }, { 139, 135, 31 }, { 135, 135, 31 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct build_saving v[5];
		uint64_t ns[] = { 150, 200 };

		make_steps(v);
		CHECK_EQ(build_cheaper_take(v, 5, readers, want[i].bound, ns, 2), want[i].most);
		CHECK_EQ(taken(v), want[i].taken);
	}
}

static void
what_only_cheap_bases_read_stays(void)
{
	struct build_saving v[5];
	uint64_t ns[] = { 100, 200 };

	make_steps(v);
	CHECK_EQ(build_cheaper_take(v, 5, readers, 136, ns, 2), 135);
	CHECK_EQ(taken(v), 30);
	/* and what both read has become cheaper for both */
	CHECK_EQ(ns[0], 75);
	CHECK_EQ(ns[1], 135);
}

static void
the_least_that_is_told_can_be_met(void)
{
	for (uint64_t bound = 0; bound < 135; bound++) {
		struct build_saving v[5];
		uint64_t ns[] = { 150, 200 }, least;

		make_steps(v);
		least = build_cheaper_take(v, 5, readers, bound, ns, 2);
		CHECK_EQ(least, 135);
	}
	CHECK_EQ(build_cheaper_take(NULL, 0, NULL, 9, (uint64_t[]){ 10 }, 1), 10);
}

static void
times_are_told_rounded_up(void)
{
	char text[BUILD_COST_TEXT];

	CHECK_STR(build_cost_text(0, text), "0.000");
	CHECK_STR(build_cost_text(1, text), "0.001");
	CHECK_STR(build_cost_text(1000000, text), "0.001");
	CHECK_STR(build_cost_text(1000001, text), "0.002");
	CHECK_STR(build_cost_text(61999000001, text), "62.000");
	CHECK_EQ(build_cost_ms(UINT64_MAX), UINT64_MAX / 1000000 + 1);
}

static void
seconds_are_digits_with_three_behind_the_point(void)
{
	static const char *const bad[] = { "", "0", "0.0", "0.000", "0.0001", "0.0005", ".5", "5.", "5.1234", "-1", "+1", "1e3",
		"1 ", " 1", "1,5", "0x10", "inf", "nan", "1.5.", "1.-5", "1000000.001", "1000001", "99999999999999999999",
		"00000001", "18446744073709551617" };
	static const struct { const char *text; uint64_t ns; } good[] = { { "1", 1000000000 }, { "0.001", 1000000 },
		{ "2.5", 2500000000 }, { "0.25", 250000000 }, { "60", 60000000000 }, { "007", 7000000000 }, { "10.010", 10010000000 },
		{ "1000000", 1000000000000000 } };
	uint64_t ns;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!build_seconds_ok(bad[i], &ns));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(build_seconds_ok(good[i].text, &ns));
		CHECK_EQ(ns, good[i].ns);
	}
}

int
main(void)
{
	RUN(a_frame_costs_what_is_read_and_what_is_made);
	RUN(paths_cost_by_what_happens_to_them);
	RUN(one_more_name_of_a_file_is_not_written_again);
	RUN(of_several_former_states_the_dearest_counts);
	RUN(each_step_of_a_frame_saves_less_for_a_byte);
	RUN(what_saves_most_for_a_byte_comes_first);
	RUN(no_more_steps_are_taken_than_the_bound_needs);
	RUN(what_only_cheap_bases_read_stays);
	RUN(the_least_that_is_told_can_be_met);
	RUN(times_are_told_rounded_up);
	RUN(seconds_are_digits_with_three_behind_the_point);
	return test_done();
}
