/*
 * cursor.h - a window on bytes we do not trust. dray_cursor_take holds the one comparison; every reader is built
 * on it. A failed call leaves cursor and output untouched.
 */
#ifndef DRAY_CURSOR_H
#define DRAY_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

/* borrowed window: @p next byte, @left bytes that remain, @at offset of @p in its source, for messages */
struct dray_cursor {
	const uint8_t *p;
	size_t left;
	uint64_t at;
};

DRAY_MUST_CHECK bool dray_cursor_take(struct dray_cursor *c, size_t n, struct dray_cursor *sub);
DRAY_MUST_CHECK bool dray_cursor_bytes(struct dray_cursor *c, size_t n, const uint8_t **p);
DRAY_MUST_CHECK bool dray_cursor_u8(struct dray_cursor *c, uint8_t *v);
DRAY_MUST_CHECK bool dray_cursor_u16(struct dray_cursor *c, uint16_t *v);	/* little-endian, as all */
DRAY_MUST_CHECK bool dray_cursor_u32(struct dray_cursor *c, uint32_t *v);
DRAY_MUST_CHECK bool dray_cursor_u64(struct dray_cursor *c, uint64_t *v);
DRAY_MUST_CHECK bool dray_cursor_zeros(struct dray_cursor *c, size_t n);	/* n bytes, all zero */

#endif
