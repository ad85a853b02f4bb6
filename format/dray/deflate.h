/*
 * deflate.h - deflate streams (RFC 1951) that two well-known programs make, bit for bit: zlib's deflate and GNU gzip. So the
 * inside of a .gz can be told instead of the .gz. Same bytes on every processor. Source: spec/bundle-format.md 6.6.
 */
#ifndef DRAY_DEFLATE_H
#define DRAY_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

enum {				/* whose stream */
	DRAY_DEFLATE_NONE,
	DRAY_DEFLATE_GNU_9, DRAY_DEFLATE_GNU_6,	/* gzip -9, gzip -6, of GNU */
	DRAY_DEFLATE_ZLIB_9, DRAY_DEFLATE_ZLIB_6,	/* zlib, level and its usual memory, memLevel 8 */
	DRAY_DEFLATE_ZLIB_9_LARGE, DRAY_DEFLATE_ZLIB_6_LARGE,	/* the same with memLevel 9 */
	DRAY_DEFLATE_LAST = DRAY_DEFLATE_ZLIB_6_LARGE,
};

#define DRAY_DEFLATE_RULES "1"	/* for "encoders" of dray.json: which streams are tried, in which order, and what is too dear */

/* most steps for each byte of input, and some for each stream: an input on which the search takes more is not for us */
#define DRAY_DEFLATE_STEPS 256u
#define DRAY_DEFLATE_STEPS_FREE (1024u * 1024u)

struct dray_deflater;		/* a reusable context of about 400 KiB; one thread at a time */

DRAY_MUST_CHECK int dray_deflater_new(struct dray_deflater **out, struct dray_err *e);
void dray_deflater_free(struct dray_deflater *d);

/**
 * dray_deflate - the stream that program @id makes of @src, in one go, without dictionary or flushes
 * @id: DRAY_DEFLATE_*, not NONE
 * @dst: room for @cap bytes; not in the memory of @src
 * Return: true, and its length in @out; false when it takes more than @cap bytes or too many steps. Takes no memory.
 */
DRAY_MUST_CHECK bool dray_deflate(struct dray_deflater *d, unsigned id, const uint8_t *src, size_t len, uint8_t *dst,
    size_t cap, size_t *out);

/** dray_deflate_gives - does program @id make exactly @want of @src? Ends with the first byte that differs. */
DRAY_MUST_CHECK bool dray_deflate_gives(struct dray_deflater *d, unsigned id, const uint8_t *src, size_t len,
    const uint8_t *want, size_t want_len);

/** dray_deflate_name - "gzip -9", for people; @id: not NONE */
const char *dray_deflate_name(unsigned id);

/** dray_deflate_steps - what the last stream took: candidates looked at, and one for each eight bytes compared */
uint64_t dray_deflate_steps(const struct dray_deflater *d);

#endif
