/*
 * fbsd_upstream.h - the server's signed metadata as attachments.
 */
#ifndef BUILD_FBSD_UPSTREAM_H
#define BUILD_FBSD_UPSTREAM_H

#include "builder/release.h"
#include "builder/write.h"
#include "dray/err.h"

/**
 * build_fbsd_notes - key, tag, index and list of the release @r, which build_fbsd_load made, and what was left out of it
 * @level: zstd level of the list
 */
DRAY_MUST_CHECK int build_fbsd_notes(const struct build_release *r, int level, struct build_notes *to, struct dray_err *e);

#endif
