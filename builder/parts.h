/*
 * parts.h - components that the sources tell themselves, as those of a bundle.
 */
#ifndef BUILD_PARTS_H
#define BUILD_PARTS_H

#include <stddef.h>

#include "builder/layout.h"
#include "builder/release.h"
#include "dray/err.h"

/**
 * build_parts_join - give all nodes of @v the numbers of one list, ascending, which becomes the components of @l
 * Where nobody tells any, or the layout has components of its own, nothing is changed but that the nodes tell none.
 * Errors: DRAY_E_USAGE: more components than a bundle can hold.
 */
DRAY_MUST_CHECK int build_parts_join(struct build_release *const *v, size_t n, struct build_layout *l, struct dray_err *e);

#endif
