/*
 * test_frame_best.c - frames of every kind and filter, made and decoded again: which kind wins, what a reference may and
 * may not do, and that equal inputs give equal bytes.
 */
#include "frame_try.h"

#include "dray/filter.h"
#include "dray/num.h"


static void
each_kind_and_filter_comes_back(void)
{
	static const struct dray_range ranges[] = { { 0, 7, 20000, false }, { 1, 0, 1, false }, { 0, 20007, 100, false }, { 2, 123456789, LEN - 20101, false } };
	static const size_t lens[] = { 1, 2, 100, 30000, LEN };

	code(old, LEN, 1);
	memcpy(new, old + 100, LEN - 100);
	code(new + LEN - 100, 100, 3);
	for (int level = 1; level <= 19; level += 6)
		for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
			for (uint8_t filter = 0; filter < 2; filter++)
				for (unsigned kind = 0; kind <= DRAY_FRAME_ADDCOPY; kind++) {
					struct dray_encode_in in = { .src = new, .len = lens[i], .ref = old, .ref_len = LEN,
						.filter = filter, .ranges = ranges, .n_ranges = 4, .content_at = i * 1000003,
						.kinds = 1u << kind };
					struct dray_encoder *c = encoder(level);
					struct dray_encode_out o;

					comes_back(c, &in, &o);
					CHECK_EQ(o.kind, kind);
					dray_encoder_free(c);
				}
}

static void
only_addresses_moved_is_addcopy_and_text_is_prefix(void)
{
	static const uint8_t letters[13] = { 'e', 't', 'a', 'o', 'i', 'n', ' ', 's', 'h', 'r', 'd', 'l', 'u' };
	static const struct dray_range all = { 0, 0, LEN, false };
	struct dray_encode_in in = { .src = new, .len = LEN, .ref = old, .ref_len = LEN, .ranges = &all, .n_ranges = 1 };
	struct dray_encoder *c = encoder(19);
	struct dray_encode_out o;
	uint32_t x = 4;

	code(old, LEN, 1);
	memcpy(new, old, LEN);
	for (size_t i = 8; i + 4 < LEN; i += 20)	/* one number in 20 bytes grew by the same */
		new[i] = (uint8_t)(new[i] + 16);
	comes_back(c, &in, &o);
	CHECK_EQ(o.kind, DRAY_FRAME_ADDCOPY);
	CHECK(o.len < 600);

	for (size_t i = 0; i < LEN; i++)
		new[i] = old[i] = letters[next(&x) % 13];
	memmove(new, new + 30000, 20000);		/* lines in another order, some of them new */
	for (size_t i = 0; i < 100; i++)
		new[next(&x) % LEN] = 'x';
	comes_back(c, &in, &o);
	CHECK_EQ(o.kind, DRAY_FRAME_PREFIX);
	CHECK(o.len < 1500);
	dray_encoder_free(c);
}

static void
the_filter_makes_moved_code_smaller(void)
{
	static const struct dray_range all = { 0, 0, LEN, false };
	struct dray_encode_in in = { .src = new, .len = LEN, .ref = old, .ref_len = LEN, .ranges = &all, .n_ranges = 1 };
	struct dray_encoder *c = encoder(9);
	struct dray_encode_out o;
	size_t without;

	code(old, LEN, 1);
	memcpy(new, old, LEN);
	dray_x86_filter(new, LEN, 0);			/* the same targets... */
	memmove(new + 1024, new, LEN - 1024);		/* ...from places 1024 bytes on */
	dray_x86_unfilter(new, LEN, 0);
	comes_back(c, &in, &o);
	without = o.len;
	in.filter = DRAY_FILTER_X86;
	comes_back(c, &in, &o);
	CHECK(o.len * 3 < without);
	dray_encoder_free(c);
}

static void
several_contents_share_a_frame(void)
{
	/* three targets one after the other against three bases */
	static const struct dray_range ranges[] = { { 5, 0, 20000, false }, { 9, 100, 20000, false }, { 7, 0, 20000, false } };
	struct dray_encode_in in = { .src = new, .len = 50000, .ref = old, .ref_len = LEN, .ranges = ranges, .n_ranges = 3 };
	struct dray_encoder *c = encoder(9);
	struct dray_encode_out o;

	code(old, LEN, 8);
	memcpy(new, old + 40000, 15000);
	memcpy(new + 15000, old + 3000, 17000);
	memcpy(new + 32000, old + 21000, 18000);
	comes_back(c, &in, &o);
	CHECK(o.kind != DRAY_FRAME_PLAIN);
	CHECK(o.len < 200);
	dray_encoder_free(c);
}

static void
without_a_base_that_helps_it_is_plain(void)
{
	static const struct dray_range all = { 0, 0, LEN, false };
	struct dray_encode_in in = { .src = new, .len = LEN, .ref = old, .ref_len = LEN, .ranges = &all, .n_ranges = 1 };
	struct dray_encoder *c = encoder(19);
	struct dray_encode_out o;
	uint32_t x = 4;

	for (size_t i = 0; i < LEN; i++) {
		old[i] = (uint8_t)next(&x);
		new[i] = (uint8_t)next(&x);
	}
	comes_back(c, &in, &o);
	CHECK_EQ(o.kind, DRAY_FRAME_PLAIN);
	CHECK_EQ(o.raw, LEN);
	in.kinds = DRAY_TRY_ADDCOPY;	/* not worth it, and plain is not allowed */
	comes_back(c, &in, &o);
	CHECK_EQ(o.kind, DRAY_FRAME_PREFIX);
	in = (struct dray_encode_in){ .src = new, .len = LEN, .kinds = DRAY_TRY_PREFIX };
	comes_back(c, &in, &o);
	CHECK_EQ(o.kind, DRAY_FRAME_PLAIN);
	dray_encoder_free(c);
}

static void
equal_inputs_give_equal_bytes(void)
{
	static const struct dray_range all = { 0, 64, LEN, false };
	static const int levels[] = { 3, 9, 19 };
	static uint8_t pair[LEN * 2 + 4096];
	struct dray_err e = { 0 };

	code(old, LEN, 1);
	for (size_t l = 0; l < 3; l++)
		for (unsigned kinds = 1; kinds <= DRAY_TRY_ALL; kinds++) {
			struct dray_encode_in in = { .ref_len = LEN, .ranges = &all, .n_ranges = 1, .kinds = kinds,
				.filter = kinds == 2 };
			struct dray_encoder *used = encoder(levels[l]), *fresh = encoder(levels[l]);
			struct dray_encode_out a, b;

			in.len = LEN - 500;
			memcpy(new, old + 300, in.len);
			new[1000]++;
			/* the base right before the source in memory, and an encoder that has done other things */
			memcpy(pair, old, LEN);
			memcpy(pair + LEN, new, in.len);
			in.ref = pair;
			in.src = pair + LEN;
			CHECK_EQ(dray_encode_best(fresh, &in, &b, &e), 0);
			in.ref = new;
			in.src = old;
			in.ref_len = in.len;
			in.len = 5000;
			in.kinds = in.filter = 0;
			CHECK_EQ(dray_encode_best(used, &in, &a, &e), 0);
			in = (struct dray_encode_in){ .src = new, .len = LEN - 500, .ref = old, .ref_len = LEN, .ranges = &all,
				.n_ranges = 1, .kinds = kinds, .filter = kinds == 2 };
			CHECK_EQ(dray_encode_best(used, &in, &a, &e), 0);
			CHECK_EQ(a.kind, b.kind);
			CHECK_EQ(a.raw, b.raw);
			CHECK_EQ(a.len, b.len);
			CHECK(a.len == b.len && memcmp(a.p, b.p, a.len) == 0);
			dray_encoder_free(used);
			dray_encoder_free(fresh);
		}
	CHECK_STR(dray_match_id(), "2");
}

static void
a_wrong_base_gives_an_error_or_other_bytes(void)
{
	static const struct dray_range all = { 0, 0, LEN, false };
	static uint8_t wrong[LEN];
	struct dray_encoder *c = encoder(9);
	uint32_t x = 6;

	code(old, LEN, 1);
	memcpy(new, old, LEN);
	for (size_t i = 8; i + 4 < LEN; i += 20)
		new[i] = (uint8_t)(new[i] + 16);
	for (unsigned kind = DRAY_FRAME_PREFIX; kind <= DRAY_FRAME_ADDCOPY; kind++)
		for (unsigned round = 0; round < 40; round++) {
			struct dray_encode_in in = { .src = new, .len = LEN, .ref = old, .ref_len = LEN, .ranges = &all,
				.n_ranges = 1, .kinds = 1u << kind, .filter = round % 2 };
			struct dray_encode_out o;
			struct dray_err e = { 0 };

			CHECK_EQ(dray_encode_best(c, &in, &o, &e), 0);
			for (size_t i = 0; i < LEN; i++)
				wrong[i] = round < 20 ? old[i] : (uint8_t)next(&x);
			for (unsigned k = 0; k < 2000; k++)
				wrong[next(&x) % LEN] ^= 0x20;
			if (decode(&in, &o, wrong, &e) == 0)
				CHECK(memcmp(out, new, LEN) != 0);
			else
				CHECK_EQ(e.code, DRAY_E_FORMAT);
		}
	dray_encoder_free(c);
}

static void
what_does_not_fit_together_is_refused(void)
{
	static const struct dray_range two[] = { { 0, 0, 1000, false }, { 0, 5000, 2000, false } };
	struct dray_encode_in in = { .src = new, .len = 4000, .ref = old, .ref_len = 3000, .ranges = two, .n_ranges = 2,
		.kinds = DRAY_TRY_ADDCOPY };
	struct dray_encoder *c = encoder(9);
	struct dray_encode_out o;
	struct dray_err e = { 0 };
	struct dray_frame f;
	uint8_t base[3000];
	struct dray_ref ref = { base, 3000, two, 2 };

	code(old, LEN, 1);
	memcpy(new, old, 3000);
	memcpy(new + 3000, old, 1000);
	memcpy(base, old, sizeof base);
	comes_back(c, &in, &o);
	f = frame_of(&in, &o);
	CHECK_EQ(f.kind, DRAY_FRAME_ADDCOPY);

	ref.n = 1;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_STR(e.text, "1 base ranges of 2 are given");
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, NULL, 0, &desc, out, &e), -1);
	CHECK_STR(e.text, "0 base ranges of 2 are given");
	ref.n = 2;
	ref.len = 2999;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_STR(e.text, "base ranges are longer than the 2999 bytes that were read");
	f.range_count = 1;
	ref = (struct dray_ref){ base, 3000, two, 1 };
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_STR(e.text, "base ranges are 1000 bytes, 3000 were read");

	f = frame_of(&in, &o);
	ref = (struct dray_ref){ base, 3000, two, 2 };
	f.raw++;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_HAS(e.text, " were declared");
	f.raw--;
	f.out++;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_HAS(e.text, "are not the output of 4001");
	f.out--;
	f.kind = DRAY_FRAME_ADDCOPY + 1;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_EQ(e.code, DRAY_E_NEWER);
	CHECK_STR(e.text, "frame kind 3 is not known to this version");
	f.kind = DRAY_FRAME_ADDCOPY;
	f.codec = DRAY_CODEC_LZMA + 1;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_EQ(e.code, DRAY_E_NEWER);
	CHECK_STR(e.text, "codec 2 is not known to this version");
	f.codec = DRAY_CODEC_ZSTD;
	desc.limit_window = 1024;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), -1);
	CHECK_HAS(e.text, "the limit is 1024");
	desc.limit_window = 1u << 20;
	CHECK_EQ(dray_decode_frame(decoder, &f, o.p, &ref, 0, &desc, out, &e), 0);
	CHECK(memcmp(out, new, 4000) == 0);
	dray_encoder_free(c);
}

static void
a_prefix_does_not_stay_for_the_next_frame(void)
{
	static const struct dray_range all = { 0, 0, LEN, false };
	struct dray_encode_in in = { .src = new, .len = LEN, .ref = old, .ref_len = LEN, .ranges = &all, .n_ranges = 1,
		.kinds = DRAY_TRY_PREFIX };
	struct dray_encoder *c = encoder(9);
	struct dray_encode_out o;
	struct dray_err e = { 0 };
	uint64_t before;

	code(old, LEN, 1);
	memcpy(new, old, LEN);
	comes_back(c, &in, &o);
	CHECK(o.len < 100);
	before = dray_decode_count();
	CHECK_EQ(dray_decode(decoder, o.p, o.len, out, LEN, 1u << 20, &e), -1);
	CHECK_HAS(e.text, "damaged zstd frame");
	CHECK_EQ(decode(&in, &o, old, &e), 0);
	CHECK_EQ(dray_decode_count(), before + 2);
	/* the encoder too */
	in = (struct dray_encode_in){ .src = old, .len = LEN };
	comes_back(c, &in, &o);
	CHECK(o.len > 10000);
	dray_encoder_free(c);
}

static void
an_encoder_is_asked_for_what_it_can_do(void)
{
	static const struct dray_range all = { 0, 0, 9, false };
	struct dray_encoder *c = encoder(9);
	struct dray_encode_out o;
	struct dray_err e = { 0 };
	const struct dray_encode_in bads[] = {
		{ .src = new, .len = 0 }, { .src = new, .len = DRAY_FRAME_MAX + 1u },
		{ .src = new, .len = 1, .ref = old, .ref_len = DRAY_REF_MAX + 1u }, { .src = new, .len = 1, .level = DRAY_LEVEL_BEST + 1 },
	}, other = { .src = new, .len = 9, .ref = old, .ref_len = 10, .ranges = &all, .n_ranges = 1, .filter = 1 };

	for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
		CHECK_EQ(dray_encode_best(c, &bads[i], &o, &e), -1);
		CHECK_EQ(e.code, DRAY_E_USAGE);
		CHECK_HAS(e.text, "encoder: a frame of ");
	}
	CHECK_EQ(dray_encode_best(c, &other, &o, &e), -1);
	CHECK_STR(e.text, "encoder: base ranges do not make the 10 bytes given");
	dray_encoder_free(c);
}

/* bundle-format.md 6.2 to 6.4, 6.7 */
static void
the_vectors_of_the_spec_come_out(void)
{
	static const char base[] = "the quick brown fox jumps over the lazy dog", cat[] = "the quick brown cat jumps over the lazy dog";
	static const struct { struct dray_frame f; const char *hex, *ref, *out; } vectors[] = {
		{ { .kind = DRAY_FRAME_PLAIN, .out = 43, .raw = 43 }, "28b52ffd202b59010074686520717569636b2062726f776e20636174206a"
		    "756d7073206f76657220746865206c617a7920646f67", "", cat },
		{ { .kind = DRAY_FRAME_PREFIX, .out = 43, .raw = 43 }, "28b52ffd202b5d0000186361740200001c872820", base, cat },
		{ { .kind = DRAY_FRAME_ADDCOPY, .out = 5, .raw = 26 }, "28b52ffd201ad100000900000004000000010000000200020101030100"
		    "000000000221", "abcd", "abd!e" },
		{ { .kind = DRAY_FRAME_PREFIX, .codec = DRAY_CODEC_LZMA, .out = 43, .raw = 43 }, "c0002a000b5d00ac5294cc2782b03c34000000",
		    base, cat },
		{ { .kind = DRAY_FRAME_ADDCOPY, .codec = DRAY_CODEC_LZMA, .out = 5, .raw = 26 }, "e0001900165a00048034f8fe565136b64bbe8187"
		    "55346ded2e4a12d00000", "abcd", "abd!e" },
	};

	for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
		size_t len = strlen(vectors[i].ref);
		const struct dray_range all = { 0, 0, len, false };
		struct dray_frame f = vectors[i].f;
		uint8_t stored[100], ref[50];
		struct dray_ref r = { ref, len, &all, len != 0 };
		struct dray_err e = { 0 };

		f.range_count = len != 0;
		f.stored = (uint32_t)strlen(vectors[i].hex) / 2;
		memcpy(ref, vectors[i].ref, len);
		CHECK(dray_unhex(vectors[i].hex, strlen(vectors[i].hex), stored, f.stored));
		CHECK_EQ(dray_decode_frame(decoder, &f, stored, &r, 0, &desc, out, &e), 0);
		CHECK_STR(e.text, "");
		CHECK(memcmp(out, vectors[i].out, f.out) == 0);
	}
}

int
main(void)
{
	struct dray_err e = { 0 };

	desc.limit_window = 1u << 20;
	CHECK_EQ(dray_decoder_new(&decoder, &e), 0);
	RUN(the_vectors_of_the_spec_come_out);
	RUN(each_kind_and_filter_comes_back);
	RUN(only_addresses_moved_is_addcopy_and_text_is_prefix);
	RUN(the_filter_makes_moved_code_smaller);
	RUN(several_contents_share_a_frame);
	RUN(without_a_base_that_helps_it_is_plain);
	RUN(equal_inputs_give_equal_bytes);
	RUN(a_wrong_base_gives_an_error_or_other_bytes);
	RUN(what_does_not_fit_together_is_refused);
	RUN(a_prefix_does_not_stay_for_the_next_frame);
	RUN(an_encoder_is_asked_for_what_it_can_do);
	dray_decoder_free(decoder);
	return test_done();
}
