/*
 * fbsd_source.c - from checked lines and fetched contents to a release.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/fbsd_have.h"
#include "builder/fbsd_nodes.h"
#include "builder/fbsd_source.h"
#include "builder/pathset.h"
#include "builder/spool.h"
#include "dray/num.h"
#include "dray/path.h"
#include "tool/tool.h"

#define SPEC "freebsd-update:"

struct loading {
	struct build_fbsd_server server;
	struct build_fbsd_meta *meta;
	struct build_fbsd_lines lines;
	const struct build_scan_opts *o;
	const struct build_fbsd_opts *fo;
	struct build_release *r;
	struct build_spool *spool;
	struct build_fbsd_held *held;
	size_t n_held;
	uint64_t fetched, spooled;	/* bytes */
	uint64_t put;			/* of the content that is being put */
};

/* what a release keeps: texts of the nodes point into the metadata */
struct source {
	struct build_fbsd_meta *meta;
	struct build_spool *spool;
};

bool
build_fbsd_is(const char *spec)
{
	return strncmp(spec, SPEC, strlen(SPEC)) == 0;
}

int
build_fbsd_spec(const char *spec, char release[65], char arch[33], struct dray_err *e)
{
	const char *p = build_fbsd_is(spec) ? spec + strlen(SPEC) : "", *slash = strchr(p, '/');

	if (slash != NULL && slash - p < 65 && strlen(slash + 1) < 33) {
		snprintf(release, 65, "%.*s", (int)(slash - p), p);
		snprintf(arch, 33, "%s", slash + 1);
		if (dray_fbsd_release_ok(release) && dray_fbsd_release_ok(arch))
			return 0;
	}
	dray_fail(e, DRAY_E_USAGE, "no release and architecture");
	return dray_hint(e, "write freebsd-update:RELEASE/ARCH, such as freebsd-update:14.0-RELEASE/amd64");
}

uint64_t
build_fbsd_counter(const char *release, uint32_t patch)
{
	unsigned major, minor;
	int end = 0;

	if (sscanf(release, "%4u.%3u%n", &major, &minor, &end) != 2 || (release[end] != '-' && release[end] != '\0') ||
	    patch > 99999)
		return 0;
	return ((uint64_t)major * 1000 + minor) * 100000 + patch;
}

int
build_fbsd_server_open(const struct build_fbsd_opts *o, void (*progress)(void *, uint64_t), void *ctx,
    struct build_fbsd_server *s, struct dray_err *e)
{
	const char *print = o->keyprint != NULL ? o->keyprint : dray_fbsd_keyprint;
	const struct build_fetch_opts fo = { .server = o->server != NULL ? o->server : "update.FreeBSD.org",
		.parallel = (unsigned)o->parallel, .stop = tool_signal_seen, .progress = progress, .ctx = ctx };

	*s = (struct build_fbsd_server){ .fetch = NULL };
	if (!dray_unhex(print, strlen(print), s->keyprint, sizeof(s->keyprint))) {
		dray_fail(e, DRAY_E_USAGE, "the keyprint is not 64 hexadecimal digits in lower case");
		return dray_hint(e, "it is the SHA-256 of the server's pub.ssl; KeyPrint in freebsd-update.conf");
	}
	return dray_sha256_new(&s->h, e) != 0 || build_fbsd_store_open(o->store, &s->store, e) != 0 ||
	    build_fetch_open(&fo, &s->fetch, e) != 0 ? -1 : 0;
}

void
build_fbsd_server_close(struct build_fbsd_server *s)
{
	build_fetch_close(s->fetch);
	build_fbsd_store_close(s->store);
	dray_sha256_free(s->h);
	*s = (struct build_fbsd_server){ .fetch = NULL };
}

static int
want_cmp(const void *pa, const void *pb)
{
	const struct build_fbsd_want *a = pa, *b = pb;

	return memcmp(a->sha256, b->sha256, 32);
}

int
build_fbsd_contents(const struct build_fbsd_lines *l, const char *dir, struct build_fbsd_want **out, size_t *n,
    struct dray_err *e)
{
	struct build_fbsd_want *v = calloc(l->n + 1, sizeof(*v));
	size_t all = 0, at = 0;

	*out = NULL;
	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].type != 'f')
			continue;
		v[all] = (struct build_fbsd_want){ .dir = dir, .kind = 'f', .path = l->v[i].path, .path_len = l->v[i].path_len };
		memcpy(v[all++].sha256, l->v[i].sha256, 32);
	}
	if (all > 1)
		qsort(v, all, sizeof(*v), want_cmp);
	for (size_t i = 0; i < all; i++)
		if (at == 0 || want_cmp(&v[at - 1], &v[i]) != 0)
			v[at++] = v[i];
	*out = v;
	*n = at;
	return 0;
}

static void
bytes_came(void *ctx, uint64_t n)
{
	struct loading *l = ctx;

	l->fetched += n;
	if (l->o->progress != NULL)
		l->o->progress(l->o->ctx, l->fetched + l->spooled, 0);
}

static int
spool_begin(void *ctx, struct dray_err *e)
{
	struct loading *l = ctx;

	l->put = 0;
	return build_spool_begin(l->spool, e);
}

static int
spool_put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct loading *l = ctx;

	if (build_spool_put(l->spool, l->put, p, len, e) != 0)
		return -1;
	l->put += len;
	l->spooled += len;
	if (l->o->progress != NULL)
		l->o->progress(l->o->ctx, l->fetched + l->spooled, 0);
	return 0;
}

static int
spool_all(struct loading *l, const struct build_fbsd_want *v, size_t n, struct dray_err *e)
{
	const struct build_gunzip o = { .begin = spool_begin, .put = spool_put, .ctx = l };
	uint8_t sum[32];
	uint64_t size;

	if ((l->held = calloc(n + 1, sizeof(*l->held))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++) {
		struct build_fbsd_held *h = &l->held[l->n_held];

		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted by a signal");
		memcpy(h->sha256, v[i].sha256, 32);
		if (build_fbsd_object(&l->server, &v[i], &o, &size, e) != 0 ||
		    build_spool_end(l->spool, size, sum, &h->at, e) != 0)
			return -1;
		h->size = size;
		l->n_held++;
	}
	return 0;
}

/* only sources are read here that are needed */
static int
take_what_is_here(struct loading *l, const struct build_fbsd_want *v, size_t n, struct dray_err *e)
{
	const struct build_scan_opts o = { .threads = l->o->threads, .spool_dir = l->o->spool_dir };
	size_t missing = 0;
	char name[100];

	for (size_t i = 0; i < n; i++) {
		build_fbsd_name(v[i].kind, v[i].sha256, name);
		missing += !build_fbsd_store_has(l->server.store, name);
	}
	for (size_t i = 0; missing > 0 && i < l->fo->have.n; i++)
		if (build_fbsd_have(&l->server, l->fo->have.v[i], v, n, &o, e) != 0)
			return dray_wrap(e, "--have");
	return 0;
}

static int
get_contents(struct loading *l, struct dray_err *e)
{
	struct build_fbsd_want *v = NULL;
	size_t n = 0, fetched;
	int rc;

	if (build_fbsd_contents(&l->lines, l->meta->dir, &v, &n, e) != 0)
		return -1;
	rc = take_what_is_here(l, v, n, e);
	if (rc == 0)
		rc = build_fbsd_pull(&l->server, v, n, &fetched, e);
	if (rc == 0)
		rc = spool_all(l, v, n, e);
	free(v);
	return rc;
}

/* what the user's rules leave out, and what lies beneath; in path order */
static int
filter_lines(struct loading *l, struct dray_err *e)
{
	struct dray_fbsd_line cut = { .path = NULL };
	size_t n = 0;

	for (size_t i = 0; i < l->lines.n; i++) {
		const struct dray_fbsd_line *at = &l->lines.v[i];
		struct build_notice why = { .path = NULL };
		enum build_fate fate;

		if (cut.path != NULL && at->path_len > cut.path_len &&
		    dray_path_under(at->path, at->path_len, cut.path, cut.path_len))
			continue;
		fate = build_filter_path(l->o->filter, at->path, at->path_len, at->type == 'd', &why);
		if (fate != BUILD_PACK) {
			cut = *at;
			why.len = at->path_len;
			if ((why.path = build_arena_copy(&l->r->arenas[0], at->path, at->path_len)) == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			if (build_release_note(l->r, &why, e) != 0)
				return -1;
		}
		if (fate != BUILD_LEAVE_OUT)
			l->lines.v[n++] = *at;
	}
	l->lines.n = n;
	return 0;
}

static int
open_content(const struct build_release *r, const struct build_node *nd, struct build_reader *out, struct dray_err *e)
{
	const struct source *s = r->source;

	(void)e;
	*out = (struct build_reader){ .fd = build_spool_fd(s->spool), .at = nd->at, .len = nd->size };
	return 0;
}

static void
close_source(struct build_release *r)
{
	struct source *s = r->source;

	if (s == NULL)
		return;
	build_spool_free(s->spool);
	build_fbsd_meta_free(s->meta);
	free(s);
	r->source = NULL;
}

static int
set_facts(struct loading *l, struct dray_err *e)
{
	struct build_facts *f = build_arena_take(&l->r->arenas[0], sizeof(*f));

	if (f == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*f = (struct build_facts){ .counter = build_fbsd_counter(l->meta->release, l->meta->tag.patch) };
	/* what no clock will ever show is no date */
	if (l->meta->tag.eol > 0 && (uint64_t)l->meta->tag.eol <= DRAY_EOL_MAX)
		f->eol = (uint64_t)l->meta->tag.eol;
	snprintf(f->product, sizeof(f->product), "FreeBSD-%s", l->meta->arch);
	if (l->meta->tag.patch == 0)
		snprintf(f->version, sizeof(f->version), "%s", l->meta->release);
	else
		snprintf(f->version, sizeof(f->version), "%.50s-p%u", l->meta->release, (unsigned)l->meta->tag.patch);
	l->r->facts = f;
	return 0;
}

static int
load(struct loading *l, const struct build_fbsd_opts *fo, const char *spec, bool history, struct dray_err *e)
{
	const bool wanted[BUILD_FBSD_FILES] = { [BUILD_FBSD_ALL] = true, [BUILD_FBSD_OLD] = history };
	char release[65], arch[33];

	if (build_fbsd_spec(spec, release, arch, e) != 0 ||
	    build_fbsd_server_open(fo, bytes_came, l, &l->server, e) != 0 ||
	    build_fbsd_meta_get(&l->server, release, arch, wanted, &l->meta, e) != 0 ||
	    build_fbsd_lines_add(&l->lines, l->meta, BUILD_FBSD_ALL, &fo->parts, e) != 0 ||
	    (history && build_fbsd_lines_add(&l->lines, l->meta, BUILD_FBSD_OLD, &fo->parts, e) != 0))
		return -1;
	build_fbsd_lines_sort(&l->lines);
	if (l->o->filter != NULL && filter_lines(l, e) != 0)
		return -1;
	if (build_spool_new(l->o->spool_dir == NULL ? "." : l->o->spool_dir, &l->spool, e) != 0)
		return -1;
	return get_contents(l, e) != 0 || build_fbsd_nodes(l->r, &l->lines, l->held, l->n_held,
	    fo->os != NULL ? fo->os : "freebsd", history, e) != 0 ? -1 :
	    set_facts(l, e);
}

int
build_fbsd_load(const char *spec, const struct build_fbsd_opts *fo, bool history, const struct build_scan_opts *o,
    struct build_release *r, struct dray_err *e)
{
	struct loading l = { .o = o, .fo = fo, .r = r };
	struct source *s = calloc(1, sizeof(*s));
	int rc = s == NULL ? dray_fail(e, DRAY_E_IO, "out of memory") : load(&l, fo, spec, history, e);

	build_fbsd_server_close(&l.server);
	build_fbsd_lines_free(&l.lines);
	free(l.held);
	if (s == NULL)
		return -1;
	*s = (struct source){ l.meta, l.spool };
	r->history = history;
	r->open = open_content;
	r->close = close_source;
	r->source = s;
	return rc;
}
