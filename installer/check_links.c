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

/* names of one object that are not all of one group: each of them is wrong */
static void
judge_object(struct inst_check *c, const struct inst_name *v, size_t n)
{
	bool good = n == 1 || v[0].group != 0;

	for (size_t i = 1; i < n; i++)
		good &= v[i].group == v[0].group;
	for (size_t i = 0; i < n && !good; i++)
		c->diffs[v[i].row] |= INST_DIFF_BIT(INST_DIFF_LINKS);
}

/* names of one group that are not one object; the first name stands for it, on each mount */
static void
judge_group(struct inst_check *c, const struct inst_name *v, size_t n)
{
	for (size_t i = 1; i < n && v[0].group != 0; i++)
		if (v[i].ino != v[0].ino)
			c->diffs[v[i].row] |= INST_DIFF_BIT(INST_DIFF_LINKS);
}

static void
judge(struct inst_check *c, struct inst_name *v, size_t n)
{
	size_t to;

	qsort(v, n, sizeof(*v), by_object);
	for (size_t i = 0; i < n; i = to) {
		for (to = i + 1; to < n && one_mount(&v[i], &v[to]) && v[i].ino == v[to].ino; to++)
			;
		judge_object(c, v + i, to - i);
	}
	qsort(v, n, sizeof(*v), by_group);
	for (size_t i = 0; i < n; i = to) {
		for (to = i + 1; to < n && one_mount(&v[i], &v[to]) && v[i].group == v[to].group; to++)
			;
		judge_group(c, v + i, to - i);
	}
}

/* left as it is by a local decision: then it stands for no group, and no group asks for it */
static bool
stands_apart(const struct inst_checking *ck, uint32_t row, const struct dray_entry *en)
{
	uint8_t why = ck->o->kept != NULL ? ck->o->kept[row] : INST_LOCAL_NO;
	uint16_t diffs = ck->c->diffs[row];

	if (ck->o->strict)
		return false;
	if (why == INST_LOCAL_POLICY)
		return diffs != 0;
	return (why == INST_LOCAL_EDITED || why == INST_LOCAL_OWN || (en->flags & DRAY_ENTRY_CONFIG) != 0) && (diffs & INST_DIFF_BIT(INST_DIFF_CONTENT)) != 0;
}

int
inst_check_links(struct inst_checking *ck, struct dray_err *e)
{
	struct inst_name *all;
	struct dray_entry en;
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

		for (size_t i = 0; i < w->n; i++) {
			/* what is left of a component that is not here any more may be anything */
			dray_index_entry(ck->ix, w->names[i].row, &en);
			if (!inst_row_absent(ck->ix, &en, ck->o->absent) && !stands_apart(ck, w->names[i].row, &en))
				all[n++] = w->names[i];
		}
	}
	judge(ck->c, all, n);
	free(all);
	return 0;
}
