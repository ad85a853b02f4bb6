/*
 * needed.c - which contents does a build need? One walk over all releases side by side finds the paths that differ.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "builder/arena.h"
#include "builder/merge.h"
#include "builder/needed.h"

struct hashes { const uint8_t **v; size_t n, cap; };	/* borrowed from nodes */

static int
hash_cmp(const void *pa, const void *pb)
{
	const uint8_t *const *a = pa, *const *b = pb;

	return memcmp(*a, *b, 32);
}

static int
known_cmp(const void *pa, const void *pb)
{
	const struct build_node *const *a = pa, *const *b = pb;

	return memcmp((*a)->sha256, (*b)->sha256, 32);
}

/* is the name in the same hard-link group, known by its first name? */
static bool
same_group(const struct build_release *r, const struct build_node *a, const struct build_release *s, const struct build_node *b)
{
	const struct build_node *x, *y;

	if (a->link == 0 || b->link == 0)
		return a->link == b->link;
	x = &r->v[a->link - 1];
	y = &s->v[b->link - 1];
	return x->len == y->len && memcmp(x->path, y->path, x->len) == 0;
}

/* has everybody the same bytes at the path that stands now, whatever the attributes? Then nobody needs them */
static bool
same_everywhere(const struct build_merge *m)
{
	const struct build_node *to = m->here[0];

	if (to == NULL || m->n == 1)
		return false;
	for (size_t i = 1; i < m->n; i++) {
		if (m->here[i] == NULL)
			return false;
		for (size_t k = 0; k < m->count[i]; k++) {
			const struct build_node *nd = &m->here[i][k];

			if (nd->type != to->type || memcmp(nd->sha256, to->sha256, sizeof(nd->sha256)) != 0 ||
			    !same_group(m->rel[i], nd, m->rel[0], to))
				return false;
		}
	}
	return true;
}

static int
add_files(struct hashes *h, const struct build_merge *m, struct dray_err *e)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; m->here[i] != NULL && k < m->count[i]; k++) {
			const uint8_t **v;

			if (m->here[i][k].type != DRAY_FILE)
				continue;
			if ((v = build_grow(h->v, h->n, &h->cap, sizeof(*v))) == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			h->v = v;
			h->v[h->n++] = m->here[i][k].sha256;
		}
	return 0;
}

static int
find_differing(struct hashes *h, struct build_release *const *rel, size_t n, struct dray_err *e)
{
	struct build_merge m;
	int rc = build_merge_begin(&m, rel, n, e);

	while (rc == 0 && build_merge_next(&m) != NULL)
		if (!same_everywhere(&m))
			rc = add_files(h, &m, e);
	build_merge_end(&m);
	if (rc == 0 && h->n > 1)
		qsort(h->v, h->n, sizeof(*h->v), hash_cmp);
	return rc;
}

/* the nodes that know the size of their content, in the order of hashes; malloc'ed */
static const struct build_node **
knowing(struct build_release *const *rel, size_t n, size_t *n_known)
{
	const struct build_node **v;
	size_t all = 0;

	*n_known = 0;
	for (size_t i = 0; i < n; i++)
		all += rel[i]->n;
	if ((v = calloc(all + 1, sizeof(*v))) == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < rel[i]->n; k++)
			if (rel[i]->v[k].type == DRAY_FILE && rel[i]->v[k].size != DRAY_SIZE_UNKNOWN)
				v[(*n_known)++] = &rel[i]->v[k];
	if (*n_known > 1)
		qsort(v, *n_known, sizeof(*v), known_cmp);
	return v;
}

static void
mark(struct build_release *r, const struct hashes *h, const struct build_node **known, size_t n_known)
{
	assert(known != NULL && (h->n == 0 || h->v != NULL));
	for (size_t i = 0; i < r->n; i++) {
		struct build_node *nd = &r->v[i];
		const uint8_t *sum = nd->sha256;
		const struct build_node *key = nd, **hit = NULL;

		if (nd->type != DRAY_FILE)
			continue;
		nd->needed = h->n > 0 && bsearch(&sum, h->v, h->n, sizeof(*h->v), hash_cmp) != NULL;
		if (nd->size == DRAY_SIZE_UNKNOWN && n_known > 0)
			hit = bsearch(&key, known, n_known, sizeof(*known), known_cmp);
		if (hit != NULL)
			nd->size = (*hit)->size;
	}
}

int
build_needed(struct build_release *const *rel, size_t n, struct dray_err *e)
{
	struct hashes h = { .v = NULL };
	const struct build_node **known = NULL;
	size_t n_known;
	int rc = find_differing(&h, rel, n, e);

	if (rc == 0 && (known = knowing(rel, n, &n_known)) == NULL)
		rc = dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; rc == 0 && i < n; i++)
		mark(rel[i], &h, known, n_known);
	free(known);
	free(h.v);
	return rc;
}
