/*
 * frame.c - the one door to zstd: a frame that is exactly what was declared, or an error.
 *
 * zstd by itself is generous: it skips skippable frames, goes on to a second frame, takes a frame without a size.
 * Each of these would be bytes that nobody declared, so all of it is refused before the decoder runs. Source:
 * spec/bundle-format.md 6.1; RFC 8878, 3.1.1 "Zstandard Frames".
 */
#define ZSTD_STATIC_LINKING_ONLY	/* ZSTD_getFrameHeader */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <zstd.h>

#include "dray/frame.h"
#include "dray/num.h"

struct dray_decoder {
	ZSTD_DCtx *ctx;
};

static _Atomic uint64_t decoded;

int
dray_decoder_new(struct dray_decoder **out, struct dray_err *e)
{
	struct dray_decoder *d;

	*out = NULL;
	if ((d = malloc(sizeof *d)) == NULL)
		return dray_fail_errno(e, "decoder");
	if ((d->ctx = ZSTD_createDCtx()) == NULL) {
		free(d);
		return dray_fail(e, DRAY_E_IO, "decoder: out of memory");
	}
	*out = d;
	return 0;
}

void
dray_decoder_free(struct dray_decoder *d)
{
	if (d == NULL)
		return;
	ZSTD_freeDCtx(d->ctx);
	free(d);
}

/* everything a frame can claim of itself, against what was declared; allocates nothing, decodes nothing */
static int
check_header(const uint8_t *src, size_t src_len, size_t dst_len, uint64_t max_window, struct dray_err *e)
{
	ZSTD_frameHeader h;
	size_t n;

	if (src_len < 4 || dray_get_u32(src) != ZSTD_MAGICNUMBER)
		return dray_fail(e, DRAY_E_FORMAT, "not a zstd frame");
	n = ZSTD_getFrameHeader(&h, src, src_len);
	if (ZSTD_isError(n))
		return dray_fail(e, DRAY_E_FORMAT, "bad zstd frame header: %s", ZSTD_getErrorName(n));
	if (n != 0)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame ends inside its header");
	if (h.frameType != ZSTD_frame)
		return dray_fail(e, DRAY_E_FORMAT, "not a zstd frame");
	if (h.frameContentSize == ZSTD_CONTENTSIZE_UNKNOWN)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame does not tell its content size");
	if (h.frameContentSize != dst_len)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame holds %llu bytes, %zu were declared",
		    h.frameContentSize, dst_len);
	if (h.dictID != 0)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame wants dictionary %u", h.dictID);
	if (h.checksumFlag != 0)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame has a checksum of its own");
	if (h.windowSize > max_window)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame wants a window of %llu bytes, the limit is %" PRIu64,
		    h.windowSize, max_window);
	n = ZSTD_findFrameCompressedSize(src, src_len);
	if (ZSTD_isError(n))
		return dray_fail(e, DRAY_E_FORMAT, "damaged zstd frame: %s", ZSTD_getErrorName(n));
	if (n != src_len)
		return dray_fail(e, DRAY_E_FORMAT, "%zu bytes follow the zstd frame", src_len - n);
	return 0;
}

int
dray_decode(struct dray_decoder *d, const void *src, size_t src_len, void *dst, size_t dst_len,
    uint64_t max_window, struct dray_err *e)
{
	size_t n;

	atomic_fetch_add_explicit(&decoded, 1, memory_order_relaxed);
	if (check_header(src, src_len, dst_len, max_window, e) != 0)
		return -1;
	n = ZSTD_decompressDCtx(d->ctx, dst, dst_len, src, src_len);
	if (ZSTD_isError(n))
		return dray_fail(e, DRAY_E_FORMAT, "damaged zstd frame: %s", ZSTD_getErrorName(n));
	if (n != dst_len)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame gave %zu bytes, %zu were declared", n, dst_len);
	return 0;
}

uint64_t
dray_decode_count(void)
{
	return atomic_load_explicit(&decoded, memory_order_relaxed);
}
