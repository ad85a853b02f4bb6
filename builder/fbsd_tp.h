/*
 * fbsd_tp.h - text patches between two states of a metadata file, as tp/OLD-NEW.gz holds them: a line "-PREFIX" takes away
 * all lines that begin so, a line "+LINE" adds one; the result is in byte order.
 */
#ifndef BUILD_FBSD_TP_H
#define BUILD_FBSD_TP_H

#include <stddef.h>

#include "dray/err.h"

/**
 * build_fbsd_tp_apply - @old and @patch, whole lines in byte order; the caller checks the hash of the result
 * @out: malloc'ed
 * Errors: DRAY_E_FORMAT: a line of the patch that is neither; DRAY_E_IO: memory.
 */
DRAY_MUST_CHECK int build_fbsd_tp_apply(const char *old, size_t old_len, const char *patch, size_t patch_len, char **out,
    size_t *out_len, struct dray_err *e);

#endif
