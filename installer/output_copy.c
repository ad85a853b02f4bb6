/*
 * output_copy.c - copies of what triggers will change, into their slots: after the switch a trigger works on the copy, and
 * the original object waits in the slot for the way back.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/attrs.h"
#include "dray/num.h"

#include "installer/meta.h"
#include "installer/sparse.h"
#include "installer/staging.h"
#include "installer/tree.h"

enum { DEPTH_MAX = 100, CHUNK = 256 * 1024 };

/* names of one file inside a directory stay one */
struct linked { uint64_t ino, dev; char *rel; };

struct copying {
	struct stage *s;
	uint8_t *buf;			/* CHUNK */
	int top;			/* the copied directory; -1: a file or a symlink is copied */
	char rel[DRAY_PATH_MAX];	/* of the object in work, beneath @top */
	struct linked *links;
	size_t n_links;
};

static int
copy_bytes(struct copying *c, int from, int to, uint64_t size, struct dray_err *e)
{
	uint64_t at = 0;

	if (os_clone(from, to) == 0)
		return 0;
	while (at < size) {
		size_t want = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		ssize_t n = pread(from, c->buf, want, (off_t)at);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 ? dray_fail(e, DRAY_E_DRIFT, "changed since the plan") : dray_fail_errno(e, "read");
		if (inst_sparse_put(to, c->buf, (size_t)n, at, size, e) != 0 || inst_stage_stopped(c->s, e) != 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

/* labels and other attributes that no release manages: as far as they can be set */
static void
copy_foreign_xattrs(const struct inst_meta *m, int fd)
{
	char name[DRAY_NAME_MAX + 1];

	for (size_t at = 0; at < m->xattrs_len;) {
		const char *x = (const char *)m->xattrs + at + 6;
		size_t n = dray_get_u16(m->xattrs + at), value = dray_get_u32(m->xattrs + at + 2);

		if (n <= DRAY_NAME_MAX && !dray_xattr_managed(x, n)) {
			memcpy(name, x, n);
			name[n] = '\0';
			(void)!os_xattr_set(fd, name, x + n, value);
		}
		at += 6 + n + value;
	}
}

/* owner, mode, times and extended attributes as they are; @from, @to -1: of a symlink */
static int
dress(struct copying *c, int from, const struct dray_stat *st, int dir, const char *leaf, int to, uint8_t type, struct dray_err *e)
{
	struct inst_meta m;
	uint16_t has = DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_MTIME;
	int rc;

	if (inst_meta_read(from, st, from != -1 ? has | DRAY_HAS_MODE | DRAY_HAS_XATTRS : has, &m, e) != 0)
		return -1;
	if (to != -1)
		copy_foreign_xattrs(&m, to);
	inst_meta_managed(&m);
	if (c->s->p->no_owner)
		inst_meta_plain(&m);
	rc = inst_meta_apply(dir, leaf, to, type, &m, e);
	inst_meta_free(&m);
	return rc;
}

static int
copy_file(struct copying *c, int dir, const char *leaf, const struct dray_stat *st, int to_dir, const char *to_leaf,
    struct dray_err *e)
{
	int from = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to = -1, rc = -1;

	if (from == -1)
		return dray_fail_errno(e, "open");
	if ((to = openat(to_dir, to_leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1)
		dray_fail_errno(e, "create the copy");
	else
		rc = copy_bytes(c, from, to, st->size, e) != 0 ? -1 : dress(c, from, st, to_dir, to_leaf, to, DRAY_FILE, e);
	close(from);
	if (to != -1 && close(to) == -1 && rc == 0)
		rc = dray_fail_errno(e, "close the copy");
	return rc;
}

static int
copy_symlink(struct copying *c, int dir, const char *leaf, const struct dray_stat *st, int to_dir, const char *to_leaf,
    struct dray_err *e)
{
	char text[DRAY_PATH_MAX + 1];
	ssize_t n = readlinkat(dir, leaf, text, sizeof(text));

	if (n == -1)
		return dray_fail_errno(e, "read the symlink");
	if ((size_t)n == sizeof(text))
		return dray_fail(e, DRAY_E_SYSTEM, "its text is too long");
	text[n] = '\0';
	if (symlinkat(text, to_dir, to_leaf) == -1)
		return dray_fail_errno(e, "create the copy");
	return dress(c, -1, st, to_dir, to_leaf, -1, DRAY_SYMLINK, e);
}

/* a further name of a file that was copied: 1; *e for -1 */
static int
copy_link(struct copying *c, const struct dray_stat *st, int to_dir, const char *to_leaf, struct dray_err *e)
{
	struct linked *v;

	if (c->top == -1 || st->nlink < 2)
		return 0;
	for (size_t i = 0; i < c->n_links; i++)
		if (c->links[i].ino == st->ino && c->links[i].dev == st->dev)
			return linkat(c->top, c->links[i].rel, to_dir, to_leaf, 0) == 0 ? 1 : dray_fail_errno(e, "create the copy");
	if ((v = realloc(c->links, (c->n_links + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	c->links = v;
	v[c->n_links] = (struct linked){ st->ino, st->dev, strdup(c->rel) };
	return v[c->n_links].rel != NULL ? (c->n_links++, 0) : dray_fail(e, DRAY_E_IO, "out of memory");
}

static int copy_inside(struct copying *c, int from, int to, unsigned depth, struct dray_err *e);

/* @depth 0: what has the slot itself */
static int
copy_dir(struct copying *c, int dir, const char *leaf, const struct dray_stat *st, int to_dir, const char *to_leaf, unsigned depth,
    struct dray_err *e)
{
	int from, to = -1, rc = -1;

	if (depth >= DEPTH_MAX)
		return dray_fail(e, DRAY_E_SYSTEM, "directories in it lie %d deep, which is too deep for a copy", DEPTH_MAX);
	if ((from = openat(dir, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return dray_fail_errno(e, "open");
	if (mkdirat(to_dir, to_leaf, 0700) == -1 ||
	    (to = openat(to_dir, to_leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1) {
		dray_fail_errno(e, "create the copy");
		goto out;
	}
	if (depth == 0)
		c->top = to;
	if (copy_inside(c, from, to, depth, e) == 0)
		rc = dress(c, from, st, to_dir, to_leaf, to, DRAY_DIR, e);
	if (depth == 0)
		c->top = -1;
out:
	close(from);
	if (to != -1)
		close(to);
	return rc;
}

static int
copy_object(struct copying *c, int dir, const char *leaf, int to_dir, const char *to_leaf, unsigned depth, struct dray_err *e)
{
	struct dray_stat st;
	int r;

	if (os_stat_at(dir, leaf, &st) != 0)
		return dray_fail_errno(e, "look at it");
	if (st.mount_root)
		return dray_fail(e, DRAY_E_DRIFT, "changed since the plan");
	switch (st.mode & S_IFMT) {
	case S_IFDIR:
		return copy_dir(c, dir, leaf, &st, to_dir, to_leaf, depth, e);
	case S_IFLNK:
		return copy_symlink(c, dir, leaf, &st, to_dir, to_leaf, e);
	case S_IFREG:
		r = copy_link(c, &st, to_dir, to_leaf, e);
		return r == 0 ? copy_file(c, dir, leaf, &st, to_dir, to_leaf, e) : r > 0 ? 0 : -1;
	default:
		return dray_fail(e, DRAY_E_DRIFT, "changed since the plan");
	}
}

static int
copy_inside(struct copying *c, int from, int to, unsigned depth, struct dray_err *e)
{
	struct inst_names l = { .n = 0 };
	size_t len = strlen(c->rel);
	int rc = inst_names_list(from, &l, e);

	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		size_t n = strlen(l.v[i]), at = len;

		if (len + n + 2 > sizeof(c->rel)) {
			rc = dray_fail(e, DRAY_E_SYSTEM, "a path in it is too long");
			break;
		}
		if (at > 0)
			c->rel[at++] = '/';
		memcpy(c->rel + at, l.v[i], n + 1);
		if ((rc = copy_object(c, from, l.v[i], to, l.v[i], depth + 1, e)) == 0)
			rc = inst_stage_stopped(c->s, e);
		c->rel[len] = '\0';
	}
	inst_names_free(&l);
	return rc;
}

static int
copy_one(struct copying *c, const struct inst_op *op, struct dray_err *e)
{
	struct stage_worker *w = &c->s->workers[0];
	char leaf[DRAY_NAME_MAX + 1], to_leaf[DRAY_NAME_MAX + 1], q[DRAY_QUOTE_CAP(255)];
	int dir, to_dir, r;

	r = dray_walk_parent(&w->live, op->path, op->len, &dir, leaf, e);
	if (r > 0)
		r = dray_fail(e, DRAY_E_DRIFT, "went away since the plan");
	if (r == 0)
		r = inst_place_at(&w->place, op->site, op->slot, "", 0, &to_dir, to_leaf, e);
	if (r == 0)
		r = copy_object(c, dir, leaf, to_dir, to_leaf, 0, e);
	for (size_t i = 0; i < c->n_links; i++)
		free(c->links[i].rel);
	c->n_links = 0;
	if (r == 0)
		return 0;
	return e->code == DRAY_E_SIGNAL ? -1 : dray_wrap(e, "copy %s for the way back", dray_quote(op->path, op->len, q, sizeof(q)));
}

int
inst_stage_outputs(struct stage *s, struct dray_err *e)
{
	struct copying c = { .s = s, .top = -1 };
	int rc = 0;

	if (s->p->n_outputs == 0)
		return 0;
	if ((c.buf = malloc(CHUNK)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; rc == 0 && i < s->p->n_swaps; i++)
		if (inst_op_copies(&s->p->ops[i]))
			rc = copy_one(&c, &s->p->ops[i], e);
	free(c.links);
	free(c.buf);
	return rc;
}
