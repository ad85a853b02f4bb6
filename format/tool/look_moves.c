/*
 * look_moves.c - which new path has the content of which path that is gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/path.h"
#include "tool/look.h"

struct item {			/* a new path, or one that is gone, with a content */
	uint32_t content, row;
	const char *leaf;	/* its last part */
	size_t len;
};

static size_t
add(const struct dray_index *ix, struct item *v, size_t n, const struct dray_entry *en, uint32_t row, uint32_t state)
{
	struct dray_content c;
	struct dray_state s;
	size_t at = en->len;

	dray_index_state(ix, state, &s);
	if (s.type != DRAY_FILE)
		return n;
	dray_index_content(ix, s.content, &c);
	if (c.size == 0)	/* nothing, which cannot be moved */
		return n;
	while (at > 0 && en->path[at - 1] != '/')
		at--;
	if (v != NULL)
		v[n] = (struct item){ s.content, row, en->path + at, en->len - at };
	return n + 1;
}

/* items of all paths that the release has anew (@gone: that it has no longer); @v NULL: only count */
static size_t
collect(const struct dray_index *ix, bool gone, struct item *v)
{
	struct dray_entry en;
	struct dray_alt alt;
	size_t n = 0;

	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_ENTRIES); i++) {
		dray_index_entry(ix, i, &en);
		if (!gone && en.target != DRAY_NONE && tool_change_of(ix, NULL, i, &en) == TOOL_ADDED)
			n = add(ix, v, n, &en, i, en.target);
		for (uint32_t k = 0; gone && en.target == DRAY_NONE && k < en.alt_count; k++) {
			dray_index_alt(ix, en.alt_first + k, &alt);
			if (alt.state != DRAY_NONE)
				n = add(ix, v, n, &en, i, alt.state);
		}
	}
	return n;
}

static int
content_cmp(const struct item *a, const struct item *b)
{
	return (a->content > b->content) - (a->content < b->content);
}

static int
leaf_cmp(const struct item *a, const struct item *b)
{
	int c = content_cmp(a, b);

	return c != 0 ? c : dray_path_cmp(a->leaf, a->len, b->leaf, b->len);
}

static int
by_leaf(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int c = leaf_cmp(a, b);

	return c != 0 ? c : (a->row > b->row) - (a->row < b->row);
}

static int
by_content(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int c = content_cmp(a, b);

	return c != 0 ? c : (a->row > b->row) - (a->row < b->row);
}

static size_t
first_of(const struct item *gone, size_t n, const struct item *want, int (*cmp)(const struct item *, const struct item *))
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cmp(&gone[mid], want) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Each new path, in path order, gets the first one that is left of those equal to it. @gone is sorted by @cmp and path;
 * @skip, zeros, counts at the first of equal ones how many of them are known to be taken.
 */
static void
pair(uint32_t *moves, const struct item *gone, size_t n_gone, uint32_t *skip, const struct item *new, size_t n_new,
    int (*cmp)(const struct item *, const struct item *))
{
	for (size_t k = 0; k < n_new; k++) {
		size_t first = first_of(gone, n_gone, &new[k], cmp), i = first + (first < n_gone ? skip[first] : 0);

		if (first == n_gone || moves[new[k].row] != DRAY_NONE)
			continue;
		while (i < n_gone && cmp(&gone[i], &new[k]) == 0 && moves[gone[i].row] != DRAY_NONE)
			i++;
		skip[first] = (uint32_t)(i - first);
		if (i == n_gone || cmp(&gone[i], &new[k]) != 0)
			continue;
		moves[gone[i].row] = new[k].row;
		moves[new[k].row] = gone[i].row;
	}
}

uint32_t *
tool_moves_of(const struct dray_index *ix)
{
	uint32_t rows = dray_index_rows(ix, DRAY_T_ENTRIES);
	uint32_t *moves = malloc(((size_t)rows + 1) * sizeof(*moves));
	size_t n_gone = collect(ix, true, NULL), n_new = n_gone > 0 ? collect(ix, false, NULL) : 0;
	struct item *gone = calloc(n_gone + 1, sizeof(*gone)), *new = calloc(n_new + 1, sizeof(*new));
	uint32_t *skip = calloc(n_gone + 1, sizeof(*skip));

	if (moves == NULL || gone == NULL || new == NULL || skip == NULL) {
		free(moves);
		moves = NULL;
		goto out;
	}
	memset(moves, 0xff, ((size_t)rows + 1) * sizeof(*moves));	/* DRAY_NONE */
	if (n_new == 0)
		goto out;
	collect(ix, true, gone);
	collect(ix, false, new);
	qsort(gone, n_gone, sizeof(*gone), by_leaf);
	pair(moves, gone, n_gone, skip, new, n_new, leaf_cmp);
	qsort(gone, n_gone, sizeof(*gone), by_content);
	memset(skip, 0, n_gone * sizeof(*skip));
	pair(moves, gone, n_gone, skip, new, n_new, content_cmp);
out:
	free(skip);
	free(gone);
	free(new);
	return moves;
}

void
tool_move_print(const struct dray_index *ix, const uint32_t *moves, uint32_t row, enum tool_change change)
{
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];
	struct dray_entry other;

	if (moves[row] == DRAY_NONE)
		return;
	dray_index_entry(ix, moves[row], &other);
	printf(" moved %s %s", change == TOOL_MOVED ? "from" : "to",
	    dray_quote(other.path, other.len, quoted, sizeof(quoted)));
}

void
tool_move_json(struct dray_json *o, const struct dray_index *ix, const uint32_t *moves, uint32_t row,
    enum tool_change change)
{
	struct dray_entry other;

	if (moves[row] == DRAY_NONE)
		return;
	dray_index_entry(ix, moves[row], &other);
	dray_json_set_path(o, change == TOOL_MOVED ? "moved_from" : "moved_to", other.path, other.len);
}
