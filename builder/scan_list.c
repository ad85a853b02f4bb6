/*
 * scan_list.c - first pass of the directory source: list the directories level by level, one directory per job.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/layout.h"
#include "builder/pathset.h"
#include "builder/scan.h"
#include "dray/pool.h"
#include "tool/tool.h"

/* what one directory holds; joined in the order of the directories */
struct listing {
	struct build_node *v;
	size_t n, cap;
};

struct level {
	struct build_scan *s;
	const size_t *dirs;		/* node numbers; NULL: the root */
	struct listing *lists;
};

static const char *const not_packed[] = {
	"a socket: sockets are not packed",
	"a reserved name: dray keeps its own state there, not packed",
	"another file system is mounted here: not packed",
	"an object of unknown type: not packed",
	"a hard link to something that is no file: packed as an object of its own",
};
enum { WHY_SOCKET, WHY_RESERVED, WHY_MOUNT, WHY_UNKNOWN, WHY_LINK };

static int
note_text(struct build_scan_worker *w, const char *path, size_t len, const char *why, bool quiet, struct dray_err *e)
{
	if (w->n_notices == w->cap_notices) {
		size_t cap = w->cap_notices == 0 ? 16 : w->cap_notices * 2;
		struct build_notice *v = realloc(w->notices, cap * sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		w->notices = v;
		w->cap_notices = cap;
	}
	if ((path = build_arena_copy(w->arena, path, len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	w->notices[w->n_notices++] = (struct build_notice){ path, len, why, quiet };
	return 0;
}

static int
note(struct build_scan_worker *w, const char *path, size_t len, unsigned why, struct dray_err *e)
{
	return note_text(w, path, len, not_packed[why], false, e);
}

static struct build_node *
list_add(struct listing *l)
{
	if (l->n == l->cap) {
		size_t cap = l->cap == 0 ? 16 : l->cap * 2;
		struct build_node *v;

		if (cap > SIZE_MAX / sizeof(*v) || (v = realloc(l->v, cap * sizeof(*v))) == NULL)
			return NULL;
		l->v = v;
		l->cap = cap;
	}
	memset(&l->v[l->n], 0, sizeof(l->v[0]));
	return &l->v[l->n++];
}

static bool
other_mount(const struct build_scan *s, const char *path, size_t len, const struct dray_stat *st)
{
	if (s->o->mounts != NULL && build_patterns_cover(s->o->mounts, path, len) != NULL)
		return false;
	if (st->mount_root)
		return true;
	/* the mount tells more than the device: overlay and subvolumes show several devices in one mount */
	if (st->mnt_id != 0 && s->root_st.mnt_id != 0)
		return st->mnt_id != s->root_st.mnt_id;
	return st->dev != s->root_st.dev;
}

static uint8_t
type_of(uint32_t mode)
{
	if (S_ISREG(mode))
		return DRAY_FILE;
	if (S_ISDIR(mode))
		return DRAY_DIR;
	if (S_ISLNK(mode))
		return DRAY_SYMLINK;
	if (S_ISFIFO(mode))
		return DRAY_FIFO;
	if (S_ISCHR(mode))
		return DRAY_CHARDEV;
	return S_ISBLK(mode) ? DRAY_BLOCKDEV : DRAY_ABSENT;
}

static int
read_target(struct build_scan_worker *w, int dir, const char *name, struct build_node *nd, struct dray_err *e)
{
	char buf[DRAY_PATH_MAX];
	ssize_t n = readlinkat(dir, name, buf, sizeof(buf));

	if (n < 0)
		return dray_fail_errno(e, "cannot be read");
	if (n == 0 || (size_t)n >= sizeof(buf))
		return dray_fail(e, DRAY_E_FORMAT, "the target of this symlink is not 1 to 4095 bytes long");
	if ((nd->target = build_arena_copy(w->arena, buf, (size_t)n)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	nd->target_len = (uint32_t)n;
	return 0;
}

/* @path, @len: of the new object; @name: its last part */
static int
take_object(struct build_scan *s, struct build_scan_worker *w, int dir, const char *name, const char *path,
    size_t len, struct listing *l, struct dray_err *e)
{
	struct build_notice left;
	struct dray_stat st;
	struct build_node *nd;
	enum build_fate fate;
	const char *why;
	uint8_t type;

	if (dray_path_reserved(path, len))
		return note(w, path, len, WHY_RESERVED, e);
	if (!dray_path_ok(path, len, &why))
		return dray_fail(e, DRAY_E_FORMAT, "%s", why);
	if (os_stat_at(dir, name, &st) != 0) {
		if (errno == ENOENT)
			return dray_fail(e, DRAY_E_IO, "vanished while the tree was read");
		return dray_fail_errno(e, "cannot be read");
	}
	fate = build_filter_path(s->o->filter, path, len, S_ISDIR(st.mode), &left);
	if (fate == BUILD_LEAVE_OUT)
		return note_text(w, path, len, left.why, left.quiet, e);
	/* of a hollow directory only the name, mode and owner count: what is mounted there does not matter */
	if (fate != BUILD_HOLLOW && other_mount(s, path, len, &st))
		return note(w, path, len, WHY_MOUNT, e);
	if ((type = type_of(st.mode)) == DRAY_ABSENT)
		return note(w, path, len, S_ISSOCK(st.mode) ? WHY_SOCKET : WHY_UNKNOWN, e);
	if (type != DRAY_FILE && type != DRAY_DIR && st.nlink > 1 && note(w, path, len, WHY_LINK, e) != 0)
		return -1;
	if ((nd = list_add(l)) == NULL || (nd->path = build_arena_copy(w->arena, path, len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	nd->len = (uint32_t)len;
	nd->type = type;
	build_scan_meta(&st, nd);
	if (fate == BUILD_HOLLOW) {
		nd->hollow = true;
		nd->has &= (uint16_t)~(DRAY_HAS_MTIME | DRAY_HAS_XATTRS);
		return note_text(w, path, len, left.why, left.quiet, e);
	}
	return type == DRAY_SYMLINK ? read_target(w, dir, name, nd, e) : 0;
}

static int
read_names(struct build_scan *s, struct build_scan_worker *w, DIR *d, const char *base, size_t base_len,
    struct listing *l, struct dray_err *e)
{
	char path[DRAY_PATH_MAX + DRAY_NAME_MAX + 2];
	const struct dirent *de;

	if (base_len >= DRAY_PATH_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "the path is too long");
	for (errno = 0; (de = readdir(d)) != NULL; errno = 0) {
		size_t n = strlen(de->d_name), len = base_len;

		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		if (n > DRAY_NAME_MAX) {
			dray_fail(e, DRAY_E_FORMAT, "a name is longer than 255 bytes");
			return build_path_err(e, s->r, base, base_len);
		}
		if (len > 0) {
			memcpy(path, base, len);
			path[len++] = '/';
		}
		memcpy(path + len, de->d_name, n + 1);
		len += n;
		if (take_object(s, w, dirfd(d), de->d_name, path, len, l, e) != 0)
			return build_path_err(e, s->r, path, len);
	}
	if (errno != 0) {
		dray_fail_errno(e, "cannot be read");
		return build_path_err(e, s->r, base, base_len);
	}
	return 0;
}

static bool
dir_moved(const struct dray_stat *a, const struct dray_stat *b)
{
	return a->mtime_sec != b->mtime_sec || a->mtime_nsec != b->mtime_nsec || a->ctime_sec != b->ctime_sec ||
	    a->ctime_nsec != b->ctime_nsec;
}

/* open @nd (NULL: the root), take its own attributes, read its names */
static int
read_dir(struct build_scan *s, struct build_scan_worker *w, struct build_node *nd, struct listing *l,
    struct dray_err *e)
{
	const char *path = nd == NULL ? "" : nd->path;
	size_t len = nd == NULL ? 0 : nd->len;
	struct dray_stat before, after;
	DIR *d = NULL;
	int fd = -1, rc = -1;

	if (nd == NULL && (fd = openat(s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		dray_fail_errno(e, "cannot be read");
	if (nd != NULL && build_scan_open(&w->walk, nd, O_DIRECTORY, &fd, e) != 0)
		fd = -1;
	if (fd == -1)
		return build_path_err(e, s->r, path, len);
	if (os_stat_at(fd, "", &before) != 0) {
		dray_fail_errno(e, "cannot be read");
		build_path_err(e, s->r, path, len);
		goto out;
	}
	if (nd != NULL) {
		if (before.ino != nd->ino || before.dev != nd->dev) {
			dray_fail(e, DRAY_E_IO, "changed while the tree was read");
			build_path_err(e, s->r, path, len);
			goto out;
		}
		build_scan_meta(&before, nd);
		if (build_scan_xattrs(s->o, w, fd, nd, e) != 0) {
			build_path_err(e, s->r, path, len);
			goto out;
		}
	}
	if ((d = fdopendir(fd)) == NULL) {
		dray_fail_errno(e, "cannot be read");
		build_path_err(e, s->r, path, len);
		goto out;
	}
	fd = -1;	/* the stream has it now */
	if (read_names(s, w, d, path, len, l, e) != 0)
		goto out;
	if (os_stat_at(dirfd(d), "", &after) != 0 || dir_moved(&before, &after)) {
		dray_fail(e, DRAY_E_IO, "changed while the tree was read");
		build_path_err(e, s->r, path, len);
		goto out;
	}
	rc = 0;
out:
	if (d != NULL)
		closedir(d);
	if (fd != -1)
		close(fd);
	return rc;
}

static int
list_one(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct level *lv = ctx;
	struct build_scan *s = lv->s;
	struct build_node *nd = lv->dirs == NULL ? NULL : &s->r->v[lv->dirs[i]];

	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	if (read_dir(s, &s->workers[worker], nd, &lv->lists[i], e) == 0)
		return 0;
	if (e->code == DRAY_E_IO)
		dray_hint(e, "build from a tree that is at rest and that you may read; nothing was written");
	return -1;
}

/* read @n directories, append what they hold to the release */
static int
read_level(struct build_scan *s, const size_t *dirs, size_t n, struct dray_err *e)
{
	struct level lv = { .s = s, .dirs = dirs };
	int rc = -1;

	if ((lv.lists = calloc(n, sizeof(*lv.lists))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (dray_parallel(s->threads, n, 1, list_one, &lv, e) != 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < lv.lists[i].n; k++) {
			struct build_node *nd = build_release_append(s->r);

			if (nd == NULL) {
				dray_fail(e, DRAY_E_IO, "out of memory");
				goto out;
			}
			*nd = lv.lists[i].v[k];
		}
	rc = 0;
out:
	for (size_t i = 0; i < n; i++)
		free(lv.lists[i].v);
	free(lv.lists);
	return rc;
}

int
build_scan_list(struct build_scan *s, struct dray_err *e)
{
	struct build_release *r = s->r;
	size_t from = 0;

	if (read_level(s, NULL, 1, e) != 0)
		return -1;
	while (from < r->n) {
		size_t to = r->n, n = 0, *dirs = calloc(to - from, sizeof(*dirs));
		int rc;

		if (dirs == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		for (size_t i = from; i < to; i++)
			if (r->v[i].type == DRAY_DIR && !r->v[i].hollow)
				dirs[n++] = i;
		rc = n == 0 ? 0 : read_level(s, dirs, n, e);
		free(dirs);
		if (rc != 0)
			return -1;
		from = to;
	}
	return 0;
}
