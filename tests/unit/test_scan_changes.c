/* a tree that changes while it is read: each way is found and told with its path; the change comes from the progress call */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "builder/release.h"
#include "dray/meter.h"
#include "scratch.h"
#include "test.h"

#define LARGE 300000	/* bytes, more than one read: progress is told within the file */

static char dir[] = "/tmp/dray-test-XXXXXX";

/* an old file: whatever is done to it then shows in its time, however coarse the clock of the file system */
static void
put(const char *name, size_t len)
{
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char *p = calloc(1, len + 1);

	if (fd == -1 || p == NULL || write(fd, p, len) != (ssize_t)len || futimens(fd, old) != 0)
		abort();
	close(fd);
	free(p);
}

static void
remove_b(void)
{
	CHECK_EQ(unlink("t/b"), 0);
}

static void
lengthen_b(void)
{
	put("t/b", 11);
}

static void
shorten_b(void)
{
	put("t/b", 9);
}

static void
touch_b(void)
{
	const struct timespec t[2] = { { .tv_sec = 5 }, { .tv_sec = 5 } };

	CHECK_EQ(utimensat(AT_FDCWD, "t/b", t, 0), 0);
}

static void
other_b(void)
{
	put("new-b", 10);
	CHECK_EQ(rename("new-b", "t/b"), 0);
}

static void
directory_b(void)
{
	remove_b();
	CHECK_EQ(mkdir("t/b", 0755), 0);
}

static void
symlink_b(void)
{
	remove_b();
	CHECK_EQ(symlink("a", "t/b"), 0);
}

static void
fifo_b(void)
{
	remove_b();
	CHECK_EQ(mkfifo("t/b", 0644), 0);
}

static void
socket_b(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "t/b" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	remove_b();
	CHECK_EQ(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
}

static void
remove_d(void)
{
	CHECK_EQ(unlink("t/d/f"), 0);
	CHECK_EQ(rmdir("t/d"), 0);
}

static void
symlink_d(void)
{
	CHECK_EQ(rename("t/d", "elsewhere"), 0);
	CHECK_EQ(symlink("../elsewhere", "t/d"), 0);
}

static void
file_d(void)
{
	remove_d();
	put("t/d", 10);
}

static void
lengthen_a(void)
{
	CHECK_EQ(truncate("t/a", LARGE + 1), 0);
}

static void
shorten_a(void)
{
	CHECK_EQ(truncate("t/a", LARGE - 1), 0);
}

static void
write_into_a(void)
{
	int fd = open("t/a", O_WRONLY | O_CLOEXEC);

	CHECK_EQ(pwrite(fd, "x", 1, LARGE - 1), 1);
	close(fd);
}

static void
mode_of_a(void)
{
	CHECK_EQ(chmod("t/a", 0600), 0);
}

static void
nothing(void)
{
}

static void (*act)(void);
static struct dray_progress last;	/* one thread tells */

static void
once(void *ctx, const struct dray_progress *at)
{
	(void)ctx;
	CHECK(at->cost >= last.cost && at->done >= last.done && at->cost <= at->costs && at->done <= at->total);
	last = *at;
	if (at->done == 0)	/* the tree is listed, and nothing read */
		return;
	if (act != NULL)
		act();
	act = NULL;
}

static void
scan(void (*change)(void), const char *want)
{
	const struct build_scan_opts o = { .threads = 1, .progress = once };
	struct build_release *r;
	struct dray_err e;

	CHECK_EQ(mkdir("t", 0755), 0);
	CHECK_EQ(mkdir("t/d", 0755), 0);
	put("t/a", LARGE);
	put("t/b", 10);
	put("t/d/f", 10);
	act = change;
	last = (struct dray_progress){ .done = 0 };
	dray_err_clear(&e);
	if (build_release_new("t", 1, &r, &e) != 0)
		abort();
	if (want == NULL) {
		CHECK_EQ(build_scan_dir("t", &o, r, &e), 0);
		/* the parts are the whole, and all of it is told */
		CHECK_EQ(last.total, LARGE + 20);
		CHECK_EQ(last.done, last.total);
		CHECK_EQ(last.costs, dray_cost_file(LARGE) + 2 * dray_cost_file(10) + 4 * DRAY_COST_LIST);
		CHECK_EQ(last.cost, last.costs);
	} else {
		CHECK_EQ(build_scan_dir("t", &o, r, &e), -1);
		CHECK_EQ(e.code, DRAY_E_IO);
		CHECK_STR(e.text, want);
		CHECK_STR(e.hint, "build from a tree that is at rest and that you may read; nothing was written");
	}
	CHECK(act == NULL);	/* the change has come */
	build_release_free(r);
	CHECK_EQ(scratch_remove("t"), 0);
	(void)scratch_remove("elsewhere");
}

static void
a_file_that_is_no_longer_what_was_listed_is_told(void)
{
	scan(nothing, NULL);
	scan(remove_b, "t: b: vanished while the tree was read");
	scan(lengthen_b, "t: b: changed while the tree was read");
	scan(shorten_b, "t: b: changed while the tree was read");
	scan(touch_b, "t: b: changed while the tree was read");
	scan(other_b, "t: b: changed while the tree was read");
}

static void
another_kind_of_object_in_its_place_is_a_change(void)
{
	scan(directory_b, "t: b: changed while the tree was read");
	scan(symlink_b, "t: b: changed while the tree was read");
	scan(fifo_b, "t: b: changed while the tree was read");
	scan(socket_b, "t: b: changed while the tree was read");
}

static void
a_directory_that_is_gone_takes_its_files_along(void)
{
	scan(remove_d, "t: d/f: vanished while the tree was read");
	scan(symlink_d, "t: d/f: vanished while the tree was read");
	scan(file_d, "t: d/f: vanished while the tree was read");
}

static void
a_file_that_changes_under_the_reader_is_told(void)
{
	scan(lengthen_a, "t: a: changed while it was read");
	scan(shorten_a, "t: a: changed while it was read");
	scan(write_into_a, "t: a: changed while it was read");
	scan(mode_of_a, "t: a: changed while it was read");
}

static void
a_file_that_grows_after_the_scan_is_told_when_it_is_opened(void)
{
	const struct build_scan_opts o = { .threads = 1 };
	struct build_release *r = NULL;
	struct build_reader in;
	struct dray_err e = { .code = DRAY_OK };
	int fd;

	CHECK_EQ(mkdir("grow", 0755), 0);
	put("grow/f", 10);
	CHECK_EQ(build_release_new("dir:grow", 1, &r, &e), 0);
	CHECK_EQ(build_scan_dir("grow", &o, r, &e), 0);
	CHECK_EQ(r->n, 1);
	CHECK_EQ(r->open(r, &r->v[0], &in, &e), 0);
	close(in.fd);
	fd = open("grow/f", O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK_EQ(write(fd, "x", 1), 1);
	close(fd);
	CHECK_EQ(r->open(r, &r->v[0], &in, &e), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_STR(e.text, "changed since the tree was read");
	build_release_free(r);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL || chdir(dir) != 0)
		return 1;
	RUN(a_file_that_is_no_longer_what_was_listed_is_told);
	RUN(another_kind_of_object_in_its_place_is_a_change);
	RUN(a_directory_that_is_gone_takes_its_files_along);
	RUN(a_file_that_changes_under_the_reader_is_told);
	RUN(a_file_that_grows_after_the_scan_is_told_when_it_is_opened);
	scratch_remove(dir);
	return test_done();
}
