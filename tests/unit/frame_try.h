/*
 * frame_try.h - for tests of the codecs: something like code, an encoder's result decoded again.
 */
#ifndef FRAME_TRY_H
#define FRAME_TRY_H

#include <stdlib.h>

#include "test.h"

#include "dray/descriptor.h"
#include "dray/frame.h"
#include "dray/index.h"

#define LEN 60000u

static uint8_t old[LEN], new[LEN + 4096], out[LEN + 4096];
static struct dray_desc desc;
static struct dray_decoder *decoder;

static inline uint32_t
next(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* something like code: few opcodes, calls with a target that all share, operands */
static inline void
code(uint8_t *p, size_t len, uint32_t seed)
{
	static const uint8_t ops[] = { 0x48, 0x89, 0xc7, 0x55, 0x53, 0xc3, 0x31, 0xc0, 0x74, 0x83 };
	uint32_t call = 0;

	for (size_t i = 0; i < len; i++) {
		p[i] = next(&seed) % 4 == 0 ? (uint8_t)next(&seed) : ops[next(&seed) % sizeof ops];
		if (i % 23 == 0 && i + 5 <= len) {
			uint32_t v = call++ % 7 * 4096 - (uint32_t)i - 5;

			p[i] = 0xe8;
			for (int k = 1; k <= 4; k++, v >>= 8)
				p[i + (size_t)k] = (uint8_t)v;
			i += 4;
		}
	}
}

static inline struct dray_frame
frame_of(const struct dray_encode_in *in, const struct dray_encode_out *o)
{
	return (struct dray_frame){ .kind = o->kind, .filter = in->filter, .codec = o->codec, .stored = (uint32_t)o->len,
		.out = (uint32_t)in->len, .raw = o->raw, .range_count = o->kind == DRAY_FRAME_PLAIN ? 0 : (uint32_t)in->n_ranges };
}

static inline int
decode(const struct dray_encode_in *in, const struct dray_encode_out *o, const uint8_t *base, struct dray_err *e)
{
	struct dray_frame f = frame_of(in, o);
	struct dray_ref ref = { .len = in->ref_len, .ranges = in->ranges, .n = in->n_ranges };
	uint8_t *stored = malloc(o->len), *to = malloc(in->len);
	int rc;

	if (stored == NULL || to == NULL || (ref.p = malloc(in->ref_len + 1)) == NULL)
		abort();
	memcpy(stored, o->p, o->len);
	if (in->ref_len != 0)
		memcpy(ref.p, base, in->ref_len);
	memset(e, 0, sizeof *e);
	rc = dray_decode_frame(decoder, &f, stored, o->kind == DRAY_FRAME_PLAIN ? NULL : &ref, in->content_at, &desc, to, e);
	memcpy(out, to, in->len);
	free(stored);
	free(to);
	free(ref.p);
	return rc;
}

static inline void
comes_back(struct dray_encoder *c, const struct dray_encode_in *in, struct dray_encode_out *o)
{
	struct dray_err e = { 0 };

	CHECK_EQ(dray_encode_best(c, in, o, &e), 0);
	CHECK_EQ(decode(in, o, in->ref, &e), 0);
	CHECK(memcmp(out, in->src, in->len) == 0);
	CHECK(o->len <= o->raw + o->raw / 256 + 1024);		/* what readers allow */
}

static inline struct dray_encoder *
encoder(int level)
{
	struct dray_encoder *c = NULL;
	struct dray_err e = { 0 };

	if (dray_encoder_new(level, &c, &e) != 0)
		abort();
	return c;
}

#endif
