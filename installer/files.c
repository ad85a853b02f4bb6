/* files.c - durable small files, whole-file reads, and a tree deletion that cannot be led astray */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dray/io.h"
#include "dray/os.h"

#include "installer/files.h"

int
inst_write_all(int fd, const void *p, size_t len, struct dray_err *e)
{
	const uint8_t *b = p;

	while (len > 0) {
		ssize_t n = write(fd, b, len);

		if (n == -1) {
			if (errno == EINTR)
				continue;
			return dray_fail_errno(e, "write");
		}
		b += n;
		len -= (size_t)n;
	}
	return 0;
}

bool
inst_reads_back(int fd, const void *p, size_t len, uint64_t at)
{
	uint8_t is[4096];
	const uint8_t *was = p;

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);	/* a file system that keeps its pages gives back what it has */
	for (size_t done = 0, n; done < len; done += n) {
		n = len - done < sizeof(is) ? len - done : sizeof(is);
		if (!dray_pread_whole(fd, is, n, at + done) || memcmp(is, was + done, n) != 0)
			return false;
	}
	return true;
}

void
inst_sweep_file(int dir, const char *name)
{
	char tmp[256];

	/* looked at first: a call that changes something is made only when there is something to change */
	if ((size_t)snprintf(tmp, sizeof(tmp), ".%s.new", name) < sizeof(tmp) &&
	    faccessat(dir, tmp, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		unlinkat(dir, tmp, 0);
}

int
inst_write_file(int dir, const char *name, const void *p, size_t len, unsigned mode, struct dray_err *e)
{
	char tmp[256];
	int fd = -1, rc = -1;
	bool made = false;

	if ((size_t)snprintf(tmp, sizeof(tmp), ".%s.new", name) >= sizeof(tmp))
		return dray_fail(e, DRAY_E_IO, "name too long: %s", name);
	if (unlinkat(dir, tmp, 0) == -1 && errno != ENOENT) {
		dray_fail_errno(e, "remove %s", tmp);
		goto out;
	}
	if ((fd = openat(dir, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode)) == -1) {
		dray_fail_errno(e, "create %s", tmp);
		goto out;
	}
	made = true;
	if (inst_write_all(fd, p, len, e) != 0) {
		dray_wrap(e, "%s", name);
		goto out;
	}
	if (fsync(fd) == -1) {
		dray_fail_errno(e, "flush %s", name);
		goto out;
	}
	if (!inst_reads_back(fd, p, len, 0)) {	/* before it takes the place of one that is good */
		dray_fail(e, DRAY_E_IO, "%s does not hold what was written to it", name);
		goto out;
	}
	if (close(fd) == -1) {
		fd = -1;
		dray_fail_errno(e, "close %s", name);
		goto out;
	}
	fd = -1;
	if (renameat(dir, tmp, dir, name) == -1) {
		dray_fail_errno(e, "rename %s", name);
		goto out;
	}
	made = false;
	if (fsync(dir) == -1) {
		dray_fail_errno(e, "flush the folder of %s", name);
		goto out;
	}
	rc = 0;
out:
	if (fd != -1)
		close(fd);
	if (made)
		unlinkat(dir, tmp, 0);	/* half a file helps nobody, and its room may be what is missing */
	return rc;
}

bool
inst_no_file(int err)
{
	/* FreeBSD says EMLINK where others say ELOOP */
	return err == ELOOP || err == EMLINK || err == ENXIO;
}

static int
no_file(const char *name, size_t max, struct dray_err *e)
{
	return dray_fail(e, DRAY_E_SYSTEM, "%s is not a regular file of at most %zu bytes", name, max);
}

int
inst_read_file(int dir, const char *name, size_t max, uint8_t **p, size_t *len, struct dray_err *e)
{
	struct stat st;
	uint8_t *b = NULL;
	size_t n = 0, at = 0;
	int fd, rc = -1;

	*p = NULL;
	*len = 0;
	if ((fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1) {
		if (errno == ENOENT)
			return 1;
		return inst_no_file(errno) ? no_file(name, max, e) : dray_fail_errno(e, "open %s", name);
	}
	if (fstat(fd, &st) == -1) {
		dray_fail_errno(e, "look at %s", name);
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size < 0 || (uintmax_t)st.st_size > max) {
		no_file(name, max, e);
		goto out;
	}
	n = (size_t)st.st_size;
	if ((b = malloc(n + 1)) == NULL) {
		dray_fail_errno(e, "%s", name);
		goto out;
	}
	while (at < n) {
		ssize_t r = read(fd, b + at, n - at);

		if (r == -1 && errno == EINTR)
			continue;
		if (r == -1) {
			dray_fail_errno(e, "read %s", name);
			goto out;
		}
		if (r == 0) {
			dray_fail(e, DRAY_E_IO, "%s ends at byte %zu instead of %zu", name, at, n);
			goto out;
		}
		at += (size_t)r;
	}
	b[n] = '\0';
	*p = b;
	*len = n;
	b = NULL;
	rc = 0;
out:
	free(b);
	close(fd);	/* read only, nothing to lose */
	return rc;
}

/*
 * Deleting a tree. Handles are held along the path; below MAX_OPEN levels a directory is first moved up beside the
 * top under a name of its own, so that depth costs no handles. `home` is where such directories go.
 */
enum { MAX_OPEN = 60 };

struct sweep {
	int home;
	uint64_t mnt;
	unsigned moved;		/* directories moved up so far */
};

static int sweep_dir(struct sweep *sw, int dir, const char *name, unsigned depth, struct dray_err *e);

static int
sweep_one(struct sweep *sw, int dir, const char *name, unsigned depth, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)], up[32];
	int err;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	/* EPERM: a directory, by POSIX, or something immutable */
	err = errno;
	if (err == EPERM && os_fflags_set(dir, name, DRAY_FF_LOCKS, 0) == 0 && unlinkat(dir, name, 0) == 0)
		return 0;
	errno = err;
	if (errno != EISDIR && errno != EPERM)
		return dray_fail_errno(e, "delete %s", dray_quote(name, strlen(name), q, sizeof(q)));
	if (depth < MAX_OPEN)
		return sweep_dir(sw, dir, name, depth + 1, e);
	snprintf(up, sizeof(up), ".deep-%u", sw->moved);
	if (renameat(dir, name, sw->home, up) == -1)
		return dray_fail_errno(e, "delete %s", dray_quote(name, strlen(name), q, sizeof(q)));
	sw->moved++;
	return 0;
}

static int
sweep_dir(struct sweep *sw, int dir, const char *name, unsigned depth, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct dray_stat st;
	struct dirent *de;
	DIR *d = NULL;
	int fd, rc = -1;

	dray_quote(name, strlen(name), q, sizeof(q));
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return dray_fail_errno(e, "open %s", q);
	if (os_stat_at(fd, "", &st) == -1) {
		dray_fail_errno(e, "look at %s", q);
		goto out;
	}
	if (st.mnt_id != sw->mnt) {
		dray_fail(e, DRAY_E_SYSTEM, "%s is a mount; it is not entered", q);
		dray_hint(e, "unmount it and run the command again");
		goto out;
	}
	if ((st.fflags & DRAY_FF_LOCKS) != 0 && os_fflags_set(fd, "", DRAY_FF_LOCKS, 0) == -1) {
		dray_fail_errno(e, "clear the flags of %s", q);
		goto out;
	}
	/* a stashed directory may lack write permission for its owner; without root rights that would stop us */
	if ((st.mode & 0700) != 0700 && fchmod(fd, 0700) == -1) {
		dray_fail_errno(e, "open up %s", q);
		goto out;
	}
	if ((d = fdopendir(fd)) == NULL) {
		dray_fail_errno(e, "list %s", q);
		goto out;
	}
	fd = -1;
	for (errno = 0; (de = readdir(d)) != NULL; errno = 0) {
		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		if (sweep_one(sw, dirfd(d), de->d_name, depth, e) != 0)
			goto out;
	}
	if (errno != 0) {
		dray_fail_errno(e, "list %s", q);
		goto out;
	}
	if (unlinkat(dir, name, AT_REMOVEDIR) == -1 && errno != ENOENT) {
		dray_fail_errno(e, "delete %s", q);
		goto out;
	}
	rc = 0;
out:
	if (d != NULL)
		closedir(d);
	if (fd != -1)
		close(fd);
	return rc;
}

int
inst_rmtree(int dir, const char *name, struct dray_err *e)
{
	struct sweep sw = { .home = dir };
	struct dray_stat st;
	char deep[32];
	unsigned i;

	if (os_stat_at(dir, "", &st) == -1)
		return dray_fail_errno(e, "look at the folder of %s", name);
	sw.mnt = st.mnt_id;
	if (sweep_one(&sw, dir, name, 0, e) != 0)
		return -1;
	for (i = 0; i < sw.moved; i++) {
		snprintf(deep, sizeof(deep), ".deep-%u", i);
		if (sweep_one(&sw, dir, deep, 0, e) != 0)
			return -1;
	}
	return 0;
}
