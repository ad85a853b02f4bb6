/*
 * test_frame_lzma.c - frames of LZMA2 data: taken where they pay, by which level, and each flaw of their bytes refused.
 */
#include "frame_try.h"

#include "dray/filter.h"

/* bytes of which each depends on the one before, which LZMA sees and zstd does not */
static void
chain(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(((i == 0 ? 0u : p[i - 1] >> 5) + 1) * 37 + next(&seed) % 6);
}

/* LZMA wins by enough, unless it is not wanted; what it takes is told; each flaw of its bytes is refused */
static void
the_best_level_takes_lzma_where_it_pays(void)
{
	static const struct dray_range all = { 0, 0, LEN, false };
	struct dray_encode_in in = { .src = new, .len = LEN, .ref = old, .ref_len = LEN, .ranges = &all, .n_ranges = 1,
		.filter = DRAY_FILTER_X86, .content_at = 12345 };
	struct dray_encoder *c = encoder(DRAY_LEVEL_BEST);
	struct dray_encode_out o, zstd;
	struct dray_err e = { 0 };
	struct dray_frame f;
	uint8_t *stored;

	code(old, LEN, 1);
	chain(new, LEN, 2);
	memcpy(new + LEN / 2, old, LEN / 4);
	in.kinds = DRAY_TRY_PREFIX | DRAY_TRY_ZSTD;
	comes_back(c, &in, &zstd);
	CHECK_EQ(zstd.codec, DRAY_CODEC_ZSTD);
	in.kinds = DRAY_TRY_PREFIX;
	comes_back(c, &in, &o);
	CHECK_EQ(o.kind, DRAY_FRAME_PREFIX);
	CHECK_EQ(o.codec, DRAY_CODEC_LZMA);
	CHECK(o.len * 100 <= zstd.len * 98);
	f = frame_of(&in, &o);
	CHECK_EQ(dray_frame_memory(&f, LEN), 5 * LEN);		/* base, raw, output; base and raw again as window */
	f.codec = DRAY_CODEC_ZSTD;
	CHECK_EQ(dray_frame_memory(&f, LEN), 3 * LEN);

	if ((stored = malloc(o.len + 1)) == NULL)
		abort();
	memcpy(stored, o.p, o.len);
	stored[o.len] = 0;
	o.p = stored;
	o.len--;
	CHECK_EQ(decode(&in, &o, old, &e), -1);
	CHECK_STR(e.text, "damaged LZMA2 data");		/* no end marker */
	o.len += 2;
	CHECK_EQ(decode(&in, &o, old, &e), -1);
	CHECK_STR(e.text, "1 bytes follow the LZMA2 data");
	o.len--;
	in.len--;
	o.raw--;
	CHECK_EQ(decode(&in, &o, old, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "LZMA2 data holds more than the 59999 bytes that were declared");
	in.len += 2;
	o.raw += 2;
	CHECK_EQ(decode(&in, &o, old, &e), -1);
	CHECK_STR(e.text, "LZMA2 data gave 60000 bytes, 60001 were declared");
	in.len--;
	o.raw--;
	/* another base gives other bytes, and nothing worse */
	CHECK(decode(&in, &o, new, &e) != 0 || memcmp(out, new, LEN) != 0);
	stored[0] = 0x7f;
	CHECK_EQ(decode(&in, &o, old, &e), -1);
	CHECK_STR(e.text, "damaged LZMA2 data");
	free(stored);
	dray_encoder_free(c);
}

/* the other kinds too; at other levels it is not tried */
static void
lzma_serves_every_kind(void)
{
	static const struct dray_range all = { 0, 0, LEN, false };
	struct dray_encode_in in = { .src = new, .len = LEN, .ref = old, .ref_len = LEN, .ranges = &all, .n_ranges = 1 };
	struct dray_encoder *best = encoder(DRAY_LEVEL_BEST), *high = encoder(19);
	struct dray_encode_out o;
	uint32_t seed = 7;

	code(old, LEN, 1);
	chain(new, LEN, 2);
	for (unsigned kind = 0; kind <= DRAY_FRAME_ADDCOPY; kind++) {
		/* differences whose values drift: LZMA follows them */
		for (size_t i = 0; kind == DRAY_FRAME_ADDCOPY && i < LEN; i++)
			new[i] = (uint8_t)(old[i] + (i % 64 < 16 ? i / 2048 * 7 + next(&seed) % 4 : 0));
		in.kinds = 1u << kind;
		comes_back(best, &in, &o);
		CHECK_EQ(o.kind, kind);
		CHECK_EQ(o.codec, DRAY_CODEC_LZMA);
		comes_back(high, &in, &o);
		CHECK_EQ(o.codec, DRAY_CODEC_ZSTD);
	}
	dray_encoder_free(best);
	dray_encoder_free(high);
}

int
main(void)
{
	struct dray_err e = { 0 };

	desc.limit_window = 1u << 20;
	CHECK_EQ(dray_decoder_new(&decoder, &e), 0);
	RUN(the_best_level_takes_lzma_where_it_pays);
	RUN(lzma_serves_every_kind);
	dray_decoder_free(decoder);
	return test_done();
}
