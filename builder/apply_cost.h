/*
 * apply_cost.h - what applying a bundle costs the target in processor time, as a model: bytes times rates, so that the
 * same bundle has the same figure wherever it is built. The rates and how they were measured: spec/performance.md 5.
 */
#ifndef BUILD_APPLY_COST_H
#define BUILD_APPLY_COST_H

#include <stdint.h>

#include "builder/release.h"

struct build_cost_in {		/* one frame */
	uint8_t kind, filter, codec;	/* DRAY_FRAME_*, DRAY_FILTER_*, DRAY_CODEC_* */
	uint64_t stored, raw, out;
	uint64_t ref;		/* bytes of its base ranges */
	uint64_t inside;	/* ... those of them that are the inside of a .gz */
};

/** build_cost_deflate - nanoseconds to make a .gz again: @len bytes of its inside, @steps by dray_deflate_steps */
uint64_t build_cost_deflate(uint64_t len, uint64_t steps);

/** build_cost_frame - nanoseconds of one core to read and hash it, read its base bytes and decode it */
uint64_t build_cost_frame(const struct build_cost_in *f);

/**
 * build_cost_paths - nanoseconds for all but the frames: look at each path that changes and hash what is there, write
 * and hash what comes, switch
 * @from: NULL: an empty tree. @to: the target. Both have their rows
 */
uint64_t build_cost_paths(const struct build_release *from, const struct build_release *to);

/** build_cost_ms - rounded up, so that what is told can be given as a bound */
uint64_t build_cost_ms(uint64_t ns);

#define BUILD_COST_TEXT 32u

/** build_cost_text - the same as seconds, "2.500"; @out: BUILD_COST_TEXT bytes */
const char *build_cost_text(uint64_t ns, char *out);

#endif
