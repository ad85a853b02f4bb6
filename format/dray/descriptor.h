/*
 * descriptor.h - dray.json, read and written. Source: spec/bundle-format.md, "Descriptor".
 */
#ifndef DRAY_DESCRIPTOR_H
#define DRAY_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define DRAY_DESC_MAX_BYTES (1024u * 1024u)
#define DRAY_FORMAT_VERSION 1
#define DRAY_MAX_BASES 64u
#define DRAY_MAX_COMPONENTS 64u
#define DRAY_MAX_PHASES 16u
#define DRAY_MAX_MEMBERS 1024u
#define DRAY_MAX_FEATURES 64u
#define DRAY_FRAME_MAX (64u * 1024u * 1024u)	/* most a descriptor may allow for one frame's output */
#define DRAY_WINDOW_MAX (128u * 1024u * 1024u)	/* most it may allow for a zstd window */
#define DRAY_FRAME_DEFAULT (4u * 1024u * 1024u)

struct dray_json;

struct dray_base {
	bool history;			/* else exact */
	char version[65];
	uint64_t counter;		/* 0: unknown */
};

struct dray_member {			/* everything but dray.json, dray.sig and the blocks, in file order */
	char name[101];
	uint64_t offset, size;		/* of the data, bytes from the start of the bundle */
	bool by_chunks;			/* index/01: covered by the hashes in index/00, no hash of its own */
	uint8_t sha256[32];
};

#define DRAY_EOL_MAX UINT64_C(253402300799)	/* the end of year 9999 */

struct dray_desc {
	int64_t format;
	char product[65], version[65], os[33];	/* os: "linux", "freebsd", "any" */
	uint64_t counter, length, built;	/* built: seconds since 1970 */
	uint64_t eol;			/* end of life of the release, seconds since 1970; 0: not told */
	uint64_t blocks;
	uint64_t slot;			/* size of dray.sig */
	uint64_t limit_frame, limit_window, limit_memory;
	bool slim;
	size_t n_compatible, n_bases, n_components, n_phases, n_members, n_required, n_optional, n_encoders;
	char compatible[16][65];	/* products this bundle also fits; the product itself is implied */
	struct dray_base bases[DRAY_MAX_BASES];
	char components[DRAY_MAX_COMPONENTS][65];	/* at least one */
	char phases[DRAY_MAX_PHASES][65];		/* at least one, in order */
	struct dray_member members[DRAY_MAX_MEMBERS];
	char required[DRAY_MAX_FEATURES][65], optional[DRAY_MAX_FEATURES][65];
	struct { char name[33], id[65]; } encoders[16];
	size_t n_triggers;
	struct dray_json *triggers;	/* the array, checked; owned; NULL: none. Only with the feature "triggers" */
};

/**
 * dray_desc_parse - from text whose hash has matched; canonical or DRAY_E_FORMAT
 * A format version above ours or a required feature we lack: DRAY_E_NEWER, named. Format and features are looked at
 * before any other field, so that a newer document is told as newer and not as damaged.
 */
DRAY_MUST_CHECK int dray_desc_parse(const char *text, size_t len, struct dray_desc **out, struct dray_err *e);

/**
 * dray_desc_layout - for writers: fill the offsets of all members and @length
 * Offsets stand in dray.json and depend on its length, so this repeats until nothing moves.
 * @d: complete but for members[].offset and length; member sizes and slot are set
 * @blocks_bytes: of all block members with their headers and padding
 * @head: offset of the first block's header (may be NULL)
 */
DRAY_MUST_CHECK int dray_desc_layout(struct dray_desc *d, uint64_t blocks_bytes, uint64_t *head, struct dray_err *e);

/** dray_desc_head - offset of the first block's header: everything before it is the head of the bundle */
uint64_t dray_desc_head(const struct dray_desc *d);

/** dray_desc_new - all zero, malloc'ed (it is 200 KB: not for the stack); NULL when out of memory */
struct dray_desc *dray_desc_new(void);

/** dray_desc_write - canonical text, malloc'ed */
DRAY_MUST_CHECK int dray_desc_write(const struct dray_desc *d, char **text, size_t *len, struct dray_err *e);
void dray_desc_free(struct dray_desc *d);

#endif
