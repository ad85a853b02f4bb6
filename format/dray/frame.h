/*
 * frame.h - the one door to zstd: one frame in, exactly the declared bytes out. Source: spec/bundle-format.md, "Frames".
 */
#ifndef DRAY_FRAME_H
#define DRAY_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

enum { DRAY_FRAME_PLAIN = 0, DRAY_FRAME_PREFIX = 1, DRAY_FRAME_ADDCOPY = 2, DRAY_FRAME_LZMA = 3 };

struct dray_decoder;	/* a reusable context; one thread at a time */
struct dray_encoder;

DRAY_MUST_CHECK int dray_decoder_new(struct dray_decoder **out, struct dray_err *e);
void dray_decoder_free(struct dray_decoder *d);

/**
 * dray_decode - decode stored bytes whose SHA-256 has matched
 * Exactly one zstd frame, magic FD2FB528, content size present and equal to @dst_len, no dictionary id, no skippable
 * frame, no trailing byte, window <= @max_window. Errors: DRAY_E_FORMAT.
 */
DRAY_MUST_CHECK int dray_decode(struct dray_decoder *d, const void *src, size_t src_len, void *dst, size_t dst_len,
    uint64_t max_window, struct dray_err *e);

/** dray_decode_count - frames handed to zstd by this process: tests prove that damaged ones never get there */
uint64_t dray_decode_count(void);

/* Encoder; never linked into dray-install. Level 1 .. 19. Output is the same for equal input, level and encoder id. */
DRAY_MUST_CHECK int dray_encoder_new(int level, struct dray_encoder **out, struct dray_err *e);
void dray_encoder_free(struct dray_encoder *c);
size_t dray_encode_bound(size_t len);
DRAY_MUST_CHECK int dray_encode(struct dray_encoder *c, const void *src, size_t len, void *dst, size_t cap,
    size_t *out_len, struct dray_err *e);
const char *dray_encoder_id(void);	/* "zstd-1.5.4" */

#endif
