/*
 * fuzz_filter_x86.c - the x86 filter on any bytes at any position: each direction undoes the other. Input: 8 bytes
 * position (little-endian), then the bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/filter.h"
#include "dray/num.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t at;
	uint8_t *p;

	if (size < 8)
		return 0;
	at = dray_get_u64(data);
	data += 8;
	size -= 8;
	if ((p = malloc(size != 0 ? size : 1)) == NULL)
		abort();
	memcpy(p, data, size);
	dray_x86_filter(p, size, at);
	dray_x86_unfilter(p, size, at);
	if (memcmp(p, data, size) != 0)
		abort();
	dray_x86_unfilter(p, size, at);
	dray_x86_filter(p, size, at);
	if (memcmp(p, data, size) != 0)
		abort();
	free(p);
	return 0;
}
