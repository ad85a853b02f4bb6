/*
 * test_index_read.c - what a good index gives its reader, and its bytes.
 */
#include <stddef.h>

#include "test.h"

#include "dray/frame.h"

#include "index_raw.h"

static void
accessors_give_what_was_written(void)
{
	static const uint8_t nul_ff[] = { 0, 0xff };
	struct dray_index_writer *w = raw_writer();
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_index *ix;
	struct dray_err e = { 0 };
	struct raw good = { 0 };
	struct dray_entry en;
	struct dray_state s;
	struct dray_attrs a;
	struct dray_xattr x;
	struct dray_alt al;
	struct dray_content c;
	struct dray_recipe r;
	struct dray_piece p;
	struct dray_frame f;

	raw_good(&good);
	CHECK_EQ(dray_iw_finish(w, 19, 2, &dir, &dir_len, &chunks, &chunks_len, &e), 0);
	CHECK_EQ(raw_load(raw_desc(&good, chunks_len), dir, dir_len, chunks, chunks_len, 2, &ix, &e), 0);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_ENTRIES), EN_ROWS);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_STATES), ST_ROWS);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_CONTENTS), CO_ROWS);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_ALTS), AL_ROWS);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_ATTRS), AT_ROWS);
	CHECK_EQ(dray_index_compset(ix, 1), 3);

	CHECK_EQ(dray_index_find(ix, "bin/ls", 6), EN_LS);
	CHECK_EQ(dray_index_find(ix, "y2", 2), EN_Y2);
	CHECK_EQ(dray_index_find(ix, "bin/l", 5), DRAY_NONE);
	CHECK_EQ(dray_index_find(ix, "", 0), DRAY_NONE);
	CHECK_EQ(dray_index_find(ix, "zz", 2), DRAY_NONE);
	dray_index_entry(ix, EN_LS, &en);
	CHECK(en.len == 6 && memcmp(en.path, "bin/ls", 6) == 0);
	CHECK_EQ(en.target, ST_LS);
	CHECK_EQ(en.alt_count, 2);
	dray_index_alt(ix, en.alt_first, &al);
	CHECK(al.state == ST_OLD && al.bases == 5);
	dray_index_alt(ix, en.alt_first + 1, &al);
	CHECK(al.state == DRAY_NONE && al.bases == 6);
	dray_index_entry(ix, EN_EMPTY, &en);
	CHECK_EQ(en.flags, DRAY_ENTRY_CONFIG);
	dray_index_entry(ix, EN_GONE, &en);
	CHECK_EQ(en.target, DRAY_NONE);

	dray_index_state(ix, ST_DIR, &s);
	CHECK(s.type == DRAY_DIR && s.has_mtime && s.mtime_sec == -5 && s.mtime_nsec == 999999999 && s.link == 0);
	CHECK_EQ(s.content, DRAY_NONE);
	dray_index_state(ix, ST_X, &s);
	CHECK(s.type == DRAY_FILE && !s.has_mtime && s.content == CO_X && s.link == EN_X1 + 1);
	dray_index_state(ix, ST_LNK, &s);
	CHECK(s.type == DRAY_SYMLINK && s.target_len == 5 && memcmp(s.target, "../x\n", 5) == 0);
	dray_index_state(ix, ST_BLK, &s);
	CHECK(s.type == DRAY_BLOCKDEV && s.rdev_major == 8 && s.rdev_minor == 1048575);

	dray_index_attrs(ix, AT_DIR, &a);
	CHECK(a.has == 7 && a.mode == 01755 && a.uid == 0 && a.gid == 7 && a.xattr_count == 0);
	dray_index_attrs(ix, AT_X0, &a);
	CHECK(a.xattr_first == 0 && a.xattr_count == 2);
	dray_index_xattr(ix, a.xattr_first + 1, &x);
	CHECK(x.name_len == 6 && memcmp(x.name, "user.b", 6) == 0 && x.len == 2 && memcmp(x.value, nul_ff, 2) == 0);
	dray_index_attrs(ix, AT_X1, &a);
	CHECK(a.xattr_first == 2 && a.xattr_count == 1 && a.flags == 0x10);
	dray_index_attrs(ix, AT_NONE, &a);
	CHECK(a.has == DRAY_HAS_XATTRS && a.xattr_count == 0);

	dray_index_content(ix, CO_BIG, &c);
	CHECK(c.size == 3000 && c.sha256[0] == 5 && c.recipe_count == 1);
	dray_index_recipe(ix, c.recipe_first, &r);
	CHECK(r.kind == DRAY_RECIPE_FULL && r.piece_count == 2);
	dray_index_piece(ix, r.piece_first + 1, &p);
	CHECK(p.frame == 2 && p.offset == 0 && p.len == 1000);
	dray_index_content(ix, CO_OLD, &c);
	CHECK(c.size == 90 && c.recipe_count == 0);
	dray_index_content(ix, CO_EMPTY, &c);
	CHECK(c.size == 0 && c.recipe_count == 1);
	dray_index_recipe(ix, c.recipe_first, &r);
	CHECK_EQ(r.piece_count, 0);

	dray_index_frame(ix, 1, &f);
	CHECK(f.kind == DRAY_FRAME_PLAIN && f.block == 0 && f.stored == 1500 && f.out == 2000 && f.sha256[0] == 0xab);
	CHECK_EQ(f.at, (RAW_INDEX_AT + chunks_len + 511) / 512 * 512 + 512 + 120);
	dray_index_frame(ix, 2, &f);
	CHECK_EQ(f.at, (RAW_INDEX_AT + chunks_len + 511) / 512 * 512 + 512 + (120 + 1500 + 511) / 512 * 512 + 512);

	dray_index_free(ix);
	dray_iw_free(w);
	free(dir);
	free(chunks);
	raw_free(&good);
}

/* the examples of bundle-format.md 5.4, byte for byte */
static void
rows_are_the_bytes_of_the_spec(void)
{
	static const struct { enum dray_table t; unsigned row; const char *hex; } rows[] = {
		{ DRAY_T_ENTRIES, EN_LS, "1d00000006000000000002000100000000000000" },
		{ DRAY_T_STATES, ST_DIR, "0201000000000000000000000000000000000000fbffffffffffffffffc99a3b" },
		{ DRAY_T_ALTS, AL_LS, "020000000500000000000000" },
		{ DRAY_T_ATTRS, AT_DIR, "07000000ed030000000000000700000000000000ffffffff" },
	};
	struct raw r = { 0 };

	raw_good(&r);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char hex[2 * F_WIDTH + 1];

		dray_hex(raw_row(&r, rows[i].t, rows[i].row), dray_index_width[rows[i].t], hex);
		CHECK_STR(hex, rows[i].hex);
	}
	raw_free(&r);
}

int
main(void)
{
	RUN(accessors_give_what_was_written);
	RUN(rows_are_the_bytes_of_the_spec);
	return test_done();
}
