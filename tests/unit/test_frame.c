/*
 * test_frame.c - the door to zstd: what comes back, and everything that is a valid zstd stream and still refused.
 */
#include <stdlib.h>

#include <zstd.h>

#include "test.h"

#include "dray/frame.h"

#define LEN 100000u
#define CAP (LEN + 4096u)

static uint8_t plain[LEN], stored[CAP], out[CAP];

/* text-like bytes from a fixed seed */
static void
fill(uint8_t *p, size_t len, uint32_t seed)
{
	static const char words[] = "the quick brown fox jumps over a lazy dog and writes it down again and again ";

	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = seed >> 28 == 0 ? (uint8_t)(seed >> 16) : (uint8_t)words[(i + (seed >> 20) % 3) % (sizeof words - 1)];
	}
}

static void
each_level_comes_back(void)
{
	struct dray_decoder *d;
	struct dray_err e = { 0 };

	fill(plain, LEN, 1);
	CHECK_EQ(dray_decoder_new(&d, &e), 0);
	for (int level = 1; level <= 19; level++) {
		static const size_t lens[] = { 0, 1, 255, 256, 257, 65536, LEN };
		struct dray_encoder *c;

		CHECK_EQ(dray_encoder_new(level, &c, &e), 0);
		for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
			size_t n = 0;

			CHECK_EQ(dray_encode(c, plain, lens[i], stored, dray_encode_bound(lens[i]), &n, &e), 0);
			CHECK(n <= lens[i] + lens[i] / 256 + 1024);	/* what readers allow */
			memset(out, 0xee, sizeof out);
			CHECK_EQ(dray_decode(d, stored, n, out, lens[i], LEN, &e), 0);
			CHECK(memcmp(plain, out, lens[i]) == 0);
			CHECK_EQ(out[lens[i]], 0xee);
		}
		dray_encoder_free(c);
	}
	dray_decoder_free(d);
}

static void
used_contexts_give_the_same_bytes_as_new_ones(void)
{
	static uint8_t again[CAP];
	static const int levels[] = { 3, 9, 19 };
	struct dray_err e = { 0 };

	for (size_t l = 0; l < 3; l++) {
		struct dray_encoder *used, *fresh;

		CHECK_EQ(dray_encoder_new(levels[l], &used, &e), 0);
		for (uint32_t i = 0; i < 12; i++) {
			size_t len = i % 3 == 0 ? LEN : 1000u * i, a = 0, b = 0;

			fill(plain, len, i);
			CHECK_EQ(dray_encoder_new(levels[l], &fresh, &e), 0);
			CHECK_EQ(dray_encode(used, plain, len, stored, CAP, &a, &e), 0);
			CHECK_EQ(dray_encode(fresh, plain, len, again, CAP, &b, &e), 0);
			CHECK_EQ(a, b);
			CHECK(memcmp(stored, again, a) == 0);
			dray_encoder_free(fresh);
		}
		dray_encoder_free(used);
	}
}

static void
a_frame_says_its_size_and_nothing_else(void)
{
	struct dray_encoder *c;
	struct dray_err e = { 0 };
	size_t n = 0;

	fill(plain, 300, 1);
	CHECK_EQ(dray_encoder_new(19, &c, &e), 0);
	CHECK_EQ(dray_encode(c, plain, 300, stored, CAP, &n, &e), 0);
	/* RFC 8878 3.1.1.1.1: content size of two bytes, single segment, no checksum, no dictionary id */
	CHECK_EQ(stored[4], 0x60);
	CHECK_EQ(stored[5] | stored[6] << 8, 300 - 256);
	dray_encoder_free(c);
	CHECK_STR(dray_encoder_id(), "zstd-" ZSTD_VERSION_STRING);
}

static void
levels_that_are_none_are_refused(void)
{
	static const int levels[] = { -1, 0, DRAY_LEVEL_BEST + 1, 22 };

	for (size_t i = 0; i < 4; i++) {
		struct dray_encoder *c;
		struct dray_err e = { 0 };

		CHECK_EQ(dray_encoder_new(levels[i], &c, &e), -1);
		CHECK(c == NULL);
		CHECK_EQ(e.code, DRAY_E_USAGE);
		CHECK_HAS(e.text, "is not within 1 and 20");
	}
}

static void
a_small_buffer_is_an_error(void)
{
	struct dray_encoder *c;
	struct dray_err e = { 0 };
	size_t n = 7;

	fill(plain, LEN, 1);
	CHECK_EQ(dray_encoder_new(1, &c, &e), 0);
	CHECK_EQ(dray_encode(c, plain, LEN, stored, 100, &n, &e), -1);
	CHECK_EQ(n, 7);
	CHECK_STR(e.text, "compress: Destination buffer is too small");
	dray_encoder_free(c);
}

/* zstd with a parameter of our own choice */
static size_t
by_zstd(const void *src, size_t len, ZSTD_cParameter p, int v)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_inBuffer in = { src, len, 0 };
	ZSTD_outBuffer to = { stored, CAP, 0 };

	ZSTD_CCtx_setParameter(c, p, v);
	CHECK_EQ(ZSTD_compressStream2(c, &to, &in, ZSTD_e_end), 0);
	ZSTD_freeCCtx(c);
	return to.pos;
}

/* @n stored bytes must be refused with exactly @text */
static void
refused(size_t n, size_t declared, uint64_t window, const char *text)
{
	struct dray_decoder *d;
	struct dray_err e = { 0 };
	uint8_t *src = malloc(n != 0 ? n : 1), *dst = malloc(declared != 0 ? declared : 1);

	memcpy(src, stored, n);
	CHECK_EQ(dray_decoder_new(&d, &e), 0);
	CHECK_EQ(dray_decode(d, src, n, dst, declared, window, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, text);
	dray_decoder_free(d);
	free(src);
	free(dst);
}

static void
what_is_not_exactly_one_declared_frame_is_refused(void)
{
	size_t n;

	fill(plain, LEN, 1);
	n = by_zstd(plain, 1000, ZSTD_c_checksumFlag, 1);
	refused(n, 1000, LEN, "zstd frame has a checksum of its own");
	n = by_zstd(plain, 1000, ZSTD_c_contentSizeFlag, 0);
	refused(n, 1000, LEN, "zstd frame does not tell its content size");
	n = by_zstd(plain, 1000, ZSTD_c_checksumFlag, 0);
	refused(n, 999, LEN, "zstd frame holds 1000 bytes, 999 were declared");
	refused(n, 1001, LEN, "zstd frame holds 1000 bytes, 1001 were declared");
	refused(n, 0, LEN, "zstd frame holds 1000 bytes, 0 were declared");
	refused(n, 1000, 999, "zstd frame wants a window of 1000 bytes, the limit is 999");
	refused(n - 1, 1000, LEN, "damaged zstd frame: Src size is incorrect");
	refused(3, 1000, LEN, "not a zstd frame");
	refused(0, 1000, LEN, "not a zstd frame");
	refused(4, 1000, LEN, "zstd frame ends inside its header");
	refused(6, 1000, LEN, "zstd frame ends inside its header");
}

static void
a_frame_with_something_around_it_is_refused(void)
{
	static const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 'h', 'i' };
	char text[80];
	size_t n;

	fill(plain, LEN, 1);
	n = by_zstd(plain, 1000, ZSTD_c_checksumFlag, 0);
	memcpy(stored + n, stored, n);
	snprintf(text, sizeof text, "%zu bytes follow the zstd frame", n);
	refused(2 * n, 1000, LEN, text);
	stored[n] = 0;
	refused(n + 1, 1000, LEN, "1 bytes follow the zstd frame");
	memcpy(stored + n, skippable, sizeof skippable);
	refused(n + sizeof skippable, 1000, LEN, "10 bytes follow the zstd frame");
	memmove(stored + sizeof skippable, stored, n);
	memcpy(stored, skippable, sizeof skippable);
	refused(n + sizeof skippable, 1000, LEN, "not a zstd frame");
	refused(sizeof skippable, 2, LEN, "not a zstd frame");
	/* the frame of zstd 0.7, should a library still know it */
	n = by_zstd(plain, 1000, ZSTD_c_checksumFlag, 0);
	stored[0] = 0x27;
	refused(n, 1000, LEN, "not a zstd frame");
}

static void
a_frame_that_wants_a_dictionary_is_refused(void)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t n;

	/* the id set by hand: descriptor 0x61 (single segment, one byte of id) before the content size */
	fill(plain, LEN, 1);
	n = ZSTD_compressCCtx(c, stored, CAP, plain, 1000, 3);
	ZSTD_freeCCtx(c);
	CHECK_EQ(stored[4], 0x60);
	memmove(stored + 6, stored + 5, n - 5);
	stored[4] = 0x61;
	stored[5] = 77;
	refused(n + 1, 1000, LEN, "zstd frame wants dictionary 77");
}

static void
a_reserved_bit_is_refused(void)
{
	size_t n;

	fill(plain, LEN, 1);
	n = by_zstd(plain, 1000, ZSTD_c_checksumFlag, 0);
	stored[4] |= 0x08;
	refused(n, 1000, LEN, "bad zstd frame header: Unsupported frame parameter");
}

/* whatever is flipped in a frame (its hash would have told): exactly the declared bytes or an error, never more */
static void
damaged_frames_stay_within_their_buffer(void)
{
	struct dray_encoder *c;
	struct dray_decoder *d;
	struct dray_err e = { 0 };
	size_t n = 0, refusals = 0;
	uint8_t *dst = malloc(3000);

	fill(plain, 3000, 5);
	CHECK_EQ(dray_encoder_new(19, &c, &e), 0);
	CHECK_EQ(dray_decoder_new(&d, &e), 0);
	CHECK_EQ(dray_encode(c, plain, 3000, stored, CAP, &n, &e), 0);
	for (size_t i = 0; i < n * 8; i++) {
		stored[i / 8] ^= (uint8_t)(1u << i % 8);
		refusals += dray_decode(d, stored, n, dst, 3000, 3000, &e) != 0;
		stored[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	CHECK(refusals > 40);
	/* and the context is as good as new */
	CHECK_EQ(dray_decode(d, stored, n, dst, 3000, 3000, &e), 0);
	CHECK(memcmp(dst, plain, 3000) == 0);
	dray_encoder_free(c);
	dray_decoder_free(d);
	free(dst);
}

static void
each_decode_is_counted(void)
{
	struct dray_decoder *d;
	struct dray_err e = { 0 };
	uint64_t before = dray_decode_count();

	CHECK_EQ(dray_decoder_new(&d, &e), 0);
	CHECK_EQ(dray_decode(d, "", 0, out, 0, 0, &e), -1);
	CHECK_EQ(dray_decode_count(), before + 1);
	dray_decoder_free(d);
	dray_decoder_free(NULL);
	dray_encoder_free(NULL);
}

int
main(void)
{
	RUN(each_level_comes_back);
	RUN(used_contexts_give_the_same_bytes_as_new_ones);
	RUN(a_frame_says_its_size_and_nothing_else);
	RUN(levels_that_are_none_are_refused);
	RUN(a_small_buffer_is_an_error);
	RUN(what_is_not_exactly_one_declared_frame_is_refused);
	RUN(a_frame_with_something_around_it_is_refused);
	RUN(a_frame_that_wants_a_dictionary_is_refused);
	RUN(a_reserved_bit_is_refused);
	RUN(damaged_frames_stay_within_their_buffer);
	RUN(each_decode_is_counted);
	return test_done();
}
