/*
 * test_index_delta.c - the index of a bundle with deltas: what is read is what was written, and for each rule of
 * bundle-format.md 6.2, 6.3 and 7 on bases, kinds, filters and recipes one index that breaks it alone.
 */
#include "index_bad.h"
#include "index_raw_delta.h"

static void
what_is_read_is_what_was_written(void)
{
	struct dray_index *ix = raw_delta_load();
	struct dray_content c;
	struct dray_recipe r;
	struct dray_range g;
	struct dray_frame f;

	CHECK_EQ(dray_index_rows(ix, DRAY_T_RANGES), 4);
	dray_index_frame(ix, PREFIX, &f);
	CHECK(f.kind == DRAY_FRAME_PREFIX && f.filter == 0 && f.raw == 900 && f.range_first == 0 && f.range_count == 3);
	for (uint32_t i = 0; i < 3; i++) {
		dray_index_range(ix, i, &g);
		/* numbered as states name the contents, whatever numbers the writer had */
		CHECK_EQ(g.content, prefix_ranges[i].content);
		CHECK_EQ(g.offset, prefix_ranges[i].offset);
		CHECK_EQ(g.len, prefix_ranges[i].len);
	}
	dray_index_frame(ix, ADDCOPY, &f);
	CHECK(f.kind == DRAY_FRAME_ADDCOPY && f.filter == DRAY_FILTER_X86 && f.out == 300 && f.raw == 332);
	CHECK(f.range_first == 3 && f.range_count == 1);
	dray_index_range(ix, 3, &g);
	CHECK(g.content == OLD_0 && g.offset == 100 && g.len == 400);
	dray_index_frame(ix, PLAIN, &f);
	CHECK(f.raw == 900 && f.range_first == 4 && f.range_count == 0);
	dray_index_content(ix, NEW, &c);
	CHECK_EQ(c.recipe_count, 2);
	dray_index_recipe(ix, c.recipe_first, &r);
	CHECK_EQ(r.kind, DRAY_RECIPE_DELTA);
	dray_index_recipe(ix, c.recipe_first + 1, &r);
	CHECK_EQ(r.kind, DRAY_RECIPE_FULL);
	dray_index_content(ix, MOVED, &c);
	dray_index_recipe(ix, c.recipe_first, &r);
	CHECK(c.recipe_count == 1 && r.kind == DRAY_RECIPE_COPY && r.piece_count == 0);
	dray_index_free(ix);
}

static const struct bad bads[] = {
	/* the feature */
	{ "no feature", DAMAGED, "frame 0: kind 1, filter 0 without the feature \"delta\"",
	    { DECLARE(n_required, 0) } },
	{ "no feature, filter alone", DAMAGED, "frame 0: kind 0, filter 1 without the feature \"delta\"",
	    { DECLARE(n_required, 0), SET(DRAY_T_FRAMES, PREFIX, F_KIND, 1, 0), SET(DRAY_T_FRAMES, PREFIX, F_FILTER, 1, 1) } },
	/* kinds and what is in their frames */
	{ "kind 3", NEWER, "frame 1: kind 3 is not known to this version",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_KIND, 1, 3) } },
	{ "filter 2", NEWER, "frame 1: filter 2 is not known to this version",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_FILTER, 1, 2) } },
	{ "codec 2", NEWER, "frame 1: codec 2 is not known to this version",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_CODEC, 1, 2) } },
	{ "codec 1, no feature", DAMAGED, "frame 1: codec 1 without the feature \"lzma\"",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_CODEC, 1, DRAY_CODEC_LZMA) } },
	{ "prefix raw", DAMAGED, "frame 0: 901 bytes in its data do not fit 900 bytes of output",
	    { SET(DRAY_T_FRAMES, PREFIX, F_RAW, 4, 901) } },
	{ "plain raw", DAMAGED, "frame 2: 899 bytes in its data do not fit 900 bytes of output",
	    { SET(DRAY_T_FRAMES, PLAIN, F_RAW, 4, 899) } },
	{ "addcopy raw low", DAMAGED, "frame 1: 314 bytes in its data do not fit 300 bytes of output",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RAW, 4, 314) } },
	{ "addcopy raw lower than output", DAMAGED, "frame 1: 299 bytes in its data do not fit 300 bytes of output",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RAW, 4, 299) } },
	{ "addcopy raw high", DAMAGED, "frame 1: 527 bytes in its data do not fit 300 bytes of output",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RAW, 4, 527) } },
	{ "addcopy raw huge", DAMAGED, "frame 1: 4294967295 bytes in its data do not fit 300 bytes of output",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RAW, 4, UINT32_MAX) } },
	{ "addcopy stored", DAMAGED, "frame 1: 1358 stored bytes for 300 bytes of output",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_STORED, 4, 1358) } },
	{ "memory", DAMAGED, "frame 0: needs 2374 bytes of memory, the limit is 2373",
	    { DECLARE(limit_memory, 2373) } },
	/* ranges */
	{ "prefix without", DAMAGED, "frame 0: kind 1 without base ranges",
	    { SET(DRAY_T_FRAMES, PREFIX, F_RANGES, 4, 0) } },
	{ "addcopy without", DAMAGED, "frame 1: kind 2 without base ranges",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RANGES, 4, 0) } },
	{ "plain with", DAMAGED, "frame 2: a plain frame has base ranges",
	    { SET(DRAY_T_FRAMES, PLAIN, F_RANGES, 4, 1) } },
	{ "many", DAMAGED, "frame 1: 65537 base ranges are above 65536",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RANGES, 4, 65537) } },
	{ "beyond the table", DAMAGED, "frame 1: its base ranges do not follow those before them",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RANGES, 4, 2) } },
	{ "shared", DAMAGED, "frame 1: its base ranges do not follow those before them",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RANGE, 4, 2) } },
	{ "left out", DAMAGED, "frame 1: its base ranges do not follow those before them",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_RANGE, 4, 4) } },
	{ "plain first", DAMAGED, "frame 2: its base ranges do not follow those before them",
	    { SET(DRAY_T_FRAMES, PLAIN, F_RANGE, 4, 0) } },
	{ "table too short", DAMAGED, "frame 1: its base ranges do not follow those before them",
	    { COUNT(DRAY_T_RANGES, 3) } },
	{ "unowned", DAMAGED, "range 3: belongs to no frame",
	    { SET(DRAY_T_FRAMES, ADDCOPY, F_KIND, 1, 0), SET(DRAY_T_FRAMES, ADDCOPY, F_RANGES, 4, 0),
	    SET(DRAY_T_FRAMES, ADDCOPY, F_RAW, 4, 300), SET(DRAY_T_FRAMES, PLAIN, F_RANGE, 4, 3) } },
	{ "content", DAMAGED, "frame 1: range 0: names content 7 of 7",
	    { SET(DRAY_T_RANGES, 3, G_CONTENT, 4, CONTENTS) } },
	{ "empty", DAMAGED, "frame 0: range 1: lies outside content 6",
	    { SET(DRAY_T_RANGES, 1, G_LEN, 8, 0) } },
	{ "end", DAMAGED, "frame 0: range 1: lies outside content 6",
	    { SET(DRAY_T_RANGES, 1, G_LEN, 8, 65) } },
	{ "offset", DAMAGED, "frame 0: range 1: lies outside content 6",
	    { SET(DRAY_T_RANGES, 1, G_OFFSET, 8, 1) } },
	{ "wraps", DAMAGED, "frame 0: range 1: lies outside content 6",
	    { SET(DRAY_T_RANGES, 1, G_OFFSET, 8, 64), SET(DRAY_T_RANGES, 1, G_LEN, 8, UINT64_MAX - 10) } },
	{ "unknown size", DAMAGED, "frame 0: range 1: content 6 is of unknown size",
	    { SET(DRAY_T_CONTENTS, KEPT, N_SIZE, 8, DRAY_SIZE_UNKNOWN) } },
	{ "too much", DAMAGED, "frame 0: its base ranges are above 67108864 bytes",
	    { SET(DRAY_T_CONTENTS, KEPT, N_SIZE, 8, INT64_MAX), SET(DRAY_T_RANGES, 1, G_LEN, 8, 67108865 - 500) } },
	{ "too much, sum wraps", DAMAGED, "frame 0: its base ranges are above 67108864 bytes",
	    { SET(DRAY_T_CONTENTS, KEPT, N_SIZE, 8, INT64_MAX), SET(DRAY_T_RANGES, 1, G_LEN, 8, INT64_MAX) } },
	{ "content of the release only", DAMAGED, "frame 1: no base has all contents it builds on",
	    { SET(DRAY_T_RANGES, 3, G_CONTENT, 4, NEW) , SET(DRAY_T_RANGES, 3, G_LEN, 8, 1) } },
	{ "two bases", DAMAGED, "frame 0: no base has all contents it builds on",
	    { SET(DRAY_T_RANGES, 0, G_CONTENT, 4, OLD_1), SET(DRAY_T_RANGES, 0, G_LEN, 8, 1),
	    SET(DRAY_T_RANGES, 1, G_CONTENT, 4, OLD_0) } },
	/* recipes */
	{ "kind 4", NEWER, "content 3: recipe 0: kind 4 is not known to this version",
	    { SET(DRAY_T_RECIPES, TO_NEW, R_KIND, 1, 4) } },
	{ "full from a base", DAMAGED, "content 4: recipe 0: piece 0: frame 1 needs a base, a full recipe has none",
	    { SET(DRAY_T_RECIPES, TO_CODE, R_KIND, 1, 1) } },
	{ "delta without a base", DAMAGED, "content 3: recipe 1: a delta none of whose frames has a base",
	    { SET(DRAY_T_RECIPES, TO_NEW_FULL, R_KIND, 1, 2) } },
	{ "full first", DAMAGED, "content 3: recipe 1: follows the full one, which must be the last",
	    { SET(DRAY_T_RECIPES, TO_NEW, R_KIND, 1, 1), SET(DRAY_T_PIECES, 0, P_FRAME, 4, PLAIN),
	    SET(DRAY_T_RECIPES, TO_NEW_FULL, R_KIND, 1, 2), SET(DRAY_T_PIECES, 1, P_FRAME, 4, PREFIX) } },
	{ "copy with pieces", DAMAGED, "content 4: recipe 0: a copy with pieces",
	    { SET(DRAY_T_RECIPES, TO_CODE, R_KIND, 1, 3) } },
	{ "copy not first", DAMAGED, "content 4: recipe 1: a copy, which must be the first",
	    { SET(DRAY_T_CONTENTS, CODE, N_RECIPES, 4, 2), SET(DRAY_T_CONTENTS, MOVED, N_RECIPE, 4, 4),
	    SET(DRAY_T_CONTENTS, MOVED, N_RECIPES, 4, 0), SET(DRAY_T_CONTENTS, KEPT, N_RECIPE, 4, 4) } },
	{ "copy of what no base has", DAMAGED, "content 5: recipe 0: a copy of what no base has",
	    { SET(DRAY_T_ALTS, 5, L_STATE, 4, KEPT) } },
	{ "delta sum", DAMAGED, "content 4: recipe 0: its pieces make 300 bytes of 301",
	    { SET(DRAY_T_CONTENTS, CODE, N_SIZE, 8, 301) } },
	{ "filtered in part", DAMAGED, "content 4: recipe 0: piece 0: is not the one use of all of frame 1, which is filtered",
	    { SET(DRAY_T_PIECES, 2, P_LEN, 4, 299) } },
	{ "filtered twice", DAMAGED, "content 4: recipe 0: piece 0: is not the one use of all of frame 0, which is filtered",
	    { SET(DRAY_T_FRAMES, PREFIX, F_FILTER, 1, 1), SET(DRAY_T_PIECES, 2, P_FRAME, 4, PREFIX) ,
	    SET(DRAY_T_PIECES, 2, P_LEN, 4, 900), SET(DRAY_T_CONTENTS, CODE, N_SIZE, 8, 900) } },
};

static void
each_rule_refuses_by_itself(void)
{
	check_bads(bads, sizeof bads / sizeof bads[0], raw_delta_good);
}

/* all that is sent is the word that a file has moved */
static void
good_copy_only(struct raw *r)
{
	raw_delta_good(r);
	r->rows[DRAY_T_FRAMES] = r->rows[DRAY_T_RANGES] = r->rows[DRAY_T_PIECES] = 0;
	r->rows[DRAY_T_RECIPES] = 1;
	memcpy(raw_row(r, DRAY_T_RECIPES, 0), raw_row(r, DRAY_T_RECIPES, TO_MOVED), R_WIDTH);
	dray_put_u32(raw_row(r, DRAY_T_RECIPES, 0) + R_PIECE, 0);
	for (uint32_t i = 0; i < CONTENTS; i++) {
		dray_put_u32(raw_row(r, DRAY_T_CONTENTS, i) + N_RECIPE, i > MOVED);
		dray_put_u32(raw_row(r, DRAY_T_CONTENTS, i) + N_RECIPES, i == MOVED);
	}
}

static void
a_copy_alone_needs_the_feature(void)
{
	static const struct bad fine = { "fine", DRAY_OK, "", { { NOTHING, 0, 0, 0, 0, 0, NULL } } },
	    no_feature = { "only a copy", DAMAGED, "content 5: recipe 0: kind 3 without the feature \"delta\"",
	    { DECLARE(n_required, 0) } };
	struct dray_err e = { 0 };

	CHECK_EQ(load_bad(&fine, good_copy_only, &e), 0);
	check_bads(&no_feature, 1, good_copy_only);
}

static void
a_writer_refuses_what_a_reader_would(void)
{
	static const uint8_t sha[32] = { 1 };
	const struct dray_frame f = { .kind = DRAY_FRAME_PREFIX, .stored = 9, .out = 100, .sha256 = sha };
	const struct dray_range out = { 0, 990, 11, false }, unknown = { CONTENTS, 0, 1, false }, fine = { 0, 0, 1, false };
	struct dray_index_writer *w;
	struct dray_err e = { 0 };
	uint32_t rows[CONTENTS], row;

	raw_need(dray_iw_new(&w, &e), &e);
	raw_delta_tree(w, rows);
	CHECK_EQ(dray_iw_frame(w, &f, &unknown, 1, &row, &e), -1);
	CHECK_STR(e.text, "frame 0: range 0: names content 7 of 7");
	CHECK_EQ(dray_iw_frame(w, &f, &(struct dray_range){ rows[OLD], out.offset, out.len, false }, 1, &row, &e), -1);
	CHECK_HAS(e.text, "frame 0: range 0: lies outside content ");
	CHECK_EQ(dray_iw_frame(w, &f, NULL, 0, &row, &e), -1);
	CHECK_STR(e.text, "frame 0: kind 1 without base ranges");
	/* nothing is left of the refused ones */
	CHECK_EQ(dray_iw_frame(w, &f, &fine, 1, &row, &e), 0);
	CHECK_EQ(row, 0);
	CHECK_EQ(dray_iw_frame(w, &f, &fine, 1, &row, &e), 0);
	dray_iw_free(w);
}

int
main(void)
{
	RUN(what_is_read_is_what_was_written);
	RUN(each_rule_refuses_by_itself);
	RUN(a_copy_alone_needs_the_feature);
	RUN(a_writer_refuses_what_a_reader_would);
	return test_done();
}
