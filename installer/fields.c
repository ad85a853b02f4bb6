/*
 * fields.c - a hash over fields of any length.
 */
#include <string.h>

#include "dray/digest.h"
#include "dray/num.h"

#include "installer/fields.h"

void
inst_fields_begin(struct inst_fields *f, struct dray_err *e)
{
	*f = (struct inst_fields){ .e = e };
	f->bad = dray_sha256_new(&f->h, e) != 0 || dray_sha256_begin(f->h, e) != 0;
}

void
inst_field(struct inst_fields *f, const void *p, size_t len)
{
	uint8_t n[4];

	if (f->bad)
		return;
	dray_put_u32(n, (uint32_t)len);
	f->bad = dray_sha256_add(f->h, n, sizeof(n), f->e) != 0 || (len > 0 && dray_sha256_add(f->h, p, len, f->e) != 0);
}

void
inst_field_u32(struct inst_fields *f, uint32_t v)
{
	uint8_t n[4];

	dray_put_u32(n, v);
	inst_field(f, n, sizeof(n));
}

void
inst_field_text(struct inst_fields *f, const char *s)
{
	inst_field(f, s, strlen(s));
}

int
inst_fields_end(struct inst_fields *f, uint8_t out[32])
{
	int rc = f->bad ? -1 : dray_sha256_end(f->h, out, f->e);

	dray_sha256_free(f->h);
	f->h = NULL;
	return rc;
}
