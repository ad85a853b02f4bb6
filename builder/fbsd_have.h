/*
 * fbsd_have.h - contents that are here already, in trees or archives such as base.txz, and need not be fetched.
 */
#ifndef BUILD_FBSD_HAVE_H
#define BUILD_FBSD_HAVE_H

#include <stddef.h>

#include "builder/fbsd_pull.h"
#include "builder/release.h"
#include "dray/err.h"

/**
 * build_fbsd_have - put what @v wants, the store lacks and the source @spec holds into the store
 * @o: for reading the source; no filter
 * Errors: those of build_source_load; DRAY_E_ROOM.
 */
DRAY_MUST_CHECK int build_fbsd_have(struct build_fbsd_server *s, const char *spec, const struct build_fbsd_want *v, size_t n,
    const struct build_scan_opts *o, struct dray_err *e);

#endif
