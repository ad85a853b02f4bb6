/*
 * lzma_in.h - LZMA2 data with the bytes of base ranges as history, for frames of codec 1. Source: spec/bundle-format.md 6.7.
 */
#ifndef LZMA_IN_H
#define LZMA_IN_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define LZMA_WINDOW_MAX (256u * 1024u * 1024u)	/* base bytes and what the data holds together */

/** dray_lzma_window - the dictionary size for @len bytes behind @ref_len bytes of history; DRAY_E_FORMAT: too many */
DRAY_MUST_CHECK int dray_lzma_window(size_t ref_len, size_t len, uint32_t *window, struct dray_err *e);

/**
 * dray_lzma_decode - exactly one run of LZMA2 chunks with its end marker, and exactly @dst_len bytes out of it
 * @ref: history; anything may be in it. Holds @ref_len + @dst_len bytes of its own during the call.
 * Errors: DRAY_E_FORMAT, and DRAY_E_IO for want of memory.
 */
DRAY_MUST_CHECK int dray_lzma_decode(const uint8_t *src, size_t src_len, const uint8_t *ref, size_t ref_len, uint8_t *dst,
    size_t dst_len, struct dray_err *e);

/**
 * dray_lzma_encode - the other way; never linked into dray-install
 * @cap: with more bytes than that it is of no use.
 * Return: 0 with *out_len, 1 if it takes more than @cap, -1: DRAY_E_IO for want of memory.
 */
DRAY_MUST_CHECK int dray_lzma_encode(const uint8_t *src, size_t len, const uint8_t *ref, size_t ref_len, uint8_t *dst, size_t cap,
    size_t *out_len, struct dray_err *e);

#endif
