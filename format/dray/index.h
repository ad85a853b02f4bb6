/*
 * index.h - the tables: every path of the release and of its bases. Source: spec/bundle-format.md, "Index".
 *
 * Rows are fixed-width little-endian bytes, read by accessors; nothing is allocated per row. dray_index_load has
 * checked every reference, bound and path, so accessors take any row number below the count without failing.
 */
#ifndef DRAY_INDEX_H
#define DRAY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/descriptor.h"
#include "dray/err.h"

#define DRAY_NONE UINT32_MAX

enum dray_type {
	DRAY_ABSENT = 0, DRAY_FILE = 1, DRAY_DIR = 2, DRAY_SYMLINK = 3, DRAY_FIFO = 4, DRAY_CHARDEV = 5, DRAY_BLOCKDEV = 6,
};

/* which attributes a set holds; an absent one is neither applied nor compared */
enum { DRAY_HAS_MODE = 1, DRAY_HAS_UID = 2, DRAY_HAS_GID = 4, DRAY_HAS_FLAGS = 8, DRAY_HAS_XATTRS = 16, DRAY_HAS_MTIME = 32 };

enum dray_table {
	DRAY_T_STRINGS, DRAY_T_ATTRS, DRAY_T_XATTRS, DRAY_T_COMPSETS, DRAY_T_STATES, DRAY_T_ENTRIES, DRAY_T_ALTS,
	DRAY_T_CONTENTS, DRAY_T_RECIPES, DRAY_T_PIECES, DRAY_T_FRAMES, DRAY_T_RANGES, DRAY_TABLES
};

struct dray_attrs {		/* owner, mode, flags, xattrs: shared by many states */
	uint16_t has;		/* DRAY_HAS_*, MTIME excepted (it is in the state) */
	uint32_t mode;		/* 07777 */
	uint32_t uid, gid;
	uint32_t flags;		/* st_flags (FreeBSD) or FS_IOC_GETFLAGS (Linux) */
	uint32_t xattr_first, xattr_count;	/* rows of the xattr table, names ascending */
};

struct dray_xattr { const char *name; size_t name_len; const uint8_t *value; size_t len; };	/* name: "user.x", no NUL in it */

struct dray_state {		/* one state of one path; equal states are one row */
	const char *target;	/* DRAY_SYMLINK: 1 .. 4095 bytes, no NUL, not NUL-terminated; else NULL */
	size_t target_len;
	int64_t mtime_sec;
	uint32_t mtime_nsec;
	uint32_t attrs;		/* row */
	uint32_t content;	/* DRAY_FILE: row; else DRAY_NONE */
	uint32_t rdev_major, rdev_minor;	/* devices */
	uint32_t link;		/* hard-link group: 1 + entry row of its first member in path order; 0: none */
	uint8_t type;		/* DRAY_FILE .. DRAY_BLOCKDEV */
	bool has_mtime;
};

enum { DRAY_ENTRY_SAME = 1,	/* every base has exactly the target state; no alternatives are listed */
	DRAY_ENTRY_CONFIG = 2,	/* a person may have edited it */
};

struct dray_entry {
	const char *path;	/* not NUL-terminated */
	size_t len;
	uint8_t flags, phase;
	uint16_t compset;
	uint32_t target;	/* state row, DRAY_NONE: absent in the release */
	uint32_t alt_first, alt_count;
};

struct dray_alt { uint32_t state; uint64_t bases; };	/* a state (DRAY_NONE: absent) this path had in these bases (bit mask) */

#define DRAY_SIZE_UNKNOWN UINT64_MAX	/* a content that never travels, and whose source tells no size: known by hash alone */

struct dray_content {
	uint64_t size;		/* DRAY_SIZE_UNKNOWN only where there are no recipes */
	const uint8_t *sha256;	/* 32 bytes, borrowed */
	uint32_t recipe_first, recipe_count;	/* 0 recipes: never sent, only known by hash */
};

enum { DRAY_RECIPE_FULL = 1, DRAY_RECIPE_DELTA = 2, DRAY_RECIPE_COPY = 3 };
struct dray_recipe {		/* best first: copy (no pieces), deltas, full */
	uint8_t kind;
	uint8_t wrap;		/* 0, or DRAY_DEFLATE_*: its one piece is the inside of a .gz, and the content is that .gz (gzip.h) */
	uint32_t piece_first, piece_count;
};

struct dray_piece { uint32_t frame, offset, len; };	/* len bytes at offset of the frame's output; pieces follow each other in the content */

struct dray_frame {
	uint8_t kind, filter, codec;
	uint32_t block;
	uint64_t at;		/* offset of the stored bytes in the bundle (computed at load) */
	uint32_t stored, out;	/* bytes */
	uint32_t raw;		/* bytes that its data holds; equal to out but for DRAY_FRAME_ADDCOPY */
	uint32_t range_first, range_count;	/* base ranges, in order: the reference it is decoded against */
	const uint8_t *sha256;	/* of the stored bytes */
};

struct dray_range {		/* len bytes at offset of a base content */
	uint32_t content;
	uint64_t offset, len;
	bool inside;		/* of its inside instead, which it is a .gz of: the whole of it, offset 0 */
};

struct dray_index;

/* reads @len bytes at @at of the bundle into @buf; 0 or -1 */
typedef int dray_read_fn(void *ctx, uint64_t at, void *buf, size_t len, struct dray_err *e);

/**
 * dray_index_load - read, hash, decode and check all tables
 * @desc: of the same bundle, borrowed during the call; gives offsets, limits and the numbers of bases, phases, components
 * @dir, @dir_len: bytes of index/00, whose hash has matched
 * @read: gives the chunks; called from several threads
 * @threads: >= 1
 * Errors: DRAY_E_FORMAT (damaged; a chunk's hash is checked before it is decoded), DRAY_E_NEWER (unknown table,
 * filter, frame or recipe kind), DRAY_E_IO.
 */
DRAY_MUST_CHECK int dray_index_load(const struct dray_desc *desc, const uint8_t *dir, size_t dir_len,
    dray_read_fn *read, void *ctx, unsigned threads, struct dray_index **out, struct dray_err *e);
void dray_index_free(struct dray_index *ix);

uint32_t dray_index_rows(const struct dray_index *ix, enum dray_table t);
uint64_t dray_index_bytes(const struct dray_index *ix);	/* memory its tables take */
void dray_index_entry(const struct dray_index *ix, uint32_t i, struct dray_entry *out);
void dray_index_state(const struct dray_index *ix, uint32_t i, struct dray_state *out);
void dray_index_attrs(const struct dray_index *ix, uint32_t i, struct dray_attrs *out);

/**
 * dray_index_fflags - DRAY_FF_* that the state asks for, and in *known all those that it speaks of
 * @os: of a bundle for that system only; NULL: of any bundle
 * Of files and directories; of all else, and without flags in the bundle, *known is 0.
 */
uint8_t dray_index_fflags(const struct dray_index *ix, const struct dray_state *s, const char *os, uint8_t *known);
void dray_index_xattr(const struct dray_index *ix, uint32_t i, struct dray_xattr *out);
void dray_index_alt(const struct dray_index *ix, uint32_t i, struct dray_alt *out);
void dray_index_content(const struct dray_index *ix, uint32_t i, struct dray_content *out);
void dray_index_recipe(const struct dray_index *ix, uint32_t i, struct dray_recipe *out);
void dray_index_piece(const struct dray_index *ix, uint32_t i, struct dray_piece *out);
void dray_index_frame(const struct dray_index *ix, uint32_t i, struct dray_frame *out);
void dray_index_range(const struct dray_index *ix, uint32_t i, struct dray_range *out);
uint64_t dray_index_compset(const struct dray_index *ix, uint32_t i);	/* bit mask of components */

/** dray_content_fits - can @size bytes be this content? Any number can where its size is unknown */
bool dray_content_fits(const struct dray_content *c, uint64_t size);

/** dray_content_is - are @size bytes with that hash this content? @sha256: exactly 32 bytes */
bool dray_content_is(const struct dray_content *c, uint64_t size, const uint8_t *sha256);

/** dray_content_bytes - its size for sums and progress lines: 0 where it is unknown */
uint64_t dray_content_bytes(const struct dray_content *c);

/** dray_index_find - row of @path or DRAY_NONE, by binary search */
uint32_t dray_index_find(const struct dray_index *ix, const char *path, size_t len);

#endif
