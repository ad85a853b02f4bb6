/*
 * bases_scene.h - releases whose contents lie in memory files, resolved, with a base chosen for each content
 */
#ifndef BASES_SCENE_H
#define BASES_SCENE_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "builder/bases.h"
#include "dray/digest.h"
#include "test.h"

#define MOST 16

struct fake { int fd[MOST]; };

static char scratch[] = "/tmp/dray-test-XXXXXX";

static int
open_fake(const struct build_release *r, const struct build_node *nd, struct build_reader *out, struct dray_err *e)
{
	const struct fake *f = r->source;

	(void)e;
	*out = (struct build_reader){ .fd = f->fd[nd->at], .at = 0, .len = nd->size };
	return 0;
}

static void
close_fake(struct build_release *r)
{
	struct fake *f = r->source;

	for (size_t i = 0; i < r->n; i++)
		close(f->fd[i]);
	free(f);
}

static struct build_release *
release(const char *name)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct build_release *r;
	struct dray_err e;

	if (f == NULL || build_release_new(name, 1, &r, &e) != 0)
		abort();
	r->source = f;
	r->open = open_fake;
	r->close = close_fake;
	return r;
}

/* takes @p */
static void
add(struct build_release *r, const char *path, uint8_t *p, size_t len)
{
	struct fake *f = r->source;
	struct build_node *nd = build_release_append(r);
	char name[64];
	struct dray_sha256 *h;
	struct dray_err e;
	int fd;

	if (nd == NULL || r->n > MOST || dray_sha256_new(&h, &e) != 0)
		abort();
	nd->path = path;
	nd->len = (uint32_t)strlen(path);
	nd->type = DRAY_FILE;
	nd->has = DRAY_HAS_MODE;
	nd->size = len;
	nd->at = r->n - 1;
	if (dray_sha256_once(h, p, len, nd->sha256, &e) != 0)
		abort();
	snprintf(name, sizeof(name), "%s/content", scratch);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1 || unlink(name) != 0 || write(fd, p, len) != (ssize_t)len)
		abort();
	f->fd[nd->at] = fd;
	dray_sha256_free(h);
	free(p);
}

struct scene {
	struct build_release *to, *from[3];
	size_t n;
	struct build_resolved *rs;
	struct pack_reader reader;
	struct build_bases b;
	uint64_t cost, costs;		/* of choosing, as told and as it was thought before */
};

static void
begin(struct scene *s, size_t n)
{
	*s = (struct scene){ .to = release("to"), .n = n };
	for (size_t i = 0; i < n; i++)
		s->from[i] = release("from");
}

static void
choose(struct scene *s, unsigned threads)
{
	struct build_work o = { .threads = threads };
	struct dray_err e;

	dray_err_clear(&e);
	for (size_t i = 0; i < s->n; i++)
		if (build_release_sort(s->from[i], &e) != 0)
			abort();
	if (build_release_sort(s->to, &e) != 0 || build_resolve(s->to, s->from, s->n, &s->rs, &e) != 0 ||
	    build_pack_reader_begin(&s->reader, s->rs, &e) != 0 || build_bases_choose(&s->reader, &o, &s->b, &e) != 0) {
		printf("# %s\n", e.text);
		abort();
	}
	s->cost = o.cost;
	s->costs = o.costs;
}

static void
end(struct scene *s)
{
	build_bases_free(&s->b);
	build_pack_reader_end(&s->reader);
	build_resolved_free(s->rs);
	for (size_t i = 0; i < s->n; i++)
		build_release_free(s->from[i]);
	build_release_free(s->to);
}

/* the path of the base that the content of @path is made from in base @b; "" for none */
static const char *
base_of(const struct scene *s, const char *path, unsigned b)
{
	for (size_t i = 0; i < s->b.n; i++) {
		const struct build_content *c = &s->rs->contents[s->b.v[i].content], *x = &s->rs->contents[s->b.v[i].base];

		if (strcmp(s->to->v[c->node].path, path) == 0 && (s->b.v[i].bases >> b & 1) != 0)
			return s->from[x->old_base]->v[x->old_node].path;
	}
	return "";
}

#endif
