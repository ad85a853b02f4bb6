/*
 * fbsd_pairs.c - what servers make patches of: within a release from each former content to the newest, across releases
 * from every content to every one.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/arena.h"
#include "builder/fbsd_pairs.h"
#include "dray/num.h"
#include "dray/path.h"

struct states {			/* of a release */
	struct dray_fbsd_lines now, former;
};

static int
pair_cmp(const void *pa, const void *pb)
{
	const struct build_fbsd_pair *a = pa, *b = pb;
	int c = memcmp(a->to, b->to, 32);

	if (c != 0)
		return c;
	if (a->chance != b->chance)
		return a->chance < b->chance ? -1 : 1;
	if (a->cross != b->cross)
		return b->cross ? -1 : 1;
	return memcmp(a->from, b->from, 32);
}

static int
add_pair(struct build_fbsd_pairs *p, const struct dray_fbsd_line *from, const struct dray_fbsd_line *to, bool cross,
    enum build_fbsd_chance chance, struct dray_err *e)
{
	struct build_fbsd_pair *v;

	if (from->type != 'f' || to->type != 'f' || memcmp(from->sha256, to->sha256, 32) == 0)
		return 0;
	if ((v = build_grow(p->v, p->n, &p->cap, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->v = v;
	v[p->n] = (struct build_fbsd_pair){ .path = to->path, .path_len = to->path_len, .cross = cross, .chance = chance };
	memcpy(v[p->n].from, from->sha256, 32);
	memcpy(v[p->n++].to, to->sha256, 32);
	return 0;
}

static int
path_cmp(const struct dray_fbsd_line *a, const struct dray_fbsd_line *b)
{
	return dray_path_cmp(a->path, a->path_len, b->path, b->path_len);
}

/* how many lines from @i on are of the same path */
static size_t
same_path(const struct dray_fbsd_lines *l, size_t i)
{
	size_t n = 1;

	while (i + n < l->n && path_cmp(&l->v[i], &l->v[i + n]) == 0)
		n++;
	return n;
}

/* from each content that a path has in @from to each other one it has in @to */
static int
add_pairs(struct build_fbsd_pairs *p, const struct dray_fbsd_lines *from, const struct dray_fbsd_lines *to,
    bool cross, enum build_fbsd_chance chance, struct dray_err *e)
{
	size_t i = 0, k = 0;

	while (i < from->n && k < to->n) {
		int c = path_cmp(&from->v[i], &to->v[k]);
		size_t n_from, n_to;

		if (c != 0) {
			i += c < 0;
			k += c > 0;
			continue;
		}
		n_from = same_path(from, i);
		n_to = same_path(to, k);
		for (size_t a = 0; a < n_from; a++)
			for (size_t b = 0; b < n_to; b++)
				if (add_pair(p, &from->v[i + a], &to->v[k + b], cross, chance, e) != 0)
					return -1;
		i += n_from;
		k += n_to;
	}
	return 0;
}

void
build_fbsd_pairs_free(struct build_fbsd_pairs *p)
{
	free(p->v);
	*p = (struct build_fbsd_pairs){ .v = NULL };
}

static void
free_states(struct states *s)
{
	dray_fbsd_lines_free(&s->now);
	dray_fbsd_lines_free(&s->former);
}

static int
read_states(struct states *s, const struct build_fbsd_meta *m, const struct dray_fbsd_parts *parts, struct dray_err *e)
{
	const struct dray_fbsd_list now = build_fbsd_list(m, BUILD_FBSD_ALL), former = build_fbsd_list(m, BUILD_FBSD_OLD);

	/* a list that was not asked for holds nothing here */
	if (dray_fbsd_lines_add(&s->now, &now, parts, e) != 0 || dray_fbsd_lines_add(&s->former, &former, parts, e) != 0)
		return -1;
	dray_fbsd_lines_sort(&s->now);
	dray_fbsd_lines_sort(&s->former);
	return 0;
}

static int
add_states(struct build_fbsd_pairs *p, const struct states *from, const struct states *to, bool cross, struct dray_err *e)
{
	/* across releases the newest content alone is worth a question */
	const enum build_fbsd_chance former = cross ? BUILD_FBSD_NEWEST : BUILD_FBSD_LIKELY;

	return add_pairs(p, &from->now, &to->now, cross, BUILD_FBSD_LIKELY, e) != 0 ||
	    add_pairs(p, &from->former, &to->now, cross, former, e) != 0 ||
	    add_pairs(p, &from->now, &to->former, cross, BUILD_FBSD_ANY, e) != 0 ||
	    add_pairs(p, &from->former, &to->former, cross, BUILD_FBSD_ANY, e) != 0 ? -1 : 0;
}

/* in order, each once; the first of several that differ in path alone is as good as the others */
static void
put_in_order(struct build_fbsd_pairs *p)
{
	size_t n = 0;

	if (p->n == 0)
		return;
	qsort(p->v, p->n, sizeof(p->v[0]), pair_cmp);
	for (size_t i = 0; i < p->n; i++)
		if (n == 0 || pair_cmp(&p->v[n - 1], &p->v[i]) != 0)
			p->v[n++] = p->v[i];
	p->n = n;
}

int
build_fbsd_pairs_of(struct build_fbsd_pairs *p, const struct build_fbsd_meta *m, struct build_fbsd_meta *const *from,
    size_t n_from, const struct dray_fbsd_parts *parts, struct dray_err *e)
{
	struct states to = { .now = { .v = NULL } };
	int rc = read_states(&to, m, parts, e);

	for (size_t i = 0; rc == 0 && i < n_from; i++) {
		struct states s = { .now = { .v = NULL } };

		if (strcmp(from[i]->arch, m->arch) == 0 && (rc = read_states(&s, from[i], parts, e)) == 0)
			rc = add_states(p, &s, &to, strcmp(from[i]->release, m->release) != 0, e);
		free_states(&s);
	}
	free_states(&to);
	put_in_order(p);
	return rc;
}

void
build_fbsd_pair_path(const struct build_fbsd_pair *p, const struct build_fbsd_meta *m, char path[400])
{
	char from[65], to[65];

	snprintf(path, 400, "%s%s/bp/%s-%s", p->cross ? "to-" : "", m->dir, dray_hex(p->from, 32, from), dray_hex(p->to, 32, to));
}
