/*
 * index_check_content.c - the rules for contents, recipes and pieces: a recipe makes exactly its content, and every
 * frame is used. Source: spec/bundle-format.md 7.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/gzip.h"

#include "index_priv.h"

static const uint8_t sha256_of_nothing[DRAY_SHA256_LEN] = {
	0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
	0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
};

/* the one piece, @len bytes, is the inside of a .gz of @size bytes */
static int
check_wrap(const struct dray_recipe *r, uint64_t len, uint64_t size, struct dray_err *e)
{
	if (r->piece_count != 1)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " pieces for the inside of a .gz, which is one", r->piece_count);
	if (len > DRAY_GZIP_MAX || size > DRAY_GZIP_BOUND(len))
		return dray_fail(e, DRAY_E_FORMAT, "an inside of %" PRIu64 " bytes for a .gz of %" PRIu64, len, size);
	return 0;
}

static int
check_pieces(const struct dray_index *ix, const struct dray_recipe *r, uint64_t size, uint8_t *used, struct dray_err *e)
{
	struct dray_piece last = { 0 };
	bool delta = false;
	uint64_t sum = 0;

	for (uint32_t k = 0; k < r->piece_count; k++) {
		struct dray_piece pc;
		const uint8_t *f;
		uint32_t out;

		dray_index_piece(ix, r->piece_first + k, &pc);
		if (pc.frame >= ix->rows[DRAY_T_FRAMES])
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": names frame %" PRIu32 " of %" PRIu32, k, pc.frame,
			    ix->rows[DRAY_T_FRAMES]);
		f = ix_row(ix, DRAY_T_FRAMES, pc.frame);
		out = dray_get_u32(f + F_OUT);
		if (pc.len == 0 || pc.offset > out || pc.len > out - pc.offset)
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": lies outside the output of frame %" PRIu32, k,
			    pc.frame);
		if (k != 0 && (pc.frame < last.frame ||
		    (pc.frame == last.frame && pc.offset < last.offset + last.len)))
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": does not follow the one before it", k);
		/* its position in the content is part of what the filter computes with */
		if (f[F_FILTER] != 0 && (pc.len != out || (used[pc.frame / 8] >> pc.frame % 8 & 1) != 0))
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": is not the one use of all of frame %" PRIu32
			    ", which is filtered", k, pc.frame);
		if (f[F_KIND] != DRAY_FRAME_PLAIN && r->kind == DRAY_RECIPE_FULL)
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": frame %" PRIu32 " needs a base, a full recipe has none",
			    k, pc.frame);
		delta |= f[F_KIND] != DRAY_FRAME_PLAIN;
		used[pc.frame / 8] |= (uint8_t)(1u << pc.frame % 8);
		sum += pc.len;		/* fewer than 2^32 pieces of fewer than 2^32 bytes */
		last = pc;
	}
	if (r->kind == DRAY_RECIPE_DELTA && !delta)
		return dray_fail(e, DRAY_E_FORMAT, "a delta none of whose frames has a base");
	if (r->wrap != DRAY_DEFLATE_NONE)
		return check_wrap(r, sum, size, e);
	if (sum != size)
		return dray_fail(e, DRAY_E_FORMAT, "its pieces make %" PRIu64 " bytes of %" PRIu64, sum, size);
	return 0;
}

static int
check_recipe(const struct dray_index *ix, uint32_t i, uint32_t *next_piece, uint64_t size, uint8_t *used,
    struct dray_err *e)
{
	const uint8_t *p = ix_row(ix, DRAY_T_RECIPES, i);
	struct dray_recipe r;

	dray_index_recipe(ix, i, &r);
	if (r.kind < DRAY_RECIPE_FULL || r.kind > DRAY_RECIPE_COPY)
		return dray_fail(e, DRAY_E_NEWER, "kind %u is not known to this version", r.kind);
	if (r.wrap > DRAY_DEFLATE_LAST)
		return dray_fail(e, DRAY_E_NEWER, "gzip encoder %u is not known to this version", r.wrap);
	if (dray_get_u16(p + R_ZERO) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	if (r.wrap != DRAY_DEFLATE_NONE && r.kind == DRAY_RECIPE_COPY)
		return dray_fail(e, DRAY_E_FORMAT, "a wrapped copy");
	if (r.piece_first != *next_piece || r.piece_count > ix->rows[DRAY_T_PIECES] - *next_piece)
		return dray_fail(e, DRAY_E_FORMAT, "its pieces do not follow those before them");
	*next_piece += r.piece_count;
	if (r.kind == DRAY_RECIPE_COPY)
		return r.piece_count == 0 ? 0 : dray_fail(e, DRAY_E_FORMAT, "a copy with pieces");
	return check_pieces(ix, &r, size, used, e);
}

static int
check_content(const struct dray_index *ix, uint32_t i, uint32_t *next_recipe, uint32_t *next_piece, uint8_t *used,
    struct dray_err *e)
{
	struct dray_content c;
	uint8_t last = UINT8_MAX;

	dray_index_content(ix, i, &c);
	if ((c.size == 0) != (memcmp(c.sha256, sha256_of_nothing, sizeof sha256_of_nothing) == 0))
		return dray_fail(e, DRAY_E_FORMAT, "its size does not fit its hash, which is or is not that of no bytes");
	if (c.size == DRAY_SIZE_UNKNOWN && c.recipe_count != 0)
		return dray_fail(e, DRAY_E_FORMAT, "of unknown size, and yet it has recipes");
	if (c.size > INT64_MAX && c.size != DRAY_SIZE_UNKNOWN)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu64 " bytes are more than a file can have", c.size);
	if (c.recipe_first != *next_recipe || c.recipe_count > ix->rows[DRAY_T_RECIPES] - *next_recipe)
		return dray_fail(e, DRAY_E_FORMAT, "its recipes do not follow those before them");
	if (c.recipe_count > IX_RECIPES_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " recipes are above %u", c.recipe_count, IX_RECIPES_MAX);
	*next_recipe += c.recipe_count;
	for (uint32_t k = 0; k < c.recipe_count; k++) {
		uint8_t kind = ix_row(ix, DRAY_T_RECIPES, c.recipe_first + k)[R_KIND];

		if (check_recipe(ix, c.recipe_first + k, next_piece, c.size, used, e) != 0)
			return dray_wrap(e, "recipe %" PRIu32, k);
		if (last == DRAY_RECIPE_FULL)
			return dray_fail(e, DRAY_E_FORMAT, "recipe %" PRIu32 ": follows the full one, which must be the last", k);
		if (kind == DRAY_RECIPE_COPY && k != 0)
			return dray_fail(e, DRAY_E_FORMAT, "recipe %" PRIu32 ": a copy, which must be the first", k);
		last = kind;
	}
	return 0;
}

/* a content stands once: an open-addressing table of row numbers, at most half full */
static int
check_unique(const struct dray_index *ix, struct dray_err *e)
{
	uint32_t n = ix->rows[DRAY_T_CONTENTS], *slot, dup = DRAY_NONE;
	size_t cap = 16;

	while (cap < (size_t)n * 2)
		cap *= 2;
	if ((slot = calloc(cap, sizeof *slot)) == NULL)
		return dray_fail_errno(e, "contents");
	for (uint32_t i = 0; i < n && dup == DRAY_NONE; i++) {
		const uint8_t *sha = ix_row(ix, DRAY_T_CONTENTS, i) + N_SHA;
		size_t h = (size_t)dray_get_u64(sha) & (cap - 1);

		while (slot[h] != 0 && memcmp(ix_row(ix, DRAY_T_CONTENTS, slot[h] - 1) + N_SHA, sha, DRAY_SHA256_LEN) != 0)
			h = (h + 1) & (cap - 1);
		if (slot[h] != 0)
			dup = i;
		slot[h] = i + 1;
	}
	free(slot);
	if (dup != DRAY_NONE)
		return dray_fail(e, DRAY_E_FORMAT, "content %" PRIu32 ": stands twice", dup);
	return 0;
}

int
dray_index_check_contents(const struct dray_index *ix, struct dray_err *e)
{
	uint32_t recipe = 0, piece = 0, frames = ix->rows[DRAY_T_FRAMES];
	uint8_t *used;
	int rc = -1;

	if ((used = calloc((size_t)frames / 8 + 1, 1)) == NULL)
		return dray_fail_errno(e, "frames");
	for (uint32_t i = 0; i < ix->rows[DRAY_T_CONTENTS]; i++)
		if (check_content(ix, i, &recipe, &piece, used, e) != 0) {
			dray_wrap(e, "content %" PRIu32, i);
			goto out;
		}
	if (recipe != ix->rows[DRAY_T_RECIPES]) {
		dray_fail(e, DRAY_E_FORMAT, "recipe %" PRIu32 ": belongs to no content", recipe);
		goto out;
	}
	if (piece != ix->rows[DRAY_T_PIECES]) {
		dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": belongs to no recipe", piece);
		goto out;
	}
	for (uint32_t i = 0; i < frames; i++)
		if ((used[i / 8] >> i % 8 & 1) == 0) {
			dray_fail(e, DRAY_E_FORMAT, "frame %" PRIu32 ": no content needs it", i);
			goto out;
		}
	rc = check_unique(ix, e);
out:
	free(used);
	return rc;
}
