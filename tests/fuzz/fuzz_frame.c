/*
 * fuzz_frame.c - the door to the codecs. Input: 4 bytes, of which bits 0 to 28 are the declared content of the data
 * (little-endian, taken modulo 128 KiB), bit 29 says LZMA2 instead of zstd, and bits 30, 31 are the kind of the frame (3: plain with the x86 filter), then the
 * stored bytes. A frame that needs a base gets the one below. Whatever they are: exactly the declared bytes or an error.
 * Output buffers are exactly as large as declared, so that a sanitizer sees the first byte too many.
 */
#include <stdint.h>
#include <stdlib.h>

#include "dray/descriptor.h"
#include "dray/frame.h"
#include "dray/index.h"
#include "dray/num.h"

#include "frame_base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dray_range range = { 0, 0, FUZZ_BASE, false };
	static struct dray_desc desc = { .limit_window = 64u << 10 };
	static struct dray_decoder *d;
	struct dray_frame f = { 0 };
	struct dray_ref ref = { .len = FUZZ_BASE, .ranges = &range, .n = 1 };
	struct dray_err e = { 0 };
	uint8_t *out;

	if (size < 4)
		return 0;
	if (d == NULL && dray_decoder_new(&d, &e) != 0)
		abort();
	f.kind = data[3] >> 6;
	f.codec = data[3] >> 5 & 1;
	f.raw = f.out = (dray_get_u32(data) & 0x1fffffff) % (128u << 10);
	f.stored = (uint32_t)(size - 4);
	if (f.kind > DRAY_FRAME_ADDCOPY) {
		f.kind = DRAY_FRAME_PLAIN;
		f.filter = DRAY_FILTER_X86;
	}
	/* an addcopy frame says in its lengths how much it makes; here it may always make 4,096 bytes */
	if (f.kind == DRAY_FRAME_ADDCOPY)
		f.out = FUZZ_OUT;
	f.range_count = f.kind != DRAY_FRAME_PLAIN;
	if ((out = malloc(f.out != 0 ? f.out : 1)) == NULL || (ref.p = malloc(FUZZ_BASE)) == NULL)
		abort();
	fuzz_base(ref.p);
	if (dray_decode_frame(d, &f, data + 4, f.range_count != 0 ? &ref : NULL, 0, &desc, out, &e) != 0) {
		if (e.code != DRAY_E_FORMAT || e.text[0] == '\0')
			abort();
	}
	free(out);
	free(ref.p);
	return 0;
}
