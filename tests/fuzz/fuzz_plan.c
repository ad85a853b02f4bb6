/*
 * fuzz_plan.c - one release, planned on a tree that somebody else has made. Input: a byte of options, then steps of three
 * bytes: what to make, where, and more about it. Whatever the tree is, planning ends with a plan or a reason, the tree is as it
 * was, and a second plan is the same one.
 */
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <linux/openat2.h>

#include <errno.h>

#include "dray/path.h"

#include "tests/unit/plan_mini.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define TREE "tree"

static const struct pm_row rows[] = {
	{ "bin", "d", "d", NULL },
	{ "bin/ls", "f,old ls,755", "f,new ls,755", NULL },
	{ "bin/x1", "f,one,755,@a", "f,uno,755,@a", NULL },
	{ "bin/x2", "f,one,755,@a", "f,uno,755,@a", NULL },
	{ "etc", "d", "d,700", NULL },
	{ "etc/conf", "f,a", "f,b", NULL },
	{ "gone", "d", "-", NULL },
	{ "gone/deep", "d", "-", NULL },
	{ "gone/deep/f", "f,bye", "-", NULL },
	{ "kind", "f,file", "d", NULL },
	{ "kind/in", NULL, "f,in", NULL },
	{ "lib", "l,usr/lib", "l,usr/lib64", NULL },
	{ "pipe", "p", "f,no pipe", NULL },
	{ "same", "f,same", "f,same", NULL },
	{ "usr", "d", "d", NULL },
	{ "usr/lib", "d", "d", NULL },
	{ "usr/lib/a", "f,old a", "f,new a", NULL },
};

/* besides those of the release */
static const char *const more[] = { "bin/other", "gone/mine", "gone/deep/mine", "kind/mine", "usr/lib/a/b", "var", "var/lib",
	"var/lib/dray", ".dray", "etc/fstab", "elsewhere", "elsewhere/lib" };
static const char *const texts[] = { "old ls", "new ls", "one", "uno", "a", "b", "bye", "file", "in", "same", "old a", "new a", "mine",
	"", "/dev/sda1 /usr ext4 rw 0 0\n" };
static const char *const leads[] = { "usr/lib", "usr/lib64", "..", "/", ".", "elsewhere", "../elsewhere", "lib", "../../../../..", "/etc",
	"nowhere", "usr/../usr/./lib//" };

static const char *
path_of(uint8_t n)
{
	n = (uint8_t)(n % (N(rows) + N(more)));
	return n < N(rows) ? rows[n].path : more[n - N(rows)];
}

/* the directory that @path lies in, and its name there: no symlink is followed, so that nothing outside of the tree is changed */
static int
parent(int root, const char *path, const char **leaf)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	const char *slash = strrchr(path, '/');
	char dir[64] = ".";
	int fd;

	*leaf = slash == NULL ? path : slash + 1;
	if (slash != NULL)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	if ((fd = (int)syscall(SYS_openat2, root, dir, &how, sizeof(how))) == -1 && errno == ENOSYS)
		abort();
	return fd;
}

/* an object that is there, itself */
static void
change(int dir, const char *leaf, const uint8_t *p)
{
	const char *text = texts[p[2] % N(texts)];
	int fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd == -1)
		return;
	if (p[0] % 10 == 7)
		(void)!fchmod(fd, p[2] * 16u & 07777);
	else
		(void)!fsetxattr(fd, "user.fuzz", text, strlen(text), 0);
	close(fd);
}

/* what cannot be made is not */
static void
make(int dir, const char *leaf, const uint8_t *p, int to, const char *to_leaf)
{
	const struct timespec times[2] = { { .tv_sec = p[2] }, { .tv_sec = p[2], .tv_nsec = p[2] } };
	const char *text = texts[p[2] % N(texts)];
	int fd;

	switch (p[0] % 10) {
	case 0:
		fd = openat(dir, leaf, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, p[0] & 128 ? 0755 : 0644);
		if (fd != -1) {
			(void)!write(fd, text, strlen(text));
			close(fd);
		}
		break;
	case 1: (void)!mkdirat(dir, leaf, 0755); break;
	case 2: (void)!symlinkat(leads[p[2] % N(leads)], dir, leaf); break;
	case 3: (void)!mkfifoat(dir, leaf, 0644); break;
	case 4: (void)!linkat(dir, leaf, to, to_leaf, 0); break;
	case 5: (void)!unlinkat(dir, leaf, p[2] & 1 ? AT_REMOVEDIR : 0); break;
	case 6: (void)!renameat(dir, leaf, to, to_leaf); break;
	case 8: (void)!utimensat(dir, leaf, times, AT_SYMLINK_NOFOLLOW); break;
	default: change(dir, leaf, p); break;
	}
}

static void
step(int root, const uint8_t *p)
{
	const char *leaf, *to_leaf;
	int dir = parent(root, path_of(p[1]), &leaf), to = parent(root, path_of(p[2]), &to_leaf);

	if (dir != -1 && (to != -1 || (p[0] % 10 != 4 && p[0] % 10 != 6)))
		make(dir, leaf, p, to, to_leaf);
	if (dir != -1)
		close(dir);
	if (to != -1)
		close(to);
}

static struct inst_plan *
plan(int root, const struct pm *pm, uint8_t how, struct dray_err *e)
{
	static const struct inst_policy usual, strict = { .strict = true }, park = { .park = true };
	const struct inst_plan_opts o = { .threads = 1, .state = "var/lib/dray", .component_walk = (how & 1) != 0,
	    .policy = (how & 2) != 0 ? &strict : (how & 4) != 0 ? &park : &usual };
	struct inst_plan *p;

	if (inst_plan_make(root, pm->b, &o, &p, e) == 0)
		return p;
	if (p != NULL || e->text[0] == '\0' || e->code == DRAY_OK)
		abort();
	return NULL;
}

/* nothing but what the release knows, once for each path */
static void
look_at(const struct inst_plan *p)
{
	struct dray_err e = { .code = DRAY_OK };

	if (p->n_swaps > p->n_ops)
		abort();
	for (size_t i = 0; i < p->n_ops; i++)
		if (p->ops[i].len > 0 && !dray_path_ok(p->ops[i].path, p->ops[i].len, NULL))
			abort();
	if (inst_plan_verdict(p, &e) != 0 && (e.text[0] == '\0' || e.code == DRAY_OK))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pm pm;
	struct dray_err e = { .code = DRAY_OK };
	struct inst_plan *p, *again;
	int root;

	if (size == 0)
		return 0;
	if (pm.b == NULL && pm_open(&pm, rows, N(rows), 1, false, &e) != 0)
		abort();
	if (mkdirat(fuzz_folder(), TREE, 0755) != 0 || (root = openat(fuzz_folder(), TREE, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		abort();
	if ((data[0] & 8) == 0)
		pm_tree(root, rows, N(rows), PM_OLD);
	for (size_t i = 1; i + 3 <= size; i += 3)
		step(root, data + i);
	if ((p = plan(root, &pm, data[0], &e)) != NULL) {
		look_at(p);
		dray_err_clear(&e);
		if ((again = plan(root, &pm, data[0] ^ 1, &e)) == NULL || memcmp(p->id, again->id, sizeof(p->id)) != 0)
			abort();
		inst_plan_free(again);
		if (inst_plan_recheck(root, p, 1, &e) != 0)
			abort();
		inst_plan_free(p);
	}
	close(root);
	dray_err_clear(&e);
	if (inst_rmtree(fuzz_folder(), TREE, &e) != 0)
		abort();
	return 0;
}
