/*
 * merge3_entry.c - files of accounts: what matters is the entry of each name, not where it stands. The order is that of
 * mine; what the release adds comes behind what it stands behind there.
 */
#include <stdlib.h>
#include <string.h>

#include "merge3_names.h"

const char dray_merge3_one_number[] = "two names got the same number, one here and one in the release";

/* mine in its order, and what only the release has behind what it stands behind there */
static void
arrange(struct dray_names *a)
{
	uint32_t last = a->ids;

	for (uint32_t i = 0; i < a->lines[MINE].n; i++) {
		a->next[last] = a->lines[MINE].id[i];
		last = a->next[last];
	}
	a->next[last] = NONE;
	last = a->ids;
	for (uint32_t i = 0; i < a->lines[THEIRS].n; i++) {
		const uint32_t id = a->lines[THEIRS].id[i];

		if (a->where[MINE][id] == NONE) {
			a->next[id] = a->next[last];
			a->next[last] = id;
		}
		last = id;
	}
}

static bool
equal(const struct dray_lines v[3], const struct dray_names *a, uint32_t id, int one, int other)
{
	const uint32_t i = a->where[one][id], k = a->where[other][id];
	size_t n, m;
	const uint8_t *p, *q;

	if (i == NONE || k == NONE)
		return i == k;
	p = dray_names_bare(&v[one], i, &n);
	q = dray_names_bare(&v[other], k, &m);
	return n == m && memcmp(p, q, n) == 0;
}

static void
place(const struct dray_names *a, uint32_t id, int side, struct dray_merge3_part *p)
{
	if (a->where[side][id] == NONE)
		return;
	p->side[side].at = a->where[side][id];
	p->side[side].n = 1;
}

/* ... or what else is no entry, and here */
static bool
is_comment(const struct dray_names *a, uint32_t id)
{
	return a->lines[MINE].p[a->lines[MINE].at[a->where[MINE][id]]] == 'l';
}

static struct dray_merge3_part
decide(const struct dray_lines v[3], const struct dray_names *a, uint32_t id)
{
	const uint32_t clash = a->clash[id];
	struct dray_merge3_part p = { .take = DRAY_MERGE3_SAME };

	for (int s = 0; s < 3; s++)
		place(a, id, s, &p);
	if (clash != NONE && a->where[MINE][id] != NONE) {
		place(a, clash, THEIRS, &p);
		p.take = DRAY_MERGE3_CONFLICT;
		p.why = dray_merge3_one_number;
	} else if (clash != NONE && a->clash[clash] == id) {
		p = (struct dray_merge3_part){ .take = DRAY_MERGE3_SAME };	/* stands with mine */
	} else if (clash != NONE) {
		p = dray_merge3_part_clash(&p);
		p.why = dray_merge3_one_number;
	} else if (equal(v, a, id, MINE, THEIRS)) {
		p.take = equal(v, a, id, MINE, BASE) ? DRAY_MERGE3_SAME : DRAY_MERGE3_FROM_BOTH;
	} else if (equal(v, a, id, BASE, THEIRS)) {
		p.take = DRAY_MERGE3_FROM_MINE;
	} else if (equal(v, a, id, MINE, BASE)) {
		p.take = DRAY_MERGE3_FROM_THEIRS;
	} else if (p.side[MINE].n > 0 && p.side[THEIRS].n > 0 && is_comment(a, id)) {
		p.take = DRAY_MERGE3_TAG;
	} else {
		p = dray_merge3_part_clash(&p);
	}
	return p;
}

int
dray_merge3_entries(const struct dray_lines v[3], bool numbers, struct dray_merge3_parts *parts, struct dray_err *e)
{
	struct dray_merge3_parts out = { .v = NULL };
	struct dray_names a = { .ids = 0 };
	struct dray_merge3_part p;
	int rc = -1;

	if (dray_names_load(v, numbers, &a, e) != 0)
		goto out;
	rc = 0;
	if (a.doubles || (!a.clashes && dray_merge3_part_clashes(parts) == 0))
		goto out;
	arrange(&a);
	for (uint32_t id = a.next[a.ids]; id != NONE && rc == 0; id = a.next[id]) {
		p = decide(v, &a, id);
		rc = dray_merge3_part_add(&out, &p, e);
	}
	if (rc == 0) {
		free(parts->v);
		*parts = out;
		out.v = NULL;
	}
out:
	free(out.v);
	dray_names_free(&a);
	return rc;
}
