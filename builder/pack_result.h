/*
 * pack_result.h - private to packing: what became of each planned frame, and how that becomes rows.
 */
#ifndef BUILD_PACK_RESULT_H
#define BUILD_PACK_RESULT_H

#include "builder/pack.h"
#include "builder/pack_plan.h"
#include "dray/descriptor.h"

struct pack_result {
	uint64_t at;		/* in the unnamed file */
	uint32_t len, raw;
	uint8_t kind;		/* plain: its base bytes were of no use */
	uint8_t filter, codec;
	uint8_t sha256[32];
};

enum { PACK_DROPPED, PACK_DELTA, PACK_FULL };	/* what becomes of a use */

struct pack_kept {
	uint8_t *use;		/* by use: PACK_* */
	uint8_t *section;	/* by frame: PACK_DELTA stands before PACK_FULL */
	bool *full;		/* by content: has a full copy */
	size_t *first;		/* by content: where its uses begin in `sorted` */
	uint32_t *sorted;	/* numbers of uses, by content */
};

/** build_pack_keep - decide what is kept; build_pack_kept_free in any case */
DRAY_MUST_CHECK int build_pack_keep(const struct build_resolved *rs, const struct pack_plan *p,
    const struct pack_result *results, bool slim, struct pack_kept *k, struct dray_err *e);
void build_pack_kept_free(struct pack_kept *k);

/** build_pack_frame_cost - nanoseconds to apply a frame of the plan as @r */
uint64_t build_pack_frame_cost(const struct pack_plan *p, const struct pack_frame *f, const struct pack_result *r);

struct pack_costs {		/* what applying costs: nanoseconds of one core, by the model of apply_cost.h */
	size_t n;			/* bases; 1 if there are none, for a machine that has nothing */
	uint64_t ns[DRAY_MAX_BASES];
	uint64_t *readers;		/* by frame, a bit mask: the bases whose machines read it */
};

/**
 * build_pack_costs_make - what applying costs from each base, by what became of each frame
 * Of a history the dearest way from any of its states counts. build_pack_costs_free in any case.
 */
DRAY_MUST_CHECK int build_pack_costs_make(const struct build_resolved *rs, const struct pack_plan *p,
    const struct pack_result *results, bool slim, struct pack_costs *c, struct dray_err *e);
void build_pack_costs_free(struct pack_costs *c);

/** build_pack_rows - decide which frames are kept, order them, add frames and recipes to the tables, sum up */
DRAY_MUST_CHECK int build_pack_rows(struct build_resolved *rs, const struct pack_plan *p,
    const struct pack_result *results, bool slim, struct build_packed *to, struct dray_err *e);

#endif
