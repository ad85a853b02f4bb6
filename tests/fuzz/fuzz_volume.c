/*
 * fuzz_volume.c - headers of volumes: one that is read is written again byte for byte, and no byte of a bundle lies outside.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/volume.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t in[DRAY_VOLUME_HEAD] = { 0 }, again[DRAY_VOLUME_HEAD];
	struct dray_volume_head h;

	memcpy(in, data, size < sizeof in ? size : sizeof in);	/* what is not given is zero: most of a header is */
	if (!dray_volume_get(in, &h))
		return 0;
	if (!dray_volume_begins(in) || h.number == 0 || h.number > h.count || h.len == 0 || h.at > h.total ||
	    h.len > h.total - h.at || !dray_volume_same_cut(&h, &h) || dray_volume_cut(&h) < h.len)
		abort();
	dray_volume_put(&h, again);
	if (memcmp(in, again, sizeof in) != 0)
		abort();
	return 0;
}
