/*
 * texts.h - contents of the bundle as texts in memory: what a path of the release is now, what it was before. By full recipes
 * alone, so nothing of the live tree is trusted for them. Source: spec/bundle-format.md 7, "Former texts".
 */
#ifndef INST_TEXTS_H
#define INST_TEXTS_H

#include "dray/bundle.h"

struct inst_texts;	/* for one thread at a time */

DRAY_MUST_CHECK int inst_texts_new(const struct dray_bundle *b, struct inst_texts **out, struct dray_err *e);
void inst_texts_free(struct inst_texts *t);

/**
 * inst_text_read - the bytes of a content, each frame and the whole checked by their hashes
 * @content: row of the index
 * @most: bytes; a larger one is not read
 * @p: malloc'ed, a NUL stands behind its @len bytes
 * Return: 0; 1: the bundle has no full recipe of it, or it is larger than @most; -1: DRAY_E_MEDIUM, DRAY_E_FORMAT, DRAY_E_IO.
 */
DRAY_MUST_CHECK int inst_text_read(struct inst_texts *t, uint32_t content, uint64_t most, uint8_t **p, size_t *len,
    struct dray_err *e);

#endif
