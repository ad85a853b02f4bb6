/*
 * pack_in.h - private to packing: what the workers share, and what each of them holds.
 */
#ifndef BUILD_PACK_IN_H
#define BUILD_PACK_IN_H

#include <stdatomic.h>

#include "builder/pack.h"
#include "builder/pack_result.h"
#include "builder/work.h"
#include "dray/digest.h"
#include "dray/frame.h"

struct pack_buf { uint8_t *p; size_t cap; };

struct pack_worker {
	struct dray_encoder *enc;
	struct dray_decoder *dec;
	struct dray_sha256 *h;
	struct pack_buf src, ref, back, kept;
	struct build_cached cached;
};

struct packer {
	const struct build_pack_opts *o;
	struct build_resolved *rs;
	struct build_packed *to;
	struct pack_reader reader;
	struct build_bases bases;
	struct pack_plan plan;
	struct pack_result *results;	/* by frame of the plan */
	uint32_t *order;		/* in which frames are packed */
	struct pack_worker *workers;
	struct dray_desc *desc;		/* the widest limits, to decode with */
	struct build_work work;
	_Atomic uint64_t end;		/* of the unnamed file */
};

/**
 * build_pack_frame - read what @f is made of, encode it, prove that it decodes, store it
 * @f: a frame of the plan, or the same without its filter, or with fewer kinds
 * Safe for several threads, each with its own @w.
 */
DRAY_MUST_CHECK int build_pack_frame(struct packer *k, struct pack_worker *w, const struct pack_frame *f,
    struct pack_result *r, struct dray_err *e);

/** build_pack_cost - what making @f costs, by the weights of dray/meter.h */
uint64_t build_pack_cost(const struct packer *k, const struct pack_frame *f);

/**
 * build_pack_bound - keep within o->apply_ns; the phase "cheaper" if something has to be done for it
 * @c: of the results; changes with them
 * Errors: DRAY_E_USAGE: it cannot be kept, with the least that can.
 */
DRAY_MUST_CHECK int build_pack_bound(struct packer *k, struct pack_costs *c, struct dray_err *e);

#endif
