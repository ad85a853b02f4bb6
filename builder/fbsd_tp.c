/*
 * fbsd_tp.c - text patches of metadata files.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "builder/arena.h"
#include "builder/fbsd_tp.h"

struct line { const char *p; size_t len; };

struct lines { struct line *v; size_t n, cap; };

static bool
push(struct lines *l, const char *p, size_t len)
{
	struct line *v = build_grow(l->v, l->n, &l->cap, sizeof(*v));

	if (v == NULL)
		return false;
	l->v = v;
	l->v[l->n++] = (struct line){ p, len };
	return true;
}

static int
line_cmp(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;
	int c = memcmp(a->p, b->p, a->len < b->len ? a->len : b->len);

	return c != 0 ? c : (a->len > b->len) - (a->len < b->len);
}

static bool
next(const char *text, size_t len, size_t *at, struct line *out)
{
	const char *nl;

	if (*at >= len)
		return false;
	nl = memchr(text + *at, '\n', len - *at);
	*out = (struct line){ text + *at, nl != NULL ? (size_t)(nl - text) - *at : len - *at };
	*at += out->len + (nl != NULL ? 1 : 0);
	return true;
}

/* does @l begin with one of the prefixes? They end behind the third '|' and are in order, so only one can be it */
static bool
taken(const struct lines *minus, const struct line *l)
{
	size_t bars = 0, len = 0;
	struct line key;

	while (len < l->len && bars < 3)
		bars += l->p[len++] == '|';
	key = (struct line){ l->p, len };
	return minus->n > 0 && bsearch(&key, minus->v, minus->n, sizeof(key), line_cmp) != NULL;
}

static int
read_patch(const char *patch, size_t len, struct lines *minus, struct lines *all, struct dray_err *e)
{
	struct line l;
	size_t at = 0;

	while (next(patch, len, &at, &l)) {
		bool good;

		if (l.len < 2 || (l.p[0] != '-' && l.p[0] != '+'))
			return dray_fail(e, DRAY_E_FORMAT, "a line of the patch begins with neither + nor -");
		good = l.p[0] == '-' ? push(minus, l.p + 1, l.len - 1) : push(all, l.p + 1, l.len - 1);
		if (!good)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	if (minus->n > 0)
		qsort(minus->v, minus->n, sizeof(*minus->v), line_cmp);
	return 0;
}

static int
put_together(const struct lines *all, char **out, size_t *out_len, struct dray_err *e)
{
	size_t len = 0;
	char *p;

	for (size_t i = 0; i < all->n; i++)
		len += all->v[i].len + 1;	/* each stands in a buffer that is there; the bound of those holds */
	if ((p = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*out = p;
	*out_len = len;
	for (size_t i = 0; i < all->n; i++) {
		memcpy(p, all->v[i].p, all->v[i].len);
		p += all->v[i].len;
		*p++ = '\n';
	}
	return 0;
}

int
build_fbsd_tp_apply(const char *old, size_t old_len, const char *patch, size_t patch_len, char **out, size_t *out_len,
    struct dray_err *e)
{
	struct lines minus = { .n = 0 }, all = { .n = 0 };
	struct line l;
	size_t at = 0;
	int rc;

	*out = NULL;
	if ((rc = read_patch(patch, patch_len, &minus, &all, e)) != 0)
		goto out;
	while (next(old, old_len, &at, &l))
		if (!taken(&minus, &l) && !push(&all, l.p, l.len)) {
			rc = dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
	if (all.n > 0)
		qsort(all.v, all.n, sizeof(*all.v), line_cmp);
	rc = put_together(&all, out, out_len, e);
out:
	free(minus.v);
	free(all.v);
	return rc;
}
