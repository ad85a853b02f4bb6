/*
 * extract_put.c - objects beneath the folder: nothing is opened through a symlink, nothing that exists is touched, every
 * object is made under its own name by a call that fails if the name is taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/extract.h"
#include "dray/attrs.h"
#include "dray/os.h"
#include "dray/pool.h"

int
build_extract_blame(const struct extract *x, uint32_t entry, struct dray_err *e)
{
	char quoted[600];
	struct dray_entry en;

	if (e->code == DRAY_E_SIGNAL)
		return -1;
	dray_index_entry(x->ix, entry, &en);
	return dray_wrap(e, "%s", dray_quote(en.path, en.len, quoted, sizeof(quoted)));
}

static int
blame(const struct extract *x, const struct extract_node *nd, struct dray_err *e)
{
	return build_extract_blame(x, nd->entry, e);
}

static void
state_of(const struct extract *x, const struct extract_node *nd, struct dray_state *s)
{
	struct dray_entry en;

	dray_index_entry(x->ix, nd->entry, &en);
	dray_index_state(x->ix, en.target, s);
}

int
build_extract_place(const struct extract *x, struct dray_walk *w, const struct extract_node *nd, int *dir,
    char leaf[DRAY_NAME_MAX + 1], struct dray_err *e)
{
	struct dray_entry en;
	int rc;

	dray_index_entry(x->ix, nd->entry, &en);
	rc = dray_walk_parent(w, en.path, en.len, dir, leaf, e);
	if (rc > 0)
		return dray_fail(e, DRAY_E_SYSTEM, "the directory above it was %s meanwhile", rc == 1 ? "removed" : "replaced");
	return rc;
}

/* remember what was made, so that a failure can take it away again */
static int
made(struct extract_node *nd, int dir, const char *leaf, struct dray_err *e)
{
	struct dray_stat st;

	if (os_stat_at(dir, leaf, &st) != 0)
		return dray_fail_errno(e, "look at it");
	nd->ino = st.ino;
	nd->made = true;
	return 0;
}

/* which attributes are set here; what is left out is counted when @x is given */
static void
attrs_of(const struct extract *x, const struct extract_node *nd, const struct dray_state *s, struct dray_xattr *room,
    struct dray_attrs_want *want, struct build_extracted *count)
{
	struct dray_attrs a = { 0 };

	dray_index_attrs(x->ix, s->attrs, &a);
	memset(want, 0, sizeof(*want));
	want->has = a.has & (DRAY_HAS_MODE | DRAY_HAS_XATTRS);
	want->mode = a.mode & 07777;
	want->uid = a.uid;
	want->gid = a.gid;
	want->mtime_sec = s->mtime_sec;
	want->mtime_nsec = s->mtime_nsec;
	want->xattrs = room;
	if (s->has_mtime)
		want->has |= DRAY_HAS_MTIME;
	if (x->r->owners)
		want->has |= a.has & (DRAY_HAS_UID | DRAY_HAS_GID);
	/* a setgid directory grants nothing */
	if (!x->o->preserve && nd->type != DRAY_DIR && (a.mode & 06000) != 0) {
		want->mode &= 01777;
		count->left_setuid++;
	}
	for (uint32_t i = 0; i < a.xattr_count; i++) {
		struct dray_xattr *v = &room[want->n_xattrs];

		dray_index_xattr(x->ix, a.xattr_first + i, v);
		/* capabilities, labels, trusted.*: names that say what a program may do */
		if (x->o->preserve || (v->name_len > 5 && memcmp(v->name, "user.", 5) == 0) ||
		    (v->name_len > 17 && memcmp(v->name, "system.posix_acl_", 17) == 0))
			want->n_xattrs++;
		else
			count->left_xattrs++;
	}
}

static int
dress(const struct extract *x, const struct extract_node *nd, int dir, const char *leaf, int fd, struct dray_err *e)
{
	struct build_extracted ignored = { 0 };	/* told by the plan already */
	struct dray_attrs_want want;
	struct dray_xattr *room;
	struct dray_attrs a;
	struct dray_state s;
	int rc;

	state_of(x, nd, &s);
	dray_index_attrs(x->ix, s.attrs, &a);
	if ((room = calloc((size_t)a.xattr_count + 1, sizeof(*room))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	attrs_of(x, nd, &s, room, &want, &ignored);
	rc = dray_attrs_set(dir, leaf, fd, nd->type, &want, e);
	free(room);
	return rc;
}

static int
make_dirs(struct extract *x, struct dray_err *e)
{
	struct dray_walk *w = &x->workers[0].walk;
	char leaf[DRAY_NAME_MAX + 1];
	int dir;

	for (size_t i = 0; i < x->n; i++) {
		struct extract_node *nd = &x->nodes[i];

		if (nd->type != DRAY_DIR || nd->skip)
			continue;
		if (build_extract_place(x, w, nd, &dir, leaf, e) != 0)
			return blame(x, nd, e);
		/* shut until it is whole */
		if (mkdirat(dir, leaf, 0700) != 0) {
			if (errno == EEXIST && nd->parent)
				continue;
			dray_fail_errno(e, "create the directory");
			return blame(x, nd, e);
		}
		if (made(nd, dir, leaf, e) != 0)
			return blame(x, nd, e);
	}
	return 0;
}

static int
make_file(struct extract *x, struct extract_worker *w, struct extract_node *nd, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	int dir, fd, rc;

	if (build_extract_place(x, &w->walk, nd, &dir, leaf, e) != 0)
		return -1;
	fd = openat(dir, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return dray_fail_errno(e, "cannot be created");
	rc = made(nd, dir, leaf, e);
	if (rc == 0)
		rc = build_extract_make(x, w, nd->content, fd, e);
	if (rc == 0)
		rc = dress(x, nd, dir, leaf, fd, e);
	if (close(fd) != 0 && rc == 0)
		rc = dray_fail_errno(e, "cannot be written");
	return rc;
}

static int
file_job(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct extract *x = ctx;
	struct extract_node *nd = &x->nodes[x->files[i] & UINT32_MAX];

	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	return make_file(x, &x->workers[worker], nd, e) == 0 ? 0 : blame(x, nd, e);
}

static int
make_symlink(int dir, const char *leaf, const struct dray_state *s)
{
	char target[DRAY_PATH_MAX];

	memcpy(target, s->target, s->target_len);	/* at most 4095 bytes: the index has seen to it */
	target[s->target_len] = '\0';
	return symlinkat(target, dir, leaf);
}

static int
make_other(const struct extract_node *nd, const struct dray_state *s, int dir, const char *leaf, struct dray_err *e)
{
	switch (nd->type) {
	case DRAY_SYMLINK:
		if (make_symlink(dir, leaf, s) == 0)
			return 0;
		return dray_fail_errno(e, "create the symlink");
	case DRAY_FIFO:
		if (os_mknod_at(dir, leaf, S_IFIFO | 0600, 0, 0) == 0)
			return 0;
		return dray_fail_errno(e, "create the fifo");
	default:
		if (os_mknod_at(dir, leaf, (nd->type == DRAY_CHARDEV ? S_IFCHR : S_IFBLK) | 0600u, s->rdev_major,
		    s->rdev_minor) == 0)
			return 0;
		return dray_fail_errno(e, "create the device");
	}
}

static int
make_others(struct extract *x, struct dray_err *e)
{
	struct dray_walk *w = &x->workers[0].walk;
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_state s;
	int dir;

	for (size_t i = 0; i < x->n; i++) {
		struct extract_node *nd = &x->nodes[i];

		if (nd->type == DRAY_DIR || nd->type == DRAY_FILE || nd->skip || nd->link_to != DRAY_NONE)
			continue;
		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
		state_of(x, nd, &s);
		if (build_extract_place(x, w, nd, &dir, leaf, e) != 0 || make_other(nd, &s, dir, leaf, e) != 0 ||
		    made(nd, dir, leaf, e) != 0 || dress(x, nd, dir, leaf, -1, e) != 0)
			return blame(x, nd, e);
	}
	return 0;
}

/* further names; the object itself is whole by now, so no times change under them */
static int
make_links(struct extract *x, struct dray_err *e)
{
	struct dray_walk from, *to = &x->workers[0].walk;
	char leaf[DRAY_NAME_MAX + 1], first[DRAY_NAME_MAX + 1];
	int dir, first_dir, rc = 0;

	dray_walk_init(&from, x->root);
	for (size_t i = 0; i < x->n && rc == 0; i++) {
		struct extract_node *nd = &x->nodes[i];

		if (nd->link_to == DRAY_NONE || nd->skip)
			continue;
		if (tool_signal_seen() != 0) {
			rc = dray_fail(e, DRAY_E_SIGNAL, "interrupted");
			break;
		}
		if (build_extract_place(x, &from, &x->nodes[nd->link_to], &first_dir, first, e) != 0 ||
		    build_extract_place(x, to, nd, &dir, leaf, e) != 0)
			rc = -1;
		else if (linkat(first_dir, first, dir, leaf, 0) != 0)
			rc = dray_fail_errno(e, "create the hard link");
		else
			rc = made(nd, dir, leaf, e);
		if (rc == 0 && nd->ino != x->nodes[nd->link_to].ino)
			rc = dray_fail(e, DRAY_E_SYSTEM, "what it is a name of was replaced meanwhile");
		if (rc != 0)
			blame(x, nd, e);
	}
	dray_walk_close(&from);
	return rc;
}

/* from below: making and dressing what a directory holds changes its times */
static int
close_dirs(struct extract *x, struct dray_err *e)
{
	struct dray_walk *w = &x->workers[0].walk;
	char leaf[DRAY_NAME_MAX + 1];
	int dir;

	for (size_t i = x->n; i-- > 0;) {
		const struct extract_node *nd = &x->nodes[i];

		if (nd->type != DRAY_DIR || !nd->made)
			continue;
		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
		if (build_extract_place(x, w, nd, &dir, leaf, e) != 0 || dress(x, nd, dir, leaf, -1, e) != 0)
			return blame(x, nd, e);
	}
	return 0;
}

/* numbers of the report, and what was left out of the attributes */
static int
count(struct extract *x, struct dray_err *e)
{
	struct build_extracted *r = x->r;

	for (size_t i = 0; i < x->n; i++) {
		const struct extract_node *nd = &x->nodes[i];
		struct dray_attrs_want want;
		struct dray_xattr *room;
		struct dray_attrs a;
		struct dray_state s;

		if (!nd->made)
			continue;
		r->paths++;
		if (nd->link_to != DRAY_NONE) {
			r->links++;
			continue;
		}
		r->files += nd->type == DRAY_FILE;
		r->dirs += nd->type == DRAY_DIR;
		r->symlinks += nd->type == DRAY_SYMLINK;
		r->others += nd->type > DRAY_SYMLINK;
		if (nd->type == DRAY_FILE)
			r->bytes += build_extract_size(x, nd->content);
		state_of(x, nd, &s);
		dray_index_attrs(x->ix, s.attrs, &a);
		if ((room = calloc((size_t)a.xattr_count + 1, sizeof(*room))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		attrs_of(x, nd, &s, room, &want, r);
		free(room);
	}
	r->full = x->full;
	r->copy = x->copy;
	r->delta = x->delta;
	return 0;
}

int
build_extract_put(struct extract *x, struct dray_err *e)
{
	int rc;

	if (make_dirs(x, e) != 0)
		return -1;
	tool_progress_begin(&x->progress, x->o->common, "extract", x->total);
	rc = dray_parallel(x->threads, x->n_files, 16, file_job, x, e);
	tool_progress_end(&x->progress, rc == 0);
	if (rc != 0 || make_others(x, e) != 0 || make_links(x, e) != 0 || close_dirs(x, e) != 0)
		return -1;
	return count(x, e);
}
