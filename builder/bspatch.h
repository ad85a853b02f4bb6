/*
 * bspatch.h - binary patches of freebsd-update servers (BSDIFF40): from an old content to a new one. The format says nothing of
 * which contents these are: the caller compares hashes.
 */
#ifndef BUILD_BSPATCH_H
#define BUILD_BSPATCH_H

#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "dray/err.h"

struct build_bspatch {
	struct build_reader old;	/* of @len bytes; borrowed */
	int fd;				/* the patch, from its begin; borrowed, its position does not move */
	uint64_t max;			/* bytes of the new content; more is an error */
	int (*put)(void *ctx, const uint8_t *p, size_t len, struct dray_err *e);	/* the new content, piece by piece */
	void *ctx;
};

/**
 * build_bspatch - make the new content
 * Memory and work are bounded whatever the patch says: some megabytes, and no more steps than the new content has bytes.
 * Errors: DRAY_E_FORMAT: no such patch, or a damaged one (what was put before is of no use); DRAY_E_IO; those of put.
 * Source: bsdiff(1) and bspatch(1) of FreeBSD; spec/freebsd-update.md, 1.1.
 */
DRAY_MUST_CHECK int build_bspatch(const struct build_bspatch *p, struct dray_err *e);

#endif
