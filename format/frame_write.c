/*
 * frame_write.c - the zstd encoder. A file of its own, so that dray-install does not link it.
 *
 * Same input, same bytes: one thread inside zstd, the level is the only parameter, and the frame says its content
 * size and nothing else (no checksum: SHA-256 covers the stored bytes; no dictionary id).
 */
#define ZSTD_STATIC_LINKING_ONLY	/* ZSTD_c_deterministicRefPrefix */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "dray/frame.h"

#include "frame_priv.h"

#define WINDOW_LOG_MIN 10
#define ZSTD_BEST 19		/* above, nothing is gained that its time is worth */

static int
set(ZSTD_CCtx *c, ZSTD_cParameter p, int v, struct dray_err *e)
{
	size_t n = ZSTD_CCtx_setParameter(c, p, v);

	if (ZSTD_isError(n))
		return dray_fail(e, DRAY_E_IO, "encoder: %s", ZSTD_getErrorName(n));
	return 0;
}

int
dray_encoder_new(int level, struct dray_encoder **out, struct dray_err *e)
{
	struct dray_encoder *c;

	*out = NULL;
	if (level < 1 || level > DRAY_LEVEL_BEST)
		return dray_fail(e, DRAY_E_USAGE, "compression level %d is not within 1 and %d", level, DRAY_LEVEL_BEST);
	if ((c = calloc(1, sizeof *c)) == NULL)
		return dray_fail_errno(e, "encoder");
	if ((c->ctx = ZSTD_createCCtx()) == NULL) {
		free(c);
		return dray_fail(e, DRAY_E_IO, "encoder: out of memory");
	}
	c->level = level;
	if (set(c->ctx, ZSTD_c_contentSizeFlag, 1, e) != 0 ||
	    set(c->ctx, ZSTD_c_checksumFlag, 0, e) != 0 ||
	    set(c->ctx, ZSTD_c_dictIDFlag, 0, e) != 0 ||
	    /* whatever the addresses of prefix and source are to each other */
	    set(c->ctx, ZSTD_c_deterministicRefPrefix, 1, e) != 0) {
		dray_encoder_free(c);
		return -1;
	}
	*out = c;
	return 0;
}

void
dray_encoder_free(struct dray_encoder *c)
{
	if (c == NULL)
		return;
	ZSTD_freeCCtx(c->ctx);
	free(c->delta.raw);
	free(c->best.p);
	free(c->other.p);
	free(c->src.p);
	free(c->ref.p);
	free(c);
}

size_t
dray_encode_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

int
dray_encode_ref(struct dray_encoder *c, int level, const void *ref, size_t ref_len, const void *src, size_t len,
    void *dst, size_t cap, size_t *out_len, struct dray_err *e)
{
	int window = 0;		/* 0: what the level says */
	size_t n;

	/* wide enough that the first byte of the reference can be told from the last one of the source. The frame does not
	 * say so: its window is its content */
	if (ref_len != 0)
		for (window = WINDOW_LOG_MIN; window < 31 && (size_t)1 << window < ref_len + len; window++)
			;
	if (set(c->ctx, ZSTD_c_compressionLevel, level < DRAY_LEVEL_BEST ? level : ZSTD_BEST, e) != 0 || set(c->ctx, ZSTD_c_windowLog, window, e) != 0)
		return -1;
	n = ZSTD_CCtx_refPrefix(c->ctx, ref, ref_len);
	if (!ZSTD_isError(n))
		n = ZSTD_compress2(c->ctx, dst, cap, src, len);
	if (ZSTD_isError(n))
		return dray_fail(e, DRAY_E_IO, "compress: %s", ZSTD_getErrorName(n));
	*out_len = n;
	return 0;
}

int
dray_encode(struct dray_encoder *c, const void *src, size_t len, void *dst, size_t cap, size_t *out_len,
    struct dray_err *e)
{
	return dray_encode_ref(c, c->level, NULL, 0, src, len, dst, cap, out_len, e);
}

const char *
dray_encoder_id(void)
{
	/* the version of the library that runs, not of the header: a static build has one only */
	static _Thread_local char id[32];

	snprintf(id, sizeof id, "zstd-%s", ZSTD_versionString());
	return id;
}
