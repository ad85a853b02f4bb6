/*
 * fbsd_store.c - a folder of objects by name. New ones are written to tmp/ and renamed, so a killed run leaves nothing
 * that looks whole; nothing is synced, as every read checks.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/cache.h"
#include "builder/fbsd_store.h"
#include "builder/temp.h"
#include "dray/num.h"

struct build_fbsd_store {
	char *path;
	int dir, tmp;
};

int
build_fbsd_store_open(const char *path, struct build_fbsd_store **out, struct dray_err *e)
{
	struct build_fbsd_store *s = calloc(1, sizeof(*s));
	char quoted[300], *usual = NULL;

	*out = NULL;
	if (s == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	s->dir = s->tmp = -1;
	if (path == NULL && (usual = build_cache_usual()) == NULL) {
		dray_fail(e, DRAY_E_USAGE, "there is no place for what is fetched: neither HOME nor XDG_CACHE_HOME is set");
		goto fail;
	}
	s->path = path != NULL ? strdup(path) : NULL;
	if (usual != NULL && asprintf(&s->path, "%s/freebsd-update", usual) == -1)
		s->path = NULL;
	if (s->path == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto fail;
	}
	if (build_make_dirs(s->path) == 0)
		s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir != -1 && (mkdirat(s->dir, "tmp", 0700) == 0 || errno == EEXIST))
		s->tmp = openat(s->dir, "tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->tmp == -1) {
		dray_fail_errno(e, "the folder for what is fetched, %s, cannot be used",
		    dray_quote(s->path, strlen(s->path), quoted, sizeof(quoted)));
		goto fail;
	}
	(void)build_temp_clean(s->tmp);
	free(usual);
	*out = s;
	return 0;
fail:
	free(usual);
	build_fbsd_store_close(s);
	return -1;
}

void
build_fbsd_store_close(struct build_fbsd_store *s)
{
	if (s == NULL)
		return;
	if (s->dir != -1)
		close(s->dir);
	if (s->tmp != -1)
		close(s->tmp);
	free(s->path);
	free(s);
}

const char *
build_fbsd_store_path(const struct build_fbsd_store *s)
{
	return s->path;
}

void
build_fbsd_name(char kind, const uint8_t sha256[32], char name[100])
{
	char hex[65];

	if (kind == 'f')	/* of these there are too many for one folder */
		snprintf(name, 100, "f/%.2s/%s.gz", dray_hex(sha256, 32, hex), hex);
	else
		build_fbsd_server_name(kind, sha256, name);
}

void
build_fbsd_server_name(char kind, const uint8_t sha256[32], char name[100])
{
	char hex[65];

	snprintf(name, 100, "%c/%s%s", kind, dray_hex(sha256, 32, hex), kind == 't' ? "" : ".gz");
}

bool
build_fbsd_store_has(const struct build_fbsd_store *s, const char *name)
{
	struct stat st;

	return fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

int
build_fbsd_store_object(const struct build_fbsd_store *s, const char *name)
{
	int fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd != -1 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void
build_fbsd_store_drop(struct build_fbsd_store *s, const char *name)
{
	(void)unlinkat(s->dir, name, 0);	/* it may be gone already */
}

int
build_fbsd_store_new(struct build_fbsd_store *s, struct build_fbsd_new *n, struct dray_err *e)
{
	if (build_temp_make(s->tmp, n->name, &n->fd, e) == 0)
		return 0;
	n->fd = -1;
	return dray_wrap(e, "%s/tmp", s->path);
}

void
build_fbsd_store_forget(struct build_fbsd_store *s, struct build_fbsd_new *n)
{
	if (n->fd == -1)
		return;
	(void)unlinkat(s->tmp, n->name, 0);
	close(n->fd);
	n->fd = -1;
}

/* the folders above it */
static void
make_folders(const struct build_fbsd_store *s, const char *name)
{
	char part[200];

	for (const char *p = strchr(name, '/'); p != NULL; p = strchr(p + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - name), name);
		(void)mkdirat(s->dir, part, 0777);	/* the rename tells */
	}
}

static int
rename_in(const struct build_fbsd_store *s, const char *temp, const char *name)
{
	if (renameat(s->tmp, temp, s->dir, name) == 0)
		return 0;
	if (errno != ENOENT)
		return -1;
	make_folders(s, name);
	return renameat(s->tmp, temp, s->dir, name);
}

int
build_fbsd_store_keep(struct build_fbsd_store *s, struct build_fbsd_new *n, const char *name, struct dray_err *e)
{
	if (fchmod(n->fd, 0644) == 0 && rename_in(s, n->name, name) == 0) {
		close(n->fd);
		n->fd = -1;
		return 0;
	}
	dray_fail_errno(e, "%s/%s: cannot be renamed to its name", s->path, name);
	build_fbsd_store_forget(s, n);
	return -1;
}

int
build_fbsd_store_deflate(struct build_fbsd_store *s, const char *name,
    int (*fill)(void *ctx, struct build_gzip *g, struct dray_err *e), void *ctx, struct dray_err *e)
{
	struct build_fbsd_new n;
	struct build_gzip g;
	int rc;

	if (build_fbsd_store_new(s, &n, e) != 0)
		return -1;
	if ((rc = build_gzip_begin(&g, n.fd, e)) == 0) {
		rc = fill(ctx, &g, e);
		if (build_gzip_end(&g, rc == 0, e) != 0)
			rc = -1;
	}
	if (rc == 0)
		return build_fbsd_store_keep(s, &n, name, e);
	build_fbsd_store_forget(s, &n);
	return -1;
}

long
build_fbsd_store_read(const struct build_fbsd_store *s, const char *name, void *buf, size_t cap)
{
	int fd = build_fbsd_store_object(s, name);
	uint8_t *p = buf;
	size_t len = 0;
	ssize_t n = 1;
	uint8_t more;

	if (fd == -1)
		return -1;
	while (len < cap && (n = read(fd, p + len, cap - len)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0 || (len == cap && read(fd, &more, 1) != 0))
		len = (size_t)-1;
	close(fd);
	return (long)len;
}

int
build_fbsd_store_write(struct build_fbsd_store *s, const char *name, const void *p, size_t len, struct dray_err *e)
{
	struct build_fbsd_new n;

	if (build_fbsd_store_new(s, &n, e) != 0)
		return -1;
	if (build_temp_write(n.fd, 0, p, len, e) != 0) {
		build_fbsd_store_forget(s, &n);
		return dray_wrap(e, "%s/%s", s->path, name);
	}
	return build_fbsd_store_keep(s, &n, name, e);
}
