/*
 * gunzip.h - gzip members (RFC 1952): inflated under a hard bound and hashed, and made.
 */
#ifndef BUILD_GUNZIP_H
#define BUILD_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef ZLIB_CONST
#define ZLIB_CONST	/* next_in points to const: zlib.h */
#endif
#include <zlib.h>

#include "dray/digest.h"
#include "dray/err.h"

struct build_gunzip {
	uint64_t max;			/* bytes that come out; more is an error */
	int (*begin)(void *ctx, struct dray_err *e);	/* what was put before counts no more; may be NULL */
	/* what came out; NULL: nobody wants it. -1 with @e ends it */
	int (*put)(void *ctx, const uint8_t *p, size_t len, struct dray_err *e);
	void *ctx;
};

/**
 * build_gunzip_fd - the file @fd from its begin
 * @h: for the hash of what came out
 * Errors: DRAY_E_FORMAT: no gzip, damaged, cut short, bytes behind it, more than @max; DRAY_E_IO; those of put.
 */
DRAY_MUST_CHECK int build_gunzip_fd(int fd, const struct build_gunzip *o, struct dray_sha256 *h,
    uint8_t sha256[DRAY_SHA256_LEN], uint64_t *size, struct dray_err *e);

struct build_gzip {			/* a gzip member that is being written */
	z_stream z;
	int fd;
	uint64_t at;
};

/**
 * build_gzip_begin - into the empty file @fd, without name and time, fast; build_gzip_end in any case
 * Any amount may be put. Errors: DRAY_E_IO, DRAY_E_ROOM.
 */
DRAY_MUST_CHECK int build_gzip_begin(struct build_gzip *g, int fd, struct dray_err *e);
DRAY_MUST_CHECK int build_gzip_put(struct build_gzip *g, const void *p, size_t len, struct dray_err *e);
/** build_gzip_end - @good: write what is left too */
DRAY_MUST_CHECK int build_gzip_end(struct build_gzip *g, bool good, struct dray_err *e);

#endif
