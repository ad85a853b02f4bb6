/*
 * os_freebsd.c - what FreeBSD gives beyond POSIX. Compiled only: it has not run yet.
 *
 * There is no exchange of two names and no syncfs; O_RESOLVE_BENEATH follows symlinks, so openat2's place is taken
 * by the walk part by part.
 */
#include <sys/param.h>
#include <sys/cpuset.h>
#include <sys/extattr.h>
#include <sys/mount.h>
#include <sys/procctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"

#include "os_posix.h"

#ifndef O_SEARCH	/* FreeBSD 12 */
#define O_SEARCH O_RDONLY
#endif

/* a directory on another file system than its parent is the root of a mount; so is one that is its own parent */
static bool
is_mount_root(int dir, const char *name, const struct stat *st)
{
	struct stat up;

	if (!S_ISDIR(st->st_mode))
		return false;
	if (name[0] != '\0')
		return fstat(dir, &up) == 0 && up.st_dev != st->st_dev;
	return fstatat(dir, "..", &up, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (up.st_dev != st->st_dev || up.st_ino == st->st_ino);
}

int
os_stat_at(int dir, const char *name, struct dray_stat *st)
{
	struct stat s;

	if ((name[0] == '\0' ? fstat(dir, &s) : fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW)) != 0)
		return -1;
	memset(st, 0, sizeof(*st));
	st->mode = s.st_mode;
	st->uid = s.st_uid;
	st->gid = s.st_gid;
	st->nlink = (uint64_t)s.st_nlink;
	st->ino = (uint64_t)s.st_ino;
	st->size = (uint64_t)s.st_size;
	st->blocks512 = (uint64_t)s.st_blocks;
	st->dev = (uint64_t)(uint32_t)major(s.st_dev) << 32 | (uint32_t)minor(s.st_dev);
	st->rdev_major = (uint32_t)major(s.st_rdev);
	st->rdev_minor = (uint32_t)minor(s.st_rdev);
	st->mtime_sec = s.st_mtim.tv_sec;
	st->mtime_nsec = (uint32_t)s.st_mtim.tv_nsec;
	st->ctime_sec = s.st_ctim.tv_sec;
	st->ctime_nsec = (uint32_t)s.st_ctim.tv_nsec;
	/* file systems without a birth time give -1 */
	if (s.st_birthtim.tv_sec > 0) {
		st->btime_sec = s.st_birthtim.tv_sec;
		st->btime_nsec = (uint32_t)s.st_birthtim.tv_nsec;
	}
	st->mnt_id = (uint64_t)s.st_dev;	/* st_dev is the id of the mount here */
	st->mount_root = is_mount_root(dir, name, &s);
	st->fflags = dray_fflags_of("freebsd", (uint32_t)s.st_flags);
	st->fflags_here = dray_fflags_known("freebsd");	/* one that keeps none says so when they are set */
	return 0;
}

int
os_exchange(int dir_a, const char *a, int dir_b, const char *b)
{
	(void)dir_a, (void)a, (void)dir_b, (void)b;
	errno = ENOSYS;
	return -1;
}

int
os_clone(int from, int to)
{
	(void)from, (void)to;
	errno = ENOSYS;
	return -1;
}

int
os_rename_noreplace(int dir_a, const char *a, int dir_b, const char *b)
{
	return os_rename_by_link(dir_a, a, dir_b, b);
}

int
os_syncfs(int fd)
{
	(void)fd;
	errno = ENOSYS;
	return -1;
}

int
os_open_beneath(int dir, const char *path, int flags)
{
	(void)dir, (void)path, (void)flags;
	errno = ENOSYS;
	return -1;
}

int
os_open_walk(int dir, const char *name)
{
	return openat(dir, name, O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
os_fflags_set(int dir, const char *name, uint8_t mask, uint8_t fflags)
{
	const unsigned long of_mask = dray_fflags_raw("freebsd", mask), set = dray_fflags_raw("freebsd", fflags & mask);
	struct stat st;
	unsigned long now;

	if ((name[0] == '\0' ? fstat(dir, &st) : fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) != 0)
		return -1;
	now = (st.st_flags & ~of_mask) | set;
	if (now == st.st_flags)
		return 0;
	return chflagsat(dir, name[0] == '\0' ? "." : name, now, AT_SYMLINK_NOFOLLOW);
}

/* from secure level 1 on nobody clears the super-user's flags. Source: security(7) */
bool
os_fflags_mine(void)
{
	int level = 0;
	size_t len = sizeof(level);

	return geteuid() == 0 && (sysctlbyname("kern.securelevel", &level, &len, NULL, 0) != 0 || level < 1);
}

int
os_fs(int fd, struct dray_fs *fs)
{
	static const struct { const char *name; enum dray_fs_kind kind; } known[] = {
		{ "ufs", DRAY_FS_SAFE }, { "zfs", DRAY_FS_SAFE }, { "tmpfs", DRAY_FS_MEMORY }, { "nfs", DRAY_FS_NETWORK },
		{ "devfs", DRAY_FS_PSEUDO }, { "procfs", DRAY_FS_PSEUDO }, { "fdescfs", DRAY_FS_PSEUDO },
		{ "linprocfs", DRAY_FS_PSEUDO }, { "linsysfs", DRAY_FS_PSEUDO },
	};
	struct statfs s;
	long links;

	if (fstatfs(fd, &s) != 0)
		return -1;
	*fs = (struct dray_fs){ .kind = DRAY_FS_WEAK };
	links = fpathconf(fd, _PC_LINK_MAX);
	fs->max_links = links > 0 ? (uint64_t)links : UINT64_MAX;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(s.f_fstypename, known[i].name) == 0)
			fs->kind = known[i].kind;
	return os_fs_room(fd, fs);
}

int
os_self_path(char *buf, size_t cap)
{
	const int mib[4] = { CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1 };

	return sysctl(mib, 4, buf, &cap, NULL, 0);
}

int
os_self_exe(void)
{
	char path[PATH_MAX];

	return os_self_path(path, sizeof(path)) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

unsigned
os_cpus(void)
{
	cpuset_t set;
	long online;
	int n;

	CPU_ZERO(&set);
	if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof(set), &set) == 0 &&
	    (n = (int)CPU_COUNT(&set)) > 0)
		return (unsigned)n;
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}

const char *
os_name(void)
{
	return "freebsd";
}

void
os_lean_heap(void)
{
	/* jemalloc gives back by itself */
}

const char *
os_state_dir(void)
{
	return "var/db/dray";
}

/* "user.x" and "system.x" to name space and "x"; false with ENOTSUP for any other */
static bool
split_name(const char *full, int *space, const char **name)
{
	if (strncmp(full, "user.", 5) == 0 && full[5] != '\0') {
		*space = EXTATTR_NAMESPACE_USER;
		*name = full + 5;
		return true;
	}
	if (strncmp(full, "system.", 7) == 0 && full[7] != '\0') {
		*space = EXTATTR_NAMESPACE_SYSTEM;
		*name = full + 7;
		return true;
	}
	errno = EOPNOTSUPP;
	return false;
}

/* the system gives length byte, name, length byte, name ...; we give prefix, name, NUL. Adds to *at. */
static int
list_space(int fd, int space, const char *prefix, char *buf, size_t cap, size_t *at)
{
	const size_t plen = strlen(prefix);
	unsigned char *raw;
	ssize_t need, got;
	size_t i, n;

	if ((need = extattr_list_fd(fd, space, NULL, 0)) < 0)
		return -1;
	if (need == 0)
		return 0;
	if ((raw = malloc((size_t)need)) == NULL)
		return -1;
	if ((got = extattr_list_fd(fd, space, raw, (size_t)need)) < 0) {
		free(raw);
		return -1;
	}
	for (i = 0; i < (size_t)got; i += n) {
		n = raw[i++];
		if (n > (size_t)got - i)
			break;
		if (cap != 0) {
			if (cap - *at < plen + n + 1) {
				free(raw);
				errno = ERANGE;
				return -1;
			}
			memcpy(buf + *at, prefix, plen);
			memcpy(buf + *at + plen, raw + i, n);
			buf[*at + plen + n] = '\0';
		}
		*at += plen + n + 1;
	}
	free(raw);
	return 0;
}

int
os_xattr_list(int fd, char *buf, size_t *len)
{
	size_t at = 0;

	if (list_space(fd, EXTATTR_NAMESPACE_USER, "user.", buf, *len, &at) != 0)
		return -1;
	/* only root sees the system's own */
	if (list_space(fd, EXTATTR_NAMESPACE_SYSTEM, "system.", buf, *len, &at) != 0 && errno != EPERM)
		return -1;
	*len = at;
	return 0;
}

int
os_xattr_get(int fd, const char *full, void *buf, size_t *len)
{
	const char *name;
	ssize_t need, got;
	int space;

	if (!split_name(full, &space, &name))
		return -1;
	if ((need = extattr_get_fd(fd, space, name, NULL, 0)) < 0)
		return -1;
	if (*len == 0) {
		*len = (size_t)need;
		return 0;
	}
	/* the call itself would cut the value and call it success */
	if ((size_t)need > *len) {
		errno = ERANGE;
		return -1;
	}
	if ((got = extattr_get_fd(fd, space, name, buf, *len)) < 0)
		return -1;
	*len = (size_t)got;
	return 0;
}

int
os_xattr_set(int fd, const char *full, const void *value, size_t len)
{
	const char *name;
	ssize_t n;
	int space;

	if (!split_name(full, &space, &name))
		return -1;
	if ((n = extattr_set_fd(fd, space, name, value, len)) < 0)
		return -1;
	if ((size_t)n != len) {
		errno = EIO;
		return -1;
	}
	return 0;
}

int
os_xattr_remove(int fd, const char *full)
{
	const char *name;
	int space;

	if (!split_name(full, &space, &name))
		return -1;
	return extattr_delete_fd(fd, space, name);
}

int
os_mknod_at(int dir, const char *name, uint32_t mode, uint32_t rdev_major, uint32_t rdev_minor)
{
	if (S_ISFIFO((mode_t)mode))
		return mkfifoat(dir, name, (mode_t)mode & 07777);
	return mknodat(dir, name, (mode_t)mode, makedev(rdev_major, rdev_minor));
}

/* nmount(2) takes pairs of names and values */
static void
pair(struct iovec *v, char *name, char *value)
{
	v[0] = (struct iovec){ .iov_base = name, .iov_len = strlen(name) + 1 };
	v[1] = (struct iovec){ .iov_base = value, .iov_len = value == NULL ? 0 : strlen(value) + 1 };
}

int
os_remount(const char *path, bool read_only)
{
	char fstype[] = "fstype", fspath[] = "fspath";
	struct statfs fs;
	struct iovec v[4];
	uint64_t flags;

	if (statfs(path, &fs) != 0)
		return -1;
	flags = (uint64_t)fs.f_flags & MNT_UPDATEMASK & ~(uint64_t)MNT_RDONLY;
	pair(v, fstype, fs.f_fstypename);
	pair(v + 2, fspath, fs.f_mntonname);
	return nmount(v, 4, (int)(flags | MNT_UPDATE | (read_only ? MNT_RDONLY : 0)));
}

void
os_close_above(int fd)
{
	closefrom(fd + 1);
}

int
os_die_with_parent(void)
{
	int sig = SIGKILL;

	return procctl(P_PID, 0, PROC_PDEATHSIG_CTL, &sig);
}

bool
os_confine(void)
{
	/* a jail would have to be made from outside, with an address of its own: not done here */
	return false;
}

void
os_furnish(bool mounts)
{
	(void)mounts;
}

unsigned
os_fence(const char *const *beneath, size_t n)
{
	/* capsicum(4) takes the whole name space away at once, and most of our work is told by names; there is nothing between */
	(void)beneath, (void)n;
	return 0;
}

uint64_t
os_rss_peak(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_SELF, &ru) != 0 || ru.ru_maxrss < 0)
		return 0;
	return (uint64_t)ru.ru_maxrss * 1024;
}
