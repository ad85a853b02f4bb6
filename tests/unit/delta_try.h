/*
 * delta_try.h - dray_delta_apply on buffers of exactly the size they are said to have, so that a sanitizer sees the first
 * byte beyond; random numbers that are the same each time.
 */
#ifndef DELTA_TRY_H
#define DELTA_TRY_H

#include <stdlib.h>

#include "test.h"

#include "dray/delta.h"

static inline uint32_t
delta_next(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

static inline uint8_t *
delta_buf(const void *p, size_t len)
{
	uint8_t *q = malloc(len != 0 ? len : 1);

	if (q == NULL)
		abort();
	if (p != NULL && len != 0)
		memcpy(q, p, len);
	return q;
}

static inline int
delta_apply(const uint8_t *raw, size_t raw_len, const uint8_t *ref, size_t ref_len, uint8_t *out, size_t out_len,
    struct dray_err *e)
{
	uint8_t *a = delta_buf(raw, raw_len), *b = delta_buf(ref, ref_len), *c = delta_buf(NULL, out_len);
	int rc;

	memset(e, 0, sizeof *e);
	rc = dray_delta_apply(a, raw_len, b, ref_len, c, out_len, e);
	if (rc == 0)
		memcpy(out, c, out_len);
	else
		CHECK_EQ(e->code, DRAY_E_FORMAT);
	free(a);
	free(b);
	free(c);
	return rc;
}

#endif
