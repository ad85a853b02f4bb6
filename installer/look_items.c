/*
 * look_items.c - the facts of many paths, in parallel: type, identity, content hash, attributes, and for a directory
 * that shall go whether it holds something that no release knows. More readers than cores: cold caches wait for the disk.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/meter.h"
#include "dray/num.h"
#include "dray/os.h"
#include "dray/pool.h"

#include "installer/planning.h"

#define READ_BYTES (256u * 1024u)
#define LINK_MAX_BYTES 4096u

struct looker {			/* one thread's tools */
	struct dray_walk walk;
	struct dray_sha256 *hash;
	uint8_t *buf;
	uint64_t hashed;		/* bytes of the path it is at */
	char *path;			/* of what find_foreign finds */
	char where[DRAY_PATH_MAX];	/* where the path lies, if elsewhere */
	char *up;			/* the directory looked at last, and what was found out about it */
	size_t up_len;			/* SIZE_MAX: none yet */
	uint64_t up_mnt;
	uint8_t up_site, up_fflags;
};

struct looking {
	struct inst_planning *pl;
	size_t first;
	struct looker *lookers;
	struct dray_meter meter;	/* bytes hashed */
};

static bool
denied(int err)
{
	return err == EACCES || err == EPERM;
}

/* do the target or a base know extended attributes of this path? */
static bool
wants_xattrs(const struct inst_planning *pl, const struct dray_entry *en)
{
	struct dray_attrs a;
	struct dray_state s;
	struct dray_alt alt;

	if (en->target != DRAY_NONE) {
		dray_index_state(pl->ix, en->target, &s);
		dray_index_attrs(pl->ix, s.attrs, &a);
		if ((a.has & DRAY_HAS_XATTRS) != 0)
			return true;
	}
	for (uint32_t i = 0; i < en->alt_count; i++) {
		dray_index_alt(pl->ix, en->alt_first + i, &alt);
		if (alt.state == DRAY_NONE)
			continue;
		dray_index_state(pl->ix, alt.state, &s);
		dray_index_attrs(pl->ix, s.attrs, &a);
		if ((a.has & DRAY_HAS_XATTRS) != 0)
			return true;
	}
	return false;
}

static bool
target_is_dir(const struct inst_planning *pl, const struct dray_entry *en)
{
	struct dray_state s;

	if (en->target == DRAY_NONE)
		return false;
	dray_index_state(pl->ix, en->target, &s);
	return s.type == DRAY_DIR;
}

/* the first name (in byte order) in an open directory that is not a path which the release removes; takes @fd */
static int
find_foreign(const struct inst_planning *pl, struct looker *l, const struct dray_entry *en, int fd,
    struct inst_item *it, struct dray_err *e)
{
	struct dirent *d;
	struct dray_entry child;
	char *first = NULL, *copy;
	struct inst_rare *r;
	uint32_t row;
	size_t n;
	DIR *dir;
	int rc = -1;

	if ((dir = fdopendir(fd)) == NULL) {
		dray_fail_errno(e, "open directory");
		close(fd);
		return -1;
	}
	memcpy(l->path, en->path, en->len);
	l->path[en->len] = '/';
	while (errno = 0, (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		n = strlen(d->d_name);
		row = DRAY_NONE;
		if (en->len + 1 + n < DRAY_PATH_MAX) {
			memcpy(l->path + en->len + 1, d->d_name, n);
			row = dray_index_find(pl->ix, l->path, en->len + 1 + n);
		}
		if (row != DRAY_NONE) {
			dray_index_entry(pl->ix, row, &child);
			if (child.target == DRAY_NONE && pl->plan->decides[row] != 0)
				continue;
		}
		if (first != NULL && strcmp(first, d->d_name) <= 0)
			continue;
		if ((copy = strdup(d->d_name)) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
		free(first);
		first = copy;
	}
	if (errno != 0) {
		dray_fail_errno(e, "read directory");
		goto out;
	}
	if (first != NULL) {
		if ((r = inst_rare_new(it, e)) == NULL)
			goto out;
		r->foreign = first;
		first = NULL;
	}
	rc = 0;
out:
	free(first);
	closedir(dir);
	return rc;
}

static int
read_link(int dir, const char *leaf, struct inst_item *it, struct dray_err *e)
{
	char buf[LINK_MAX_BYTES + 1];
	struct inst_rare *r;
	ssize_t n;

	if ((n = readlinkat(dir, leaf, buf, sizeof(buf))) == -1)
		return dray_fail_errno(e, "read link");
	if ((r = inst_rare_new(it, e)) == NULL)
		return -1;
	if ((r->link = malloc((size_t)n + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	memcpy(r->link, buf, (size_t)n);
	r->link[n] = '\0';
	r->link_len = (size_t)n;
	return 0;
}

static int
read_device(const struct dray_stat *st, struct inst_item *it, struct dray_err *e)
{
	struct inst_rare *r = inst_rare_new(it, e);

	if (r == NULL)
		return -1;
	r->rdev_major = st->rdev_major;
	r->rdev_minor = st->rdev_minor;
	return 0;
}

struct watched { struct looking *lk; struct looker *l; };

/* a large file is neither silent nor deaf to signals while it is read */
static int
watch(void *ctx, size_t len, struct dray_err *e)
{
	const struct watched *x = ctx;
	const struct inst_plan_opts *o = x->lk->pl->o;

	if (o->stop != NULL && o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted; nothing was changed");
	x->l->hashed += len;
	dray_meter_add(&x->lk->meter, len, len * DRAY_COST_HASH);
	return 0;
}

static int
read_meta(struct inst_item *it, int fd, const struct dray_stat *st, uint16_t has, struct dray_err *e)
{
	struct inst_meta m;

	return inst_meta_read(fd, st, has, &m, e) != 0 ? -1 : inst_item_set_meta(it, &m, e);
}

static int
hash_file(struct looking *lk, struct looker *l, const struct dray_entry *en, struct inst_item *it, int fd,
    struct dray_err *e)
{
	struct watched x = { lk, l };
	const struct dray_watch each = { watch, &x };
	uint8_t sum[DRAY_SHA256_LEN];
	uint64_t size;

	if (dray_sha256_fd_watch(l->hash, fd, l->buf, READ_BYTES, &each, &size, sum, e) != 0) {
		/* a repair replaces what the disk does not give back; its bytes are like no others */
		if (lk->pl->policy->repair == NULL || e->code != DRAY_E_IO || errno != EIO)
			return -1;
		dray_err_clear(e);
		return 0;
	}
	if (size != it->id.size)
		return dray_fail(e, DRAY_E_DRIFT, "changed while it was being read");
	return inst_item_set_sum(lk->pl->ix, en, it, sum, e);
}

/* a file or directory through its handle: what the handle says counts, not what the name said a moment ago */
static int
look_open(struct looking *lk, struct looker *l, const struct dray_entry *en, struct inst_item *it, int dir,
    const char *leaf, struct dray_stat *st, uint16_t has, struct dray_err *e)
{
	const struct inst_planning *pl = lk->pl;
	bool is_dir = it->id.type == DRAY_DIR;
	struct inst_ident again;
	int fd, rc = -1;

	fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (is_dir ? O_DIRECTORY : 0));
	if (fd == -1) {
		if (denied(errno)) {
			it->unreadable = true;
			return read_meta(it, -1, st, has & (uint16_t)~DRAY_HAS_XATTRS, e);
		}
		return dray_fail_errno(e, "open");
	}
	if (os_stat_at(fd, "", st) != 0) {
		dray_fail_errno(e, "look at");
		goto out;
	}
	inst_ident_from(st, &again);
	if (again.type != it->id.type) {
		dray_fail(e, DRAY_E_DRIFT, "changed while it was being looked at");
		goto out;
	}
	it->id = again;
	if ((!is_dir && hash_file(lk, l, en, it, fd, e) != 0) || read_meta(it, fd, st, has, e) != 0)
		goto out;
	if (is_dir && !target_is_dir(pl, en) && !it->untouched) {
		rc = find_foreign(pl, l, en, fd, it, e);
		fd = -1;
		goto out;
	}
	rc = 0;
out:
	if (fd != -1)
		close(fd);
	return rc;
}

/* the file system of the directory that holds the path; the same one for all of its neighbours */
static int
look_up(const struct inst_planning *pl, struct looker *l, struct inst_item *it, const char *path, size_t path_len,
    int dir, struct dray_err *e)
{
	size_t len = inst_parent_len(path, path_len);
	struct dray_stat st;

	if (len != l->up_len || memcmp(path, l->up, len) != 0) {
		if (os_stat_at(dir, "", &st) != 0)
			return dray_fail_errno(e, "look at the directory of");
		if (inst_sites_find(pl->sites, &st, path, len, &l->up_site, e) != 0)
			return -1;
		l->up_fflags = st.fflags;
		l->up_mnt = st.mnt_id;
		l->up_len = len;
		memcpy(l->up, path, len);
	}
	it->up_site = it->site = l->up_site;
	it->up_fflags = l->up_fflags;
	return 0;
}

static int
look_item(struct looking *lk, struct looker *l, struct inst_item *it, const struct dray_entry *en,
    struct dray_err *e)
{
	uint16_t has = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_MTIME;
	const struct inst_planning *pl = lk->pl;
	const char *path = en->path;
	char leaf[DRAY_NAME_MAX + 1];
	size_t len = en->len;
	struct dray_stat st;
	int dir, r;

	errno = 0;
	r = inst_where(pl->plan, false, &path, &len, l->where) ? dray_walk_parent(&l->walk, path, len, &dir, leaf, e) : 1;
	if (r == -1) {
		if (!denied(errno))
			return -1;
		dray_err_clear(e);
		it->unreadable = true;
		return 0;
	}
	it->way = r == 0 ? INST_WAY_THERE : r == 1 ? INST_WAY_MISSING : INST_WAY_NO_DIR;
	if (r != 0)
		return 0;
	if (look_up(pl, l, it, path, len, dir, e) != 0)
		return -1;
	if (os_stat_at(dir, leaf, &st) != 0) {
		if (denied(errno)) {
			it->unreadable = true;
			return 0;
		}
		return errno == ENOENT ? 0 : dray_fail_errno(e, "look at");
	}
	inst_ident_from(&st, &it->id);
	it->nlink = st.nlink < UINT32_MAX ? (uint32_t)st.nlink : UINT32_MAX;
	it->fflags = st.fflags;
	/* overlayfs gives files devices of their own: only a directory can be a subvolume, and only a mount has another id */
	if ((it->id.type == DRAY_DIR || st.mnt_id == 0 || st.mnt_id != l->up_mnt) &&
	    inst_sites_find(pl->sites, &st, path, len, &it->site, e) != 0)
		return -1;
	if (wants_xattrs(pl, en))
		has |= DRAY_HAS_XATTRS;
	if (it->id.type == DRAY_FILE || it->id.type == DRAY_DIR)
		return look_open(lk, l, en, it, dir, leaf, &st, has, e);
	if (it->id.type == DRAY_SYMLINK && read_link(dir, leaf, it, e) != 0)
		return -1;
	if (inst_is_device(it->id.type) && read_device(&st, it, e) != 0)
		return -1;
	return read_meta(it, -1, &st, has, e);
}

/* what is likely to be hashed, for the progress line only: the first former state, or else the target */
static uint64_t
likely_size(const struct inst_planning *pl, const struct inst_item *it)
{
	struct dray_content c;
	struct dray_entry en;
	struct dray_state s;
	struct dray_alt alt;
	uint32_t row;

	dray_index_entry(pl->ix, it->row, &en);
	row = en.target;
	if (en.alt_count > 0) {
		dray_index_alt(pl->ix, en.alt_first, &alt);
		row = alt.state;
	}
	if (row == DRAY_NONE)
		return 0;
	dray_index_state(pl->ix, row, &s);
	if (s.type != DRAY_FILE)
		return 0;
	dray_index_content(pl->ix, s.content, &c);
	return dray_content_bytes(&c);
}

static int
look_nth(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct looking *lk = ctx;
	struct inst_planning *pl = lk->pl;
	struct inst_item *it = &pl->items[lk->first + i];
	char quoted[DRAY_QUOTE_CAP(255)];
	struct dray_entry en;

	if (pl->o->stop != NULL && pl->o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted; nothing was changed");
	dray_index_entry(pl->ix, it->row, &en);
	lk->lookers[worker].hashed = 0;
	if (look_item(lk, &lk->lookers[worker], it, &en, e) == 0) {
		dray_meter_add(&lk->meter, 0, dray_cost_rest(likely_size(pl, it), lk->lookers[worker].hashed));
		return 0;
	}
	return e->code == DRAY_E_SIGNAL ? -1 : dray_wrap(e, "%s", dray_quote(en.path, en.len, quoted, sizeof(quoted)));
}

/* look at items[first ..] */
int
inst_look_items(struct inst_planning *pl, size_t first, struct dray_err *e)
{
	struct looking lk = { .pl = pl, .first = first, .meter = { .tell = pl->o->progress, .ctx = pl->o->ctx } };
	unsigned threads = pl->o->threads < 8 ? 8 : pl->o->threads > 64 ? 64 : pl->o->threads;
	int rc = -1;

	if (first >= pl->n)
		return 0;
	for (size_t i = first; i < pl->n; i++) {
		uint64_t size = likely_size(pl, &pl->items[i]);

		lk.meter.costs += dray_cost_file(size);
		if (!dray_add(lk.meter.total, size, &lk.meter.total))
			lk.meter.total = UINT64_MAX;
	}
	if (pl->n - first < threads)
		threads = (unsigned)(pl->n - first);
	if ((lk.lookers = calloc(threads, sizeof(*lk.lookers))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned t = 0; t < threads; t++) {
		dray_walk_init(&lk.lookers[t].walk, pl->root);
		lk.lookers[t].walk.component_walk = pl->o->component_walk;
	}
	for (unsigned t = 0; t < threads; t++) {
		struct looker *l = &lk.lookers[t];

		if (dray_sha256_new(&l->hash, e) != 0)
			goto out;
		l->up_len = SIZE_MAX;
		if ((l->buf = malloc(READ_BYTES)) == NULL || (l->path = malloc(DRAY_PATH_MAX + 1)) == NULL ||
		    (l->up = malloc(DRAY_PATH_MAX)) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
	}
	rc = dray_parallel(threads, pl->n - first, 16, look_nth, &lk, e);
out:
	for (unsigned t = 0; t < threads; t++) {
		dray_walk_close(&lk.lookers[t].walk);
		dray_sha256_free(lk.lookers[t].hash);
		free(lk.lookers[t].buf);
		free(lk.lookers[t].path);
		free(lk.lookers[t].up);
	}
	free(lk.lookers);
	return rc;
}
