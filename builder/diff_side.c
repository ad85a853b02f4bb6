/*
 * diff_side.c - one side of a comparison: a bundle, or a tree or archive read as build reads it; the same items of both.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/diff.h"
#include "builder/source.h"

/* an archive of another kind is read as a tree; a bundle that is damaged is still a bundle */
static bool
looks_like_bundle(int fd)
{
	char name[10] = "";

	return pread(fd, name, sizeof(name), 0) == (ssize_t)sizeof(name) && memcmp(name, "dray.json", 10) == 0;
}

static int
open_bundle(struct diff_side *s, const struct build_diff_opts *o, struct dray_err *e)
{
	const struct tool_look look = { .common = o->common, .name = s->name, .keyring = o->keyring };
	char quoted[400];

	if (tool_look_open(s->fd, &look, &s->b, e) != 0)
		return dray_wrap(e, "%s", dray_quote(s->name, strlen(s->name), quoted, sizeof(quoted)));
	s->ix = dray_bundle_index(s->b);
	s->n = dray_index_rows(s->ix, DRAY_T_ENTRIES);
	return 0;
}

static int
open_source(struct diff_side *s, const struct build_diff_opts *o, struct dray_err *e)
{
	const char *tmp = getenv("TMPDIR");
	struct tool_progress p;
	struct build_scan_opts so = { .threads = (unsigned)o->common->jobs, .progress = tool_progress_tell, .ctx = &p,
		.spool_dir = tmp == NULL || *tmp == '\0' ? "/tmp" : tmp };
	int rc;

	tool_progress_begin(&p, o->common, "read", 0);
	rc = build_source_load(s->name, &so, &s->r, e);
	tool_progress_end(&p, rc == 0);
	if (rc == 0)
		s->n = (uint32_t)s->r->n;
	return rc;
}

int
build_diff_open(struct diff_side *s, const struct build_diff_opts *o, const char *name, struct dray_err *e)
{
	struct dray_err ignored = { 0 };

	*s = (struct diff_side){ .name = name, .fd = -1 };
	/* whatever keeps it from being opened as a file is told better by the source */
	if (tool_bundle_fd(name, &s->fd, &ignored) == 0) {
		if (looks_like_bundle(s->fd))
			return open_bundle(s, o, e);
		close(s->fd);
		s->fd = -1;
	}
	return open_source(s, o, e);
}

void
build_diff_close(struct diff_side *s)
{
	dray_bundle_close(s->b);
	build_release_free(s->r);
	if (s->fd != -1)
		close(s->fd);	/* read only */
}

void
build_diff_state(const struct dray_index *ix, uint32_t row, const char *path, size_t len, struct diff_item *out)
{
	struct dray_entry first;
	struct dray_content c;
	struct dray_attrs a;
	struct dray_state s;

	*out = (struct diff_item){ .path = path, .len = len, .ix = ix };
	if (row == DRAY_NONE)
		return;
	dray_index_state(ix, row, &s);
	dray_index_attrs(ix, s.attrs, &a);
	out->type = s.type;
	out->has = a.has | (s.has_mtime ? DRAY_HAS_MTIME : 0);
	out->mode = a.mode;
	out->uid = a.uid;
	out->gid = a.gid;
	out->flags = a.flags;
	out->rdev_major = s.rdev_major;
	out->rdev_minor = s.rdev_minor;
	out->mtime_sec = s.mtime_sec;
	out->mtime_nsec = s.mtime_nsec;
	out->target = s.target;
	out->target_len = s.target_len;
	out->xattr_first = a.xattr_first;
	out->n_xattrs = a.xattr_count;
	if (s.type == DRAY_FILE) {
		dray_index_content(ix, s.content, &c);
		out->size = c.size;
		out->sha256 = c.sha256;
	}
	if (s.link != 0) {
		dray_index_entry(ix, s.link - 1, &first);
		out->link = first.path;
		out->link_len = first.len;
	}
}

void
build_diff_item(const struct diff_side *s, uint32_t i, struct diff_item *out)
{
	const struct build_node *nd;
	struct dray_entry en;

	if (s->b != NULL) {
		dray_index_entry(s->ix, i, &en);
		build_diff_state(s->ix, en.target, en.path, en.len, out);
		return;
	}
	nd = &s->r->v[i];
	*out = (struct diff_item){ .path = nd->path, .len = nd->len, .type = nd->type, .has = nd->has, .mode = nd->mode,
		.uid = nd->uid, .gid = nd->gid, .flags = nd->flags, .rdev_major = nd->rdev_major, .rdev_minor = nd->rdev_minor,
		.mtime_sec = nd->mtime_sec, .mtime_nsec = nd->mtime_nsec, .size = nd->size, .sha256 = nd->sha256,
		.target = nd->target, .target_len = nd->target_len, .xattrs = nd->xattrs, .n_xattrs = nd->n_xattrs };
	if (nd->link != 0) {
		out->link = s->r->v[nd->link - 1].path;
		out->link_len = s->r->v[nd->link - 1].len;
	}
}

void
build_diff_xattr(const struct diff_item *it, uint32_t i, struct dray_xattr *x)
{
	if (it->xattrs != NULL)
		*x = it->xattrs[i];
	else
		dray_index_xattr(it->ix, it->xattr_first + i, x);
}
