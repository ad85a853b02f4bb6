/*
 * seeds_index.c - writes the first inputs of fuzz_index and fuzz_frame into tests/fuzz/corpus. Not part of a build:
 *
 *   make OUT=out out/libdray.a && cc -Iformat -I. -D_GNU_SOURCE tests/fuzz/seeds_index.c out/libdray.a -lzstd \
 *       -lcrypto -ljson-c -pthread -o out/seeds_index && out/seeds_index
 *
 * From the top of the tree. What a fuzzer adds to them later is named by its hash.
 */
#include <stddef.h>
#include <stdio.h>

#include "dray/frame.h"

#include "tests/unit/index_raw.h"

static void
save(const char *name, const uint8_t *head, size_t head_len, const void *a, size_t a_len, const void *b, size_t b_len)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof path, "tests/fuzz/corpus/%s", name);
	if ((f = fopen(path, "wb")) == NULL || fwrite(head, 1, head_len, f) != head_len || fwrite(a, 1, a_len, f) != a_len ||
	    fwrite(b, 1, b_len, f) != b_len || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static void
save_tables(const char *name, uint8_t how, const struct raw *r)
{
	uint8_t head[1 + 2 * DRAY_TABLES] = { how }, all[8192];
	size_t len = 0;

	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		size_t n = (size_t)r->rows[t] * dray_index_width[t];

		dray_put_u16(head + 1 + 2 * t, (uint16_t)r->rows[t]);
		memcpy(all + len, r->t[t], n);
		len += n;
	}
	save(name, head, sizeof head, all, len, "", 0);
}

static void
index_seeds(void)
{
	struct raw r = { 0 };
	uint8_t *dir, *chunks, head[5] = { 0 };
	size_t dir_len, chunks_len;

	raw_good(&r);
	save_tables("index/good-tables", 1, &r);
	raw_pack(&r, &dir, &dir_len, &chunks, &chunks_len);
	dray_put_u32(head + 1, (uint32_t)dir_len);
	save("index/good-bytes", head, sizeof head, dir, dir_len, chunks, chunks_len);
	free(dir);
	free(chunks);
	/* the states of a release without contents: what small trees look like */
	r.rows[DRAY_T_FRAMES] = r.rows[DRAY_T_PIECES] = r.rows[DRAY_T_RECIPES] = 0;
	save_tables("index/no-frames", 1, &r);
	r.rows[DRAY_T_ALTS] = 0;
	save_tables("index/no-alternatives", 1, &r);
	r.rows[DRAY_T_ENTRIES] = EN_ETC;
	save_tables("index/half", 5, &r);
	for (unsigned t = 0; t < DRAY_TABLES; t++)
		r.rows[t] = 0;
	save_tables("index/empty", 1, &r);
	raw_free(&r);
}

static void
frame_seeds(void)
{
	static const char text[] = "to be, or not to be, that is the question: whether 'tis nobler to be or not to be ";
	uint8_t plain[4000], stored[8192], head[4];
	struct dray_encoder *c;
	struct dray_err e = { 0 };
	size_t n;

	for (size_t i = 0; i < sizeof plain; i++)
		plain[i] = (uint8_t)(text[i % (sizeof text - 1)] + (i % 97 == 0));
	raw_need(dray_encoder_new(19, &c, &e), &e);
	for (size_t len = 0; len <= sizeof plain; len += 1000) {
		char name[40];

		raw_need(dray_encode(c, plain, len, stored, sizeof stored, &n, &e), &e);
		dray_put_u32(head, (uint32_t)len);
		snprintf(name, sizeof name, "frame/text-%zu", len);
		save(name, head, 4, stored, n, "", 0);
	}
	raw_need(dray_encode(c, plain, 1000, stored, sizeof stored, &n, &e), &e);
	dray_put_u32(head, 1000);
	save("frame/two-frames", head, 4, stored, n, stored, n);
	save("frame/skippable-behind", head, 4, stored, n, "\x50\x2a\x4d\x18\1\0\0\0x", 9);
	dray_encoder_free(c);
}

int
main(void)
{
	index_seeds();
	frame_seeds();
	return 0;
}
