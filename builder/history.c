/*
 * history.c - former states of paths from several whole trees: one walk over them side by side.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "builder/history.h"
#include "builder/merge.h"

static int
by_content(const void *pa, const void *pb)
{
	const struct build_release *const *a = pa, *const *b = pb;

	return build_release_cmp(*a, *b);
}

/* one more node, a copy of @nd or nothing there */
static int
append(struct build_release *r, const struct build_node *path, const struct build_node *nd, size_t of,
    struct dray_err *e)
{
	struct build_node *to = build_release_append(r);

	if (to == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (nd != NULL)
		*to = *nd;
	else
		*to = (struct build_node){ .path = path->path, .len = path->len, .type = DRAY_ABSENT };
	to->of = (uint32_t)of;
	return 0;
}

/* @moved: by source and node, where the node stands now; a group's first name comes before the others */
static int
join_path(struct build_release *r, const struct build_merge *m, const struct build_node *path, uint32_t **moved,
    struct dray_err *e)
{
	bool absent = false;

	for (size_t i = 0; i < m->n; i++) {
		struct build_node *nd = m->here[i];

		if (nd == NULL) {
			absent = true;
			continue;
		}
		if (append(r, path, nd, i, e) != 0)
			return -1;
		assert(moved[i] != NULL);	/* one for each source */
		moved[i][nd - m->rel[i]->v] = (uint32_t)(r->n - 1);
		if (nd->link != 0)
			r->v[r->n - 1].link = moved[i][nd->link - 1] + 1;
	}
	return absent ? append(r, path, NULL, 0, e) : 0;
}

static int
join(struct build_release *r, size_t n, struct dray_err *e)
{
	uint32_t **moved = calloc(n, sizeof(*moved));
	const struct build_node *path;
	struct build_merge m;
	int rc = -1;

	if (build_merge_begin(&m, r->sources, n, e) != 0)
		goto out;
	if (moved == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		if ((moved[i] = calloc(r->sources[i]->n + 1, sizeof(uint32_t))) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
	while ((path = build_merge_next(&m)) != NULL)
		if (join_path(r, &m, path, moved, e) != 0)
			goto out;
	rc = 0;
out:
	build_merge_end(&m);
	for (size_t i = 0; moved != NULL && i < n; i++)
		free(moved[i]);
	free(moved);
	return rc;
}

int
build_history_join(struct build_release *const *sources, size_t n, struct build_release **out, struct dray_err *e)
{
	struct build_release *r;

	*out = NULL;
	if (build_release_new("history", 1, &r, e) != 0)
		return -1;
	r->history = true;
	if ((r->sources = calloc(n, sizeof(*r->sources))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
	} else {
		memcpy(r->sources, sources, n * sizeof(*r->sources));
		/* so that no number shows the order of arguments */
		qsort(r->sources, n, sizeof(*r->sources), by_content);
		if (join(r, n, e) == 0) {
			for (size_t i = 0; i < n; i++)
				build_release_drop_nodes(r->sources[i]);
			*out = r;
			return 0;
		}
	}
	build_release_free(r);
	return -1;
}
