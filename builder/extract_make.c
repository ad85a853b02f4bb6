/*
 * extract_make.c - the bytes of one content: from frames of the bundle alone, by a copy from a base, or from frames that
 * build on a base. Files of one frame come one after the other, so a worker keeps the last frame it decoded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/extract.h"

#define COPY_BYTES (256u * 1024u)

/* a step's result besides 0 and -1: this way does not lead there, another may */
enum { OTHER_WAY = 1 };

/* can a recipe's base bytes be had? */
static bool
has_bases(const struct extract *x, const struct dray_recipe *r)
{
	for (uint32_t i = 0; i < r->piece_count; i++) {
		struct dray_piece p;
		struct dray_frame f;

		dray_index_piece(x->ix, r->piece_first + i, &p);
		dray_index_frame(x->ix, p.frame, &f);
		for (uint32_t k = 0; k < f.range_count; k++) {
			struct dray_range g;

			dray_index_range(x->ix, f.range_first + k, &g);
			if (x->source[g.content].base == DRAY_NONE)
				return false;
		}
	}
	return true;
}

uint32_t
build_extract_way(const struct extract *x, uint32_t content, uint32_t from, struct dray_recipe *r)
{
	struct dray_content c;

	*r = (struct dray_recipe){ 0 };
	dray_index_content(x->ix, content, &c);
	if (from == EXTRACT_FULL) {
		for (uint32_t i = 0; i < c.recipe_count; i++) {
			dray_index_recipe(x->ix, c.recipe_first + i, r);
			if (r->kind == DRAY_RECIPE_FULL)
				return EXTRACT_FULL;
		}
		from = EXTRACT_COPY;
	}
	if (from == EXTRACT_COPY) {
		if (x->source[content].base != DRAY_NONE)
			return EXTRACT_COPY;
		from = EXTRACT_DELTA;
	}
	for (uint32_t i = from - EXTRACT_DELTA; i < c.recipe_count; i++) {
		dray_index_recipe(x->ix, c.recipe_first + i, r);
		if (r->kind == DRAY_RECIPE_DELTA && has_bases(x, r))
			return EXTRACT_DELTA + i;
	}
	return EXTRACT_NO_WAY;
}

static int
need(uint8_t **p, size_t *cap, size_t len, struct dray_err *e)
{
	uint8_t *more;

	if (*cap >= len)
		return 0;
	if ((more = realloc(*p, len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*p = more;
	*cap = len;
	return 0;
}

/* the base bytes of a frame; the index has bounded their sum */
static int
gather(struct extract *x, struct extract_worker *w, const struct dray_frame *f, struct dray_ref *ref,
    struct dray_err *e)
{
	uint64_t sum = 0;
	size_t at = 0;

	*ref = (struct dray_ref){ .n = f->range_count };
	if (f->range_count == 0)
		return 0;
	if (w->ranges_cap < f->range_count) {
		struct dray_range *v = reallocarray(w->ranges, f->range_count, sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		w->ranges = v;
		w->ranges_cap = f->range_count;
	}
	for (uint32_t i = 0; i < f->range_count; i++) {
		dray_index_range(x->ix, f->range_first + i, &w->ranges[i]);
		sum += w->ranges[i].len;
	}
	if (need(&w->ref, &w->ref_cap, (size_t)sum, e) != 0)
		return -1;
	for (uint32_t i = 0; i < f->range_count; i++) {
		const struct dray_range *g = &w->ranges[i];

		bool here;

		if (!g->inside)
			here = build_extract_base_read(x, w, g->content, g->offset, w->ref + at, (size_t)g->len);
		else if (build_extract_base_inside(x, w, g->content, w->ref + at, (size_t)g->len, &here, e) != 0)
			return -1;
		if (!here)
			return OTHER_WAY;
		at += (size_t)g->len;
	}
	ref->p = w->ref;
	ref->len = at;
	ref->ranges = w->ranges;
	return 0;
}

/* output of frame @row into w->out; @at: where it stands in the content */
static int
decode(struct extract *x, struct extract_worker *w, uint32_t row, uint64_t at, struct dray_err *e)
{
	uint8_t got[DRAY_SHA256_LEN];
	struct dray_frame f;
	struct dray_ref ref;
	int rc;

	if (w->frame == row)
		return 0;
	w->frame = DRAY_NONE;
	dray_index_frame(x->ix, row, &f);
	if (need(&w->stored, &w->stored_cap, f.stored, e) != 0 || need(&w->out, &w->out_cap, f.out, e) != 0)
		return -1;
	if ((rc = gather(x, w, &f, &ref, e)) != 0)
		return rc;
	if (dray_bundle_read(x->b, f.at, w->stored, f.stored, e) != 0 ||
	    dray_sha256_once(w->once, w->stored, f.stored, got, e) != 0)
		return -1;
	if (memcmp(got, f.sha256, sizeof(got)) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "frame %" PRIu32 " at byte %" PRIu64 " does not have the hash in the index",
		    row, f.at);
	if (dray_decode_frame(w->dec, &f, w->stored, &ref, at, x->desc, w->out, e) != 0)
		return f.range_count == 0 || e->code != DRAY_E_FORMAT ? -1 : OTHER_WAY;
	w->frame = row;
	return 0;
}

/* hash and write what comes next of the content */
static int
put_bytes(struct extract *x, struct extract_worker *w, int fd, const uint8_t *p, size_t len, struct dray_err *e)
{
	if (dray_sha256_add(w->sha, p, len, e) != 0)
		return -1;
	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return dray_fail_errno(e, "cannot be written");
		p += n;
		len -= (size_t)n;
		w->put += (uint64_t)n;
		tool_progress_at(&x->progress, atomic_fetch_add(&x->done, (uint64_t)n) + (uint64_t)n, x->total);
	}
	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	return 0;
}

/* the .gz of which @p is the inside */
static int
put_wrapped(struct extract *x, struct extract_worker *w, unsigned wrap, uint64_t size, int fd, const uint8_t *p, size_t len,
    struct dray_err *e)
{
	const uint8_t *gz;

	if (dray_gzip_content(&w->gzip, wrap, p, len, (size_t)size, &gz, e) != 0)
		return -1;
	return put_bytes(x, w, fd, gz, (size_t)size, e);
}

static int
by_recipe(struct extract *x, struct extract_worker *w, const struct dray_recipe *r, uint64_t size, int fd,
    struct dray_err *e)
{
	uint64_t at = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < r->piece_count; i++) {
		struct dray_piece p;

		dray_index_piece(x->ix, r->piece_first + i, &p);
		if ((rc = decode(x, w, p.frame, at, e)) == 0)
			rc = r->wrap != DRAY_DEFLATE_NONE ? put_wrapped(x, w, r->wrap, size, fd, w->out + p.offset, p.len, e) :
			    put_bytes(x, w, fd, w->out + p.offset, p.len, e);
		at += p.len;
	}
	return rc;
}

static int
by_copy(struct extract *x, struct extract_worker *w, uint32_t content, uint64_t size, int fd, struct dray_err *e)
{
	int rc = 0;

	w->frame = DRAY_NONE;	/* its buffer is used here */
	if (need(&w->out, &w->out_cap, COPY_BYTES, e) != 0)
		return -1;
	for (uint64_t at = 0; rc == 0 && at < size; at += COPY_BYTES) {
		size_t len = size - at < COPY_BYTES ? (size_t)(size - at) : COPY_BYTES;

		if (!build_extract_base_read(x, w, content, at, w->out, len))
			return OTHER_WAY;
		rc = put_bytes(x, w, fd, w->out, len, e);
	}
	return rc;
}

/* @way has failed without damage to the bundle, and it was the last */
static int
no_way_left(uint32_t way, struct dray_err *e)
{
	if (way == EXTRACT_NO_WAY)
		dray_fail(e, DRAY_E_CONFLICT, "its bytes are neither in the bundle nor in a base");
	else
		dray_fail(e, DRAY_E_DRIFT, "what a base gave for it does not have the signed hash");
	return dray_hint(e, way == EXTRACT_NO_WAY ? "name a base with --base dir:PATH" :
	    "a base changed while it was read: use one that is at rest");
}

int
build_extract_make(struct extract *x, struct extract_worker *w, uint32_t content, int fd, struct dray_err *e)
{
	uint8_t got[DRAY_SHA256_LEN];
	uint32_t way, last = EXTRACT_NO_WAY;
	struct dray_content c;
	struct dray_recipe r;

	dray_index_content(x->ix, content, &c);
	if (c.size == 0)
		return 0;	/* the index has proved that no bytes have this hash */
	w->put = 0;
	for (way = build_extract_way(x, content, 0, &r); way != EXTRACT_NO_WAY;
	    way = build_extract_way(x, content, way + 1, &r)) {
		int rc;

		if (last != EXTRACT_NO_WAY && (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0))
			return dray_fail_errno(e, "begin again");
		atomic_fetch_sub(&x->done, w->put);	/* of a way that led nowhere */
		w->put = 0;
		last = way;
		if (dray_sha256_begin(w->sha, e) != 0)
			return -1;
		rc = way == EXTRACT_COPY ? by_copy(x, w, content, build_extract_size(x, content), fd, e) : by_recipe(x, w, &r, c.size, fd, e);
		if (rc == -1)
			return -1;
		if (rc == OTHER_WAY) {
			dray_err_clear(e);
			continue;
		}
		if (dray_sha256_end(w->sha, got, e) != 0)
			return -1;
		if (memcmp(got, c.sha256, sizeof(got)) == 0) {
			atomic_fetch_add(way == EXTRACT_FULL ? &x->full : way == EXTRACT_COPY ? &x->copy : &x->delta, 1);
			return 0;
		}
		if (way == EXTRACT_FULL)
			return dray_fail(e, DRAY_E_FORMAT, "what the bundle holds for it does not have its hash");
	}
	return no_way_left(last, e);
}

int
build_extract_workers(struct extract *x, struct dray_err *e)
{
	if ((x->workers = calloc(x->threads, sizeof(*x->workers))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned i = 0; i < x->threads; i++) {
		dray_walk_init(&x->workers[i].walk, x->root);
		x->workers[i].frame = x->workers[i].open_content = DRAY_NONE;
		x->workers[i].reader.fd = -1;
	}
	for (unsigned i = 0; i < x->threads; i++)
		if (dray_decoder_new(&x->workers[i].dec, e) != 0 || dray_sha256_new(&x->workers[i].sha, e) != 0 ||
		    dray_sha256_new(&x->workers[i].once, e) != 0)
			return -1;
	return 0;
}

void
build_extract_workers_free(struct extract *x)
{
	for (unsigned i = 0; x->workers != NULL && i < x->threads; i++) {
		struct extract_worker *w = &x->workers[i];

		if (w->reader.owned)
			close(w->reader.fd);	/* read only */
		dray_walk_close(&w->walk);
		dray_decoder_free(w->dec);
		dray_sha256_free(w->sha);
		dray_sha256_free(w->once);
		dray_gzip_room_free(&w->gzip);
		free(w->stored);
		free(w->out);
		free(w->ref);
		free(w->ranges);
	}
	free(x->workers);
}
