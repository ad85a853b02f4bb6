/*
 * pack_plan.h - private to packing: which content goes into which frame. Decided before a byte is read, so that it
 * depends on sizes and order alone.
 */
#ifndef BUILD_PACK_PLAN_H
#define BUILD_PACK_PLAN_H

#include "builder/resolve.h"

struct pack_part {			/* @len bytes at @at of a content, next in its frame */
	uint32_t content, len;
	uint64_t at;
};

struct pack_frame {
	size_t first, n;		/* parts */
	uint32_t out;			/* bytes */
};

struct pack_plan {
	struct pack_part *parts;
	size_t n_parts, cap_parts;
	struct pack_frame *frames;
	size_t n_frames, cap_frames;
};

DRAY_MUST_CHECK int build_pack_plan_make(const struct build_resolved *rs, struct pack_plan *p, struct dray_err *e);

/** build_pack_plan_recipes - one full recipe for each wanted content; frame rows are the plan's */
DRAY_MUST_CHECK int build_pack_plan_recipes(const struct build_resolved *rs, const struct pack_plan *p,
    struct dray_err *e);
void build_pack_plan_free(struct pack_plan *p);

#endif
