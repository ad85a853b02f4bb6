/*
 * pack.h - wanted contents become frames, compressed on all cores, in bundle order in an unnamed file.
 */
#ifndef BUILD_PACK_H
#define BUILD_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "builder/resolve.h"
#include "dray/err.h"

#define BUILD_GROUP_BYTES (1024u * 1024u)	/* small contents share frames of about this output */
#define BUILD_BLOCK_BYTES (4u * 1024u * 1024u)	/* stored bytes of a block, unless one frame alone is larger */

struct build_pack_opts {
	int level;			/* zstd, 1 .. 19 */
	unsigned threads;
	const char *dir;		/* where the unnamed file is made: the folder of the output */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);	/* bytes packed; may be NULL */
	void *ctx;
};

struct build_packed {
	int fd;				/* unlinked; the stored bytes of all frames, back to back */
	uint64_t stored, plain;		/* bytes of all frames: stored, and their output */
	size_t n_frames;
	uint64_t *blocks;		/* stored bytes of each block */
	size_t n_blocks, cap_blocks;
	uint32_t max_out, max_stored;	/* largest of one frame */
};

/**
 * build_pack - make frames and recipes, and add them to rs->tables
 * @target: the release that the contents come from; each content is hashed again as it is read
 * The result depends on the contents and the level, not on threads or timing.
 * Return: 0, or -1: DRAY_E_IO (a content changed since the scan, with its path), DRAY_E_ROOM, DRAY_E_SIGNAL.
 */
DRAY_MUST_CHECK int build_pack(const struct build_release *target, struct build_resolved *rs,
    const struct build_pack_opts *o, struct build_packed **out, struct dray_err *e);
void build_packed_free(struct build_packed *p);

#endif
