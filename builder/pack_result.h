/*
 * pack_result.h - private to packing: what became of each planned frame, and how that becomes rows.
 */
#ifndef BUILD_PACK_RESULT_H
#define BUILD_PACK_RESULT_H

#include "builder/pack.h"
#include "builder/pack_plan.h"

struct pack_result {
	uint64_t at;		/* in the unnamed file */
	uint32_t len, raw;
	uint8_t kind;		/* plain: its base bytes were of no use */
	uint8_t filter;
	uint8_t sha256[32];
};

/** build_pack_rows - decide which frames are kept, order them, add frames and recipes to the tables, sum up */
DRAY_MUST_CHECK int build_pack_rows(struct build_resolved *rs, const struct pack_plan *p,
    const struct pack_result *results, bool slim, struct build_packed *to, struct dray_err *e);

#endif
