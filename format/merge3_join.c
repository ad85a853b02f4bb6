/*
 * merge3_join.c - two differences to one base become parts: what touches is one part, what one side alone changed is taken
 * from it. The base is compared with each side as diff3 does it.
 */
#include <stdlib.h>

#include "merge3_in.h"

enum { HORIZON = 100 };

int
dray_merge3_part_add(struct dray_merge3_parts *parts, const struct dray_merge3_part *p, struct dray_err *e)
{
	struct dray_merge3_part *more;
	size_t cap = parts->cap < 16 ? 16 : parts->cap * 2;

	if (p->side[MINE].n == 0 && p->side[BASE].n == 0 && p->side[THEIRS].n == 0)
		return 0;
	if (parts->n == parts->cap) {
		if ((more = reallocarray(parts->v, cap, sizeof(*more))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		parts->v = more;
		parts->cap = cap;
	}
	parts->v[parts->n++] = *p;
	return 0;
}

struct dray_merge3_part
dray_merge3_part_clash(const struct dray_merge3_part *at)
{
	struct dray_merge3_part p = *at;

	p.take = DRAY_MERGE3_CONFLICT;
	p.why = p.side[BASE].n == 0 ? "added here and in the release" :
	    p.side[MINE].n == 0 ? "removed here, changed in the release" :
	    p.side[THEIRS].n == 0 ? "changed here, removed in the release" : "changed here and in the release";
	return p;
}

size_t
dray_merge3_part_clashes(const struct dray_merge3_parts *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < parts->n; i++)
		n += parts->v[i].take == DRAY_MERGE3_CONFLICT;
	return n;
}

/* one side's changes that belong to a part */
struct thread {
	const struct dray_edits *edits;
	uint32_t next;		/* edit */
	uint32_t first, end;	/* ... of this part */
	uint32_t done;		/* lines of the side that are in parts */
};

static bool
comes_first(const struct thread *t, const struct thread *other)
{
	return t->next < t->edits->n &&
	    (other->next == other->edits->n || t->edits->v[t->next].b <= other->edits->v[other->next].b);
}

static void
take(struct thread *t, uint32_t *end)
{
	const struct dray_edit *d = &t->edits->v[t->next++];

	t->end = t->next;
	if (*end < d->b + d->bn)
		*end = d->b + d->bn;
}

static bool
touches(const struct thread *t, uint32_t end)
{
	return t->next < t->edits->n && t->edits->v[t->next].b <= end;
}

/* the lines of the side that stand where the base has [from, to) */
static void
range(struct thread *t, struct dray_merge3_part *p, int side, uint32_t from, uint32_t to)
{
	uint32_t n = to - from;

	for (uint32_t i = t->first; i < t->end; i++)
		n = n - t->edits->v[i].bn + t->edits->v[i].an;
	p->side[side].at = t->done;
	p->side[side].n = n;
	t->done += n;
}

static bool
equal(const struct dray_lines *a, uint32_t at, const struct dray_lines *b, uint32_t bt, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a->id[at + i] != b->id[bt + i])
			return false;
	return true;
}

static int
settle(const struct dray_lines v[3], struct thread t[3], uint32_t from, uint32_t to, struct dray_merge3_parts *parts, struct dray_err *e)
{
	const bool mine = t[MINE].first < t[MINE].end, theirs = t[THEIRS].first < t[THEIRS].end;
	struct dray_merge3_part p = { .side[BASE] = { from, to - from } };

	range(&t[MINE], &p, MINE, from, to);
	range(&t[THEIRS], &p, THEIRS, from, to);
	if (!mine || !theirs)
		p.take = mine ? DRAY_MERGE3_FROM_MINE : theirs ? DRAY_MERGE3_FROM_THEIRS : DRAY_MERGE3_SAME;
	else if (p.side[MINE].n == p.side[THEIRS].n &&
	    equal(&v[MINE], p.side[MINE].at, &v[THEIRS], p.side[THEIRS].at, p.side[MINE].n))
		p.take = DRAY_MERGE3_FROM_BOTH;
	else
		p = dray_merge3_part_clash(&p);
	return dray_merge3_part_add(parts, &p, e);
}

static int
weave(const struct dray_lines v[3], const struct dray_edits *mine, const struct dray_edits *theirs,
    struct dray_merge3_parts *parts, struct dray_err *e)
{
	struct thread t[3] = { [MINE] = { .edits = mine }, [THEIRS] = { .edits = theirs } };
	uint32_t at = 0, from, end;

	while (t[MINE].next < mine->n || t[THEIRS].next < theirs->n) {
		struct thread *low = comes_first(&t[MINE], &t[THEIRS]) ? &t[MINE] : &t[THEIRS];

		from = low->edits->v[low->next].b;
		for (int s = MINE; s <= THEIRS; s += 2)
			t[s].first = t[s].end = t[s].next;
		if (settle(v, t, at, from, parts, e) != 0)	/* no change up to there */
			return -1;
		end = from;
		take(low, &end);
		while (touches(&t[MINE], end) || touches(&t[THEIRS], end))
			take(touches(&t[MINE], end) ? &t[MINE] : &t[THEIRS], &end);
		if (settle(v, t, from, end, parts, e) != 0)
			return -1;
		at = end;
	}
	for (int s = MINE; s <= THEIRS; s += 2)
		t[s].first = t[s].end = t[s].next;
	return settle(v, t, at, v[BASE].n, parts, e);
}

/* what both have, and what only one of them has */
static int
two_sides(const struct dray_lines v[3], const struct dray_edits *edits, struct dray_merge3_parts *parts, struct dray_err *e)
{
	struct dray_merge3_part p = { .take = DRAY_MERGE3_SAME };
	uint32_t mine = 0, theirs = 0;

	for (uint32_t i = 0; i <= edits->n; i++) {
		struct dray_edit d = { v[MINE].n, 0, v[THEIRS].n, 0 };

		if (i < edits->n)
			d = edits->v[i];
		p = (struct dray_merge3_part){ .take = DRAY_MERGE3_SAME };
		p.side[MINE].at = mine;
		p.side[MINE].n = d.a - mine;
		p.side[THEIRS].at = theirs;
		p.side[THEIRS].n = d.b - theirs;
		if (dray_merge3_part_add(parts, &p, e) != 0)
			return -1;
		p.side[MINE].at = d.a;
		p.side[MINE].n = d.an;
		p.side[THEIRS].at = d.b;
		p.side[THEIRS].n = d.bn;
		p = dray_merge3_part_clash(&p);
		if (dray_merge3_part_add(parts, &p, e) != 0)
			return -1;
		mine = d.a + d.an;
		theirs = d.b + d.bn;
	}
	return 0;
}

/* diff3 lets the length of the outer changes of one side have a say in how the other one is compared */
static uint32_t
horizon_after(const struct dray_edits *edits)
{
	uint32_t h = HORIZON;

	for (uint32_t i = 0; i < edits->n; i += edits->n > 1 ? edits->n - 1 : 1) {
		h = h < edits->v[i].an ? edits->v[i].an : h;
		h = h < edits->v[i].bn ? edits->v[i].bn : h;
	}
	return h;
}

int
dray_merge3_join(const struct dray_lines v[3], uint32_t ids, bool no_base, struct dray_merge3_parts *parts, struct dray_err *e)
{
	struct dray_edits mine = { .v = NULL }, theirs = { .v = NULL };
	int rc = -1;

	if (no_base) {
		if (dray_lines_diff(&v[MINE], &v[THEIRS], ids, HORIZON, &mine, e) == 0)
			rc = two_sides(v, &mine, parts, e);
	} else if (dray_lines_diff(&v[THEIRS], &v[BASE], ids, HORIZON, &theirs, e) == 0 &&
	    dray_lines_diff(&v[MINE], &v[BASE], ids, horizon_after(&theirs), &mine, e) == 0) {
		rc = weave(v, &mine, &theirs, parts, e);
	}
	free(mine.v);
	free(theirs.v);
	return rc;
}
