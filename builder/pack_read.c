/*
 * pack_read.c - contents by row, from the release that holds them.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/gzip.h"

#include "builder/pack_read.h"

int
build_pack_reader_begin(struct pack_reader *r, const struct build_resolved *rs, struct dray_err *e)
{
	r->rs = rs;
	if ((r->sums = calloc(rs->n_contents + 1, sizeof(uint8_t *))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	pthread_mutex_init(&r->lock, NULL);
	return 0;
}

void
build_pack_reader_end(struct pack_reader *r)
{
	if (r->sums == NULL)
		return;
	for (size_t i = 0; i < r->rs->n_contents; i++)
		free(r->sums[i]);
	free(r->sums);
	r->sums = NULL;
	pthread_mutex_destroy(&r->lock);
}

static const struct build_release *
holder(const struct pack_reader *r, uint32_t content, bool old, const struct build_node **nd)
{
	const struct build_content *c = &r->rs->contents[content];
	const struct build_release *rel = r->rs->releases[old ? c->old_base + 1u : 0];

	*nd = &rel->v[old ? c->old_node : c->node];
	return rel->sources != NULL ? rel->sources[(*nd)->of] : rel;
}

static int
wrap(const struct pack_reader *r, uint32_t content, bool old, struct dray_err *e)
{
	const struct build_node *nd;
	const struct build_release *rel = holder(r, content, old, &nd);

	if (e->code == DRAY_E_IO)
		dray_hint(e, "build from a tree that is at rest; nothing was written");
	return build_path_err(e, rel, nd->path, nd->len);
}

static int
open_content(const struct pack_reader *r, uint32_t content, bool old, struct build_reader *in, struct dray_err *e)
{
	const struct build_node *nd;
	const struct build_release *rel = holder(r, content, old, &nd);

	*in = (struct build_reader){ .fd = -1 };
	return rel->open(rel, nd, in, e);
}

static void
close_content(const struct build_reader *in)
{
	if (in->owned && in->fd != -1)
		close(in->fd);
}

static int
read_all(const struct build_reader *in, uint64_t at, uint8_t *to, size_t len, struct dray_err *e)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = pread(in->fd, to + got, len - got, (off_t)(in->at + at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dray_fail_errno(e, "cannot be read");
		if (n == 0)
			return dray_fail(e, DRAY_E_IO, "changed since the tree was read (it is shorter now)");
		got += (size_t)n;
	}
	return 0;
}

static int
changed(struct dray_err *e)
{
	return dray_fail(e, DRAY_E_IO, "changed since the tree was read");
}

static int
check_blocks(const uint8_t *sums, struct dray_sha256 *h, uint64_t at, const uint8_t *p, size_t len,
    struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];

	for (size_t done = 0; done < len;) {
		size_t n = len - done < PACK_SUM_BLOCK ? len - done : PACK_SUM_BLOCK;

		if (dray_sha256_once(h, p + done, n, sum, e) != 0)
			return -1;
		if (memcmp(sum, sums + (at + done) / PACK_SUM_BLOCK * PACK_SUM_LEN, PACK_SUM_LEN) != 0)
			return changed(e);
		done += n;
	}
	return 0;
}

int
build_pack_head(const struct pack_reader *r, uint32_t content, bool old, uint8_t *to, size_t len, struct dray_err *e)
{
	struct build_reader in;
	int rc;

	if (open_content(r, content, old, &in, e) != 0)
		return wrap(r, content, old, e);
	rc = read_all(&in, 0, to, len, e);
	close_content(&in);
	return rc == 0 ? 0 : wrap(r, content, old, e);
}

static int
read_stored(struct pack_reader *r, struct dray_sha256 *h, uint32_t content, bool old, uint64_t at, size_t len,
    uint8_t *to, struct dray_err *e)
{
	const struct build_content *c = &r->rs->contents[content];
	uint8_t sum[DRAY_SHA256_LEN];
	struct build_reader in;
	int rc = -1;

	if (open_content(r, content, old, &in, e) != 0)
		return wrap(r, content, old, e);
	if (read_all(&in, at, to, len, e) != 0)
		goto out;
	if (at == 0 && len == c->size) {
		if (dray_sha256_once(h, to, len, sum, e) != 0)
			goto out;
		rc = memcmp(sum, c->sha256, sizeof(sum)) == 0 ? 0 : changed(e);
	} else {
		rc = check_blocks(r->sums[content], h, at, to, len, e);
	}
out:
	close_content(&in);
	return rc == 0 ? 0 : wrap(r, content, old, e);
}

/* what is inside the .gz @content: all of it */
static int
read_inside(struct pack_reader *r, struct dray_sha256 *h, uint32_t content, bool old, uint8_t *to, struct dray_err *e)
{
	const struct build_content *c = &r->rs->contents[content];
	struct dray_gunzip *g = NULL;
	uint8_t *gz = malloc((size_t)c->size);	/* build_insides_find has bounded it */
	size_t got;
	int rc = -1;

	if (gz == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (dray_gunzip_new(&g, e) == 0 && read_stored(r, h, content, old, 0, (size_t)c->size, gz, e) == 0)
		rc = dray_gunzip(g, gz, (size_t)c->size, to, c->inside, &got) && got == c->inside ? 0 :
		    dray_fail(e, DRAY_E_IO, "internal: the inside of a .gz is another one");
	dray_gunzip_free(g);
	free(gz);
	return rc;
}

int
build_pack_read(struct pack_reader *r, struct dray_sha256 *h, uint32_t content, bool old, uint64_t at, size_t len,
    uint8_t *to, struct dray_err *e)
{
	if (r->rs->contents[content].inside == 0)
		return read_stored(r, h, content, old, at, len, to, e);
	assert(at == 0 && len == r->rs->contents[content].inside);	/* it is one piece, and a range of it is all of it */
	return read_inside(r, h, content, old, to, e);
}

static int
walk_inside(struct pack_reader *r, const struct pack_walk *w, uint32_t content, bool old, struct dray_err *e)
{
	uint32_t len = r->rs->contents[content].inside;
	uint8_t *p = malloc(len);
	int rc = -1;

	if (p == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rc = read_inside(r, w->whole, content, old, p, e);
	for (uint32_t at = 0, n; rc == 0 && at < len; at += n) {
		n = len - at < PACK_WALK_BYTES ? len - at : PACK_WALK_BYTES;
		rc = w->take(w->ctx, p + at, n, at, e);
	}
	free(p);
	return rc;
}

/* the walk of one content; @sums: room for all blocks, or NULL */
static int
walk(const struct pack_walk *w, const struct build_reader *in, const struct build_content *c, uint8_t *sums,
    struct dray_err *e)
{
	uint64_t end = w->to != 0 ? w->to : c->size;
	uint8_t sum[DRAY_SHA256_LEN];

	if (sums != NULL && dray_sha256_begin(w->whole, e) != 0)
		return -1;
	for (uint64_t at = w->from; at < end;) {
		size_t len = end - at < PACK_WALK_BYTES ? (size_t)(end - at) : PACK_WALK_BYTES;

		if (read_all(in, at, w->buf, len, e) != 0)
			return -1;
		for (size_t i = 0; sums != NULL && i < len; i += PACK_SUM_BLOCK) {
			size_t n = len - i < PACK_SUM_BLOCK ? len - i : PACK_SUM_BLOCK;

			if (dray_sha256_add(w->whole, w->buf + i, n, e) != 0 ||
			    dray_sha256_once(w->block, w->buf + i, n, sum, e) != 0)
				return -1;
			memcpy(sums + (at + i) / PACK_SUM_BLOCK * PACK_SUM_LEN, sum, PACK_SUM_LEN);
		}
		if (w->take != NULL && w->take(w->ctx, w->buf, len, at, e) != 0)
			return -1;
		at += len;
	}
	if (sums == NULL)
		return 0;
	if (dray_sha256_end(w->whole, sum, e) != 0)
		return -1;
	return memcmp(sum, c->sha256, sizeof(sum)) == 0 ? 0 : changed(e);
}

int
build_pack_walk(struct pack_reader *r, const struct pack_walk *w, uint32_t content, bool old, struct dray_err *e)
{
	const struct build_content *c = &r->rs->contents[content];
	uint8_t *sums = NULL;
	struct build_reader in;
	int rc = -1;

	if (c->inside != 0)
		return walk_inside(r, w, content, old, e);
	if (open_content(r, content, old, &in, e) != 0)
		return wrap(r, content, old, e);
	if (w->sums && (sums = malloc((size_t)(c->size / PACK_SUM_BLOCK + 1) * PACK_SUM_LEN)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if ((rc = walk(w, &in, c, sums, e)) != 0)
		goto out;
	pthread_mutex_lock(&r->lock);
	if (r->sums[content] == NULL) {	/* another thread may have walked it too, with the same result */
		r->sums[content] = sums;
		sums = NULL;
	}
	pthread_mutex_unlock(&r->lock);
out:
	free(sums);
	close_content(&in);
	return rc == 0 ? 0 : wrap(r, content, old, e);
}
