/*
 * pack.h - wanted contents become frames and recipes, compressed on all cores into an unnamed file.
 */
#ifndef BUILD_PACK_H
#define BUILD_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/cache.h"
#include "builder/resolve.h"
#include "dray/descriptor.h"
#include "dray/err.h"
#include "tool/tool.h"

#define BUILD_BLOCK_BYTES (4u * 1024u * 1024u)	/* stored bytes of a block, unless one frame alone is larger */

struct build_pack_opts {
	int level;			/* of frame.h, 1 .. DRAY_LEVEL_BEST */
	bool slim;			/* full copies only where there is no other way */
	uint64_t apply_ns;		/* most that applying may cost, by apply_cost.h; 0: no bound */
	unsigned threads;
	const char *dir;		/* where the unnamed file is made: the folder of the output */
	struct build_cache *cache;	/* may be NULL */
	const struct tool_common *common;	/* whom to tell how far it is; NULL: nobody */
};

struct build_stored { uint64_t at; uint32_t len; };	/* of one frame, in the unnamed file */

struct build_kind_sum { uint64_t n, out, stored; };	/* frames (copies: contents), bytes they make, bytes in the bundle */

struct build_cheaper { uint64_t frames; int64_t bytes; };	/* stored in another way to keep a bound; what that adds */

struct build_packed {
	int fd;				/* unlinked */
	struct build_stored *frames;	/* in bundle order */
	size_t n_frames;
	uint64_t stored, out;		/* bytes of all frames: stored, and what they make */
	uint64_t *blocks;		/* stored bytes of each block */
	size_t n_blocks, cap_blocks;
	uint64_t max_out, max_raw, max_memory;	/* largest of one frame; memory: dray_frame_memory */
	bool delta, gzip;		/* the features that are needed */

	/* for the report */
	struct build_kind_sum kind[3], copy;	/* by DRAY_FRAME_* */
	struct build_kind_sum by_lzma;	/* those frames of them that are LZMA2 data */
	struct build_kind_sum former;	/* contents that only bases have, to merge with; their frames are among the plain ones */
	size_t n_delta, n_full;		/* contents with a delta or copy; with a full copy */
	size_t n_only;			/* contents without a full copy */
	uint64_t apply_ns[DRAY_MAX_BASES];	/* what applying costs, by base; [0] if there is none */
	struct build_cheaper cheaper;
	int64_t look_ms, encode_ms;
};

/**
 * build_pack - make frames and recipes, and add them to rs->tables; the phases "gzip", "compare", "match", "pack"
 * and, with a bound that takes some doing, "cheaper"
 * Each content is hashed again as it is read, each frame is decoded again and compared.
 * The result depends on the contents, paths, level, mode and bound, not on threads, timing or cache.
 * Return: 0, or -1: DRAY_E_USAGE (the bound cannot be kept, with the least that can), DRAY_E_IO (a content changed since
 * the scan, with its path), DRAY_E_ROOM, DRAY_E_SIGNAL.
 */
DRAY_MUST_CHECK int build_pack(struct build_resolved *rs, const struct build_pack_opts *o, struct build_packed **out,
    struct dray_err *e);
void build_packed_free(struct build_packed *p);

#endif
