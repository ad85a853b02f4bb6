/*
 * fuzz_index.c - the index loader. The first byte of an input says what the rest is:
 *
 *   even  index/00 as it stands: 4 bytes length of the directory, directory, chunks. Almost all end at a hash.
 *   odd   tables: for each of the twelve 2 bytes number of rows, then the rows of all (fewer when the input ends). Bits 1
 *         and 2 of the byte: whether frames may be large, whether the third base is exact; 3: they are packed with valid
 *         hashes and loaded, else the rules see them at once, as after loading, which is a hundred times as fast.
 *
 * What the loader accepts is then read through every accessor, and every path must be found again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/unit/index_raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum;	/* so that no read is optimised away */

static void
touch(const void *p, size_t len)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		sum += b[i];
}

static void
walk_contents(const struct dray_index *ix)
{
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_CONTENTS); i++) {
		struct dray_content c;

		dray_index_content(ix, i, &c);
		touch(c.sha256, 32);
		for (uint32_t k = 0; k < c.recipe_count; k++) {
			struct dray_recipe r;
			uint64_t bytes = 0;

			dray_index_recipe(ix, c.recipe_first + k, &r);
			for (uint32_t n = 0; n < r.piece_count; n++) {
				struct dray_piece p;
				struct dray_frame f;

				dray_index_piece(ix, r.piece_first + n, &p);
				dray_index_frame(ix, p.frame, &f);
				if (p.offset + (uint64_t)p.len > f.out)
					abort();
				bytes += p.len;
			}
			if (bytes != c.size && r.kind != DRAY_RECIPE_COPY)
				abort();
		}
	}
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_FRAMES); i++) {
		struct dray_frame f;

		dray_index_frame(ix, i, &f);
		sum += f.at + f.stored + f.raw;
		touch(f.sha256, 32);
		for (uint32_t k = 0; k < f.range_count; k++) {
			struct dray_range g;
			struct dray_content c;

			dray_index_range(ix, f.range_first + k, &g);
			dray_index_content(ix, g.content, &c);
			if (g.offset > c.size || g.len > c.size - g.offset)
				abort();
		}
	}
}

static void
walk_states(const struct dray_index *ix)
{
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_STATES); i++) {
		struct dray_state s;
		struct dray_attrs a;

		dray_index_state(ix, i, &s);
		touch(s.target, s.target_len);
		if (s.type == DRAY_FILE) {
			struct dray_content c;

			dray_index_content(ix, s.content, &c);
			sum += c.size;
		}
		if (s.link != 0) {
			struct dray_entry en;

			dray_index_entry(ix, s.link - 1, &en);
			touch(en.path, en.len);
		}
		dray_index_attrs(ix, s.attrs, &a);
		for (uint32_t k = 0; k < a.xattr_count; k++) {
			struct dray_xattr x;

			dray_index_xattr(ix, a.xattr_first + k, &x);
			touch(x.name, x.name_len);
			touch(x.value, x.len);
		}
	}
}

static void
walk_entries(const struct dray_index *ix)
{
	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		struct dray_entry en;
		struct dray_state s;

		dray_index_entry(ix, i, &en);
		if (dray_index_find(ix, en.path, en.len) != i)
			abort();
		sum += dray_index_compset(ix, en.compset);
		if (en.target != DRAY_NONE)
			dray_index_state(ix, en.target, &s);
		for (uint32_t k = 0; k < en.alt_count; k++) {
			struct dray_alt al;

			dray_index_alt(ix, en.alt_first + k, &al);
			if (al.state != DRAY_NONE)
				dray_index_state(ix, al.state, &s);
		}
	}
}

/* what came of it, with a reason if it is a refusal */
static void
judge(int rc, struct dray_index *ix, const struct dray_err *e)
{
	if (rc != 0) {
		if (ix != NULL || (e->code != DRAY_E_FORMAT && e->code != DRAY_E_NEWER) || e->text[0] == '\0')
			abort();
		return;
	}
	walk_contents(ix);
	walk_states(ix);
	walk_entries(ix);
	dray_index_free(ix);
}

/* the rules alone: dray_index_load behind its last chunk */
static void
check(const struct dray_desc *d, const struct raw *r)
{
	struct dray_index *ix = calloc(1, sizeof *ix);
	uint8_t *at;
	struct dray_err e = { 0 };
	size_t len = 0;
	int rc;

	for (unsigned t = 0; t < DRAY_TABLES; t++)
		len += (size_t)r->rows[t] * dray_index_width[t];
	if (ix == NULL || (ix->mem = malloc(len + 1)) == NULL)
		abort();
	ix->os = "any";
	len = 0;
	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		at = ix->mem + len;
		ix->t[t] = at;
		ix->rows[t] = r->rows[t];
		memcpy(at, r->t[t], (size_t)r->rows[t] * dray_index_width[t]);
		len += (size_t)r->rows[t] * dray_index_width[t];
	}
	if ((rc = dray_index_check(ix, d, 1, &e)) != 0) {
		dray_index_free(ix);
		ix = NULL;
	}
	judge(rc, ix, &e);
}

static void
load(const struct dray_desc *d, const uint8_t *dir, size_t dir_len, const uint8_t *chunks, size_t chunks_len)
{
	struct dray_index *ix;
	struct dray_err e = { 0 };
	int rc;

	rc = raw_load(d, dir, dir_len, chunks, chunks_len, 1, &ix, &e);
	judge(rc, ix, &e);
}

static void
as_bytes(const uint8_t *p, size_t left)
{
	struct raw none = { 0 };
	size_t dir_len;

	if (left < 4)
		return;
	dir_len = dray_get_u32(p) % (left - 3);
	load(raw_desc(&none, left - 4 - dir_len), p + 4, dir_len, p + 4 + dir_len, left - 4 - dir_len);
}

static void
as_tables(uint8_t how, const uint8_t *p, size_t left)
{
	uint8_t *dir = NULL, *chunks = NULL;
	size_t dir_len, chunks_len = 0;
	struct raw r = { 0 };
	struct dray_desc *d;
	const uint8_t *rows = p + 2 * DRAY_TABLES;

	if (left < 2 * DRAY_TABLES)
		return;
	left -= 2 * DRAY_TABLES;
	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		size_t n = dray_get_u16(p + 2 * t), width = dray_index_width[t];

		if (n > left / width)
			n = left / width;
		if ((r.t[t] = malloc(n * width != 0 ? n * width : 1)) == NULL)
			abort();
		memcpy(r.t[t], rows, n * width);
		r.rows[t] = (uint32_t)n;
		rows += n * width;
		left -= n * width;
	}
	if ((how & 8) != 0)
		raw_pack(&r, &dir, &dir_len, &chunks, &chunks_len);
	d = raw_desc(&r, chunks_len);
	if ((how & 2) != 0)
		d->limit_frame = DRAY_FRAME_MAX;
	if ((how & 4) != 0)
		d->bases[2].history = false;
	if ((how & 8) != 0)
		load(d, dir, dir_len, chunks, chunks_len);
	else
		check(d, &r);
	free(dir);
	free(chunks);
	raw_free(&r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if ((data[0] & 1) != 0)
		as_tables(data[0], data + 1, size - 1);
	else
		as_bytes(data + 1, size - 1);
	return 0;
}
