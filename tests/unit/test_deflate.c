/*
 * test_deflate.c - deflate streams against the programs that they are those of: zlib, and gzip of the system if it is GNU's
 *   DRAY_DEFLATE_INPUTS=5000       so many generated inputs more
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <zlib.h>

#include "test.h"

#include "dray/deflate.h"

#include "noise.h"

enum { MOST = 140 * 1024, FOOT = 8, HEAD = 10 };

static uint8_t in[MOST + 1], want[2 * MOST + 4096], got[2 * MOST + 4096];
static struct dray_deflater *d;
static char name[] = "/tmp/dray-deflate-XXXXXX";
static bool gnu;

static uint32_t
pick(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)*seed * below) >> 32);
}

static size_t
by_zlib(size_t len, int level, int mem)
{
	z_stream z = { .next_in = in, .avail_in = (uInt)len, .next_out = want, .avail_out = sizeof(want) };

	if (deflateInit2(&z, level, Z_DEFLATED, -15, mem, Z_DEFAULT_STRATEGY) != Z_OK || deflate(&z, Z_FINISH) != Z_STREAM_END ||
	    deflateEnd(&z) != Z_OK)
		abort();
	return z.total_out;
}

/* the deflate stream of gzip's output, in want */
static size_t
by_gzip(size_t len, int level)
{
	char cmd[100];
	size_t n;
	int fd = open(name, O_WRONLY | O_TRUNC);
	FILE *p;

	if (fd == -1 || write(fd, in, len) != (ssize_t)len || close(fd) == -1)
		abort();
	snprintf(cmd, sizeof(cmd), "gzip -%dnc <%s", level, name);
	if ((p = popen(cmd, "r")) == NULL)
		abort();
	n = fread(want, 1, sizeof(want), p);
	if (pclose(p) != 0 || n < HEAD + FOOT)
		abort();
	memmove(want, want + HEAD, n - HEAD - FOOT);
	return n - HEAD - FOOT;
}

static void
compare(const char *what, unsigned id, size_t len, size_t want_len)
{
	uint8_t *exact = malloc(len + 1);	/* so that a sanitizer sees the first byte too many */
	size_t n;

	if (exact == NULL)
		abort();
	memcpy(exact, in, len);
	if (!dray_deflate(d, id, exact, len, got, sizeof(got), &n) || n != want_len || memcmp(got, want, n) != 0) {
		test_bad++;
		printf("# %s, %zu bytes: stream %u is another one\n", what, len, id);
	}
	CHECK(dray_deflate_gives(d, id, exact, len, want, want_len));
	if (want_len > 0) {
		want[want_len / 2] ^= 1;
		CHECK(!dray_deflate_gives(d, id, exact, len, want, want_len));
		CHECK(!dray_deflate(d, id, exact, len, got, want_len - 1, &n));
	}
	free(exact);
}

/* all streams of the first @len bytes of in */
static void
all_streams(const char *what, size_t len)
{
	static const struct { uint8_t id, level, mem; } of_zlib[] = { { DRAY_DEFLATE_ZLIB_9, 9, 8 }, { DRAY_DEFLATE_ZLIB_6, 6, 8 },
		{ DRAY_DEFLATE_ZLIB_9_LARGE, 9, 9 }, { DRAY_DEFLATE_ZLIB_6_LARGE, 6, 9 } };

	for (size_t i = 0; i < sizeof(of_zlib) / sizeof(of_zlib[0]); i++)
		compare(what, of_zlib[i].id, len, by_zlib(len, of_zlib[i].level, of_zlib[i].mem));
	if (!gnu)
		return;
	compare(what, DRAY_DEFLATE_GNU_9, len, by_gzip(len, 9));
	compare(what, DRAY_DEFLATE_GNU_6, len, by_gzip(len, 6));
}

enum { NOISE, ZEROS, PERIODIC, FIBONACCI, TEXT, FEW, HALVES, KINDS };
static const char *const kinds[] = { "noise", "zeros", "periodic", "Fibonacci", "text", "letters", "half noise" };

static void
fill(unsigned kind, uint32_t seed)
{
	static const char words[] = "the quick brown fox jumps over the lazy dog and (since version 1.2) closes: #123456 ";
	uint8_t *p = noise(MOST, seed + 1);
	uint32_t period = 1 + pick(&seed, 40000);
	size_t a = 1, b = 1, n;

	memcpy(in, p, MOST);
	free(p);
	switch (kind) {
	case ZEROS:
		memset(in, 0, MOST);
		break;
	case PERIODIC:
		for (size_t i = period; i < MOST; i++)
			in[i] = in[i - period];
		break;
	case FIBONACCI:		/* the word of that name: abaababa... */
		in[0] = 'a', in[1] = 'b';
		for (b = 2, a = 1; b < MOST; n = a, a = b, b += n)
			memcpy(in + b, in, a < MOST - b ? a : MOST - b);
		break;
	case TEXT:
		for (size_t i = 0; i < MOST; i += n) {
			a = pick(&seed, sizeof(words) - 12);
			n = 1 + pick(&seed, 11);
			memcpy(in + i, words + a, n < MOST - i ? n : MOST - i);
		}
		break;
	case FEW:
		for (size_t i = 0; i < MOST; i++)
			in[i] = (uint8_t)"eeeettaoinshrdlucmfwypvbgkjqxz .,"[pick(&seed, 33)];
		break;
	case HALVES:		/* far matches in what does not compress */
		for (size_t i = 70000; i < MOST; i += 1 + pick(&seed, 6000)) {
			a = pick(&seed, 34000), n = 3 + pick(&seed, 300);
			memmove(in + i, in + i - 1 - a, n < MOST - i ? n : MOST - i);
		}
		break;
	default:
		break;
	}
}

static void
streams_are_those_of_the_programs(void)
{
	/* where windows, blocks and their halves end */
	static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 259, 4097, 16383, 16384, 32506,
		32767, 32769, 65274, 65275, 65400, 65534, 65535, 65536, 65537, 65800, 98042,
		98304, 131073, MOST };

	for (unsigned kind = 0; kind < KINDS; kind++) {
		fill(kind, kind);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			if ((i + kind) % 2 == 0 || (sizes[i] > 65000 && sizes[i] < 66000))
				all_streams(kinds[kind], sizes[i]);
	}
}

static void
more_of_them(void)
{
	const char *env = getenv("DRAY_DEFLATE_INPUTS");
	uint32_t n = env != NULL ? (uint32_t)strtoul(env, NULL, 10) : 7, seed;

	for (uint32_t i = 0; i < n; i++) {
		seed = 77 * i;
		fill(i % KINDS, seed);
		all_streams(kinds[i % KINDS], pick(&seed, i % 3 == 0 ? 3000 : MOST));
	}
}

/* with two letters every place has thousands before it that begin alike, and none that is good enough to end the search */
static void
an_input_that_takes_too_long_is_refused(void)
{
	uint32_t seed = 5;
	size_t n;

	for (size_t i = 0; i < MOST; i++)
		in[i] = (uint8_t)('a' + pick(&seed, 2));
	CHECK(!dray_deflate(d, DRAY_DEFLATE_GNU_9, in, MOST, got, sizeof(got), &n));
	CHECK(dray_deflate_steps(d) > DRAY_DEFLATE_STEPS * (uint64_t)MOST);
	CHECK(dray_deflate_steps(d) < DRAY_DEFLATE_STEPS * (uint64_t)MOST + DRAY_DEFLATE_STEPS_FREE + 5000);
	CHECK(!dray_deflate_gives(d, DRAY_DEFLATE_GNU_9, in, MOST, want, by_zlib(MOST, 9, 8)));
	compare("two letters", DRAY_DEFLATE_ZLIB_6, MOST, by_zlib(MOST, 6, 8));
}

int
main(void)
{
	struct dray_err e = { 0 };
	int fd = mkstemp(name);

	if (fd == -1 || dray_deflater_new(&d, &e) != 0)
		return 1;
	close(fd);
	gnu = system("gzip --version 2>/dev/null | grep -q 'Free Software'") == 0;
	if (!gnu)
		printf("# gzip of this system is not GNU's\n");
	RUN(streams_are_those_of_the_programs);
	RUN(more_of_them);
	RUN(an_input_that_takes_too_long_is_refused);
	unlink(name);
	dray_deflater_free(d);
	return test_done();
}
