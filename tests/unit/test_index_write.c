/*
 * test_index_write.c - the writer: rows found again, mistakes told at once, the same bytes from any number of threads,
 * and everything a path, a link or an attribute may hold comes back from the loader.
 */
#include <stddef.h>

#include "test.h"

#include "dray/path.h"

#include "index_raw.h"

/* lays out and loads what @w holds; the descriptor is the one of index_raw.h with @n_bases exact bases */
static struct dray_index *
finish(struct dray_index_writer *w, size_t n_bases, unsigned threads)
{
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct raw none = { 0 };
	struct dray_index *ix;
	struct dray_err e = { 0 };
	struct dray_desc *d;

	raw_need(dray_iw_finish(w, 3, threads, &dir, &dir_len, &chunks, &chunks_len, &e), &e);
	d = raw_desc(&none, chunks_len);
	d->n_bases = n_bases;
	raw_need(raw_load(d, dir, dir_len, chunks, chunks_len, threads, &ix, &e), &e);
	free(dir);
	free(chunks);
	return ix;
}

/* a writer with one attribute set, one component set, one directory state (row 0) */
static struct dray_index_writer *
begin(void)
{
	const struct dray_state dir = { .type = DRAY_DIR };
	const struct dray_attrs a = { 0 };
	struct dray_index_writer *w;
	struct dray_err e = { 0 };
	uint32_t row;

	raw_need(dray_iw_new(&w, &e), &e);
	raw_need(dray_iw_attrs(w, &a, NULL, 0, &row, &e), &e);
	raw_need(dray_iw_compset(w, 1, &row, &e), &e);
	raw_need(dray_iw_state(w, &dir, &row, &e), &e);
	return w;
}

static int
put_path(struct dray_index_writer *w, const char *path, size_t len, struct dray_err *e)
{
	const struct dray_entry en = { .path = path, .len = len, .target = 0 };

	return dray_iw_entry(w, &en, NULL, 0, e);
}

static void
names_of_any_bytes_come_back(void)
{
	static const char *const odd[] = { " ", "\n", "\"", "'", "*", "...", "a\nb", "a/\x01", "a\x01", "\\", "\x7f", "\xc3\x28", "\xff\xfe" };
	struct dray_index_writer *w = begin();
	struct dray_index *ix;
	struct dray_err e = { 0 };
	struct dray_entry en;
	char longest[DRAY_PATH_MAX], part[DRAY_NAME_MAX + 1];
	size_t n = sizeof odd / sizeof odd[0], at = 0, lens[DRAY_PATH_MAX];
	uint32_t parts = 0;

	/* in release order: '/' below every other byte */
	CHECK_EQ(put_path(w, "\n", 1, &e), 0);
	CHECK_EQ(put_path(w, " ", 1, &e), 0);
	CHECK_EQ(put_path(w, "\"", 1, &e), 0);
	CHECK_EQ(put_path(w, "'", 1, &e), 0);
	CHECK_EQ(put_path(w, "*", 1, &e), 0);
	CHECK_EQ(put_path(w, "...", 3, &e), 0);
	CHECK_EQ(put_path(w, "\\", 1, &e), 0);
	CHECK_EQ(put_path(w, "a", 1, &e), 0);
	CHECK_EQ(put_path(w, "a/\x01", 3, &e), 0);
	CHECK_EQ(put_path(w, "a\x01", 2, &e), 0);
	CHECK_EQ(put_path(w, "a\nb", 3, &e), 0);
	/* a path of 4095 bytes with all its parents; then one part of 255 bytes and 2048 parts of one byte */
	while (at < DRAY_PATH_MAX - 1) {
		size_t len = DRAY_PATH_MAX - 1 - at < 200 ? DRAY_PATH_MAX - 1 - at : 199;

		memset(longest + at, 'b', len);
		at += len;
		lens[parts++] = at;
		CHECK_EQ(put_path(w, longest, at, &e), 0);
		if (at < DRAY_PATH_MAX - 1)
			longest[at++] = '/';
	}
	memset(part, 'c', sizeof part);
	CHECK_EQ(put_path(w, part, DRAY_NAME_MAX, &e), 0);
	CHECK_EQ(put_path(w, part, DRAY_NAME_MAX + 1, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_EQ(put_path(w, "\x7f", 1, &e), 0);
	CHECK_EQ(put_path(w, "\xc3\x28", 2, &e), 0);
	CHECK_EQ(put_path(w, "\xff\xfe", 2, &e), 0);
	ix = finish(w, 0, 2);
	for (size_t i = 0; i < n; i++)
		CHECK(dray_index_find(ix, odd[i], strlen(odd[i])) != DRAY_NONE);
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t row = dray_index_find(ix, longest, lens[i]);

		CHECK(row != DRAY_NONE);
		dray_index_entry(ix, row, &en);
		CHECK(en.len == lens[i] && memcmp(en.path, longest, en.len) == 0);
	}
	CHECK_EQ(lens[parts - 1], 4095);
	CHECK(dray_index_find(ix, part, DRAY_NAME_MAX) != DRAY_NONE);
	dray_index_free(ix);
	dray_iw_free(w);
}

static void
the_deepest_tree_there_can_be_is_checked(void)
{
	struct dray_index_writer *w = begin();
	struct dray_index *ix;
	struct dray_err e = { 0 };
	char path[DRAY_PATH_MAX];

	for (size_t i = 0; i < DRAY_PATH_MAX; i++)
		path[i] = i % 2 == 0 ? 'd' : '/';
	for (size_t len = 1; len < DRAY_PATH_MAX; len += 2)
		CHECK_EQ(put_path(w, path, len, &e), 0);
	ix = finish(w, 0, 1);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_ENTRIES), 2048);
	dray_index_free(ix);
	dray_iw_free(w);
}

static void
equal_rows_are_found_again(void)
{
	static const uint8_t sha[2][32] = { { 1 }, { 2 } };
	const struct dray_xattr x[2][2] = {
		{ { "user.a", 6, sha[0], 2 }, { "user.b", 6, sha[0], 32 } }, { { "user.a", 6, sha[1], 2 }, { "user.b", 6, sha[0], 32 } },
	};
	struct dray_index_writer *w = begin();
	struct dray_err e = { 0 };
	uint32_t a, b, c;

	for (unsigned i = 0; i < 2; i++) {
		struct dray_attrs at = { .has = DRAY_HAS_XATTRS | DRAY_HAS_MODE, .mode = 0644 };

		CHECK_EQ(dray_iw_attrs(w, &at, x[i], 2, &a, &e), 0);
		CHECK_EQ(dray_iw_attrs(w, &at, x[0], 2, &b, &e), 0);
		CHECK_EQ(a == b, i == 0);
		CHECK_EQ(dray_iw_attrs(w, &at, x[i], 1, &c, &e), 0);
		CHECK(c != a);
		at.mode = 0600;
		CHECK_EQ(dray_iw_attrs(w, &at, x[i], 2, &c, &e), 0);
		CHECK(c != a);
		CHECK_EQ(dray_iw_content(w, 5 + i, sha[i], &a, &e), 0);
		CHECK_EQ(a, i);
	}
	CHECK_EQ(dray_iw_content(w, 5, sha[0], &a, &e), 0);
	CHECK_EQ(a, 0);
	CHECK_EQ(dray_iw_content(w, 6, sha[0], &a, &e), -1);
	CHECK_STR(e.text, "one hash with two sizes, 6 and 5");
	CHECK_EQ(dray_iw_compset(w, 6, &a, &e), 0);
	CHECK_EQ(dray_iw_compset(w, 1, &b, &e), 0);
	CHECK_EQ(dray_iw_compset(w, 6, &c, &e), 0);
	CHECK(a == c && b == 0);

	/* symlinks by their text, wherever it stands */
	for (unsigned i = 0; i < 3; i++) {
		struct dray_state s = { .type = DRAY_SYMLINK, .target = i == 1 ? "elsewhere" : "somewhere", .target_len = 9 };

		CHECK_EQ(dray_iw_state(w, &s, i == 0 ? &a : i == 1 ? &b : &c, &e), 0);
	}
	CHECK(a == c && a != b);
	/* enough of them for the table to grow */
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			struct dray_state s = { .type = DRAY_FIFO, .has_mtime = true, .mtime_sec = i };

			CHECK_EQ(dray_iw_state(w, &s, &a, &e), 0);
			CHECK_EQ(a, 3 + i);
		}
	dray_iw_free(w);
}

static void
mistakes_are_told_at_once_and_leave_nothing(void)
{
	static const uint8_t sha[32] = { 1 };
	static const struct dray_frame prefix = { .kind = 1, .stored = 1, .out = 1, .sha256 = sha },
	    skip = { .block = 1, .stored = 1, .out = 1, .sha256 = sha };
	const struct dray_xattr twice[] = { { "user.a", 6, sha, 1 }, { "user.a", 6, sha, 1 } }, none = { "", 0, sha, 1 };
	const struct dray_attrs mode = { .has = DRAY_HAS_MODE, .mode = 0100644 }, with = { .has = DRAY_HAS_XATTRS };
	const struct dray_state unknown = { .type = 9 }, far = { .type = DRAY_FIFO, .attrs = 1 },
	    empty = { .type = DRAY_SYMLINK, .target = "", .target_len = 0 };
	const struct dray_recipe full = { .kind = DRAY_RECIPE_FULL };
	struct dray_entry en = { .path = "b", .len = 1, .target = 1 };
	struct dray_index_writer *w = begin();
	struct dray_index *ix;
	struct dray_err e = { 0 };
	uint32_t row;

	CHECK_EQ(dray_iw_attrs(w, &mode, NULL, 0, &row, &e), -1);
	CHECK_STR(e.text, "mode 0100644 is above 07777");
	CHECK_EQ(dray_iw_attrs(w, &mode, twice, 1, &row, &e), -1);
	CHECK_STR(e.text, "xattrs are given and said to be absent");
	CHECK_EQ(dray_iw_attrs(w, &with, twice, 2, &row, &e), -1);
	CHECK_STR(e.text, "xattr user.a: names of set 0 do not ascend");
	CHECK_EQ(dray_iw_attrs(w, &with, &none, 1, &row, &e), -1);
	CHECK_STR(e.text, "xattr : its name has 0 bytes, not 1 to 255");
	CHECK_EQ(dray_iw_compset(w, 0, &row, &e), -1);
	CHECK_STR(e.text, "an empty component set");
	CHECK_EQ(dray_iw_state(w, &unknown, &row, &e), -1);
	CHECK_STR(e.text, "unknown type 9");
	CHECK_EQ(dray_iw_state(w, &far, &row, &e), -1);
	CHECK_STR(e.text, "names attribute set 1 of 1");
	CHECK_EQ(dray_iw_state(w, &empty, &row, &e), -1);
	CHECK_STR(e.text, "its symlink target has 0 bytes, not 1 to 4095");
	CHECK_EQ(put_path(w, "a", 1, &e), 0);
	CHECK_EQ(put_path(w, "a", 1, &e), -1);
	CHECK_STR(e.text, "entry 1 (a): the path does not follow the one before it");
	CHECK_EQ(put_path(w, "a/../b", 6, &e), -1);
	CHECK_HAS(e.text, "entry 1 (a/../b): not a path: ");
	CHECK_EQ(put_path(w, "var/lib/dray/x", 14, &e), -1);
	CHECK_STR(e.text, "entry 1 (var/lib/dray/x): the path is reserved for dray itself");
	CHECK_EQ(dray_iw_entry(w, &en, NULL, 0, &e), -1);
	CHECK_STR(e.text, "entry 1 (b): names state 1 of 1");
	CHECK_EQ(dray_iw_frame(w, &prefix, NULL, 0, &row, &e), -1);
	CHECK_STR(e.text, "frame 0: kind 1 without base ranges");
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_EQ(dray_iw_frame(w, &skip, NULL, 0, &row, &e), -1);
	CHECK_STR(e.text, "frame 0: block 1 is out of order");
	CHECK_EQ(dray_iw_recipes(w, 0, &full, 1, NULL, &e), -1);
	CHECK_STR(e.text, "recipes of content 0, there are 0");
	ix = finish(w, 0, 1);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_ENTRIES), 1);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_STATES), 1);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_ATTRS), 1);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_XATTRS), 0);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_STRINGS), 1);
	dray_index_free(ix);
	dray_iw_free(w);
}

static void
mistakes_of_the_whole_are_told_by_finish(void)
{
	static const uint8_t sha[32] = { 1 };
	struct dray_index_writer *w = begin();
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_err e = { 0 };
	uint32_t row;

	CHECK_EQ(put_path(w, "a/b", 3, &e), 0);
	CHECK_EQ(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &e), -1);
	CHECK_STR(e.text, "entry 0 (a/b): the release has no directory for it");
	CHECK(dir == NULL && chunks == NULL);
	dray_iw_free(w);

	w = begin();
	CHECK_EQ(dray_iw_content(w, 5, sha, &row, &e), 0);
	CHECK_EQ(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &e), -1);
	CHECK_STR(e.text, "content 0: no state names it");
	CHECK_EQ(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &e), -1);
	CHECK_STR(e.text, "the index is finished twice");
	dray_iw_free(w);
}

static void
contents_are_numbered_as_states_name_them(void)
{
	static const uint8_t sha[3][32] = { { 1 }, { 2 }, { 3 } };
	static const struct dray_piece pieces[3] = { { 0, 0, 10 }, { 0, 10, 20 }, { 0, 30, 30 } };
	static const uint32_t used[3] = { 2, 0, 1 };
	const struct dray_frame f = { .stored = 9, .out = 60, .sha256 = sha[0] };
	struct dray_index_writer *w = begin();
	uint8_t *dir, *chunks, frames[F_WIDTH] = { 0 };
	struct raw only = { .rows[DRAY_T_FRAMES] = 1, .t[DRAY_T_FRAMES] = frames };
	size_t dir_len, chunks_len;
	struct dray_index *ix;
	struct dray_desc *d;
	struct dray_err e = { 0 };
	uint32_t row;

	CHECK_EQ(dray_iw_frame(w, &f, NULL, 0, &row, &e), 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct dray_recipe r = { .kind = DRAY_RECIPE_FULL, .piece_count = 1 };
		const struct dray_piece *p = &pieces[i];

		CHECK_EQ(dray_iw_content(w, 10 * (i + 1), sha[i], &row, &e), 0);
		CHECK_EQ(dray_iw_recipes(w, row, &r, 1, &p, &e), 0);
		CHECK_EQ(dray_iw_recipes(w, row, &r, 1, &p, &e), -1);
		CHECK_HAS(e.text, "recipes are given twice");
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct dray_state s = { .type = DRAY_FILE, .content = used[i] };
		char name[] = { (char)('a' + i), 0 };
		struct dray_entry en = { .path = name, .len = 1 };

		CHECK_EQ(dray_iw_state(w, &s, &en.target, &e), 0);
		CHECK_EQ(dray_iw_entry(w, &en, NULL, 0, &e), 0);
	}
	CHECK_EQ(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &e), 0);
	dray_put_u32(frames + F_STORED, 9);
	d = raw_desc(&only, chunks_len);
	d->n_bases = 0;
	CHECK_EQ(raw_load(d, dir, dir_len, chunks, chunks_len, 1, &ix, &e), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct dray_content c;
		struct dray_recipe r;
		struct dray_piece p;
		struct dray_state s;

		dray_index_state(ix, 1 + i, &s);
		CHECK_EQ(s.content, i);
		dray_index_content(ix, i, &c);
		CHECK_EQ(c.sha256[0], used[i] + 1);
		CHECK_EQ(c.size, 10 * (used[i] + 1));
		dray_index_recipe(ix, c.recipe_first, &r);
		dray_index_piece(ix, r.piece_first, &p);
		CHECK_EQ(p.offset, pieces[used[i]].offset);
	}
	dray_index_free(ix);
	dray_iw_free(w);
	free(dir);
	free(chunks);
}

static void
alternatives_are_sorted_and_joined(void)
{
	const struct dray_alt alts[] = { { DRAY_NONE, 4 }, { 1, 1 }, { 0, 8 }, { 1, 2 }, { DRAY_NONE, 16 } };
	const struct dray_state s = { .type = DRAY_FIFO };
	const struct dray_entry en = { .path = "a", .len = 1, .target = 0 };
	struct dray_index_writer *w = begin();
	struct dray_index *ix;
	struct dray_err e = { 0 };
	struct dray_alt al;
	uint32_t row;

	CHECK_EQ(dray_iw_state(w, &s, &row, &e), 0);
	CHECK_EQ(dray_iw_entry(w, &en, alts, 5, &e), 0);
	ix = finish(w, 5, 1);
	CHECK_EQ(dray_index_rows(ix, DRAY_T_ALTS), 3);
	dray_index_alt(ix, 0, &al);
	CHECK(al.state == 0 && al.bases == 8);
	dray_index_alt(ix, 1, &al);
	CHECK(al.state == 1 && al.bases == 3);
	dray_index_alt(ix, 2, &al);
	CHECK(al.state == DRAY_NONE && al.bases == 20);
	dray_index_free(ix);
	dray_iw_free(w);
}

/* large enough for several chunks in three tables */
static struct dray_index_writer *
large(uint32_t n)
{
	struct dray_index_writer *w = begin();
	struct dray_err e = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct dray_state s = { .type = DRAY_FIFO, .has_mtime = true, .mtime_sec = 1700000000 + i * 7 % 1000, .mtime_nsec = i };
		char path[64];
		struct dray_entry en = { .path = path, .phase = (uint8_t)(i & 1) };

		raw_need(dray_iw_state(w, &s, &en.target, &e), &e);
		en.len = (size_t)snprintf(path, sizeof path, "some-longer-name-to-fill-the-strings-%08" PRIu32, i);
		raw_need(dray_iw_entry(w, &en, NULL, 0, &e), &e);
	}
	return w;
}

static void
any_number_of_threads_gives_the_same_bytes(void)
{
	static const unsigned threads[] = { 1, 2, 7 };
	uint8_t *dir[3], *chunks[3];
	size_t dir_len[3], chunks_len[3];
	struct raw none = { 0 };
	struct dray_err e = { 0 };

	for (size_t i = 0; i < 3; i++) {
		struct dray_index_writer *w = large(60000);

		CHECK_EQ(dray_iw_finish(w, 3, threads[i], &dir[i], &dir_len[i], &chunks[i], &chunks_len[i], &e), 0);
		CHECK_EQ(dir_len[i], dir_len[0]);
		CHECK_EQ(chunks_len[i], chunks_len[0]);
		CHECK(memcmp(dir[i], dir[0], dir_len[0]) == 0);
		CHECK(memcmp(chunks[i], chunks[0], chunks_len[0]) == 0);
		dray_iw_free(w);
	}
	for (size_t i = 0; i < 3; i++) {
		struct dray_desc *d = raw_desc(&none, chunks_len[0]);
		struct dray_index *ix = NULL;
		struct dray_entry en;

		d->n_bases = 0;
		CHECK_EQ(raw_load(d, dir[0], dir_len[0], chunks[0], chunks_len[0], threads[i], &ix, &e), 0);
		CHECK_EQ(dray_index_rows(ix, DRAY_T_ENTRIES), 60000);
		dray_index_entry(ix, 59999, &en);
		CHECK(en.len == 45 && memcmp(en.path, "some-longer-name-to-fill-the-strings-00059999", 45) == 0);
		CHECK_EQ(dray_index_find(ix, "some-longer-name-to-fill-the-strings-00052429", 45), 52429);
		dray_index_free(ix);
	}
	for (size_t i = 0; i < 3; i++) {
		free(dir[i]);
		free(chunks[i]);
	}
}

static void
an_empty_release_is_an_index_too(void)
{
	struct dray_index_writer *w;
	struct dray_index *ix;
	struct dray_err e = { 0 };

	CHECK_EQ(dray_iw_new(&w, &e), 0);
	ix = finish(w, 1, 2);
	for (unsigned t = 0; t < DRAY_TABLES; t++)
		CHECK_EQ(dray_index_rows(ix, (enum dray_table)t), 0);
	CHECK_EQ(dray_index_find(ix, "a", 1), DRAY_NONE);
	dray_index_free(ix);
	dray_iw_free(w);
	dray_index_free(NULL);
	dray_iw_free(NULL);
}

int
main(void)
{
	RUN(names_of_any_bytes_come_back);
	RUN(the_deepest_tree_there_can_be_is_checked);
	RUN(equal_rows_are_found_again);
	RUN(mistakes_are_told_at_once_and_leave_nothing);
	RUN(mistakes_of_the_whole_are_told_by_finish);
	RUN(contents_are_numbered_as_states_name_them);
	RUN(alternatives_are_sorted_and_joined);
	RUN(any_number_of_threads_gives_the_same_bytes);
	RUN(an_empty_release_is_an_index_too);
	return test_done();
}
