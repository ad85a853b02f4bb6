/*
 * hook.c - the boot hook put in place, looked at and taken away. What is not ours by its bytes is never touched; what we
 * wrote is remembered in the state folder, so that a newer version of this program knows it again.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/json.h"
#include "dray/num.h"
#include "dray/os.h"
#include "dray/path.h"

#include "installer/files.h"
#include "installer/hook.h"

#define RECORD "hook.json"
#define TEXT_MAX (64u * 1024u)

struct record { struct dray_json *doc; };	/* owned; NULL: none, or a damaged one, which knows nothing */

const char *
inst_hook_name(enum inst_hook_kind kind)
{
	switch (kind) {
	case INST_HOOK_SYSTEMD: return "systemd";
	case INST_HOOK_RC: return "rc";
	case INST_HOOK_NONE: break;
	}
	return "none";
}

bool
inst_hook_named(const char *name, enum inst_hook_kind *kind)
{
	*kind = strcmp(name, "systemd") == 0 ? INST_HOOK_SYSTEMD : strcmp(name, "rc") == 0 ? INST_HOOK_RC : INST_HOOK_NONE;
	return *kind != INST_HOOK_NONE;
}

/* is there a regular file? A symlink on the way says no */
static bool
has_file(const struct inst_state *s, const char *path)
{
	struct dray_err ignored = { .code = DRAY_OK };	/* what cannot be looked at does not tell which init it is */
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_walk w;
	struct dray_stat st;
	bool yes;
	int dir;

	dray_walk_init(&w, s->root);
	yes = dray_walk_parent(&w, path, strlen(path), &dir, leaf, &ignored) == 0 && os_stat_at(dir, leaf, &st) == 0 &&
	    (st.mode & S_IFMT) == S_IFREG;
	dray_walk_close(&w);
	return yes;
}

static enum inst_hook_kind
detect(const struct inst_state *s)
{
	if (has_file(s, "usr/lib/systemd/systemd") || has_file(s, "lib/systemd/systemd"))
		return INST_HOOK_SYSTEMD;
	return has_file(s, "etc/rc.subr") ? INST_HOOK_RC : INST_HOOK_NONE;
}

/* what an earlier run wrote. Without it, what is there and differs counts as foreign */
static int
read_record(const struct inst_state *s, struct record *r, struct dray_err *e)
{
	struct dray_err bad;
	uint8_t *p;
	size_t len;
	int got;

	r->doc = NULL;
	if (s->dir == -1)
		return 0;
	got = inst_read_file(s->dir, RECORD, TEXT_MAX, &p, &len, e);
	if (got != 0)
		return got == 1 ? 0 : -1;
	if (dray_json_parse((const char *)p, len, true, &r->doc, &bad) != 0) {
		r->doc = NULL;
	} else if (!dray_json_is_obj(r->doc)) {
		dray_json_free(r->doc);
		r->doc = NULL;
	}
	free(p);
	return 0;
}

/* the texts of one of its arrays */
static const char *
recorded(const struct record *r, const char *key, size_t i)
{
	const struct dray_json *a;
	struct dray_err ignored;
	size_t n, len;

	if (r->doc == NULL || !dray_json_has(r->doc, key) || dray_json_arr(r->doc, key, &a, &n, RECORD, &ignored) != 0 || i >= n)
		return NULL;
	return dray_json_text(dray_json_at(a, i), &len);
}

static bool
wrote(const struct record *r, const uint8_t sum[32])
{
	const char *known;
	char hex[65];

	dray_hex(sum, 32, hex);
	for (size_t i = 0; (known = recorded(r, "sha256", i)) != NULL; i++)
		if (strcmp(known, hex) == 0)
			return true;
	return false;
}

static enum inst_hook_kind
kind_of(const struct inst_state *s, const struct record *r)
{
	enum inst_hook_kind kind;
	struct dray_err ignored;
	const char *name;
	size_t len;

	if (r->doc != NULL && dray_json_has(r->doc, "kind") && dray_json_str(r->doc, "kind", &name, &len, RECORD, &ignored) == 0 &&
	    inst_hook_named(name, &kind))
		return kind;
	return detect(s);
}

static int
look_file(int dir, const char *leaf, const struct inst_hook *h, const struct record *r, enum inst_hook_file_state *state,
    struct dray_err *e)
{
	struct dray_err foreign;
	uint8_t *p, sum[32];
	size_t len;
	int got = inst_read_file(dir, leaf, TEXT_MAX, &p, &len, &foreign);

	*state = got == 1 ? INST_HOOK_ABSENT : INST_HOOK_FOREIGN;
	if (got != 0)
		return 0;
	if (len == strlen(h->text) && memcmp(p, h->text, len) == 0)
		*state = INST_HOOK_OURS;
	else if (dray_sha256_bytes(p, len, sum, e) != 0)
		got = -1;
	else if (wrote(r, sum))
		*state = INST_HOOK_OLDER;
	free(p);
	return got;
}

static int
look_one(const struct inst_state *s, struct inst_hook *h, size_t i, const struct record *r, struct dray_err *e)
{
	const char *path = h->files[i].path, *target = h->files[i].target;
	char leaf[DRAY_NAME_MAX + 1], link[256];
	struct dray_walk w;
	ssize_t n;
	int dir, got, rc = 0;

	dray_walk_init(&w, s->root);
	got = dray_walk_parent(&w, path, strlen(path), &dir, leaf, e);
	if (got < 0) {
		rc = -1;
	} else if (got > 0) {
		/* something that is no directory stands in the way, or there is nothing yet */
		h->files[i].state = got == 1 ? INST_HOOK_ABSENT : INST_HOOK_FOREIGN;
	} else if (target == NULL) {
		rc = look_file(dir, leaf, h, r, &h->files[i].state, e);
	} else {
		n = readlinkat(dir, leaf, link, sizeof(link));
		h->files[i].state = n == -1 && errno == ENOENT ? INST_HOOK_ABSENT :
		    n == (ssize_t)strlen(target) && memcmp(link, target, (size_t)n) == 0 ? INST_HOOK_OURS : INST_HOOK_FOREIGN;
	}
	dray_walk_close(&w);
	return rc;
}

int
inst_hook_look(const struct inst_state *s, enum inst_hook_kind kind, struct inst_hook *h, struct dray_err *e)
{
	struct record r;
	int rc = 0;

	if (read_record(s, &r, e) != 0)
		return -1;
	rc = inst_hook_fill(s, kind != INST_HOOK_NONE ? kind : kind_of(s, &r), h, e);
	for (size_t i = 0; rc == 0 && i < h->n; i++)
		rc = look_one(s, h, i, &r, e);
	dray_json_free(r.doc);
	return rc;
}

bool
inst_hook_whole(const struct inst_hook *h)
{
	bool whole = h->n > 0;

	for (size_t i = 0; i < h->n; i++)
		whole &= h->files[i].state == INST_HOOK_OURS || h->files[i].state == INST_HOOK_OLDER;
	return whole;
}

int
inst_hook_refuse(const struct inst_hook *h, struct dray_err *e)
{
	for (size_t i = 0; i < h->n; i++) {
		if (h->files[i].state != INST_HOOK_FOREIGN)
			continue;
		dray_fail(e, DRAY_E_SYSTEM, "%s is there and is not what this program writes", h->files[i].path);
		return dray_hint(e, "nothing was changed; look at it, and move it away if it may go");
	}
	return 0;
}

int
inst_hook_missing(const struct inst_state *s, const char *path, struct dray_json *made, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], part[PATH_MAX];
	struct dray_walk w;
	struct dray_stat st;
	int dir, r = 0;

	dray_walk_init(&w, s->root);
	for (const char *p = strchr(path, '/'); r >= 0 && p != NULL; p = strchr(p + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		r = dray_walk_parent(&w, part, strlen(part), &dir, leaf, e);
		if (r == 1 || (r == 0 && os_stat_at(dir, leaf, &st) == -1 && errno == ENOENT))
			dray_json_push_str(made, part);
	}
	dray_walk_close(&w);
	return r < 0 ? -1 : 0;
}

/* the directories on the way to @path */
static int
make_way(const struct inst_state *s, const char *path, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], part[PATH_MAX];
	struct dray_walk w;
	int dir, r = 0;

	dray_walk_init(&w, s->root);
	for (const char *p = strchr(path, '/'); r == 0 && p != NULL; p = strchr(p + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		r = dray_walk_parent(&w, part, strlen(part), &dir, leaf, e);
		if (r > 0)
			r = dray_fail(e, DRAY_E_SYSTEM, "%s: the directory above it went away", part);
		if (r == 0)
			r = inst_make_dir(dir, leaf, 0755, e);
	}
	dray_walk_close(&w);
	return r;
}

/* the file under its name, or gone; the time of its directory stays, so that a comparison with the release does not see it */
static int
put(const struct inst_state *s, const struct inst_hook *h, size_t i, bool there, struct dray_err *e)
{
	const char *path = h->files[i].path, *target = h->files[i].target;
	char leaf[DRAY_NAME_MAX + 1], tmp[DRAY_NAME_MAX + 16];
	struct dray_stat was;
	struct dray_walk w;
	int dir, rc;

	dray_walk_init(&w, s->root);
	rc = dray_walk_parent(&w, path, strlen(path), &dir, leaf, e);
	if (rc != 0) {
		rc = rc < 0 ? -1 : there ? dray_fail(e, DRAY_E_SYSTEM, "the directory of %s went away", path) : 0;
		goto out;
	}
	if ((rc = os_stat_at(dir, "", &was)) == -1) {
		dray_fail_errno(e, "look at the directory of %s", path);
		goto out;
	}
	snprintf(tmp, sizeof(tmp), ".%s.new", leaf);	/* what inst_write_file leaves when it is cut */
	if (there && target == NULL)
		rc = inst_write_file(dir, leaf, h->text, strlen(h->text), h->files[i].mode, e);
	else if (there)
		rc = symlinkat(target, dir, leaf) == -1 ? dray_fail_errno(e, "create %s", path) : 0;
	else if ((unlinkat(dir, leaf, 0) == -1 && errno != ENOENT) || (unlinkat(dir, tmp, 0) == -1 && errno != ENOENT))
		rc = dray_fail_errno(e, "remove %s", path);
	if (rc == 0 && fsync(dir) == -1)
		rc = dray_fail_errno(e, "flush the directory of %s", path);
	if (rc == 0)
		rc = inst_restore_time(dir, &was, e);
out:
	dray_walk_close(&w);
	return rc;
}

/* before anything else is made: all directories that are to go one day, and every text that was ever ours */
static int
write_record(const struct inst_state *s, const struct inst_hook *h, const struct record *before,
    const struct dray_json *made, struct dray_err *e)
{
	struct dray_json *doc = dray_json_new_obj(), *dirs, *sums;
	char hex[65], *text = NULL;
	const char *old;
	uint8_t sum[32];
	size_t len;
	int rc = -1;

	dray_json_set_int(doc, "dray_hook", 1);
	dray_json_set_str(doc, "kind", inst_hook_name(h->kind));
	dirs = dray_json_set_arr(doc, "made");
	for (size_t i = 0; (old = recorded(before, "made", i)) != NULL; i++)
		dray_json_push_str(dirs, old);
	for (size_t i = 0; (old = dray_json_text(dray_json_at(made, i), &len)) != NULL; i++)
		dray_json_push_str(dirs, old);
	for (size_t i = 0; i < h->n; i++)
		if (inst_hook_missing(s, h->files[i].path, dirs, e) != 0)
			goto out;
	if (dray_sha256_bytes(h->text, strlen(h->text), sum, e) != 0)
		goto out;
	sums = dray_json_set_arr(doc, "sha256");
	for (size_t i = 0; (old = recorded(before, "sha256", i)) != NULL; i++)
		if (strcmp(old, dray_hex(sum, 32, hex)) != 0)
			dray_json_push_str(sums, old);
	dray_json_push_str(sums, dray_hex(sum, 32, hex));
	if (dray_json_write(doc, &text, &len, e) == 0)
		rc = inst_write_file(s->dir, RECORD, text, len, 0600, e);
out:
	dray_json_free(doc);
	free(text);
	return rc;
}

int
inst_hook_install(const struct inst_state *s, struct inst_hook *h, const struct dray_json *made, struct dray_err *e)
{
	struct record r;
	int rc = -1;

	if (inst_hook_refuse(h, e) != 0 || read_record(s, &r, e) != 0)
		return -1;
	if (inst_state_keep_self(s, e) != 0 || write_record(s, h, &r, made, e) != 0)
		goto out;
	for (size_t i = 0; i < h->n; i++)
		if (make_way(s, h->files[i].path, e) != 0 ||
		    (h->files[i].state != INST_HOOK_OURS && put(s, h, i, true, e) != 0))
			goto out;
	rc = 0;
out:
	dray_json_free(r.doc);
	return rc;
}

static int
remove_dir(const struct inst_state *s, const char *path, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat was;
	struct dray_walk w;
	int dir, rc = 0;

	if (!dray_path_ok(path, strlen(path), NULL))
		return 0;
	dray_walk_init(&w, s->root);
	if (dray_walk_parent(&w, path, strlen(path), &dir, leaf, e) == 0 && os_stat_at(dir, "", &was) == 0 &&
	    unlinkat(dir, leaf, AT_REMOVEDIR) == 0)	/* whatever holds something by now stays */
		rc = inst_restore_time(dir, &was, e);
	dray_walk_close(&w);
	return rc;
}

/* a state folder that holds nothing but lock and program never saw an upgrade */
static int
remove_unused_state(const struct inst_state *s, bool *unused, struct dray_err *e)
{
	struct dirent *de;
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd == -1 ? NULL : fdopendir(fd);

	*unused = d != NULL;
	if (d == NULL) {
		if (fd != -1)
			close(fd);
		return dray_fail_errno(e, "list %s", s->rel);
	}
	while ((de = readdir(d)) != NULL)
		*unused &= strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0 || strcmp(de->d_name, "lock") == 0 ||
		    strcmp(de->d_name, "dray-install") == 0;
	closedir(d);
	if (!*unused)
		return 0;
	if ((unlinkat(s->dir, "dray-install", 0) == -1 && errno != ENOENT) ||
	    (unlinkat(s->dir, "lock", 0) == -1 && errno != ENOENT))
		return dray_fail_errno(e, "remove what is in %s", s->rel);
	return 0;
}

int
inst_hook_remove(const struct inst_state *s, struct inst_hook *h, struct dray_err *e)
{
	struct record r;
	const char *path;
	bool unused;
	size_t n = 0;
	int rc = -1;

	if (inst_hook_refuse(h, e) != 0 || read_record(s, &r, e) != 0)
		return -1;
	for (size_t i = h->n; i-- > 0; )
		if (put(s, h, i, false, e) != 0)
			goto out;
	/* while the record is there, a run that is cut can be repeated */
	while (recorded(&r, "made", n) != NULL)
		n++;
	while (n > 0 && (path = recorded(&r, "made", --n)) != NULL)
		if (strncmp(path, "etc/", 4) == 0 && remove_dir(s, path, e) != 0)
			goto out;
	if (unlinkat(s->dir, RECORD, 0) == -1 && errno != ENOENT) {
		dray_fail_errno(e, "remove %s/" RECORD, s->rel);
		goto out;
	}
	if (remove_unused_state(s, &unused, e) != 0)
		goto out;
	while (recorded(&r, "made", n) != NULL)
		n++;
	while (unused && n > 0 && (path = recorded(&r, "made", --n)) != NULL)
		if (remove_dir(s, path, e) != 0)
			goto out;
	rc = 0;
out:
	dray_json_free(r.doc);
	return rc;
}
