/*
 * cmd_quickstart.c - dray quickstart: two small releases, a throw-away key and a signed bundle in a new folder, for a first
 * look. No network, no root, no files of the machine; the same trees each time.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/build.h"
#include "builder/media.h"
#include "builder/sign.h"
#include "builder/temp.h"
#include "dray/bundle.h"
#include "dray/digest.h"
#include "dray/key.h"
#include "dray/trust.h"
#include "tool/look.h"

#define BUILT 1767225600	/* 2026-01-01, the time of every file */

enum { PAGES = 160, TOOLS = 30, TOOL_BYTES = 24000 };

struct tree {
	int dir;
	unsigned files;
	struct dray_err *e;	/* the first failure; the rest is not tried */
	bool failed;
};

static void
fail(struct tree *t, const char *path)
{
	if (!t->failed)
		dray_fail_errno(t->e, "%s", path);
	t->failed = true;
}

static void
stamp(struct tree *t, const char *path)
{
	const struct timespec both[2] = { { BUILT, 0 }, { BUILT, 0 } };

	if (!t->failed && utimensat(t->dir, path, both, AT_SYMLINK_NOFOLLOW) != 0)
		fail(t, path);
}

static void
folder(struct tree *t, const char *path)
{
	if (!t->failed && mkdirat(t->dir, path, 0755) != 0)
		fail(t, path);
}

static void
file(struct tree *t, const char *path, const void *bytes, size_t len, mode_t mode)
{
	int fd;

	if (t->failed)
		return;
	if ((fd = openat(t->dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)) == -1) {
		fail(t, path);
		return;
	}
	if (build_temp_write(fd, 0, bytes, len, t->e) != 0)
		t->failed = true;
	if (close(fd) != 0)
		fail(t, path);
	stamp(t, path);
	t->files++;
}

static void
text(struct tree *t, const char *path, const char *bytes)
{
	file(t, path, bytes, strlen(bytes), 0644);
}

static void
symbolic(struct tree *t, const char *to, const char *path)
{
	if (!t->failed && symlinkat(to, t->dir, path) != 0)
		fail(t, path);
	stamp(t, path);
	t->files++;
}

/* bytes that look like a program to a compressor; @changed: a later build of it, with a few places moved */
static void
tool(struct tree *t, unsigned n, bool changed)
{
	static uint8_t bytes[TOOL_BYTES];
	uint64_t x = n * UINT64_C(0x9e3779b97f4a7c15) + 1;
	char path[64];

	for (size_t i = 0; i < sizeof(bytes); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (uint8_t)(i % 3 == 0 ? x : x % 17);
	}
	for (size_t i = 700; changed && i < sizeof(bytes); i += 4000)
		bytes[i]++;
	snprintf(path, sizeof(path), "usr/bin/tool-%02u", n);
	file(t, path, bytes, sizeof(bytes), 0755);
}

static void
page(struct tree *t, unsigned n, const char *version)
{
	char path[64], words[400];

	snprintf(path, sizeof(path), "usr/share/doc/page-%03u", n);
	snprintf(words, sizeof(words), "Page %u of the manual, version %s.\n\nThis system is made to be upgraded, planned,\n"
	    "rolled back and thrown away. Nothing in it does\nanything.\n", n, version);
	text(t, path, words);
}

/* what both releases have, and by @later what the newer one does */
static void
release(struct tree *t, bool later)
{
	static const char *const folders[] = { "etc", "etc/app", "lib", "usr", "usr/bin", "usr/share", "usr/share/doc", "var",
		"var/lib" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		folder(t, folders[i]);
	text(t, "etc/release", later ? "Demo 1.1\n" : "Demo 1.0\n");
	text(t, "etc/motd", "Welcome.\n");
	text(t, "etc/app/app.conf", later ? "# app.conf\nlisten 8080\nthreads 4\n\n# where it writes\nlog /var/log/app\n"
	    "# since 1.1\nrotate daily\n" : "# app.conf\nlisten 8080\nthreads 4\n\n# where it writes\nlog /var/log/app\n");
	for (unsigned n = 1; n <= TOOLS; n++)
		tool(t, n, later && n % 5 == 0);
	for (unsigned n = later ? 4 : 1; n <= PAGES + (later ? 12 : 0); n++)
		page(t, n, later && n == PAGES ? "1.1" : "1.0");
	text(t, later ? "lib/libdemo.so.1.1" : "lib/libdemo.so.1.0", later ? "the library, newer\n" : "the library\n");
	symbolic(t, later ? "libdemo.so.1.1" : "libdemo.so.1.0", "lib/libdemo.so.1");
	if (later)
		symbolic(t, "tool-01", "usr/bin/demo");
	else
		text(t, "usr/bin/demo", "#!/bin/sh\nexec tool-01\n");
	for (size_t i = sizeof(folders) / sizeof(folders[0]); i-- > 0;)
		stamp(t, folders[i]);
	stamp(t, ".");
}

static int
make_tree(const char *path, bool later, unsigned *files, struct dray_err *e)
{
	struct tree t = { .e = e };

	if (mkdir(path, 0755) != 0 || (t.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return dray_fail_errno(e, "make %s", path);
	release(&t, later);
	close(t.dir);
	*files = t.files;
	return t.failed ? -1 : 0;
}

/* an edit as people make them, after the release was taken */
static int
edit(const char *old, struct dray_err *e)
{
	static const char mine[] = "# app.conf\nlisten 8080\nthreads 16\n\n# where it writes\nlog /var/log/app\n";
	char *path;
	int fd, rc;

	if (asprintf(&path, "%s/etc/app/app.conf", old) == -1)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if ((fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)) == -1) {
		rc = dray_fail_errno(e, "%s", path);
	} else {
		rc = build_temp_write(fd, 0, mine, sizeof(mine) - 1, e);
		close(fd);
	}
	free(path);
	return rc;
}

struct start {
	struct tool_common common;
	const char *dir;
	char *old, *new, *key, *pub, *bundle, *from, *to;
	unsigned files[2];
};

static char *
in(const char *dir, const char *before, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s/%s", before, dir, name) == -1 ? NULL : path;
}

static int
build(const struct start *s, struct dray_err *e)
{
	const char *const argv[] = { "build", "--from", s->from, "--from-version", "1.0:1", "--to", s->to, "--product", "demo",
		"--version", "1.1", "--counter", "2", "--config", "etc/**", "--no-cache", "--key", s->key, "-o", s->bundle,
		"-q", NULL };
	char *words[sizeof(argv) / sizeof(argv[0])];
	const struct tool_cmd self = { .name = "build" };
	int n = 0, rc = 0;

	for (; argv[n] != NULL && rc == 0; n++)
		if ((words[n] = strdup(argv[n])) == NULL)
			rc = dray_fail(e, DRAY_E_IO, "out of memory");
	words[n] = NULL;
	if (rc == 0 && cmd_build(n, words, &self) != 0)
		rc = dray_fail(e, DRAY_E_IO, "the bundle could not be built");
	while (n-- > 0)
		free(words[n]);
	return rc;
}

static int
make_key(const struct start *s, struct dray_err *e)
{
	char *prefix = in(s->dir, "", "ops");
	struct dray_key *key = NULL;
	int rc = -1;

	if (prefix == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (dray_key_generate(&key, e) == 0)
		rc = dray_key_save(key, prefix, NULL, e);
	dray_key_free(key);
	free(prefix);
	return rc;
}

static int
tell(const struct start *s, struct dray_err *e)
{
	struct dray_bundle_opts o = { .unsigned_ok = true, .no_index = true };
	struct dray_bundle *b;
	char print[40], h[32];
	int fd, rc;

	if (tool_bundle_fd(s->bundle, &fd, e) != 0)
		return -1;
	if ((rc = dray_bundle_open(fd, &o, &b, e)) == 0) {
		printf("%s, %s: two small systems, %u and %u files\n", s->old, s->new, s->files[0], s->files[1]);
		printf("%s/etc/app/app.conf: with an edit of yours in it\n", s->old);
		printf("%s, %s: a throw-away key\n", s->key, s->pub);
		printf("%s: bundle 1.0 -> 1.1, %s\n  id %s\n", s->bundle, tool_human(dray_bundle_desc(b)->length, h),
		    dray_fingerprint(dray_bundle_id(b), print));
		printf("next: dray-install plan ");
		tool_shell_print(stdout, s->bundle);
		printf(" \\\n    --root ");
		tool_shell_print(stdout, s->old);
		printf(" --keyring ");
		tool_shell_print(stdout, s->pub);
		putchar('\n');
		dray_bundle_close(b);
	}
	close(fd);
	return rc;
}

static int
run(struct start *s, struct dray_err *e)
{
	if (mkdir(s->dir, 0755) != 0) {
		if (errno != EEXIST)
			return dray_fail_errno(e, "the folder cannot be made");
		dray_fail(e, DRAY_E_USAGE, "it is there already");
		return dray_hint(e, "name a folder that is not: it is filled anew");
	}
	s->old = in(s->dir, "", "old");
	s->new = in(s->dir, "", "new");
	s->key = in(s->dir, "", "ops.key");
	s->pub = in(s->dir, "", "ops.pub");
	s->bundle = in(s->dir, "", "up.dray");
	s->from = in(s->dir, "dir:", "old");
	s->to = in(s->dir, "dir:", "new");
	if (s->old == NULL || s->new == NULL || s->key == NULL || s->pub == NULL || s->bundle == NULL || s->from == NULL ||
	    s->to == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (dray_crypto_init(e) != 0 || make_tree(s->old, false, &s->files[0], e) != 0 ||
	    make_tree(s->new, true, &s->files[1], e) != 0 || make_key(s, e) != 0 || build(s, e) != 0 || edit(s->old, e) != 0)
		return dray_hint(e, "what was made until then stays: remove the folder before the next try");
	return s->common.quiet ? 0 : tell(s, e);
}

int
build_cmd_quickstart(int argc, char **argv, const struct tool_cmd *self)
{
	struct start s = { .dir = NULL };
	struct tool_opt opts[] = { { .name = NULL } };
	struct dray_err e = { .code = DRAY_OK };
	char what[340], q[300];
	const char *operand[1];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &s.common, 1, 1, operand, &n)) != -1)
		return rc;
	s.dir = operand[0];
	rc = run(&s, &e);
	free(s.old);
	free(s.new);
	free(s.key);
	free(s.pub);
	free(s.bundle);
	free(s.from);
	free(s.to);
	snprintf(what, sizeof(what), "cannot make %s", dray_quote(s.dir, strlen(s.dir), q, sizeof(q)));
	return rc == 0 ? 0 : tool_error(&s.common, what, &e);
}
