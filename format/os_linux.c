/*
 * os_linux.c - what Linux gives beyond POSIX. With DRAY_OS_NOFAST the fast calls say ENOSYS, so that the path of
 * the other system is tested here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>

#include "dray/os.h"

#include "os_posix.h"

/* Linux 5.8, for C libraries that do not know them yet */
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

static uint8_t
fflags_of(uint64_t attributes)
{
	unsigned fflags = 0;

	if ((attributes & STATX_ATTR_IMMUTABLE) != 0)
		fflags |= DRAY_FF_IMMUTABLE;
	if ((attributes & STATX_ATTR_APPEND) != 0)
		fflags |= DRAY_FF_APPEND;
	if ((attributes & STATX_ATTR_NODUMP) != 0)
		fflags |= DRAY_FF_NODUMP;
	return (uint8_t)fflags;
}

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
	st->fflags = fflags_of(x.stx_attributes);
	st->fflags_here = fflags_of(x.stx_attributes_mask);
	return 0;
}

int
os_fflags_set(int dir, const char *name, uint8_t mask, uint8_t fflags)
{
	const int of_mask = (int)dray_fflags_raw("linux", mask), set = (int)dray_fflags_raw("linux", fflags & mask);
	int fd, was, now, rc = -1, err;

	fd = openat(dir, name[0] == '\0' ? "." : name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (ioctl(fd, FS_IOC_GETFLAGS, &was) == 0) {
		now = (was & ~of_mask) | set;
		rc = now == was ? 0 : ioctl(fd, FS_IOC_SETFLAGS, &now);
	}
	err = errno;
	close(fd);	/* read-only, nothing to lose */
	errno = err;
	return rc;
}

/* capget(2) by hand: libcap would be one more library */
bool
os_fflags_mine(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps) != 0)
		return geteuid() == 0;
	return (caps[0].effective >> CAP_LINUX_IMMUTABLE & 1) != 0;
}

static enum dray_fs_kind
fs_kind(unsigned long magic)
{
	/* those that linux/magic.h lacks: source is each file system's own header in the kernel */
	switch (magic) {
	case EXT4_SUPER_MAGIC:		/* ext2 and ext3 too */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case 0x3153464aUL:		/* jfs */
	case 0x2fc12fc1UL:		/* zfs */
	case 0xca451a4eUL:		/* bcachefs */
	case 0x24051905UL:		/* ubifs */
		return DRAY_FS_SAFE;
	case OVERLAYFS_SUPER_MAGIC:
		return DRAY_FS_OVERLAY;
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return DRAY_FS_MEMORY;
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEVPTS_SUPER_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case SECURITYFS_MAGIC:
	case DEBUGFS_MAGIC:
	case EFIVARFS_MAGIC:
		return DRAY_FS_PSEUDO;
	case NFS_SUPER_MAGIC:
	case 0xff534d42UL:		/* cifs */
	case 0xfe534d42UL:		/* smb2 */
	case V9FS_MAGIC:
	case CEPH_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
		return DRAY_FS_NETWORK;
	default:
		return DRAY_FS_WEAK;
	}
}

/* is the mount that @fd lies on told with redirect_dir=on? Source: proc_pid_mountinfo(5), overlayfs.rst in the kernel */
static bool
overlay_moves_dirs(int fd)
{
	struct dray_stat st;
	char *line = NULL, *end;
	size_t cap = 0;
	bool yes = false;
	FILE *f;

	if (os_stat_at(fd, "", &st) != 0 || (f = fopen("/proc/self/mountinfo", "re")) == NULL)
		return false;
	while (getline(&line, &cap, f) != -1)
		if (strtoull(line, &end, 10) == st.mnt_id && *end == ' ')
			yes = strstr(end, "redirect_dir=on") != NULL;
	free(line);
	fclose(f);
	return yes;
}

/* pathconf(3) knows ext alone, and says 127 for all others */
static uint64_t
max_links(unsigned long type)
{
	switch (type) {
	case 0xef53:		/* ext4: EXT4_LINK_MAX */
		return 65000;
	case 0x9123683e:	/* btrfs: BTRFS_LINK_MAX */
		return 65535;
	case 0x58465342:	/* xfs: XFS_MAXLINK */
		return 2147483647;
	default:
		return UINT64_MAX;
	}
}

int
os_fs(int fd, struct dray_fs *fs)
{
	struct statfs s;

	if (fstatfs(fd, &s) != 0)
		return -1;
	*fs = (struct dray_fs){ .kind = fs_kind((unsigned long)s.f_type & 0xffffffffUL) };
	if (os_fs_room(fd, fs) != 0)
		return -1;
	if (fs->kind == DRAY_FS_OVERLAY)
		fs->moves_dirs = overlay_moves_dirs(fd);
	fs->max_links = max_links((unsigned long)s.f_type & 0xffffffffUL);
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

int
os_clone(int from, int to)
{
	return ioctl(to, FICLONE, from);
}

int
os_rename_noreplace(int dir_a, const char *a, int dir_b, const char *b)
{
	if (renameat2(dir_a, a, dir_b, b, RENAME_NOREPLACE) == 0)
		return 0;
	/* EINVAL also stands for a directory moved into itself: the plain rename then says so again */
	if (errno != ENOSYS && errno != EINVAL)
		return -1;
	return os_rename_by_link(dir_a, a, dir_b, b);
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
os_self_exe(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

int
os_self_path(char *buf, size_t cap)
{
	ssize_t n = readlink("/proc/self/exe", buf, cap);

	if (n < 0)
		return -1;
	if ((size_t)n >= cap) {
		errno = ERANGE;
		return -1;
	}
	buf[n] = '\0';
	return 0;
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

void
os_lean_heap(void)
{
#ifdef __GLIBC__
	/* by default a large block that is freed raises the limit above which blocks are given back, so that tables of an
	 * earlier step stay in the way of later ones; and each thread may have a heap of its own */
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 512 * 1024);
	mallopt(M_TRIM_THRESHOLD, 512 * 1024);
#endif
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

int
os_remount(const char *path, bool read_only)
{
	static const struct { unsigned long st, ms; } kept[] = { { ST_NOSUID, MS_NOSUID }, { ST_NODEV, MS_NODEV },
		{ ST_NOEXEC, MS_NOEXEC }, { ST_SYNCHRONOUS, MS_SYNCHRONOUS }, { ST_MANDLOCK, MS_MANDLOCK },
		{ ST_NOATIME, MS_NOATIME }, { ST_NODIRATIME, MS_NODIRATIME }, { ST_RELATIME, MS_RELATIME } };
	unsigned long flags = MS_REMOUNT | (read_only ? MS_RDONLY : 0ul);
	struct statvfs vfs;

	if (statvfs(path, &vfs) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if ((vfs.f_flag & kept[i].st) != 0)
			flags |= kept[i].ms;
	return mount(NULL, path, NULL, flags, NULL);
}

void
os_close_above(int fd)
{
	closefrom(fd + 1);
}

int
os_die_with_parent(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

bool
os_confine(void)
{
	static const int spaces[] = { CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC };

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		(void)unshare(spaces[i]);
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* mounts follow symlinks; these have to be the tree's own folders */
static bool
mounted(const char *at, const char *kind, unsigned long flags, const char *options)
{
	struct stat st;

	return lstat(at, &st) == 0 && S_ISDIR(st.st_mode) && mount(kind, at, kind, flags, options) == 0;
}

/* what programs write to or read from without a thought; a missing /dev/null would become a file of the tree */
static void
furnish_dev(void)
{
	static const struct { const char *path; unsigned minor; } memory[] = { { "/dev/null", 3 }, { "/dev/zero", 5 },
		{ "/dev/full", 7 }, { "/dev/random", 8 }, { "/dev/urandom", 9 } };
	static const char *const links[][2] = { { "/proc/self/fd", "/dev/fd" }, { "fd/0", "/dev/stdin" }, { "fd/1", "/dev/stdout" },
		{ "fd/2", "/dev/stderr" } };
	bool whole = true;
	mode_t mask;

	if (!mounted("/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=16m"))
		return;
	mask = umask(0);
	for (size_t i = 0; whole && i < sizeof(memory) / sizeof(memory[0]); i++)
		whole = mknod(memory[i].path, S_IFCHR | 0666, makedev(1, memory[i].minor)) == 0;
	for (size_t i = 0; whole && i < sizeof(links) / sizeof(links[0]); i++)
		whole = symlink(links[i][0], links[i][1]) == 0;
	if (!whole || mkdir("/dev/shm", 01777) == -1)
		(void)umount2("/dev", MNT_DETACH);	/* no right to make devices: what the tree has is better than nothing */
	umask(mask);
}

void
os_furnish(bool mounts)
{
	static const int kept[] = { CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID, CAP_KILL, CAP_SETGID,
		CAP_SETUID, CAP_SETFCAP, CAP_SYS_CHROOT };

	if (mounts) {
		(void)mounted("/proc", "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
		(void)mounted("/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
		(void)mounted("/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
		(void)mounted("/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
		furnish_dev();
	}
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++) {
		bool keep = false;

		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			keep |= kept[i] == cap;
		if (!keep)
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);	/* of what is executed from here on */
	}
}

uint64_t
os_rss_peak(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_SELF, &ru) != 0 || ru.ru_maxrss < 0)
		return 0;
	return (uint64_t)ru.ru_maxrss * 1024;
}
