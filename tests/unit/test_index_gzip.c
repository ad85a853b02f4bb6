/*
 * test_index_gzip.c - the index of a bundle that looks into .gz: wrapped recipes and ranges of an inside are read as they were
 * written, and for each rule of bundle-format.md 6.6 one index that breaks it alone.
 */
#include "dray/gzip.h"

#include "index_bad.h"
#include "index_raw_delta.h"

enum { INSIDE = 900, GZ = 500, OLD_INSIDE = 1500 };	/* bytes: of NEW inside and as it is, of OLD inside (it is 1000 as it is) */

/* NEW is a .gz, made from the inside of OLD or in full */
static void
good_gzip(struct raw *r)
{
	raw_delta_good(r);
	raw_row(r, DRAY_T_RECIPES, TO_NEW)[R_WRAP] = DRAY_DEFLATE_GNU_9;
	raw_row(r, DRAY_T_RECIPES, TO_NEW_FULL)[R_WRAP] = DRAY_DEFLATE_ZLIB_6_LARGE;
	dray_put_u64(raw_row(r, DRAY_T_CONTENTS, NEW) + N_SIZE, GZ);
	dray_put_u64(raw_row(r, DRAY_T_RANGES, 0) + G_OFFSET, UINT64_C(1) << 63);
	dray_put_u64(raw_row(r, DRAY_T_RANGES, 0) + G_LEN, OLD_INSIDE);
}

static void
it_loads(void)
{
	static const struct bad fine[] = {
		{ "fine", DRAY_OK, "", { { NOTHING, 0, 0, 0, 0, 0, NULL } } },
		{ "as large as can be", DRAY_OK, "", { SET(DRAY_T_CONTENTS, NEW, N_SIZE, 8, INSIDE + INSIDE / 256 + 1024),
		    SET(DRAY_T_CONTENTS, OLD, N_SIZE, 8, OLD_INSIDE + OLD_INSIDE / 256 + 1024) } },
		{ "unwrapped beside it", DRAY_OK, "", { SET(DRAY_T_RECIPES, TO_NEW_FULL, R_WRAP, 1, 0),
		    SET(DRAY_T_PIECES, 1, P_LEN, 4, GZ) } },
	};
	struct dray_err e = { 0 };

	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
		CHECK_EQ(load_bad(&fine[i], good_gzip, &e), 0);
		CHECK_STR(e.text, "");
	}
}

static const struct bad bads[] = {
	{ "no feature, range", DAMAGED, "frame 0: range 0: the inside of a .gz without the feature \"gzip\"",
	    { DECLARE(n_required, 2) } },
	{ "no feature, recipe", DAMAGED, "content 3: recipe 0: the inside of a .gz without the feature \"gzip\"",
	    { DECLARE(n_required, 2), SET(DRAY_T_RANGES, 0, G_OFFSET, 8, 0), SET(DRAY_T_RANGES, 0, G_LEN, 8, 10) } },
	{ "encoder 7", NEWER, "content 3: recipe 0: gzip encoder 7 is not known to this version",
	    { SET(DRAY_T_RECIPES, TO_NEW, R_WRAP, 1, DRAY_DEFLATE_LAST + 1) } },
	{ "reserved", DAMAGED, "content 3: recipe 0: a reserved byte is not zero",
	    { SET(DRAY_T_RECIPES, TO_NEW, R_ZERO, 2, 0x100) } },
	{ "a wrapped copy", DAMAGED, "content 5: recipe 0: a wrapped copy",
	    { SET(DRAY_T_RECIPES, TO_MOVED, R_WRAP, 1, 1) } },
	{ "no piece", DAMAGED, "content 3: recipe 1: 0 pieces for the inside of a .gz, which is one",
	    { SET(DRAY_T_RECIPES, TO_NEW_FULL, R_PIECES, 4, 0) } },
	{ "a larger .gz", DAMAGED, "content 3: recipe 0: an inside of 900 bytes for a .gz of 1928",
	    { SET(DRAY_T_CONTENTS, NEW, N_SIZE, 8, INSIDE + INSIDE / 256 + 1024 + 1) } },
	{ "a part of an inside", DAMAGED, "frame 0: range 0: is not an inside that content 0 can have",
	    { SET(DRAY_T_RANGES, 0, G_OFFSET, 8, (UINT64_C(1) << 63) + 1) } },
	{ "too large an inside", DAMAGED, "frame 0: range 0: is not an inside that content 0 can have",
	    { SET(DRAY_T_RANGES, 0, G_LEN, 8, DRAY_GZIP_MAX + 1) } },
	{ "an inside of nothing", DAMAGED, "frame 0: range 0: lies outside content 0",
	    { SET(DRAY_T_RANGES, 0, G_LEN, 8, 0) } },
	{ "a base that is larger", DAMAGED, "frame 0: range 0: is not an inside that content 0 can have",
	    { SET(DRAY_T_CONTENTS, OLD, N_SIZE, 8, OLD_INSIDE + OLD_INSIDE / 256 + 1025) } },
	{ "memory", DAMAGED, "frame 0: needs 3374 bytes of memory, the limit is 3373",
	    { DECLARE(limit_memory, 3373) } },
};

static void
each_rule_refuses_by_itself(void)
{
	check_bads(bads, sizeof bads / sizeof bads[0], good_gzip);
}

static void
what_is_read_is_what_was_written(void)
{
	struct raw r = { 0 };
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_err e = { 0 };
	struct dray_index *ix;
	struct dray_recipe rec;
	struct dray_range g;

	good_gzip(&r);
	raw_pack(&r, &dir, &dir_len, &chunks, &chunks_len);
	raw_need(raw_load(raw_desc(&r, chunks_len), dir, dir_len, chunks, chunks_len, 1, &ix, &e), &e);
	dray_index_range(ix, 0, &g);
	CHECK(g.inside && g.offset == 0 && g.len == OLD_INSIDE && g.content == OLD);
	dray_index_range(ix, 1, &g);
	CHECK(!g.inside && g.offset == 0 && g.len == 64);
	dray_index_recipe(ix, TO_NEW, &rec);
	CHECK_EQ(rec.wrap, DRAY_DEFLATE_GNU_9);
	dray_index_recipe(ix, TO_NEW_FULL, &rec);
	CHECK_EQ(rec.wrap, DRAY_DEFLATE_ZLIB_6_LARGE);
	dray_index_recipe(ix, TO_CODE, &rec);
	CHECK_EQ(rec.wrap, DRAY_DEFLATE_NONE);
	dray_index_free(ix);
	free(dir);
	free(chunks);
	raw_free(&r);
}

int
main(void)
{
	RUN(it_loads);
	RUN(each_rule_refuses_by_itself);
	RUN(what_is_read_is_what_was_written);
	return test_done();
}
