/*
 * bspatch.c - the door to libbz2: the three streams of a BSDIFF40 patch, read side by side.
 *
 *	0	"BSDIFF40"
 *	8	X: bytes of the control stream as stored
 *	16	Y: bytes of the difference stream as stored
 *	24	bytes of the new content
 *	32	control, difference and extra stream, each bzip2
 *
 * Control is triples (x, y, z): x bytes are the old ones plus those of the difference stream, y bytes come from the extra
 * stream, and the place in the old content moves by z. Numbers are sign and magnitude, little-endian.
 */
#include <sys/stat.h>

#include <assert.h>
#include <bzlib.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/bspatch.h"
#include "dray/num.h"

enum { HEADER = 32, NUMBER = 8, IN = 32 * 1024, PIECE = 64 * 1024 };

struct stream {
	const char *name;
	int fd;
	uint64_t at, end;		/* what is left of it in the patch */
	bz_stream z;
	bool open, ended;
	char in[IN];
};

struct work {
	const struct build_bspatch *p;
	struct stream control, diff, extra;
	uint64_t size, made;		/* bytes of the new content: in all, so far */
	int64_t from;			/* place in the old content; may lie outside it */
	uint8_t piece[PIECE], old[PIECE];
};

/* the bytes [@at, @at + @len) of a file that has them */
static int
read_at(int fd, void *buf, size_t len, uint64_t at, struct dray_err *e)
{
	uint8_t *p = buf;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? dray_fail_errno(e, "cannot be read") : dray_fail(e, DRAY_E_IO, "changed while it was read");
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int64_t
number(const uint8_t b[NUMBER])
{
	uint64_t v = dray_get_u64(b);
	int64_t n = (int64_t)(v & INT64_MAX);

	return (v >> 63) != 0 ? -n : n;
}

static int
refill(struct stream *s, struct dray_err *e)
{
	size_t n = s->end - s->at < IN ? (size_t)(s->end - s->at) : IN;

	if (n == 0)
		return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: its %s stream is cut short", s->name);
	if (read_at(s->fd, s->in, n, s->at, e) != 0)
		return -1;
	s->at += n;
	s->z.next_in = s->in;
	s->z.avail_in = (unsigned)n;
	return 0;
}

/* exactly the next @len bytes, at most PIECE */
static int
take(struct stream *s, uint8_t *p, size_t len, struct dray_err *e)
{
	assert(len <= PIECE);
	s->z.next_out = (char *)p;
	s->z.avail_out = (unsigned)len;
	while (s->z.avail_out > 0) {
		int rc;

		if (s->ended)
			return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: its %s stream ends early", s->name);
		if (s->z.avail_in == 0 && refill(s, e) != 0)
			return -1;
		rc = BZ2_bzDecompress(&s->z);
		if (rc == BZ_MEM_ERROR)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (rc != BZ_OK && rc != BZ_STREAM_END)
			return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: its %s stream is no bzip2", s->name);
		s->ended = rc == BZ_STREAM_END;
	}
	return 0;
}

static int
open_stream(struct stream *s, const char *name, int fd, uint64_t at, uint64_t end, struct dray_err *e)
{
	s->name = name;
	s->fd = fd;
	s->at = at;
	s->end = end;
	s->open = BZ2_bzDecompressInit(&s->z, 0, 0) == BZ_OK;
	return s->open ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

static void
close_stream(struct stream *s)
{
	if (s->open)
		(void)BZ2_bzDecompressEnd(&s->z);
}

static int
open_all(struct work *w, struct dray_err *e)
{
	int fd = w->p->fd;
	uint8_t head[HEADER];
	uint64_t len, diff, extra;
	int64_t x, y, size;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return dray_fail_errno(e, "cannot be read");
	len = (uint64_t)st.st_size;
	if (len < HEADER)
		return dray_fail(e, DRAY_E_FORMAT, "no patch (BSDIFF40): too short");
	if (read_at(fd, head, HEADER, 0, e) != 0)
		return -1;
	if (memcmp(head, "BSDIFF40", 8) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "no patch (BSDIFF40)");
	x = number(head + 8);
	y = number(head + 16);
	size = number(head + 24);
	if (x < 0 || y < 0 || size < 0)
		return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: a negative length");
	if (!dray_add(HEADER, (uint64_t)x, &diff) || !dray_add(diff, (uint64_t)y, &extra) || extra > len)
		return dray_fail(e, DRAY_E_FORMAT, "the patch is cut short");
	if ((uint64_t)size > w->p->max)
		return dray_fail(e, DRAY_E_FORMAT, "the patch makes more than %" PRIu64 " bytes", w->p->max);
	w->size = (uint64_t)size;
	return open_stream(&w->control, "control", fd, HEADER, diff, e) != 0 ||
	    open_stream(&w->diff, "difference", fd, diff, extra, e) != 0 ||
	    open_stream(&w->extra, "extra", fd, extra, len, e) != 0 ? -1 : 0;
}

/* add the old bytes at w->from to the @n of the piece; there are none before the begin and behind the end */
static int
add_old(struct work *w, size_t n, struct dray_err *e)
{
	const struct build_reader *old = &w->p->old;
	size_t before = w->from < 0 ? ((uint64_t)0 - (uint64_t)w->from < n ? (size_t)-w->from : n) : 0;
	uint64_t at = w->from < 0 ? 0 : (uint64_t)w->from;
	size_t here = n - before;

	if (at >= old->len)
		here = 0;
	else if (old->len - at < here)
		here = (size_t)(old->len - at);
	if (read_at(old->fd, w->old, here, old->at + at, e) != 0)
		return dray_wrap(e, "the old content");
	for (size_t i = 0; i < here; i++)
		w->piece[before + i] = (uint8_t)(w->piece[before + i] + w->old[i]);
	return 0;
}

/* the next @len bytes of the new content, from @s and, if @with_old, the old one */
static int
make(struct work *w, struct stream *s, uint64_t len, bool with_old, struct dray_err *e)
{
	if (len > w->size - w->made)
		return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: more than its %" PRIu64 " bytes", w->size);
	while (len > 0) {
		size_t n = len < PIECE ? (size_t)len : PIECE;

		if (take(s, w->piece, n, e) != 0 || (with_old && add_old(w, n, e) != 0) ||
		    w->p->put(w->p->ctx, w->piece, n, e) != 0)
			return -1;
		if (with_old && __builtin_add_overflow(w->from, (int64_t)n, &w->from))
			return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: a place beyond all numbers");
		w->made += n;
		len -= n;
	}
	return 0;
}

static int
run(struct work *w, struct dray_err *e)
{
	uint8_t b[3 * NUMBER] = { 0 };

	/* each step of an encoder gets further in the new content; steps that get nowhere would cost time without end */
	for (uint64_t steps = 0; w->made < w->size; steps++) {
		int64_t x, y;

		if (take(&w->control, b, sizeof(b), e) != 0)
			return -1;
		x = number(b);
		y = number(b + NUMBER);
		if (x < 0 || y < 0)
			return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: a negative length");
		if (steps > w->size)
			return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: more steps than bytes");
		if (make(w, &w->diff, (uint64_t)x, true, e) != 0 || make(w, &w->extra, (uint64_t)y, false, e) != 0)
			return -1;
		if (__builtin_add_overflow(w->from, number(b + 2 * NUMBER), &w->from))
			return dray_fail(e, DRAY_E_FORMAT, "the patch is damaged: a place beyond all numbers");
	}
	return 0;
}

int
build_bspatch(const struct build_bspatch *p, struct dray_err *e)
{
	struct work *w = calloc(1, sizeof(*w));
	int rc;

	if (w == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	w->p = p;
	rc = open_all(w, e) == 0 ? run(w, e) : -1;
	close_stream(&w->control);
	close_stream(&w->diff);
	close_stream(&w->extra);
	free(w);
	return rc;
}
