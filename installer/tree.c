/*
 * tree.c - digest of a directory's inside. Depth costs no handles: each directory is opened from the top through
 * dray_walk, listed, and closed before anything below it is looked at.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/num.h"
#include "dray/os.h"
#include "dray/path.h"

#include "installer/plan.h"
#include "installer/tree.h"

struct tree_walk {
	struct dray_sha256 *h;		/* digest: every object goes in; else NULL */
	const struct inst_but *but;	/* ... but for these; may be NULL */
	inst_tree_fn *each;		/* else this is called, while the handle of the directory is open */
	void *ctx;
	struct dray_walk walk;
};

void
inst_names_free(struct inst_names *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int
inst_names_list(int fd, struct inst_names *l, struct dray_err *e)
{
	struct dirent *de;
	char **grown;
	DIR *d;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (copy == -1 || (d = fdopendir(copy)) == NULL) {
		dray_fail_errno(e, "list a directory");
		if (copy != -1)
			close(copy);
		return -1;
	}
	for (errno = 0; (de = readdir(d)) != NULL; errno = 0) {
		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		if (l->n == l->cap) {
			l->cap = l->cap == 0 ? 32 : l->cap * 2;
			if ((grown = realloc(l->v, l->cap * sizeof(*l->v))) == NULL)
				break;
			l->v = grown;
		}
		if ((l->v[l->n] = strdup(de->d_name)) == NULL)
			break;
		l->n++;
	}
	if (de != NULL || errno != 0) {
		dray_fail_errno(e, "list a directory");
		closedir(d);
		return -1;
	}
	closedir(d);
	if (l->n > 1)
		qsort(l->v, l->n, sizeof(*l->v), by_name);
	return 0;
}

enum left_out { ALL_OF_IT, TIMES_OF_IT, NOTHING_OF_IT };	/* goes into the digest */

static enum left_out
takes(const struct inst_but *b, const char *rel, size_t len)
{
	char path[2 * DRAY_PATH_MAX];
	enum left_out r = ALL_OF_IT;
	size_t n;

	if (b == NULL || b->n == 0 || b->len + 1 + len >= sizeof(path))
		return ALL_OF_IT;
	memcpy(path, b->path, b->len);
	path[b->len] = '/';
	memcpy(path + b->len + 1, rel, len);
	n = b->len + 1 + len;
	for (size_t i = 0; i < b->n && r != NOTHING_OF_IT; i++)
		if (dray_path_under(path, n, b->v[i].p, b->v[i].len))
			r = NOTHING_OF_IT;
		else if (dray_path_under(b->v[i].p, b->v[i].len, path, n))
			r = TIMES_OF_IT;
	return r;
}

static int
add_object(struct tree_walk *t, const char *rel, size_t len, const struct dray_stat *seen, struct dray_err *e)
{
	uint8_t row[8 * 9];
	bool dir = (seen->mode & 0170000) == 0040000, single = dir || seen->nlink == 1;
	struct dray_stat times = *seen, *st = &times;

	if (takes(t->but, rel, len) == TIMES_OF_IT)
		times.mtime_sec = times.ctime_sec = 0, times.mtime_nsec = times.ctime_nsec = 0;

	dray_put_u64(row, len);
	dray_put_u64(row + 8, st->mode);
	dray_put_u64(row + 16, st->ino);
	dray_put_u64(row + 24, dir ? 0 : st->size);
	dray_put_u64(row + 32, (uint64_t)st->mtime_sec);
	dray_put_u64(row + 40, st->mtime_nsec);
	dray_put_u64(row + 48, single ? (uint64_t)st->ctime_sec : 0);
	dray_put_u64(row + 56, single ? st->ctime_nsec : 0);
	dray_put_u64(row + 64, st->rdev_major * UINT64_C(4294967296) + st->rdev_minor);
	if (dray_sha256_add(t->h, row, sizeof(row), e) != 0)
		return -1;
	return dray_sha256_add(t->h, rel, len, e);
}

/* open the directory at @rel, list it and look at what it holds; no handle is kept */
static int
look_inside(struct tree_walk *t, const char *rel, size_t len, struct inst_names *l, struct dray_stat **stats,
    struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	int fd = t->walk.root, parent, r, rc = -1;
	size_t i;

	if (len > 0) {
		r = dray_walk_parent(&t->walk, rel, len, &parent, leaf, e);
		if (r > 0)
			dray_fail(e, DRAY_E_DRIFT, "a directory inside went away");
		if (r != 0)
			return -1;
		if ((fd = openat(parent, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
			return dray_fail_errno(e, "open a directory inside");
	}
	if (inst_names_list(fd, l, e) != 0)
		goto out;
	if ((*stats = calloc(l->n == 0 ? 1 : l->n, sizeof(**stats))) == NULL) {
		dray_fail_errno(e, "tree digest");
		goto out;
	}
	for (i = 0; i < l->n; i++) {
		if (os_stat_at(fd, l->v[i], &(*stats)[i]) == -1) {
			dray_fail_errno(e, "look at an object inside");
			goto out;
		}
		if (t->each != NULL && t->each(t->ctx, fd, l->v[i], &(*stats)[i], e) != 0)
			goto out;
	}
	rc = 0;
out:
	if (fd != t->walk.root)
		close(fd);
	return rc;
}

/* recursion costs a list of names a level */
static int
add_dir(struct tree_walk *t, char *rel, size_t len, struct dray_err *e)
{
	struct inst_names l = { 0 };
	struct dray_stat *stats = NULL;
	int rc = -1;
	size_t i, n, at;

	if (look_inside(t, rel, len, &l, &stats, e) != 0)
		goto out;
	for (i = 0; i < l.n; i++) {
		n = strlen(l.v[i]);
		if (len + 1 + n >= DRAY_PATH_MAX) {
			dray_fail(e, DRAY_E_SYSTEM, "a path inside is longer than %d bytes", DRAY_PATH_MAX - 1);
			goto out;
		}
		at = len;
		if (len > 0)
			rel[at++] = '/';
		memcpy(rel + at, l.v[i], n + 1);
		at += n;
		if (t->h != NULL && takes(t->but, rel, at) == NOTHING_OF_IT) {
			rel[len] = '\0';
			continue;
		}
		if (t->h != NULL && add_object(t, rel, at, &stats[i], e) != 0)
			goto out;
		if ((stats[i].mode & 0170000) == 0040000 && add_dir(t, rel, at, e) != 0)
			goto out;
		rel[len] = '\0';
	}
	rc = 0;
out:
	free(stats);
	inst_names_free(&l);
	return rc;
}

/* 0 done; 1: @name is no directory, or not there */
static int
walk_inside(struct tree_walk *t, int dir, const char *name, struct dray_err *e)
{
	char *rel = NULL;
	int top, rc = -1;

	top = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (top == -1) {
		if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
			return 1;
		return dray_fail_errno(e, "open");
	}
	dray_walk_init(&t->walk, top);
	if ((rel = calloc(1, DRAY_PATH_MAX)) == NULL)
		dray_fail_errno(e, "walk a tree");
	else
		rc = add_dir(t, rel, 0, e);
	free(rel);
	dray_walk_close(&t->walk);
	close(top);
	return rc;
}

int
inst_tree_digest(int dir, const char *name, uint8_t out[32], struct dray_err *e)
{
	return inst_tree_digest_but(dir, name, NULL, out, e);
}

int
inst_tree_digest_but(int dir, const char *name, const struct inst_but *but, uint8_t out[32], struct dray_err *e)
{
	struct tree_walk t = { .but = but };
	int rc = -1;

	memset(out, 0, 32);
	if (dray_sha256_new(&t.h, e) == 0 && dray_sha256_begin(t.h, e) == 0) {
		rc = walk_inside(&t, dir, name, e);
		if (rc == 0)
			rc = dray_sha256_end(t.h, out, e);
	}
	dray_sha256_free(t.h);
	return rc == 1 ? 0 : rc;
}

int
inst_tree_each(int dir, const char *name, inst_tree_fn *fn, void *ctx, struct dray_err *e)
{
	struct tree_walk t = { .each = fn, .ctx = ctx };
	struct dray_stat st;

	if (os_stat_at(dir, name, &st) == -1)
		return errno == ENOENT ? 0 : dray_fail_errno(e, "look at %s", name);
	if (fn(ctx, dir, name, &st, e) != 0)
		return -1;
	return walk_inside(&t, dir, name, e) < 0 ? -1 : 0;
}

static int
refuse_mount(void *ctx, int dir, const char *name, const struct dray_stat *st, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];

	(void)ctx, (void)dir;
	if (!st->mount_root)
		return 0;
	return dray_fail(e, DRAY_E_SYSTEM, "something is mounted on %s inside", dray_quote(name, strlen(name), q, sizeof(q)));
}

int
inst_tree_no_mount(int dir, const char *name, struct dray_err *e)
{
	return inst_tree_each(dir, name, refuse_mount, NULL, e);
}
