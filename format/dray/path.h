/*
 * path.h - the only place where a name becomes a path.
 *
 * A path of a release is relative, 1 to 4095 bytes, parts of 1 to 255 bytes separated by one '/', no part "." or
 * "..", no NUL; any other byte may occur. Source: spec/bundle-format.md, "Paths".
 */
#ifndef DRAY_PATH_H
#define DRAY_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "dray/err.h"

#define DRAY_PATH_MAX 4096	/* bytes, the NUL included */
#define DRAY_NAME_MAX 255	/* bytes of one part */

/** dray_path_ok - is it a path by the grammar above? *why: a static text when it is not (may be NULL) */
DRAY_MUST_CHECK bool dray_path_ok(const char *path, size_t len, const char **why);

/** dray_path_cmp - release order: '/' sorts before every other byte, so a directory is followed by what it holds */
int dray_path_cmp(const char *a, size_t alen, const char *b, size_t blen);

/** dray_path_under - is @path equal to @dir or beneath it? (@dir "" contains everything) */
bool dray_path_under(const char *path, size_t len, const char *dir, size_t dlen);

/** dray_path_reserved - does it name, or lie beneath, a part ".dray" anywhere, .dray-pending, var/lib/dray, var/db/dray? */
bool dray_path_reserved(const char *path, size_t len);

/**
 * struct dray_walk - opens parents beneath a root handle, never through a symlink; remembers the last parent
 * @root: borrowed handle of the root directory. One walk belongs to one thread.
 */
struct dray_walk {
	int root;
	int dir;			/* handle of the remembered parent, -1 if none; the root itself is never closed */
	size_t len;			/* length of its path */
	bool component_walk;		/* set: do not use openat2 (tests, old kernels) */
	char path[DRAY_PATH_MAX];
};

void dray_walk_init(struct dray_walk *w, int root);
void dray_walk_close(struct dray_walk *w);

/** dray_walk_forget - drop the remembered parent (after a swap that may have moved it) */
void dray_walk_forget(struct dray_walk *w);

/**
 * dray_walk_parent - open the directory that holds @path
 * @path, @len: as in a release; checked again here
 * @dirfd: borrowed, valid until the next call on @w; may be the root handle itself
 * @leaf:  points into @leaf_buf: the last part, NUL-terminated
 * Return: 0; 1 if a directory on the way does not exist (ENOENT); 2 if something on the way is not a directory
 *         (a symlink included); -1 with an error.
 * Source: openat2(2) RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, or openat(2) O_NOFOLLOW part
 * by part; both give the same answers.
 */
DRAY_MUST_CHECK int dray_walk_parent(struct dray_walk *w, const char *path, size_t len, int *dirfd,
    char leaf_buf[DRAY_NAME_MAX + 1], struct dray_err *e);

#endif
