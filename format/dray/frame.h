/*
 * frame.h - the one door to the codecs: one frame in, exactly the declared bytes out. Source: spec/bundle-format.md, "Frames".
 */
#ifndef DRAY_FRAME_H
#define DRAY_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct dray_desc;
struct dray_frame;
struct dray_range;

enum { DRAY_FRAME_PLAIN = 0, DRAY_FRAME_PREFIX = 1, DRAY_FRAME_ADDCOPY = 2 };
enum { DRAY_CODEC_ZSTD = 0, DRAY_CODEC_LZMA = 1 };		/* LZMA: with the feature "lzma" */
enum { DRAY_FILTER_NONE = 0, DRAY_FILTER_X86 = 1 };

#define DRAY_REF_MAX (64u * 1024u * 1024u)	/* most bytes of base ranges that one frame may name */

/* addcopy: raw is out, 12 bytes of lengths, and control bytes, 3 .. half of out and 64 */
#define DRAY_DELTA_LEAST 15u
#define DRAY_DELTA_OVERHEAD(out) (12u + (out) / 2u + 64u)

struct dray_decoder;	/* a reusable context; one thread at a time */
struct dray_encoder;

DRAY_MUST_CHECK int dray_decoder_new(struct dray_decoder **out, struct dray_err *e);
void dray_decoder_free(struct dray_decoder *d);

/**
 * dray_decode - decode stored bytes whose SHA-256 has matched
 * Exactly one zstd frame, magic FD2FB528, content size present and equal to @dst_len, no dictionary id, no skippable
 * frame, no trailing byte, window <= @max_window. Errors: DRAY_E_FORMAT.
 */
DRAY_MUST_CHECK int dray_decode(struct dray_decoder *d, const void *src, size_t src_len, void *dst, size_t dst_len,
    uint64_t max_window, struct dray_err *e);

/** dray_decode_size - how many bytes a stored frame says that it gives; DRAY_E_FORMAT: it does not tell, or more than @max */
DRAY_MUST_CHECK int dray_decode_size(const void *src, size_t src_len, uint64_t max, size_t *out, struct dray_err *e);

/* what a frame with base ranges is made from; NULL or all zero for a plain one */
struct dray_ref {
	uint8_t *p;		/* the bytes of all ranges, one after the other, as they are in the base. The buffer is the
				 * caller's and private to this call: with a filter it is filtered in place */
	size_t len;		/* sum of the ranges' lengths */
	const struct dray_range *ranges;	/* of the frame, in its order; .content is not looked at */
	size_t n;
};

/**
 * dray_decode_frame - decode one frame of any kind and filter, stored bytes whose SHA-256 has matched
 * @f: checked by dray_index_load
 * @stored: f->stored bytes
 * @ref: bytes of the base ranges; anything may be in them: wrong ones give wrong output or an error, nothing worse
 * @content_at: where the output stands in its content, for the filter: sum of the lengths of the pieces before it
 * @out: f->out bytes
 * Holds f->raw bytes of its own for DRAY_FRAME_ADDCOPY, kept for the next frame.
 * Errors: DRAY_E_FORMAT; with the wrong reference also a frame that was fine.
 */
DRAY_MUST_CHECK int dray_decode_frame(struct dray_decoder *d, const struct dray_frame *f, const uint8_t *stored,
    const struct dray_ref *ref, uint64_t content_at, const struct dray_desc *desc, uint8_t *out, struct dray_err *e);

/**
 * dray_frame_memory - what a worker holds to decode @f besides its stored bytes: @ref bytes of base ranges, output, what is
 * between, and the window of LZMA. Of numbers that were checked: no sum overflows
 */
uint64_t dray_frame_memory(const struct dray_frame *f, uint64_t ref);

/** dray_decode_count - frames handed to a decoder by this process: tests prove that damaged ones never get there */
uint64_t dray_decode_count(void);

#define DRAY_LEVEL_BEST 20	/* zstd 19, and LZMA where that is smaller by what its slower decoding is worth */

/* Encoder; never linked into dray-install. Level 1 .. DRAY_LEVEL_BEST. Output is the same for equal input, level and encoder ids. */
DRAY_MUST_CHECK int dray_encoder_new(int level, struct dray_encoder **out, struct dray_err *e);
void dray_encoder_free(struct dray_encoder *c);
size_t dray_encode_bound(size_t len);
DRAY_MUST_CHECK int dray_encode(struct dray_encoder *c, const void *src, size_t len, void *dst, size_t cap,
    size_t *out_len, struct dray_err *e);
const char *dray_encoder_id(void);	/* "zstd-1.5.4" */
const char *dray_lzma_id(void);		/* "lzma-5.4.1" */

enum {				/* kinds to try */
	DRAY_TRY_PLAIN = 1 << DRAY_FRAME_PLAIN, DRAY_TRY_PREFIX = 1 << DRAY_FRAME_PREFIX,
	DRAY_TRY_ADDCOPY = 1 << DRAY_FRAME_ADDCOPY, DRAY_TRY_ALL = 7,
	DRAY_TRY_ZSTD = 8,	/* with others: no LZMA, whatever the level */
};

struct dray_encode_in {
	const uint8_t *src;	/* what the frame is to give: one content, or several one after the other */
	size_t len;		/* 1 .. DRAY_FRAME_MAX */
	const uint8_t *ref;	/* bytes of all ranges, one after the other; not in the memory of src */
	size_t ref_len;		/* at most DRAY_REF_MAX; 0: only plain is tried */
	uint8_t filter;		/* DRAY_FILTER_X86: src is a whole piece of one content */
	const struct dray_range *ranges;	/* with a filter: lengths sum to ref_len; .content is not looked at */
	size_t n_ranges;
	uint64_t content_at;	/* with a filter: where src stands in its content */
	unsigned kinds;		/* DRAY_TRY_*; 0: all */
	int level;		/* 0: that of the encoder */
};

struct dray_encode_out {
	uint8_t kind;		/* DRAY_FRAME_*; plain: the frame has no ranges, but still its filter */
	uint8_t codec;		/* DRAY_CODEC_* */
	uint32_t raw;		/* for struct dray_frame */
	size_t len;		/* stored bytes */
	const uint8_t *p;	/* them; the encoder's, until its next use */
	size_t plain;		/* as plain it would take no less, about; 0: plain was not allowed */
};

/**
 * dray_encode_best - encode one frame by each kind that is allowed and promising, keep the smallest
 * If only addcopy is allowed and most of src is not in ref, the result is a prefix frame. Text and catalogues gain
 * nothing by addcopy: allow the other two. Levels above 9 also try 9, which short frames often like better.
 * Deterministic. Needs libdivsufsort. Memory besides zstd's: about 5 * ref_len + 4 * len bytes, with a filter
 * ref_len + len more.
 */
DRAY_MUST_CHECK int dray_encode_best(struct dray_encoder *c, const struct dray_encode_in *in,
    struct dray_encode_out *out, struct dray_err *e);
const char *dray_match_id(void);	/* "2": version of matcher and choice, for "encoders" of dray.json */

#endif
