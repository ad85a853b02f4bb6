/*
 * gzip.c - the inside of a .gz and back: the one door to zlib's inflate. Its own encoder is not asked: another version of it
 * may give other bytes. Source: RFC 1952.
 */
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include "dray/gzip.h"
#include "dray/io.h"
#include "dray/num.h"

enum {
	FIXED = 10, FOOT = 8,		/* bytes of a header without its texts; CRC-32 and length behind the stream */
	TEXT = 1, HCRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16,	/* flags */
	PART = 32 * 1024,		/* of a file, at once */
};

struct dray_gunzip {
	z_stream z;
	uint8_t part[PART];
};

int
dray_gunzip_new(struct dray_gunzip **out, struct dray_err *e)
{
	struct dray_gunzip *g = calloc(1, sizeof(*g));

	*out = NULL;
	if (g == NULL || inflateInit2(&g->z, -MAX_WBITS) != Z_OK) {	/* without zlib's own idea of a header */
		free(g);
		dray_fail(e, DRAY_E_IO, "out of memory");
		return -1;
	}
	*out = g;
	return 0;
}

void
dray_gunzip_free(struct dray_gunzip *g)
{
	if (g == NULL)
		return;
	inflateEnd(&g->z);
	free(g);
}

bool
dray_gzip_is(const uint8_t *p, size_t len)
{
	return len >= FIXED && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8;
}

/* bytes of the header; 0: it is none, or does not end within @len or DRAY_GZIP_HEADER_MAX bytes */
static size_t
header(const uint8_t *p, size_t len)
{
	size_t at = FIXED;

	len = len < DRAY_GZIP_HEADER_MAX ? len : DRAY_GZIP_HEADER_MAX;
	if (!dray_gzip_is(p, len) || (p[3] & ~(TEXT | HCRC | EXTRA | NAME | COMMENT)) != 0)
		return 0;
	if ((p[3] & EXTRA) != 0) {
		if (len - at < 2 || dray_get_u16(p + at) > len - at - 2)
			return 0;
		at += 2u + dray_get_u16(p + at);
	}
	for (unsigned text = NAME; text <= COMMENT; text *= 2) {
		const uint8_t *end;

		if ((p[3] & text) == 0)
			continue;
		if ((end = memchr(p + at, 0, len - at)) == NULL)
			return 0;
		at = (size_t)(end - p) + 1;
	}
	if ((p[3] & HCRC) != 0) {
		if (len - at < 2)
			return 0;
		at += 2;
	}
	return at;
}

static uint32_t
crc_of(const uint8_t *p, size_t len)
{
	return (uint32_t)crc32(0, p, (uInt)len);	/* an inside is at most DRAY_GZIP_MAX */
}

struct input {
	const uint8_t *p;		/* all of it; NULL: it is in a file */
	int fd;
	uint64_t first;			/* where it begins in the file */
	uint64_t at, size;
};

/* the next bytes for zlib; false: they cannot be had */
static bool
more(struct dray_gunzip *g, struct input *in)
{
	uint64_t left = in->size - in->at;
	size_t n = left < PART ? (size_t)left : PART;

	if (n == 0)
		return false;
	if (in->p == NULL && !dray_pread_whole(in->fd, g->part, n, in->first + in->at))
		return false;
	g->z.next_in = in->p == NULL ? g->part : in->p + in->at;
	g->z.avail_in = (uInt)n;
	in->at += n;
	return true;
}

/* FOOT bytes behind the stream, and nothing after them */
static bool
foot(struct dray_gunzip *g, struct input *in, uint8_t to[FOOT])
{
	for (size_t n = 0; n < FOOT; n++) {
		if (g->z.avail_in == 0 && !more(g, in))
			return false;
		to[n] = *g->z.next_in++;
		g->z.avail_in--;
	}
	return g->z.avail_in == 0 && in->at == in->size;
}

static bool
inside(struct dray_gunzip *g, struct input *in, uint8_t *to, size_t cap, size_t *out)
{
	uint8_t end[FOOT];
	size_t head, len;
	int rc = Z_OK;

	*out = 0;
	cap = cap < DRAY_GZIP_MAX ? cap : DRAY_GZIP_MAX;
	if (inflateReset(&g->z) != Z_OK || !more(g, in) || (head = header(g->z.next_in, g->z.avail_in)) == 0 || head > cap)
		return false;
	memcpy(to, g->z.next_in, head);
	g->z.next_in += head;
	g->z.avail_in -= (uInt)head;
	g->z.next_out = to + head;
	g->z.avail_out = (uInt)(cap - head);
	while (rc != Z_STREAM_END) {
		if (g->z.avail_in == 0 && !more(g, in))
			return false;
		rc = inflate(&g->z, Z_NO_FLUSH);
		/* without room left an end may still come, and it needs none */
		if (rc != Z_OK && rc != Z_STREAM_END)
			return false;
	}
	len = cap - head - g->z.avail_out;
	if (!foot(g, in, end) || dray_get_u32(end) != crc_of(to + head, len) || dray_get_u32(end + 4) != len)
		return false;
	*out = head + len;
	return true;
}

bool
dray_gunzip(struct dray_gunzip *g, const uint8_t *gz, size_t len, uint8_t *to, size_t cap, size_t *out)
{
	return inside(g, &(struct input){ .p = gz, .fd = -1, .size = len }, to, cap, out);
}

bool
dray_gunzip_fd(struct dray_gunzip *g, int fd, uint64_t at, uint64_t size, uint8_t *to, size_t cap, size_t *out)
{
	return inside(g, &(struct input){ .fd = fd, .first = at, .size = size }, to, cap, out);
}

bool
dray_gzip_make(struct dray_deflater *d, unsigned id, const uint8_t *from, size_t len, uint8_t *gz, size_t gz_len)
{
	size_t head = header(from, len), n;

	if (head == 0 || len > DRAY_GZIP_MAX || gz_len < head + FOOT)
		return false;
	memcpy(gz, from, head);
	if (!dray_deflate(d, id, from + head, len - head, gz + head, gz_len - head - FOOT, &n) || n != gz_len - head - FOOT)
		return false;
	dray_put_u32(gz + head + n, crc_of(from + head, len - head));
	dray_put_u32(gz + head + n + 4, (uint32_t)(len - head));
	return true;
}

unsigned
dray_gzip_prove(struct dray_deflater *d, const uint8_t *from, size_t len, const uint8_t *gz, size_t gz_len)
{
	size_t head = header(from, len);

	if (head == 0 || gz_len < head + FOOT)
		return DRAY_DEFLATE_NONE;
	for (unsigned id = DRAY_DEFLATE_NONE + 1; id <= DRAY_DEFLATE_LAST; id++)
		if (dray_deflate_gives(d, id, from + head, len - head, gz + head, gz_len - head - FOOT))
			return id;
	return DRAY_DEFLATE_NONE;
}

/* --- for readers of bundles ---------------------------------------------------------------------------------------- */

int
dray_gzip_content(struct dray_gzip_room *r, unsigned wrap, const uint8_t *from, size_t len, size_t size, const uint8_t **gz,
    struct dray_err *e)
{
	*gz = NULL;
	if (r->d == NULL && dray_deflater_new(&r->d, e) != 0)
		return -1;
	if (r->cap < size) {
		free(r->gz);
		r->cap = 0;
		if ((r->gz = malloc(size)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		r->cap = size;
	}
	if (!dray_gzip_make(r->d, wrap, from, len, r->gz, size))
		memset(r->gz, 0, size);
	*gz = r->gz;
	return 0;
}

int
dray_gzip_base(struct dray_gzip_room *r, int fd, uint64_t at, uint64_t size, uint8_t *to, size_t len, bool *here,
    struct dray_err *e)
{
	size_t got;

	*here = false;
	if (r->g == NULL && dray_gunzip_new(&r->g, e) != 0)
		return -1;
	*here = dray_gunzip_fd(r->g, fd, at, size, to, len, &got) && got == len;
	return 0;
}

void
dray_gzip_room_free(struct dray_gzip_room *r)
{
	dray_gunzip_free(r->g);
	dray_deflater_free(r->d);
	free(r->gz);
	*r = (struct dray_gzip_room){ .g = NULL };
}
