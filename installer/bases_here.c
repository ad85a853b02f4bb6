/*
 * bases_here.c - the former contents that an edited file may have been made from: those of the release that is recorded, else
 * those of the base that most of its neighbours are in, or most of the tree.
 */
#include <string.h>

#include "installer/planning.h"
#include "installer/state.h"

/* the bases that are the recorded release; 0: none */
static uint64_t
recorded(const struct inst_planning *pl)
{
	const struct inst_installed *in = pl->o->installed;
	uint64_t bits = 0;

	if (in == NULL || !in->known)
		return 0;
	for (size_t b = 0; b < pl->desc->n_bases; b++)
		if (strcmp(pl->desc->bases[b].version, in->version) == 0 &&
		    (pl->desc->bases[b].counter == 0 || pl->desc->bases[b].counter == in->counter))
			bits |= UINT64_C(1) << b;
	return bits;
}

static void
add(const struct inst_planning *pl, const struct inst_item *it, const struct dray_entry *en, size_t of[DRAY_MAX_BASES])
{
	if (it->untouched || it->bases == 0 || en->alt_count == 0)
		return;
	for (size_t b = 0; b < pl->desc->n_bases; b++)
		of[b] += it->bases >> b & 1;
}

/* how many paths match each base: of those beside the item in its directory, or without one of all */
static void
count(const struct inst_planning *pl, const struct inst_item *it, size_t of[DRAY_MAX_BASES])
{
	size_t up = 0, at = it == NULL ? 0 : (size_t)(it - pl->items);
	struct dray_entry en = { .len = 0 }, other;

	memset(of, 0, DRAY_MAX_BASES * sizeof(of[0]));
	if (it != NULL) {
		dray_index_entry(pl->ix, it->row, &en);
		up = inst_parent_len(en.path, en.len);
	}
	for (; at > 0; at--) {		/* to the first one beneath the directory */
		dray_index_entry(pl->ix, pl->items[at - 1].row, &other);
		if (up > 0 && !dray_path_under(other.path, other.len, en.path, up))
			break;
	}
	for (; at < pl->n; at++) {
		dray_index_entry(pl->ix, pl->items[at].row, &other);
		if (up > 0 && !dray_path_under(other.path, other.len, en.path, up))
			break;
		if (it == NULL || inst_parent_len(other.path, other.len) == up)
			add(pl, &pl->items[at], &other, of);
	}
}

/* those of @among that most paths match */
static uint64_t
most(const struct inst_planning *pl, const size_t of[DRAY_MAX_BASES], uint64_t among)
{
	uint64_t bits = 0;
	size_t best = 0;

	for (size_t b = 0; b < pl->desc->n_bases; b++)
		if ((among >> b & 1) != 0 && of[b] > best)
			best = of[b];
	for (size_t b = 0; b < pl->desc->n_bases; b++)
		if ((among >> b & 1) != 0 && of[b] == best)
			bits |= UINT64_C(1) << b;
	return bits;
}

void
inst_bases_count(const struct inst_planning *pl, size_t of[DRAY_MAX_BASES])
{
	count(pl, NULL, of);
}

size_t
inst_bases_here(const struct inst_planning *pl, const struct inst_item *it, const size_t tree[DRAY_MAX_BASES],
    uint32_t v[INST_BASES_MOST])
{
	size_t of[DRAY_MAX_BASES], n = 0, k;
	uint64_t bases = recorded(pl);
	struct dray_entry en;
	struct dray_state s;
	struct dray_alt alt;

	if (bases == 0) {
		count(pl, it, of);
		bases = most(pl, tree, most(pl, of, UINT64_MAX));
	}
	dray_index_entry(pl->ix, it->row, &en);
	for (uint32_t i = 0; i < en.alt_count && n < INST_BASES_MOST; i++) {
		dray_index_alt(pl->ix, en.alt_first + i, &alt);
		if (alt.state == DRAY_NONE || (alt.bases & bases) == 0)
			continue;
		dray_index_state(pl->ix, alt.state, &s);
		if (s.type != DRAY_FILE)
			continue;
		for (k = 0; k < n && v[k] != s.content; k++)
			;
		if (k == n)
			v[n++] = s.content;
	}
	return n;
}
