/*
 * spool.h - contents of archives, kept in an unnamed file until the bundle is written: packing reads them again, and
 * an archive can be read only from its beginning. Equal contents stand there once; zeros that an archive does not
 * spell out take no room.
 */
#ifndef BUILD_SPOOL_H
#define BUILD_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define BUILD_CONTENT_MAX (UINT64_C(1) << 40)	/* a sparse member may claim any size; zeros take time to hash too */

struct build_spool;

/** build_spool_new - in the folder @dir; build_spool_free */
DRAY_MUST_CHECK int build_spool_new(const char *dir, struct build_spool **out, struct dray_err *e);
void build_spool_free(struct build_spool *s);

/* one content: begin, put with rising offsets, end */
DRAY_MUST_CHECK int build_spool_begin(struct build_spool *s, struct dray_err *e);
DRAY_MUST_CHECK int build_spool_put(struct build_spool *s, uint64_t at, const void *p, size_t len,
    struct dray_err *e);
/** build_spool_end - @size: of the content, at least what was put; *at: where it stands */
DRAY_MUST_CHECK int build_spool_end(struct build_spool *s, uint64_t size, uint8_t sha256[32], uint64_t *at,
    struct dray_err *e);

/** build_spool_fd - to read from by pread */
int build_spool_fd(const struct build_spool *s);

#endif
