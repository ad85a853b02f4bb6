/*
 * check_links.c - which names are one object: those of a group of the release, and no two others. Names outside the
 * release do not matter.
 */
#include <stdlib.h>
#include <string.h>

#include "installer/checking.h"

static int
cmp(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
by_object(const void *a, const void *b)
{
	const struct inst_name *x = a, *y = b;
	int c = cmp(x->mnt, y->mnt);

	if (c == 0)
		c = cmp(x->dev, y->dev);
	if (c == 0)
		c = cmp(x->ino, y->ino);
	return c != 0 ? c : cmp(x->row, y->row);
}

static int
by_group(const void *a, const void *b)
{
	const struct inst_name *x = a, *y = b;
	int c = cmp(x->group, y->group);

	if (c == 0)
		c = cmp(x->mnt, y->mnt);
	if (c == 0)
		c = cmp(x->dev, y->dev);
	return c != 0 ? c : cmp(x->row, y->row);
}

static bool
one_mount(const struct inst_name *a, const struct inst_name *b)
{
	return a->mnt == b->mnt && a->dev == b->dev;
}

/* the first name of a run stands for it; on each mount a group is a file of its own */
static void
judge(struct inst_check *c, struct inst_name *v, size_t n)
{
	size_t first = 0;

	qsort(v, n, sizeof(*v), by_object);
	for (size_t i = 1; i < n; i++) {
		if (!one_mount(&v[first], &v[i]) || v[first].ino != v[i].ino)
			first = i;
		else if (v[i].group == 0 || v[i].group != v[first].group)
			c->diffs[v[i].row] |= INST_DIFF_BIT(INST_DIFF_LINKS);
	}
	qsort(v, n, sizeof(*v), by_group);
	first = 0;
	for (size_t i = 1; i < n; i++) {
		if (v[i].group != v[first].group || !one_mount(&v[first], &v[i]))
			first = i;
		else if (v[i].group != 0 && v[first].ino != v[i].ino)
			c->diffs[v[i].row] |= INST_DIFF_BIT(INST_DIFF_LINKS);
	}
}

int
inst_check_links(struct inst_checking *ck, struct dray_err *e)
{
	struct inst_name *all;
	size_t n = 0;

	for (unsigned t = 0; t < ck->threads; t++)
		n += ck->checkers[t].n;
	if (n == 0)
		return 0;
	if ((all = malloc(n * sizeof(*all))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	n = 0;
	for (unsigned t = 0; t < ck->threads; t++) {
		const struct inst_checker *w = &ck->checkers[t];

		if (w->n > 0)
			memcpy(all + n, w->names, w->n * sizeof(*all));
		n += w->n;
	}
	judge(ck->c, all, n);
	free(all);
	return 0;
}
