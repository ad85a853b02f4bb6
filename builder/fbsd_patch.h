/*
 * fbsd_patch.h - contents by binary patches of the server. A patch is a saving and nothing to rely on: a server need not have
 * any, and only the hash of the result counts.
 */
#ifndef BUILD_FBSD_PATCH_H
#define BUILD_FBSD_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_get.h"
#include "builder/fbsd_pairs.h"
#include "builder/fbsd_pull.h"
#include "dray/err.h"

struct build_fbsd_patch_opts {
	bool sparing;			/* ask for one patch of each content, and for likely ones alone */
	bool limited;			/* ask for no more once the server seems to have none */
	/* NULL: new contents are wanted, in the store. Else both contents are there, and the patch is wanted: @fd holds a right one */
	int (*keep)(void *ctx, const struct build_fbsd_pair *p, int fd, struct dray_err *e);
	/* a patch of the server that is of no use, @why tells; may be NULL */
	int (*wrong)(void *ctx, const struct build_fbsd_pair *p, const char *why, struct dray_err *e);
	void *ctx;
};

struct build_fbsd_patched {
	size_t n;			/* patches that were right */
	uint64_t bytes;			/* they have so many */
};

/**
 * build_fbsd_patch - the patches of @pairs, in order, whose old content is in the store
 * @m: the release that they lead to
 * @done: counted on
 * Errors: DRAY_E_IO, DRAY_E_ROOM, DRAY_E_SIGNAL, those of opts; none from a server that has no patch, or a wrong one, or
 * does not answer.
 */
DRAY_MUST_CHECK int build_fbsd_patch(struct build_fbsd_server *s, const struct build_fbsd_meta *m,
    const struct build_fbsd_pairs *pairs, const struct build_fbsd_patch_opts *o, struct build_fbsd_patched *done,
    struct dray_err *e);

#endif
