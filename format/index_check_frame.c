/*
 * index_check_frame.c - the rules for frames and their base ranges: each frame is where it must be, needs no more memory
 * than declared, and what it builds on is in one base. Source: spec/bundle-format.md 6.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dray/frame.h"
#include "dray/gzip.h"
#include "dray/num.h"
#include "dray/tar.h"

#include "index_priv.h"

bool
dray_index_may(const struct dray_desc *desc, const char *feature)
{
	if (desc == NULL)
		return true;
	for (size_t i = 0; i < desc->n_required; i++)
		if (strcmp(desc->required[i], feature) == 0)
			return true;
	return false;
}

/* the ranges of frame @i; *sum: bytes of the reference they make */
static int
check_ranges(const struct dray_index *ix, const struct dray_desc *desc, uint32_t i, uint64_t *sum, struct dray_err *e)
{
	const uint8_t *p = ix_row(ix, DRAY_T_FRAMES, i);
	uint32_t first = dray_get_u32(p + F_RANGE), n = dray_get_u32(p + F_RANGES);
	uint32_t next = i == 0 ? 0 : dray_get_u32(p - F_WIDTH + F_RANGE) + dray_get_u32(p - F_WIDTH + F_RANGES);

	*sum = 0;
	if (p[F_KIND] == DRAY_FRAME_PLAIN && n != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a plain frame has base ranges");
	if (p[F_KIND] != DRAY_FRAME_PLAIN && n == 0)
		return dray_fail(e, DRAY_E_FORMAT, "kind %u without base ranges", p[F_KIND]);
	if (n > IX_RANGES_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " base ranges are above %u", n, IX_RANGES_MAX);
	if (first != next || n > ix->rows[DRAY_T_RANGES] - next)
		return dray_fail(e, DRAY_E_FORMAT, "its base ranges do not follow those before them");
	for (uint32_t k = 0; k < n; k++) {
		struct dray_content c;
		struct dray_range r;

		dray_index_range(ix, first + k, &r);
		if (r.content >= ix->rows[DRAY_T_CONTENTS])
			return dray_fail(e, DRAY_E_FORMAT, "range %" PRIu32 ": names content %" PRIu32 " of %" PRIu32, k, r.content,
			    ix->rows[DRAY_T_CONTENTS]);
		dray_index_content(ix, r.content, &c);
		if (c.size == DRAY_SIZE_UNKNOWN)
			return dray_fail(e, DRAY_E_FORMAT, "range %" PRIu32 ": content %" PRIu32 " is of unknown size", k, r.content);
		if (r.inside && !dray_index_may(desc, "gzip"))
			return dray_fail(e, DRAY_E_FORMAT, "range %" PRIu32 ": the inside of a .gz without the feature \"gzip\"", k);
		if (r.inside && (r.offset != 0 || r.len > DRAY_GZIP_MAX || c.size > DRAY_GZIP_BOUND(r.len)))
			return dray_fail(e, DRAY_E_FORMAT, "range %" PRIu32 ": is not an inside that content %" PRIu32 " can have", k, r.content);
		if (r.len == 0 || (!r.inside && (r.offset > c.size || r.len > c.size - r.offset)))
			return dray_fail(e, DRAY_E_FORMAT, "range %" PRIu32 ": lies outside content %" PRIu32, k, r.content);
		if (r.len > DRAY_REF_MAX - *sum)
			return dray_fail(e, DRAY_E_FORMAT, "its base ranges are above %u bytes", DRAY_REF_MAX);
		*sum += r.len;
	}
	return 0;
}

/* what its data holds, against what it gives */
static int
check_raw(const uint8_t *p, struct dray_err *e)
{
	uint32_t stored = dray_get_u32(p + F_STORED), out = dray_get_u32(p + F_OUT), raw = dray_get_u32(p + F_RAW);

	if (p[F_KIND] == DRAY_FRAME_ADDCOPY ? raw < out || raw - out < DRAY_DELTA_LEAST || raw - out > DRAY_DELTA_OVERHEAD(out) :
	    raw != out)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " bytes in its data do not fit %" PRIu32 " bytes of output", raw,
		    out);
	if (stored == 0 || stored > (uint64_t)raw + raw / 256 + 1024)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " stored bytes for %" PRIu32 " bytes of output", stored, out);
	return 0;
}

int
dray_index_check_frame(const struct dray_index *ix, const struct dray_desc *desc, uint32_t i, struct dray_err *e)
{
	const uint8_t *p = ix_row(ix, DRAY_T_FRAMES, i);
	uint32_t out = dray_get_u32(p + F_OUT), block = dray_get_u32(p + F_BLOCK);
	uint64_t limit = desc != NULL ? desc->limit_frame : DRAY_FRAME_MAX, ref, memory;
	struct dray_frame f;

	if (p[F_KIND] > DRAY_FRAME_ADDCOPY)
		return dray_fail(e, DRAY_E_NEWER, "kind %u is not known to this version", p[F_KIND]);
	if (p[F_FILTER] > DRAY_FILTER_X86)
		return dray_fail(e, DRAY_E_NEWER, "filter %u is not known to this version", p[F_FILTER]);
	if ((p[F_KIND] != DRAY_FRAME_PLAIN || p[F_FILTER] != 0) && !dray_index_may(desc, "delta"))
		return dray_fail(e, DRAY_E_FORMAT, "kind %u, filter %u without the feature \"delta\"", p[F_KIND], p[F_FILTER]);
	if (p[F_CODEC] > DRAY_CODEC_LZMA)
		return dray_fail(e, DRAY_E_NEWER, "codec %u is not known to this version", p[F_CODEC]);
	if (p[F_CODEC] == DRAY_CODEC_LZMA && !dray_index_may(desc, "lzma"))
		return dray_fail(e, DRAY_E_FORMAT, "codec %u without the feature \"lzma\"", p[F_CODEC]);
	if (p[F_ZERO] != 0)
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	if (out == 0 || out > limit)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " bytes of output, the limit is %" PRIu64, out, limit);
	if (check_raw(p, e) != 0 || check_ranges(ix, desc, i, &ref, e) != 0)
		return -1;
	dray_index_frame(ix, i, &f);
	memory = dray_frame_memory(&f, ref);
	if (desc != NULL && memory > desc->limit_memory)
		return dray_fail(e, DRAY_E_FORMAT, "needs %" PRIu64 " bytes of memory, the limit is %" PRIu64, memory, desc->limit_memory);
	if (i == 0 ? block != 0 : block != dray_get_u32(p - F_WIDTH + F_BLOCK) && block - 1 != dray_get_u32(p - F_WIDTH + F_BLOCK))
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
	uint64_t at = 0, begin = 0, blocks = n == 0 ? 0 : (uint64_t)dray_get_u32(ix_row(ix, DRAY_T_FRAMES, n - 1) + F_BLOCK) + 1;

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

		if (i == 0 || dray_get_u32(p + F_BLOCK) != block) {
			if (i != 0 && end_block(at - begin, in_block, &at, e) != 0)
				return dray_wrap(e, "block %" PRIu32, block);
			block = dray_get_u32(p + F_BLOCK);
			if (!dray_add(at, DRAY_TAR_BLOCK, &at))
				return dray_fail(e, DRAY_E_FORMAT, "offsets overflow");
			begin = at;
			in_block = 0;
		}
		if (desc != NULL)
			ix->at[i] = at;
		in_block++;
		if (!dray_add(at, dray_get_u32(p + F_STORED), &at))
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
	uint32_t n = ix->rows[DRAY_T_FRAMES], ranges = 0;

	for (uint32_t i = 0; i < n; i++)
		if (dray_index_check_frame(ix, desc, i, e) != 0)
			return dray_wrap(e, "frame %" PRIu32, i);
	if (n != 0)
		ranges = dray_get_u32(ix_row(ix, DRAY_T_FRAMES, n - 1) + F_RANGE) + dray_get_u32(ix_row(ix, DRAY_T_FRAMES, n - 1) + F_RANGES);
	if (ranges != ix->rows[DRAY_T_RANGES])
		return dray_fail(e, DRAY_E_FORMAT, "range %" PRIu32 ": belongs to no frame", ranges);
	return place_frames(ix, desc, e);
}

/* per content: the bases in which some path has it */
static uint64_t *
bases_of_contents(const struct dray_index *ix, const struct dray_desc *desc)
{
	uint64_t all = desc == NULL || desc->n_bases >= 64 ? UINT64_MAX : ((uint64_t)1 << desc->n_bases) - 1;
	uint64_t *mask = calloc((size_t)ix->rows[DRAY_T_CONTENTS] + 1, sizeof *mask);

	for (uint32_t i = 0; i < ix->rows[DRAY_T_ENTRIES] && mask != NULL; i++) {
		struct dray_entry en;
		struct dray_state s;

		dray_index_entry(ix, i, &en);
		if ((en.flags & DRAY_ENTRY_SAME) != 0) {
			dray_index_state(ix, en.target, &s);
			if (s.type == DRAY_FILE)
				mask[s.content] |= all;
		}
		for (uint32_t k = 0; k < en.alt_count; k++) {
			struct dray_alt al;

			dray_index_alt(ix, en.alt_first + k, &al);
			if (al.state == DRAY_NONE)
				continue;
			dray_index_state(ix, al.state, &s);
			if (s.type == DRAY_FILE)
				mask[s.content] |= al.bases;
		}
	}
	return mask;
}

static int
check_recipe(const struct dray_desc *desc, const struct dray_recipe *r, uint64_t mask, struct dray_err *e)
{
	if (r->kind != DRAY_RECIPE_FULL && !dray_index_may(desc, "delta"))
		return dray_fail(e, DRAY_E_FORMAT, "kind %u without the feature \"delta\"", r->kind);
	if (r->kind == DRAY_RECIPE_COPY && mask == 0)
		return dray_fail(e, DRAY_E_FORMAT, "a copy of what no base has");
	if (r->wrap != DRAY_DEFLATE_NONE && !dray_index_may(desc, "gzip"))
		return dray_fail(e, DRAY_E_FORMAT, "the inside of a .gz without the feature \"gzip\"");
	return 0;
}

static int
check_recipes(const struct dray_index *ix, const struct dray_desc *desc, const uint64_t *mask, struct dray_err *e)
{
	for (uint32_t i = 0; i < ix->rows[DRAY_T_CONTENTS]; i++) {
		struct dray_content c;
		struct dray_recipe r;

		dray_index_content(ix, i, &c);
		for (uint32_t k = 0; k < c.recipe_count; k++) {
			dray_index_recipe(ix, c.recipe_first + k, &r);
			if (check_recipe(desc, &r, mask[i], e) != 0)
				return dray_wrap(e, "content %" PRIu32 ": recipe %" PRIu32, i, k);
		}
	}
	return 0;
}

int
dray_index_check_bases(const struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e)
{
	bool plain = true;
	uint64_t *mask;
	int rc = -1;

	for (uint32_t i = 0; i < ix->rows[DRAY_T_RECIPES] && plain; i++) {
		const uint8_t *p = ix_row(ix, DRAY_T_RECIPES, i);

		plain = p[R_KIND] == DRAY_RECIPE_FULL && p[R_WRAP] == DRAY_DEFLATE_NONE;
	}
	if (plain && ix->rows[DRAY_T_RANGES] == 0)
		return 0;	/* full copies only: nothing to look up */
	if ((mask = bases_of_contents(ix, desc)) == NULL)
		return dray_fail_errno(e, "bases of contents");
	if (check_recipes(ix, desc, mask, e) != 0)
		goto out;
	for (uint32_t i = 0; i < ix->rows[DRAY_T_FRAMES]; i++) {
		uint64_t bases = UINT64_MAX;
		struct dray_frame f;

		dray_index_frame(ix, i, &f);
		for (uint32_t k = 0; k < f.range_count; k++) {
			struct dray_range r;

			dray_index_range(ix, f.range_first + k, &r);
			bases &= mask[r.content];
		}
		if (bases == 0) {
			dray_fail(e, DRAY_E_FORMAT, "frame %" PRIu32 ": no base has all contents it builds on", i);
			goto out;
		}
	}
	rc = 0;
out:
	free(mask);
	return rc;
}
