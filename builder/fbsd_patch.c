/*
 * fbsd_patch.c - patches asked for, many at once, applied, and the result compared with its name.
 */
#include <sys/stat.h>

#include <string.h>
#include <unistd.h>

#include "builder/bspatch.h"
#include "builder/fbsd_flight.h"
#include "builder/fbsd_patch.h"
#include "builder/temp.h"
#include "dray/num.h"

#define MISSES_MOST 16u		/* more misses than hits: the server makes no such patches. Asking costs some KB each */

struct patching {
	struct build_fbsd_server *s;
	const struct build_fbsd_meta *m;
	const struct build_fbsd_pairs *pairs;
	const struct build_fbsd_patch_opts *o;
	struct build_fbsd_patched *done;
	size_t next;
	const struct build_fbsd_pair *last;	/* that was asked for */
	size_t hits[2], misses[2];	/* within the release, across releases */
	bool silent;			/* the server did not answer as one should; whoever needs more will hear it */
	struct build_fbsd_flights flights;
};

static bool
has(const struct patching *p, const uint8_t sha256[32])
{
	char name[100];

	build_fbsd_name('f', sha256, name);
	return build_fbsd_store_has(p->s->store, name);
}

static bool
worth_asking(const struct patching *p, const struct build_fbsd_pair *x)
{
	if (p->silent || (p->o->limited && p->misses[x->cross] > p->hits[x->cross] + MISSES_MOST))
		return false;
	if (p->o->sparing && (x->chance != BUILD_FBSD_LIKELY || (p->last != NULL && memcmp(p->last->to, x->to, 32) == 0)))
		return false;
	return has(p, x->from) && has(p, x->to) == (p->o->keep != NULL);
}

static int
next_one(void *ctx, struct build_get **g, struct dray_err *e)
{
	struct patching *p = ctx;
	struct build_fbsd_flight *f;

	while (p->next < p->pairs->n && !worth_asking(p, &p->pairs->v[p->next]))
		p->next++;
	if (p->next == p->pairs->n)
		return 0;
	if ((f = build_fbsd_flight_take(&p->flights, p->next, BUILD_FBSD_CONTENT_MAX, e)) == NULL)
		return -1;
	p->last = &p->pairs->v[p->next++];
	build_fbsd_pair_path(p->last, p->m, f->g.path);
	*g = &f->g;
	return 1;
}

struct plain {			/* a content of the store, inflated */
	struct build_fbsd_new file;
	uint64_t len;
};

static int
put_plain(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct plain *old = ctx;

	if (build_temp_write(old->file.fd, old->len, p, len, e) != 0)
		return -1;
	old->len += len;
	return 0;
}

static int
inflate_old(const struct patching *p, const struct build_fbsd_pair *x, struct plain *old, struct dray_err *e)
{
	const struct build_gunzip o = { .max = BUILD_FBSD_CONTENT_MAX, .put = put_plain, .ctx = old };
	uint8_t sum[32];
	uint64_t size;
	char name[100];
	int fd, rc;

	build_fbsd_name('f', x->from, name);
	if ((fd = build_fbsd_store_object(p->s->store, name)) == -1)
		return dray_fail_errno(e, "%s/%s", build_fbsd_store_path(p->s->store), name);
	rc = build_gunzip_fd(fd, &o, p->s->h, sum, &size, e);
	close(fd);
	if (rc != 0)
		return -1;
	return memcmp(sum, x->from, 32) == 0 ? 0 : dray_fail(e, DRAY_E_FORMAT, "the old content is damaged");
}

struct making {
	struct dray_sha256 *h;
	const struct build_fbsd_pair *pair;
	struct build_bspatch patch;
	struct build_gzip *gzip;	/* where it goes, or NULL */
};

static int
put_new(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	const struct making *m = ctx;

	return dray_sha256_add(m->h, p, len, e) != 0 || (m->gzip != NULL && build_gzip_put(m->gzip, p, len, e) != 0) ? -1 : 0;
}

/* the new content, which must be what its name says */
static int
make_new(void *ctx, struct build_gzip *g, struct dray_err *e)
{
	struct making *m = ctx;
	uint8_t sum[32];
	char hex[65];

	m->gzip = g;
	m->patch.put = put_new;
	m->patch.ctx = m;
	if (dray_sha256_begin(m->h, e) != 0 || build_bspatch(&m->patch, e) != 0 || dray_sha256_end(m->h, sum, e) != 0)
		return -1;
	return memcmp(sum, m->pair->to, 32) == 0 ? 0 :
	    dray_fail(e, DRAY_E_FORMAT, "what it makes hashes to %s", dray_hex(sum, 32, hex));
}

static int
use(struct patching *p, const struct build_fbsd_pair *x, int fd, struct dray_err *e)
{
	struct making m = { .h = p->s->h, .pair = x, .patch = { .fd = fd, .max = BUILD_FBSD_CONTENT_MAX } };
	struct plain old = { .len = 0 };
	char name[100];
	int rc;

	if (build_fbsd_store_new(p->s->store, &old.file, e) != 0)
		return -1;
	rc = inflate_old(p, x, &old, e);
	m.patch.old = (struct build_reader){ .fd = old.file.fd, .len = old.len };
	build_fbsd_name('f', x->to, name);
	if (rc == 0)
		rc = p->o->keep != NULL ? make_new(&m, NULL, e) : build_fbsd_store_deflate(p->s->store, name, make_new, &m, e);
	build_fbsd_store_forget(p->s->store, &old.file);
	return rc;
}

/* a patch that is of no use */
static int
refuse(const struct patching *p, const struct build_get *g, struct dray_err *e)
{
	char url[300];

	build_fetch_url(p->s->fetch, g->path, url, sizeof(url));
	dray_wrap(e, "%s", url);
	if (p->o->wrong != NULL && p->o->wrong(p->o->ctx, &p->pairs->v[g->key], e->text, e) != 0)
		return -1;
	dray_err_clear(e);
	return 0;
}

static int
arrived(struct patching *p, const struct build_get *g, struct dray_err *e)
{
	const struct build_fbsd_pair *x = &p->pairs->v[g->key];
	struct stat st;

	/* by another patch, meanwhile */
	if (p->o->keep == NULL && has(p, x->to))
		return 0;
	if (use(p, x, g->fd, e) != 0) {
		p->misses[x->cross]++;
		return e->code == DRAY_E_FORMAT ? refuse(p, g, e) : -1;
	}
	p->hits[x->cross]++;
	if (fstat(g->fd, &st) != 0)
		return dray_fail_errno(e, "cannot be read");
	p->done->n++;
	p->done->bytes += (uint64_t)st.st_size;
	return p->o->keep != NULL ? p->o->keep(p->o->ctx, x, g->fd, e) : 0;
}

static int
done_one(void *ctx, struct build_get *g, enum build_got got, const struct dray_err *why, struct dray_err *e)
{
	struct patching *p = ctx;
	int rc = 0;

	if (got == BUILD_GOT_ALL) {
		rc = arrived(p, g, e);
	} else if (got == BUILD_GOT_NONE) {
		p->misses[p->pairs->v[g->key].cross]++;
	} else if (why->code == DRAY_E_ROOM || why->code == DRAY_E_SIGNAL) {
		*e = *why;
		rc = -1;
	} else {
		p->silent = true;
	}
	build_fbsd_flight_end(&p->flights, build_fbsd_flight_of(g));
	return rc;
}

int
build_fbsd_patch(struct build_fbsd_server *s, const struct build_fbsd_meta *m, const struct build_fbsd_pairs *pairs,
    const struct build_fbsd_patch_opts *o, struct build_fbsd_patched *done, struct dray_err *e)
{
	struct patching p = { .s = s, .m = m, .pairs = pairs, .o = o, .done = done, .flights = { .store = s->store } };
	const struct build_fetch_flow flow = { next_one, done_one, &p };
	int rc = build_fetch_run(s->fetch, &flow, e);

	build_fbsd_flights_free(&p.flights);
	return rc;
}
