/*
 * paths.c - paths that a person gives, looked up in a bundle: each stands for itself and all beneath it.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/path.h"

#include "look.h"

const char *
tool_leaf_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

char *
tool_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

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
	return dray_hint(e, "paths are those that %s list shows", tool_prog);
}

int
tool_mark_path(const struct dray_index *ix, const char *path, bool removed, uint8_t value, uint8_t *mark,
    struct dray_err *e)
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
		if (en.target == DRAY_NONE && !removed)
			return unknown_path(ix, p, len, e);
	}
	/* the rows of what lies beneath a path follow it */
	for (; row < rows; row++) {
		dray_index_entry(ix, row, &en);
		if (!dray_path_under(en.path, en.len, p, len))
			break;
		if (en.target != DRAY_NONE || removed)
			mark[row] = value;
	}
	return 0;
}
