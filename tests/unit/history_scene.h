/*
 * history_scene.h - trees of made-up files, joined to a history or not, and all that is planned from them before packing.
 */
#ifndef HISTORY_SCENE_H
#define HISTORY_SCENE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/history.h"
#include "builder/pack_plan.h"
#include "dray/digest.h"
#include "noise.h"

#define MOST 40

static int fds[MOST * 8];	/* contents of all releases of a scene */
static size_t n_fds, len = 20000;	/* len: of contents */
static char scratch[] = "/tmp/dray-test-XXXXXX";

static inline int
open_fake(const struct build_release *r, const struct build_node *nd, struct build_reader *out, struct dray_err *e)
{
	(void)r, (void)e;
	*out = (struct build_reader){ .fd = fds[nd->at], .len = nd->size };
	return 0;
}

static inline struct build_release *
release(const char *name)
{
	struct build_release *r;
	struct dray_err e;

	if (build_release_new(name, 1, &r, &e) != 0)
		abort();
	r->open = open_fake;
	return r;
}

static inline struct build_node *
node(struct build_release *r, const char *path, uint8_t type)
{
	struct build_node *nd = build_release_append(r);

	if (nd == NULL)
		abort();
	nd->path = path;
	nd->len = (uint32_t)strlen(path);
	nd->type = type;
	nd->has = DRAY_HAS_MODE;
	nd->mode = 0644;
	return nd;
}

/* version @v of the content that @seed stands for: each differs from the others in a few bytes */
static inline struct build_node *
file(struct build_release *r, const char *path, uint64_t seed, int v)
{
	struct build_node *nd = node(r, path, DRAY_FILE);
	uint8_t *p = noise(len, seed);
	struct dray_sha256 *h;
	char name[64];
	struct dray_err e;

	memset(p + len / 2, v, 16);
	snprintf(name, sizeof(name), "%s/content", scratch);
	nd->size = len;
	nd->at = n_fds;
	fds[n_fds] = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fds[n_fds] == -1 || unlink(name) != 0 || write(fds[n_fds], p, len) != (ssize_t)len ||
	    dray_sha256_new(&h, &e) != 0 || dray_sha256_once(h, p, len, nd->sha256, &e) != 0)
		abort();
	n_fds++;
	dray_sha256_free(h);
	free(p);
	return nd;
}

struct scene {
	struct build_release *to, *old[3];	/* old: sources of the history */
	struct build_release *exact;		/* one more base before it, or NULL */
	struct build_release *history;
	struct build_resolved *rs;
	struct pack_reader reader;
	struct build_bases b;
	struct pack_plan plan;
};

static inline void
begin(struct scene *s)
{
	*s = (struct scene){ .to = release("to") };
	for (size_t i = 0; i < 3; i++)
		s->old[i] = release("old");
	n_fds = 0;
}

/* the first @n of the old trees, if any, as one history; then all that is planned before packing */
static inline void
plan(struct scene *s, size_t n, bool slim)
{
	struct build_work o = { .threads = 2 };
	struct build_release *bases[2];
	struct dray_err e;
	size_t n_bases = 0;

	dray_err_clear(&e);
	for (size_t i = 0; i < 3; i++)
		if (build_release_sort(s->old[i], &e) != 0)
			abort();
	if (build_release_sort(s->to, &e) != 0)
		abort();
	if (n > 0 && build_history_join(s->old, n, &s->history, &e) != 0)
		abort();
	if (s->exact != NULL)
		bases[n_bases++] = s->exact;
	bases[n_bases++] = s->history;
	if (build_resolve(s->to, bases, n_bases, &s->rs, &e) != 0 ||
	    build_pack_reader_begin(&s->reader, s->rs, &e) != 0 || build_bases_choose(&s->reader, &o, &s->b, &e) != 0 ||
	    build_pack_plan_make(&s->reader, &s->b, &o, slim, &s->plan, &e) != 0) {
		printf("# %s\n", e.text);
		abort();
	}
}

static inline void
end(struct scene *s)
{
	build_pack_plan_free(&s->plan);
	build_bases_free(&s->b);
	build_pack_reader_end(&s->reader);
	build_resolved_free(s->rs);
	build_release_free(s->history);
	build_release_free(s->exact);
	for (size_t i = 0; i < 3; i++)
		build_release_free(s->old[i]);
	build_release_free(s->to);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

static inline uint32_t
content_of(const struct scene *s, const char *path)
{
	for (uint32_t i = 0; i < s->rs->n_contents; i++)
		if (s->rs->contents[i].node != DRAY_NONE && strcmp(s->to->v[s->rs->contents[i].node].path, path) == 0)
			return i;
	return DRAY_NONE;
}

/* old contents that the content of @path is made from, with base @bit */
static inline size_t
choices(const struct scene *s, const char *path, uint64_t bit)
{
	size_t n = 0;

	for (size_t i = 0; i < s->b.n; i++)
		n += s->b.v[i].content == content_of(s, path) && (s->b.v[i].bases & bit) != 0;
	return n;
}

static inline bool
has_full(const struct scene *s, const char *path)
{
	for (size_t i = 0; i < s->plan.n_uses; i++)
		if (s->plan.uses[i].content == content_of(s, path) && s->plan.uses[i].bases == 0)
			return true;
	return false;
}

#endif
