/*
 * test_os_linux.c - what Linux gives for processes, mounts and foreign trees: each in a process of its own, which alone sees the change.
 */
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/os.h"

#include "child.h"
#include "scratch.h"
#include "test.h"

static char dir_name[] = "/tmp/dray-os-linux-XXXXXX";

static void
put(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd != -1 && write(fd, "hello", 5) == 5 && close(fd) == 0);
}

static void
kinds_of_file_systems_without_a_disk(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC), pair[2];
	struct dray_fs fs;

	CHECK_EQ(os_fs(fd, &fs), 0);
	CHECK_EQ(fs.kind, DRAY_FS_MEMORY);
	close(fd);
	/* one that is in no table */
	CHECK_EQ(pipe2(pair, O_CLOEXEC), 0);
	CHECK_EQ(os_fs(pair[0], &fs), 0);
	CHECK_EQ(fs.kind, DRAY_FS_WEAK);
	CHECK_EQ(fs.max_links, UINT64_MAX);
	close(pair[0]);
	close(pair[1]);
}

/* @body in a process of its own, which may change what all of a process has; 77: not to be had on this machine */
static void
apart(int (*body)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0)
		child_end(body());
	if ((status = child_status(pid)) == 77)
		printf("# not to be had on this machine\n");
	else
		CHECK_EQ(status, 0);
}

/* 0 when all of @good held, else the number of the first that did not */
static int
verdict(const bool *good, int n)
{
	for (int i = 0; i < n; i++)
		if (!good[i])
			return i + 1;
	return 0;
}

static int
try_close_above(void)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY), low = dup(dir), high = fcntl(dir, F_DUPFD, 200);

	if (low == -1 || high < 200)
		return 100;
	os_close_above(low);
	return verdict((const bool[]){ fcntl(low, F_GETFD) != -1, fcntl(high, F_GETFD) == -1, errno == EBADF, fcntl(low + 1, F_GETFD) == -1,
	    fcntl(dir, F_GETFD) != -1 }, 5);
}

static void
handles_above_one_are_closed(void)
{
	apart(try_close_above);
}

static int alive[2];	/* what a grandchild says, and its end */

/* a child that is to go with its parent, which ends as soon as the child says that it is ready */
static int
try_die_with_parent(void)
{
	int ready[2];
	char c = 'x';
	pid_t pid;

	if (pipe(ready) != 0)
		return 100;
	if ((pid = fork()) == 0) {
		close(ready[0]);
		if (os_die_with_parent() != 0 || write(ready[1], "r", 1) != 1)
			_exit(1);
		sleep(30);
		_exit(write(alive[1], "s", 1) == 1 ? 2 : 3);
	}
	close(ready[1]);
	return pid != -1 && read(ready[0], &c, 1) == 1 && c == 'r' ? 0 : 1;
}

static void
a_child_does_not_outlive_its_parent(void)
{
	int sig = -1;
	char c;

	CHECK_EQ(pipe(alive), 0);
	apart(try_die_with_parent);
	close(alive[1]);
	CHECK_EQ(read(alive[0], &c, 1), 0);
	close(alive[0]);
	/* of this process too, and taken back */
	CHECK_EQ(os_die_with_parent(), 0);
	CHECK_EQ(prctl(PR_GET_PDEATHSIG, &sig), 0);
	CHECK_EQ(sig, SIGKILL);
	CHECK_EQ(prctl(PR_SET_PDEATHSIG, 0), 0);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* by default the block that is freed teaches malloc(3) to keep the next one of its size */
static int
try_lean_heap(void)
{
	size_t before;
	bool apart_before, apart_after;

	os_lean_heap();
	for (int i = 0; i < 2; i++) {
		char *volatile p;

		before = mallinfo2().hblks;
		if ((p = malloc(4 << 20)) == NULL)
			return 100;
		p[0] = 1;
		apart_before = mallinfo2().hblks == before + 1;
		free(p);
		apart_after = mallinfo2().hblks == before;
		if (!apart_before || !apart_after)
			return i + 1;
	}
	return 0;
}

static void
large_blocks_are_given_back(void)
{
	apart(try_lean_heap);
}
#else
static void
large_blocks_are_given_back(void)
{
	os_lean_heap();
	CHECK(os_rss_peak() > 0);
}
#endif

static int
try_remount(void)
{
	struct statvfs v, w;
	bool kept, refused;

	if (!os_confine() || mount("none", "mnt", "tmpfs", MS_NOSUID | MS_NOATIME, NULL) != 0)
		return 77;
	if (os_remount("mnt", true) != 0 || statvfs("mnt", &v) != 0)
		return 100;
	kept = (v.f_flag & (ST_NOSUID | ST_NOATIME)) == (ST_NOSUID | ST_NOATIME) && (v.f_flag & ST_NODEV) == 0;
	refused = open("mnt/x", O_WRONLY | O_CREAT, 0600) == -1 && errno == EROFS;
	if (os_remount("mnt", false) != 0 || statvfs("mnt", &w) != 0)
		return 101;
	return verdict((const bool[]){ (v.f_flag & ST_RDONLY) != 0, kept, refused, (w.f_flag & ST_RDONLY) == 0,
	    (w.f_flag & ST_NOATIME) != 0, open("mnt/x", O_WRONLY | O_CREAT, 0600) != -1, os_remount("missing", true) == -1, errno == ENOENT }, 8);
}

static void
a_remount_keeps_the_other_options(void)
{
	apart(try_remount);
	/* it was a place of its own */
	CHECK_EQ(access("mnt/x", F_OK), -1);
}

static int
overlay(const char *options, bool *moves)
{
	struct dray_fs fs;
	int fd, rc = 1;

	if (mount("none", "mnt/m", "overlay", 0, options) != 0)
		return 77;
	fd = open("mnt/m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1 && os_fs(fd, &fs) == 0 && fs.kind == DRAY_FS_OVERLAY) {
		*moves = fs.moves_dirs;
		rc = 0;
	}
	close(fd);
	return umount("mnt/m") == 0 ? rc : 2;
}

static int
try_overlay(void)
{
	bool with = false, without = true;
	int rc;

	if (!os_confine() || mount("none", "mnt", "tmpfs", 0, NULL) != 0)
		return 77;
	if (mkdir("mnt/l", 0755) != 0 || mkdir("mnt/u", 0755) != 0 || mkdir("mnt/w", 0755) != 0 || mkdir("mnt/m", 0755) != 0)
		return 100;
	rc = overlay("lowerdir=mnt/l,upperdir=mnt/u,workdir=mnt/w,redirect_dir=on", &with);
	if (rc == 0)
		rc = overlay("lowerdir=mnt/l,upperdir=mnt/u,workdir=mnt/w,redirect_dir=off", &without);
	return rc != 0 ? rc : verdict((const bool[]){ with, !without }, 2);
}

static void
an_overlay_tells_whether_it_moves_directories(void)
{
	apart(try_overlay);
}

/* a tree of which / is made, and left again by the handle @out, so that nothing but the process has changed */
static int
try_furnish(void)
{
	int out, tmp;
	struct stat null, was;
	char fd0[32] = "";
	bool good[8], dev;

	if (!os_confine() || (out = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 || chroot("tree") != 0 || chdir("/") != 0)
		return 77;
	os_furnish(true);
	tmp = open("/tmp/mine", O_WRONLY | O_CREAT | O_EXCL, 0600);
	good[0] = tmp != -1 && access("/tmp/trees-own", F_OK) == -1;
	/* without the right to make devices what the tree has is all */
	dev = stat("/dev/null", &null) == 0;
	good[1] = dev ? S_ISCHR(null.st_mode) && (null.st_mode & 0777) == 0666 : access("/dev/trees-own", F_OK) == 0;
	good[2] = !dev || (readlink("/dev/stdin", fd0, sizeof(fd0) - 1) == 4 && strcmp(fd0, "fd/0") == 0);
	good[3] = !dev || (access("/dev/trees-own", F_OK) == -1 && access("/dev/shm", W_OK) == 0);
	good[4] = access("/proc/self/status", R_OK) == 0;
	/* the tree has no /run: nothing is made for it */
	good[5] = lstat("/run", &was) == -1;
	good[6] = prctl(PR_CAPBSET_READ, 21 /* CAP_SYS_ADMIN */) == 0 && prctl(PR_CAPBSET_READ, 16 /* CAP_SYS_MODULE */) == 0;
	good[7] = prctl(PR_CAPBSET_READ, 0 /* CAP_CHOWN */) == 1;
	if (fchdir(out) != 0 || chroot(".") != 0)
		return 101;
	return verdict(good, 8);
}

static void
a_foreign_tree_gets_what_programs_count_on(void)
{
	CHECK_EQ(mkdir("tree/tmp", 0755), 0);
	CHECK_EQ(mkdir("tree/dev", 0755), 0);
	CHECK_EQ(mkdir("tree/proc", 0755), 0);
	put("tree/tmp/trees-own");
	put("tree/dev/trees-own");
	apart(try_furnish);
	/* nobody else sees any of it */
	CHECK_EQ(access("tree/tmp/trees-own", F_OK), 0);
	CHECK_EQ(access("tree/tmp/mine", F_OK), -1);
	CHECK_EQ(access("tree/dev/null", F_OK), -1);
}

int
main(void)
{
	if (mkdtemp(dir_name) == NULL || chdir(dir_name) != 0 || mkdir("mnt", 0755) != 0 || mkdir("tree", 0755) != 0)
		return 1;
	RUN(kinds_of_file_systems_without_a_disk);
	RUN(handles_above_one_are_closed);
	RUN(a_child_does_not_outlive_its_parent);
	RUN(large_blocks_are_given_back);
	RUN(a_remount_keeps_the_other_options);
	RUN(an_overlay_tells_whether_it_moves_directories);
	RUN(a_foreign_tree_gets_what_programs_count_on);
	if (scratch_remove(dir_name) != 0)
		return 1;
	return test_done();
}
