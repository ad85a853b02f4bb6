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
#include "dray/fflags.h"

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
	uint8_t fflags;		/* DRAY_FF_* that it has */
	uint8_t fflags_here;	/* ... and that its file system keeps */
};

/** os_stat_at - of @name in @dir, not following a symlink; @name "" : of @dir itself */
int os_stat_at(int dir, const char *name, struct dray_stat *st);

int os_exchange(int dir_a, const char *a, int dir_b, const char *b);	/* atomically; ENOSYS/EINVAL: cannot */
int os_rename_noreplace(int dir_a, const char *a, int dir_b, const char *b);	/* EEXIST if b is there */
int os_syncfs(int fd);			/* ENOSYS: cannot */
int os_open_beneath(int dir, const char *path, int flags);	/* openat2, no symlink anywhere; ENOSYS: cannot */
int os_open_walk(int dir, const char *name);	/* one part, a directory, no symlink; only to walk through: no read permission asked */
int os_self_exe(void);			/* read-only handle of the running program */
int os_self_path(char *buf, size_t cap);	/* where its file lies, NUL-terminated; ERANGE: @cap is too small */
void os_lean_heap(void);			/* freed memory goes back to the system at once; call before any thread starts */
unsigned os_cpus(void);			/* processors this process may use, >= 1 */
const char *os_name(void);		/* "linux", "freebsd": the `os` of a descriptor */
const char *os_state_dir(void);		/* "var/lib/dray" or "var/db/dray" */

/** os_clone - @to, an empty file, shares the blocks of @from; -1: it cannot, and nothing was changed */
int os_clone(int from, int to);

/* xattrs of an open file or directory. Lists are NUL-separated names as listxattr(2) gives them, on FreeBSD with
 * "user." or "system." in front. *len in: capacity (0: only tell the length), out: length. ERANGE: too small.
 * ENOTSUP: none here. */
int os_xattr_list(int fd, char *buf, size_t *len);
int os_xattr_get(int fd, const char *name, void *buf, size_t *len);
int os_xattr_set(int fd, const char *name, const void *value, size_t len);
int os_xattr_remove(int fd, const char *name);

/** os_fflags_set - of a file or directory, never through a symlink: of the DRAY_FF_* in @mask exactly those in @fflags */
int os_fflags_set(int dir, const char *name, uint8_t mask, uint8_t fflags);
bool os_fflags_mine(void);		/* may this process set and clear those that lock? */

/* what a file system is good for */
enum dray_fs_kind {
	DRAY_FS_SAFE,		/* renames are atomic, inode numbers stay, syncs are kept */
	DRAY_FS_OVERLAY,	/* the same for what is new in it; directories of lower layers may refuse to move */
	DRAY_FS_MEMORY,		/* tmpfs: gone with the power */
	DRAY_FS_PSEUDO,		/* proc, sysfs and the like: no files of a release */
	DRAY_FS_NETWORK,
	DRAY_FS_WEAK,		/* FAT, FUSE, and what we do not know */
};
struct dray_fs {
	enum dray_fs_kind kind;
	bool read_only;
	bool moves_dirs;		/* any directory can be renamed; overlayfs: only with redirect_dir=on */
	uint64_t block;			/* unit of allocation, bytes */
	uint64_t free_bytes, free_inodes;	/* for this process; UINT64_MAX: no bound known */
	uint64_t max_links;		/* names of one file; UINT64_MAX: no bound known */
};
int os_fs(int fd, struct dray_fs *fs);	/* of the file system an open object lies on */

/** os_mknod - fifo and devices */
int os_mknod_at(int dir, const char *name, uint32_t mode, uint32_t rdev_major, uint32_t rdev_minor);

/** os_remount - the mount at @path read-only or writable, its other options as they are */
int os_remount(const char *path, bool read_only);

void os_close_above(int fd);		/* all handles with a higher number, ours and inherited ones */
int os_die_with_parent(void);		/* this process is killed when the one that made it is gone, however it went */

/**
 * os_confine - before a program of a foreign tree runs, in a process of its own: new mount, process, network and IPC namespaces
 * (processes: for the children), each as far as it is to be had. The current directory stays where it is.
 * Return: may mounts be made now that nobody else sees?
 */
bool os_confine(void);

/**
 * os_furnish - in a child of that one, whose / is the tree: what programs count on and write to besides the tree's files, and
 * the end of the capabilities that a package's scripts do not need
 * @mounts: what os_confine said; then /proc (read-only), a /dev of null, zero, full, random and urandom, empty /run, /tmp and
 *          /var/tmp lie over the tree's folders of these names, for as long as the program runs
 * As far as it is to be had; it is no boundary against somebody who is root.
 */
void os_furnish(bool mounts);

#define OS_FENCE_CALLS 1u
#define OS_FENCE_FILES 2u
/**
 * os_fence - from here on this process has less, for good, and so have its threads; called before there are any
 * @beneath: paths of @n directories
 * CALLS: it makes no process and runs no program, has no socket, traces, signals and mounts nothing, loads no code and no
 * module; such a call fails with EPERM. FILES: what it makes, opens for writing, renames and removes is beneath @beneath;
 * what is open already stays so. No file may be executed.
 * Return: which of them hold; the others are not to be had on this system.
 */
unsigned os_fence(const char *const *beneath, size_t n);

/** os_rss_peak - peak resident set of this process, bytes */
uint64_t os_rss_peak(void);

#endif
