/*
 * needed.h - which contents does a build need? A source that is far away fetches those and no others.
 */
#ifndef BUILD_NEEDED_H
#define BUILD_NEEDED_H

#include <stddef.h>

#include "builder/release.h"
#include "dray/err.h"

/**
 * build_needed - mark the nodes whose contents must be here (needed), and tell each node the size of its content if any
 * release knows it
 * @rel, @n: the target, then all it is compared with: bases, and the sources of a history that is joined later
 *
 * A content is needed when some path that has it in some release differs: one of them has other bytes or nothing there,
 * or puts the name into another hard-link group. What happens to be in a cache plays no part, so the same sources give
 * the same bundle.
 * Errors: DRAY_E_IO (memory).
 */
DRAY_MUST_CHECK int build_needed(struct build_release *const *rel, size_t n, struct dray_err *e);

#endif
