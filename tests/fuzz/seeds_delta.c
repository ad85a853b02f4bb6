/*
 * seeds_delta.c - writes the first inputs of fuzz_delta, fuzz_filter_x86, and those of fuzz_frame and fuzz_index that
 * need a base, into tests/fuzz/corpus. Not part of a build:
 *
 *   make OUT=out out/libdray.a && cc -Iformat -I. -D_GNU_SOURCE tests/fuzz/seeds_delta.c out/libdray.a -lzstd -llzma \
 *       -lcrypto -ljson-c -lz -ldivsufsort -pthread -o out/seeds_delta && out/seeds_delta
 *
 * From the top of the tree. What a fuzzer adds to them later is named by its hash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/delta.h"

#include "tests/unit/index_raw_delta.h"

#include "frame_base.h"

static uint8_t base[FUZZ_BASE], new[FUZZ_OUT], buf[65536];

static void
save(const char *name, size_t len)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof path, "tests/fuzz/corpus/%s", name);
	if ((f = fopen(path, "wb")) == NULL || fwrite(buf, 1, len, f) != len || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* the base with a word changed now and then, a piece moved to the front */
static void
make_new(void)
{
	fuzz_base(base);
	memcpy(new, base + 1000, 500);
	memcpy(new + 500, base, FUZZ_OUT - 500);
	for (size_t i = 13; i < FUZZ_OUT; i += 150)
		new[i] ^= 4;
	memset(new + 2000, 'n', 40);
}

static void
delta_seeds(void)
{
	struct dray_delta d = { 0 };
	struct dray_err e = { 0 };
	static const size_t lens[] = { 5, 300, FUZZ_OUT };

	for (size_t i = 0; i < 3; i++) {
		char name[64];

		if (dray_delta_make(new, lens[i], base, lens[i], &d, &e) != 0)
			abort();
		buf[0] = 0;
		dray_put_u16(buf + 1, (uint16_t)lens[i]);
		dray_put_u16(buf + 3, (uint16_t)lens[i]);
		memcpy(buf + 5, base, lens[i]);
		memcpy(buf + 5 + lens[i], d.raw, d.len);
		snprintf(name, sizeof name, "delta/apply-%zu", lens[i]);
		save(name, 5 + lens[i] + d.len);
		buf[0] = 1;
		dray_put_u16(buf + 1, (uint16_t)lens[i]);
		memcpy(buf + 3, base, lens[i]);
		memcpy(buf + 3 + lens[i], new, lens[i]);
		snprintf(name, sizeof name, "delta/make-%zu", lens[i]);
		save(name, 3 + 2 * lens[i]);
	}
	dray_delta_free(&d);
}

static void
frame_seeds(void)
{
	static const struct dray_range range = { 0, 0, FUZZ_BASE, false };
	struct dray_encoder *c;
	struct dray_err e = { 0 };

	raw_need(dray_encoder_new(DRAY_LEVEL_BEST, &c, &e), &e);
	for (unsigned i = 0; i < 6; i++) {
		static const char *const names[] = { "frame/filtered", "frame/prefix", "frame/addcopy", "frame/lzma-filtered", "frame/lzma-prefix",
			"frame/lzma-addcopy" };
		const unsigned kind = i % 3, zstd = i < 3 ? DRAY_TRY_ZSTD : 0;
		struct dray_encode_in in = { .src = new, .len = FUZZ_OUT, .ref = base, .ref_len = FUZZ_BASE,
			.kinds = 1u << kind | zstd, .ranges = &range, .n_ranges = 1, .filter = kind == DRAY_FRAME_PLAIN };
		struct dray_encode_out o;

		raw_need(dray_encode_best(c, &in, &o, &e), &e);
		dray_put_u32(buf, o.raw | (uint32_t)o.codec << 29 | (kind == DRAY_FRAME_PLAIN ? 3u : kind) << 30);
		memcpy(buf + 4, o.p, o.len);
		save(names[i], 4 + o.len);
	}
	dray_encoder_free(c);
}

static void
filter_seeds(void)
{
	static const uint8_t code[] = {
		0x90, 0xe8, 0xfb, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, 0xe9, 0x00, 0x10, 0x00, 0x00,
		0x0f, 0xb6, 0x05, 0x00, 0x00, 0x00, 0xff, 0xe8, 0x00, 0x00, 0x00, 0x01, 0x8b, 0x45, 0xf8, 0x00, 0xe8, 0xff, 0x25,
		0x00, 0x00, 0xff, 0x0f, 0xe8, 0x05, 0x00, 0x00, 0x00, 0x83, 0x3d, 0xe8, 0x00, 0x00, 0x00, 0x0f, 0x0f, 0x05, 0xe8,
	};

	dray_put_u64(buf, 0x12345678);
	memcpy(buf + 8, code, sizeof code);
	save("filter_x86/code", 8 + sizeof code);
	for (size_t i = 0; i < 256; i++)
		buf[8 + i] = code[i * 7 % sizeof code];
	save("filter_x86/mixed", 8 + 256);
}

static void
index_seeds(void)
{
	struct raw r = { 0 };
	size_t len = 1 + 2 * DRAY_TABLES;

	raw_delta_good(&r);
	buf[0] = 1;
	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		size_t n = (size_t)r.rows[t] * dray_index_width[t];

		dray_put_u16(buf + 1 + 2 * t, (uint16_t)r.rows[t]);
		memcpy(buf + len, r.t[t], n);
		len += n;
	}
	save("index/good-deltas", len);
	raw_free(&r);
}

int
main(void)
{
	make_new();
	delta_seeds();
	frame_seeds();
	filter_seeds();
	index_seeds();
	return 0;
}
