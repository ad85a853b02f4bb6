/*
 * pack_read.h - private to packing: bytes of contents, checked against what the scan saw. Large contents are read in
 * parts and by several threads, so their blocks have sums of their own, taken in one walk that proves the whole.
 */
#ifndef BUILD_PACK_READ_H
#define BUILD_PACK_READ_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/resolve.h"
#include "dray/digest.h"
#include "dray/err.h"

#define PACK_REF_MAX (8u * 1024u * 1024u)	/* base bytes of one frame; also the largest inside of a .gz */
#define PACK_SUM_BLOCK 32768u
#define PACK_SUM_LEN 16u		/* of the block's SHA-256: it tells change, not malice */

struct pack_reader {			/* shared by all threads */
	const struct build_resolved *rs;
	uint8_t **sums;			/* by content; NULL: not taken */
	pthread_mutex_t lock;		/* of sums */
};

DRAY_MUST_CHECK int build_pack_reader_begin(struct pack_reader *r, const struct build_resolved *rs,
    struct dray_err *e);
void build_pack_reader_end(struct pack_reader *r);

/** build_pack_head - the first @len bytes of a content as it is, not checked */
DRAY_MUST_CHECK int build_pack_head(const struct pack_reader *r, uint32_t content, bool old, uint8_t *to, size_t len,
    struct dray_err *e);

/**
 * build_pack_read - @len bytes at @at of a content, or all of its inside
 * @old: from a base, else from the target
 * The whole of it, or blocks of PACK_SUM_BLOCK bytes (the last one may be shorter) after build_pack_walk took the sums.
 * Errors: DRAY_E_IO, with the path: unreadable, or changed since the tree was read.
 */
DRAY_MUST_CHECK int build_pack_read(struct pack_reader *r, struct dray_sha256 *h, uint32_t content, bool old,
    uint64_t at, size_t len, uint8_t *to, struct dray_err *e);

struct pack_walk {
	uint8_t *buf;			/* PACK_WALK_BYTES */
	struct dray_sha256 *block, *whole;
	/* the next bytes; @at: where they stand. May be NULL */
	int (*take)(void *ctx, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e);
	void *ctx;
	bool sums;			/* take them, and compare the hash of the whole */
	uint64_t from, to;		/* without sums: only these bytes; to 0: all */
};
#define PACK_WALK_BYTES (8u * PACK_SUM_BLOCK)

/** build_pack_walk - all bytes of a content, or of its inside, in order, or some of them */
DRAY_MUST_CHECK int build_pack_walk(struct pack_reader *r, const struct pack_walk *w, uint32_t content, bool old,
    struct dray_err *e);

#endif
