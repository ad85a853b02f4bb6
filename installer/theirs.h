/*
 * theirs.h - the release's texts for paths whose edit stays, in the folder of the transaction. They go with it.
 */
#ifndef INST_THEIRS_H
#define INST_THEIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "dray/bundle.h"

#include "installer/journal.h"

#define INST_THEIRS_DIR "theirs"
enum { INST_THEIRS_NAME = sizeof(INST_THEIRS_DIR) + 65 };

/**
 * inst_theirs_keep - before the commit: of each path that keeps an edit, or becomes a decided text, what the release has
 * Each content once, by its hash; only those that the bundle holds whole, and up to the size of a text that is merged.
 */
DRAY_MUST_CHECK int inst_theirs_keep(const struct inst_tx *tx, const struct inst_plan *p, const struct dray_bundle *b,
    struct dray_err *e);

/** inst_theirs_kept - is that content there? @name: where, beneath the transaction's folder */
bool inst_theirs_kept(const struct inst_tx *tx, const uint8_t sha256[32], char name[INST_THEIRS_NAME]);

#endif
