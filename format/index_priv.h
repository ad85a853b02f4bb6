/*
 * index_priv.h - layout of the index as writer, loader and checks share it. Source: spec/bundle-format.md 5.
 */
#ifndef DRAY_INDEX_PRIV_H
#define DRAY_INDEX_PRIV_H

#include <stddef.h>
#include <stdint.h>

#include "dray/index.h"
#include "dray/num.h"

#define IX_MAGIC "DRAYIDX1"
#define IX_HEAD 16u			/* magic, tables, chunks */
#define IX_TABLE_REC 16u
#define IX_CHUNK_REC 48u
#define IX_CHUNK_MAX (1024u * 1024u)	/* output of one chunk */
#define IX_TOTAL_MAX UINT32_MAX		/* output of all chunks */
#define IX_ALTS_MAX 1024u		/* of one entry */
#define IX_RECIPES_MAX 256u		/* of one content */
#define IX_XNAME_MAX 255u
#define IX_XVALUE_MAX 65536u
#define IX_LINK_MAX 4095u		/* bytes of a symlink target */
#define IX_INSIDE (UINT64_C(1) << 63)	/* in the offset of a range */
#define IX_RANGES_MAX 65536u		/* of one frame */
#define IX_BLOCK_MAX (4u * 1024u * 1024u)	/* stored bytes of a block, unless it is one frame */

/* filters of a chunk */
enum { IX_ROWS = 0, IX_PLANES = 1, IX_DELTA = 2, IX_FILTERS };

/* row widths and the offsets of their fields, in the words of the spec */
enum {
	A_HAS = 0, A_MODE = 4, A_UID = 8, A_GID = 12, A_FLAGS = 16, A_XSET = 20, A_WIDTH = 24,
	X_SET = 0, X_NAME = 4, X_NAME_LEN = 8, X_ZERO = 10, X_VALUE = 12, X_LEN = 16, X_WIDTH = 20,
	C_MASK = 0, C_WIDTH = 8,
	S_TYPE = 0, S_FLAGS = 1, S_ZERO = 2, S_ATTRS = 4, S_A = 8, S_B = 12, S_LINK = 16, S_SEC = 20, S_NSEC = 28,
	S_WIDTH = 32,
	E_PATH = 0, E_LEN = 4, E_FLAGS = 6, E_PHASE = 7, E_COMPSET = 8, E_ALTS = 10, E_TARGET = 12, E_ALT = 16,
	E_WIDTH = 20,
	L_STATE = 0, L_BASES = 4, L_WIDTH = 12,
	N_SIZE = 0, N_RECIPE = 8, N_RECIPES = 12, N_SHA = 16, N_WIDTH = 48,
	R_KIND = 0, R_WRAP = 1, R_ZERO = 2, R_PIECE = 4, R_PIECES = 8, R_WIDTH = 12,
	P_FRAME = 0, P_OFFSET = 4, P_LEN = 8, P_WIDTH = 12,
	F_KIND = 0, F_FILTER = 1, F_CODEC = 2, F_ZERO = 3, F_BLOCK = 4, F_STORED = 8, F_OUT = 12, F_RAW = 16, F_RANGE = 20,
	F_RANGES = 24, F_SHA = 28, F_WIDTH = 60,
	G_CONTENT = 0, G_OFFSET = 4, G_LEN = 12, G_WIDTH = 20
};

enum { S_HAS_MTIME = 1 };		/* STATES flags */

struct dray_index {
	uint8_t *mem;			/* all tables, one allocation; NULL in a writer's view */
	const uint8_t *t[DRAY_TABLES];
	uint32_t rows[DRAY_TABLES];
	uint32_t *xset;			/* first row of each xattr set, and one more */
	uint32_t n_xsets;
	const char *os;			/* of the bundle, static: "linux", "freebsd", "any" */
	uint64_t *at;			/* where each frame's stored bytes begin; NULL without a bundle */
};

extern const uint16_t dray_index_width[DRAY_TABLES];
extern const char *const dray_index_name[DRAY_TABLES];

static inline const uint8_t *
ix_row(const struct dray_index *ix, enum dray_table t, size_t i)
{
	return ix->t[t] + i * dray_index_width[t];
}

/*
 * The rules. The loader runs them over the tables of a bundle, the writer over the row it was just given, so that
 * no writer of ours makes what a reader of ours refuses. A row check looks at one row and at tables with lower row
 * numbers or at tables it points into; the table checks add order, sums and cross references.
 */
int dray_index_check_xattr(const struct dray_index *ix, uint32_t i, struct dray_err *e);
int dray_index_check_attrs(const struct dray_index *ix, uint32_t i, struct dray_err *e);
int dray_index_check_state(const struct dray_index *ix, uint32_t i, struct dray_err *e);
int dray_index_check_frame(const struct dray_index *ix, const struct dray_desc *desc, uint32_t i,
    struct dray_err *e);

/* path, order and own fields of an entry; @desc NULL: phases, bases and components are not known yet */
int dray_index_check_entry(const struct dray_index *ix, const struct dray_desc *desc, uint32_t i, struct dray_err *e);

/** dray_index_check - all rules; fills ix->xset and ix->at. @desc NULL: in the writer, without a bundle around it */
int dray_index_check(struct dray_index *ix, const struct dray_desc *desc, unsigned threads, struct dray_err *e);
int dray_index_check_contents(const struct dray_index *ix, struct dray_err *e);	/* contents, recipes, pieces */
int dray_index_check_frames(struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e);
int dray_index_check_names(const struct dray_index *ix, const struct dray_desc *desc, unsigned threads,
    struct dray_err *e);	/* each entry by itself and against the one before it */
int dray_index_check_tree(const struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e);

/** dray_index_may - may the bundle hold what only that feature brings? A writer has no descriptor yet, and may */
bool dray_index_may(const struct dray_desc *desc, const char *feature);

/** dray_index_check_sizes - contents of unknown size stand only where nobody needs their bytes. After all others, too */
int dray_index_check_sizes(const struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e);

/** dray_index_check_bases - ranges and copies name what a base has. After all others: it follows rows they checked */
int dray_index_check_bases(const struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e);

/** dray_index_unfilter, dray_index_filter - @n rows of @width bytes, @filter not IX_ROWS; never in place */
void dray_index_unfilter(unsigned filter, const uint8_t *src, uint8_t *dst, size_t n, size_t width);
void dray_index_filter(unsigned filter, const uint8_t *src, uint8_t *dst, size_t n, size_t width);

/** dray_index_pack - cut the tables into chunks, compress them; no rule is checked (tests pack bad tables with it) */
int dray_index_pack(const struct dray_index *ix, int level, unsigned threads, uint8_t **dir, size_t *dir_len,
    uint8_t **chunks, size_t *chunks_len, struct dray_err *e);

#endif
