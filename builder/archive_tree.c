/*
 * archive_tree.c - the source "archive": what the members of archives mean as a tree.
 *
 * As if each were unpacked over the one before, but on names alone: nothing is ever written under a name of an archive.
 * At the end every name must lie beneath directories.
 */
#include <string.h>
#include <sys/stat.h>

#include "builder/archive.h"
#include "builder/archive_tree.h"
#include "builder/pathset.h"
#include "dray/meter.h"
#include "dray/path.h"
#include "tool/tool.h"

/*
 * @raw as a path of a release: without slashes in front and at the end, without "." and doubled slashes. What leads out
 * is refused. *len 0: the root itself.
 */
static int
clean_path(const char *raw, const char *what, char to[DRAY_PATH_MAX], size_t *len, struct dray_err *e)
{
	const char *why;

	*len = 0;
	for (const char *p = raw; *p != '\0';) {
		size_t n = strcspn(p, "/");

		if (n > 0 && !(n == 1 && *p == '.')) {
			if (*len + n + 1 >= DRAY_PATH_MAX)
				return dray_fail(e, DRAY_E_FORMAT, "%s will not do: it is longer than 4095 bytes", what);
			if (*len > 0)
				to[(*len)++] = '/';
			memcpy(to + *len, p, n);
			*len += n;
		}
		p += n;
		p += *p == '/';
	}
	to[*len] = '\0';
	if (*len > 0 && !dray_path_ok(to, *len, &why))
		return dray_fail(e, DRAY_E_FORMAT, "%s will not do: %s", what, why);
	return 0;
}

/* how much of @path is a directory above it that is known to stay; else deep paths would be matched part by part again */
static size_t
known_clear(const struct build_tree *t, const char *path, size_t len)
{
	size_t known = 0;

	for (size_t i = 0; i <= t->clear_len && i < len; i++) {
		bool ends = i == t->clear_len || t->clear[i] == '/';

		if (ends && path[i] == '/')
			known = i;
		if (i == t->clear_len || t->clear[i] != path[i])
			break;
	}
	return known;
}

/* 1: pack it; 0: it is left out, and noted; *hollow: what it holds is left out */
static int
wanted(struct build_tree *t, const char *path, size_t len, bool dir, bool *hollow, struct dray_err *e)
{
	struct build_notice why;

	*hollow = false;
	for (size_t n = known_clear(t, path, len) + 1; n <= len; n++) {
		enum build_fate fate;

		if (n < len && path[n] != '/')
			continue;
		if (dray_path_reserved(path, n))
			return build_tree_note(t, path, n, "a reserved name: dray keeps its own state there, not packed", false, e);
		fate = build_filter_path(t->o->filter, path, n, dir || n < len, &why);
		if (fate == BUILD_LEAVE_OUT || (fate == BUILD_HOLLOW && n < len))
			return build_tree_note(t, path, n, why.why, why.quiet, e);
		*hollow = fate == BUILD_HOLLOW;
		if (n < len) {
			memcpy(t->clear, path, n);
			t->clear_len = n;
		}
	}
	return 1;
}

static int
take_xattrs(struct build_tree *t, const struct build_member *m, struct build_node *nd, struct dray_err *e)
{
	struct build_arena *arena = &t->r->arenas[0];
	struct dray_xattr *v;
	uint32_t n = 0;

	if (m->n_xattrs == 0)
		return 0;
	if ((v = build_arena_take(arena, m->n_xattrs * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < m->n_xattrs; i++) {
		const struct dray_xattr *x = &m->xattrs[i];
		char quoted[DRAY_QUOTE_CAP(DRAY_NAME_MAX)];

		if (!build_xattr_wanted(t->o, x->name))
			continue;
		dray_quote(x->name, x->name_len, quoted, sizeof(quoted));
		if (x->name_len == 0 || x->name_len > DRAY_NAME_MAX)
			return dray_fail(e, DRAY_E_FORMAT, "the name of attribute %s is not 1 to 255 bytes long", quoted);
		if (x->len > BUILD_XATTR_MAX)
			return dray_fail(e, DRAY_E_FORMAT, "attribute %s is longer than %u bytes", quoted, BUILD_XATTR_MAX);
		v[n] = *x;
		v[n].name = build_arena_copy(arena, x->name, x->name_len);
		v[n].value = (const uint8_t *)build_arena_copy(arena, x->value, x->len);
		if (v[n].name == NULL || v[n].value == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		n++;
	}
	nd->xattrs = v;
	nd->n_xattrs = n;
	return 0;
}

static int
take_meta(struct build_tree *t, const struct build_member *m, bool hollow, struct build_node *nd, struct dray_err *e)
{
	size_t n;

	nd->has = DRAY_HAS_UID | DRAY_HAS_GID;
	nd->uid = m->uid;
	nd->gid = m->gid;
	if (nd->type != DRAY_SYMLINK) {
		nd->has |= DRAY_HAS_MODE;
		nd->mode = m->mode & 07777u;
	}
	if (hollow) {
		nd->hollow = true;
		return 0;
	}
	if (m->has_mtime) {
		nd->has |= DRAY_HAS_MTIME;
		nd->mtime_sec = m->mtime_sec;
		nd->mtime_nsec = m->mtime_nsec;
	}
	if ((nd->type == DRAY_FILE || nd->type == DRAY_DIR) && m->has_xattrs) {
		nd->has |= DRAY_HAS_XATTRS;
		if (take_xattrs(t, m, nd, e) != 0)
			return -1;
	}
	if (nd->type == DRAY_CHARDEV || nd->type == DRAY_BLOCKDEV) {
		nd->rdev_major = m->rdev_major;
		nd->rdev_minor = m->rdev_minor;
	}
	if (nd->type != DRAY_SYMLINK)
		return 0;
	n = m->target == NULL ? 0 : strlen(m->target);
	if (n == 0 || n >= DRAY_PATH_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "the target of this symlink is not 1 to 4095 bytes long");
	if ((nd->target = build_arena_copy(&t->r->arenas[0], m->target, n)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	nd->target_len = (uint32_t)n;
	return 0;
}

static int
take_data(struct build_tree *t, struct build_archive *a, const struct build_member *m, struct build_node *nd,
    struct dray_err *e)
{
	uint64_t at, end = m->has_size ? m->size : 0;
	const void *p;
	size_t len;
	int rc;

	if (end > BUILD_CONTENT_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "larger than 1 TiB");
	if (build_spool_begin(t->spool, e) != 0)
		return -1;
	while ((rc = build_archive_data(a, &p, &len, &at, e)) > 0) {
		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
		if (len > 0 && m->has_size && (at > m->size || len > m->size - at))
			return dray_fail(e, DRAY_E_FORMAT, "the archive is damaged: the contents are longer than told");
		if (len > 0 && build_spool_put(t->spool, at, p, len, e) != 0)
			return -1;
		if (len > 0 && at + len > end)
			end = at + len;
		if (t->o->progress != NULL)
			t->o->progress(t->o->ctx, &(struct dray_progress){
			    .done = t->done + build_archive_done(a), .total = t->total });
	}
	if (rc < 0)
		return -1;
	nd->size = end;
	return build_spool_end(t->spool, end, nd->sha256, &nd->at, e);
}

/* one more name for an object; where the format puts the contents behind the last of its names, take them */
static int
take_link(struct build_tree *t, struct build_archive *a, const struct build_member *m, const char *path, size_t len,
    struct dray_err *e)
{
	char target[DRAY_PATH_MAX], quoted[300];
	struct build_name *to;
	size_t target_len;
	bool hollow;
	int rc;

	if (clean_path(m->hard_link, "the target of this hard link", target, &target_len, e) != 0)
		return -1;
	dray_quote(target, target_len, quoted, sizeof(quoted));
	if (target_len == len && memcmp(target, path, len) == 0)
		return dray_fail(e, DRAY_E_FORMAT, "a hard link to itself");
	if (target_len == 0)
		return dray_fail(e, DRAY_E_FORMAT, "a hard link to a directory");
	if ((rc = wanted(t, target, target_len, false, &hollow, e)) < 0)
		return -1;
	if (rc == 0) {
		dray_fail(e, DRAY_E_USAGE, "a hard link to %s, which is left out", quoted);
		return dray_hint(e, "leave out all names of a file or none");
	}
	if ((to = build_tree_find(t, target, target_len)) != NULL && to->object != BUILD_NO_OBJECT) {
		struct build_node *nd = &t->objects[to->object];

		if (nd->type == DRAY_DIR)
			return dray_fail(e, DRAY_E_FORMAT, "a hard link to a directory");
		if (build_tree_bind(t, path, len, to->object, e) != 0)
			return -1;
		return nd->type == DRAY_FILE && m->size > 0 ? take_data(t, a, m, nd, e) : 0;
	}
	if (m->size > 0)
		return dray_fail(e, DRAY_E_FORMAT, "a hard link with contents to %s, which is not there", quoted);
	return build_tree_promise(t, path, len, target, target_len, e);
}

static uint8_t
type_of(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return DRAY_FILE;
	case S_IFDIR:
		return DRAY_DIR;
	case S_IFLNK:
		return DRAY_SYMLINK;
	case S_IFIFO:
		return DRAY_FIFO;
	case S_IFCHR:
		return DRAY_CHARDEV;
	case S_IFBLK:
		return DRAY_BLOCKDEV;
	default:
		return DRAY_ABSENT;
	}
}

static int
take_member(struct build_tree *t, struct build_archive *a, const struct build_member *m, struct dray_err *e)
{
	uint8_t type = type_of(m->mode);
	char path[DRAY_PATH_MAX];
	uint32_t number;
	size_t len;
	bool hollow;
	int rc;

	if (clean_path(m->path, "this name", path, &len, e) != 0)
		return -1;
	if (len == 0)	/* the root: its attributes belong to the machine */
		return type == DRAY_DIR && m->hard_link == NULL ? 0 :
		    dray_fail(e, DRAY_E_FORMAT, "the root of the tree, but no directory");
	if ((rc = wanted(t, path, len, type == DRAY_DIR, &hollow, e)) <= 0)
		return rc;
	if (m->has_flags && build_tree_note(t, path, len, "has file flags: they are not packed", false, e) != 0)
		return -1;
	if (m->hard_link != NULL)
		return take_link(t, a, m, path, len, e);
	if (type == DRAY_ABSENT)
		return build_tree_note(t, path, len, (m->mode & S_IFMT) == S_IFSOCK ? "a socket: sockets are not packed" :
		    "an object of unknown type: not packed", false, e);
	if (build_tree_object(t, &number, e) != 0)
		return -1;
	t->objects[number].type = type;
	if (take_meta(t, m, hollow, &t->objects[number], e) != 0 ||
	    (type == DRAY_FILE && take_data(t, a, m, &t->objects[number], e) != 0))
		return -1;
	return build_tree_bind(t, path, len, number, e);
}

static int
read_archive(struct build_tree *t, const char *path, struct dray_err *e)
{
	struct build_archive *a = NULL;
	struct build_member m;
	int rc;

	if (build_archive_open(path, &a, e) != 0)
		return -1;
	while ((rc = build_archive_next(a, &m, e)) > 0) {
		if (tool_signal_seen() != 0) {
			rc = dray_fail(e, DRAY_E_SIGNAL, "interrupted");
			break;
		}
		if (take_member(t, a, &m, e) != 0) {
			rc = e->code == DRAY_E_SIGNAL ? -1 : build_archive_name_err(m.path, e);
			break;
		}
	}
	if (rc == 0)
		rc = build_tree_keep(t, e);
	t->done += build_archive_bytes(a);
	build_archive_close(a);
	return rc;
}

static int
open_content(const struct build_release *r, const struct build_node *nd, struct build_reader *out,
    struct dray_err *e)
{
	(void)e;
	*out = (struct build_reader){ .fd = build_spool_fd(r->source), .at = nd->at, .len = nd->size };
	return 0;
}

static void
close_source(struct build_release *r)
{
	build_spool_free(r->source);
	r->source = NULL;
}

int
build_scan_archives(const char *const *paths, size_t n, const struct build_scan_opts *o, struct build_release *r,
    struct dray_err *e)
{
	struct build_tree t = { .o = o, .r = r };
	char quoted[300];
	struct stat st;
	int rc = -1;

	r->open = open_content;
	r->close = close_source;
	if (build_spool_new(o->spool_dir == NULL ? "." : o->spool_dir, &t.spool, e) != 0)
		return -1;
	r->source = t.spool;
	for (size_t i = 0; i < n; i++)
		t.total += stat(paths[i], &st) == 0 ? (uint64_t)st.st_size : 0;
	for (size_t i = 0; i < n; i++) {
		dray_quote(paths[i], strlen(paths[i]), quoted, sizeof(quoted));
		if ((t.archive = build_arena_copy(&r->arenas[0], quoted, strlen(quoted))) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
		if (read_archive(&t, paths[i], e) != 0) {
			if (e->code != DRAY_E_SIGNAL)
				dray_wrap(e, "%s", quoted);
			goto out;
		}
	}
	rc = build_tree_finish(&t, e);
out:
	build_tree_free(&t);
	return rc;
}
