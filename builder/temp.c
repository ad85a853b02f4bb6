/*
 * temp.c - temporary name, then rename: whoever sees the final name sees a whole and checked file.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/temp.h"
#include "dray/num.h"
#include "tool/tool.h"

/*
 * Nobody may take it for a file that was left behind. Somebody may have, in the moment after it was made: then it is
 * lost. Where there are no locks nobody can get one on it either, so nobody removes it.
 */
static bool
hold(int dir, const char *name, int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return false;
	return build_temp_is(dir, name, fd);
}

int
build_temp_make(int dir, char name[64], int *fd, struct dray_err *e)
{
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, 64, BUILD_TEMP_NAME "%ld-%u", (long)getpid(), i);
		*fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (*fd == -1 && errno != EEXIST)
			break;
		if (*fd == -1)
			continue;
		if (hold(dir, name, *fd))
			return 0;
		close(*fd);	/* empty */
		*fd = -1;
		errno = EEXIST;
	}
	return dray_fail_errno(e, "cannot create a file there");
}

int
build_temp_unnamed(const char *dir, int *fd, struct dray_err *e)
{
	int d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
	char name[64];

	*fd = -1;
	if (d == -1)
		return dray_fail_errno(e, "cannot be opened");
	if ((rc = build_temp_make(d, name, fd, e)) == 0)
		(void)unlinkat(d, name, 0);
	close(d);
	return rc;
}

int
build_temp_failed(const char *dir, struct dray_err *e)
{
	char quoted[300];

	if (e->code == DRAY_E_ROOM)
		dray_hint(e, "name a folder with more room by --tmpdir; nothing was written");
	return dray_wrap(e, "temporary file in %s", dray_quote(dir, strlen(dir), quoted, sizeof(quoted)));
}

int
build_temp_open(const char *path, struct build_temp *t, struct dray_err *e)
{
	char *dir = tool_folder_of(path);
	struct stat st;
	int rc = -1;

	*t = (struct build_temp){ .fd = -1, .dir = -1, .final = path, .leaf = tool_leaf_of(path) };
	if (dir == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (strcmp(path, "-") == 0) {
		dray_fail(e, DRAY_E_USAGE, "it cannot go to standard output: it must have a name");
		dray_hint(e, "a file of the name \"-\" is written ./-");
		goto out;
	}
	if ((t->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		dray_fail_errno(e, "the folder cannot be opened");
		goto out;
	}
	if (*t->leaf == '\0' || (fstatat(t->dir, t->leaf, &st, 0) == 0 && S_ISDIR(st.st_mode))) {
		dray_fail(e, DRAY_E_USAGE, "is a folder; give the name of a file");
		goto out;
	}
	if (fstatat(t->dir, t->leaf, &st, 0) == 0 && !S_ISREG(st.st_mode)) {
		dray_fail(e, DRAY_E_USAGE, "exists and is not a regular file");
		goto out;
	}
	t->removed = build_temp_clean(t->dir);
	rc = build_temp_make(t->dir, t->name, &t->fd, e);
out:
	free(dir);
	if (rc != 0)
		build_temp_drop(t);
	return rc;
}

int
build_temp_commit(struct build_temp *t, struct dray_err *e)
{
	mode_t mask = umask(0);
	int lock, rc;

	umask(mask);
	/* FAT that somebody else mounted: its modes are those of the mount, and nobody else's to set */
	if (fchmod(t->fd, (t->runs ? 0777 : 0666) & ~mask) != 0 && errno != EPERM && errno != EOPNOTSUPP)
		return dray_fail_errno(e, "cannot be written");
	if (fsync(t->fd) != 0)
		return dray_fail_errno(e, "cannot be written");
	/* one handle is closed to hear what that has to say, the other holds the lock until the name is gone */
	if ((lock = fcntl(t->fd, F_DUPFD_CLOEXEC, 0)) == -1)
		return dray_fail_errno(e, "cannot be written");
	rc = close(t->fd);
	t->fd = lock;
	if (rc != 0)
		return dray_fail_errno(e, "cannot be written");
	if (renameat(t->dir, t->name, t->dir, t->leaf) != 0)
		return dray_fail_errno(e, "cannot be renamed to its name");
	t->name[0] = '\0';
	close(t->fd);
	t->fd = -1;
	if (fsync(t->dir) != 0 && errno != EINVAL)	/* some file systems cannot sync a folder */
		return dray_fail_errno(e, "its folder cannot be synced");
	close(t->dir);
	t->dir = -1;
	return 0;
}

void
build_temp_drop(struct build_temp *t)
{
	if (t->dir != -1 && t->name[0] != '\0')
		(void)unlinkat(t->dir, t->name, 0);
	if (t->fd != -1)
		close(t->fd);
	if (t->dir != -1)
		close(t->dir);
	t->fd = t->dir = -1;
	t->name[0] = '\0';
}

int
build_temp_write(int fd, uint64_t at, const void *p, size_t len, struct dray_err *e)
{
	for (const uint8_t *b = p; len > 0;) {
		ssize_t n = pwrite(fd, b, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dray_fail_errno(e, "cannot be written");
		b += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}
