/*
 * fbsd_mirror.h - a folder as a freebsd-update server serves it, from the store.
 */
#ifndef BUILD_FBSD_MIRROR_H
#define BUILD_FBSD_MIRROR_H

#include <stddef.h>

#include "builder/fbsd_get.h"
#include "builder/fbsd_patch.h"
#include "dray/err.h"

/**
 * build_fbsd_mirror - write one release beneath @dir, or bring what is there up to date; latest.ssl comes last, so clients
 * see the old state or the new one. What stands there under the same name is checked before it is left as it is.
 * @v, @n: contents, all of them in the store
 * Patches of lists (tp) are not written: clients do without.
 */
DRAY_MUST_CHECK int build_fbsd_mirror(const char *dir, struct build_fbsd_server *s, const struct build_fbsd_meta *m,
    const struct build_fbsd_want *v, size_t n, struct dray_err *e);

/**
 * build_fbsd_mirror_patches - to a release that stands there already, those binary patches that clients may ask for and the
 * server has: RELEASE/ARCH/bp and to-RELEASE/ARCH/bp. Each is tried before it is written; what stands there is left
 * @pairs: of the release @m; both contents in the store, or the patch is left out
 * @wrong: as in build_fbsd_patch_opts
 */
DRAY_MUST_CHECK int build_fbsd_mirror_patches(const char *dir, struct build_fbsd_server *s, const struct build_fbsd_meta *m,
    const struct build_fbsd_pairs *pairs, const struct build_fbsd_patch_opts *wrong, struct build_fbsd_patched *done,
    struct dray_err *e);

#endif
