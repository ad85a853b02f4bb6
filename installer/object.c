/* object.c - make one object in its slot: directories, links, symlinks, fifos, devices, empty and copied files */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installer/meta.h"
#include "installer/sparse.h"
#include "installer/staging.h"

static void
node_state(const struct stage *s, uint32_t node, struct dray_entry *en, struct dray_state *st)
{
	dray_index_entry(s->ix, s->p->nodes[node].entry, en);
	dray_index_state(s->ix, en->target, st);
}

int
inst_stage_blame(struct stage *s, uint32_t node, struct dray_err *e)
{
	struct dray_entry en;
	char q[512];

	if (e->code == DRAY_E_SIGNAL)	/* where it was interrupted tells nothing */
		return -1;
	dray_index_entry(s->ix, s->p->nodes[node].entry, &en);
	return dray_wrap(e, "%s", dray_quote(en.path, en.len, q, sizeof(q)));
}

int
inst_stage_node_at(struct stage *s, struct inst_place *pl, uint32_t node, int *dir, char leaf[DRAY_NAME_MAX + 1],
    struct dray_err *e)
{
	const struct inst_node *n = &s->p->nodes[node];
	struct dray_entry en;

	dray_index_entry(s->ix, n->entry, &en);
	return inst_place_at(pl, s->p->ops[n->op].site, s->p->ops[n->op].slot, en.path + n->rel, en.len - n->rel, dir, leaf, e);
}

int
inst_stage_make_dirs(struct stage *s, struct dray_err *e)
{
	struct inst_place *pl = &s->workers[0].place;
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	struct dray_state st;
	uint32_t i;
	int dir;

	for (i = 0; i < s->p->n_nodes; i++) {
		node_state(s, i, &en, &st);
		if (st.type != DRAY_DIR)
			continue;
		if (s->o->stop != NULL && s->o->stop() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
		if (inst_stage_node_at(s, pl, i, &dir, leaf, e) != 0)
			return inst_stage_blame(s, i, e);
		if (mkdirat(dir, leaf, 0700) == -1) {
			dray_fail_errno(e, "create the directory");
			return inst_stage_blame(s, i, e);
		}
	}
	return 0;
}

/* attributes of directories come last and from below, because making what they hold changes their times */
int
inst_stage_close_dirs(struct stage *s, struct dray_err *e)
{
	struct inst_place *pl = &s->workers[0].place;
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	struct dray_state st;
	struct inst_meta m;
	size_t i;
	int dir, r;

	for (i = s->p->n_nodes; i-- > 0;) {
		node_state(s, (uint32_t)i, &en, &st);
		if (st.type != DRAY_DIR)
			continue;
		if (inst_meta_of_state(s->ix, &st, &m, e) != 0)
			return inst_stage_blame(s, (uint32_t)i, e);
		if (s->p->no_owner)
			inst_meta_plain(&m);
		r = inst_stage_node_at(s, pl, (uint32_t)i, &dir, leaf, e);
		if (r == 0)
			r = inst_meta_apply(dir, leaf, -1, DRAY_DIR, &m, e);
		inst_meta_free(&m);
		if (r != 0)
			return inst_stage_blame(s, (uint32_t)i, e);
	}
	return 0;
}

int
inst_stage_create(struct stage *s, struct inst_place *pl, uint32_t node, int *fd, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	int dir;

	*fd = -1;
	if (inst_stage_node_at(s, pl, node, &dir, leaf, e) != 0)
		return -1;
	*fd = openat(dir, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *fd == -1 ? dray_fail_errno(e, "create") : 0;
}

/* what stays of the object that is replaced; a merged text is of today */
static void
own_attributes(const struct inst_plan *p, const struct inst_node *n, struct inst_meta *m)
{
	if (n->merge != 0)
		m->has &= (uint16_t)~DRAY_HAS_MTIME;
	if (n->owned == 0)
		return;
	m->uid = p->owned[n->owned - 1].uid;
	m->gid = p->owned[n->owned - 1].gid;
	m->mode = p->owned[n->owned - 1].mode & (p->no_owner ? 01777u : 07777u);
}

int
inst_stage_dress(struct stage *s, struct inst_place *pl, uint32_t node, int fd, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	struct dray_state st;
	struct inst_meta m;
	int dir, rc;

	node_state(s, node, &en, &st);
	if (inst_meta_of_state(s->ix, &st, &m, e) != 0)
		return -1;
	if (s->p->no_owner)
		inst_meta_plain(&m);
	own_attributes(s->p, &s->p->nodes[node], &m);
	/* a new object in our own folder has no attribute to remove */
	if (m.n_xattrs == 0)
		m.has &= (uint16_t)~DRAY_HAS_XATTRS;
	rc = inst_stage_node_at(s, pl, node, &dir, leaf, e);
	if (rc == 0)
		rc = inst_meta_apply(dir, leaf, fd, st.type, &m, e);
	inst_meta_free(&m);
	return rc;
}

static int
make_symlink(int dir, const char *leaf, const struct dray_state *st, struct dray_err *e)
{
	char *target = strndup(st->target, st->target_len);
	int r;

	if (target == NULL)
		return dray_fail_errno(e, "symlink");
	r = symlinkat(target, dir, leaf);
	free(target);
	return r == -1 ? dray_fail_errno(e, "create the symlink") : 0;
}

static int
make_special(int dir, const char *leaf, const struct dray_state *st, struct dray_err *e)
{
	static const uint32_t kind[] = { [DRAY_FIFO] = S_IFIFO, [DRAY_CHARDEV] = S_IFCHR, [DRAY_BLOCKDEV] = S_IFBLK };

	if (os_mknod_at(dir, leaf, kind[st->type] | 0600, st->rdev_major, st->rdev_minor) == -1)
		return dray_fail_errno(e, "create the %s", st->type == DRAY_FIFO ? "fifo" : "device");
	return 0;
}

/* *most: where the size is unknown, that of the file as it was opened: what grows while it is read is not followed */
static int
bytes_of(int fd, const struct dray_content *c, uint64_t *most, struct dray_err *e)
{
	struct dray_stat now;

	*most = c->size;
	if (c->size != DRAY_SIZE_UNKNOWN)
		return 0;
	if (os_stat_at(fd, "", &now) != 0) {
		dray_fail_errno(e, "look at");
		e->code = DRAY_E_DRIFT;
		return -1;
	}
	*most = now.size;
	return 0;
}

/*
 * Copy a content from a live path; only the hash of the copy counts. Whatever is wrong with the live side is
 * DRAY_E_DRIFT, so that a caller who has another recipe can take that one. @tell: its bytes are told as done.
 */
static int
copy_live(struct stage *s, struct stage_worker *w, uint32_t live, uint32_t content, int to, bool tell,
    struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_content c;
	struct dray_entry en;
	size_t cap = 256 * 1024;
	uint64_t size = 0, most;
	int dir, from, r, rc = -1;

	dray_index_content(s->ix, content, &c);
	dray_index_entry(s->ix, live, &en);
	r = inst_where_parent(s->p, true, &w->live, &en, &dir, leaf, e);
	if (r > 0)
		dray_fail(e, DRAY_E_DRIFT, "went away since the plan");
	if (r != 0)
		return -1;
	if ((from = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1) {
		dray_fail_errno(e, "open");
		e->code = DRAY_E_DRIFT;
		return -1;
	}
	if (dray_bundle_desc(s->b)->limit_frame < cap)
		cap = (size_t)dray_bundle_desc(s->b)->limit_frame;
	if (bytes_of(from, &c, &most, e) != 0 || dray_sha256_begin(w->sha, e) != 0)
		goto out;
	for (;;) {
		ssize_t n = read(from, w->out, cap);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			dray_fail_errno(e, "read");
			e->code = DRAY_E_DRIFT;
			goto out;
		}
		if (n == 0)
			break;
		if ((uint64_t)n > most - size) {
			size = UINT64_MAX;	/* longer than it was */
			break;
		}
		if (dray_sha256_add(w->sha, w->out, (size_t)n, e) != 0 ||
		    inst_sparse_put(to, w->out, (size_t)n, size, most, e) != 0 || inst_stage_stopped(s, e) != 0)
			goto out;
		size += (uint64_t)n;
		dray_meter_add(&s->meter, tell ? (uint64_t)n : 0, inst_stage_cost_copy((uint64_t)n));
	}
	if (dray_sha256_end(w->sha, sum, e) != 0)
		goto out;
	if (size != most || !dray_content_is(&c, size, sum)) {
		dray_fail(e, DRAY_E_DRIFT, "changed since the plan");
		goto out;
	}
	rc = 0;
out:
	close(from);	/* read only */
	return rc;
}

/* the text that the plan has made; what it was made of is looked at again before the commit */
static int
put_text(const struct stage *s, uint32_t node, int fd, struct dray_err *e)
{
	const struct inst_merge *m = &s->p->merges[s->p->nodes[node].merge - 1];

	return inst_sparse_put(fd, m->text, m->len, 0, m->len, e);
}

static int
make_plain(struct stage *s, struct stage_worker *w, uint32_t node, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	struct dray_state st;
	int dir, fd = -1, rc;

	node_state(s, node, &en, &st);
	if (st.type == DRAY_FILE) {
		rc = inst_stage_create(s, &w->place, node, &fd, e);
		if (rc == 0 && s->p->nodes[node].merge != 0)
			rc = put_text(s, node, fd, e);
		else if (rc == 0 && s->p->nodes[node].from_live)
			rc = copy_live(s, w, s->p->nodes[node].live, st.content, fd, false, e);
	} else {
		rc = inst_stage_node_at(s, &w->place, node, &dir, leaf, e);
		if (rc == 0)
			rc = st.type == DRAY_SYMLINK ? make_symlink(dir, leaf, &st, e) : make_special(dir, leaf, &st, e);
	}
	if (rc == 0)
		rc = inst_stage_dress(s, &w->place, node, fd, e);
	if (fd != -1 && close(fd) == -1 && rc == 0)
		rc = dray_fail_errno(e, "close");
	return rc;
}

static int
plain_job(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct stage *s = ctx;
	uint32_t node = s->plain[i];

	if (inst_stage_stopped(s, e) != 0)
		return -1;
	if (make_plain(s, &s->workers[worker], node, e) != 0)
		return inst_stage_blame(s, node, e);
	dray_meter_add(&s->meter, 0, DRAY_COST_MAKE);
	return 0;
}

int
inst_stage_make_plain(struct stage *s, struct dray_err *e)
{
	return dray_parallel(s->threads, s->n_plain, 16, plain_job, s, e);
}

/* every node of a content whose recipe is a copy */
static int
copy_job(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct stage *s = ctx;
	struct stage_worker *w = &s->workers[worker];
	struct want *want = &s->wants[s->copies[i]];
	uint32_t node;
	int fd, rc = 0;

	if (inst_stage_stopped(s, e) != 0)
		return -1;
	want->made = true;
	for (node = want->first_node; rc == 0 && node != DRAY_NONE; node = s->next_node[node]) {
		rc = inst_stage_create(s, &w->place, node, &fd, e);
		if (rc == 0)
			rc = copy_live(s, w, s->p->live_of[want->content], want->content, fd, node == want->first_node, e);
		if (rc == 0)
			rc = inst_stage_dress(s, &w->place, node, fd, e);
		if (fd != -1 && close(fd) == -1 && rc == 0)
			rc = dray_fail_errno(e, "close");
		if (rc != 0 && e->code == DRAY_E_DRIFT) {
			dray_err_clear(e);
			atomic_store(&want->failed, true);
			return 0;
		}
		if (rc != 0)
			inst_stage_blame(s, node, e);
		else
			dray_meter_add(&s->meter, 0, DRAY_COST_MAKE);
	}
	return rc;
}

int
inst_stage_make_copies(struct stage *s, struct dray_err *e)
{
	return dray_parallel(s->threads, s->n_copies, 4, copy_job, s, e);
}

/* further names of an inode; the first one is whole by now */
int
inst_stage_make_links(struct stage *s, struct dray_err *e)
{
	struct inst_place *to = &s->workers[0].place, from;
	char leaf[DRAY_NAME_MAX + 1], first[DRAY_NAME_MAX + 1];
	int dir, first_dir, rc = -1;
	uint32_t i;

	inst_place_init(&from, s->tx);
	for (i = 0; i < s->p->n_nodes; i++) {
		if (s->link_to[i] == DRAY_NONE)
			continue;
		if (inst_stage_node_at(s, &from, s->link_to[i], &first_dir, first, e) != 0 ||
		    inst_stage_node_at(s, to, i, &dir, leaf, e) != 0) {
			inst_stage_blame(s, i, e);
			goto out;
		}
		if (linkat(first_dir, first, dir, leaf, 0) == -1) {
			dray_fail_errno(e, "create the hard link");
			inst_stage_blame(s, i, e);
			goto out;
		}
	}
	rc = 0;
out:
	inst_place_close(&from);
	return rc;
}

/* the flags that a node gets while it is staged; 0: none */
static uint8_t
inner_fflags(const struct stage *s, uint32_t node, uint8_t *known)
{
	struct dray_entry en;
	struct dray_state st;

	*known = 0;
	node_state(s, node, &en, &st);
	return s->p->nodes[node].rel == en.len || s->p->no_owner ? 0 : dray_index_fflags(s->ix, &st, os_name(), known);
}

/* per group: has one of its names a slot of its own? The inode must stay movable then; NULL: memory */
static uint8_t *
groups_with_slot(const struct stage *s)
{
	uint8_t *with = calloc(s->p->n_nodes + 1, 1);	/* a group is numbered by its nodes, so no number is above theirs */
	struct dray_entry en;

	for (size_t i = 0; with != NULL && i < s->p->n_nodes; i++) {
		const struct inst_node *n = &s->p->nodes[i];

		dray_index_entry(s->ix, n->entry, &en);
		if (n->rel == en.len && n->group <= s->p->n_nodes)
			with[n->group] = 1;
	}
	return with;
}

static int
set_inner(struct stage *s, uint32_t node, uint8_t known, uint8_t fflags, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat st;
	int dir;

	if (inst_stage_node_at(s, &s->workers[0].place, node, &dir, leaf, e) != 0)
		return inst_stage_blame(s, node, e);
	if (os_stat_at(dir, leaf, &st) == 0 &&
	    (os_fflags_set(dir, leaf, known & st.fflags_here, fflags) == 0 || errno == EOPNOTSUPP))
		return 0;
	dray_fail_errno(e, "set its file flags");
	return inst_stage_blame(s, node, e);
}

int
inst_stage_fflags(struct stage *s, struct dray_err *e)
{
	uint8_t *with = NULL, known;
	int rc = 0;

	for (size_t i = s->p->n_nodes; rc == 0 && i-- > 0;) {
		uint8_t fflags = inner_fflags(s, (uint32_t)i, &known);
		uint32_t group = s->p->nodes[i].group;

		if (fflags == 0)
			continue;
		if (with == NULL && (with = groups_with_slot(s)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (group == 0 || group > s->p->n_nodes || with[group] == 0)
			rc = set_inner(s, (uint32_t)i, known, fflags, e);
	}
	free(with);
	return rc;
}
