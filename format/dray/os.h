/*
 * os.h - what we need from a system beyond POSIX.1-2008; os_linux.c and os_freebsd.c give it.
 *
 * Unless told otherwise: return 0 or -1 with errno set, as the system calls themselves do. DRAY_OS_NOFAST makes
 * the exchange, syncfs and openat2 functions fail with ENOSYS, so that the fallbacks are tested on Linux.
 */
#ifndef DRAY_OS_H
#define DRAY_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "dray/err.h"

/* stat plus what identity needs; btime 0/0 when the file system has none */
struct dray_stat {
	uint32_t mode;		/* type and permission bits, as st_mode */
	uint32_t uid, gid;
	uint64_t nlink, ino, size, blocks512;
	uint64_t dev;		/* major << 32 | minor of the file system */
	uint32_t rdev_major, rdev_minor;
	int64_t mtime_sec, ctime_sec, btime_sec;
	uint32_t mtime_nsec, ctime_nsec, btime_nsec;
	uint64_t mnt_id;	/* mount, 0 if unknown */
	bool mount_root;	/* the object is the root of a mount */
};

/** os_stat_at - of @name in @dir, not following a symlink; @name "" : of @dir itself */
int os_stat_at(int dir, const char *name, struct dray_stat *st);

int os_exchange(int dir_a, const char *a, int dir_b, const char *b);	/* atomically; ENOSYS/EINVAL: cannot */
int os_rename_noreplace(int dir_a, const char *a, int dir_b, const char *b);	/* EEXIST if b is there */
int os_syncfs(int fd);			/* ENOSYS: cannot */
int os_open_beneath(int dir, const char *path, int flags);	/* openat2, no symlink anywhere; ENOSYS: cannot */
int os_open_walk(int dir, const char *name);	/* one part, a directory, no symlink; only to walk through: no read permission asked */
int os_fs_uuid(int fd, uint8_t uuid[16]);	/* or 16 bytes of statfs f_fsid, zero padded */
int os_self_exe(void);			/* read-only handle of the running program */
unsigned os_cpus(void);			/* processors this process may use, >= 1 */
const char *os_name(void);		/* "linux", "freebsd": the `os` of a descriptor */
const char *os_state_dir(void);		/* "var/lib/dray" or "var/db/dray" */

/* xattrs of an open file or directory. Lists are NUL-separated names as listxattr(2) gives them, on FreeBSD with
 * "user." or "system." in front. *len in: capacity (0: only tell the length), out: length. ERANGE: too small.
 * ENOTSUP: none here. */
int os_xattr_list(int fd, char *buf, size_t *len);
int os_xattr_get(int fd, const char *name, void *buf, size_t *len);
int os_xattr_set(int fd, const char *name, const void *value, size_t len);
int os_xattr_remove(int fd, const char *name);

/** os_mknod - fifo and devices */
int os_mknod_at(int dir, const char *name, uint32_t mode, uint32_t rdev_major, uint32_t rdev_minor);

/** os_rss_peak - peak resident set of this process, bytes */
uint64_t os_rss_peak(void);

#endif
