/*
 * fields.h - a hash over fields: each 4 bytes of length (little-endian) and its bytes, so that nothing can be read as
 * something else.
 */
#ifndef INST_FIELDS_H
#define INST_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct dray_sha256;

struct inst_fields {
	struct dray_sha256 *h;
	struct dray_err *e;
	bool bad;		/* @e tells why; what follows is left out */
};

/** inst_fields_begin - failures are kept and told by inst_fields_end */
void inst_fields_begin(struct inst_fields *f, struct dray_err *e);
void inst_field(struct inst_fields *f, const void *p, size_t len);
void inst_field_u32(struct inst_fields *f, uint32_t v);
void inst_field_text(struct inst_fields *f, const char *s);

/** inst_fields_end - the hash; frees what begin made. Return: 0, or -1 when anything failed */
DRAY_MUST_CHECK int inst_fields_end(struct inst_fields *f, uint8_t out[32]);

#endif
