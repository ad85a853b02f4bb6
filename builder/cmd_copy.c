/*
 * cmd_copy.c - dray copy: a bundle onto a medium, with what the machine needs beside it; flushed, and read back past the
 * cache, because a medium may take bytes that it does not keep. Source: spec/cli.md, "split, join, copy".
 */
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/media.h"
#include "builder/temp.h"
#include "dray/bundle.h"
#include "dray/digest.h"
#include "dray/io.h"
#include "dray/num.h"
#include "dray/os.h"
#include "dray/trust.h"
#include "tool/look.h"

#define STEP (size_t)(1 << 20)
#define ALIGN 4096u

struct item {			/* a file that goes there */
	const char *what;	/* for messages */
	char *path;		/* its name there */
	int fd;			/* its bytes; -1: they are @text */
	char *text;
	uint64_t len;
	bool runs;
	bool there;		/* the same bytes are there already */
};

enum { BUNDLE, INSTALLER, SHEET, ITEMS };

struct copy {
	struct tool_common common;
	const char *file, *dir, *installer;
	bool check, replace, past_cache;	/* the last: all that was read back came from the medium itself */
	struct item v[ITEMS];
	size_t n;
};

static const char *
quoted(const char *path, char out[DRAY_QUOTE_CAP(255)])
{
	return dray_quote(path, strlen(path), out, DRAY_QUOTE_CAP(255));
}

static char *
there(const struct copy *c, const char *name, size_t len, const char *end)
{
	char *path;

	if (asprintf(&path, "%s%s%.*s%s", c->dir, c->dir[strlen(c->dir) - 1] == '/' ? "" : "/", (int)len, name, end) == -1)
		return NULL;
	return path;
}

static void
line(FILE *f, const char *verb, const char *name)
{
	fprintf(f, "    ./dray-install %-6s ", verb);
	tool_shell_print(f, name);
	fputc('\n', f);
}

/* what a person at the machine reads first: which bundle this is, and what to type */
static int
write_sheet(const struct copy *c, const struct dray_bundle *b, struct item *it, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(b);
	const struct dray_slot *s = dray_bundle_slot(b);
	const char *name = tool_leaf_of(c->file);
	char hex[65], print[40], q[DRAY_QUOTE_CAP(255)];
	size_t len = 0;
	FILE *f;

	dray_quote(name, strlen(name), q, sizeof(q));
	if ((f = open_memstream(&it->text, &len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	fprintf(f, "%s: %s %s, release counter %" PRIu64 ", %" PRIu64 " bytes\nbundle id %s\n", q, d->product, d->version,
	    d->counter, d->length, dray_hex(dray_bundle_id(b), 32, hex));
	for (unsigned i = 0; i < s->n; i++)
		fprintf(f, "signed with the key %s\n", dray_fingerprint(s->sigs[i].key, print));
	if (s->n == 0)
		fprintf(f, "not signed yet: no machine takes it like that\n");
	fprintf(f, "\nThis sheet proves nothing: whoever can write to the medium can write it too.\n"
	    "The machine checks the signature with a key that it knows from elsewhere.\n"
	    "In this folder, as root:\n\n");
	line(f, "verify", name);
	line(f, "plan", name);
	line(f, "apply", name);
	fprintf(f, "\nA machine that trusts no key yet is told one, from elsewhere, with its\n"
	    "fingerprint: dray-install trust init. plan changes nothing. To go back:\n"
	    "dray-install rollback. If the system does not start:\n"
	    "./dray-install help recovery prints what to do then; read it before.\n"
	    "Step by step: ./dray-install help stick. A medium that does not allow\n"
	    "programs to run: copy dray-install to the machine first.\n");
	if (fclose(f) != 0)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	it->len = len;
	return 0;
}

/* the one that was named, or the one beside this program */
static int
find_installer(const struct copy *c, int *fd, struct dray_err *e)
{
	char path[4096 + sizeof("dray-install")], *slash, q[DRAY_QUOTE_CAP(255)];
	const char *from = c->installer;

	if (from == NULL && os_self_path(path, 4096) == 0 && (slash = strrchr(path, '/')) != NULL) {
		memcpy(slash + 1, "dray-install", sizeof("dray-install"));
		from = path;
	}
	if (from != NULL && (*fd = open(from, O_RDONLY | O_CLOEXEC)) != -1)
		return 0;
	dray_fail(e, DRAY_E_USAGE, "no installer: %s: %s", from == NULL ? "dray-install" : quoted(from, q),
	    errno == ENOENT ? "no such file" : "cannot be opened");
	return dray_hint(e, "say where it is: --installer FILE");
}

static int
list_items(struct copy *c, const struct dray_bundle *b, int fd, struct dray_err *e)
{
	const char *name = tool_leaf_of(c->file);
	size_t len = strlen(name), stem = build_media_stem(name);
	struct stat st;
	int tool = -1;

	c->v[BUNDLE] = (struct item){ .what = "bundle", .fd = fd, .len = dray_bundle_desc(b)->length,
		.path = there(c, name, len, "") };
	c->v[SHEET] = (struct item){ .what = "sheet", .fd = -1, .path = there(c, name, stem, ".txt") };
	c->v[INSTALLER] = (struct item){ .what = "installer", .fd = -1, .runs = true, .path = there(c, "dray-install", 12, "") };
	c->n = ITEMS;
	if (find_installer(c, &tool, e) != 0)
		return -1;
	c->v[INSTALLER].fd = tool;
	if (fstat(tool, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return dray_fail(e, DRAY_E_USAGE, "the installer is no regular file");
	c->v[INSTALLER].len = (uint64_t)st.st_size;
	return write_sheet(c, b, &c->v[SHEET], e);
}

static int
read_item(const struct item *it, uint64_t at, void *buf, size_t len, struct dray_err *e)
{
	if (it->fd == -1) {
		memcpy(buf, it->text + at, len);
		return 0;
	}
	return dray_pread_whole(it->fd, buf, len, at) ? 0 : dray_fail(e, DRAY_E_MEDIUM, "the %s cannot be read to its end", it->what);
}

/*
 * *at: the first byte of @it that @fd does not hold, or its length: all are the same and nothing follows
 * @mine, @theirs: STEP bytes, the second one aligned
 */
static int
compare(const struct item *it, int fd, uint8_t *mine, uint8_t *theirs, struct tool_progress *p, uint64_t *at,
    struct dray_err *e)
{
	size_t n, same;
	ssize_t got;

	for (*at = 0; *at < it->len; *at += n) {
		n = it->len - *at < STEP ? (size_t)(it->len - *at) : STEP;
		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "stopped by a signal");
		if (read_item(it, *at, mine, n, e) != 0)
			return -1;
		/* whole pages also at the end, for handles that go past the cache */
		while ((got = pread(fd, theirs, STEP, (off_t)*at)) == -1 && errno == EINTR)
			continue;
		if (got == -1)
			return dray_fail(e, DRAY_E_MEDIUM, "at byte %" PRIu64 " the medium cannot be read back", *at);
		for (same = 0; same < n && same < (size_t)got && mine[same] == theirs[same];)
			same++;
		if (same < n) {
			*at += same;
			return 0;
		}
		if (p != NULL)
			tool_progress_at(p, *at + n, 0);
	}
	return 0;
}

/* *same: does what stands at @it's name have its bytes? */
static int
is_there(struct item *it, uint8_t *mine, uint8_t *theirs, bool *any, struct dray_err *e)
{
	struct stat st;
	uint64_t at;
	int fd, rc;

	*any = lstat(it->path, &st) == 0;
	if (!*any || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != it->len)
		return 0;
	if ((fd = open(it->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return 0;
	rc = compare(it, fd, mine, theirs, NULL, &at, e);
	it->there = rc == 0 && at == it->len;
	close(fd);
	return rc;
}

/* before anything is written: nobody's file is replaced, and there is room */
static int
look_first(struct copy *c, uint8_t *mine, uint8_t *theirs, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	uint64_t need = 0, room;
	struct statvfs vfs;
	bool any;

	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].path == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (is_there(&c->v[i], mine, theirs, &any, e) != 0)
			return dray_wrap(e, "%s", quoted(c->v[i].path, q));
		if (any && !c->v[i].there && !c->replace) {
			dray_fail(e, DRAY_E_USAGE, "%s is there already and is another file", quoted(c->v[i].path, q));
			return dray_hint(e, "--replace takes its place; or name another folder");
		}
		need += c->v[i].there ? 0 : c->v[i].len;
	}
	if (statvfs(c->dir, &vfs) != 0)
		return dray_fail_errno(e, "folder %s", quoted(c->dir, q));
	if (dray_mul(vfs.f_bavail, vfs.f_frsize, &room) && room < need) {
		dray_fail(e, DRAY_E_ROOM, "%s has room for %" PRIu64 " bytes, %" PRIu64 " are needed", quoted(c->dir, q), room, need);
		return dray_hint(e, "nothing was written; dray split cuts it for several media");
	}
	return 0;
}

/* a handle that does not see what is kept in memory; *past: it surely does not */
static int
open_again(int dir, const char *name, bool *past)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_DIRECT);

	*past = fd != -1;
	if (fd == -1 && (fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) != -1)
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return fd;
}

static int
read_back(struct copy *c, const struct item *it, int dir, const char *name, uint8_t *mine, uint8_t *theirs,
    struct dray_err *e)
{
	struct tool_progress p;
	uint64_t at = 0;
	bool past;
	int fd, rc;

	if ((fd = open_again(dir, name, &past)) == -1)
		return dray_fail_errno(e, "cannot be opened to read it back");
	c->past_cache &= past;
	tool_progress_begin(&p, &c->common, "reading back", it->len);
	rc = compare(it, fd, mine, theirs, &p, &at, e);
	tool_progress_end(&p, rc == 0);
	close(fd);
	if (rc != 0 || at == it->len)
		return rc;
	dray_fail(e, DRAY_E_MEDIUM, "at byte %" PRIu64 " of %" PRIu64 " the medium gives back something else than was written", at,
	    it->len);
	return dray_hint(e, "it is worn out, or smaller than it says: use another one");
}

static int
write_bytes(struct copy *c, const struct item *it, int fd, uint8_t *buf, struct dray_err *e)
{
	struct tool_progress p;
	uint64_t at = 0;
	int rc = 0;
	size_t n;

	tool_progress_begin(&p, &c->common, "copy", it->len);
	for (; rc == 0 && at < it->len; at += n) {
		n = it->len - at < STEP ? (size_t)(it->len - at) : STEP;
		if (tool_signal_seen() != 0)
			rc = dray_fail(e, DRAY_E_SIGNAL, "stopped by a signal; nothing is left of it");
		else if ((rc = read_item(it, at, buf, n, e)) == 0 && (rc = build_temp_write(fd, at, buf, n, e)) == 0)
			tool_progress_at(&p, at + n, 0);
	}
	/* what is only in memory would be read back from there */
	if (rc == 0 && fsync(fd) != 0)
		rc = dray_fail_errno(e, "cannot be written");
	tool_progress_end(&p, rc == 0);
	return rc;
}

static int
put(struct copy *c, const struct item *it, uint8_t *mine, uint8_t *theirs, struct dray_err *e)
{
	struct build_temp t;
	int rc;

	if ((rc = build_temp_open(it->path, &t, e)) == 0) {
		t.runs = it->runs;
		if ((rc = write_bytes(c, it, t.fd, mine, e)) == 0 && c->check)
			rc = read_back(c, it, t.dir, t.name, mine, theirs, e);
		if (rc == 0)
			rc = build_temp_commit(&t, e);
		build_temp_drop(&t);
	}
	return rc;
}

/* it stands there already: all that is left is to look at the medium itself */
static int
look_again(struct copy *c, const struct item *it, uint8_t *mine, uint8_t *theirs, struct dray_err *e)
{
	int dir, rc;

	if (!c->check)
		return 0;
	if ((dir = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return dray_fail_errno(e, "its folder cannot be opened");
	rc = read_back(c, it, dir, tool_leaf_of(it->path), mine, theirs, e);
	close(dir);
	return rc;
}

static int
tell(const struct copy *c, const struct dray_bundle *b, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)], h[32], hex[65];
	struct dray_json *o, *list, *v;

	if (c->common.json) {
		o = dray_json_new_obj();
		dray_json_set_str(o, "id", dray_hex(dray_bundle_id(b), 32, hex));
		list = dray_json_set_arr(o, "files");
		for (size_t i = 0; i < c->n; i++) {
			v = dray_json_push_obj(list);
			dray_json_set_path(v, "file", c->v[i].path, strlen(c->v[i].path));
			dray_json_set_int(v, "size", (int64_t)c->v[i].len);
			dray_json_set_bool(v, "was_there", c->v[i].there);
		}
		dray_json_set_bool(o, "read_back", c->check);
		dray_json_set_bool(o, "past_cache", c->check && c->past_cache);
		return tool_json(o, e) == 0 ? 0 : -1;
	}
	if (c->common.quiet)
		return 0;
	for (size_t i = 0; i < c->n; i++)
		printf("%s: %s%s\n", quoted(c->v[i].path, q), tool_human(c->v[i].len, h), c->v[i].there ? ", was there" : "");
	if (dray_bundle_slot(b)->n == 0)
		printf("it is not signed yet: no machine takes it like that (dray sign)\n");
	if (!c->check)
		printf("written and flushed; not read back (--check does)\n");
	else if (c->past_cache)
		printf("written, flushed, read back from the medium: identical\n");
	else
		printf("written, flushed, read back: identical; this file system may have answered from\n"
		    "memory: take the medium out, put it in again, and run this once more\n");
	printf("next: take it to the machine; %s tells what to type there\n", quoted(c->v[SHEET].path, q));
	return 0;
}

static int
copy_all(struct copy *c, const struct dray_bundle *b, int fd, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	uint8_t *mine = malloc(STEP);
	void *theirs = NULL;
	int rc = -1;

	if (mine == NULL || posix_memalign(&theirs, ALIGN, STEP) != 0)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (list_items(c, b, fd, e) == 0)
		rc = look_first(c, mine, theirs, e);
	for (size_t i = 0; i < c->n && rc == 0; i++) {
		rc = c->v[i].there ? look_again(c, &c->v[i], mine, theirs, e) : put(c, &c->v[i], mine, theirs, e);
		if (rc != 0)
			dray_wrap(e, "%s", quoted(c->v[i].path, q));
	}
	free(mine);
	free(theirs);
	return rc == 0 ? tell(c, b, e) : -1;
}

static int
run(struct copy *c, struct dray_err *e)
{
	struct dray_bundle_opts o = { .unsigned_ok = true, .no_index = true };
	struct dray_bundle *b;
	struct stat st;
	char q[300];
	int fd, rc;

	if (stat(c->dir, &st) != 0 || !S_ISDIR(st.st_mode))
		return dray_fail(e, DRAY_E_USAGE, "%s is no folder", dray_quote(c->dir, strlen(c->dir), q, sizeof(q)));
	if (dray_crypto_init(e) != 0 || tool_bundle_fd(c->file, &fd, e) != 0)
		return -1;
	if ((rc = dray_bundle_open(fd, &o, &b, e)) == 0) {
		rc = copy_all(c, b, fd, e);
		dray_bundle_close(b);
	}
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].path);
		free(c->v[i].text);
	}
	if (c->v[INSTALLER].fd > 0)
		close(c->v[INSTALLER].fd);
	close(fd);
	return rc;
}

int
build_cmd_copy(int argc, char **argv, const struct tool_cmd *self)
{
	struct copy c = { .file = NULL, .past_cache = true };
	struct tool_opt opts[] = {
		{ .name = "check", .kind = TOOL_FLAG, .out = &c.check, .help = "read everything back from the medium, past the cache" },
		{ .name = "replace", .kind = TOOL_FLAG, .out = &c.replace, .help = "take the place of other files of these names" },
		{ .name = "installer", .kind = TOOL_TEXT, .out = &c.installer, .arg = "FILE",
		    .help = "the dray-install to put beside it (default: the one beside this program)" },
		{ .name = NULL },
	};
	struct dray_err e = { .code = DRAY_OK };
	char text[340], q[300];
	const char *operand[2];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &c.common, 2, 2, operand, &n)) != -1)
		return rc;
	c.file = operand[0];
	c.dir = operand[1];
	snprintf(text, sizeof(text), "cannot copy %s", dray_quote(c.file, strlen(c.file), q, sizeof(q)));
	return run(&c, &e) == 0 ? 0 : tool_error(&c.common, text, &e);
}
