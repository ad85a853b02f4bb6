/*
 * where.c - from a path of the release to the place where it lies here, and back.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/path.h"

#include "installer/plan.h"

/* the innermost redirect above @path */
static const struct inst_redirect *
above(const struct inst_plan *p, bool read, const char *path, size_t len)
{
	const struct inst_redirect *best = NULL;

	for (size_t i = 0; i < p->n_redirects; i++) {
		const struct inst_redirect *r = &p->redirects[i];

		if ((read || !r->only_read) && len > r->from_len && dray_path_under(path, len, r->from, r->from_len) &&
		    (best == NULL || r->from_len > best->from_len))
			best = r;
	}
	return best;
}

bool
inst_where(const struct inst_plan *p, bool read, const char **path, size_t *len, char *buf)
{
	const struct inst_redirect *r = p->n_redirects == 0 ? NULL : above(p, read, *path, *len);
	size_t rest;

	if (r == NULL)
		return true;
	rest = *len - r->from_len;	/* with its slash */
	if (r->to_len + rest >= DRAY_PATH_MAX)
		return false;
	memcpy(buf, r->to, r->to_len);
	memcpy(buf + r->to_len, *path + r->from_len, rest);
	*path = buf;
	*len = r->to_len + rest;
	return true;
}

int
inst_where_keep(struct inst_plan *p, const struct dray_entry *en, const char **path, size_t *len, struct dray_err *e)
{
	char buf[DRAY_PATH_MAX], **v;

	*path = en->path;
	*len = en->len;
	if (!inst_where(p, false, path, len, buf))
		return dray_fail(e, DRAY_E_SYSTEM, "a path is too long where its symlink leads");
	if (*path != buf)
		return 0;
	if ((v = realloc(p->texts, (p->n_texts + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->texts = v;
	if ((v[p->n_texts] = strndup(buf, *len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*path = v[p->n_texts++];
	return 0;
}

int
inst_where_parent(const struct inst_plan *p, bool read, struct dray_walk *w, const struct dray_entry *en, int *dir,
    char leaf[DRAY_NAME_MAX + 1], struct dray_err *e)
{
	const char *path = en->path;
	char buf[DRAY_PATH_MAX];
	size_t len = en->len;

	return inst_where(p, read, &path, &len, buf) ? dray_walk_parent(w, path, len, dir, leaf, e) : 1;
}

static bool
is_dir(const struct dray_index *ix, uint32_t row)
{
	struct dray_entry en;
	struct dray_state s;

	dray_index_entry(ix, row, &en);
	if (en.target == DRAY_NONE)
		return false;
	dray_index_state(ix, en.target, &s);
	return s.type == DRAY_DIR;
}

uint32_t
inst_where_row(const struct inst_plan *p, const char *path, size_t len)
{
	uint32_t row = len == 0 ? DRAY_NONE : dray_index_find(p->ix, path, len);
	char buf[DRAY_PATH_MAX];

	for (size_t i = 0; i < p->n_redirects && (row == DRAY_NONE || !is_dir(p->ix, row)); i++) {
		const struct inst_redirect *r = &p->redirects[i];

		if (r->only_read || len <= r->to_len || !dray_path_under(path, len, r->to, r->to_len) ||
		    r->from_len + len - r->to_len >= DRAY_PATH_MAX)
			continue;
		memcpy(buf, r->from, r->from_len);
		memcpy(buf + r->from_len, path + r->to_len, len - r->to_len);
		row = dray_index_find(p->ix, buf, r->from_len + len - r->to_len);
	}
	return row;
}

void
inst_where_free(struct inst_plan *p)
{
	for (size_t i = 0; i < p->n_redirects; i++)
		free(p->redirects[i].to);
	free(p->redirects);
}
