/*
 * scan.c - the source "dir": list the tree, hash every regular file on all cores, group hard links. A file that
 * changes while it is read is an error: a bundle of a tree in motion would describe a state that never was.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/scan.h"
#include "dray/pool.h"
#include "tool/tool.h"

struct dir_source {
	int root;
	pthread_mutex_t lock;		/* of the walk */
	struct dray_walk walk;		/* for opening contents again */
};

void
build_scan_meta(const struct dray_stat *st, struct build_node *nd)
{
	nd->has = DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_MTIME;
	if (nd->type != DRAY_SYMLINK) {	/* a symlink has no mode of its own */
		nd->has |= DRAY_HAS_MODE;
		nd->mode = st->mode & 07777u;
	}
	if (nd->type == DRAY_FILE || nd->type == DRAY_DIR)
		nd->has |= DRAY_HAS_XATTRS;
	nd->uid = st->uid;
	nd->gid = st->gid;
	nd->mtime_sec = st->mtime_sec;
	nd->mtime_nsec = st->mtime_nsec;
	if (nd->type == DRAY_CHARDEV || nd->type == DRAY_BLOCKDEV) {
		nd->rdev_major = st->rdev_major;
		nd->rdev_minor = st->rdev_minor;
	}
	if (nd->type == DRAY_FILE)
		nd->size = st->size;
	nd->dev = st->dev;
	nd->ino = st->ino;
	nd->nlink = st->nlink;
}

int
build_scan_open(struct dray_walk *walk, const struct build_node *nd, int flags, int *fd, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	int dir, rc;

	*fd = -1;
	if ((rc = dray_walk_parent(walk, nd->path, nd->len, &dir, leaf, e)) < 0)
		return -1;
	if (rc > 0)
		return dray_fail(e, DRAY_E_IO, "vanished while the tree was read");
	/* NONBLOCK: should a fifo have taken the place of the file, we must not wait for a writer */
	*fd = openat(dir, leaf, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags);
	if (*fd != -1)
		return 0;
	if (errno == ENOENT)
		return dray_fail(e, DRAY_E_IO, "vanished while the tree was read");
	/* a symlink (FreeBSD: EMLINK), no directory, a socket in its place */
	if (errno == ELOOP || errno == EMLINK || errno == ENOTDIR || errno == ENXIO)
		return dray_fail(e, DRAY_E_IO, "changed while the tree was read");
	return dray_fail_errno(e, "cannot be read");
}

static bool
same_object(const struct dray_stat *a, const struct dray_stat *b)
{
	return a->mode == b->mode && a->uid == b->uid && a->gid == b->gid && a->ino == b->ino && a->dev == b->dev &&
	    a->size == b->size && a->nlink == b->nlink && a->mtime_sec == b->mtime_sec &&
	    a->mtime_nsec == b->mtime_nsec && a->ctime_sec == b->ctime_sec && a->ctime_nsec == b->ctime_nsec;
}

static bool
same_as_listed(const struct build_node *nd, const struct dray_stat *st)
{
	return (st->mode & 07777u) == nd->mode && st->uid == nd->uid && st->gid == nd->gid && st->ino == nd->ino &&
	    st->size == nd->size && st->mtime_sec == nd->mtime_sec && st->mtime_nsec == nd->mtime_nsec;
}

/* a large file is neither silent nor deaf to signals while it is read */
static int
watch(void *ctx, size_t len, struct dray_err *e)
{
	struct build_scan *s = ctx;

	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	dray_meter_add(&s->meter, len, len * DRAY_COST_HASH);
	return 0;
}

static int
hash_node(struct build_scan *s, struct build_scan_worker *w, struct build_node *nd, struct dray_err *e)
{
	const struct dray_watch each = { watch, s };
	struct dray_stat before, after;
	uint64_t size;
	int fd, rc = -1;

	if (build_scan_open(&w->walk, nd, 0, &fd, e) != 0)
		return -1;
	if (os_stat_at(fd, "", &before) != 0) {
		dray_fail_errno(e, "cannot be read");
		goto out;
	}
	if (!S_ISREG(before.mode) || !same_as_listed(nd, &before)) {
		dray_fail(e, DRAY_E_IO, "changed while the tree was read");
		goto out;
	}
	if (dray_sha256_fd_watch(w->sha, fd, w->buf, BUILD_SCAN_BUF, &each, &size, nd->sha256, e) != 0 ||
	    build_scan_xattrs(s->o, w, fd, nd, e) != 0)
		goto out;
	if (os_stat_at(fd, "", &after) != 0) {
		dray_fail_errno(e, "cannot be read");
		goto out;
	}
	if (size != nd->size || !same_object(&before, &after)) {
		dray_fail(e, DRAY_E_IO, "changed while it was read");
		goto out;
	}
	rc = 0;
out:
	close(fd);
	return rc;
}

static int
hash_one(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct build_scan *s = ctx;
	struct build_node *nd = &s->r->v[i];

	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	/* of a hard-link group the first one is read, see copy_links */
	if (nd->type != DRAY_FILE || (nd->link != 0 && nd->link != i + 1))
		return 0;
	if (hash_node(s, &s->workers[worker], nd, e) == 0) {
		dray_meter_add(&s->meter, 0, DRAY_COST_FILE);
		return 0;
	}
	if (e->code == DRAY_E_IO)
		dray_hint(e, "build from a tree that is at rest and that you may read; nothing was written");
	return build_path_err(e, s->r, nd->path, nd->len);
}

/* other names of one inode: the same bytes and attributes, unless it changed between two looks */
static int
copy_links(struct build_release *r, struct dray_err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		struct build_node *nd = &r->v[i];
		const struct build_node *first;

		if (nd->type != DRAY_FILE || nd->link == 0 || nd->link == i + 1)
			continue;
		first = &r->v[nd->link - 1];
		if (nd->size != first->size || nd->mode != first->mode || nd->uid != first->uid ||
		    nd->gid != first->gid || nd->mtime_sec != first->mtime_sec ||
		    nd->mtime_nsec != first->mtime_nsec) {
			dray_fail(e, DRAY_E_IO, "changed while the tree was read");
			return build_path_err(e, r, nd->path, nd->len);
		}
		memcpy(nd->sha256, first->sha256, sizeof(nd->sha256));
		nd->xattrs = first->xattrs;
		nd->n_xattrs = first->n_xattrs;
	}
	return 0;
}

static int
open_content(const struct build_release *r, const struct build_node *nd, struct build_reader *out,
    struct dray_err *e)
{
	struct dir_source *d = r->source;
	struct dray_stat st;
	int rc;

	*out = (struct build_reader){ .fd = -1, .len = nd->size, .owned = true };
	pthread_mutex_lock(&d->lock);
	rc = build_scan_open(&d->walk, nd, 0, &out->fd, e);
	pthread_mutex_unlock(&d->lock);
	if (rc != 0)
		return -1;
	/* what was read first still stands there when something was appended; its owner may be mapped by now */
	if (os_stat_at(out->fd, "", &st) == 0 && st.size == nd->size && st.mtime_sec == nd->mtime_sec &&
	    st.mtime_nsec == nd->mtime_nsec)
		return 0;
	close(out->fd);
	out->fd = -1;
	return dray_fail(e, DRAY_E_IO, "changed since the tree was read");
}

static void
close_source(struct build_release *r)
{
	struct dir_source *d = r->source;

	if (d == NULL)
		return;
	dray_walk_close(&d->walk);
	pthread_mutex_destroy(&d->lock);
	if (d->root != -1)
		close(d->root);
	free(d);
	r->source = NULL;
}

static int
gather_notices(struct build_scan *s, struct dray_err *e)
{
	struct build_release *r = s->r;
	/* the caller sorts them, so that it does not show which thread saw what */
	for (unsigned i = 0; i < s->threads; i++)
		for (size_t k = 0; k < s->workers[i].n_notices; k++)
			if (build_release_note(r, &s->workers[i].notices[k], e) != 0)
				return -1;
	return 0;
}

static int
start_workers(struct build_scan *s, struct dray_err *e)
{
	if ((s->workers = calloc(s->threads, sizeof(*s->workers))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned i = 0; i < s->threads; i++)
		dray_walk_init(&s->workers[i].walk, s->root);
	for (unsigned i = 0; i < s->threads; i++) {
		s->workers[i].arena = &s->r->arenas[i];
		if ((s->workers[i].buf = malloc(BUILD_SCAN_BUF)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (dray_sha256_new(&s->workers[i].sha, e) != 0)
			return -1;
	}
	return 0;
}

static void
stop_workers(struct build_scan *s)
{
	for (unsigned i = 0; s->workers != NULL && i < s->threads; i++) {
		dray_walk_close(&s->workers[i].walk);
		dray_sha256_free(s->workers[i].sha);
		free(s->workers[i].buf);
		free(s->workers[i].notices);
	}
	free(s->workers);
}

int
build_scan_dir(const char *path, const struct build_scan_opts *o, struct build_release *r, struct dray_err *e)
{
	struct build_scan s = { .o = o, .r = r, .threads = o->threads, .meter = { .tell = o->progress, .ctx = o->ctx } };
	struct dir_source *d = calloc(1, sizeof(*d));
	int rc = -1;

	if (d == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	pthread_mutex_init(&d->lock, NULL);
	r->source = d;
	r->close = close_source;
	r->open = open_content;
	d->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dray_walk_init(&d->walk, d->root);
	if (d->root == -1 || os_stat_at(d->root, "", &s.root_st) != 0) {
		dray_fail_errno(e, "cannot be read");
		return dray_wrap(e, "%s", r->name);
	}
	s.root = d->root;
	if (start_workers(&s, e) != 0 || build_scan_list(&s, e) != 0)
		goto out;
	if (build_release_sort(r, e) != 0 || build_release_group(r, e) != 0)
		goto out;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].type == DRAY_FILE && (r->v[i].link == 0 || r->v[i].link == i + 1)) {
			s.meter.total += r->v[i].size;
			s.meter.costs += dray_cost_file(r->v[i].size);
		}
	/* listing is over, and took its part */
	s.meter.costs += r->n * DRAY_COST_LIST;
	dray_meter_add(&s.meter, 0, r->n * DRAY_COST_LIST);
	if (dray_parallel(s.threads, r->n, 8, hash_one, &s, e) != 0)
		goto out;
	if (copy_links(r, e) != 0 || gather_notices(&s, e) != 0)
		goto out;
	rc = 0;
out:
	stop_workers(&s);
	return rc;
}
