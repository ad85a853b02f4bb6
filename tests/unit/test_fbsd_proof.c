/*
 * test_fbsd_proof.c - a release against upstream's list: what is equal passes, and each field that is not is named.
 */
#include <stdlib.h>

#include "test.h"

#include "dray/fbsd_proof.h"
#include "dray/num.h"

#include "fbsd_release.h"
#include "index_raw.h"

/* @rows against the list; Return: as dray_fbsd_compare */
static int
compare(const struct row *rows, size_t n, const char *os, const char *left_out, struct dray_fbsd_proof *p, struct dray_err *e)
{
	const struct dray_fbsd_list l = { .file = "INDEX-ALL", .of = "14.0-RELEASE/amd64", .p = list, .len = sizeof(list) - 1,
		.tree = true };
	struct dray_err se = { .code = DRAY_OK };
	struct raw none = { 0 };
	struct dray_index_writer *w;
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_index *ix;
	struct dray_desc *d;
	int rc;

	raw_need(dray_iw_new(&w, &se), &se);
	for (size_t i = 0; i < n; i++)
		release_put(w, &rows[i]);
	raw_need(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &se), &se);
	dray_iw_free(w);
	d = raw_desc(&none, chunks_len);
	snprintf(d->os, sizeof(d->os), "%s", os);
	d->n_bases = 0;
	d->n_components = 2;
	snprintf(d->components[0], sizeof(d->components[0]), "kernel/generic");
	snprintf(d->components[1], sizeof(d->components[1]), "world/base");
	raw_need(raw_load(d, dir, dir_len, chunks, chunks_len, 1, &ix, &se), &se);
	*p = (struct dray_fbsd_proof){ .lines = 0 };
	dray_err_clear(e);
	rc = dray_fbsd_compare(d, ix, &l, left_out, strlen(left_out), p, e);
	dray_index_free(ix);
	free(dir);
	free(chunks);
	return rc;
}

static void
what_is_equal_passes_and_what_is_not_there_is_counted(void)
{
	struct dray_fbsd_proof p;
	struct dray_err e;

	CHECK_EQ(compare(good, ROWS, "freebsd", left, &p, &e), 0);
	CHECK_STR(e.text, "");
	CHECK_EQ(p.lines, 12);
	CHECK_EQ(p.paths, ROWS);
	CHECK_EQ(p.removed, 0);
	CHECK_EQ(p.n_left, 4);
	CHECK(p.n_left == 4 && p.left[0].how == DRAY_LEFT_COMPONENT && p.left[0].lines == 2 && memcmp(p.left[0].name, "world|lib32", 11) == 0);
	CHECK(p.n_left == 4 && p.left[1].how == DRAY_LEFT_BENEATH && p.left[1].lines == 1 && p.left[1].len == 3);
	CHECK(p.n_left == 4 && p.left[2].how == DRAY_LEFT_ALL && p.left[2].lines == 1);
	CHECK(p.n_left == 4 && p.left[3].how == DRAY_LEFT_TWICE && memcmp(p.left[3].name, "boot", 4) == 0);
	free(p.left);
}

static void
each_field_is_held_against_the_line(void)
{
	static const struct { size_t at; struct row is; const char *says; } v[] = {
		{ 0, { "a", DRAY_FILE, ALL, 1, 5, 0444, 0, B, 0, 2, false, false }, "a: owner: 1 in the bundle, 0 in the list" },
		{ 3, { "boot/kernel", DRAY_FILE, ALL, 0, 7, 0555, 0x20000, A, 0, 1, false, false }, "boot/kernel: group: 7 in the bundle, 0 in" },
		{ 4, { "c", DRAY_FILE, ALL, 0, 5, 0555, 0, B, 0, 2, false, false }, "c: mode: 0555 in the bundle, 4555 in the list" },
		{ 6, { "tmp", DRAY_DIR, ALL, 0, 0, 0777, 0, NULL, 0, 2, false, false }, "tmp: mode: 0777 in the bundle, 1777 in" },
		{ 3, { "boot/kernel", DRAY_FILE, ALL, 0, 0, 0555, 0, A, 0, 1, false, false }, "boot/kernel: flags: 0 in the bundle, 0x20000 in" },
		{ 3, { "boot/kernel", DRAY_FILE, UGM, 0, 0, 0555, 0, A, 0, 1, false, false }, "boot/kernel: flags: not told in the bundle, 0x20000" },
		{ 3, { "boot/kernel", DRAY_FILE, ALL, 0, 0, 0555, 0x20000, B, 0, 1, false, false }, "boot/kernel: content: " B " in the bundle, " A " in the list" },
		{ 4, { "c", DRAY_FILE, ALL | DRAY_HAS_XATTRS, 0, 5, 04555, 0, B, 0, 2, false, true }, "c: extended attributes: told in the bundle, not told" },
		{ 4, { "c", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 2, true, false }, "c: time: told in the bundle, not in the list" },
		{ 4, { "c", DRAY_DIR, ALL, 0, 5, 04555, 0, NULL, 0, 2, false, false }, "c: type: directory in the bundle, file in the list" },
		{ 4, { "c", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 1, false, false }, "c: components: others in the bundle" },
		{ 2, { "boot", DRAY_DIR, ALL, 0, 0, 0700, 0, NULL, 0, 1, false, false }, "boot: components: others in the bundle" },
		{ 5, { "l", DRAY_SYMLINK, DRAY_HAS_UID | DRAY_HAS_GID, 0, 0, 0, 0, "/target", 0, 2, false, false }, "l: target: \"/target\" in the bundle, \"../target\" in" },
		{ 5, { "l", DRAY_FIFO, ALL, 0, 0, 0755, 0, NULL, 0, 2, false, false }, "l: type: fifo in the bundle, symlink in the list" },
		{ 1, { "b", DRAY_FILE, ALL, 0, 5, 0444, 0, B, 0, 2, false, false },
		  "2 paths are not as upstream's list has them; the first: a: hard link: of none in the bundle, of a in the list" },
		{ 4, { "cc", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 2, false, false },
		  "2 paths are not as upstream's list has them; the first: c: it is in the list, and neither" },
		{ 6, { "zz", DRAY_DIR, ALL, 0, 0, 0755, 0, NULL, 0, 2, false, false },
		  "2 paths are not as upstream's list has them; the first: tmp: it is in the list" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_proof p;
		struct dray_err e;
		struct row rows[ROWS];

		memcpy(rows, good, sizeof(rows));
		rows[v[i].at] = v[i].is;
		if (v[i].at == 0)	/* then the other name stands alone */
			rows[1].link = 0;
		if (v[i].at == 1)
			rows[0].link = 0;
		CHECK_EQ(compare(rows, ROWS, "freebsd", left, &p, &e), -1);
		CHECK_EQ(e.code, DRAY_E_TRUST);
		CHECK_HAS(e.text, v[i].says);
		CHECK_HAS(e.hint, "whoever signed the bundle changed what upstream had signed");
		free(p.left);
	}
}

static void
a_path_too_many_is_named(void)
{
	struct dray_fbsd_proof p;
	struct dray_err e;
	struct row rows[ROWS + 1];

	memcpy(rows, good, sizeof(good));
	rows[ROWS] = (struct row){ "tmp2", DRAY_DIR, ALL, 0, 0, 0755, 0, NULL, 0, 2, false, false };
	CHECK_EQ(compare(rows, ROWS + 1, "freebsd", left, &p, &e), -1);
	CHECK_STR(e.text, "tmp2: it is in the bundle, and not in the list");
	free(p.left);
}

static void
flags_are_those_of_the_bundles_system(void)
{
	struct dray_fbsd_proof p;
	struct dray_err e;
	struct row rows[ROWS];

	memcpy(rows, good, sizeof(rows));
	rows[3].flags = 0x10;	/* chattr +i */
	CHECK_EQ(compare(rows, ROWS, "linux", left, &p, &e), 0);
	free(p.left);
	for (size_t i = 0; i < ROWS; i++) {
		rows[i].has &= (uint16_t)~DRAY_HAS_FLAGS;
		rows[i].flags = 0;
	}
	CHECK_EQ(compare(rows, ROWS, "any", left, &p, &e), 0);
	free(p.left);
}

static void
what_was_left_out_has_to_be_told_rightly(void)
{
	static const struct { const char *text, *says; } v[] = {
		{ "", "2 paths are not as upstream's list has them; the first: tmp/x: it is in the list" },
		{ "all|z|x\n", "tmp/x: it is in the list" },
		{ "beneath|tmp|x\nbeneath|z|x\n", "z: it is in the list" },
		{ "all|tmp|x\nall|z", "line 2 of notes/upstream-left-out says nothing" },
		{ "all|z|x\nall|tmp|x\n", "line 2 of notes/upstream-left-out says nothing" },
		{ "all|tmp|x\nall|tmp/x|x\n", "line 2 of notes/upstream-left-out says nothing" },
		{ "all|tmp|x\nall|z|\n", "line 2 of notes/upstream-left-out says nothing" },
		{ "some|tmp|x\n", "line 1 of notes/upstream-left-out says nothing" },
		{ "all||x\n", "line 1 of notes/upstream-left-out says nothing" },
		{ "all|../tmp|x\n", "line 1 of notes/upstream-left-out says nothing" },
		{ "\n", "line 1 of notes/upstream-left-out says nothing" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_proof p;
		struct dray_err e;

		CHECK_EQ(compare(good, ROWS, "freebsd", v[i].text, &p, &e), -1);
		CHECK_HAS(e.text, v[i].says);
		free(p.left);
	}
}

int
main(void)
{
	RUN(what_is_equal_passes_and_what_is_not_there_is_counted);
	RUN(each_field_is_held_against_the_line);
	RUN(a_path_too_many_is_named);
	RUN(flags_are_those_of_the_bundles_system);
	RUN(what_was_left_out_has_to_be_told_rightly);
	return test_done();
}
