/*
 * park.c - what is local in a directory that goes into the stash: every name is listed, so that a person is told of it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installer/planning.h"
#include "installer/tree.h"

/* keep a copy of @dir/@name */
static int
add_local(struct inst_rare *r, const char *dir, size_t dir_len, const char *name, struct dray_err *e)
{
	size_t n = strlen(name), len = dir_len + 1 + n;
	char *path, **v;

	if (len >= DRAY_PATH_MAX)
		return dray_fail(e, DRAY_E_SYSTEM, "a path inside is longer than %d bytes", DRAY_PATH_MAX - 1);
	if ((v = realloc(r->locals, (r->n_locals + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	r->locals = v;
	if ((path = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	memcpy(path, dir, dir_len);
	path[dir_len] = '/';
	memcpy(path + dir_len + 1, name, n + 1);
	v[r->n_locals++] = path;
	return 0;
}

static int
by_path(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return dray_path_cmp(x, strlen(x), y, strlen(y));
}

void
inst_park_sort(char **paths, size_t n)
{
	if (n > 1)
		qsort(paths, n, sizeof(*paths), by_path);
}

/* is it a path of the release, which decides about itself? */
static bool
is_known(const struct inst_planning *pl, const struct dray_entry *dir, const char *name)
{
	char path[DRAY_PATH_MAX];
	int len = snprintf(path, sizeof(path), "%.*s/%s", (int)dir->len, dir->path, name);
	uint32_t row = len > 0 && (size_t)len < sizeof(path) ? dray_index_find(pl->ix, path, (size_t)len) : DRAY_NONE;

	return row != DRAY_NONE && pl->plan->decides[row] != 0;
}

static int
list(const struct inst_planning *pl, struct inst_item *it, const struct dray_entry *en, DIR *dir, struct dray_err *e)
{
	const char *path = en->path;
	char buf[DRAY_PATH_MAX];
	size_t len = en->len;
	struct dray_err why;
	struct dirent *d;

	if (!inst_where(pl->plan, false, &path, &len, buf))
		return dray_fail(e, DRAY_E_SYSTEM, "its path is too long");
	while (errno = 0, (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (is_known(pl, en, d->d_name))
			continue;
		if (add_local(it->rare, path, len, d->d_name, e) != 0)
			return -1;
		/* a mount would go along with the directory, or keep it from going */
		if (it->rare->broke == NULL && inst_tree_no_mount(dirfd(dir), d->d_name, e) != 0) {
			if (e->code != DRAY_E_SYSTEM)
				return -1;
			why = *e;
			if (inst_item_broke(it, why.text, e) != 0)
				return -1;
			dray_err_clear(e);
		}
	}
	if (errno != 0)
		return dray_fail_errno(e, "read directory");
	inst_park_sort(it->rare->locals, it->rare->n_locals);
	return 0;
}

int
inst_park_list(const struct inst_planning *pl, struct inst_item *it, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], quoted[DRAY_QUOTE_CAP(255)];
	struct dray_entry en;
	struct dray_walk w;
	DIR *dir = NULL;
	int parent, fd = -1, r;

	dray_index_entry(pl->ix, it->row, &en);
	dray_walk_init(&w, pl->root);
	w.component_walk = pl->o->component_walk;
	r = inst_where_parent(pl->plan, false, &w, &en, &parent, leaf, e);
	if (r == 0 && (fd = openat(parent, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) != -1)
		dir = fdopendir(fd);
	if (dir != NULL)
		r = list(pl, it, &en, dir, e);
	else if (r == 0)
		r = dray_fail_errno(e, "open directory");
	else if (r > 0)
		r = dray_fail(e, DRAY_E_DRIFT, "changed while the plan was being made");
	if (dir != NULL)
		closedir(dir);
	else if (fd != -1)
		close(fd);	/* fdopendir failed; nothing was written */
	dray_walk_close(&w);
	return r == 0 ? 0 : dray_wrap(e, "%s", dray_quote(en.path, en.len, quoted, sizeof(quoted)));
}

void
inst_park_free(char **paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
}
