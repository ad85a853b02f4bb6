/*
 * fuzz_gzip.c - .gz both ways. The first byte of an input says what the rest is:
 *
 *   even  a .gz that may be anything, with room for 64 KiB inside. What is taken is made again by whoever made it, if that is known.
 *   odd   an inside that may be anything, and the encoder by the other bits: what is made of it has this inside.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/gzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 64 * 1024 };

static struct dray_gunzip *g;
static struct dray_deflater *d;

static uint8_t *
room(size_t len)
{
	uint8_t *p = malloc(len + 1);

	if (p == NULL)
		abort();
	return p;
}

static void
in(const uint8_t *gz, size_t len)
{
	uint8_t *to = room(ROOM), *back = room(len);
	size_t n;
	unsigned id;

	if (dray_gunzip(g, gz, len, to, ROOM, &n) && (id = dray_gzip_prove(d, to, n, gz, len)) != DRAY_DEFLATE_NONE)
		if (!dray_gzip_make(d, id, to, n, back, len) || memcmp(back, gz, len) != 0)
			abort();
	free(to);
	free(back);
}

static void
out(const uint8_t *p, size_t len, unsigned id)
{
	size_t cap = (size_t)DRAY_GZIP_BOUND(len), n, got;
	uint8_t *gz = room(cap), *to = room(len), *stream;

	/* a stream never takes much more than its input; the right length is found by asking for the stream alone */
	stream = room(cap);
	if (len >= 10 && dray_deflate(d, id, p + 10, len - 10, stream, cap, &n) && dray_gzip_make(d, id, p, len, gz, 10 + n + 8))
		if (!dray_gunzip(g, gz, 10 + n + 8, to, len, &got) || got != len || memcmp(to, p, len) != 0)
			if ((p[3] & 30) == 0)
				abort();
	if (dray_deflate_steps(d) > (uint64_t)len * DRAY_DEFLATE_STEPS + DRAY_DEFLATE_STEPS_FREE + 5000)
		abort();
	free(stream);
	free(gz);
	free(to);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_err e = { 0 };

	if (size < 1)
		return 0;
	if (g == NULL && (dray_gunzip_new(&g, &e) != 0 || dray_deflater_new(&d, &e) != 0))
		abort();
	if ((data[0] & 1) == 0)
		in(data + 1, size - 1);
	else
		out(data + 1, size - 1, 1 + (data[0] >> 1) % DRAY_DEFLATE_LAST);
	return 0;
}
