/*
 * pack_plan.h - private to packing: which contents go into which frame, and on which base bytes it builds. Decided
 * before anything is compressed, from contents and paths alone.
 */
#ifndef BUILD_PACK_PLAN_H
#define BUILD_PACK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/bases.h"
#include "builder/pack_read.h"
#include "builder/resolve.h"
#include "dray/index.h"

#define PACK_GROUP_BYTES (1024u * 1024u)	/* small contents share frames of about this output */

struct pack_part {			/* @len bytes at @at of a content, at @offset in the output of its frame */
	uint32_t content, len;
	uint64_t at;
	uint32_t frame, offset;
};

struct pack_frame {			/* planned; what becomes of it is a pack_result */
	size_t first, n;		/* parts */
	uint32_t out;			/* bytes */
	size_t range_first, ranges;
	uint64_t ref;			/* bytes of the ranges; 0: a plain frame */
	uint8_t filter;
	unsigned kinds;			/* DRAY_TRY_*, one of them at least is to be taken; 0, as planned: what is smallest */
};

struct pack_use {			/* one way to make a content: its parts follow each other */
	uint32_t content;
	uint64_t bases;			/* a delta for these; 0: a full copy */
	size_t first, n;		/* parts */
};

struct pack_plan {
	struct pack_part *parts;
	size_t n_parts, cap_parts;
	struct pack_frame *frames;
	size_t n_frames, cap_frames;
	struct dray_range *ranges;
	size_t n_ranges, cap_ranges;
	struct pack_use *uses;
	size_t n_uses, cap_uses;
};

struct pack_ranges {			/* base bytes for each piece of a large content */
	struct dray_range *v;
	size_t n, cap;
	size_t *first;			/* piece i has ranges [first[i], first[i + 1]) */
};

/**
 * build_pack_plan_make - deltas first, then full copies; the phase "match"
 * @slim: full copies only where a base is without copy and delta, and of config files
 * Takes the sums of all bases that are read in parts.
 */
DRAY_MUST_CHECK int build_pack_plan_make(struct pack_reader *r, const struct build_bases *b,
    struct build_work *o, bool slim, struct pack_plan *p, struct dray_err *e);
void build_pack_plan_free(struct pack_plan *p);

/**
 * build_pieces_map - the blocks of @base that each piece of DRAY_FRAME_DEFAULT bytes of @content has most in common with
 * @threads: 1 .. as many as are free; the result does not depend on it
 * Tells @o of the bytes of both, of those of the base twice if there are several threads.
 */
DRAY_MUST_CHECK int build_pieces_map(struct pack_reader *r, struct build_work *o, unsigned threads, uint32_t content,
    uint32_t base, struct pack_ranges *out, struct dray_err *e);

#endif
