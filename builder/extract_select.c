/*
 * extract_select.c - which paths are written: those named and all beneath them, the directories above them, and which
 * name of a hard-link group holds the inode.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/extract.h"

enum { NOT, ABOVE, ASKED };

/* "./usr/bin/", "/usr/bin" and "usr/bin" are the same; empty: everything */
static void
trim(const char *path, const char **p, size_t *len)
{
	size_t n = strlen(path);

	while (n > 0 && (path[0] == '/' || (path[0] == '.' && (n == 1 || path[1] == '/')))) {
		path++;
		n--;
	}
	while (n > 0 && path[n - 1] == '/')
		n--;
	*p = path;
	*len = n;
}

static int
unknown_path(const struct dray_index *ix, const char *path, size_t len, struct dray_err *e)
{
	char quoted[600];

	dray_quote(path, len, quoted, sizeof(quoted));
	if (dray_index_find(ix, path, len) != DRAY_NONE)
		return dray_fail(e, DRAY_E_USAGE, "%s: the release has removed it", quoted);
	dray_fail(e, DRAY_E_USAGE, "%s: the release has no such path", quoted);
	return dray_hint(e, "paths are those that dray list shows");
}

/* mark what is asked for; the rows of what lies beneath a path follow it */
static int
mark_path(const struct dray_index *ix, const char *path, uint8_t *mark, struct dray_err *e)
{
	uint32_t rows = dray_index_rows(ix, DRAY_T_ENTRIES), row = 0;
	struct dray_entry en;
	const char *p;
	size_t len;

	trim(path, &p, &len);
	if (len > 0) {
		if (len >= DRAY_PATH_MAX || (row = dray_index_find(ix, p, len)) == DRAY_NONE)
			return unknown_path(ix, p, len, e);
		dray_index_entry(ix, row, &en);
		if (en.target == DRAY_NONE)
			return unknown_path(ix, p, len, e);
	}
	for (; row < rows; row++) {
		dray_index_entry(ix, row, &en);
		if (!dray_path_under(en.path, en.len, p, len))
			break;
		if (en.target != DRAY_NONE)
			mark[row] = ASKED;
	}
	return 0;
}

/* the index has proved that each of them is a directory of the release */
static void
mark_above(const struct dray_index *ix, uint32_t row, uint8_t *mark)
{
	struct dray_entry en;

	dray_index_entry(ix, row, &en);
	for (size_t len = en.len; len > 0; len--) {
		uint32_t up;

		if (en.path[len - 1] != '/')
			continue;
		up = dray_index_find(ix, en.path, len - 1);
		if (up == DRAY_NONE || mark[up] != NOT)
			return;
		mark[up] = ABOVE;
	}
}

static void
take_node(struct extract *x, uint32_t row, bool parent, uint32_t *holder)
{
	struct extract_node *nd = &x->nodes[x->n];
	struct dray_entry en;
	struct dray_state s;

	dray_index_entry(x->ix, row, &en);
	dray_index_state(x->ix, en.target, &s);
	*nd = (struct extract_node){ .entry = row, .content = s.content, .link_to = DRAY_NONE, .type = s.type,
		.parent = parent };
	if (!x->o->preserve && (s.type == DRAY_CHARDEV || s.type == DRAY_BLOCKDEV)) {
		nd->skip = true;
		x->r->left_devices++;
	} else if (s.link != 0) {
		/* the first name that is written; not always the one that names the group */
		if (holder[s.link - 1] == DRAY_NONE)
			holder[s.link - 1] = (uint32_t)x->n;
		else
			nd->link_to = holder[s.link - 1];
	}
	x->n++;
}

int
build_extract_select(struct extract *x, struct dray_err *e)
{
	uint32_t rows = dray_index_rows(x->ix, DRAY_T_ENTRIES);
	uint8_t *mark = calloc((size_t)rows + 1, 1);
	uint32_t *holder = calloc((size_t)rows + 1, sizeof(*holder));
	size_t n = 0;
	int rc = -1;

	if (mark == NULL || holder == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < x->o->n_paths; i++)
		if (mark_path(x->ix, x->o->paths[i], mark, e) != 0)
			goto out;
	if (x->o->n_paths == 0 && mark_path(x->ix, "", mark, e) != 0)
		goto out;
	for (uint32_t i = 0; i < rows; i++)
		if (mark[i] == ASKED)
			mark_above(x->ix, i, mark);
	for (uint32_t i = 0; i < rows; i++) {
		n += mark[i] != NOT;
		holder[i] = DRAY_NONE;
	}
	if ((x->nodes = calloc(n + 1, sizeof(*x->nodes))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (uint32_t i = 0; i < rows; i++)
		if (mark[i] != NOT)
			take_node(x, i, mark[i] == ABOVE, holder);
	rc = 0;
out:
	free(mark);
	free(holder);
	return rc;
}
