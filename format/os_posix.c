/* os_posix.c - the parts of os.h that plain POSIX gives, the same on both systems */
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "dray/num.h"

#include "os_posix.h"

int
os_rename_by_link(int dir_a, const char *a, int dir_b, const char *b)
{
	struct stat st;

	if (fstatat(dir_a, a, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	if (!S_ISDIR(st.st_mode) && linkat(dir_a, a, dir_b, b, 0) == 0)
		return unlinkat(dir_a, a, 0);
	if (!S_ISDIR(st.st_mode) && errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
	if (fstatat(dir_b, b, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	if (errno != ENOENT)
		return -1;
	return renameat(dir_a, a, dir_b, b);
}

int
os_fs_room(int fd, struct dray_fs *fs)
{
	struct statvfs v;
	uint64_t unit;

	if (fstatvfs(fd, &v) != 0)
		return -1;
	unit = v.f_frsize != 0 ? v.f_frsize : v.f_bsize;
	fs->moves_dirs = true;
	fs->read_only = (v.f_flag & ST_RDONLY) != 0;
	/* powers of two only: a file system may say anything */
	fs->block = unit >= 512 && unit <= 1024 * 1024 && (unit & (unit - 1)) == 0 ? unit : 4096;
	if (!dray_mul(v.f_bavail, unit, &fs->free_bytes))
		fs->free_bytes = UINT64_MAX;
	/* 0: the file system makes inodes as it needs them */
	fs->free_inodes = v.f_files != 0 ? v.f_favail : UINT64_MAX;
	return 0;
}
