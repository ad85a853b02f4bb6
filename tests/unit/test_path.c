/*
 * test_path.c - the grammar, the order, and the walk beneath a root; both ways of walking must agree everywhere.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/os.h"
#include "dray/path.h"

#include "scratch.h"
#include "test.h"

static int root = -1;
static char root_name[] = "/tmp/dray-path-XXXXXX";

static const char *
flaw(const char *path, size_t len)
{
	const char *why = "unset";

	if (dray_path_ok(path, len, &why)) {
		CHECK(why == NULL);
		return "ok";
	}
	CHECK(!dray_path_ok(path, len, NULL));
	return why;
}

static void
the_grammar_takes_any_byte_but_nul_in_parts(void)
{
	char name[300], longer[DRAY_PATH_MAX + 1];
	size_t i;

	CHECK_STR(flaw("a", 1), "ok");
	CHECK_STR(flaw("a/b\n\xff/...", 9), "ok");
	CHECK_STR(flaw(".a/..b/c.", 9), "ok");
	memset(name, 'n', sizeof(name));
	CHECK_STR(flaw(name, 255), "ok");
	CHECK_STR(flaw(name, 256), "it has a part longer than 255 bytes");
	for (i = 0; i < sizeof(longer); i++)
		longer[i] = i % 2 == 0 ? 'a' : '/';
	CHECK_STR(flaw(longer, 4095), "ok");
	CHECK_STR(flaw(longer, 4097), "it is longer than 4095 bytes");
	longer[4095] = 'a';
	CHECK_STR(flaw(longer, 4096), "it is longer than 4095 bytes");
}

static void
the_grammar_refuses_each_flaw_by_name(void)
{
	CHECK_STR(flaw("", 0), "it is empty");
	CHECK_STR(flaw("/", 1), "it is absolute");
	CHECK_STR(flaw("/etc", 4), "it is absolute");
	CHECK_STR(flaw("a/", 2), "it has an empty part");
	CHECK_STR(flaw("a//b", 4), "it has an empty part");
	CHECK_STR(flaw(".", 1), "it has a part \".\" or \"..\"");
	CHECK_STR(flaw("..", 2), "it has a part \".\" or \"..\"");
	CHECK_STR(flaw("a/./b", 5), "it has a part \".\" or \"..\"");
	CHECK_STR(flaw("a/..", 4), "it has a part \".\" or \"..\"");
	CHECK_STR(flaw("../a", 4), "it has a part \".\" or \"..\"");
	CHECK_STR(flaw("a\0b", 3), "it holds a NUL byte");
	CHECK_STR(flaw("a\0", 2), "it holds a NUL byte");
}

static int
cmp(const char *a, const char *b)
{
	const int ab = dray_path_cmp(a, strlen(a), b, strlen(b)), ba = dray_path_cmp(b, strlen(b), a, strlen(a));

	CHECK_EQ(ab, -ba);
	return ab;
}

static void
a_directory_is_followed_by_what_it_holds(void)
{
	CHECK_EQ(cmp("a", "a"), 0);
	CHECK_EQ(cmp("a", "a/b"), -1);
	CHECK_EQ(cmp("a/b", "a-b"), -1);
	CHECK_EQ(cmp("a/b", "a\x01"), -1);
	CHECK_EQ(cmp("a", "a-b"), -1);
	CHECK_EQ(cmp("a", "b"), -1);
	CHECK_EQ(cmp("a\x7f", "a\x80"), -1);
	CHECK_EQ(cmp("", "a"), -1);
}

static bool
under(const char *path, const char *dir)
{
	return dray_path_under(path, strlen(path), dir, strlen(dir));
}

static void
beneath_means_whole_parts(void)
{
	CHECK(under("a/b", "a"));
	CHECK(under("a", "a"));
	CHECK(under("a", ""));
	CHECK(!under("ab", "a"));
	CHECK(!under("a", "a/b"));
	CHECK(!under("b/a", "a"));
}

static void
reserved_names_are_ours_and_what_lies_beneath(void)
{
	static const char *const yes[] = { ".dray", ".dray/1", ".dray-pending", ".dray-pending/x", "var/lib/dray",
		"var/lib/dray/journal", "var/db/dray", "a/.dray", "usr/.dray/x", "a/b/.dray/c/d" };
	static const char *const no[] = { ".dray2", "dray", "a/.dray2/b", "a.dray", "a/b.dray/c", "a/.dra", "var/lib", "var/lib/dray2", "var/db",
		".dray-pendin" };
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK(dray_path_reserved(yes[i], strlen(yes[i])));
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK(!dray_path_reserved(no[i], strlen(no[i])));
}

/* walk both ways; the common answer, -2 if they differ. With 0 both handles are the same directory. */
static int
both(const char *path, size_t len)
{
	char leaf[2][DRAY_NAME_MAX + 1];
	struct dray_stat st[2];
	struct dray_walk w[2];
	struct dray_err e[2];
	int dir[2], rc[2], i;

	for (i = 0; i < 2; i++) {
		dray_walk_init(&w[i], root);
		w[i].component_walk = i == 1;
		dray_err_clear(&e[i]);
		rc[i] = dray_walk_parent(&w[i], path, len, &dir[i], leaf[i], &e[i]);
		if (rc[i] == 0)
			CHECK_EQ(os_stat_at(dir[i], "", &st[i]), 0);
		else
			CHECK_EQ(dir[i], -1);
	}
	for (i = 0; i < 2; i++)
		dray_walk_close(&w[i]);
	CHECK_EQ(rc[0], rc[1]);
	if (rc[0] != rc[1])
		return -2;
	if (rc[0] == 0) {
		CHECK_EQ(st[0].ino, st[1].ino);
		CHECK_STR(leaf[0], leaf[1]);
	}
	CHECK_STR(e[0].text, e[1].text);
	CHECK_EQ(e[0].code, e[1].code);
	return rc[0];
}

static void
make_tree(void)
{
	root = mkdtemp(root_name) == NULL ? -1 : open(root_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(root != -1);
	CHECK_EQ(mkdirat(root, "d", 0755), 0);
	CHECK_EQ(mkdirat(root, "d/e", 0755), 0);
	CHECK_EQ(mkdirat(root, "d/new\nline", 0755), 0);
	CHECK_EQ(mkdirat(root, "d/new\nline/\xff\"", 0755), 0);
	CHECK_EQ(close(openat(root, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)), 0);
	CHECK_EQ(close(openat(root, "d/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)), 0);
	CHECK_EQ(mkfifoat(root, "fifo", 0644), 0);
	CHECK_EQ(symlinkat("d", root, "to-d"), 0);
	CHECK_EQ(symlinkat("/", root, "to-root"), 0);
	CHECK_EQ(symlinkat("..", root, "d/up"), 0);
	CHECK_EQ(symlinkat("nowhere", root, "dangling"), 0);
	CHECK_EQ(symlinkat("loop-b", root, "loop-a"), 0);
	CHECK_EQ(symlinkat("loop-a", root, "loop-b"), 0);
	CHECK_EQ(symlinkat("f", root, "to-f"), 0);
}

static void
both_ways_agree_on_every_kind_of_parent(void)
{
	static const char *const heads[] = { "", "d/", "d/e/", "d/new\nline/", "d/new\nline/\xff\"/", "f/", "d/f/",
		"fifo/", "to-d/", "to-root/", "d/up/", "dangling/", "loop-a/", "to-f/", "missing/", "d/missing/" };
	static const int want[] = { 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1 };
	static const char *const tails[] = { "leaf", "d", "x/leaf", "e/f/leaf", "up/d/leaf", "missing/a/b/c" };
	char path[256];
	size_t i, k;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		snprintf(path, sizeof(path), "%sleaf", heads[i]);
		CHECK_EQ(both(path, strlen(path)), want[i]);
		/* what follows a wrong part changes nothing; after a right one both ways must still agree */
		for (k = 0; k < sizeof(tails) / sizeof(tails[0]); k++) {
			snprintf(path, sizeof(path), "%s%s", heads[i], tails[k]);
			if (want[i] != 0)
				CHECK_EQ(both(path, strlen(path)), want[i]);
			else
				CHECK(both(path, strlen(path)) != -2);
		}
	}
}

static void
a_bad_path_is_refused_by_both_and_named(void)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_walk w;
	struct dray_err e;
	int dir;

	CHECK_EQ(both("d/../d/x", 8), -1);
	CHECK_EQ(both("/etc/passwd", 11), -1);
	CHECK_EQ(both("", 0), -1);
	dray_walk_init(&w, root);
	CHECK_EQ(dray_walk_parent(&w, "d/\n/../x", 8, &dir, leaf, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "d/\\x0a/../x is no valid path: it has a part \".\" or \"..\"");
	dray_walk_close(&w);
}

/* 4095 bytes, deepest parts first made by walking down; taken away the same way */
static void
a_path_of_4095_bytes_is_walked_both_ways(void)
{
	char path[DRAY_PATH_MAX], part[DRAY_NAME_MAX + 1];
	int fds[32], depth = 0, i;
	size_t at = 0;

	memset(part, 'p', sizeof(part));
	part[DRAY_NAME_MAX] = '\0';
	fds[0] = dup(root);
	/* 15 parts of 255 bytes and a slash are 3840, the leaf takes 255 */
	for (i = 0; i < 15; i++) {
		CHECK_EQ(mkdirat(fds[depth], part, 0755), 0);
		fds[depth + 1] = openat(fds[depth], part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		depth++;
		memcpy(path + at, part, DRAY_NAME_MAX);
		at += DRAY_NAME_MAX;
		path[at++] = '/';
	}
	memcpy(path + at, part, DRAY_NAME_MAX);
	at += DRAY_NAME_MAX;
	CHECK_EQ(at, 4095);
	CHECK_EQ(both(path, at), 0);
	path[at - 300] = 'q';
	CHECK_EQ(both(path, at), 1);
	for (; depth > 0; depth--) {
		close(fds[depth]);
		CHECK_EQ(unlinkat(fds[depth - 1], part, AT_REMOVEDIR), 0);
	}
	close(fds[0]);
}

static void
thousands_of_short_parts_are_walked_both_ways(void)
{
	char path[DRAY_PATH_MAX];
	int fd = dup(root), next;
	size_t at;

	/* a chain of 400 is enough to show that no handle leaks on the way; the rest of the path is missing */
	for (at = 0; at < 800; at += 2) {
		CHECK_EQ(mkdirat(fd, "s", 0755), 0);
		next = openat(fd, "s", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
		memcpy(path + at, "s/", 2);
	}
	close(fd);
	path[at] = 'x';
	CHECK_EQ(both(path, at + 1), 0);
	for (; at < 4094; at += 2)
		memcpy(path + at, "s/", 2);
	path[4094] = 'x';
	CHECK_EQ(both(path, 4095), 1);
}

static void
a_parent_nobody_may_search_is_an_error_with_its_name(void)
{
	if (geteuid() == 0) {
		/* root may search everything; drop to nobody for this one, in this process */
		CHECK_EQ(fchmod(root, 0755), 0);
		CHECK_EQ(seteuid(65534), 0);
	}
	/* 0711 somebody else's: may be walked through, may not be read */
	CHECK_EQ(both("shut/in/leaf", 12), -1);
	CHECK_EQ(both("pass/in/leaf", 12), 0);
	CHECK_EQ(both("pass/leaf", 9), -1);
	if (getuid() == 0)
		CHECK_EQ(seteuid(0), 0);
}

static void
make_shut(void)
{
	CHECK_EQ(mkdirat(root, "shut", 0755), 0);
	CHECK_EQ(mkdirat(root, "shut/in", 0755), 0);
	CHECK_EQ(mkdirat(root, "pass", 0755), 0);
	CHECK_EQ(mkdirat(root, "pass/in", 0755), 0);
	CHECK_EQ(fchmodat(root, "shut", 0, 0), 0);
	CHECK_EQ(fchmodat(root, "pass", 0311, 0), 0);
}

static void
the_last_parent_is_remembered_until_forgotten(void)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_walk w;
	struct dray_err e;
	int dir, dir2;

	dray_walk_init(&w, root);
	CHECK_EQ(dray_walk_parent(&w, "leaf", 4, &dir, leaf, &e), 0);
	CHECK_EQ(dir, root);
	CHECK_EQ(w.dir, -1);
	CHECK_EQ(dray_walk_parent(&w, "d/e/a", 5, &dir, leaf, &e), 0);
	CHECK_STR(leaf, "a");
	CHECK_EQ(renameat(root, "d/e", root, "moved"), 0);
	/* still the same directory by its handle ... */
	CHECK_EQ(dray_walk_parent(&w, "d/e/b", 5, &dir2, leaf, &e), 0);
	CHECK_STR(leaf, "b");
	CHECK_EQ(dir2, dir);
	/* ... and a longer or shorter path is another one */
	CHECK_EQ(dray_walk_parent(&w, "d/e/b/c", 7, &dir2, leaf, &e), 1);
	CHECK_EQ(dray_walk_parent(&w, "d/e/b", 5, &dir2, leaf, &e), 0);
	CHECK_EQ(dir2, dir);
	dray_walk_forget(&w);
	CHECK_EQ(dray_walk_parent(&w, "d/e/b", 5, &dir2, leaf, &e), 1);
	CHECK_EQ(renameat(root, "moved", root, "d/e"), 0);
	CHECK_EQ(dray_walk_parent(&w, "d/e/b", 5, &dir2, leaf, &e), 0);
	dray_walk_close(&w);
	CHECK_EQ(fcntl(dir2, F_GETFD), -1);
	CHECK(fcntl(root, F_GETFD) != -1);
}

static void
the_parent_can_be_read_and_synced(void)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_walk w;
	struct dray_err e;
	int dir, i;

	for (i = 0; i < 2; i++) {
		dray_walk_init(&w, root);
		w.component_walk = i == 1;
		CHECK_EQ(dray_walk_parent(&w, "d/e/x", 5, &dir, leaf, &e), 0);
		CHECK_EQ(fsync(dir), 0);
		CHECK_EQ(fcntl(dir, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		dray_walk_close(&w);
	}
}

int
main(void)
{
	make_tree();
	make_shut();
	RUN(the_grammar_takes_any_byte_but_nul_in_parts);
	RUN(the_grammar_refuses_each_flaw_by_name);
	RUN(a_directory_is_followed_by_what_it_holds);
	RUN(beneath_means_whole_parts);
	RUN(reserved_names_are_ours_and_what_lies_beneath);
	RUN(both_ways_agree_on_every_kind_of_parent);
	RUN(a_bad_path_is_refused_by_both_and_named);
	RUN(a_path_of_4095_bytes_is_walked_both_ways);
	RUN(thousands_of_short_parts_are_walked_both_ways);
	RUN(a_parent_nobody_may_search_is_an_error_with_its_name);
	RUN(the_last_parent_is_remembered_until_forgotten);
	RUN(the_parent_can_be_read_and_synced);
	CHECK_EQ(fchmodat(root, "shut", 0700, 0), 0);
	CHECK_EQ(fchmodat(root, "pass", 0700, 0), 0);
	close(root);
	if (scratch_remove(root_name) != 0)
		return 1;
	return test_done();
}
