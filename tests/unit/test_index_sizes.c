/*
 * test_index_sizes.c - contents of unknown size: an index that has them where it may, and for each rule of
 * bundle-format.md 11.1 one index that breaks it alone.
 */
#include "index_bad.h"

/* OLD, which only bases have, and X, which bin/x1 and bin/x2 have in the release and all bases, lose their sizes; X its recipe */
static void
good_sizes(struct raw *r)
{
	static const uint32_t first[CO_ROWS] = { 0, 1, 1, 1, 2 };

	raw_good(r);
	for (uint32_t i = 0; i < CO_ROWS; i++)
		put(raw_row(r, DRAY_T_CONTENTS, i) + N_RECIPE, 4, first[i]);
	put(raw_row(r, DRAY_T_CONTENTS, CO_X) + N_RECIPES, 4, 0);
	put(raw_row(r, DRAY_T_CONTENTS, CO_X) + N_SIZE, 8, DRAY_SIZE_UNKNOWN);
	put(raw_row(r, DRAY_T_CONTENTS, CO_OLD) + N_SIZE, 8, DRAY_SIZE_UNKNOWN);
	memmove(raw_row(r, DRAY_T_RECIPES, 1), raw_row(r, DRAY_T_RECIPES, 2), 2 * R_WIDTH);
	put(raw_row(r, DRAY_T_RECIPES, 1) + R_PIECE, 4, 1);
	put(raw_row(r, DRAY_T_RECIPES, 2) + R_PIECE, 4, 1);
	memmove(raw_row(r, DRAY_T_PIECES, 1), raw_row(r, DRAY_T_PIECES, 2), 2 * P_WIDTH);
	r->rows[DRAY_T_RECIPES] = r->rows[DRAY_T_PIECES] = 3;
}

static const struct bad fine[] = {
	{ "fine", DRAY_OK, "", { { NOTHING, 0, 0, 0, 0, 0, NULL } } },
	/* not told by the flag, but by what the bases had: attributes alone change */
	{ "alternatives", DRAY_OK, "", { SET(DRAY_T_ENTRIES, EN_Y1, E_TARGET, 4, ST_Y) } },
}, bads[] = {
	{ "no feature", DAMAGED, "content 1: of unknown size without the feature \"history\"", { DECLARE(n_required, 1) } },
	{ "recipe", DAMAGED, "content 0: of unknown size, and yet it has recipes",
	    { SET(DRAY_T_CONTENTS, CO_LS, N_SIZE, 8, DRAY_SIZE_UNKNOWN) } },
	{ "nothing", DAMAGED, "content 3: its size does not fit its hash, which is or is not that of no bytes",
	    { SET(DRAY_T_CONTENTS, CO_EMPTY, N_SIZE, 8, DRAY_SIZE_UNKNOWN) } },
	{ "almost", DAMAGED, "content 1: 18446744073709551614 bytes are more than a file can have",
	    { SET(DRAY_T_CONTENTS, CO_OLD, N_SIZE, 8, DRAY_SIZE_UNKNOWN - 1) } },
	{ "absent in a base", DAMAGED, "entry 1 (bin/ls): a content of unknown size that not every base has here",
	    { SET(DRAY_T_ENTRIES, EN_LS, E_TARGET, 4, ST_OLD) } },
	{ "absent in all", DAMAGED, "entry 13 (var/big): a content of unknown size that not every base has here",
	    { SET(DRAY_T_ENTRIES, EN_BIG, E_TARGET, 4, ST_OLD) } },
	{ "another content", DAMAGED, "entry 8 (etc/empty): a content of unknown size that not every base has here",
	    { SET(DRAY_T_ENTRIES, EN_EMPTY, E_TARGET, 4, ST_OLD), SET(DRAY_T_ALTS, AL_EMPTY, L_STATE, 4, ST_LS) } },
	{ "another group", DAMAGED, "entry 14 (y1): a content of unknown size that not every base has here",
	    { SET(DRAY_T_ENTRIES, EN_Y1, E_TARGET, 4, ST_OLD) } },
	{ "a directory", DAMAGED, "entry 8 (etc/empty): a content of unknown size that not every base has here",
	    { SET(DRAY_T_ENTRIES, EN_EMPTY, E_TARGET, 4, ST_OLD), SET(DRAY_T_ALTS, AL_EMPTY, L_STATE, 4, ST_DIR) } },
};

static void
unknown_sizes_stand_where_nobody_needs_the_bytes(void)
{
	struct dray_err e = { 0 };

	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
		CHECK_EQ(load_bad(&fine[i], good_sizes, &e), 0);
		CHECK_STR(e.text, "");
	}
}

static void
each_rule_refuses_by_itself(void)
{
	check_bads(bads, sizeof bads / sizeof bads[0], good_sizes);
}

static void
an_unknown_size_is_every_size_and_none(void)
{
	static const uint8_t a[32] = { 1 }, b[32] = { 2 };
	const struct dray_content c = { .size = DRAY_SIZE_UNKNOWN, .sha256 = a }, known = { .size = 7, .sha256 = a };

	CHECK(dray_content_fits(&c, 0) && dray_content_fits(&c, 7));
	CHECK(dray_content_is(&c, 9, a) && !dray_content_is(&c, 9, b));
	CHECK_EQ(dray_content_bytes(&c), 0);
	CHECK(dray_content_fits(&known, 7) && !dray_content_fits(&known, 8));
	CHECK(dray_content_is(&known, 7, a) && !dray_content_is(&known, 8, a) && !dray_content_is(&known, 7, b));
	CHECK_EQ(dray_content_bytes(&known), 7);
}

int
main(void)
{
	RUN(unknown_sizes_stand_where_nobody_needs_the_bytes);
	RUN(each_rule_refuses_by_itself);
	RUN(an_unknown_size_is_every_size_and_none);
	return test_done();
}
