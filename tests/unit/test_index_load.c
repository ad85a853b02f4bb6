/*
 * test_index_load.c - index/00 and index/01 before any rule: counts against bytes, hashes before decoding.
 */
#include <stddef.h>

#include "test.h"

#include "dray/frame.h"

#include "index_raw.h"

#define TABLE(t) (16 + 16 * (t))
#define CHUNK(c) (16 + 16 * DRAY_TABLES + 48 * (c))

struct bundle {
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_desc *d;
};

static void
make(struct bundle *b)
{
	struct raw r = { 0 };

	raw_good(&r);
	raw_pack(&r, &b->dir, &b->dir_len, &b->chunks, &b->chunks_len);
	b->d = raw_desc(&r, b->chunks_len);
	raw_free(&r);
}

static void
drop(struct bundle *b)
{
	free(b->dir);
	free(b->chunks);
}

static int
load(const struct bundle *b, unsigned threads, struct dray_err *e)
{
	struct dray_index *ix;
	int rc = raw_load(b->d, b->dir, b->dir_len, b->chunks, b->chunks_len, threads, &ix, e);

	CHECK((rc == 0) == (ix != NULL));
	dray_index_free(ix);
	return rc;
}

/* in the good index every table but RANGES has one chunk, so chunk numbers are table numbers */
static const struct dir_case {
	const char *name;
	size_t at, size;
	uint64_t value;
	enum dray_code code;
	const char *text;
} dir_cases[] = {
	{ "magic", 7, 1, '2', DRAY_E_FORMAT, "does not begin with DRAYIDX1" },
	{ "fewer tables", 8, 4, 11, DRAY_E_FORMAT, "11 tables and 11 chunks do not make 736 bytes" },
	{ "no tables", 8, 4, 0, DRAY_E_FORMAT, "0 tables and 11 chunks do not make 736 bytes" },
	{ "tables without end", 8, 4, 0xffffffff, DRAY_E_FORMAT, "4294967295 tables and 11 chunks do not make 736 bytes" },
	{ "chunks without end", 12, 4, 0xffffffff, DRAY_E_FORMAT, "12 tables and 4294967295 chunks do not make 736 bytes" },
	{ "eleven tables, other chunks", 8, 8, 11 | UINT64_C(11) << 32, DRAY_E_FORMAT,
	    "11 tables and 11 chunks do not make 736 bytes" },
	{ "unknown table", TABLE(3), 2, 12, DRAY_E_NEWER, "table 12 is not known to this version" },
	{ "table twice", TABLE(3), 2, 2, DRAY_E_FORMAT, "table 2 stands where 3 must" },
	{ "row width", TABLE(DRAY_T_STATES) + 2, 2, 36, DRAY_E_FORMAT, "rows of table states have 36 bytes, not 32" },
	{ "row width 0", TABLE(DRAY_T_STATES) + 2, 2, 0, DRAY_E_FORMAT, "rows of table states have 0 bytes, not 32" },
	{ "all rows", TABLE(DRAY_T_STATES) + 4, 4, 0xffffffff, DRAY_E_FORMAT, "table states has too many rows" },
	{ "many compsets", TABLE(DRAY_T_COMPSETS) + 4, 4, 65537, DRAY_E_FORMAT, "table compsets has too many rows" },
	{ "bomb", TABLE(DRAY_T_STATES) + 4, 4, 0xfffffffe, DRAY_E_FORMAT, "tables of 137438954..." },
	{ "bomb below the limit", TABLE(DRAY_T_STATES) + 4, 4, 0x7000000, DRAY_E_FORMAT,
	    "chunks of table states hold 352 bytes, its rows are 3758096384" },
	{ "one row more", TABLE(DRAY_T_STATES) + 4, 4, 12, DRAY_E_FORMAT,
	    "chunks of table states hold 352 bytes, its rows are 384" },
	{ "one row less", TABLE(DRAY_T_STATES) + 4, 4, 10, DRAY_E_FORMAT,
	    "chunks of table states hold 352 bytes, its rows are 320" },
	{ "first chunk", TABLE(DRAY_T_STATES) + 8, 4, 3, DRAY_E_FORMAT, "chunks of table states do not follow those before it" },
	{ "more chunks than there are", TABLE(DRAY_T_STATES) + 12, 4, 8, DRAY_E_FORMAT,
	    "chunks of table states do not follow those before it" },
	{ "chunks of nobody", TABLE(DRAY_T_FRAMES) + 12, 4, 0, DRAY_E_FORMAT,
	    "chunks of table ranges do not follow those before it" },
	{ "chunk reserved", CHUNK(2) + 15, 1, 1, DRAY_E_FORMAT, "chunk 2 (xattrs): a reserved byte is not zero" },
	{ "chunk filter", CHUNK(2) + 8, 1, 3, DRAY_E_NEWER, "chunk 2 (xattrs): filter 3 is not known to this version" },
	{ "strings filtered", CHUNK(0) + 8, 1, 1, DRAY_E_FORMAT, "chunk 0 (strings): strings have filter 1" },
	{ "chunk of nothing", CHUNK(2) + 4, 4, 0, DRAY_E_FORMAT,
	    "chunk 2 (xattrs): 0 bytes of output are not 1 byte to 1 MiB of whole rows" },
	{ "chunk of half a row", CHUNK(2) + 4, 4, 61, DRAY_E_FORMAT,
	    "chunk 2 (xattrs): 61 bytes of output are not 1 byte to 1 MiB of whole rows" },
	{ "large chunk", CHUNK(3) + 4, 4, 1048584, DRAY_E_FORMAT,
	    "chunk 3 (compsets): 1048584 bytes of output are not 1 byte to 1 MiB of whole rows" },
	{ "nothing stored", CHUNK(3), 4, 0, DRAY_E_FORMAT, "chunk 3 (compsets): 0 stored bytes for 16 bytes of output" },
	{ "much stored", CHUNK(3), 4, 1041, DRAY_E_FORMAT, "chunk 3 (compsets): 1041 stored bytes for 16 bytes of output" },
	{ "more stored than there is", CHUNK(3), 4, 1040, DRAY_E_FORMAT, "chunks fill ..." },
	{ "output shorter", CHUNK(3) + 4, 4, 8, DRAY_E_FORMAT, "chunks of table compsets hold 8 bytes, its rows are 16" },
};

/* @want with "..." at its end: only the beginning counts */
static void
check_text(struct dray_err *e, const char *where, const char *text)
{
	char want[300];
	size_t n = (size_t)snprintf(want, sizeof want, "%s%s", where, text);

	if (n > 3 && strcmp(want + n - 3, "...") == 0)
		want[n - 3] = e->text[n - 3] = '\0';
	CHECK_STR(e->text, want);
}

static void
a_damaged_directory_is_told_before_anything_is_read(void)
{
	for (size_t i = 0; i < sizeof dir_cases / sizeof dir_cases[0]; i++) {
		const struct dir_case *k = &dir_cases[i];
		struct dray_err e = { 0 };
		unsigned before = test_bad;
		uint64_t decoded;
		struct bundle b;

		make(&b);
		for (size_t n = 0; n < k->size; n++)
			b.dir[k->at + n] = (uint8_t)(k->value >> 8 * n);
		decoded = dray_decode_count();
		CHECK_EQ(load(&b, 1, &e), -1);
		CHECK_EQ(e.code, k->code);
		CHECK_EQ(dray_decode_count(), decoded);
		check_text(&e, "index/00: ", k->text);
		if (test_bad != before)
			printf("# in case \"%s\"\n", k->name);
		drop(&b);
	}
}

static void
a_cut_or_longer_directory_is_refused(void)
{
	for (size_t len = 0; len < 736; len++) {
		struct dray_err e = { 0 };
		struct bundle b;
		uint8_t *cut;

		make(&b);
		CHECK_EQ(b.dir_len, 736);
		cut = malloc(len != 0 ? len : 1);	/* its own bytes, so that a sanitizer sees a read beyond */
		memcpy(cut, b.dir, len);
		free(b.dir);
		b.dir = cut;
		b.dir_len = len;
		CHECK_EQ(load(&b, 1, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_HAS(e.text, "index/00: ");
		drop(&b);
	}
	for (size_t more = 1; more <= 64; more += 15) {
		struct dray_err e = { 0 };
		struct bundle b;

		make(&b);
		b.dir = realloc(b.dir, b.dir_len + more);
		memset(b.dir + b.dir_len, 0, more);
		b.dir_len += more;
		CHECK_EQ(load(&b, 1, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_HAS(e.text, "do not make");
		drop(&b);
	}
}

static void
chunks_of_one_table_are_of_one_length(void)
{
	static const struct { uint32_t out[3]; const char *text; } cases[] = {
		{ { 100, 90, 100 }, "chunk 1 (strings) is not as long as the first of its table" },
		{ { 100, 110, 80 }, "chunk 1 (strings) is not as long as the first of its table" },
		{ { 100, 100, 101 }, "chunk 2 (strings) is longer than the first of its table" },
	};

	for (size_t i = 0; i < 3; i++) {
		uint8_t dir[16 + 16 * DRAY_TABLES + 3 * 48] = { 0 };
		struct bundle b = { .dir = dir, .dir_len = sizeof dir };
		struct raw none = { 0 };
		struct dray_err e = { 0 };

		memcpy(dir, IX_MAGIC, 8);
		dray_put_u32(dir + 8, DRAY_TABLES);
		dray_put_u32(dir + 12, 3);
		for (unsigned t = 0; t < DRAY_TABLES; t++) {
			dray_put_u16(dir + TABLE(t), (uint16_t)t);
			dray_put_u16(dir + TABLE(t) + 2, dray_index_width[t]);
			dray_put_u32(dir + TABLE(t) + 8, t == 0 ? 0 : 3);
		}
		dray_put_u32(dir + TABLE(0) + 4, cases[i].out[0] + cases[i].out[1] + cases[i].out[2]);
		dray_put_u32(dir + TABLE(0) + 12, 3);
		for (unsigned c = 0; c < 3; c++) {
			dray_put_u32(dir + CHUNK(c), 10);
			dray_put_u32(dir + CHUNK(c) + 4, cases[i].out[c]);
		}
		b.d = raw_desc(&none, 30);
		CHECK_EQ(load(&b, 1, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		check_text(&e, "index/00: ", cases[i].text);
	}
}

static void
no_flipped_bit_of_a_chunk_reaches_the_decoder(void)
{
	struct bundle b;
	size_t chunk = 0, end;

	make(&b);
	end = dray_get_u32(b.dir + CHUNK(0));
	for (size_t i = 0; i < b.chunks_len; i++) {
		if (i == end)
			end += dray_get_u32(b.dir + CHUNK(++chunk));
		for (unsigned bit = 0; bit < 8; bit++) {
			struct dray_err e = { 0 };
			uint64_t decoded = dray_decode_count();
			char want[80];

			b.chunks[i] ^= (uint8_t)(1u << bit);
			CHECK_EQ(load(&b, 1, &e), -1);
			b.chunks[i] ^= (uint8_t)(1u << bit);
			CHECK_EQ(e.code, DRAY_E_FORMAT);
			snprintf(want, sizeof want, "index/01: chunk %zu: digest differs from index/00", chunk);
			CHECK_STR(e.text, want);
			CHECK_EQ(dray_decode_count(), decoded + chunk);		/* those before it, and no more */
		}
	}
	CHECK_EQ(chunk, 10);
	drop(&b);
}

static void
a_chunk_that_is_no_frame_of_its_length_is_refused(void)
{
	struct dray_sha256 *h;
	struct dray_err e = { 0 };
	struct bundle b;
	uint64_t decoded;

	/* COMPSETS say 8 bytes in the directory, the table too, and the frame holds 16 */
	make(&b);
	dray_put_u32(b.dir + TABLE(DRAY_T_COMPSETS) + 4, 1);
	dray_put_u32(b.dir + CHUNK(3) + 4, 8);
	decoded = dray_decode_count();
	CHECK_EQ(load(&b, 1, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "index/01: chunk 3: zstd frame holds 16 bytes, 8 were declared");
	CHECK_EQ(dray_decode_count(), decoded + 4);
	drop(&b);

	/* one byte more than the frame, hashed with it */
	make(&b);
	b.chunks = realloc(b.chunks, b.chunks_len + 1);
	b.chunks[b.chunks_len++] = 0;
	b.d->members[1].size++;
	dray_put_u32(b.dir + CHUNK(10), dray_get_u32(b.dir + CHUNK(10)) + 1);
	CHECK_EQ(dray_sha256_new(&h, &e), 0);
	CHECK_EQ(dray_sha256_once(h, b.chunks + b.chunks_len - dray_get_u32(b.dir + CHUNK(10)), dray_get_u32(b.dir + CHUNK(10)),
	    b.dir + CHUNK(10) + 16, &e), 0);
	dray_sha256_free(h);
	dray_err_clear(&e);
	CHECK_EQ(load(&b, 1, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "index/01: chunk 10: 1 bytes follow the zstd frame");
	drop(&b);
}

static int
read_fails(void *ctx, uint64_t at, void *buf, size_t len, struct dray_err *e)
{
	(void)ctx;
	(void)at;
	memset(buf, 0, len);
	return dray_fail(e, DRAY_E_MEDIUM, "the medium is gone");
}

static void
a_failing_read_keeps_its_code(void)
{
	for (unsigned threads = 1; threads <= 300; threads += 299) {
		struct dray_err e = { 0 };
		struct dray_index *ix;
		struct bundle b;

		make(&b);
		CHECK_EQ(dray_index_load(b.d, b.dir, b.dir_len, read_fails, NULL, threads, &ix, &e), -1);
		CHECK(ix == NULL);
		CHECK_EQ(e.code, DRAY_E_MEDIUM);
		CHECK_STR(e.text, "index/01: chunk 0: the medium is gone");
		drop(&b);
	}
}

static void
a_descriptor_without_the_chunks_is_refused(void)
{
	struct dray_err e = { 0 };
	struct bundle b;

	make(&b);
	b.d->n_members = 1;
	CHECK_EQ(load(&b, 1, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "index/00: the bundle has no member index/01");
	drop(&b);
	make(&b);
	b.d->members[1].size++;
	dray_err_clear(&e);
	CHECK_EQ(load(&b, 1, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, "index/00: chunks fill ");
	drop(&b);
}

static void
filters_come_back(void)
{
	uint8_t rows[24 * 37], planes[sizeof rows], back[sizeof rows];

	for (size_t i = 0; i < sizeof rows; i++)
		rows[i] = (uint8_t)(i * i * 31 + (i >> 3));
	for (unsigned f = IX_PLANES; f < IX_FILTERS; f++)
		for (size_t n = 0; n <= 37; n++) {
			memset(back, 0, sizeof back);
			dray_index_filter(f, rows, planes, n, 24);
			dray_index_unfilter(f, planes, back, n, 24);
			CHECK(memcmp(rows, back, n * 24) == 0);
		}
	/* the example of the spec: rows 01 02 03 04, 01 02 03 05, 00 02 03 05 */
	dray_index_filter(IX_PLANES, (const uint8_t *)"\1\2\3\4\1\2\3\5\0\2\3\5", planes, 3, 4);
	CHECK(memcmp(planes, "\1\1\0\2\2\2\3\3\3\4\5\5", 12) == 0);
	dray_index_filter(IX_DELTA, (const uint8_t *)"\1\2\3\4\1\2\3\5\0\2\3\5", planes, 3, 4);
	CHECK(memcmp(planes, "\1\0\377\2\0\377\3\0\377\4\1\377", 12) == 0);
}

int
main(void)
{
	RUN(a_damaged_directory_is_told_before_anything_is_read);
	RUN(a_cut_or_longer_directory_is_refused);
	RUN(chunks_of_one_table_are_of_one_length);
	RUN(no_flipped_bit_of_a_chunk_reaches_the_decoder);
	RUN(a_chunk_that_is_no_frame_of_its_length_is_refused);
	RUN(a_failing_read_keeps_its_code);
	RUN(a_descriptor_without_the_chunks_is_refused);
	RUN(filters_come_back);
	return test_done();
}
