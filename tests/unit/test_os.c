/*
 * test_os.c - what the system gives beyond POSIX; where a call may be missing (DRAY_OS_NOFAST), it must say so.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/os.h"
#include "format/os_posix.h"

#include "scratch.h"
#include "test.h"

static char dir_name[] = "/tmp/dray-os-XXXXXX";
static int dir = -1;

static void
put(const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	CHECK(fd != -1);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	CHECK_EQ(close(fd), 0);
}

static const char *
get(const char *name)
{
	static char text[64];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	if (fd != -1)
		close(fd);
	return fd == -1 ? "(none)" : text;
}

static void
stat_agrees_with_posix(void)
{
	struct dray_stat st;
	struct stat want;

	put("file", "hello");
	CHECK_EQ(os_stat_at(dir, "file", &st), 0);
	CHECK_EQ(fstatat(dir, "file", &want, 0), 0);
	CHECK_EQ(st.mode, want.st_mode);
	CHECK_EQ(st.uid, want.st_uid);
	CHECK_EQ(st.gid, want.st_gid);
	CHECK_EQ(st.nlink, 1);
	CHECK_EQ(st.ino, want.st_ino);
	CHECK_EQ(st.size, 5);
	CHECK_EQ(st.blocks512, want.st_blocks);
	CHECK_EQ(st.mtime_sec, want.st_mtim.tv_sec);
	CHECK_EQ(st.mtime_nsec, want.st_mtim.tv_nsec);
	CHECK_EQ(st.ctime_sec, want.st_ctim.tv_sec);
	CHECK_EQ(st.ctime_nsec, want.st_ctim.tv_nsec);
	CHECK(st.btime_nsec < 1000000000);
	CHECK(!st.mount_root);
}

static void
stat_of_a_handle_and_of_a_link_itself(void)
{
	struct dray_stat st, sub;
	struct stat want;

	CHECK_EQ(os_stat_at(dir, "", &st), 0);
	CHECK_EQ(fstat(dir, &want), 0);
	CHECK_EQ(st.ino, want.st_ino);
	CHECK(S_ISDIR(st.mode));
	CHECK_EQ(symlinkat("nowhere", dir, "link"), 0);
	CHECK_EQ(os_stat_at(dir, "link", &st), 0);
	CHECK(S_ISLNK(st.mode));
	CHECK_EQ(st.size, 7);
	CHECK_EQ(os_stat_at(dir, "file", &sub), 0);
	CHECK_EQ(st.dev, sub.dev);
	CHECK_EQ(st.mnt_id, sub.mnt_id);
	CHECK_EQ(os_stat_at(dir, "missing", &st), -1);
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(os_stat_at(AT_FDCWD, "/", &st), 0);
	CHECK(st.mount_root);
}

static void
exchange_swaps_or_says_it_cannot(void)
{
	put("a", "A");
	put("b", "B");
	if (os_exchange(dir, "a", dir, "b") == 0) {
		CHECK_STR(get("a"), "B");
		CHECK_STR(get("b"), "A");
		CHECK_EQ(os_exchange(dir, "a", dir, "missing"), -1);
		CHECK_EQ(errno, ENOENT);
	} else {
		CHECK(errno == ENOSYS || errno == EINVAL);
		CHECK_STR(get("a"), "A");
		CHECK_STR(get("b"), "B");
	}
}

static void
rename_without_replacing_keeps_what_is_there(void)
{
	put("from", "F");
	put("to", "T");
	CHECK_EQ(os_rename_noreplace(dir, "from", dir, "to"), -1);
	CHECK_EQ(errno, EEXIST);
	CHECK_STR(get("from"), "F");
	CHECK_STR(get("to"), "T");
	CHECK_EQ(unlinkat(dir, "to", 0), 0);
	CHECK_EQ(os_rename_noreplace(dir, "from", dir, "to"), 0);
	CHECK_STR(get("to"), "F");
	CHECK_STR(get("from"), "(none)");
	CHECK_EQ(os_rename_noreplace(dir, "from", dir, "x"), -1);
	CHECK_EQ(errno, ENOENT);
	/* an empty directory in the way would be replaced by a plain rename */
	CHECK_EQ(mkdirat(dir, "d1", 0755), 0);
	CHECK_EQ(mkdirat(dir, "d2", 0755), 0);
	CHECK_EQ(os_rename_noreplace(dir, "d1", dir, "d2"), -1);
	CHECK_EQ(errno, EEXIST);
	CHECK_EQ(unlinkat(dir, "d2", AT_REMOVEDIR), 0);
	CHECK_EQ(os_rename_noreplace(dir, "d1", dir, "d2"), 0);
	/* a dangling link in the way is something too */
	CHECK_EQ(os_rename_noreplace(dir, "d2", dir, "link"), -1);
	CHECK_EQ(errno, EEXIST);
}

/* the other system's way, and that of kernels that lack the call */
static void
renaming_by_a_link_replaces_nothing_either(void)
{
	struct stat a, b;

	put("la", "A");
	put("lb", "B");
	CHECK_EQ(os_rename_by_link(dir, "la", dir, "lb"), -1);
	CHECK_EQ(errno, EEXIST);
	CHECK_STR(get("la"), "A");
	CHECK_STR(get("lb"), "B");
	CHECK_EQ(fstatat(dir, "la", &a, 0), 0);
	CHECK_EQ(os_rename_by_link(dir, "la", dir, "lc"), 0);
	CHECK_EQ(fstatat(dir, "lc", &b, 0), 0);
	CHECK_EQ(a.st_ino, b.st_ino);
	CHECK_EQ(b.st_nlink, 1);
	CHECK_STR(get("la"), "(none)");
	CHECK_EQ(os_rename_by_link(dir, "la", dir, "ld"), -1);
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(os_rename_by_link(dir, "lc", dir, "missing/lc"), -1);
	CHECK_EQ(errno, ENOENT);
	/* a directory cannot be linked: it is looked for, and renamed */
	CHECK_EQ(mkdirat(dir, "ldir", 0755), 0);
	CHECK_EQ(mkdirat(dir, "lempty", 0755), 0);
	CHECK_EQ(os_rename_by_link(dir, "ldir", dir, "lempty"), -1);
	CHECK_EQ(errno, EEXIST);
	CHECK_EQ(os_rename_by_link(dir, "ldir", dir, "lc/x"), -1);
	CHECK_EQ(errno, ENOTDIR);
	CHECK_EQ(os_rename_by_link(dir, "ldir", dir, "lnew"), 0);
	CHECK_EQ(fstatat(dir, "lnew", &a, 0), 0);
	CHECK(S_ISDIR(a.st_mode));
	/* into itself: both ways say so */
	CHECK_EQ(os_rename_by_link(dir, "lnew", dir, "lnew/in"), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(os_rename_noreplace(dir, "lnew", dir, "lnew/in"), -1);
	CHECK_EQ(errno, EINVAL);
}

static void
a_clone_has_the_bytes_or_says_it_cannot(void)
{
	int from, to;

	put("cfrom", "to be cloned");
	put("cto", "");
	from = openat(dir, "cfrom", O_RDONLY | O_CLOEXEC);
	to = openat(dir, "cto", O_RDWR | O_CLOEXEC);
	if (os_clone(from, to) == 0) {
		CHECK_STR(get("cto"), "to be cloned");
	} else {
		CHECK(errno == EOPNOTSUPP || errno == EINVAL || errno == ENOTTY || errno == ENOSYS);
		CHECK_STR(get("cto"), "");
	}
	close(from);
	CHECK_EQ(os_clone(from, to), -1);
	CHECK(errno == EBADF || errno == EOPNOTSUPP || errno == ENOTTY || errno == ENOSYS);
	close(to);
}

static void
syncfs_syncs_or_says_it_cannot(void)
{
	if (os_syncfs(dir) != 0)
		CHECK_EQ(errno, ENOSYS);
	CHECK_EQ(os_syncfs(-1), -1);
	CHECK(errno == EBADF || errno == ENOSYS);
}

static void
opening_beneath_never_leaves_nor_follows(void)
{
	const int flags = O_RDONLY | O_CLOEXEC;
	int fd = os_open_beneath(dir, "file", flags);

	if (fd == -1) {
		CHECK_EQ(errno, ENOSYS);
		return;
	}
	close(fd);
	CHECK_EQ(symlinkat("file", dir, "lnk"), 0);
	CHECK_EQ(os_open_beneath(dir, "lnk", flags), -1);
	CHECK_EQ(errno, ELOOP);
	CHECK_EQ(os_open_beneath(dir, "../etc", flags), -1);
	CHECK_EQ(errno, EXDEV);
	CHECK_EQ(os_open_beneath(dir, "/etc", flags), -1);
	CHECK_EQ(errno, EXDEV);
}

static void
walking_opens_directories_only(void)
{
	int fd = os_open_walk(dir, "d2");

	CHECK(fd != -1);
	close(fd);
	CHECK_EQ(symlinkat("d2", dir, "to-d2"), 0);
	CHECK_EQ(os_open_walk(dir, "to-d2"), -1);
	CHECK(errno == ENOTDIR || errno == ELOOP || errno == EMLINK);
	CHECK_EQ(os_open_walk(dir, "file"), -1);
	CHECK_EQ(errno, ENOTDIR);
	CHECK_EQ(os_open_walk(dir, "missing"), -1);
	CHECK_EQ(errno, ENOENT);
}

static void
a_file_system_tells_what_it_is_good_for(void)
{
	struct dray_fs fs;
	int fd = openat(dir, "file", O_RDONLY | O_CLOEXEC), proc = open("/proc", O_RDONLY | O_CLOEXEC);

	CHECK_EQ(os_fs(fd, &fs), 0);
	CHECK(!fs.read_only);
	CHECK(fs.block >= 512 && (fs.block & (fs.block - 1)) == 0);
	CHECK(fs.free_bytes > 0);
	CHECK_EQ(os_fs(proc, &fs), 0);
	CHECK_EQ(fs.kind, DRAY_FS_PSEUDO);
	close(fd);
	close(proc);
	CHECK_EQ(os_fs(-1, &fs), -1);
	CHECK_EQ(errno, EBADF);
	CHECK_EQ(os_fs_room(-1, &fs), -1);
	CHECK_EQ(errno, EBADF);
}

static void
file_flags_are_seen_set_and_cleared(void)
{
	struct dray_stat st;
	struct dray_fs fs;

	CHECK_EQ(os_fflags_set(dir, "missing", DRAY_FF_LOCKS, 0), -1);
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(symlinkat("file", dir, "lock-link"), 0);
	CHECK_EQ(os_fflags_set(dir, "lock-link", DRAY_FF_LOCKS, DRAY_FF_IMMUTABLE), -1);
	CHECK_EQ(errno, ELOOP);
	CHECK_EQ(os_fs(dir, &fs), 0);
	if (!os_fflags_mine() || fs.kind != DRAY_FS_SAFE)
		return;	/* not this user's to set, or nowhere to keep them */
	CHECK_EQ(os_fflags_set(dir, "file", DRAY_FF_LOCKS, DRAY_FF_IMMUTABLE), 0);
	CHECK_EQ(os_stat_at(dir, "file", &st), 0);
	CHECK_EQ(st.fflags, DRAY_FF_IMMUTABLE);
	CHECK_EQ(unlinkat(dir, "file", 0), -1);
	CHECK_EQ(errno, EPERM);
	CHECK_EQ(os_fflags_set(dir, "file", DRAY_FF_LOCKS, DRAY_FF_APPEND), 0);
	CHECK_EQ(os_stat_at(dir, "file", &st), 0);
	CHECK_EQ(st.fflags, DRAY_FF_APPEND);
	CHECK_EQ(os_fflags_set(dir, "file", DRAY_FF_NODUMP, DRAY_FF_NODUMP), 0);
	CHECK_EQ(os_stat_at(dir, "file", &st), 0);
	CHECK_EQ(st.fflags, DRAY_FF_APPEND | DRAY_FF_NODUMP);
	CHECK_EQ(st.fflags_here, dray_fflags_known("linux"));
	CHECK_EQ(os_fflags_set(dir, "file", DRAY_FF_LOCKS, 0), 0);
	CHECK_EQ(os_stat_at(dir, "file", &st), 0);
	CHECK_EQ(st.fflags, DRAY_FF_NODUMP);
	CHECK_EQ(os_fflags_set(dir, "file", DRAY_FF_NODUMP, 0), 0);
}

static void
xattrs_come_back_as_they_were_set(void)
{
	char list[256], value[16];
	size_t len = sizeof(list);
	int fd = openat(dir, "file", O_RDWR | O_CLOEXEC);

	if (os_xattr_set(fd, "user.dray", "v\0w", 3) != 0) {
		CHECK(errno == ENOTSUP || errno == EOPNOTSUPP);
		printf("# no xattrs on /tmp\n");
		close(fd);
		return;
	}
	CHECK_EQ(os_xattr_list(fd, list, &len), 0);
	CHECK(len >= sizeof("user.dray") && list[len - 1] == '\0');
	CHECK_HAS(list, "user.dray");
	len = 0;
	CHECK_EQ(os_xattr_list(fd, NULL, &len), 0);
	CHECK(len >= sizeof("user.dray"));
	len = 1;
	CHECK_EQ(os_xattr_list(fd, list, &len), -1);
	CHECK_EQ(errno, ERANGE);
	len = sizeof(value);
	CHECK_EQ(os_xattr_get(fd, "user.dray", value, &len), 0);
	CHECK_EQ(len, 3);
	CHECK(memcmp(value, "v\0w", 3) == 0);
	len = 2;
	CHECK_EQ(os_xattr_get(fd, "user.dray", value, &len), -1);
	CHECK_EQ(errno, ERANGE);
	CHECK_EQ(os_xattr_remove(fd, "user.dray"), 0);
	len = sizeof(value);
	CHECK_EQ(os_xattr_get(fd, "user.dray", value, &len), -1);
	CHECK_EQ(os_xattr_remove(fd, "user.dray"), -1);
	close(fd);
}

static void
a_fifo_and_as_root_a_device_are_made(void)
{
	struct dray_stat st;

	CHECK_EQ(os_mknod_at(dir, "fifo", S_IFIFO | 0600, 0, 0), 0);
	CHECK_EQ(os_stat_at(dir, "fifo", &st), 0);
	CHECK(S_ISFIFO(st.mode));
	CHECK_EQ(os_mknod_at(dir, "fifo", S_IFIFO | 0600, 0, 0), -1);
	CHECK_EQ(errno, EEXIST);
	if (os_mknod_at(dir, "null", S_IFCHR | 0600, 1, 3) != 0) {
		CHECK_EQ(errno, EPERM);
		return;
	}
	CHECK_EQ(os_stat_at(dir, "null", &st), 0);
	CHECK(S_ISCHR(st.mode));
	CHECK_EQ(st.rdev_major, 1);
	CHECK_EQ(st.rdev_minor, 3);
}

static void
the_process_knows_itself(void)
{
	char path[PATH_MAX], tight[PATH_MAX];
	struct dray_stat st, named;
	int fd = os_self_exe();

	CHECK_EQ(os_self_path(path, sizeof(path)), 0);
	CHECK_EQ(os_stat_at(AT_FDCWD, path, &named), 0);
	CHECK_EQ(os_self_path(tight, strlen(path) + 1), 0);
	CHECK_STR(tight, path);
	/* no room for the end of the text */
	CHECK_EQ(os_self_path(tight, strlen(path)), -1);
	CHECK_EQ(errno, ERANGE);

	CHECK(fd != -1);
	CHECK_EQ(os_stat_at(fd, "", &st), 0);
	CHECK(S_ISREG(st.mode) && st.size > 1000);
	CHECK_EQ(named.ino, st.ino);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	CHECK(os_cpus() >= 1 && os_cpus() <= 65536);
	CHECK(os_rss_peak() > 100000);
	CHECK(strcmp(os_name(), "linux") == 0 || strcmp(os_name(), "freebsd") == 0);
	CHECK_STR(os_state_dir(), strcmp(os_name(), "linux") == 0 ? "var/lib/dray" : "var/db/dray");
}

int
main(void)
{
	if (mkdtemp(dir_name) == NULL || (dir = open(dir_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return 1;
	RUN(stat_agrees_with_posix);
	RUN(stat_of_a_handle_and_of_a_link_itself);
	RUN(exchange_swaps_or_says_it_cannot);
	RUN(rename_without_replacing_keeps_what_is_there);
	RUN(renaming_by_a_link_replaces_nothing_either);
	RUN(a_clone_has_the_bytes_or_says_it_cannot);
	RUN(syncfs_syncs_or_says_it_cannot);
	RUN(opening_beneath_never_leaves_nor_follows);
	RUN(walking_opens_directories_only);
	RUN(a_file_system_tells_what_it_is_good_for);
	RUN(file_flags_are_seen_set_and_cleared);
	RUN(xattrs_come_back_as_they_were_set);
	RUN(a_fifo_and_as_root_a_device_are_made);
	RUN(the_process_knows_itself);
	close(dir);
	if (scratch_remove(dir_name) != 0)
		return 1;
	return test_done();
}
