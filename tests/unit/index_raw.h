/*
 * index_raw.h - for tests and fuzzing of the index: one good index of every kind of row, its tables as bytes one may
 * spoil, and a bundle-shaped place to load them from. Chunks get valid hashes, so that the rule itself must refuse.
 */
#ifndef INDEX_RAW_H
#define INDEX_RAW_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/index.h"
#include "dray/index_write.h"
#include "dray/num.h"

#include "format/index_priv.h"

#define RAW_INDEX_AT 4096u		/* where index/01 stands in the bundle that is not there */

/* rows of the good index */
enum {
	EN_BIN, EN_LS, EN_X1, EN_X2, EN_DEV, EN_NULL, EN_SDA, EN_ETC, EN_EMPTY, EN_GONE, EN_LNK, EN_PIPE, EN_VAR,
	EN_BIG, EN_Y1, EN_Y2, EN_ROWS
};
enum { ST_DIR, ST_LS, ST_OLD, ST_X, ST_CHR, ST_BLK, ST_EMPTY, ST_LNK, ST_PIPE, ST_BIG, ST_Y, ST_ROWS };
enum { CO_LS, CO_OLD, CO_X, CO_EMPTY, CO_BIG, CO_ROWS };	/* recipes: 0 LS, 1 X, 2 EMPTY, 3 BIG; pieces 0, 1, -, 2 3 */
enum { AT_DIR, AT_FILE, AT_X0, AT_X1, AT_NONE, AT_ROWS };
enum { AL_LS, AL_LS_ABSENT, AL_EMPTY, AL_GONE, AL_BIG, AL_Y1, AL_Y2, AL_ROWS };

struct raw {
	uint8_t *t[DRAY_TABLES];
	uint32_t rows[DRAY_TABLES];
};

static inline void
raw_free(struct raw *r)
{
	for (unsigned t = 0; t < DRAY_TABLES; t++)
		free(r->t[t]);
	memset(r, 0, sizeof *r);
}

/* where a row stands */
static inline uint8_t *
raw_row(const struct raw *r, enum dray_table t, size_t i)
{
	return r->t[t] + i * dray_index_width[t];
}

static inline char *
raw_path(const struct raw *r, size_t entry)
{
	return (char *)r->t[DRAY_T_STRINGS] + dray_get_u32(raw_row(r, DRAY_T_ENTRIES, entry) + E_PATH);
}

/* a descriptor for these frames: two exact bases, one history; two components, two phases */
static inline struct dray_desc *
raw_desc(const struct raw *r, size_t chunks_len)
{
	static struct dray_desc d;
	uint64_t at = RAW_INDEX_AT + chunks_len;
	uint32_t n = r->rows[DRAY_T_FRAMES];

	memset(&d, 0, sizeof d);
	d.format = 1;
	d.n_bases = 3;
	d.bases[2].history = true;
	d.n_components = d.n_phases = 2;
	d.n_required = 3;
	memcpy(d.required[0], "delta", 6);
	memcpy(d.required[1], "history", 8);
	memcpy(d.required[2], "gzip", 5);
	d.limit_frame = d.limit_window = DRAY_FRAME_DEFAULT;
	d.limit_memory = 4 * DRAY_FRAME_DEFAULT;
	d.n_members = 2;
	memcpy(d.members[0].name, "index/00", 9);
	memcpy(d.members[1].name, "index/01", 9);
	d.members[1].offset = RAW_INDEX_AT;
	d.members[1].size = chunks_len;
	d.members[1].by_chunks = true;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = raw_row(r, DRAY_T_FRAMES, i);

		if (i == 0 || dray_get_u32(p + F_BLOCK) != dray_get_u32(p - F_WIDTH + F_BLOCK))
			at = (at + 511) / 512 * 512 + 512;
		at += dray_get_u32(p + F_STORED);
	}
	d.length = (at + 511) / 512 * 512 + 1024;
	d.blocks = n != 0 ? (uint64_t)dray_get_u32(raw_row(r, DRAY_T_FRAMES, n - 1) + F_BLOCK) + 1 : 0;
	return &d;
}

struct raw_bytes { const uint8_t *p; size_t len; };	/* index/01 */

static inline int
raw_read(void *ctx, uint64_t at, void *buf, size_t len, struct dray_err *e)
{
	const struct raw_bytes *b = ctx;

	if (at < RAW_INDEX_AT || at - RAW_INDEX_AT > b->len || len > b->len - (at - RAW_INDEX_AT))
		return dray_fail(e, DRAY_E_IO, "the test was asked for bytes outside index/01");
	memcpy(buf, b->p + (at - RAW_INDEX_AT), len);
	return 0;
}

static inline void
raw_need(int rc, const struct dray_err *e)
{
	if (rc == 0)
		return;
	fprintf(stderr, "the test's own index: %s\n", e->text);
	abort();
}

static inline void
raw_put_entry(struct dray_index_writer *w, const char *path, uint8_t flags, uint32_t target, const struct dray_alt *alts,
    size_t n)
{
	struct dray_entry en = { .path = path, .len = strlen(path), .flags = flags, .target = target };
	struct dray_err e = { 0 };

	raw_need(dray_iw_entry(w, &en, alts, n, &e), &e);
}

/* the states of the good index, in the order of their numbers */
static inline void
raw_put_states(struct dray_index_writer *w, const uint32_t at[AT_ROWS])
{
	static const struct { uint32_t size, content; } contents[CO_ROWS] = {
		{ 100, CO_LS }, { 90, CO_OLD }, { 50, CO_X }, { 0, CO_EMPTY }, { 3000, CO_BIG },
	};
	const struct dray_state states[ST_ROWS] = {
		[ST_DIR] = { .type = DRAY_DIR, .attrs = at[AT_DIR], .has_mtime = true, .mtime_sec = -5, .mtime_nsec = 999999999 },
		[ST_LS] = { .type = DRAY_FILE, .attrs = at[AT_FILE], .content = CO_LS, .has_mtime = true, .mtime_sec = 1700000000 },
		[ST_OLD] = { .type = DRAY_FILE, .attrs = at[AT_FILE], .content = CO_OLD },
		[ST_X] = { .type = DRAY_FILE, .attrs = at[AT_X0], .content = CO_X, .link = EN_X1 + 1 },
		[ST_CHR] = { .type = DRAY_CHARDEV, .attrs = at[AT_FILE], .rdev_major = 1, .rdev_minor = 3 },
		[ST_BLK] = { .type = DRAY_BLOCKDEV, .attrs = at[AT_FILE], .rdev_major = 8, .rdev_minor = 1048575 },
		[ST_EMPTY] = { .type = DRAY_FILE, .attrs = at[AT_X1], .content = CO_EMPTY },
		[ST_LNK] = { .type = DRAY_SYMLINK, .attrs = at[AT_NONE], .target = "../x\n", .target_len = 5 },
		[ST_PIPE] = { .type = DRAY_FIFO, .attrs = at[AT_FILE] },
		[ST_BIG] = { .type = DRAY_FILE, .attrs = at[AT_FILE], .content = CO_BIG },
		[ST_Y] = { .type = DRAY_FILE, .attrs = at[AT_FILE], .content = CO_OLD, .link = EN_Y1 + 1 },
	};
	struct dray_err e = { 0 };
	uint8_t sha[32];
	uint32_t row;

	for (uint32_t i = 0; i < CO_ROWS; i++) {
		memset(sha, (int)(i + 1), sizeof sha);
		if (contents[i].size == 0) {
			struct dray_sha256 *h;

			raw_need(dray_sha256_new(&h, &e), &e);
			raw_need(dray_sha256_once(h, "", 0, sha, &e), &e);
			dray_sha256_free(h);
		}
		raw_need(dray_iw_content(w, contents[i].size, sha, &row, &e), &e);
	}
	for (uint32_t i = 0; i < ST_ROWS; i++) {
		raw_need(dray_iw_state(w, &states[i], &row, &e), &e);
		if (row != i)
			abort();
	}
}

static inline void
raw_put_frames(struct dray_index_writer *w)
{
	static const struct dray_piece ls = { 0, 0, 100 }, x = { 0, 100, 50 }, big[2] = { { 1, 0, 2000 }, { 2, 0, 1000 } };
	static const uint8_t sha[32] = { 0xab };
	static const struct dray_frame frames[] = {
		{ .block = 0, .stored = 120, .out = 150, .sha256 = sha }, { .block = 0, .stored = 1500, .out = 2000, .sha256 = sha },
		{ .block = 1, .stored = 900, .out = 1000, .sha256 = sha },
	};
	const struct { uint32_t content, n; const struct dray_piece *p; } recipes[] = {
		{ CO_BIG, 2, big }, { CO_LS, 1, &ls }, { CO_EMPTY, 0, NULL }, { CO_X, 1, &x },
	};
	struct dray_err e = { 0 };
	uint32_t row;

	for (size_t i = 0; i < 3; i++)
		raw_need(dray_iw_frame(w, &frames[i], NULL, 0, &row, &e), &e);
	for (size_t i = 0; i < 4; i++) {
		struct dray_recipe r = { .kind = DRAY_RECIPE_FULL, .piece_count = recipes[i].n };

		raw_need(dray_iw_recipes(w, recipes[i].content, &r, 1, &recipes[i].p, &e), &e);
	}
}

/* the good index */
static inline struct dray_index_writer *
raw_writer(void)
{
	static const struct dray_xattr x0[] = {
		{ "user.a", 6, (const uint8_t *)"1", 1 }, { "user.b", 6, (const uint8_t *)"\0\xff", 2 },
	}, x1[] = { { "user.b", 6, (const uint8_t *)"", 0 } };
	static const struct dray_attrs attrs[AT_ROWS] = {
		[AT_DIR] = { .has = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID, .mode = 01755, .gid = 7 },
		[AT_FILE] = { .has = DRAY_HAS_MODE, .mode = 0644 },
		[AT_X0] = { .has = DRAY_HAS_MODE | DRAY_HAS_XATTRS, .mode = 06755 },
		[AT_X1] = { .has = DRAY_HAS_FLAGS | DRAY_HAS_XATTRS, .flags = 0x10 },
		[AT_NONE] = { .has = DRAY_HAS_XATTRS },
	};
	static const struct dray_alt ls[] = { { DRAY_NONE, 6 }, { ST_OLD, 5 } }, absent = { DRAY_NONE, 7 }, old = { ST_OLD, 7 },
	    y = { ST_Y, 7 };
	struct dray_index_writer *w;
	struct dray_err e = { 0 };
	uint32_t at[AT_ROWS], row;

	raw_need(dray_iw_new(&w, &e), &e);
	for (size_t i = 0; i < AT_ROWS; i++)
		raw_need(dray_iw_attrs(w, &attrs[i], i == AT_X0 ? x0 : x1, i == AT_X0 ? 2 : i == AT_X1 ? 1 : 0, &at[i], &e), &e);
	raw_need(dray_iw_compset(w, 1, &row, &e), &e);
	raw_need(dray_iw_compset(w, 3, &row, &e), &e);
	raw_put_states(w, at);
	raw_put_entry(w, "bin", DRAY_ENTRY_SAME, ST_DIR, NULL, 0);
	raw_put_entry(w, "bin/ls", 0, ST_LS, ls, 2);
	raw_put_entry(w, "bin/x1", DRAY_ENTRY_SAME, ST_X, NULL, 0);
	raw_put_entry(w, "bin/x2", DRAY_ENTRY_SAME, ST_X, NULL, 0);
	raw_put_entry(w, "dev", DRAY_ENTRY_SAME, ST_DIR, NULL, 0);
	raw_put_entry(w, "dev/null", DRAY_ENTRY_SAME, ST_CHR, NULL, 0);
	raw_put_entry(w, "dev/sda", DRAY_ENTRY_SAME, ST_BLK, NULL, 0);
	raw_put_entry(w, "etc", DRAY_ENTRY_SAME, ST_DIR, NULL, 0);
	raw_put_entry(w, "etc/empty", DRAY_ENTRY_CONFIG, ST_EMPTY, &absent, 1);
	raw_put_entry(w, "gone", 0, DRAY_NONE, &old, 1);
	raw_put_entry(w, "lnk", DRAY_ENTRY_SAME, ST_LNK, NULL, 0);
	raw_put_entry(w, "pipe", DRAY_ENTRY_SAME, ST_PIPE, NULL, 0);
	raw_put_entry(w, "var", DRAY_ENTRY_SAME, ST_DIR, NULL, 0);
	raw_put_entry(w, "var/big", 0, ST_BIG, &absent, 1);
	raw_put_entry(w, "y1", 0, ST_EMPTY, &y, 1);
	raw_put_entry(w, "y2", 0, DRAY_NONE, &y, 1);
	raw_put_frames(w);
	return w;
}

static inline int
raw_load(const struct dray_desc *d, const uint8_t *dir, size_t dir_len, const uint8_t *chunks, size_t chunks_len,
    unsigned threads, struct dray_index **out, struct dray_err *e)
{
	struct raw_bytes b = { chunks, chunks_len };

	return dray_index_load(d, dir, dir_len, raw_read, &b, threads, out, e);
}

/* tables of a loaded index, to be spoilt */
static inline void
raw_copy(const struct dray_index *ix, struct raw *r)
{
	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		/* and room for one row more, all zero */
		if ((r->t[t] = calloc((size_t)ix->rows[t] + 1, dray_index_width[t])) == NULL)
			abort();
		memcpy(r->t[t], ix->t[t], (size_t)ix->rows[t] * dray_index_width[t]);
		r->rows[t] = ix->rows[t];
	}
}

static inline void
raw_good(struct raw *r)
{
	struct dray_index_writer *w = raw_writer();
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_index *ix;
	struct dray_err e = { 0 };
	/* the descriptor's length needs the frames, which are the same each time */
	uint8_t frames[3 * F_WIDTH] = { 0 };
	struct raw only = { .rows[DRAY_T_FRAMES] = 3 };

	dray_put_u32(frames + F_STORED, 120);
	dray_put_u32(frames + F_WIDTH + F_STORED, 1500);
	dray_put_u32(frames + 2 * F_WIDTH + F_STORED, 900);
	dray_put_u32(frames + 2 * F_WIDTH + F_BLOCK, 1);
	only.t[DRAY_T_FRAMES] = frames;
	raw_need(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &e), &e);
	raw_need(raw_load(raw_desc(&only, chunks_len), dir, dir_len, chunks, chunks_len, 1, &ix, &e), &e);
	raw_copy(ix, r);
	dray_index_free(ix);
	dray_iw_free(w);
	free(dir);
	free(chunks);
}

/* tables as they are into chunks with valid hashes */
static inline void
raw_pack(const struct raw *r, uint8_t **dir, size_t *dir_len, uint8_t **chunks, size_t *chunks_len)
{
	struct dray_index ix = { 0 };
	struct dray_err e = { 0 };

	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		ix.t[t] = r->t[t];
		ix.rows[t] = r->rows[t];
	}
	raw_need(dray_index_pack(&ix, 1, 1, dir, dir_len, chunks, chunks_len, &e), &e);
}

#endif
