/*
 * frame_priv.h - the encoder, shared by frame_write.c (zstd) and frame_best.c (the choice of a kind).
 */
#ifndef FRAME_PRIV_H
#define FRAME_PRIV_H

#include <stddef.h>
#include <stdint.h>

#include "dray/delta.h"
#include "dray/err.h"

struct dray_encode_buf { uint8_t *p; size_t cap; };

struct dray_encoder {
	struct ZSTD_CCtx_s *ctx;
	int level;
	/* of frame_best.c */
	struct dray_delta delta;
	struct dray_encode_buf best, other;	/* the smallest so far, and the one under way */
	struct dray_encode_buf src, ref;	/* filtered copies */
};

/** dray_encode_ref - one frame with raw-content prefix @ref; @dst holds dray_encode_bound(len) bytes */
DRAY_MUST_CHECK int dray_encode_ref(struct dray_encoder *c, int level, const void *ref, size_t ref_len, const void *src,
    size_t len, void *dst, size_t cap, size_t *out_len, struct dray_err *e);

#endif
