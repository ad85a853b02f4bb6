/*
 * slots.c - the folders a transaction's slots lie in (slots.h).
 *
 * File "sites": for each file system but the root's own 16 token, 2 length and path. Its SHA-256 stands in the plan.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/cursor.h"
#include "dray/digest.h"
#include "dray/num.h"
#include "dray/path.h"

#include "installer/journal.h"

#define HOME ".dray"
#define SITES_MAX ((size_t)INST_SITES_MAX * (DRAY_PATH_MAX + 18))
#define TOKEN 16

static int
make_ballast(int dir, uint64_t size, struct dray_err *e)
{
	int fd, r;

	if (size > INT64_MAX)
		return dray_fail(e, DRAY_E_ROOM, "too many directories");
	if ((fd = openat(dir, INST_BALLAST_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) == -1)
		return dray_fail_errno(e, "create the ballast file");
	r = posix_fallocate(fd, 0, (off_t)size);
	close(fd);	/* room only, no content */
	if (r != 0) {
		errno = r;
		return dray_fail_errno(e, "keep room for the switch");
	}
	return 0;
}

/* the topmost directory of a file system. 1: it is not there. The handle is the walk's. */
static int
top_of(struct dray_walk *w, const struct inst_slots *sl, int *top, struct dray_err *e)
{
	char path[DRAY_PATH_MAX], leaf[DRAY_NAME_MAX + 1];
	int n = snprintf(path, sizeof(path), "%s/" HOME, sl->path), r;

	if (n < 0 || (size_t)n >= sizeof(path))
		return dray_fail(e, DRAY_E_SYSTEM, "the path of a mount is too long");
	r = dray_walk_parent(w, path, (size_t)n, top, leaf, e);
	return r > 0 ? 1 : r;
}

static const char *
shown(const struct inst_slots *sl, char *buf, size_t cap)
{
	return dray_quote(sl->path, sl->len, buf, cap);
}

static int
make_folders(int dir, const struct inst_plan *p, uint8_t site, struct dray_err *e)
{
	bool made[INST_SLOT_FOLDERS] = { false };
	char name[8];

	for (size_t i = 0; i < p->n_swaps; i++) {
		uint32_t folder = p->ops[i].slot / INST_SLOT_RUN % INST_SLOT_FOLDERS;

		if (p->ops[i].site != site || made[folder])
			continue;
		made[folder] = true;
		snprintf(name, sizeof(name), "%02x", (unsigned)folder);
		if (mkdirat(dir, name, 0700) == -1)
			return dray_fail_errno(e, "create a slot folder");
	}
	return make_ballast(dir, inst_ballast(p->sites[site].names_added), e);
}

/* one more file system's folder */
static int
make_one(const struct inst_state *s, struct inst_slots *sl, struct dray_err *e)
{
	struct dray_walk w;
	int top = -1, home = -1, rc = -1;

	dray_walk_init(&w, s->root);
	if ((rc = top_of(&w, sl, &top, e)) != 0) {
		if (rc == 1)
			rc = dray_fail(e, DRAY_E_DRIFT, "it went away since the plan");
		goto out;
	}
	rc = -1;
	if (inst_private_dir(top, HOME, true, &home, e) != 0)
		goto out;
	if (mkdirat(home, sl->token, 0700) == -1) {
		dray_fail_errno(e, "create a slot folder");
		goto out;
	}
	/* the barrier flushes what is in it; its own name is flushed here, once */
	if (fsync(home) == -1 || fsync(top) == -1) {
		dray_fail_errno(e, "flush a slot folder");
		goto out;
	}
	if ((sl->dir = openat(home, sl->token, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1) {
		dray_fail_errno(e, "open a slot folder");
		goto out;
	}
	rc = 0;
out:
	if (home != -1)
		close(home);
	dray_walk_close(&w);
	return rc;
}

/* tokens and paths, durable before the first folder is made elsewhere: nothing is left there that no journal names */
static int
name_all(struct inst_tx *tx, const struct inst_plan *p, struct dray_err *e)
{
	uint8_t *buf, *at, token[TOKEN];
	size_t cap = 0;
	int rc = -1;

	for (size_t i = 1; i < p->n_sites; i++)
		cap += TOKEN + 2 + p->sites[i].len;
	if ((buf = malloc(cap + 1)) == NULL || (tx->slots = calloc(p->n_sites, sizeof(*tx->slots))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	at = buf;
	for (size_t i = 0; i < p->n_sites; i++) {
		struct inst_slots *sl = &tx->slots[i];

		tx->n_slots = i + 1;
		sl->dir = -1;
		sl->len = p->sites[i].len;
		if ((sl->path = strdup(p->sites[i].path)) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
		if (i == 0) {
			sl->dir = tx->dir;
			continue;
		}
		if (getentropy(token, sizeof(token)) == -1) {
			dray_fail_errno(e, "draw a token");
			goto out;
		}
		dray_hex(token, sizeof(token), sl->token);
		memcpy(at, token, TOKEN);
		dray_put_u16(at + TOKEN, (uint16_t)sl->len);
		memcpy(at + TOKEN + 2, sl->path, sl->len);
		at += TOKEN + 2 + sl->len;
	}
	rc = 0;
	if (p->n_sites > 1) {
		rc = inst_write_file(tx->dir, INST_SITES_FILE, buf, cap, 0600, e);
		if (rc == 0)
			rc = dray_sha256_bytes(buf, cap, tx->slots_sha256, e);
	}
out:
	free(buf);
	return rc;
}

int
inst_slots_make(const struct inst_state *s, struct inst_tx *tx, const struct inst_plan *p, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];

	if (name_all(tx, p, e) != 0)
		return -1;
	for (size_t i = 0; i < tx->n_slots; i++) {
		struct inst_slots *sl = &tx->slots[i];

		if ((i > 0 && make_one(s, sl, e) != 0) || make_folders(sl->dir, p, (uint8_t)i, e) != 0)
			return i == 0 ? -1 : dray_wrap(e, "staging on /%s", shown(sl, q, sizeof(q)));
	}
	return 0;
}

static bool
next_row(struct dray_cursor *c, struct inst_slots *sl)
{
	const uint8_t *token, *path;
	uint16_t len;

	if (!dray_cursor_bytes(c, TOKEN, &token) || !dray_cursor_u16(c, &len) || !dray_cursor_bytes(c, len, &path) ||
	    !dray_path_ok((const char *)path, len, NULL))
		return false;
	dray_hex(token, TOKEN, sl->token);
	sl->len = len;
	return (sl->path = strndup((const char *)path, len)) != NULL;
}

/* the list of file "sites" in @dir, the root's own first; absent: that one alone */
static int
read_all(int dir, struct inst_slots **out, size_t *n, uint8_t sha256[32], struct dray_err *e)
{
	struct dray_cursor c = { 0 };
	struct inst_slots *v;
	uint8_t *p = NULL;
	size_t len = 0;
	int rc = -1;

	*out = NULL;
	*n = 0;
	memset(sha256, 0, 32);
	rc = inst_read_file(dir, INST_SITES_FILE, SITES_MAX, &p, &len, e);
	if (rc < 0)
		return -1;
	if ((v = calloc(INST_SITES_MAX, sizeof(*v))) == NULL || (v[0].path = strdup("")) == NULL) {
		free(v);
		free(p);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*out = v;
	v[0].dir = dir;
	*n = 1;
	c = (struct dray_cursor){ .p = p, .left = len };
	rc = len > 0 ? dray_sha256_bytes(p, len, sha256, e) : 0;
	while (rc == 0 && c.left > 0) {
		if (*n == INST_SITES_MAX || !next_row(&c, &v[*n]))
			rc = dray_fail(e, DRAY_E_IO, "the list of file systems is damaged at byte %ju", (uintmax_t)c.at);
		else
			v[(*n)++].dir = -1;
	}
	free(p);
	return rc;
}

static void
free_all(struct inst_slots *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].path);
		if (i > 0 && v[i].dir != -1)
			close(v[i].dir);
	}
	free(v);
}

/* is something mounted there at all? Without it the empty directory below would be taken for it. 1: yes */
static int
is_mounted(struct dray_walk *w, const struct inst_slots *sl, int top, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat own, up;
	int dir, r;

	if (os_stat_at(top, "", &own) == -1)
		return dray_fail_errno(e, "look at a mount");
	if ((r = dray_walk_parent(w, sl->path, sl->len, &dir, leaf, e)) != 0)
		return r > 0 ? 0 : -1;
	if (os_stat_at(dir, "", &up) == -1)
		return dray_fail_errno(e, "look at the directory of a mount");
	return own.dev != up.dev || own.mnt_id != up.mnt_id;
}

static int
open_one(struct dray_walk *w, struct inst_slots *sl, struct dray_err *e)
{
	int top = -1, home, r;

	if ((r = top_of(w, sl, &top, e)) != 0)
		return r > 0 ? 0 : -1;
	if ((home = openat(top, HOME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) != -1)
		sl->dir = openat(home, sl->token, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sl->dir == -1 && errno != ENOENT)
		r = dray_fail_errno(e, "open the slots");
	if (home != -1)
		close(home);
	if (r == 0 && (r = is_mounted(w, sl, top, e)) >= 0) {
		sl->mounted = r == 1;
		r = 0;
	}
	return r;
}

int
inst_slots_open(const struct inst_state *s, struct inst_tx *tx, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct dray_walk w;
	int r = 0;

	if (read_all(tx->dir, &tx->slots, &tx->n_slots, tx->slots_sha256, e) != 0)
		return -1;
	dray_walk_init(&w, s->root);
	for (size_t i = 1; i < tx->n_slots && r == 0; i++)
		if ((r = open_one(&w, &tx->slots[i], e)) != 0)
			dray_wrap(e, "/%s", shown(&tx->slots[i], q, sizeof(q)));
	dray_walk_close(&w);
	return r;
}

void
inst_slots_close(struct inst_tx *tx)
{
	free_all(tx->slots, tx->n_slots);
	tx->slots = NULL;
	tx->n_slots = 0;
}

static int
not_there(const struct inst_slots *sl, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];

	if (sl->mounted) {
		dray_fail(e, DRAY_E_SYSTEM, "the file system of /%s is another one, or its " HOME "/%s is gone",
		    shown(sl, q, sizeof(q)), sl->token);
		return dray_hint(e, "mount the one that was there, or bring the folder back from a backup; nothing was changed");
	}
	dray_fail(e, DRAY_E_SYSTEM, "the file system of /%s is not mounted, and part of the upgrade lies on it",
	    shown(sl, q, sizeof(q)));
	return dray_hint(e, "mount it where it was and run this again; nothing was changed");
}

/* freeing had come this far */
static bool
freed(const struct inst_tx *tx, const struct inst_slots *sl)
{
	return sl->dir == -1 && sl->mounted && (tx->state == INST_TX_FORGET || tx->state == INST_TX_UNDONE);
}

int
inst_slots_all(const struct inst_tx *tx, struct dray_err *e)
{
	for (size_t i = 0; i < tx->n_slots; i++)
		if (tx->slots[i].dir == -1 && !freed(tx, &tx->slots[i]))
			return not_there(&tx->slots[i], e);
	return 0;
}

int
inst_slots_of(const struct inst_tx *tx, const struct inst_op *op, int *dir, struct dray_err *e)
{
	const struct inst_slots *sl = &tx->slots[op->site];

	*dir = sl->dir;
	if (sl->dir != -1)
		return 0;
	return freed(tx, sl) ? 1 : not_there(sl, e);
}

/* MOUNT/.dray goes with its last folder, and the directory it stood in keeps its time */
static int
drop_one(const struct inst_state *s, const struct inst_slots *sl, struct dray_err *e)
{
	struct dray_stat was;
	struct dray_walk w;
	int top = -1, home = -1, rc;

	dray_walk_init(&w, s->root);
	if ((rc = top_of(&w, sl, &top, e)) != 0) {
		rc = rc == 1 ? 0 : -1;
		goto out;
	}
	if ((home = openat(top, HOME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1) {
		rc = errno == ENOENT ? 0 : dray_fail_errno(e, "open the slots");
		goto out;
	}
	rc = inst_rmtree(home, sl->token, e);
	if (rc == 0 && os_stat_at(top, "", &was) == 0 && unlinkat(top, HOME, AT_REMOVEDIR) == 0)
		rc = inst_restore_time(top, &was, e);
out:
	if (home != -1)
		close(home);
	dray_walk_close(&w);
	return rc;
}

int
inst_slots_drop(const struct inst_state *s, int txdir, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct inst_slots *v;
	uint8_t sha256[32];
	size_t n;
	int rc = read_all(txdir, &v, &n, sha256, e);

	for (size_t i = 1; i < n && rc == 0; i++)
		if ((rc = drop_one(s, &v[i], e)) != 0)
			dray_wrap(e, "/%s", shown(&v[i], q, sizeof(q)));
	free_all(v, n);
	return rc;
}
