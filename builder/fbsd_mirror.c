/*
 * fbsd_mirror.c - from the store to the layout of a server: RELEASE/ARCH/{pub.ssl,latest.ssl,t,m,f,bp}, to-RELEASE/ARCH/bp.
 */
#include <sys/stat.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/cache.h"
#include "builder/fbsd_mirror.h"
#include "builder/temp.h"
#include "dray/num.h"

struct mirror {
	int dir;		/* DIR/RELEASE/ARCH */
	struct build_fbsd_server *s;
	char temp[64];
	int fd;
	uint64_t at;
};

static int
put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct mirror *w = ctx;

	if (build_temp_write(w->fd, w->at, p, len, e) != 0)
		return -1;
	w->at += len;
	return 0;
}

static int
begin_file(struct mirror *w, struct dray_err *e)
{
	w->at = 0;
	return build_temp_make(w->dir, w->temp, &w->fd, e);
}

static void
drop_file(struct mirror *w)
{
	(void)unlinkat(w->dir, w->temp, 0);
	close(w->fd);
}

/* synced, as it is to be carried away; its folder once at the end */
static int
end_file(struct mirror *w, const char *name, struct dray_err *e)
{
	if (fchmod(w->fd, 0644) == 0 && fsync(w->fd) == 0 && renameat(w->dir, w->temp, w->dir, name) == 0) {
		close(w->fd);
		return 0;
	}
	dray_fail_errno(e, "cannot be written");
	drop_file(w);
	return -1;
}

static int
write_text(struct mirror *w, const char *name, const struct build_fbsd_text *t, struct dray_err *e)
{
	if (begin_file(w, e) != 0)
		return dray_wrap(e, "%s", name);
	if (put(w, (const uint8_t *)t->p, t->len, e) != 0) {
		drop_file(w);
		return dray_wrap(e, "%s", name);
	}
	return end_file(w, name, e) != 0 ? dray_wrap(e, "%s", name) : 0;
}

static bool
same_files(int a, int b)
{
	uint8_t x[16384], y[sizeof(x)];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(a, x, sizeof(x), at)) > 0) {
		if (pread(b, y, (size_t)n, at) != n || memcmp(x, y, (size_t)n) != 0)
			return false;
		at += n;
	}
	return n == 0 && pread(b, y, 1, at) == 0;
}

static int
copy(struct mirror *w, int from, const char *name, struct dray_err *e)
{
	uint8_t buf[65536];
	off_t at = 0;
	ssize_t n;

	if (begin_file(w, e) != 0)
		return -1;
	while ((n = pread(from, buf, sizeof(buf), at)) > 0 && put(w, buf, (size_t)n, e) == 0)
		at += n;
	if (n == 0)
		return end_file(w, name, e);
	if (n < 0)
		dray_fail_errno(e, "cannot be read");
	drop_file(w);
	return -1;
}

/* an object of the store, checked there; one that stands here and is the same is left */
static int
write_object(struct mirror *w, const struct build_fbsd_want *v, struct dray_err *e)
{
	const struct build_gunzip nobody = { .put = NULL };
	char name[100], flat[100];
	uint64_t size;
	int from, old, rc = 0;

	if (build_fbsd_object(w->s, v, &nobody, &size, e) != 0)
		return -1;
	build_fbsd_name(v->kind, v->sha256, name);
	build_fbsd_server_name(v->kind, v->sha256, flat);
	if ((from = build_fbsd_store_object(w->s->store, name)) == -1)
		return dray_fail_errno(e, "%s/%s", build_fbsd_store_path(w->s->store), name);
	old = openat(w->dir, flat, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (old == -1 || !same_files(from, old))
		rc = copy(w, from, flat, e);
	if (old != -1)
		close(old);
	close(from);
	return rc != 0 ? dray_wrap(e, "%s", flat) : 0;
}

static int
write_all(struct mirror *w, const struct build_fbsd_meta *m, const struct build_fbsd_want *v, size_t n, struct dray_err *e)
{
	struct build_fbsd_want x = { .dir = m->dir, .kind = 't' };

	for (const char *p = "tmf"; *p != '\0'; p++) {
		const char name[2] = { *p, '\0' };

		if (mkdirat(w->dir, name, 0755) != 0 && errno != EEXIST)
			return dray_fail_errno(e, "%s", name);
	}
	for (size_t i = 0; i < n; i++)
		if (write_object(w, &v[i], e) != 0)
			return -1;
	memcpy(x.sha256, m->tag.tindex, 32);
	if (write_object(w, &x, e) != 0)
		return -1;
	x.kind = 'm';
	for (size_t i = 0; i < BUILD_FBSD_FILES; i++) {
		memcpy(x.sha256, m->sha256[i], 32);
		if (write_object(w, &x, e) != 0)
			return -1;
	}
	return write_text(w, "pub.ssl", &m->key, e) != 0 ? -1 : write_text(w, "latest.ssl", &m->sig, e);
}

/* the folder @path beneath @dir, made if need be */
static int
open_folder(struct mirror *w, const char *dir, const char *path, char **full, struct dray_err *e)
{
	char quoted[300];

	if (asprintf(full, "%s/%s", dir, path) == -1) {
		*full = NULL;
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	if (build_make_dirs(*full) == 0)
		w->dir = open(*full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dir == -1) {
		dray_fail_errno(e, "cannot be used");
		return dray_wrap(e, "%s", dray_quote(*full, strlen(*full), quoted, sizeof(quoted)));
	}
	(void)build_temp_clean(w->dir);
	return 0;
}

/* @rc: what became of it so far */
static int
close_folder(struct mirror *w, char *full, int rc, struct dray_err *e)
{
	char quoted[300];

	if (w->dir == -1) {
		free(full);
		return -1;
	}
	assert(full != NULL);
	if (rc == 0 && fsync(w->dir) != 0 && errno != EINVAL)
		rc = dray_fail_errno(e, "cannot be synced");
	close(w->dir);
	if (rc != 0)
		dray_wrap(e, "%s", dray_quote(full, strlen(full), quoted, sizeof(quoted)));
	free(full);
	return rc;
}

int
build_fbsd_mirror(const char *dir, struct build_fbsd_server *s, const struct build_fbsd_meta *m,
    const struct build_fbsd_want *v, size_t n, struct dray_err *e)
{
	struct mirror w = { .dir = -1, .s = s, .fd = -1 };
	char *path;
	int rc = open_folder(&w, dir, m->dir, &path, e);

	return close_folder(&w, path, rc == 0 ? write_all(&w, m, v, n, e) : -1, e);
}

struct patches {		/* of one folder */
	struct mirror w;
	const struct build_fbsd_patch_opts *wrong;
};

static void
patch_name(const struct build_fbsd_pair *p, char name[130])
{
	dray_hex(p->from, 32, name);
	name[64] = '-';
	dray_hex(p->to, 32, name + 65);
}

static int
keep_patch(void *ctx, const struct build_fbsd_pair *p, int fd, struct dray_err *e)
{
	struct patches *x = ctx;
	char name[130];

	patch_name(p, name);
	return copy(&x->w, fd, name, e) != 0 ? dray_wrap(e, "%s", name) : 0;
}

static int
wrong_patch(void *ctx, const struct build_fbsd_pair *p, const char *why, struct dray_err *e)
{
	const struct patches *x = ctx;

	return x->wrong->wrong(x->wrong->ctx, p, why, e);
}

/* those that are within the release, or across; such that stand there already are left out */
static int
write_patches(struct patches *x, const struct build_fbsd_meta *m, const struct build_fbsd_pairs *pairs, bool cross,
    struct build_fbsd_patched *done, struct dray_err *e)
{
	const struct build_fbsd_patch_opts o = { .limited = true, .keep = keep_patch, .wrong = wrong_patch, .ctx = x };
	struct build_fbsd_pairs some = { .v = calloc(pairs->n + 1, sizeof(*some.v)) };
	struct stat st;
	char name[130];
	int rc;

	if (some.v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < pairs->n; i++) {
		const struct build_fbsd_pair *p = &pairs->v[i];

		patch_name(p, name);
		if (p->cross == cross && p->chance != BUILD_FBSD_ANY && fstatat(x->w.dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			some.v[some.n++] = *p;
	}
	rc = build_fbsd_patch(x->w.s, m, &some, &o, done, e);
	build_fbsd_pairs_free(&some);
	return rc;
}

int
build_fbsd_mirror_patches(const char *dir, struct build_fbsd_server *s, const struct build_fbsd_meta *m,
    const struct build_fbsd_pairs *pairs, const struct build_fbsd_patch_opts *wrong, struct build_fbsd_patched *done,
    struct dray_err *e)
{
	for (int cross = 0; cross < 2; cross++) {
		struct patches x = { .w = { .dir = -1, .s = s, .fd = -1 }, .wrong = wrong };
		char path[200], *full;
		int rc;

		snprintf(path, sizeof(path), "%s%s/bp", cross ? "to-" : "", m->dir);
		rc = open_folder(&x.w, dir, path, &full, e);
		if (rc == 0)
			rc = write_patches(&x, m, pairs, cross != 0, done, e);
		if (close_folder(&x.w, full, rc, e) != 0)
			return -1;
	}
	return 0;
}
