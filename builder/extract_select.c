/*
 * extract_select.c - which paths are written: those named and all beneath them, the directories above them, and which
 * name of a hard-link group holds the inode.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/look.h"

#include "builder/extract.h"

enum { NOT, ABOVE, ASKED };

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
		if (tool_mark_path(x->ix, x->o->paths[i], false, ASKED, mark, e) != 0)
			goto out;
	if (x->o->n_paths == 0 && tool_mark_path(x->ix, "", false, ASKED, mark, e) != 0)
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
