/*
 * os_linux.c - what Linux gives beyond POSIX. With DRAY_OS_NOFAST the fast calls say ENOSYS, so that the path of
 * the other system is tested here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "dray/os.h"

/* Linux 6.9, include/uapi/linux/fs.h; older headers lack it */
struct fs_uuid {
	uint8_t len;
	uint8_t uuid[16];
};
#define GET_FS_UUID _IOR(0x15, 0, struct fs_uuid)

/* Linux 5.8, for C libraries that do not know them yet */
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

int
os_stat_at(int dir, const char *name, struct dray_stat *st)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] == '\0' ? AT_EMPTY_PATH : 0);
	struct statx x;

	memset(&x, 0, sizeof(x));
	if (statx(dir, name, flags, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &x) != 0)
		return -1;
	*st = (struct dray_stat){
		.mode = x.stx_mode,
		.uid = x.stx_uid,
		.gid = x.stx_gid,
		.nlink = x.stx_nlink,
		.ino = x.stx_ino,
		.size = x.stx_size,
		.blocks512 = x.stx_blocks,
		.dev = (uint64_t)x.stx_dev_major << 32 | x.stx_dev_minor,
		.rdev_major = x.stx_rdev_major,
		.rdev_minor = x.stx_rdev_minor,
		.mtime_sec = x.stx_mtime.tv_sec,
		.mtime_nsec = x.stx_mtime.tv_nsec,
		.ctime_sec = x.stx_ctime.tv_sec,
		.ctime_nsec = x.stx_ctime.tv_nsec,
		.mount_root = (x.stx_attributes_mask & x.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0,
	};
	if (x.stx_mask & STATX_BTIME) {
		st->btime_sec = x.stx_btime.tv_sec;
		st->btime_nsec = x.stx_btime.tv_nsec;
	}
	if (x.stx_mask & STATX_MNT_ID)
		st->mnt_id = x.stx_mnt_id;
	return 0;
}

int
os_exchange(int dir_a, const char *a, int dir_b, const char *b)
{
#ifdef DRAY_OS_NOFAST
	(void)dir_a, (void)a, (void)dir_b, (void)b;
	errno = ENOSYS;
	return -1;
#else
	return renameat2(dir_a, a, dir_b, b, RENAME_EXCHANGE);
#endif
}

/* for file systems without the flag: a link fails if the name is taken; a directory has to be looked for */
static int
rename_by_link(int dir_a, const char *a, int dir_b, const char *b)
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
os_rename_noreplace(int dir_a, const char *a, int dir_b, const char *b)
{
	if (renameat2(dir_a, a, dir_b, b, RENAME_NOREPLACE) == 0)
		return 0;
	/* EINVAL also stands for a directory moved into itself: the plain rename then says so again */
	if (errno != ENOSYS && errno != EINVAL)
		return -1;
	return rename_by_link(dir_a, a, dir_b, b);
}

int
os_syncfs(int fd)
{
#ifdef DRAY_OS_NOFAST
	(void)fd;
	errno = ENOSYS;
	return -1;
#else
	return syncfs(fd);
#endif
}

int
os_open_beneath(int dir, const char *path, int flags)
{
#ifdef DRAY_OS_NOFAST
	(void)dir, (void)path, (void)flags;
	errno = ENOSYS;
	return -1;
#else
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
#endif
}

int
os_open_walk(int dir, const char *name)
{
	return openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
os_fs_uuid(int fd, uint8_t uuid[16])
{
	static const uint8_t none[16];
	struct fs_uuid u;
	struct statfs fs;

	memset(&u, 0, sizeof(u));
	memset(uuid, 0, 16);
	/* a file system made without a UUID tells one of zeros, like every other such: that tells none apart */
	if (ioctl(fd, GET_FS_UUID, &u) == 0 && u.len > 0 && u.len <= sizeof(u.uuid) &&
	    memcmp(u.uuid, none, u.len) != 0) {
		memcpy(uuid, u.uuid, u.len);
		return 0;
	}
	if (fstatfs(fd, &fs) != 0)
		return -1;
	memcpy(uuid, &fs.f_fsid, sizeof(fs.f_fsid) < 16 ? sizeof(fs.f_fsid) : 16);
	return 0;
}

int
os_self_exe(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

unsigned
os_cpus(void)
{
	size_t n, size;
	cpu_set_t *set;
	int count = 0;
	long online;

	/* the kernel refuses a set that is too small for its processors with EINVAL */
	for (n = 1024; n <= 65536 && count == 0; n *= 4) {
		if ((set = CPU_ALLOC(n)) == NULL)
			break;
		size = CPU_ALLOC_SIZE(n);
		CPU_ZERO_S(size, set);
		if (sched_getaffinity(0, size, set) == 0)
			count = CPU_COUNT_S(size, set);
		else if (errno != EINVAL)
			n = 65536;
		CPU_FREE(set);
	}
	if (count > 0)
		return (unsigned)count;
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}

const char *
os_name(void)
{
	return "linux";
}

const char *
os_state_dir(void)
{
	return "var/lib/dray";
}

int
os_xattr_list(int fd, char *buf, size_t *len)
{
	ssize_t n = flistxattr(fd, buf, *len);

	if (n < 0)
		return -1;
	*len = (size_t)n;
	return 0;
}

int
os_xattr_get(int fd, const char *name, void *buf, size_t *len)
{
	ssize_t n = fgetxattr(fd, name, buf, *len);

	if (n < 0)
		return -1;
	*len = (size_t)n;
	return 0;
}

int
os_xattr_set(int fd, const char *name, const void *value, size_t len)
{
	return fsetxattr(fd, name, value, len, 0);
}

int
os_xattr_remove(int fd, const char *name)
{
	return fremovexattr(fd, name);
}

int
os_mknod_at(int dir, const char *name, uint32_t mode, uint32_t rdev_major, uint32_t rdev_minor)
{
	return mknodat(dir, name, (mode_t)mode, makedev(rdev_major, rdev_minor));
}

uint64_t
os_rss_peak(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_SELF, &ru) != 0 || ru.ru_maxrss < 0)
		return 0;
	return (uint64_t)ru.ru_maxrss * 1024;
}
