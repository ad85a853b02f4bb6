/*
 * release.c - what all sources share: growing, sorting, hard-link groups, comparing.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "builder/release.h"
#include "dray/num.h"
#include "dray/path.h"

int
build_release_new(const char *name, size_t arenas, struct build_release **out, struct dray_err *e)
{
	struct build_release *r = calloc(1, sizeof(*r));

	*out = NULL;
	if (r == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	r->name = strdup(name);
	r->arenas = calloc(arenas, sizeof(*r->arenas));
	r->n_arenas = arenas;
	if (r->name == NULL || r->arenas == NULL) {
		build_release_free(r);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*out = r;
	return 0;
}

void
build_release_free(struct build_release *r)
{
	if (r == NULL)
		return;
	if (r->close != NULL)
		r->close(r);
	for (size_t i = 0; r->arenas != NULL && i < r->n_arenas; i++)
		build_arena_free(&r->arenas[i]);
	free(r->arenas);
	free(r->notices);
	free(r->part_names);
	free(r->sources);
	build_release_drop_nodes(r);
	free(r->name);
	free(r);
}

struct build_node *
build_release_append(struct build_release *r)
{
	if (r->n == r->cap) {
		uint64_t want = r->cap == 0 ? 256 : (uint64_t)r->cap * 2, bytes;
		struct build_node *v;
		size_t len;

		/* rows are 32 bits wide and 0xffffffff means none */
		if (want > UINT32_MAX || !dray_mul(want, sizeof(*v), &bytes) || !dray_fit(bytes, &len))
			return NULL;
		if ((v = realloc(r->v, len)) == NULL)
			return NULL;
		r->v = v;
		r->cap = (size_t)want;
	}
	memset(&r->v[r->n], 0, sizeof(r->v[0]));
	return &r->v[r->n++];
}

void
build_release_drop_nodes(struct build_release *r)
{
	free(r->v);
	r->v = NULL;
	r->n = r->cap = 0;
}

static int
by_path(const void *pa, const void *pb)
{
	const struct build_node *a = pa, *b = pb;

	return dray_path_cmp(a->path, a->len, b->path, b->len);
}

int
build_release_sort(struct build_release *r, struct dray_err *e)
{
	if (r->n < 2)
		return 0;
	qsort(r->v, r->n, sizeof(r->v[0]), by_path);
	for (size_t i = 1; i < r->n; i++)
		if (by_path(&r->v[i - 1], &r->v[i]) == 0) {
			dray_fail(e, DRAY_E_FORMAT, "stands twice");
			return build_path_err(e, r, r->v[i].path, r->v[i].len);
		}
	return 0;
}

struct link_ref {
	uint64_t dev, ino;
	uint32_t node;
};

static int
by_inode(const void *pa, const void *pb)
{
	const struct link_ref *a = pa, *b = pb;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

int
build_release_group(struct build_release *r, struct dray_err *e)
{
	struct link_ref *v = NULL;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].type == DRAY_FILE && r->v[i].nlink > 1;
	if (n == 0)
		return 0;
	if ((v = calloc(n, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].type == DRAY_FILE && r->v[i].nlink > 1)
			v[at++] = (struct link_ref){ r->v[i].dev, r->v[i].ino, (uint32_t)i };
	qsort(v, n, sizeof(*v), by_inode);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end].dev == v[i].dev && v[end].ino == v[i].ino; end++)
			;
		/* a single name here, the others lie outside the tree: no group */
		for (size_t k = i; k < end && end - i > 1; k++)
			r->v[v[k].node].link = v[i].node + 1;
	}
	free(v);
	return 0;
}

static int
cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
cmp_bytes(const void *a, size_t alen, const void *b, size_t blen)
{
	size_t n = alen < blen ? alen : blen;
	int c = n == 0 ? 0 : memcmp(a, b, n);

	return c != 0 ? c : cmp_u64(alen, blen);
}

int
build_xattrs_cmp(const struct build_node *a, const struct build_node *b)
{
	int c = cmp_u64(a->n_xattrs, b->n_xattrs);

	for (uint32_t i = 0; c == 0 && i < a->n_xattrs; i++) {
		const struct dray_xattr *x = &a->xattrs[i], *y = &b->xattrs[i];

		if ((c = cmp_bytes(x->name, x->name_len, y->name, y->name_len)) == 0)
			c = cmp_bytes(x->value, x->len, y->value, y->len);
	}
	return c;
}

static int
node_cmp(const struct build_node *a, const struct build_node *b)
{
	const uint64_t x[] = { a->type, a->has, a->mode, a->uid, a->gid, (uint64_t)a->mtime_sec, a->mtime_nsec,
		a->rdev_major, a->rdev_minor, a->size, a->link, a->flags };
	const uint64_t y[] = { b->type, b->has, b->mode, b->uid, b->gid, (uint64_t)b->mtime_sec, b->mtime_nsec,
		b->rdev_major, b->rdev_minor, b->size, b->link, b->flags };
	int c = by_path(a, b);

	for (size_t i = 0; c == 0 && i < sizeof(x) / sizeof(x[0]); i++)
		c = cmp_u64(x[i], y[i]);
	if (c == 0)
		c = memcmp(a->sha256, b->sha256, sizeof(a->sha256));
	if (c == 0)
		c = cmp_bytes(a->target, a->target_len, b->target, b->target_len);
	return c != 0 ? c : build_xattrs_cmp(a, b);
}

int
build_release_cmp(const struct build_release *a, const struct build_release *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int c = node_cmp(&a->v[i], &b->v[i]);

		if (c != 0)
			return c;
	}
	return cmp_u64(a->n, b->n);
}

uint64_t
build_release_newest(const struct build_release *r)
{
	int64_t newest = 0;

	for (size_t i = 0; i < r->n; i++)
		if ((r->v[i].has & DRAY_HAS_MTIME) != 0 && r->v[i].mtime_sec > newest)
			newest = r->v[i].mtime_sec;
	return (uint64_t)newest;
}

int
build_release_note(struct build_release *r, const struct build_notice *n, struct dray_err *e)
{
	const struct build_notice *last = r->n_notices > 0 ? &r->notices[r->n_notices - 1] : NULL;

	if (last != NULL && last->why == n->why && last->len == n->len && memcmp(last->path, n->path, n->len) == 0)
		return 0;
	if (r->n_notices == r->cap_notices) {
		size_t cap = r->cap_notices == 0 ? 16 : r->cap_notices * 2;
		struct build_notice *v;

		if (cap > SIZE_MAX / sizeof(*v) || (v = realloc(r->notices, cap * sizeof(*v))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		r->notices = v;
		r->cap_notices = cap;
	}
	assert(r->notices != NULL);
	r->notices[r->n_notices++] = *n;
	return 0;
}

/* loud ones first: the list is cut where it gets long */
static int
notice_cmp(const void *pa, const void *pb)
{
	const struct build_notice *a = pa, *b = pb;
	int c = (a->quiet > b->quiet) - (a->quiet < b->quiet);

	if (c == 0)
		c = dray_path_cmp(a->path, a->len, b->path, b->len);
	return c != 0 ? c : strcmp(a->why, b->why);
}

void
build_notices_sort(struct build_release *r)
{
	size_t n = 0;

	if (r->n_notices < 2)
		return;
	qsort(r->notices, r->n_notices, sizeof(r->notices[0]), notice_cmp);
	for (size_t i = 0; i < r->n_notices; i++)
		if (n == 0 || notice_cmp(&r->notices[n - 1], &r->notices[i]) != 0)
			r->notices[n++] = r->notices[i];
	r->n_notices = n;
}

int
build_path_err(struct dray_err *e, const struct build_release *r, const char *path, size_t len)
{
	char quoted[600];	/* longer ones are cut with "...": the text of an error is bounded */

	if (e->code == DRAY_E_SIGNAL)	/* where it was interrupted tells nothing */
		return -1;
	dray_quote(path, len, quoted, sizeof(quoted));
	return dray_wrap(e, "%s: %s", r->name, len == 0 ? "." : quoted);
}
