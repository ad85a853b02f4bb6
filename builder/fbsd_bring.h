/*
 * fbsd_bring.h - contents of a release into the store, by patches where the server has some, else whole.
 */
#ifndef BUILD_FBSD_BRING_H
#define BUILD_FBSD_BRING_H

#include <stddef.h>

#include "builder/fbsd_patch.h"

struct build_fbsd_brought {
	size_t fetched;			/* whole */
	struct build_fbsd_patched patched;
};

/**
 * build_fbsd_bring - all of @v, each hash once, in the order of hashes
 * @pairs: of the release @m, in order
 * @wrong: as in build_fbsd_patch_opts
 * @out: counted on
 * Errors: those of build_fbsd_pull and build_fbsd_patch.
 */
DRAY_MUST_CHECK int build_fbsd_bring(struct build_fbsd_server *s, const struct build_fbsd_meta *m,
    const struct build_fbsd_want *v, size_t n, const struct build_fbsd_pairs *pairs, const struct build_fbsd_patch_opts *wrong,
    struct build_fbsd_brought *out, struct dray_err *e);

#endif
