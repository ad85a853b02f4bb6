/*
 * fbsd_nodes.h - the nodes of a release from the lines of metadata files.
 */
#ifndef BUILD_FBSD_NODES_H
#define BUILD_FBSD_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "dray/err.h"
#include "dray/fbsd_lines.h"

/**
 * build_fbsd_nodes - append them to the empty @r, in path order, and name its components
 * @l: in order (dray_fbsd_lines_sort); targets of symlinks are borrowed from it
 * @os: of the bundle: for which file flags are written; of "any" none are
 * @history: a path may have several states
 * The size of a content is unknown, but of that of no bytes.
 * Errors: DRAY_E_IO; DRAY_E_FORMAT: more components than a bundle can hold.
 */
DRAY_MUST_CHECK int build_fbsd_nodes(struct build_release *r, const struct dray_fbsd_lines *l,
    const char *os, bool history, struct dray_err *e);

#endif
