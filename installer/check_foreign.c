/*
 * check_foreign.c - what the release knows nothing of: it keeps removed directories, and is listed on request.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"

#include "installer/checking.h"
#include "installer/tree.h"

/* names in a directory of the release; an empty list when it is gone, is something else or may not be listed.
 * @on: not NULL: only if it is on that mount */
static int
list(struct dray_walk *w, const char *path, size_t len, const struct dray_stat *on, struct inst_names *names,
    struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat st;
	int dir = w->root, fd, r, rc = 0;

	if (len > 0 && (r = dray_walk_parent(w, path, len, &dir, leaf, e)) != 0) {
		if (r == -1)
			dray_err_clear(e);	/* told as not checked already */
		return 0;
	}
	fd = openat(dir, len > 0 ? leaf : ".", O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return 0;
	if (os_stat_at(fd, "", &st) == 0 && (on == NULL || (st.dev == on->dev && st.mnt_id == on->mnt_id)))
		rc = inst_names_list(fd, names, e);
	close(fd);
	return rc;
}

/* row of @name in the directory, DRAY_NONE: no release has it. @path: of the directory, room for DRAY_PATH_MAX */
static uint32_t
row_of(const struct dray_index *ix, char *path, size_t len, const char *name, size_t *full)
{
	size_t n = strlen(name), at = len > 0 ? len + 1 : 0;

	*full = at + n;
	if (*full >= DRAY_PATH_MAX)
		return DRAY_NONE;
	if (len > 0)
		path[len] = '/';
	memcpy(path + at, name, n);
	return dray_index_find(ix, path, *full);
}

static bool
is_extra(const struct inst_check *c, uint32_t row)
{
	return (c->diffs[row] & INST_DIFF_BIT(INST_DIFF_EXTRA)) != 0;
}

static int
removed_dir(struct inst_checking *ck, struct dray_walk *w, uint32_t row, struct dray_err *e)
{
	struct inst_names names = { NULL, 0, 0 };
	char path[DRAY_PATH_MAX];
	struct dray_entry en;
	uint32_t sub;
	size_t full;
	int rc;

	dray_index_entry(ck->ix, row, &en);
	memcpy(path, en.path, en.len);
	rc = list(w, en.path, en.len, NULL, &names, e);
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		sub = row_of(ck->ix, path, en.len, names.v[i], &full);
		if (sub == DRAY_NONE || !is_extra(ck->c, sub))
			ck->c->diffs[row] = 0;
	}
	inst_names_free(&names);
	return rc;
}

int
inst_check_removed_dirs(struct inst_checking *ck, struct dray_err *e)
{
	struct dray_walk *w = &ck->checkers[0].walk;

	/* what a directory holds comes after it, so it has been judged when the directory's turn comes */
	for (uint32_t row = ck->c->rows; row-- > 0; )
		if (is_extra(ck->c, row) && removed_dir(ck, w, row, e) != 0)
			return -1;
	return 0;
}

struct strangers {
	const struct dray_index *ix;
	const struct inst_check *c;
	const char *state;
	inst_foreign_fn *fn;
	void *ctx;
	struct dray_walk walk;
	struct dray_stat root;
};

static bool
ours(const struct strangers *s, const char *path, size_t len)
{
	return dray_path_reserved(path, len) ||
	    (s->state[0] != '\0' && dray_path_under(path, len, s->state, strlen(s->state)));
}

static int
strangers_in(struct strangers *s, const char *dir, size_t len, struct dray_err *e)
{
	struct inst_names names = { NULL, 0, 0 };
	char path[DRAY_PATH_MAX], leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	struct dray_stat st;
	uint32_t row;
	size_t full;
	int rc, at;

	memcpy(path, dir, len);
	rc = list(&s->walk, dir, len, &s->root, &names, e);
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		row = row_of(s->ix, path, len, names.v[i], &full);
		if (full >= DRAY_PATH_MAX)
			continue;	/* no release could hold it */
		if (row != DRAY_NONE) {
			dray_index_entry(s->ix, row, &en);
			if (en.target != DRAY_NONE || is_extra(s->c, row))
				continue;
		}
		if (ours(s, path, full))
			continue;
		if (dray_walk_parent(&s->walk, path, full, &at, leaf, e) != 0 || os_stat_at(at, leaf, &st) != 0) {
			dray_err_clear(e);	/* gone meanwhile */
			continue;
		}
		rc = s->fn(s->ctx, path, full, (st.mode & S_IFMT) == S_IFDIR, e);
	}
	inst_names_free(&names);
	return rc;
}

int
inst_check_foreign(int rootfd, const struct dray_index *ix, const struct inst_check *c, const char *state,
    inst_foreign_fn *fn, void *ctx, struct dray_err *e)
{
	struct strangers s = { .ix = ix, .c = c, .state = state, .fn = fn, .ctx = ctx };
	struct dray_entry en;
	struct dray_state st;
	int rc;

	if (os_stat_at(rootfd, "", &s.root) != 0)
		return dray_fail_errno(e, "look at the root directory");
	dray_walk_init(&s.walk, rootfd);
	rc = strangers_in(&s, "", 0, e);
	for (uint32_t row = 0; rc == 0 && row < c->rows; row++) {
		dray_index_entry(ix, row, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &st);
		if (st.type == DRAY_DIR &&
		    (c->diffs[row] & (INST_DIFF_BIT(INST_DIFF_MISSING) | INST_DIFF_BIT(INST_DIFF_TYPE))) == 0)
			rc = strangers_in(&s, en.path, en.len, e);
	}
	dray_walk_close(&s.walk);
	return rc;
}
