/*
 * test_pieces.c - which blocks of a large base each piece of a content names
 */
#include "builder/match_index.h"
#include "builder/pack_plan.h"
#include "dray/descriptor.h"
#include "bases_scene.h"
#include "noise.h"
#include "test.h"

static void
a_piece_names_the_blocks_it_needs(void)
{
	const size_t size = 12 * 1024 * 1024, moved = 4 * 1024 * 1024;
	struct pack_ranges m = { .n = 0 };
	struct scene s;
	struct build_work o = { .threads = 1 };
	struct dray_err e;
	uint8_t *old = noise(size, 1), *new = malloc(size);

	begin(&s, 1);
	if (new == NULL)
		abort();
	/* the last third comes first, the middle is new */
	memcpy(new, old + size - moved, moved);
	for (size_t i = 0; i < moved; i++)
		new[moved + i] = (uint8_t)(i * 7 ^ i >> 9);
	memcpy(new + 2 * moved, old + moved, moved);
	add(s.from[0], "big", old, size);
	add(s.to, "big", new, size);
	choose(&s, 1);
	CHECK_STR(base_of(&s, "big", 0), "big");
	CHECK_EQ(build_pieces_map(&s.reader, &o, 1, s.b.v[0].content, s.b.v[0].base, &m, &e), 0);
	CHECK_EQ(m.first[0], 0);
	/* one stretch, at most a block more on both sides */
	CHECK_EQ(m.first[1], 1);
	CHECK_EQ(m.v[0].offset, size - moved - PACK_SUM_BLOCK);
	CHECK_EQ(m.v[0].offset + m.v[0].len, size);
	CHECK_EQ(m.first[2], 1);	/* nothing for the new one */
	CHECK_EQ(m.first[3], 2);
	CHECK_EQ(m.v[1].offset, moved - PACK_SUM_BLOCK);
	CHECK_EQ(m.v[1].len, moved + 2 * PACK_SUM_BLOCK);
	free(m.v);
	free(m.first);
	end(&s);
}

/* a byte of which a run has a feature */
static int
telling_byte(void)
{
	for (int b = 1; b < 256; b++) {
		struct match_roll r = { .shift = MATCH_SHIFT_MIN };
		struct match_list l = { .n = 0 };
		uint8_t run[2 * MATCH_WINDOW];
		struct dray_err e;
		size_t n;

		memset(run, b, sizeof(run));
		CHECK_EQ(build_match_roll_add(&r, run, sizeof(run), UINT64_MAX, &l, &e), 0);
		n = l.n;
		free(l.v);
		if (n > 0)
			return b;
	}
	abort();
}

/* a base of three stretches: noise across the first seam, a run of one byte across the second */
static void
several_threads_name_the_blocks_that_one_names(void)
{
	const size_t seam = 16u * 1024 * 1024, size = 2 * seam + 1000003, part = 5u * 1024 * 1024;
	struct pack_ranges one = { .n = 0 }, many = { .n = 0 };
	struct scene s;
	struct build_work o = { .threads = 1 };
	struct dray_err e;
	uint8_t *old = calloc(size, 1), *fill = noise(2 * part, 5), *new = malloc(3 * part);
	size_t pieces = 3 * part / DRAY_FRAME_DEFAULT + 1;
	bool across = false;

	begin(&s, 1);
	if (old == NULL || new == NULL)
		abort();
	memcpy(old + seam - part / 2, fill, part);
	memcpy(old + size - 1000000, fill + part, 1000000);
	memset(old + 2 * seam - part, telling_byte(), part + 2000);
	/* the first piece is all run: where that begins in the base, and nowhere else, is its one feature */
	memcpy(new, old + 2 * seam - part, part);
	memcpy(new + part, old + seam - part / 2 - 12345, part);
	memcpy(new + 2 * part, old + size - part, part);
	add(s.from[0], "big", old, size);
	add(s.to, "big", new, 3 * part);
	choose(&s, 1);
	CHECK_STR(base_of(&s, "big", 0), "big");
	CHECK_EQ(build_pieces_map(&s.reader, &o, 1, s.b.v[0].content, s.b.v[0].base, &one, &e), 0);
	CHECK_EQ(build_pieces_map(&s.reader, &o, 3, s.b.v[0].content, s.b.v[0].base, &many, &e), 0);
	CHECK(one.n > 2);
	CHECK_EQ(many.n, one.n);
	for (size_t i = 0; i < one.n && i < many.n; i++) {
		CHECK_EQ(many.v[i].offset, one.v[i].offset);
		CHECK_EQ(many.v[i].len, one.v[i].len);
		across |= one.v[i].offset < seam && one.v[i].offset + one.v[i].len > seam;
	}
	CHECK(across);
	CHECK(memcmp(many.first, one.first, (pieces + 1) * sizeof(one.first[0])) == 0);
	free(one.v);
	free(one.first);
	free(many.v);
	free(many.first);
	free(fill);
	end(&s);
}

int
main(void)
{
	if (mkdtemp(scratch) == NULL)
		return 1;
	RUN(a_piece_names_the_blocks_it_needs);
	RUN(several_threads_name_the_blocks_that_one_names);
	rmdir(scratch);
	return test_done();
}
