/*
 * fuzz_descriptor.c - dray.json: what is read is written again as it was, its layout is the one that was told.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_err e = { 0 };
	struct dray_desc *d;
	char *text;
	size_t len;

	if (dray_desc_parse((const char *)data, size, &d, &e) != 0) {
		if (d != NULL || e.text[0] == 0 || (e.code != DRAY_E_FORMAT && e.code != DRAY_E_NEWER && e.code != DRAY_E_IO))
			abort();
		return 0;
	}
	if (dray_desc_write(d, &text, &len, &e) != 0 || len != size || memcmp(text, data, size) != 0)
		abort();
	if (dray_desc_head(d) > d->length)
		abort();
	free(text);
	dray_desc_free(d);
	return 0;
}
