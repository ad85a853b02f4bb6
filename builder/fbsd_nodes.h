/*
 * fbsd_nodes.h - the nodes of a release from the lines of metadata files.
 */
#ifndef BUILD_FBSD_NODES_H
#define BUILD_FBSD_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_lines.h"
#include "builder/release.h"
#include "dray/err.h"

struct build_fbsd_held {	/* a content in the spool */
	uint8_t sha256[32];
	uint64_t at, size;
};

/**
 * build_fbsd_nodes - append them to the empty @r, in path order, and name its components
 * @l: in order (build_fbsd_lines_sort); targets of symlinks are borrowed from it
 * @held, @n_held: all contents, in the order of hashes
 * @os: of the bundle: for which file flags are written; of "any" none are
 * @history: a path may have several states
 * Errors: DRAY_E_IO; DRAY_E_FORMAT: more components than a bundle can hold.
 */
DRAY_MUST_CHECK int build_fbsd_nodes(struct build_release *r, const struct build_fbsd_lines *l,
    const struct build_fbsd_held *held, size_t n_held, const char *os,
    bool history, struct dray_err *e);

#endif
