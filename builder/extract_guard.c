/*
 * extract_guard.c - before and after: is anything in the way, and taking away what a failed extraction has made.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/extract.h"
#include "dray/os.h"

static int
in_the_way(const struct extract *x, const struct extract_node *nd, const char *what, struct dray_err *e)
{
	dray_fail(e, DRAY_E_SYSTEM, "%s", what);
	build_extract_blame(x, nd->entry, e);
	return dray_hint(e, "nothing is overwritten: give an empty or a new folder with -C; nothing was written");
}

int
build_extract_check_free(struct extract *x, struct dray_err *e)
{
	struct dray_walk *w = &x->workers[0].walk;
	struct dray_entry gone = { .path = NULL };	/* a directory that is not there: nor is what it holds */
	int rc = 0;

	for (size_t i = 0; i < x->n && rc == 0; i++) {
		const struct extract_node *nd = &x->nodes[i];
		char leaf[DRAY_NAME_MAX + 1];
		struct dray_entry en;
		struct stat st;
		int dir, way;

		dray_index_entry(x->ix, nd->entry, &en);
		if (nd->skip || (gone.path != NULL && dray_path_under(en.path, en.len, gone.path, gone.len)))
			continue;
		if ((way = dray_walk_parent(w, en.path, en.len, &dir, leaf, e)) < 0)
			return build_extract_blame(x, nd->entry, e);
		if (way == 2)
			rc = in_the_way(x, nd, "something that is no directory is in the way", e);
		else if (way == 0 && fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) == 0) {
			if (!nd->parent || !S_ISDIR(st.st_mode))
				rc = in_the_way(x, nd, "is there already", e);
		} else if (way == 0 && errno != ENOENT) {
			dray_fail_errno(e, "look");
			return build_extract_blame(x, nd->entry, e);
		} else if (nd->type == DRAY_DIR) {
			gone = en;
		}
	}
	return rc;
}

static bool
remove_one(const struct extract *x, struct dray_walk *w, const struct extract_node *nd)
{
	struct dray_err ignored = { 0 };
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat st;
	int dir;

	if (build_extract_place(x, w, nd, &dir, leaf, &ignored) != 0)
		return false;
	if (os_stat_at(dir, leaf, &st) != 0)
		return errno == ENOENT;
	/* somebody else's by now */
	if (st.ino != nd->ino)
		return false;
	return unlinkat(dir, leaf, nd->type == DRAY_DIR ? AT_REMOVEDIR : 0) == 0;
}

void
build_extract_undo(struct extract *x, size_t *left, char *first, size_t cap)
{
	struct dray_walk *w = &x->workers[0].walk;
	struct dray_err ignored = { 0 };
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	int dir;

	*left = 0;
	/* directories that already have their final mode may not let us in */
	for (size_t i = 0; i < x->n; i++)
		if (x->nodes[i].made && x->nodes[i].type == DRAY_DIR &&
		    build_extract_place(x, w, &x->nodes[i], &dir, leaf, &ignored) == 0 &&
		    fchmodat(dir, leaf, 0700, AT_SYMLINK_NOFOLLOW) != 0)
			continue;	/* what cannot be removed then is counted below */
	for (size_t i = x->n; i-- > 0;) {
		if (!x->nodes[i].made || remove_one(x, w, &x->nodes[i]))
			continue;
		dray_index_entry(x->ix, x->nodes[i].entry, &en);
		dray_quote(en.path, en.len, first, cap);
		++*left;
	}
}
