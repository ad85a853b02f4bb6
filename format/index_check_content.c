/*
 * index_check_content.c - the rules for contents, recipes, pieces, frames and ranges: every byte of a content comes
 * from exactly one place, every frame is where it must be and is used. Source: spec/bundle-format.md 6.2, 7.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/num.h"
#include "dray/tar.h"

#include "index_priv.h"

static const uint8_t sha256_of_nothing[DRAY_SHA256_LEN] = {
	0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
	0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
};

int
dray_index_check_frame(const struct dray_index *ix, const struct dray_desc *desc, uint32_t i, struct dray_err *e)
{
	const uint8_t *p = ix_row(ix, DRAY_T_FRAMES, i);
	uint32_t stored = ix_u32(p + F_STORED), out = ix_u32(p + F_OUT), block = ix_u32(p + F_BLOCK);
	uint64_t limit = desc != NULL ? desc->limit_frame : DRAY_FRAME_MAX;

	if (p[F_KIND] != DRAY_FRAME_PLAIN)
		return dray_fail(e, DRAY_E_NEWER, "kind %u is not known to this version", p[F_KIND]);
	if (p[F_FILTER] != 0)
		return dray_fail(e, DRAY_E_NEWER, "filter %u is not known to this version", p[F_FILTER]);
	if (ix_u16(p + F_ZERO) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	if (out == 0 || out > limit)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " bytes of output, the limit is %" PRIu64, out, limit);
	if (stored == 0 || stored > (uint64_t)out + out / 256 + 1024)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " stored bytes for %" PRIu32 " bytes of output", stored, out);
	if (ix_u32(p + F_RANGES) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a plain frame has base ranges");
	if (ix_u32(p + F_RANGE) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "its first range is not the next one");
	if (i == 0 ? block != 0 : block != ix_u32(p - F_WIDTH + F_BLOCK) && block - 1 != ix_u32(p - F_WIDTH + F_BLOCK))
		return dray_fail(e, DRAY_E_FORMAT, "block %" PRIu32 " is out of order", block);
	return 0;
}

/* the end of a block's data: what may follow, and that no more than one frame makes it large */
static int
end_block(uint64_t bytes, uint32_t frames, uint64_t *at, struct dray_err *e)
{
	if (bytes > IX_BLOCK_MAX && frames > 1)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu64 " bytes in %" PRIu32 " frames are above %u", bytes, frames,
		    IX_BLOCK_MAX);
	if (!dray_round_up(*at, DRAY_TAR_BLOCK, at))
		return dray_fail(e, DRAY_E_FORMAT, "offsets overflow");
	return 0;
}

/* blocks in order and all of them; fills ix->at; the last one ends where the bundle does */
static int
place_frames(struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e)
{
	uint32_t n = ix->rows[DRAY_T_FRAMES], in_block = 0, block = 0;
	uint64_t at = 0, begin = 0, blocks = n == 0 ? 0 : (uint64_t)ix_u32(ix_row(ix, DRAY_T_FRAMES, n - 1) + F_BLOCK) + 1;

	if (desc != NULL) {
		const struct dray_member *last = &desc->members[desc->n_members - 1];

		if (blocks != desc->blocks)
			return dray_fail(e, DRAY_E_FORMAT, "frames fill %" PRIu64 " blocks, %" PRIu64 " are declared", blocks,
			    desc->blocks);
		if (!dray_add(last->offset, last->size, &at) || !dray_round_up(at, DRAY_TAR_BLOCK, &at))
			return dray_fail(e, DRAY_E_FORMAT, "offsets overflow");
		free(ix->at);
		if ((ix->at = malloc(((size_t)n + 1) * sizeof *ix->at)) == NULL)
			return dray_fail_errno(e, "frame offsets");
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = ix_row(ix, DRAY_T_FRAMES, i);

		if (i == 0 || ix_u32(p + F_BLOCK) != block) {
			if (i != 0 && end_block(at - begin, in_block, &at, e) != 0)
				return dray_wrap(e, "block %" PRIu32, block);
			block = ix_u32(p + F_BLOCK);
			if (!dray_add(at, DRAY_TAR_BLOCK, &at))
				return dray_fail(e, DRAY_E_FORMAT, "offsets overflow");
			begin = at;
			in_block = 0;
		}
		if (desc != NULL)
			ix->at[i] = at;
		in_block++;
		if (!dray_add(at, ix_u32(p + F_STORED), &at))
			return dray_fail(e, DRAY_E_FORMAT, "offsets overflow");
	}
	if (n != 0 && end_block(at - begin, in_block, &at, e) != 0)
		return dray_wrap(e, "block %" PRIu32, block);
	if (desc != NULL && (!dray_add(at, DRAY_TAR_END, &at) || at != desc->length))
		return dray_fail(e, DRAY_E_FORMAT, "frames end the bundle at byte %" PRIu64 ", %" PRIu64 " are declared", at,
		    desc->length);
	return 0;
}

int
dray_index_check_frames(struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e)
{
	for (uint32_t i = 0; i < ix->rows[DRAY_T_FRAMES]; i++)
		if (dray_index_check_frame(ix, desc, i, e) != 0)
			return dray_wrap(e, "frame %" PRIu32, i);
	/* a range row belongs to a frame, and no frame of a known kind has any */
	if (ix->rows[DRAY_T_RANGES] != 0)
		return dray_fail(e, DRAY_E_FORMAT, "range 0: belongs to no frame");
	return place_frames(ix, desc, e);
}

static int
check_pieces(const struct dray_index *ix, const struct dray_recipe *r, uint64_t size, uint8_t *used, struct dray_err *e)
{
	struct dray_piece last = { 0 };
	uint64_t sum = 0;

	for (uint32_t k = 0; k < r->piece_count; k++) {
		struct dray_piece pc;
		uint32_t out;

		dray_index_piece(ix, r->piece_first + k, &pc);
		if (pc.frame >= ix->rows[DRAY_T_FRAMES])
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": names frame %" PRIu32 " of %" PRIu32, k, pc.frame,
			    ix->rows[DRAY_T_FRAMES]);
		out = ix_u32(ix_row(ix, DRAY_T_FRAMES, pc.frame) + F_OUT);
		if (pc.len == 0 || pc.offset > out || pc.len > out - pc.offset)
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": lies outside the output of frame %" PRIu32, k,
			    pc.frame);
		if (k != 0 && (pc.frame < last.frame ||
		    (pc.frame == last.frame && pc.offset < last.offset + last.len)))
			return dray_fail(e, DRAY_E_FORMAT, "piece %" PRIu32 ": does not follow the one before it", k);
		used[pc.frame / 8] |= (uint8_t)(1u << pc.frame % 8);
		sum += pc.len;		/* fewer than 2^32 pieces of fewer than 2^32 bytes */
		last = pc;
	}
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
	if (r.kind != DRAY_RECIPE_FULL)
		return dray_fail(e, DRAY_E_NEWER, "kind %u is not known to this version", r.kind);
	if (p[R_ZERO] != 0 || ix_u16(p + R_ZERO + 1) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	if (r.piece_first != *next_piece || r.piece_count > ix->rows[DRAY_T_PIECES] - *next_piece)
		return dray_fail(e, DRAY_E_FORMAT, "its pieces do not follow those before them");
	*next_piece += r.piece_count;
	return check_pieces(ix, &r, size, used, e);
}

static int
check_content(const struct dray_index *ix, uint32_t i, uint32_t *next_recipe, uint32_t *next_piece, uint8_t *used,
    struct dray_err *e)
{
	struct dray_content c;
	bool full = false;

	dray_index_content(ix, i, &c);
	if ((c.size == 0) != (memcmp(c.sha256, sha256_of_nothing, sizeof sha256_of_nothing) == 0))
		return dray_fail(e, DRAY_E_FORMAT, "its size does not fit its hash, which is or is not that of no bytes");
	if (c.size > INT64_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu64 " bytes are more than a file can have", c.size);
	if (c.recipe_first != *next_recipe || c.recipe_count > ix->rows[DRAY_T_RECIPES] - *next_recipe)
		return dray_fail(e, DRAY_E_FORMAT, "its recipes do not follow those before them");
	if (c.recipe_count > IX_RECIPES_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " recipes are above %u", c.recipe_count, IX_RECIPES_MAX);
	*next_recipe += c.recipe_count;
	for (uint32_t k = 0; k < c.recipe_count; k++) {
		if (check_recipe(ix, c.recipe_first + k, next_piece, c.size, used, e) != 0)
			return dray_wrap(e, "recipe %" PRIu32, k);
		if (full)
			return dray_fail(e, DRAY_E_FORMAT, "recipe %" PRIu32 ": follows the full one, which must be the last", k);
		full = true;		/* the only kind this version knows */
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
		size_t h = (size_t)ix_u64(sha) & (cap - 1);

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
