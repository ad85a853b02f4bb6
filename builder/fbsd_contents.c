/*
 * fbsd_contents.c - contents of a release: those that a build needs from what is here, from the store or from the server
 * into the spool.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/arena.h"
#include "builder/fbsd_bring.h"
#include "builder/fbsd_contents.h"
#include "builder/fbsd_have.h"
#include "builder/spool.h"
#include "dray/meter.h"
#include "tool/tool.h"

struct held {			/* a content in the spool */
	uint8_t sha256[32];
	uint64_t at, size;
};

static int
want_cmp(const void *pa, const void *pb)
{
	const struct build_fbsd_want *a = pa, *b = pb;

	return memcmp(a->sha256, b->sha256, 32);
}

static int
held_cmp(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;

	return memcmp(a->sha256, b->sha256, 32);
}

/* in the order of hashes, each once; how many are left */
static size_t
put_in_order(struct build_fbsd_want *v, size_t n)
{
	size_t at = 0;

	if (n > 1)
		qsort(v, n, sizeof(*v), want_cmp);
	for (size_t i = 0; i < n; i++)
		if (at == 0 || want_cmp(&v[at - 1], &v[i]) != 0)
			v[at++] = v[i];
	return at;
}

int
build_fbsd_contents(const struct dray_fbsd_lines *l, const char *dir, struct build_fbsd_want **out, size_t *n,
    struct dray_err *e)
{
	struct build_fbsd_want *v = calloc(l->n + 1, sizeof(*v));
	size_t all = 0;

	*out = NULL;
	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].type != 'f')
			continue;
		v[all] = (struct build_fbsd_want){ .dir = dir, .kind = 'f', .path = l->v[i].path, .path_len = l->v[i].path_len };
		memcpy(v[all++].sha256, l->v[i].sha256, 32);
	}
	*n = put_in_order(v, all);
	*out = v;
	return 0;
}

/* those that a build needs; no bytes are known without asking */
static int
needed_contents(const struct build_release *r, const char *dir, struct build_fbsd_want **out, size_t *n, struct dray_err *e)
{
	struct build_fbsd_want *v = calloc(r->n + 1, sizeof(*v));
	size_t all = 0;

	*out = NULL;
	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < r->n; i++) {
		const struct build_node *nd = &r->v[i];

		if (nd->type != DRAY_FILE || !nd->needed || nd->size == 0)
			continue;
		v[all] = (struct build_fbsd_want){ .dir = dir, .kind = 'f', .path = nd->path, .path_len = nd->len };
		memcpy(v[all++].sha256, nd->sha256, 32);
	}
	*n = put_in_order(v, all);
	*out = v;
	return 0;
}

static void
tell(struct build_fbsd_source *s)
{
	if (s->o != NULL && s->o->progress != NULL)
		s->o->progress(s->o->ctx, &(struct dray_progress){ .done = s->fetched + s->spooled });
}

void
build_fbsd_came(void *ctx, uint64_t n)
{
	struct build_fbsd_source *s = ctx;

	s->fetched += n;
	tell(s);
}

static int
spool_begin(void *ctx, struct dray_err *e)
{
	struct build_fbsd_source *s = ctx;

	s->put = 0;
	return build_spool_begin(s->spool, e);
}

static int
spool_put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct build_fbsd_source *s = ctx;

	if (build_spool_put(s->spool, s->put, p, len, e) != 0)
		return -1;
	s->put += len;
	s->spooled += len;
	tell(s);
	return 0;
}

static int
spool_all(struct build_fbsd_source *s, const struct build_fbsd_want *v, size_t n, struct held *held, struct dray_err *e)
{
	const struct build_gunzip o = { .begin = spool_begin, .put = spool_put, .ctx = s };
	uint8_t sum[32];

	for (size_t i = 0; i < n; i++) {
		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted by a signal");
		memcpy(held[i].sha256, v[i].sha256, 32);
		if (build_fbsd_object(&s->server, &v[i], &o, &held[i].size, e) != 0 ||
		    build_spool_end(s->spool, held[i].size, sum, &held[i].at, e) != 0)
			return -1;
	}
	return 0;
}

/* only sources are read here that are needed */
static int
take_what_is_here(struct build_fbsd_source *s, const struct build_fbsd_want *v, size_t n, struct dray_err *e)
{
	const struct build_scan_opts o = { .threads = s->o->threads, .spool_dir = s->o->spool_dir };
	size_t missing = 0;
	char name[100];

	for (size_t i = 0; i < n; i++) {
		build_fbsd_name(v[i].kind, v[i].sha256, name);
		missing += !build_fbsd_store_has(s->server.store, name);
	}
	for (size_t i = 0; missing > 0 && i < s->fo->have.n; i++)
		if (build_fbsd_have(&s->server, s->fo->have.v[i], v, n, &o, e) != 0)
			return dray_wrap(e, "--have");
	return 0;
}

/* a patch of no use costs nothing but its bytes: a word, and the content comes whole */
static int
note_wrong(void *ctx, const struct build_fbsd_pair *p, const char *why, struct dray_err *e)
{
	struct build_release *r = ctx;
	struct build_notice n = { .path = build_arena_copy(&r->arenas[0], p->path, p->path_len), .len = p->path_len };
	char text[sizeof(e->text) + 40];

	snprintf(text, sizeof(text), "a patch of no use: %s", why);
	n.why = build_arena_copy(&r->arenas[0], text, strlen(text));
	return n.path == NULL || n.why == NULL ? dray_fail(e, DRAY_E_IO, "out of memory") : build_release_note(r, &n, e);
}

/* of all releases of the build that come from the same server, one may have contents that the server's patches start from */
static int
find_pairs(const struct build_fbsd_source *s, struct build_fbsd_pairs *pairs, struct dray_err *e)
{
	struct build_fbsd_meta **from = calloc(s->o->n_beside + 1, sizeof(struct build_fbsd_meta *));
	size_t n = 0;
	int rc;

	if (from == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < s->o->n_beside; i++)
		if (s->o->beside[i]->open == build_fbsd_content)
			from[n++] = ((const struct build_fbsd_source *)s->o->beside[i]->source)->meta;
	rc = build_fbsd_pairs_of(pairs, s->meta, from, n, &s->fo->parts, e);
	free(from);
	return rc;
}

static int
bring(struct build_fbsd_source *s, struct build_release *r, const struct build_fbsd_want *v, size_t n, struct dray_err *e)
{
	const struct build_fbsd_patch_opts wrong = { .wrong = note_wrong, .ctx = r };
	struct build_fbsd_pairs pairs = { .v = NULL };
	struct build_fbsd_brought got = { .fetched = 0 };
	int rc = find_pairs(s, &pairs, e);

	if (rc == 0)
		rc = build_fbsd_bring(&s->server, s->meta, v, n, &pairs, &wrong, &got, e);
	build_fbsd_pairs_free(&pairs);
	build_notices_sort(r);
	r->came = (struct build_came){ s->fetched, got.fetched, got.patched.n, got.patched.bytes };
	return rc;
}

static int
fetch_into(struct build_fbsd_source *s, struct build_release *r, struct build_fbsd_want *v, size_t n, struct dray_err *e)
{
	struct held *held = calloc(n + 1, sizeof(*held));
	int rc;

	if (held == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rc = take_what_is_here(s, v, n, e);
	if (rc == 0)
		rc = bring(s, r, v, n, e);
	if (rc == 0)
		rc = spool_all(s, v, n, held, e);
	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		struct held key = { .size = 0 };
		const struct held *h;

		if (r->v[i].type != DRAY_FILE || !r->v[i].needed)
			continue;
		memcpy(key.sha256, r->v[i].sha256, 32);
		if ((h = bsearch(&key, held, n, sizeof(key), held_cmp)) == NULL)
			continue;	/* no bytes */
		r->v[i].size = h->size;
		r->v[i].at = h->at;
	}
	free(held);
	return rc;
}

int
build_fbsd_fetch(struct build_release *r, const struct build_scan_opts *o, struct dray_err *e)
{
	struct build_fbsd_source *s = r->source;
	struct build_fbsd_want *v = NULL;
	size_t n = 0;
	int rc;

	s->o = o;
	rc = build_spool_new(o->spool_dir == NULL ? "." : o->spool_dir, &s->spool, e);
	if (rc == 0)
		rc = needed_contents(r, s->meta->dir, &v, &n, e);
	if (rc == 0)
		rc = fetch_into(s, r, v, n, e);
	free(v);
	s->o = NULL;
	return rc;
}

int
build_fbsd_content(const struct build_release *r, const struct build_node *nd, struct build_reader *out, struct dray_err *e)
{
	const struct build_fbsd_source *s = r->source;

	if (s->spool == NULL || !nd->needed)
		return dray_fail(e, DRAY_E_IO, "its content was not fetched");
	*out = (struct build_reader){ .fd = build_spool_fd(s->spool), .at = nd->at, .len = nd->size };
	return 0;
}
