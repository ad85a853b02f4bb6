/*
 * bases_names.c - names in which numbers do not count: lib/modules/6.1.0-50/x.ko and lib/modules/6.1.0-51/x.ko are the
 * same file of two releases. Half of a large upgrade stands under such names.
 */
#include <stdlib.h>

#include "builder/bases.h"

#define NEIGHBOURS 32u		/* looked at to both sides: the names most alike stand next to each other */

struct name {
	const char *path;
	uint32_t len, leaf;	/* leaf: where its last part begins */
	uint32_t old;		/* number in rs->olds */
};

struct build_names {
	const struct build_resolved *rs;
	struct name *v;
	size_t n;
};

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* the next letter, or 256 for a whole version: digits, and dots between them; -1 at the end */
static int
next(const char **p, const char *end)
{
	const char *s = *p;

	if (s == end)
		return -1;
	if (!is_digit(*s)) {
		*p = s + 1;
		return (unsigned char)*s;
	}
	while (s < end && (is_digit(*s) || (*s == '.' && s + 1 < end && is_digit(s[1]))))
		s++;
	*p = s;
	return 256;
}

int
build_fold_cmp(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const char *a_end = a + a_len, *b_end = b + b_len;
	int x, y;

	do {
		x = next(&a, a_end);
		y = next(&b, b_end);
	} while (x == y && x != -1);
	return (x > y) - (x < y);
}

static uint32_t
leaf_of(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	return (uint32_t)len;
}

static int
leaf_cmp(const struct name *a, const struct name *b)
{
	return build_fold_cmp(a->path + a->leaf, a->len - a->leaf, b->path + b->leaf, b->len - b->leaf);
}

static int
name_cmp(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;
	int c = leaf_cmp(a, b);

	if (c == 0)
		c = build_fold_cmp(a->path, a->len, b->path, b->len);
	return c != 0 ? c : (a->old > b->old) - (a->old < b->old);
}

int
build_names_new(const struct build_resolved *rs, struct build_names **out, struct dray_err *e)
{
	struct build_names *n = calloc(1, sizeof(*n));

	*out = NULL;
	if (n == NULL || (n->v = calloc(rs->n_olds + 1, sizeof(*n->v))) == NULL) {
		free(n);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	n->rs = rs;
	for (size_t i = 0; i < rs->n_olds; i++)
		if (!rs->olds[i].config)
			n->v[n->n++] = (struct name){ rs->olds[i].path, rs->olds[i].len,
				leaf_of(rs->olds[i].path, rs->olds[i].len), (uint32_t)i };
	qsort(n->v, n->n, sizeof(n->v[0]), name_cmp);
	*out = n;
	return 0;
}

void
build_names_free(struct build_names *n)
{
	if (n == NULL)
		return;
	free(n->v);
	free(n);
}

/* bytes that two paths have in common at both ends */
static size_t
alike(const struct name *a, const struct name *b)
{
	size_t most = a->len < b->len ? a->len : b->len, n = 0, m = 0;

	while (n < most && a->path[n] == b->path[n])
		n++;
	while (m < most - n && a->path[a->len - 1 - m] == b->path[b->len - 1 - m])
		m++;
	return n + m;
}

uint32_t
build_names_find(const struct build_names *n, const char *path, size_t len, unsigned base)
{
	const struct name want = { path, (uint32_t)len, leaf_of(path, len), 0 };
	uint32_t best = DRAY_NONE;
	size_t low = 0, high = n->n, score = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (name_cmp(&n->v[mid], &want) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low > NEIGHBOURS ? low - NEIGHBOURS : 0; i < n->n && i < low + NEIGHBOURS; i++) {
		const struct build_old *o = &n->rs->olds[n->v[i].old];
		size_t s;

		if ((o->bases >> base & 1) == 0 || leaf_cmp(&n->v[i], &want) != 0)
			continue;
		/* the first of equal ones: they stand in path order */
		if ((s = alike(&n->v[i], &want)) > score) {
			score = s;
			best = n->v[i].old;
		}
	}
	return best;
}
