/*
 * fuzz_json.c - any JSON: what is accepted is written in the canonical way, which is read again, is canonical, and does not
 * change any more.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_json *v, *again;
	struct dray_err e = { .code = DRAY_OK };
	char *one, *two;
	size_t one_len, two_len;

	if (dray_json_parse((const char *)data, size, false, &v, &e) != 0) {
		if (v != NULL || e.text[0] == '\0')
			abort();
		return 0;
	}
	if (dray_json_write(v, &one, &one_len, &e) != 0 || dray_json_parse(one, one_len, true, &again, &e) != 0 ||
	    dray_json_write(again, &two, &two_len, &e) != 0 || one_len != two_len || memcmp(one, two, one_len) != 0)
		abort();
	for (size_t i = 0; i < dray_json_count(v); i++)
		(void)dray_json_key(v, i);
	free(one);
	free(two);
	dray_json_free(v);
	dray_json_free(again);
	return 0;
}
