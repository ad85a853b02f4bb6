/*
 * temp_stale.c - what builds that were killed have left behind. Removed is only what has our kind of name, is a regular
 * file of our own with no other name, and is locked by nobody: whoever still works on one holds its lock.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "builder/temp.h"

/* BUILD_TEMP_NAME and two numbers with a dash between them */
static bool
is_our_name(const char *name)
{
	const char digits[] = "0123456789";
	size_t n = strlen(BUILD_TEMP_NAME), pid, number;

	if (strncmp(name, BUILD_TEMP_NAME, n) != 0)
		return false;
	pid = strspn(name + n, digits);
	if (pid == 0 || name[n + pid] != '-')
		return false;
	number = strspn(name + n + pid + 1, digits);
	return number > 0 && name[n + pid + 1 + number] == '\0';
}

bool
build_temp_is(int dir, const char *name, int fd)
{
	struct stat a, b;

	return fstatat(dir, name, &a, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &b) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino;
}

static bool
is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1;
}

/* looked at before it is opened, because opening a device or a fifo may do something; and again by its handle */
static bool
remove_stale(int dir, const char *name)
{
	struct stat st;
	bool gone = false;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !is_ours(&st))
		return false;
	if ((fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) == -1)
		return false;
	if (fstat(fd, &st) == 0 && is_ours(&st) && flock(fd, LOCK_EX | LOCK_NB) == 0 && build_temp_is(dir, name, fd))
		gone = unlinkat(dir, name, 0) == 0;
	close(fd);	/* nothing was written */
	return gone;
}

size_t
build_temp_clean(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *de;
	size_t n = 0;
	DIR *d;

	if (fd == -1)
		return 0;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return 0;
	}
	while ((de = readdir(d)) != NULL)
		n += is_our_name(de->d_name) && remove_stale(dir, de->d_name);
	closedir(d);
	return n;
}
