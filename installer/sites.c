/*
 * sites.c - the file systems of a tree, told by mount and device. A rename never leaves one, so each gets its own slots.
 * Bind mounts share a device and differ in the mount; nested subvolumes share the mount and differ in the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"
#include "dray/os.h"
#include "dray/path.h"

#include "installer/planning.h"

struct inst_sites {
	int root;
	bool component_walk;
	pthread_mutex_t lock;
	size_t n;
	struct inst_site v[INST_SITES_MAX];
	const char *refuse[INST_SITES_MAX];
};

static bool
same_site(const struct inst_site *a, const struct dray_stat *st)
{
	return a->dev == st->dev && (a->mnt == st->mnt_id || a->mnt == 0 || st->mnt_id == 0);
}

int
inst_sites_new(int rootfd, bool component_walk, struct inst_sites **out, struct dray_err *e)
{
	struct inst_sites *s = calloc(1, sizeof(*s));
	struct dray_stat st;

	*out = NULL;
	if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
		free(s);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*out = s;
	s->root = rootfd;
	s->component_walk = component_walk;
	if (os_stat_at(rootfd, "", &st) != 0)
		return dray_fail_errno(e, "look at the root directory");
	if ((s->v[0].path = strdup("")) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	s->v[0].mnt = st.mnt_id;
	s->v[0].dev = st.dev;
	s->v[0].fflags = st.fflags_here;
	s->n = 1;
	return 0;
}

void
inst_sites_free(struct inst_sites *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].path);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int
inst_sites_find(struct inst_sites *s, const struct dray_stat *st, const char *path, size_t len, uint8_t *site,
    struct dray_err *e)
{
	size_t i;
	int rc = 0;

	/* nearly all is on the root's own, whose row never changes */
	*site = 0;
	if (same_site(&s->v[0], st))
		return 0;
	pthread_mutex_lock(&s->lock);
	for (i = 1; i < s->n && !same_site(&s->v[i], st); i++)
		continue;
	if (i == INST_SITES_MAX) {
		rc = dray_fail(e, DRAY_E_SYSTEM, "more than %d file systems below the root", INST_SITES_MAX);
	} else if (i == s->n) {
		s->v[i] = (struct inst_site){ .path = strndup(path, len), .len = len, .mnt = st->mnt_id, .dev = st->dev,
			.fflags = st->fflags_here };
		if (s->v[i].path == NULL)
			rc = dray_fail(e, DRAY_E_IO, "out of memory");
		else
			s->n++;
	}
	pthread_mutex_unlock(&s->lock);
	*site = (uint8_t)i;
	return rc;
}

static const char *
refuse_fs(const struct dray_fs *fs, bool any_fs)
{
	switch (any_fs && fs->kind != DRAY_FS_PSEUDO ? DRAY_FS_SAFE : fs->kind) {
	case DRAY_FS_MEMORY:
		return "lies on tmpfs, which a power cut empties";
	case DRAY_FS_PSEUDO:
		return "lies on a file system of the kernel, such as /proc";
	case DRAY_FS_NETWORK:
		return "lies on a network file system";
	case DRAY_FS_WEAK:
		return "lies on a file system that cannot promise old or new";
	case DRAY_FS_SAFE:
	case DRAY_FS_OVERLAY:
		break;
	}
	return fs->read_only ? "lies on a file system that is mounted read-only" : NULL;
}

/* from some object on it up to its topmost directory, which the slots shall lie in */
static int
climb(struct inst_sites *s, size_t i, struct dray_walk *w, struct dray_err *e)
{
	struct inst_site *site = &s->v[i];
	struct inst_ident id;
	struct dray_stat st;
	size_t up;

	if (inst_look(w, site->path, site->len, &id, &st, e) != 0)
		return -1;
	if (id.type != DRAY_DIR || !same_site(site, &st)) {
		s->refuse[i] = "is a mount of its own";
		return 0;
	}
	while (site->len > 0) {
		up = inst_parent_len(site->path, site->len);
		if (inst_look(w, site->path, up, &id, &st, e) != 0)
			return -1;
		if (!same_site(site, &st))
			break;
		site->len = up;
	}
	site->path[site->len] = '\0';
	return 0;
}

static int
settle_one(struct inst_sites *s, size_t i, bool any_fs, struct dray_walk *w, struct dray_err *e)
{
	struct inst_site *site = &s->v[i];
	char leaf[DRAY_NAME_MAX + 1], q[DRAY_QUOTE_CAP(255)];
	int dir = s->root, fd, r = 0;

	if (i > 0 && climb(s, i, w, e) != 0)
		return -1;
	if (s->refuse[i] != NULL)
		return 0;
	if (i > 0)
		r = dray_walk_parent(w, site->path, site->len, &dir, leaf, e);
	if (r > 0)
		return dray_fail(e, DRAY_E_DRIFT, "%s changed while the plan was being made",
		    dray_quote(site->path, site->len, q, sizeof(q)));
	if (r < 0)
		return -1;
	fd = openat(dir, i > 0 ? leaf : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || os_fs(fd, &site->fs) != 0) {
		dray_fail_errno(e, "look at the file system of %s", i > 0 ? dray_quote(site->path, site->len, q, sizeof(q)) :
		    "the root");
		if (fd != -1)
			close(fd);
		return -1;
	}
	close(fd);
	s->refuse[i] = refuse_fs(&site->fs, any_fs);
	/* one pool of room: another mount of the same device, another subvolume of the same mount */
	for (site->shares = 0; site->shares < i; site->shares++) {
		const struct inst_site *o = &s->v[site->shares];

		if (o->dev == site->dev || (o->mnt == site->mnt && site->mnt != 0)) {
			site->shares = o->shares;
			break;
		}
	}
	return 0;
}

int
inst_sites_settle(struct inst_sites *s, bool any_fs, struct dray_err *e)
{
	struct dray_walk w;
	int rc = 0;

	dray_walk_init(&w, s->root);
	w.component_walk = s->component_walk;
	for (size_t i = 0; i < s->n && rc == 0; i++)
		rc = settle_one(s, i, any_fs, &w, e);
	dray_walk_close(&w);
	return rc;
}

const char *
inst_sites_refuse(const struct inst_sites *s, uint8_t site)
{
	return s->refuse[site];
}

uint8_t
inst_sites_fflags(const struct inst_sites *s, uint8_t site)
{
	return s->v[site].fflags;
}

bool
inst_sites_overlay(const struct inst_sites *s, uint8_t site)
{
	return s->v[site].fs.kind == DRAY_FS_OVERLAY;
}

uint64_t
inst_sites_max_links(const struct inst_sites *s, uint8_t site)
{
	return s->v[site].fs.max_links;
}

bool
inst_sites_moves_dirs(const struct inst_sites *s, uint8_t site)
{
	return s->v[site].fs.moves_dirs;
}

int
inst_sites_plan(const struct inst_sites *s, struct inst_plan *p, struct dray_err *e)
{
	uint8_t number[INST_SITES_MAX] = { 0 };
	bool used[INST_SITES_MAX] = { true };

	for (size_t i = 0; i < p->n_ops; i++)
		used[p->ops[i].site] = true;
	if ((p->sites = calloc(s->n, sizeof(*p->sites))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < s->n; i++) {
		struct inst_site *site = &p->sites[p->n_sites];

		if (!used[i])
			continue;
		*site = s->v[i];
		if ((site->path = strdup(s->v[i].path)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		number[i] = (uint8_t)p->n_sites++;
		site->shares = number[i];
		/* the lowest one in use that shares its room */
		for (size_t k = 0; k < i; k++)
			if (used[k] && (s->v[k].shares == s->v[i].shares)) {
				site->shares = number[k];
				break;
			}
	}
	for (size_t i = 0; i < p->n_ops; i++)
		p->ops[i].site = number[p->ops[i].site];
	return 0;
}
