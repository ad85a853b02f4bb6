/*
 * test_gzip.c - the inside of a .gz and back, and what is no .gz: each way it can be wrong is told by a refusal, none by a byte
 * written too far.
 *   DRAY_GZIP_LIST=FILE       names of .gz files, one in a line: how many of them, and of their bytes, can be made again
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/stat.h>

#include <zlib.h>

#include "test.h"

#include "dray/gzip.h"
#include "dray/num.h"

/* bundle-format.md 6.6 */
static const uint8_t gz[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0x4b, 0x4c, 0x4a, 0x4e, 0x04, 0x23, 0x2e, 0, 0x8d, 0xb3, 0xfd, 0x21,
	10, 0, 0, 0 };
static const uint8_t raw[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', '\n' };
enum { HEAD = 10, STREAM = sizeof(gz) - HEAD - 8 };

static struct dray_gunzip *g;
static struct dray_deflater *d;

/* @p, in memory and from a file behind 3 other bytes: the same both ways? Bytes of the inside; -1: refused */
static int
inside(const uint8_t *p, size_t len, size_t cap, uint8_t *to)
{
	uint8_t *exact = malloc(len + 1), *other = malloc(cap + 1);
	char name[] = "/tmp/dray-gzip-XXXXXX";
	size_t n = 0, m = 0;
	bool a, b;
	int fd = mkstemp(name);

	if (exact == NULL || other == NULL || fd == -1 || write(fd, "xyz", 3) != 3 || write(fd, p, len) != (ssize_t)len)
		abort();
	unlink(name);
	memcpy(exact, p, len);
	a = dray_gunzip(g, exact, len, to, cap, &n);
	b = dray_gunzip_fd(g, fd, 3, len, other, cap, &m);
	CHECK_EQ(a, b);
	CHECK_EQ(n, m);
	CHECK(!a || memcmp(to, other, n) == 0);
	/* a file that is shorter than it should be */
	CHECK(!dray_gunzip_fd(g, fd, 3, len + 1, other, cap, &m));
	close(fd);
	free(exact);
	free(other);
	return a ? (int)n : -1;
}

static void
the_vector_of_the_spec_comes_out(void)
{
	uint8_t to[sizeof(raw)], back[sizeof(gz)];

	CHECK_EQ(inside(gz, sizeof(gz), sizeof(to), to), sizeof(raw));
	CHECK(memcmp(to, raw, sizeof(raw)) == 0);
	for (unsigned id = 1; id <= DRAY_DEFLATE_LAST; id++) {
		CHECK(dray_gzip_make(d, id, raw, sizeof(raw), back, sizeof(back)));
		CHECK(memcmp(back, gz, sizeof(gz)) == 0);
	}
	CHECK_EQ(dray_gzip_prove(d, raw, sizeof(raw), gz, sizeof(gz)), DRAY_DEFLATE_GNU_9);
}

static void
room_is_what_is_given(void)
{
	uint8_t to[sizeof(raw)], back[sizeof(gz)];

	for (size_t cap = 0; cap < sizeof(raw); cap++) {
		uint8_t *small = malloc(cap + 1);

		CHECK_EQ(inside(gz, sizeof(gz), cap, small), -1);
		free(small);
	}
	for (size_t len = 0; len < sizeof(gz); len++)
		CHECK(!dray_gzip_make(d, DRAY_DEFLATE_GNU_9, raw, sizeof(raw), back, len));
	CHECK(!dray_gzip_make(d, DRAY_DEFLATE_GNU_9, raw, sizeof(raw), (uint8_t[64]){ 0 }, sizeof(gz) + 1));
	for (size_t len = 0; len < HEAD; len++)
		CHECK(!dray_gzip_make(d, DRAY_DEFLATE_GNU_9, raw, len, back, sizeof(back)));
	CHECK_EQ(inside(gz, sizeof(gz), sizeof(to), to), sizeof(raw));
}

static void
what_is_cut_or_has_more_is_refused(void)
{
	uint8_t more[2 * sizeof(gz)], to[2 * sizeof(raw)];

	for (size_t len = 0; len < sizeof(gz); len++)
		CHECK_EQ(inside(gz, len, sizeof(to), to), -1);
	memcpy(more, gz, sizeof(gz));
	memcpy(more + sizeof(gz), gz, sizeof(gz));
	CHECK_EQ(inside(more, sizeof(gz) + 1, sizeof(to), to), -1);
	CHECK_EQ(inside(more, sizeof(more), sizeof(to), to), -1);
}

static void
each_bit_counts(void)
{
	uint8_t p[sizeof(gz)], to[4096];

	for (size_t i = 0; i < 8 * sizeof(gz); i++) {
		int n;

		memcpy(p, gz, sizeof(gz));
		p[i / 8] ^= (uint8_t)(1u << i % 8);
		n = inside(p, sizeof(p), sizeof(to), to);
		/* nobody reads the text flag, time, extra flags and system; they are kept. Nor what fills the stream's last byte */
		if ((i / 8 >= 4 && i / 8 < HEAD) || i == 24 || (n != -1 && i / 8 == HEAD + STREAM - 1))
			CHECK(n == sizeof(raw) && memcmp(to, p, HEAD) == 0);
		else
			CHECK_EQ(n, -1);
	}
}

/* a header with these fields, then the stream */
static size_t
with(uint8_t *p, uint8_t flags, const void *fields, size_t len)
{
	memcpy(p, gz, HEAD);
	p[3] = flags;
	memcpy(p + HEAD, fields, len);
	memcpy(p + HEAD + len, gz + HEAD, sizeof(gz) - HEAD);
	return sizeof(gz) + len;
}

static void
headers_are_kept(void)
{
	static const struct { uint8_t flags; size_t len; const char *fields; } good[] = {
		{ 8, 5, "name" }, { 16, 8, "comment" }, { 24, 13, "name\0comment" }, { 4, 5, "\3\0xyz" }, { 2, 2, "\x12\x34" },
		{ 31, 20, "\3\0xyzname\0comment\0\1\2" }, { 8, 1, "" }, { 4, 2, "\0" },
	};
	uint8_t p[8192], to[8192], back[8192], fields[5000];
	size_t len;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		len = with(p, good[i].flags, good[i].fields, good[i].len);
		CHECK_EQ(inside(p, len, sizeof(to), to), sizeof(raw) + good[i].len);
		CHECK(memcmp(p, to, HEAD + good[i].len) == 0);
		CHECK(dray_gzip_make(d, DRAY_DEFLATE_GNU_9, to, sizeof(raw) + good[i].len, back, len));
		CHECK(memcmp(back, p, len) == 0);
		for (size_t cut = 0; cut < HEAD + good[i].len; cut++)
			CHECK(!dray_gzip_make(d, DRAY_DEFLATE_GNU_9, to, cut, back, sizeof(back)));
	}
	/* the longest header that is taken, and one byte more */
	memset(fields, 'x', sizeof(fields));
	fields[DRAY_GZIP_HEADER_MAX - HEAD - 1] = 0;
	CHECK(inside(p, with(p, 8, fields, DRAY_GZIP_HEADER_MAX - HEAD), sizeof(to), to) > 0);
	fields[DRAY_GZIP_HEADER_MAX - HEAD - 1] = 'x';
	fields[DRAY_GZIP_HEADER_MAX - HEAD] = 0;
	CHECK_EQ(inside(p, with(p, 8, fields, DRAY_GZIP_HEADER_MAX - HEAD + 1), sizeof(to), to), -1);
	CHECK_EQ(inside(p, with(p, 4, "\377\377xyz", 5), sizeof(to), to), -1);
	for (unsigned bit = 32; bit < 256; bit *= 2)
		CHECK_EQ(inside(p, with(p, (uint8_t)bit, "", 0), sizeof(to), to), -1);
}

/* 16 MiB of zeros fit, a byte more does not, however much room there is */
static void
a_bomb_ends_at_the_limit(void)
{
	size_t most = DRAY_GZIP_MAX, got, cap = 64 * 1024;
	uint8_t *big = calloc(1, most + 2), *to = malloc(most + 2), *p = malloc(cap);
	size_t n = 0;

	if (big == NULL || to == NULL || p == NULL)
		abort();
	memcpy(p, raw, HEAD);
	for (size_t more = 0; more < 2; more++) {
		size_t len = most - HEAD + more;

		if (!dray_deflate(d, DRAY_DEFLATE_ZLIB_6, big, len, p + HEAD, cap - HEAD - 8, &n))
			abort();
		dray_put_u32(p + HEAD + n, (uint32_t)crc32(0, big, (uInt)len));
		dray_put_u32(p + HEAD + n + 4, (uint32_t)len);
		CHECK_EQ(dray_gunzip(g, p, HEAD + n + 8, to, most + 2, &got), more == 0);
	}
	free(big);
	free(to);
	free(p);
}

static void
a_reader_gets_as_many_bytes_as_it_asks_for(void)
{
	struct dray_gzip_room r = { .g = NULL };
	struct dray_err e = { 0 };
	const uint8_t *p;

	CHECK_EQ(dray_gzip_content(&r, DRAY_DEFLATE_ZLIB_9, raw, sizeof(raw), sizeof(gz), &p, &e), 0);
	CHECK(memcmp(p, gz, sizeof(gz)) == 0);
	/* no .gz of that has this size: zeros, whose hash is another one */
	CHECK_EQ(dray_gzip_content(&r, DRAY_DEFLATE_ZLIB_9, raw, sizeof(raw), sizeof(gz) - 1, &p, &e), 0);
	CHECK(p[0] == 0 && memcmp(p, p + 1, sizeof(gz) - 2) == 0);
	CHECK_EQ(dray_gzip_content(&r, DRAY_DEFLATE_ZLIB_9, gz + 1, 8, sizeof(gz), &p, &e), 0);
	CHECK(p[0] == 0 && memcmp(p, p + 1, sizeof(gz) - 1) == 0);
	dray_gzip_room_free(&r);
}

/* by hand, with real files */
static void
files_of_a_list_can_be_made_again(void)
{
	FILE *f = fopen(getenv("DRAY_GZIP_LIST"), "r");
	uint64_t n[DRAY_DEFLATE_LAST + 1] = { 0 }, bytes[DRAY_DEFLATE_LAST + 1] = { 0 }, odd = 0;
	uint8_t *in = malloc(2 * DRAY_GZIP_MAX), *to = malloc(DRAY_GZIP_MAX);
	char line[4096];

	while (f != NULL && in != NULL && to != NULL && fgets(line, sizeof(line), f) != NULL) {
		size_t len, got;
		FILE *one;

		line[strcspn(line, "\n")] = 0;
		if ((one = fopen(line, "r")) == NULL)
			continue;
		len = fread(in, 1, 2 * DRAY_GZIP_MAX, one);
		fclose(one);
		if (dray_gunzip(g, in, len, to, DRAY_GZIP_MAX, &got)) {
			unsigned id = dray_gzip_prove(d, to, got, in, len);

			n[id]++;
			bytes[id] += len;
			if (id == DRAY_DEFLATE_NONE)
				printf("# by nobody: %s\n", line);
		} else {
			odd++;
		}
	}
	for (unsigned id = 0; id <= DRAY_DEFLATE_LAST; id++)
		printf("# %-18s %6" PRIu64 " files %10" PRIu64 " bytes\n", id == 0 ? "nobody" : dray_deflate_name(id), n[id], bytes[id]);
	printf("# %-18s %6" PRIu64 " files\n", "no .gz", odd);
	CHECK(f != NULL);
	if (f != NULL)
		fclose(f);
	free(in);
	free(to);
}

int
main(void)
{
	struct dray_err e = { 0 };

	if (dray_gunzip_new(&g, &e) != 0 || dray_deflater_new(&d, &e) != 0)
		return 1;
	RUN(the_vector_of_the_spec_comes_out);
	RUN(room_is_what_is_given);
	RUN(what_is_cut_or_has_more_is_refused);
	RUN(each_bit_counts);
	RUN(headers_are_kept);
	RUN(a_bomb_ends_at_the_limit);
	RUN(a_reader_gets_as_many_bytes_as_it_asks_for);
	if (getenv("DRAY_GZIP_LIST") != NULL)
		RUN(files_of_a_list_can_be_made_again);
	dray_gunzip_free(g);
	dray_deflater_free(d);
	return test_done();
}
