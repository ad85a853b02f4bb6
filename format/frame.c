/*
 * frame.c - the one door to the codecs: a frame that is exactly what was declared, or an error. LZMA's own part is lzma.c.
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

#include "dray/delta.h"
#include "dray/filter.h"
#include "dray/frame.h"
#include "dray/index.h"
#include "dray/num.h"

#include "lzma_in.h"

struct dray_decoder {
	ZSTD_DCtx *ctx;
	uint8_t *raw;		/* content of an addcopy frame */
	size_t raw_cap;
};

static _Atomic uint64_t decoded;

int
dray_decoder_new(struct dray_decoder **out, struct dray_err *e)
{
	struct dray_decoder *d;

	*out = NULL;
	if ((d = calloc(1, sizeof *d)) == NULL)
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
	free(d->raw);
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
dray_decode_size(const void *src, size_t src_len, uint64_t max, size_t *out, struct dray_err *e)
{
	unsigned long long n = ZSTD_getFrameContentSize(src, src_len);

	if (n == ZSTD_CONTENTSIZE_ERROR)
		return dray_fail(e, DRAY_E_FORMAT, "not a zstd frame");
	if (n == ZSTD_CONTENTSIZE_UNKNOWN)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame does not tell its content size");
	if (n > max || !dray_fit(n, out))
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame holds %llu bytes, at most %" PRIu64 " are wanted", n, max);
	return 0;
}

static int
decode(struct dray_decoder *d, const void *src, size_t src_len, const uint8_t *prefix, size_t prefix_len, void *dst,
    size_t dst_len, uint64_t max_window, struct dray_err *e)
{
	size_t n;

	atomic_fetch_add_explicit(&decoded, 1, memory_order_relaxed);
	if (check_header(src, src_len, dst_len, max_window, e) != 0)
		return -1;
	/* raw content, this frame only; zstd refers to it and copies nothing. Always set, so that none is left over */
	n = ZSTD_DCtx_refPrefix(d->ctx, prefix, prefix_len);
	if (ZSTD_isError(n))
		return dray_fail(e, DRAY_E_IO, "decoder: %s", ZSTD_getErrorName(n));
	n = ZSTD_decompressDCtx(d->ctx, dst, dst_len, src, src_len);
	if (ZSTD_isError(n))
		return dray_fail(e, DRAY_E_FORMAT, "damaged zstd frame: %s", ZSTD_getErrorName(n));
	if (n != dst_len)
		return dray_fail(e, DRAY_E_FORMAT, "zstd frame gave %zu bytes, %zu were declared", n, dst_len);
	return 0;
}

int
dray_decode(struct dray_decoder *d, const void *src, size_t src_len, void *dst, size_t dst_len,
    uint64_t max_window, struct dray_err *e)
{
	return decode(d, src, src_len, NULL, 0, dst, dst_len, max_window, e);
}

/* the base bytes are those that the ranges tell; with a filter, as the encoder saw them */
static int
prepare_ref(const struct dray_frame *f, const struct dray_ref *ref, struct dray_err *e)
{
	size_t at = 0;

	for (size_t i = 0; i < ref->n; i++) {
		const struct dray_range *r = &ref->ranges[i];

		if (r->len > ref->len - at)
			return dray_fail(e, DRAY_E_IO, "base ranges are longer than the %zu bytes that were read", ref->len);
		if (f->filter == DRAY_FILTER_X86)
			dray_x86_filter(ref->p + at, (size_t)r->len, r->offset);
		at += (size_t)r->len;
	}
	if (at != ref->len)
		return dray_fail(e, DRAY_E_IO, "base ranges are %zu bytes, %zu were read", at, ref->len);
	return 0;
}

/* what the codec makes of the stored bytes */
static int
decode_data(struct dray_decoder *d, const struct dray_frame *f, const uint8_t *stored, const uint8_t *prefix, size_t prefix_len,
    uint8_t *to, size_t len, const struct dray_desc *desc, struct dray_err *e)
{
	if (f->codec == DRAY_CODEC_ZSTD)
		return decode(d, stored, f->stored, prefix, prefix_len, to, len, desc->limit_window, e);
	if (f->codec != DRAY_CODEC_LZMA)
		return dray_fail(e, DRAY_E_NEWER, "codec %u is not known to this version", f->codec);
	atomic_fetch_add_explicit(&decoded, 1, memory_order_relaxed);
	return dray_lzma_decode(stored, f->stored, prefix, prefix_len, to, len, e);
}

static int
decode_addcopy(struct dray_decoder *d, const struct dray_frame *f, const uint8_t *stored, const struct dray_ref *ref,
    const struct dray_desc *desc, uint8_t *out, struct dray_err *e)
{
	if (d->raw_cap < f->raw) {
		free(d->raw);
		d->raw_cap = 0;
		if ((d->raw = malloc(f->raw)) == NULL)
			return dray_fail_errno(e, "delta of %" PRIu32 " bytes", f->raw);
		d->raw_cap = f->raw;
	}
	if (decode_data(d, f, stored, NULL, 0, d->raw, f->raw, desc, e) != 0)
		return -1;
	return dray_delta_apply(d->raw, f->raw, ref->p, ref->len, out, f->out, e);
}

int
dray_decode_frame(struct dray_decoder *d, const struct dray_frame *f, const uint8_t *stored, const struct dray_ref *ref,
    uint64_t content_at, const struct dray_desc *desc, uint8_t *out, struct dray_err *e)
{
	static const struct dray_ref none;
	int rc;

	if (ref == NULL)
		ref = &none;
	if (f->range_count != ref->n)
		return dray_fail(e, DRAY_E_IO, "%zu base ranges of %" PRIu32 " are given", ref->n, f->range_count);
	if (prepare_ref(f, ref, e) != 0)
		return -1;
	switch (f->kind) {
	case DRAY_FRAME_PLAIN:
	case DRAY_FRAME_PREFIX:
		rc = decode_data(d, f, stored, ref->p, ref->len, out, f->out, desc, e);
		break;
	case DRAY_FRAME_ADDCOPY:
		rc = decode_addcopy(d, f, stored, ref, desc, out, e);
		break;
	default:
		return dray_fail(e, DRAY_E_NEWER, "frame kind %u is not known to this version", f->kind);
	}
	if (rc == 0 && f->filter == DRAY_FILTER_X86)
		dray_x86_unfilter(out, f->out, content_at);
	return rc;
}

uint64_t
dray_frame_memory(const struct dray_frame *f, uint64_t ref)
{
	uint64_t window = 0;

	/* LZMA keeps its history and what it gives in a buffer of its own; only a prefix is its history */
	if (f->codec == DRAY_CODEC_LZMA)
		window = (f->kind == DRAY_FRAME_ADDCOPY ? 0 : ref) + f->raw;
	return ref + f->raw + f->out + window;
}

uint64_t
dray_decode_count(void)
{
	return atomic_load_explicit(&decoded, memory_order_relaxed);
}
