/*
 * gunzip.c - gzip members: zlib inflates and deflates, we bound and hash.
 */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "builder/gunzip.h"
#include "builder/temp.h"

#define GZIP_WINDOW (15 + 16)	/* inflateInit2: gzip alone, any window. Source: zlib.h */

enum { IN = 64 * 1024, OUT = 128 * 1024 };

struct work {
	z_stream z;
	uint8_t in[IN], out[OUT];
	off_t at;
};

static int
refill(struct work *w, int fd, struct dray_err *e)
{
	ssize_t n;

	do
		n = pread(fd, w->in, sizeof(w->in), w->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return dray_fail_errno(e, "cannot be read");
	w->at += n;
	w->z.next_in = w->in;
	w->z.avail_in = (uInt)n;
	return 0;
}

static int
emit(struct work *w, const struct build_gunzip *o, struct dray_sha256 *h, uint64_t *size, struct dray_err *e)
{
	size_t len = sizeof(w->out) - w->z.avail_out;

	if (len > o->max - *size)
		return dray_fail(e, DRAY_E_FORMAT, "inflates to more than %" PRIu64 " bytes", o->max);
	*size += len;
	if (dray_sha256_add(h, w->out, len, e) != 0 || (o->put != NULL && len > 0 && o->put(o->ctx, w->out, len, e) != 0))
		return -1;
	w->z.next_out = w->out;
	w->z.avail_out = sizeof(w->out);
	return 0;
}

static int
run(struct work *w, int fd, const struct build_gunzip *o, struct dray_sha256 *h, uint64_t *size, struct dray_err *e)
{
	int rc = Z_OK;

	w->z.next_out = w->out;
	w->z.avail_out = sizeof(w->out);
	while (rc != Z_STREAM_END) {
		if (w->z.avail_in == 0 && refill(w, fd, e) != 0)
			return -1;
		if (w->z.avail_in == 0)
			return dray_fail(e, DRAY_E_FORMAT, "is cut short");
		rc = inflate(&w->z, Z_NO_FLUSH);
		if (rc == Z_MEM_ERROR)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (rc != Z_OK && rc != Z_STREAM_END)
			return dray_fail(e, DRAY_E_FORMAT, "is no gzip, or damaged");
		if (emit(w, o, h, size, e) != 0)
			return -1;
	}
	if (w->z.avail_in == 0 && refill(w, fd, e) != 0)
		return -1;
	return w->z.avail_in == 0 ? 0 : dray_fail(e, DRAY_E_FORMAT, "holds bytes behind its end");
}

int
build_gunzip_fd(int fd, const struct build_gunzip *o, struct dray_sha256 *h, uint8_t sha256[DRAY_SHA256_LEN],
    uint64_t *size, struct dray_err *e)
{
	struct work w;
	int rc;

	*size = 0;
	w.at = 0;
	w.z = (z_stream){ .avail_in = 0 };
	if (inflateInit2(&w.z, GZIP_WINDOW) != Z_OK)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rc = dray_sha256_begin(h, e);
	if (rc == 0 && o->begin != NULL)
		rc = o->begin(o->ctx, e);
	if (rc == 0)
		rc = run(&w, fd, o, h, size, e);
	(void)inflateEnd(&w.z);
	return rc != 0 ? -1 : dray_sha256_end(h, sha256, e);
}

int
build_gzip_begin(struct build_gzip *g, int fd, struct dray_err *e)
{
	*g = (struct build_gzip){ .fd = fd };
	if (deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK)
		return 0;
	return dray_fail(e, DRAY_E_IO, "out of memory");
}

static int
deflate_all(struct build_gzip *g, int how, struct dray_err *e)
{
	uint8_t out[OUT];

	do {
		size_t n;

		g->z.next_out = out;
		g->z.avail_out = sizeof(out);
		(void)deflate(&g->z, how);	/* cannot fail while there is room */
		n = sizeof(out) - g->z.avail_out;
		if (build_temp_write(g->fd, g->at, out, n, e) != 0)
			return -1;
		g->at += n;
	} while (g->z.avail_out == 0);
	return 0;
}

int
build_gzip_put(struct build_gzip *g, const void *p, size_t len, struct dray_err *e)
{
	const uint8_t *at = p;

	while (len > 0) {
		size_t n = len > OUT ? OUT : len;

		g->z.next_in = at;
		g->z.avail_in = (uInt)n;
		if (deflate_all(g, Z_NO_FLUSH, e) != 0)
			return -1;
		at += n;
		len -= n;
	}
	return 0;
}

int
build_gzip_end(struct build_gzip *g, bool good, struct dray_err *e)
{
	int rc = good ? deflate_all(g, Z_FINISH, e) : 0;

	(void)deflateEnd(&g->z);
	return rc;
}
