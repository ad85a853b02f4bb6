/*
 * fuzz_frame.c - the door to zstd. Input: 4 bytes declared output (little-endian, taken modulo 128 KiB), then the
 * stored bytes. Whatever they are: exactly the declared bytes or an error. Output buffers are exactly as large as
 * declared, so that a sanitizer sees the first byte too many.
 */
#include <stdint.h>
#include <stdlib.h>

#include "dray/frame.h"
#include "dray/num.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dray_decoder *d;
	struct dray_err e = { 0 };
	uint8_t *dst;
	size_t len;

	if (size < 4)
		return 0;
	if (d == NULL && dray_decoder_new(&d, &e) != 0)
		abort();
	len = dray_get_u32(data) % (128u << 10);
	if ((dst = malloc(len != 0 ? len : 1)) == NULL)
		abort();
	if (dray_decode(d, data + 4, size - 4, dst, len, 64u << 10, &e) != 0) {
		if (e.code != DRAY_E_FORMAT || e.text[0] == '\0')
			abort();
	}
	free(dst);
	return 0;
}
