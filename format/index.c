/*
 * index.c - accessors of a checked index. Rows stay the bytes they were; a lookup assembles what it needs.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/fflags.h"
#include "dray/index.h"
#include "dray/path.h"

#include "index_priv.h"

const uint16_t dray_index_width[DRAY_TABLES] = {
	[DRAY_T_STRINGS] = 1, [DRAY_T_ATTRS] = A_WIDTH, [DRAY_T_XATTRS] = X_WIDTH, [DRAY_T_COMPSETS] = C_WIDTH,
	[DRAY_T_STATES] = S_WIDTH, [DRAY_T_ENTRIES] = E_WIDTH, [DRAY_T_ALTS] = L_WIDTH, [DRAY_T_CONTENTS] = N_WIDTH,
	[DRAY_T_RECIPES] = R_WIDTH, [DRAY_T_PIECES] = P_WIDTH, [DRAY_T_FRAMES] = F_WIDTH, [DRAY_T_RANGES] = G_WIDTH,
};

const char *const dray_index_name[DRAY_TABLES] = {
	[DRAY_T_STRINGS] = "strings", [DRAY_T_ATTRS] = "attrs", [DRAY_T_XATTRS] = "xattrs",
	[DRAY_T_COMPSETS] = "compsets", [DRAY_T_STATES] = "states", [DRAY_T_ENTRIES] = "entries",
	[DRAY_T_ALTS] = "alts", [DRAY_T_CONTENTS] = "contents", [DRAY_T_RECIPES] = "recipes",
	[DRAY_T_PIECES] = "pieces", [DRAY_T_FRAMES] = "frames", [DRAY_T_RANGES] = "ranges",
};

void
dray_index_free(struct dray_index *ix)
{
	if (ix == NULL)
		return;
	free(ix->mem);
	free(ix->xset);
	free(ix->at);
	free(ix);
}

uint32_t
dray_index_rows(const struct dray_index *ix, enum dray_table t)
{
	return ix->rows[t];
}

uint64_t
dray_index_bytes(const struct dray_index *ix)
{
	uint64_t sum = 0;

	for (unsigned t = 0; t < DRAY_TABLES; t++)
		sum += (uint64_t)ix->rows[t] * dray_index_width[t];
	return sum;
}

void
dray_index_entry(const struct dray_index *ix, uint32_t i, struct dray_entry *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_ENTRIES, i);

	*out = (struct dray_entry){
		.path = (const char *)ix->t[DRAY_T_STRINGS] + dray_get_u32(p + E_PATH), .len = dray_get_u16(p + E_LEN),
		.flags = p[E_FLAGS], .phase = p[E_PHASE], .compset = dray_get_u16(p + E_COMPSET),
		.target = dray_get_u32(p + E_TARGET), .alt_first = dray_get_u32(p + E_ALT), .alt_count = dray_get_u16(p + E_ALTS),
	};
}

void
dray_index_state(const struct dray_index *ix, uint32_t i, struct dray_state *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_STATES, i);
	uint32_t a = dray_get_u32(p + S_A), b = dray_get_u32(p + S_B);

	*out = (struct dray_state){
		.type = p[S_TYPE], .has_mtime = (p[S_FLAGS] & S_HAS_MTIME) != 0, .attrs = dray_get_u32(p + S_ATTRS),
		.content = DRAY_NONE, .link = dray_get_u32(p + S_LINK), .mtime_sec = (int64_t)dray_get_u64(p + S_SEC),
		.mtime_nsec = dray_get_u32(p + S_NSEC),
	};
	if (out->type == DRAY_FILE) {
		out->content = a;
	} else if (out->type == DRAY_SYMLINK) {
		out->target = (const char *)ix->t[DRAY_T_STRINGS] + a;
		out->target_len = b;
	} else if (out->type == DRAY_CHARDEV || out->type == DRAY_BLOCKDEV) {
		out->rdev_major = a;
		out->rdev_minor = b;
	}
}

uint8_t
dray_index_fflags(const struct dray_index *ix, const struct dray_state *s, const char *os, uint8_t *known)
{
	struct dray_attrs a;

	*known = 0;
	dray_index_attrs(ix, s->attrs, &a);
	if (ix->os == NULL || (a.has & DRAY_HAS_FLAGS) == 0 || (s->type != DRAY_FILE && s->type != DRAY_DIR) ||
	    (os != NULL && strcmp(os, ix->os) != 0))
		return 0;
	*known = dray_fflags_known(ix->os);
	return dray_fflags_of(ix->os, a.flags);
}

void
dray_index_attrs(const struct dray_index *ix, uint32_t i, struct dray_attrs *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_ATTRS, i);
	uint32_t set = dray_get_u32(p + A_XSET);

	*out = (struct dray_attrs){
		.has = dray_get_u16(p + A_HAS), .mode = dray_get_u32(p + A_MODE), .uid = dray_get_u32(p + A_UID),
		.gid = dray_get_u32(p + A_GID), .flags = dray_get_u32(p + A_FLAGS),
	};
	if (set != DRAY_NONE) {
		out->xattr_first = ix->xset[set];
		out->xattr_count = ix->xset[set + 1] - ix->xset[set];
	}
}

void
dray_index_xattr(const struct dray_index *ix, uint32_t i, struct dray_xattr *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_XATTRS, i), *strings = ix->t[DRAY_T_STRINGS];

	*out = (struct dray_xattr){
		.name = (const char *)strings + dray_get_u32(p + X_NAME), .name_len = dray_get_u16(p + X_NAME_LEN),
		.value = strings + dray_get_u32(p + X_VALUE), .len = dray_get_u32(p + X_LEN),
	};
}

void
dray_index_alt(const struct dray_index *ix, uint32_t i, struct dray_alt *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_ALTS, i);

	*out = (struct dray_alt){ .state = dray_get_u32(p + L_STATE), .bases = dray_get_u64(p + L_BASES) };
}

void
dray_index_content(const struct dray_index *ix, uint32_t i, struct dray_content *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_CONTENTS, i);

	*out = (struct dray_content){
		.size = dray_get_u64(p + N_SIZE), .sha256 = p + N_SHA, .recipe_first = dray_get_u32(p + N_RECIPE),
		.recipe_count = dray_get_u32(p + N_RECIPES),
	};
}

void
dray_index_recipe(const struct dray_index *ix, uint32_t i, struct dray_recipe *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_RECIPES, i);

	*out = (struct dray_recipe){
		.kind = p[R_KIND], .wrap = p[R_WRAP], .piece_first = dray_get_u32(p + R_PIECE), .piece_count = dray_get_u32(p + R_PIECES),
	};
}

void
dray_index_piece(const struct dray_index *ix, uint32_t i, struct dray_piece *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_PIECES, i);

	*out = (struct dray_piece){
		.frame = dray_get_u32(p + P_FRAME), .offset = dray_get_u32(p + P_OFFSET), .len = dray_get_u32(p + P_LEN),
	};
}

void
dray_index_frame(const struct dray_index *ix, uint32_t i, struct dray_frame *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_FRAMES, i);

	*out = (struct dray_frame){
		.kind = p[F_KIND], .filter = p[F_FILTER], .codec = p[F_CODEC], .block = dray_get_u32(p + F_BLOCK),
		.at = ix->at != NULL ? ix->at[i] : 0, .stored = dray_get_u32(p + F_STORED), .out = dray_get_u32(p + F_OUT),
		.raw = dray_get_u32(p + F_RAW),
		.range_first = dray_get_u32(p + F_RANGE), .range_count = dray_get_u32(p + F_RANGES), .sha256 = p + F_SHA,
	};
}

void
dray_index_range(const struct dray_index *ix, uint32_t i, struct dray_range *out)
{
	const uint8_t *p = ix_row(ix, DRAY_T_RANGES, i);

	*out = (struct dray_range){
		.content = dray_get_u32(p + G_CONTENT), .offset = dray_get_u64(p + G_OFFSET) & ~IX_INSIDE, .len = dray_get_u64(p + G_LEN),
		.inside = (dray_get_u64(p + G_OFFSET) & IX_INSIDE) != 0,
	};
}

uint64_t
dray_index_compset(const struct dray_index *ix, uint32_t i)
{
	return dray_get_u64(ix_row(ix, DRAY_T_COMPSETS, i) + C_MASK);
}

bool
dray_content_fits(const struct dray_content *c, uint64_t size)
{
	return c->size == DRAY_SIZE_UNKNOWN || c->size == size;
}

bool
dray_content_is(const struct dray_content *c, uint64_t size, const uint8_t *sha256)
{
	return dray_content_fits(c, size) && memcmp(c->sha256, sha256, DRAY_SHA256_LEN) == 0;
}

uint64_t
dray_content_bytes(const struct dray_content *c)
{
	return c->size == DRAY_SIZE_UNKNOWN ? 0 : c->size;
}

uint32_t
dray_index_find(const struct dray_index *ix, const char *path, size_t len)
{
	uint32_t lo = 0, hi = ix->rows[DRAY_T_ENTRIES];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		struct dray_entry en;
		int c;

		dray_index_entry(ix, mid, &en);
		c = dray_path_cmp(path, len, en.path, en.len);
		if (c == 0)
			return mid;
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return DRAY_NONE;
}
