/*
 * delta.h - what is inside an addcopy frame: new bytes as the sum of base bytes and differences, and extra bytes.
 * Source: spec/bundle-format.md 6.4.
 */
#ifndef DRAY_DELTA_H
#define DRAY_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

/**
 * dray_delta_apply - make the output of a decoded addcopy frame
 * @raw: content of the zstd frame; any bytes are safe
 * @ref: base bytes; any bytes are safe
 * Never writes beyond @out_len bytes of @out. Linear in out_len + raw_len. Errors: DRAY_E_FORMAT.
 */
DRAY_MUST_CHECK int dray_delta_apply(const uint8_t *raw, size_t raw_len, const uint8_t *ref, size_t ref_len,
    uint8_t *out, size_t out_len, struct dray_err *e);

struct dray_delta {		/* made by dray_delta_make; all zero at first, reusable */
	uint8_t *raw;		/* content for the zstd frame */
	size_t len, cap;
	size_t least;		/* in: bytes of src that must lie in long equal stretches, else it is not worth a delta */
	uint64_t steps;		/* triples */
	uint64_t exact, diff, extra;	/* bytes of out: equal to the base; sum with a difference that is not 0; copied */
	uint64_t work;		/* bytes compared while matching: stays within a small multiple of the input */
};

/**
 * dray_delta_make - find out how to make @src from @ref; never linked into dray-install
 * @len, @ref_len: below 2^31
 * Return: 0; 1: not worth a delta (most of src is not in ref), @d is not usable; -1: out of memory.
 */
DRAY_MUST_CHECK int dray_delta_make(const uint8_t *src, size_t len, const uint8_t *ref, size_t ref_len,
    struct dray_delta *d, struct dray_err *e);
void dray_delta_free(struct dray_delta *d);

#endif
