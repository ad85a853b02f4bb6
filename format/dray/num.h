/*
 * num.h - the only way for outside numbers into memory sizes; false on overflow, the output is then untouched.
 * Also the one range-checked parser of decimal text and of sizes, and hexadecimal both ways.
 */
#ifndef DRAY_NUM_H
#define DRAY_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

DRAY_MUST_CHECK bool dray_add(uint64_t a, uint64_t b, uint64_t *sum);
DRAY_MUST_CHECK bool dray_mul(uint64_t a, uint64_t b, uint64_t *product);
DRAY_MUST_CHECK bool dray_fit(uint64_t n, size_t *out);

/** dray_round_up - n up to the next multiple of the power of two @to; false on overflow */
DRAY_MUST_CHECK bool dray_round_up(uint64_t n, uint64_t to, uint64_t *out);

/** dray_parse_u64 - a whole NUL-terminated decimal number without sign, blanks or leading zeros, within [min, max] */
DRAY_MUST_CHECK bool dray_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/** dray_parse_size - the same with an optional suffix k, K, M, G (powers of 1024), bytes */
DRAY_MUST_CHECK bool dray_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/** dray_hex - 2 * len lower case digits and a NUL into @dst. Return: @dst. */
const char *dray_hex(const uint8_t *src, size_t len, char *dst);

/** dray_unhex - exactly 2 * @len lower case digits, nothing after */
DRAY_MUST_CHECK bool dray_unhex(const char *hex, size_t hex_len, uint8_t *dst, size_t len);

/* little-endian stores; loads are in cursor.h or, for rows already bounds-checked, dray_get_* */
void dray_put_u16(uint8_t *p, uint16_t v);
void dray_put_u32(uint8_t *p, uint32_t v);
void dray_put_u64(uint8_t *p, uint64_t v);

/* in the header, because matching loads a number for each byte: compilers make one load of it */
static inline uint16_t
dray_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t
dray_get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t
dray_get_u64(const uint8_t *p)
{
	return dray_get_u32(p) | (uint64_t)dray_get_u32(p + 4) << 32;
}

#endif
