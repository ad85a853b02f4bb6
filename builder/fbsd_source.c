/*
 * fbsd_source.c - from checked lines and fetched contents to a release.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/arena.h"
#include "builder/fbsd_contents.h"
#include "builder/fbsd_nodes.h"
#include "builder/fbsd_source.h"
#include "builder/pathset.h"
#include "builder/spool.h"
#include "dray/path.h"
#include "tool/look.h"
#include "tool/tool.h"

#define SPEC "freebsd-update:"

struct loading {
	struct build_fbsd_source *from;
	struct dray_fbsd_lines lines;
	const struct build_scan_opts *o;
	struct build_release *r;
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
	return tool_keyprint(print, s->keyprint, e) != 0 || dray_sha256_new(&s->h, e) != 0 || build_fbsd_store_open(o->store, &s->store, e) != 0 ||
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

/* what was left out, as a reader of the bundle is told */
static int
tell_left_out(struct build_fbsd_text *t, const struct build_notice *n, enum build_fate fate, struct dray_err *e)
{
	const char *const part[] = { fate == BUILD_HOLLOW ? "beneath|" : "all|", n->path, "|", n->why, "\n" };

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		if (build_fbsd_text_put(t, (const uint8_t *)part[i], strlen(part[i]), e) != 0)
			return -1;
	return 0;
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
		if (fate != BUILD_PACK && (cut.path == NULL || dray_path_cmp(at->path, at->path_len, cut.path, cut.path_len) != 0)) {
			cut = *at;
			why.len = at->path_len;
			if ((why.path = build_arena_copy(&l->r->arenas[0], at->path, at->path_len)) == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			if (build_release_note(l->r, &why, e) != 0 || tell_left_out(&l->from->left_out, &why, fate, e) != 0)
				return -1;
		}
		if (fate != BUILD_LEAVE_OUT)
			l->lines.v[n++] = *at;
	}
	l->lines.n = n;
	return 0;
}

static int
set_facts(struct build_release *r, const struct build_fbsd_meta *m, struct dray_err *e)
{
	struct build_facts *f = build_arena_take(&r->arenas[0], sizeof(*f));

	if (f == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*f = (struct build_facts){ .counter = build_fbsd_counter(m->release, m->tag.patch) };
	/* what no clock will ever show is no date */
	if (m->tag.eol > 0 && (uint64_t)m->tag.eol <= DRAY_EOL_MAX)
		f->eol = (uint64_t)m->tag.eol;
	snprintf(f->product, sizeof(f->product), "FreeBSD-%s", m->arch);
	if (m->tag.patch == 0)
		snprintf(f->version, sizeof(f->version), "%s", m->release);
	else
		snprintf(f->version, sizeof(f->version), "%.50s-p%u", m->release, (unsigned)m->tag.patch);
	r->facts = f;
	return 0;
}

/*
 * What an update took away is a former state, and that it is not there is one too: lists have a line "-" only of paths that came
 * later. A machine of a later patch level that lacks such a path has not deleted it. @n_now: lines of INDEX-ALL, in order
 */
static int
add_gone(struct dray_fbsd_lines *l, size_t n_now, struct dray_err *e)
{
	for (size_t i = n_now, k = 0, n = l->n; i < n; i++) {
		const struct dray_fbsd_line at = l->v[i];
		struct dray_fbsd_line *v;

		while (k < n_now && dray_path_cmp(l->v[k].path, l->v[k].path_len, at.path, at.path_len) < 0)
			k++;
		if (k < n_now && dray_path_cmp(l->v[k].path, l->v[k].path_len, at.path, at.path_len) == 0)
			continue;
		if ((v = build_grow(l->v, l->n, &l->cap, sizeof(*v))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		l->v = v;
		l->v[l->n++] = (struct dray_fbsd_line){ .component = at.component, .component_len = at.component_len, .sub = at.sub,
			.sub_len = at.sub_len, .path = at.path, .path_len = at.path_len, .type = '-' };
	}
	return 0;
}

static int
load(struct loading *l, const char *spec, bool history, struct dray_err *e)
{
	const bool wanted[BUILD_FBSD_FILES] = { [BUILD_FBSD_ALL] = true, [BUILD_FBSD_OLD] = history };
	struct build_fbsd_source *s = l->from;
	char release[65], arch[33];
	size_t n_now = 0;

	if (build_fbsd_spec(spec, release, arch, e) != 0 ||
	    build_fbsd_server_open(s->fo, build_fbsd_came, s, &s->server, e) != 0 ||
	    build_fbsd_meta_get(&s->server, release, arch, wanted, &s->meta, e) != 0)
		return -1;
	for (enum build_fbsd_file i = 0; i < BUILD_FBSD_FILES; i++) {
		const struct dray_fbsd_list list = build_fbsd_list(s->meta, i);

		if (wanted[i] && dray_fbsd_lines_add(&l->lines, &list, &s->fo->parts, e) != 0)
			return -1;
		if (i == BUILD_FBSD_ALL)
			n_now = l->lines.n;
	}
	if (history && add_gone(&l->lines, n_now, e) != 0)
		return -1;
	dray_fbsd_lines_sort(&l->lines);
	if (l->o->filter != NULL && filter_lines(l, e) != 0)
		return -1;
	return build_fbsd_nodes(l->r, &l->lines, s->fo->os != NULL ? s->fo->os : "freebsd", history, e) != 0 ? -1 :
	    set_facts(l->r, s->meta, e);
}

static void
close_source(struct build_release *r)
{
	struct build_fbsd_source *s = r->source;

	if (s == NULL)
		return;
	build_spool_free(s->spool);
	build_fbsd_server_close(&s->server);
	build_fbsd_meta_free(s->meta);
	free(s->left_out.p);
	free(s);
	r->source = NULL;
}

int
build_fbsd_load(const char *spec, const struct build_fbsd_opts *fo, bool history, const struct build_scan_opts *o,
    struct build_release *r, struct dray_err *e)
{
	struct build_fbsd_source *s = calloc(1, sizeof(*s));
	struct loading l = { .from = s, .o = o, .r = r };
	int rc;

	if (s == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*s = (struct build_fbsd_source){ .fo = fo, .o = o };
	r->history = history;
	r->open = build_fbsd_content;
	r->fetch = build_fbsd_fetch;
	r->close = close_source;
	r->source = s;
	rc = load(&l, spec, history, e);
	dray_fbsd_lines_free(&l.lines);
	s->o = NULL;
	return rc;
}
