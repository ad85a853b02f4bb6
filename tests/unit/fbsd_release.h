/*
 * fbsd_release.h - a release in a few rows, and the list of a server that it comes from, for tests of the proof.
 */
#ifndef FBSD_RELEASE_H
#define FBSD_RELEASE_H

#include "dray/index_write.h"
#include "dray/num.h"

#include "index_raw.h"
#include "test.h"

#define A "aa00000000000000000000000000000000000000000000000000000000000001"
#define B "bb00000000000000000000000000000000000000000000000000000000000002"

static const char list[] =
    "kernel|generic|/boot|d|0|0|0755|0||\n"
    "world|base|/boot|d|0|0|0700|0||\n"
    "kernel|generic|/boot/kernel|f|0|0|0555|400000|" A "|\n"
    "world|base|/|d|0|0|0755|0||\n"
    "world|base|/a|f|0|5|0444|0|" B "|\n"
    "world|base|/b|f|0|5|0444|0|" B "|/a\n"
    "world|base|/c|f|0|5|4555|0|" B "|\n"
    "world|base|/l|L|0|0|0755|0|../target|\n"
    "world|lib32|/lib32|d|0|0|0755|0||\n"
    "world|lib32|/lib32/x|f|0|0|0444|0|" A "|\n"
    "world|base|/tmp|d|0|0|1777|0||\n"
    "world|base|/tmp/x|f|0|0|0444|0|" A "|\n"
    "world|base|/z|f|0|0|0444|0|" A "|\n";
static const char left[] = "beneath|tmp|kept by itself\nall|z|not wanted\n";

struct row {
	const char *path;
	uint8_t type;
	uint16_t has;
	uint32_t uid, gid, mode, flags;
	const char *what;		/* hash or target */
	uint32_t link;			/* 1 + number of the first name */
	uint64_t comps;
	bool mtime, xattr;
};

#define UGM (DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_MODE)
#define ALL (UGM | DRAY_HAS_FLAGS)

/* components: 0 kernel/generic, 1 world/base */
static const struct row good[] = {
	{ "a", DRAY_FILE, ALL, 0, 5, 0444, 0, B, 1, 2, false, false },
	{ "b", DRAY_FILE, ALL, 0, 5, 0444, 0, B, 1, 2, false, false },
	{ "boot", DRAY_DIR, ALL, 0, 0, 0700, 0, NULL, 0, 3, false, false },
	{ "boot/kernel", DRAY_FILE, ALL, 0, 0, 0555, 0x20000, A, 0, 1, false, false },
	{ "c", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 2, false, false },
	{ "l", DRAY_SYMLINK, DRAY_HAS_UID | DRAY_HAS_GID, 0, 0, 0, 0, "../target", 0, 2, false, false },
	{ "tmp", DRAY_DIR, ALL, 0, 0, 01777, 0, NULL, 0, 2, false, false },
};
#define ROWS (sizeof(good) / sizeof(good[0]))

static inline void
release_put(struct dray_index_writer *w, const struct row *r)
{
	static const struct dray_xattr x = { "user.a", 6, (const uint8_t *)"1", 1 };
	const struct dray_attrs a = { .has = r->has, .uid = r->uid, .gid = r->gid, .mode = r->mode, .flags = r->flags };
	struct dray_state s = { .type = r->type, .link = r->link, .has_mtime = r->mtime, .content = DRAY_NONE };
	struct dray_entry en = { .path = r->path, .len = strlen(r->path) };
	struct dray_err e = { .code = DRAY_OK };
	uint8_t sha[32];
	uint32_t comps;

	raw_need(dray_iw_attrs(w, &a, &x, r->xattr ? 1 : 0, &s.attrs, &e), &e);
	raw_need(dray_iw_compset(w, r->comps, &comps, &e), &e);
	if (r->type == DRAY_SYMLINK) {
		s.target = r->what;
		s.target_len = strlen(r->what);
	}
	if (r->type == DRAY_FILE) {
		CHECK(dray_unhex(r->what, 64, sha, 32));
		raw_need(dray_iw_content(w, 100, sha, &s.content, &e), &e);
	}
	raw_need(dray_iw_state(w, &s, &en.target, &e), &e);
	en.compset = (uint16_t)comps;
	raw_need(dray_iw_entry(w, &en, NULL, 0, &e), &e);
}

#endif
