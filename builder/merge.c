/*
 * merge.c - the nodes of one path in several releases, for each path in path order.
 */
#include <stdlib.h>

#include "builder/merge.h"
#include "dray/path.h"

int
build_merge_begin(struct build_merge *m, struct build_release *const *rel, size_t n, struct dray_err *e)
{
	*m = (struct build_merge){ .rel = rel, .n = n };
	m->at = calloc(n, sizeof(*m->at));
	m->here = calloc(n, sizeof(*m->here));
	m->count = calloc(n, sizeof(*m->count));
	if (m->at == NULL || m->here == NULL || m->count == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

void
build_merge_end(struct build_merge *m)
{
	free(m->at);
	free(m->here);
	free(m->count);
}

static size_t
states_at(const struct build_release *r, size_t at)
{
	const struct build_node *first = &r->v[at];
	size_t n = 1;

	while (at + n < r->n && dray_path_cmp(first->path, first->len, first[n].path, first[n].len) == 0)
		n++;
	return n;
}

struct build_node *
build_merge_next(struct build_merge *m)
{
	struct build_node *low = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct build_node *nd = m->at[i] < m->rel[i]->n ? &m->rel[i]->v[m->at[i]] : NULL;
		int c;

		m->here[i] = NULL;
		if (nd == NULL)
			continue;
		c = low == NULL ? -1 : dray_path_cmp(nd->path, nd->len, low->path, low->len);
		if (c > 0)
			continue;
		if (c < 0)
			for (size_t k = 0; k < i; k++)
				m->here[k] = NULL;
		low = c < 0 ? nd : low;
		m->here[i] = nd;
	}
	for (size_t i = 0; low != NULL && i < m->n; i++) {
		m->count[i] = m->here[i] == NULL ? 0 : m->rel[i]->history ? states_at(m->rel[i], m->at[i]) : 1;
		m->at[i] += m->count[i];
	}
	return low;
}
