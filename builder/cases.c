/*
 * cases.c - names that a file system without case keeps apart no longer. ASCII letters only: what such systems do
 * beyond those differs from one to the next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/release.h"

static unsigned char
fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static int
fold_cmp(const struct build_node *a, const struct build_node *b)
{
	uint32_t n = a->len < b->len ? a->len : b->len;

	for (uint32_t i = 0; i < n; i++)
		if (fold(a->path[i]) != fold(b->path[i]))
			return fold(a->path[i]) < fold(b->path[i]) ? -1 : 1;
	return (a->len > b->len) - (a->len < b->len);
}

static int
by_fold(const void *pa, const void *pb)
{
	const struct build_node *a = *(const struct build_node *const *)pa, *b = *(const struct build_node *const *)pb;
	int c = fold_cmp(a, b);

	/* then by bytes, so that those of one directory stand together */
	return c != 0 ? c : memcmp(a->path, b->path, a->len);
}

static bool
same_parent(const struct build_node *a, const struct build_node *b)
{
	size_t n = a->len;

	while (n > 0 && a->path[n - 1] != '/')
		n--;
	return n < b->len && memcmp(a->path, b->path, n) == 0;
}

static int
tell(struct build_release *r, const struct build_node *nd, size_t others, struct dray_err *e)
{
	struct build_notice n = { nd->path, nd->len, "differs only by case from a name beside it", false };
	char text[120];

	if (others > 0) {
		snprintf(text, sizeof(text), "%s, and so do%s %zu other%s (-v names them)", n.why, others == 1 ? "es" : "",
		    others, others == 1 ? "" : "s");
		if ((n.why = build_arena_copy(&r->arenas[0], text, strlen(text))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	return build_release_note(r, &n, e);
}

int
build_release_cases(struct build_release *r, bool all, size_t *found, struct dray_err *e)
{
	const struct build_node *first = NULL;
	const struct build_node **v;
	int rc = 0;

	*found = 0;
	if (r->n < 2)
		return 0;
	if ((v = calloc(r->n, sizeof(const struct build_node *))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < r->n; i++)
		v[i] = &r->v[i];
	qsort(v, r->n, sizeof(const struct build_node *), by_fold);
	for (size_t i = 1; rc == 0 && i < r->n; i++) {
		if (fold_cmp(v[i - 1], v[i]) != 0 || !same_parent(v[i - 1], v[i]))
			continue;
		++*found;
		if (first == NULL)
			first = v[i];
		if (all)
			rc = tell(r, v[i], 0, e);
	}
	free(v);
	if (rc == 0 && !all && first != NULL)
		rc = tell(r, first, *found - 1, e);
	return rc;
}
