/*
 * release.h - one number for all that a release consists of, however it was packed.
 */
#ifndef INST_RELEASE_H
#define INST_RELEASE_H

#include <stdint.h>

#include "dray/err.h"

struct dray_index;

/**
 * inst_release_digest - over the entries of the release: path, type, content, target, device, attributes, time, links
 * Equal for bundles of one tree, be they complete or slim and whatever their bases. Source: spec/apply.md, "Anchor".
 */
DRAY_MUST_CHECK int inst_release_digest(const struct dray_index *ix, uint8_t out[32], struct dray_err *e);

#endif
