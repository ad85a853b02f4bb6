/*
 * fuzz_delta.c - deltas, both ways. The first byte of an input says how the rest is cut:
 *
 *   even  apply: 2 bytes length of the output, 2 bytes length of the base (both little-endian, modulo 8 KiB), the base
 *         (zeros when the input is shorter), and what the zstd frame would hold.
 *   odd   make: 2 bytes length of the base, the base, the source. What is made must come back, within the lengths that
 *         readers allow, and without more work than a multiple of the lengths.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/delta.h"
#include "dray/frame.h"
#include "dray/num.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* exactly so many bytes, so that a sanitizer sees the first one too many */
static uint8_t *
buffer(const uint8_t *from, size_t have, size_t len)
{
	uint8_t *p = calloc(len != 0 ? len : 1, 1);

	if (p == NULL)
		abort();
	if (from != NULL && have != 0 && len != 0)
		memcpy(p, from, have < len ? have : len);
	return p;
}

static void
apply(const uint8_t *p, size_t size)
{
	size_t out_len, ref_len, ref_have;
	struct dray_err e = { 0 };
	uint8_t *out, *ref, *raw;

	if (size < 4)
		return;
	out_len = dray_get_u16(p) % 8192;
	ref_len = dray_get_u16(p + 2) % 8192;
	p += 4;
	size -= 4;
	ref_have = ref_len < size ? ref_len : size;
	out = buffer(NULL, 0, out_len);
	ref = buffer(p, ref_have, ref_len);
	raw = buffer(p + ref_have, size - ref_have, size - ref_have);
	if (dray_delta_apply(raw, size - ref_have, ref, ref_len, out, out_len, &e) != 0 &&
	    (e.code != DRAY_E_FORMAT || strncmp(e.text, "delta: ", 7) != 0))
		abort();
	free(out);
	free(ref);
	free(raw);
}

static void
make(const uint8_t *p, size_t size)
{
	struct dray_delta d = { 0 };
	struct dray_err e = { 0 };
	uint8_t *src, *ref, *out;
	size_t ref_len, len;
	int rc;

	if (size < 2)
		return;
	ref_len = dray_get_u16(p);
	p += 2;
	size -= 2;
	if (ref_len > size)
		ref_len = size;
	len = size - ref_len;
	if (len == 0 || ref_len == 0)
		return;
	ref = buffer(p, ref_len, ref_len);
	src = buffer(p + ref_len, len, len);
	out = buffer(NULL, 0, len);
	if ((rc = dray_delta_make(src, len, ref, ref_len, &d, &e)) < 0 || d.work > 4096 + 600 * (uint64_t)(len + ref_len))
		abort();
	if (rc == 0 && (d.len - len > DRAY_DELTA_OVERHEAD(len) || d.exact + d.diff + d.extra != len ||
	    dray_delta_apply(d.raw, d.len, ref, ref_len, out, len, &e) != 0 || memcmp(out, src, len) != 0))
		abort();
	dray_delta_free(&d);
	free(src);
	free(ref);
	free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if ((data[0] & 1) != 0)
		make(data + 1, size - 1);
	else
		apply(data + 1, size - 1);
	return 0;
}
