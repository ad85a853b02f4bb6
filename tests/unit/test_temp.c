/*
 * test_temp.c - temporary files: what killed builds leave behind is removed, and nothing else ever is
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/temp.h"
#include "scratch.h"
#include "test.h"

static char dir[] = "/tmp/dray-test-XXXXXX";
static struct dray_err e;

static char *
in_dir(const char *name)
{
	static char path[2][300];
	static int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static int
make(const char *name)
{
	int fd = open(in_dir(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, "left", 4) != 4)
		abort();
	return fd;
}

static bool
is_there(const char *name)
{
	struct stat st;

	return lstat(in_dir(name), &st) == 0;
}

static size_t
clean(void)
{
	int d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = build_temp_clean(d);

	close(d);
	return n;
}

static void
what_nobody_holds_is_removed_before_a_new_one_is_made(void)
{
	struct build_temp t;
	char path[300];

	snprintf(path, sizeof(path), "%s/up.dray", dir);
	close(make(".dray-tmp-1-0"));
	close(make(".dray-tmp-4194304-999"));
	CHECK_EQ(build_temp_open(path, &t, &e), 0);
	CHECK_EQ(t.removed, 2);
	CHECK(!is_there(".dray-tmp-1-0"));
	CHECK(!is_there(".dray-tmp-4194304-999"));
	CHECK(is_there(t.name));
	/* the new one is held until it has its name */
	CHECK_EQ(clean(), 0);
	CHECK(is_there(t.name));
	CHECK_EQ(build_temp_write(t.fd, 0, "new", 3, &e), 0);
	CHECK_EQ(build_temp_commit(&t, &e), 0);
	CHECK(is_there("up.dray"));
	CHECK_EQ(clean(), 0);
	CHECK(is_there("up.dray"));
	build_temp_drop(&t);
	CHECK_EQ(unlink(in_dir("up.dray")), 0);
}

static void
what_somebody_holds_stays(void)
{
	int fd = make(".dray-tmp-1-0");

	CHECK_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
	CHECK_EQ(clean(), 0);
	CHECK(is_there(".dray-tmp-1-0"));
	close(fd);
	CHECK_EQ(clean(), 1);
	CHECK(!is_there(".dray-tmp-1-0"));
}

static void
another_name_stays(void)
{
	static const char *const names[] = { ".dray-tmp-", ".dray-tmp-1", ".dray-tmp-1-", ".dray-tmp--1", ".dray-tmp-1-0x",
		".dray-tmp-1-0-0", ".dray-tmp-x-0", ".dray-tmp-+1-0", "dray-tmp-1-0", ".dray-tmp_1-0", "x.dray-tmp-1-0" };
	const size_t n = sizeof(names) / sizeof(names[0]);

	for (size_t i = 0; i < n; i++)
		close(make(names[i]));
	CHECK_EQ(clean(), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK(is_there(names[i]));
		unlink(in_dir(names[i]));
	}
}

static void
other_objects_stay_and_are_not_followed(void)
{
	close(make("kept"));
	CHECK_EQ(symlink("kept", in_dir(".dray-tmp-1-0")), 0);
	CHECK_EQ(symlink("nowhere", in_dir(".dray-tmp-1-1")), 0);
	CHECK_EQ(mkdir(in_dir(".dray-tmp-1-2"), 0700), 0);
	CHECK_EQ(mkfifo(in_dir(".dray-tmp-1-3"), 0600), 0);
	CHECK_EQ(link(in_dir("kept"), in_dir(".dray-tmp-1-4")), 0);	/* a second name of something else */
	CHECK_EQ(clean(), 0);
	for (char c = '0'; c <= '4'; c++) {
		char name[] = ".dray-tmp-1-?";

		name[sizeof(name) - 2] = c;
		CHECK(is_there(name));
		if (unlink(in_dir(name)) != 0)
			CHECK_EQ(rmdir(in_dir(name)), 0);
	}
	CHECK(is_there("kept"));
	unlink(in_dir("kept"));
}

static void
a_file_of_somebody_else_stays(void)
{
	int fd;

	if (geteuid() != 0)
		return;		/* only root can give one away */
	fd = make(".dray-tmp-1-0");
	CHECK_EQ(fchown(fd, 12345, 12345), 0);
	CHECK_EQ(clean(), 0);
	CHECK(is_there(".dray-tmp-1-0"));
	CHECK_EQ(fchown(fd, 0, 0), 0);
	close(fd);
	CHECK_EQ(clean(), 1);
}

static void
a_dropped_one_leaves_nothing(void)
{
	struct build_temp t;
	char name[64], path[300];

	snprintf(path, sizeof(path), "%s/up.dray", dir);
	CHECK_EQ(build_temp_open(path, &t, &e), 0);
	snprintf(name, sizeof(name), "%s", t.name);
	build_temp_drop(&t);
	CHECK(!is_there(name));
	CHECK(!is_there("up.dray"));
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	RUN(what_nobody_holds_is_removed_before_a_new_one_is_made);
	RUN(what_somebody_holds_stays);
	RUN(another_name_stays);
	RUN(other_objects_stay_and_are_not_followed);
	RUN(a_file_of_somebody_else_stays);
	RUN(a_dropped_one_leaves_nothing);
	scratch_remove(dir);
	return test_done();
}
