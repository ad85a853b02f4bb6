/*
 * fbsd_pull.c - what is named by its hash: fetched, checked, kept.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/fbsd_flight.h"
#include "builder/fbsd_pull.h"
#include "dray/fbsd.h"
#include "dray/num.h"

struct pulling {
	struct build_fbsd_server *s;
	const struct build_fbsd_want *v;
	size_t n, next, fetched;
	enum build_fbsd_state *state;	/* or NULL */
	struct build_fbsd_flights flights;
};

static uint64_t
most(char kind)
{
	return kind == 't' ? DRAY_FBSD_TINDEX_MAX : kind == 'm' ? DRAY_FBSD_INDEX_MAX : BUILD_FBSD_CONTENT_MAX;
}

static void
path_of(const struct build_fbsd_want *w, char path[400])
{
	char name[100];

	build_fbsd_server_name(w->kind, w->sha256, name);
	snprintf(path, 400, "%s/%s", w->dir, name);
}

static int
plain_fd(int fd, const struct build_gunzip *o, struct dray_sha256 *h, uint8_t sum[32], uint64_t *size, struct dray_err *e)
{
	uint8_t buf[16384];
	uint64_t at = 0;
	ssize_t n;

	if (dray_sha256_fd(h, fd, buf, sizeof(buf), size, sum, e) != 0 ||
	    (o->begin != NULL && o->begin(o->ctx, e) != 0))
		return -1;
	if (*size > o->max)
		return dray_fail(e, DRAY_E_FORMAT, "too large");
	while (o->put != NULL && (n = pread(fd, buf, sizeof(buf), (off_t)at)) > 0) {
		if (o->put(o->ctx, buf, (size_t)n, e) != 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

/* is the file @fd what @w wants? It is inflated into @o */
static int
judge(struct build_fbsd_server *s, const struct build_fbsd_want *w, int fd, const struct build_gunzip *o, uint64_t *size,
    struct dray_err *e)
{
	struct build_gunzip bounded = *o;
	uint8_t sum[32] = { 0 };
	char hex[65];

	bounded.max = most(w->kind);
	if ((w->kind == 't' ? plain_fd : build_gunzip_fd)(fd, &bounded, s->h, sum, size, e) != 0)
		return -1;
	if (memcmp(sum, w->sha256, 32) == 0)
		return 0;
	return dray_fail(e, DRAY_E_FORMAT, "does not hash to its name but to %s", dray_hex(sum, 32, hex));
}

static void
name_path(const struct build_fbsd_want *w, struct dray_err *e)
{
	char path[300];

	if (w->path != NULL)
		dray_wrap(e, "%s of %s", dray_quote(w->path, w->path_len, path, sizeof(path)), w->dir);
}

int
build_fbsd_lacks(const struct build_fbsd_server *s, const struct build_fbsd_want *w, bool patches, struct dray_err *e)
{
	char url[300], path[400];

	path_of(w, path);
	dray_fail(e, DRAY_E_IO, "the server has no %s%s", build_fetch_url(s->fetch, path, url, sizeof(url)),
	    patches ? ", nor a patch that makes it" : "");
	name_path(w, e);
	return dray_hint(e, "it must be there; a mirror may be incomplete: try another --server");
}

static int
tell_wrong(const struct pulling *p, const struct build_fbsd_flight *f, struct dray_err *e)
{
	char url[300];

	dray_wrap(e, "%s", build_fetch_url(p->s->fetch, f->g.path, url, sizeof(url)));
	name_path(&p->v[f->g.key], e);
	return dray_hint(e, "the server holds something else than it says: nothing was made of it");
}

static int
take_flight(struct pulling *p, size_t i, struct build_get **g, struct dray_err *e)
{
	struct build_fbsd_flight *f = build_fbsd_flight_take(&p->flights, i, most(p->v[i].kind), e);

	if (f == NULL)
		return -1;
	path_of(&p->v[i], f->g.path);
	*g = &f->g;
	return 1;
}

static int
next_one(void *ctx, struct build_get **g, struct dray_err *e)
{
	struct pulling *p = ctx;
	char name[100];

	for (; p->next < p->n; p->next++) {
		build_fbsd_name(p->v[p->next].kind, p->v[p->next].sha256, name);
		if (p->state != NULL && p->state[p->next] != BUILD_FBSD_ASK)
			continue;
		if (!build_fbsd_store_has(p->s->store, name))
			return take_flight(p, p->next++, g, e);
	}
	return 0;
}

static int
arrived(struct pulling *p, struct build_fbsd_flight *f, struct dray_err *e)
{
	const struct build_gunzip nobody = { .put = NULL };
	const struct build_fbsd_want *w = &p->v[f->g.key];
	uint64_t size;
	char name[100];

	if (judge(p->s, w, f->file.fd, &nobody, &size, e) == 0) {
		build_fbsd_name(w->kind, w->sha256, name);
		p->fetched++;
		return build_fbsd_store_keep(p->s->store, &f->file, name, e);
	}
	/* once may be the way; twice is the server */
	if (e->code == DRAY_E_FORMAT && f->g.spoilt++ == 0) {
		dray_err_clear(e);
		return 1;
	}
	return e->code == DRAY_E_FORMAT ? tell_wrong(p, f, e) : -1;
}

static int
done_one(void *ctx, struct build_get *g, enum build_got got, const struct dray_err *why, struct dray_err *e)
{
	struct pulling *p = ctx;
	struct build_fbsd_flight *f = build_fbsd_flight_of(g);
	int rc = -1;

	if (got == BUILD_GOT_ALL) {
		if ((rc = arrived(p, f, e)) == 1)
			return 1;
	} else if (got == BUILD_GOT_ERROR) {
		*e = *why;
	} else if (p->state != NULL) {
		p->state[g->key] = BUILD_FBSD_LACKING;
		rc = 0;
	} else {
		rc = build_fbsd_lacks(p->s, &p->v[g->key], false, e);
	}
	build_fbsd_flight_end(&p->flights, f);
	return rc;
}

int
build_fbsd_pull(struct build_fbsd_server *s, const struct build_fbsd_want *v, size_t n, enum build_fbsd_state *state,
    size_t *n_fetched, struct dray_err *e)
{
	struct pulling p = { .s = s, .v = v, .n = n, .state = state, .flights = { .store = s->store } };
	const struct build_fetch_flow flow = { next_one, done_one, &p };
	int rc = build_fetch_run(s->fetch, &flow, e);

	build_fbsd_flights_free(&p.flights);
	*n_fetched += p.fetched;
	return rc;
}

int
build_fbsd_object(struct build_fbsd_server *s, const struct build_fbsd_want *w, const struct build_gunzip *o,
    uint64_t *size, struct dray_err *e)
{
	char name[100];
	size_t n = 0;

	build_fbsd_name(w->kind, w->sha256, name);
	for (unsigned turn = 0;; turn++) {
		int fd, rc;

		if (build_fbsd_pull(s, w, 1, NULL, &n, e) != 0)
			return -1;
		if ((fd = build_fbsd_store_object(s->store, name)) == -1)
			return dray_fail_errno(e, "%s/%s", build_fbsd_store_path(s->store), name);
		rc = judge(s, w, fd, o, size, e);
		close(fd);
		if (rc == 0 || e->code != DRAY_E_FORMAT || turn == 1)
			return rc == 0 ? 0 : dray_wrap(e, "%s/%s", build_fbsd_store_path(s->store), name);
		/* a copy that was damaged since: fetch it again */
		dray_err_clear(e);
		build_fbsd_store_drop(s->store, name);
	}
}

struct plain {
	struct build_get g;
	bool given, there;
};

static int
next_plain(void *ctx, struct build_get **g, struct dray_err *e)
{
	struct plain *p = ctx;

	(void)e;
	*g = &p->g;
	if (p->given)
		return 0;
	p->given = true;
	return 1;
}

static int
done_plain(void *ctx, struct build_get *g, enum build_got got, const struct dray_err *why, struct dray_err *e)
{
	struct plain *p = ctx;

	(void)g;
	p->there = got == BUILD_GOT_ALL;
	if (got != BUILD_GOT_ERROR)
		return 0;
	*e = *why;
	return -1;
}

int
build_fbsd_plain(struct build_fbsd_server *s, const char *path, uint64_t max, int fd, bool *there, struct dray_err *e)
{
	struct plain p = { .g = { .max = max, .fd = fd } };
	const struct build_fetch_flow flow = { next_plain, done_plain, &p };

	assert(strlen(path) < sizeof(p.g.path));
	snprintf(p.g.path, sizeof(p.g.path), "%s", path);
	if (build_fetch_run(s->fetch, &flow, e) != 0)
		return -1;
	*there = p.there;
	return 0;
}
