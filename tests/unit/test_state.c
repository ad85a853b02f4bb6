/* test_state.c - the state folder: made, refused, locked, marked; files, tree deletion and tree digest beside it */
#include <sys/mount.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/os.h"

#include "installer/files.h"
#include "installer/state.h"
#include "installer/tree.h"

#include "test.h"

static char root[] = "/tmp/dray-state-XXXXXX";
static struct dray_err e;

static struct timespec
mtime_of(const char *rel)
{
	struct stat st = { 0 };
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", root, rel);
	CHECK_EQ(lstat(path, &st), 0);
	return st.st_mtim;
}

static void
clean(void)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -rf %s && mkdir %s", root, root);
	CHECK_EQ(system(cmd), 0);
}

static void
it_is_made_private_and_the_times_above_stay(void)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000, .tv_nsec = 5 } };
	struct inst_state s;
	struct stat st;

	clean();
	CHECK_EQ(utimensat(AT_FDCWD, root, old, 0), 0);
	CHECK_EQ(inst_state_open(root, NULL, true, &s, &e), 0);
	CHECK_EQ(fstat(s.dir, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0700);
	CHECK_EQ(mtime_of("").tv_sec, 1000);
	CHECK_EQ(mtime_of("").tv_nsec, 5);
	inst_state_close(&s);
}

static void
reading_makes_nothing(void)
{
	struct inst_state s;

	clean();
	CHECK_EQ(inst_state_open(root, NULL, false, &s, &e), 0);
	CHECK_EQ(s.dir, -1);
	inst_state_close(&s);
	CHECK_EQ(rmdir(root), 0);
	CHECK_EQ(mkdir(root, 0755), 0);
}

static void
want_refusal(const char *state, bool write, const char *text)
{
	struct inst_state s;

	dray_err_clear(&e);
	CHECK_EQ(inst_state_open(root, state, write, &s, &e), -1);
	CHECK_EQ(e.code, DRAY_E_SYSTEM);
	CHECK_HAS(e.text, text);
}

static void
a_symlink_on_the_way_is_refused(void)
{
	char path[300];

	clean();
	snprintf(path, sizeof(path), "%s/var", root);
	CHECK_EQ(symlink("/tmp", path), 0);
	want_refusal(NULL, true, "var is not a directory (a symlink is not followed)");
}

static void
an_open_state_folder_is_refused(void)
{
	struct inst_state s;

	clean();
	CHECK_EQ(inst_state_open(root, NULL, true, &s, &e), 0);
	CHECK_EQ(fchmod(s.dir, 0755), 0);
	inst_state_close(&s);
	want_refusal(NULL, false, "it must be yours with mode 0700");
}

static void
a_directory_above_that_everybody_may_write_is_refused(void)
{
	char path[300];

	clean();
	snprintf(path, sizeof(path), "%s/var", root);
	CHECK_EQ(mkdir(path, 0755), 0);
	CHECK_EQ(chmod(path, 0777), 0);
	want_refusal(NULL, true, "var may be changed by everybody");
}

static void
another_mount_is_refused(void)
{
	char path[300];

	clean();
	snprintf(path, sizeof(path), "%s/m", root);
	CHECK_EQ(mkdir(path, 0755), 0);
	if (mount("none", path, "tmpfs", 0, "size=1m") != 0) {
		printf("# no right to mount here: the refusal of another mount was not tried\n");
		CHECK(geteuid() != 0);
		return;
	}
	want_refusal("m/dray", true, "lies on another mount");
	CHECK_EQ(umount(path), 0);
}

static void
a_second_run_is_refused_and_told_who_is_first(void)
{
	struct inst_state a, b;
	char pid[32];

	clean();
	CHECK_EQ(inst_state_open(root, NULL, true, &a, &e), 0);
	CHECK_EQ(inst_state_open(root, NULL, true, &b, &e), -1);
	CHECK_EQ(e.code, DRAY_E_BUSY);
	snprintf(pid, sizeof(pid), "(process %ld)", (long)getpid());
	CHECK_HAS(e.text, pid);
	inst_state_close(&a);
	CHECK_EQ(inst_state_open(root, NULL, true, &b, &e), 0);	/* the dead one's lock is gone */
	inst_state_close(&b);
}

static void
the_mark_leads_to_the_right_place(void)
{
	struct timespec was, now;
	struct inst_state s;

	clean();
	CHECK_EQ(inst_state_open(root, "/srv/dray/", true, &s, &e), 0);
	CHECK_STR(s.rel, "srv/dray");
	was = mtime_of("");
	CHECK_EQ(inst_state_mark(&s, true, &e), 0);
	now = mtime_of("");
	CHECK_EQ(was.tv_nsec, now.tv_nsec);
	inst_state_close(&s);
	want_refusal(NULL, true, "keeps its journal in srv/dray");
	CHECK_HAS(e.hint, "--state srv/dray");
	CHECK_EQ(inst_state_open(root, "srv/dray", true, &s, &e), 0);
	CHECK_EQ(inst_state_mark(&s, false, &e), 0);
	now = mtime_of("");
	CHECK_EQ(was.tv_nsec, now.tv_nsec);
	inst_state_close(&s);
	CHECK_EQ(inst_state_open(root, NULL, true, &s, &e), 0);
	inst_state_close(&s);
}

static void
an_anchor_comes_back_and_floors_never_fall(void)
{
	struct inst_state s;
	struct inst_anchor a = { 0 }, b;

	clean();
	CHECK_EQ(inst_state_open(root, NULL, true, &s, &e), 0);
	CHECK_EQ(inst_anchor_load(&s, &b, &e), 0);
	CHECK(!b.installed.known);
	CHECK_EQ(inst_anchor_raise(&a, &(struct inst_installed){ .product = "demo", .counter = 7, .release = "r7" }, &e), 0);
	CHECK_EQ(inst_anchor_raise(&a, &(struct inst_installed){ .product = "other", .counter = 2 }, &e), 0);
	CHECK_EQ(inst_anchor_raise(&a, &(struct inst_installed){ .product = "demo", .counter = 3, .release = "r3" }, &e), 0);
	a.installed = (struct inst_installed){ .known = true, .product = "demo", .version = "1.0", .counter = 7, .id = { 9 } };
	CHECK_EQ(inst_anchor_save(&s, &a, &e), 0);
	CHECK_EQ(inst_anchor_load(&s, &b, &e), 0);
	CHECK(inst_anchor_floor(&b, "demo") != NULL && inst_anchor_floor(&b, "demo")->counter == 7 &&
	    memcmp(inst_anchor_floor(&b, "demo")->release, "r7\0", 3) == 0);
	CHECK(inst_anchor_floor(&b, "other") != NULL && inst_anchor_floor(&b, "other")->counter == 2 &&
	    inst_anchor_floor(&b, "other")->release[0] == 0);
	CHECK(inst_anchor_floor(&b, "none") == NULL);
	CHECK(b.installed.known && b.installed.id[0] == 9);
	CHECK_STR(b.installed.version, "1.0");
	a.installed.n_components = 2;
	memcpy(a.installed.components[0].name, "src", 4);
	memcpy(a.installed.components[1].name, "base", 5);
	a.installed.components[1].present = true;
	CHECK_EQ(inst_anchor_save(&s, &a, &e), 0);
	CHECK_EQ(inst_anchor_load(&s, &b, &e), 0);
	CHECK_EQ(b.installed.n_components, 2);
	for (size_t i = 0; i < b.installed.n_components; i++)
		CHECK(b.installed.components[i].present == (strcmp(b.installed.components[i].name, "base") == 0));
	CHECK_EQ(inst_write_file(s.dir, "anchor.json", "{\"dray_anchor\":1,", 17, 0600, &e), 0);
	CHECK_EQ(inst_anchor_load(&s, &b, &e), -1);
	CHECK_EQ(e.code, DRAY_E_SYSTEM);
	CHECK_HAS(e.hint, "downgrade floor");
	inst_state_close(&s);
}

static void
a_tree_deeper_than_the_handles_is_deleted(void)
{
	int i, fd, next, top;

	clean();
	top = fd = open(root, O_RDONLY | O_DIRECTORY);
	for (i = 0; i < 1500; i++) {
		CHECK_EQ(mkdirat(fd, "d", 0500), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		if (fd != top)
			close(fd);
		fd = next;
	}
	close(fd);
	CHECK_EQ(inst_rmtree(top, "d", &e), 0);
	close(top);
	CHECK_EQ(rmdir(root), 0);
	CHECK_EQ(mkdir(root, 0755), 0);
}

static void
deleting_does_not_follow_a_symlink(void)
{
	int top;

	clean();
	top = open(root, O_RDONLY | O_DIRECTORY);
	CHECK_EQ(mkdirat(top, "keep", 0700), 0);
	CHECK_EQ(mkdirat(top, "keep/x", 0700), 0);
	CHECK_EQ(mkdirat(top, "gone", 0700), 0);
	CHECK_EQ(symlinkat("../keep", top, "gone/link"), 0);
	CHECK_EQ(symlinkat("keep", top, "link"), 0);
	CHECK_EQ(inst_rmtree(top, "gone", &e), 0);
	CHECK_EQ(inst_rmtree(top, "link", &e), 0);
	CHECK_EQ(faccessat(top, "keep/x", F_OK, 0), 0);
	CHECK(faccessat(top, "gone", F_OK, 0) == -1);
	close(top);
}

static void
a_tree_digest_sees_every_touch(void)
{
	static const char *const touches[] = { "touch t/a/new", "chmod 600 t/a/f", "echo x >> t/a/f", "touch -d @5 t/a/f",
		"mv t/a/f t/a/g", "rm t/l; ln -s other t/l", "rm t/a/f; echo hello > t/a/f" };
	uint8_t before[32], after[32];
	char cmd[600];
	size_t i;
	int top;

	for (i = 0; i < sizeof(touches) / sizeof(touches[0]); i++) {
		clean();
		snprintf(cmd, sizeof(cmd), "cd %s && mkdir -p t/a && echo hello > t/a/f && ln -s a t/l", root);
		CHECK_EQ(system(cmd), 0);
		top = open(root, O_RDONLY | O_DIRECTORY);
		CHECK_EQ(inst_tree_digest(top, "t", before, &e), 0);
		CHECK_EQ(renameat(top, "t", top, "u"), 0);
		CHECK_EQ(inst_tree_digest(top, "u", after, &e), 0);
		CHECK(memcmp(before, after, 32) == 0);	/* a rename of the top does not show */
		CHECK_EQ(renameat(top, "u", top, "t"), 0);
		snprintf(cmd, sizeof(cmd), "cd %s && %s", root, touches[i]);
		CHECK_EQ(system(cmd), 0);
		CHECK_EQ(inst_tree_digest(top, "t", after, &e), 0);
		if (memcmp(before, after, 32) == 0) {
			CHECK(false);
			printf("# not seen: %s\n", touches[i]);
		}
		close(top);
	}
}

int
main(void)
{
	char cmd[300];

	if (mkdtemp(root) == NULL || dray_crypto_init(&e) != 0)
		return 1;
	RUN(it_is_made_private_and_the_times_above_stay);
	RUN(reading_makes_nothing);
	RUN(a_symlink_on_the_way_is_refused);
	RUN(an_open_state_folder_is_refused);
	RUN(a_directory_above_that_everybody_may_write_is_refused);
	RUN(another_mount_is_refused);
	RUN(a_second_run_is_refused_and_told_who_is_first);
	RUN(the_mark_leads_to_the_right_place);
	RUN(an_anchor_comes_back_and_floors_never_fall);
	RUN(a_tree_deeper_than_the_handles_is_deleted);
	RUN(deleting_does_not_follow_a_symlink);
	RUN(a_tree_digest_sees_every_touch);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	return system(cmd) == 0 ? test_done() : 1;
}
