/*
 * order.c - from decisions to ops: swaps in an order whose every prefix boots and runs, then attributes,
 * deepest first, among them the times of every directory in which something was swapped.
 * Source: spec/apply.md, "Plan".
 */
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "installer/outputs.h"

struct making {
	struct inst_op *v;
	size_t n, cap;
};

static bool
ends(const char *s, size_t len, const char *tail)
{
	size_t n = strlen(tail);

	return len >= n && memcmp(s + len - n, tail, n) == 0;
}

static bool
begins(const char *s, size_t len, const char *head)
{
	size_t n = strlen(head);

	return len >= n && memcmp(s, head, n) == 0;
}

static bool
contains(const char *s, size_t len, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= len; i++)
		if (memcmp(s + i, part, n) == 0)
			return true;
	return false;
}

/* does a directory on the way have a name like lib, lib64, libexec, libx32? */
static bool
in_lib_dir(const char *path, size_t len)
{
	for (size_t at = 0, i = 0; i < len; i++)
		if (path[i] == '/') {
			if (begins(path + at, i - at, "lib"))
				return true;
			at = i + 1;
		}
	return false;
}

/*
 * Which shared library is it? The runtime linker, what libc stands on, libc, the thread library: they must change next to
 * each other, and in this order, since the later ones need the earlier ones.
 */
enum lib { LIB_LINKER, LIB_SYS, LIB_C, LIB_THREADS, LIB_OTHER, LIB_NONE };

static enum lib
lib_class(const char *path, size_t len)
{
	static const struct { const char *head, *tail; enum lib is; } first[] = {
		{ "ld-", "", LIB_LINKER }, { "ld.so", "", LIB_LINKER }, { "libsys.so", "", LIB_SYS }, { "libc.so", "", LIB_C },
		{ "libc-", ".so", LIB_C }, { "libthr.so", "", LIB_THREADS }, { "libpthread.so", "", LIB_THREADS },
		{ "libpthread-", ".so", LIB_THREADS },
	};
	size_t up = inst_parent_len(path, len), at = up == 0 ? 0 : up + 1;
	const char *name = path + at;
	size_t n = len - at;

	if (!in_lib_dir(path, len) || !contains(name, n, ".so"))
		return LIB_NONE;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (begins(name, n, first[i].head) && ends(name, n, first[i].tail))
			return first[i].is;
	return begins(name, n, "lib") ? LIB_OTHER : LIB_NONE;
}

static uint8_t
rank_of(const struct inst_planning *pl, const struct inst_item *it, const struct dray_entry *en)
{
	struct dray_state s;
	struct dray_attrs a;

	if (it->decision == INST_D_REMOVE)
		return INST_RANK_REMOVE;
	if (it->decision == INST_D_META)
		return INST_RANK_META;
	dray_index_state(pl->ix, en->target, &s);
	if (it->decision == INST_D_ADD || s.type == DRAY_DIR)
		return INST_RANK_ADD;
	if (dray_path_under(en->path, en->len, "boot", 4))
		return INST_RANK_BOOT;
	if (lib_class(en->path, en->len) != LIB_NONE)
		return INST_RANK_LIB;
	dray_index_attrs(pl->ix, s.attrs, &a);
	if (s.type == DRAY_FILE && (a.has & DRAY_HAS_MODE) != 0 && (a.mode & 0111) != 0)
		return INST_RANK_PROG;
	return INST_RANK_REST;
}

static int
made_cmp(const void *a, const void *b)
{
	const struct inst_op *x = *(const struct inst_op *const *)a, *y = *(const struct inst_op *const *)b;
	int c;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->rank == INST_RANK_LIB) {
		c = (int)lib_class(x->path, x->len) - (int)lib_class(y->path, y->len);
		if (c != 0)
			return c;
	}
	c = dray_path_cmp(x->path, x->len, y->path, y->len);
	/* removals and attributes: what a directory holds comes before it */
	return x->rank >= INST_RANK_REMOVE ? -c : c;
}

static struct inst_op *
add(struct making *mk, struct dray_err *e)
{
	if (mk->n == mk->cap) {
		size_t cap = mk->cap + mk->cap / 4 + 256;
		struct inst_op *v;

		if (cap > UINT32_MAX / 2 || (v = realloc(mk->v, cap * sizeof(*v))) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			return NULL;
		}
		mk->v = v;
		mk->cap = cap;
	}
	memset(&mk->v[mk->n], 0, sizeof(*mk->v));
	mk->v[mk->n].item = DRAY_NONE;
	mk->v[mk->n].slot = DRAY_NONE;
	mk->v[mk->n].entry = DRAY_NONE;
	return &mk->v[mk->n++];
}

static int
make_meta(struct inst_op *op, struct dray_err *e)
{
	op->kind = INST_OP_META;
	op->rank = INST_RANK_META;
	return (op->attrs = calloc(1, sizeof(*op->attrs))) != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

/* META: from the live attributes to the target's. @times: a directory whose time has to be set in any case */
static int
fill_meta(const struct inst_planning *pl, const struct inst_item *it, struct inst_op *op, bool times,
    struct dray_err *e)
{
	struct inst_meta *after = &op->attrs->after, live = inst_item_meta(it);
	struct dray_state s;

	if (!inst_item_target(pl, it, &s))
		return dray_fail(e, DRAY_E_IO, "internal: attributes for a path that goes");
	if (inst_meta_of_state(pl->ix, &s, after, e) != 0)
		return -1;
	if (pl->policy->no_owner)
		inst_meta_plain(after);
	if (it->edited)
		after->has &= (uint16_t)~DRAY_HAS_MTIME;
	if (it->decision != INST_D_META || it->times_only) {
		inst_meta_free(after);
		*after = (struct inst_meta){ .has = 0 };
		if (s.has_mtime) {
			after->has = DRAY_HAS_MTIME;
			after->mtime_sec = s.mtime_sec;
			after->mtime_nsec = s.mtime_nsec;
		}
	}
	after->has &= (uint16_t)~DRAY_HAS_FLAGS;
	if (times && (after->has & DRAY_HAS_MTIME) == 0) {
		after->has |= DRAY_HAS_MTIME;
		after->mtime_sec = it->id.mtime_sec;
		after->mtime_nsec = it->id.mtime_nsec;
	}
	return inst_meta_pick(&live, after, &op->attrs->before, e);
}

/* file flags before and after; with @keep they stay */
static void
fill_fflags(const struct inst_planning *pl, const struct inst_item *it, struct inst_op *op, bool keep)
{
	uint8_t known;

	op->fflags_before = op->fflags_after = it->fflags;
	if (!keep)
		op->fflags_after = inst_fflags_after(pl, it, &known) & inst_sites_fflags(pl->sites, op->site);
	if ((op->fflags_before | op->fflags_after) != 0)
		op->flags |= INST_OP_FFLAGS;
}

static int
item_op(struct inst_planning *pl, uint32_t i, struct making *mk, struct dray_err *e)
{
	struct inst_item *it = &pl->items[i];
	struct dray_entry en;
	struct dray_state s;
	struct inst_op *m;
	size_t len;

	it->made = DRAY_NONE;
	if (it->top != DRAY_NONE || it->silent)
		return 0;
	if (it->decision != INST_D_ADD && it->decision != INST_D_UPDATE && it->decision != INST_D_TYPE &&
	    it->decision != INST_D_REMOVE && it->decision != INST_D_META)
		return 0;
	if ((m = add(mk, e)) == NULL)
		return -1;
	dray_index_entry(pl->ix, it->row, &en);
	m->item = i;
	it->made = (uint32_t)(mk->n - 1);
	m->kind = INST_OP_SWAP;
	m->rank = rank_of(pl, it, &en);
	if ((it->decision == INST_D_META && make_meta(m, e) != 0) || inst_where_keep(pl->plan, &en, &m->path, &len, e) != 0)
		return -1;
	m->len = (uint16_t)len;		/* below DRAY_PATH_MAX */
	m->entry = it->row;
	m->old = it->id;
	m->site = m->kind == INST_OP_META ? it->site : it->up_site;
	if (inst_sites_overlay(pl->sites, m->site))
		m->old.btime_sec = 0, m->old.btime_nsec = 0;
	fill_fflags(pl, it, m, it->own_attrs || (it->decision == INST_D_META && it->times_only));
	if (m->kind == INST_OP_META) {
		m->now = m->old;
		m->attrs->nlink = it->nlink;
		return fill_meta(pl, it, m, false, e);
	}
	if (it->park || it->park_inside)
		m->flags |= INST_OP_PARK;
	if (it->decision != INST_D_REMOVE && inst_item_target(pl, it, &s))
		m->now.type = s.type;
	if (it->id.type != DRAY_DIR && m->now.type != DRAY_DIR)
		return 0;
	m->flags |= INST_OP_SUBTREE;
	return (m->trees = calloc(1, sizeof(*m->trees))) != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

bool
inst_op_copies(const struct inst_op *op)
{
	return op->kind == INST_OP_SWAP && (op->flags & INST_OP_OUTPUT) != 0 && op->entry == DRAY_NONE && op->now.type != DRAY_ABSENT;
}

/* what a trigger will change, and nothing else does: a copy of it, or nothing where there is nothing yet */
static int
output_op(const struct inst_planning *pl, const struct inst_output *o, struct making *mk, struct dray_err *e)
{
	struct inst_op *m = add(mk, e);

	if (m == NULL)
		return -1;
	m->kind = INST_OP_SWAP;
	m->rank = INST_RANK_REST;
	m->flags = INST_OP_OUTPUT;
	m->step = o->step;
	m->path = o->path;
	m->len = (uint16_t)o->len;	/* below DRAY_PATH_MAX */
	m->site = o->site;
	m->old = o->id;
	if (inst_sites_overlay(pl->sites, m->site))
		m->old.btime_sec = 0, m->old.btime_nsec = 0;
	m->now.type = o->id.type;
	m->fflags_before = m->fflags_after = o->fflags;
	if (o->fflags != 0)
		m->flags |= INST_OP_FFLAGS;
	if (o->id.type != DRAY_DIR)
		return 0;
	m->flags |= INST_OP_SUBTREE;
	return (m->trees = calloc(1, sizeof(*m->trees))) != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

static int
output_ops(struct inst_planning *pl, struct making *mk, struct dray_err *e)
{
	if (pl->n_outputs == 0)
		return 0;
	if (inst_outputs_match(pl, mk->v, mk->n, e) != 0)
		return -1;
	for (size_t i = 0; i < pl->n_outputs; i++)
		if (inst_output_own(&pl->outputs[i]) && output_op(pl, &pl->outputs[i], mk, e) != 0)
			return -1;
	return 0;
}

struct parent { const char *path; size_t len; uint8_t site; };

static int
parent_cmp(const void *a, const void *b)
{
	const struct parent *x = a, *y = b;

	return dray_path_cmp(x->path, x->len, y->path, y->len);
}

/* the live facts of a directory that no item stands for */
static int
look_parent(const struct inst_planning *pl, struct dray_walk *w, const struct parent *d, struct inst_item *it,
    struct dray_err *e)
{
	char quoted[DRAY_QUOTE_CAP(255)];
	struct dray_stat st;

	if (inst_look(w, d->path, d->len, &it->id, &st, e) != 0)
		return -1;
	if (it->id.type != DRAY_DIR)
		return dray_fail(e, DRAY_E_DRIFT, "%s changed while the plan was being made",
		    dray_quote(d->path, d->len, quoted, sizeof(quoted)));
	it->row = inst_where_row(pl->plan, d->path, d->len);
	it->fflags = st.fflags;
	it->has = DRAY_HAS_MTIME;
	it->mode = (uint16_t)(st.mode & 07777);
	it->uid = st.uid;
	it->gid = st.gid;
	return 0;
}

/* the time of one directory; @must: something was swapped in it, else only when the release's time differs */
static int
dir_time(struct inst_planning *pl, struct dray_walk *w, const struct parent *d, bool must, struct making *mk,
    struct dray_err *e)
{
	struct inst_item found = { .decision = INST_D_SAME };
	const struct inst_item *it = &found;
	struct dray_state s;
	uint32_t row = inst_where_row(pl->plan, d->path, d->len);
	struct inst_op *m;
	bool known;

	if (row != DRAY_NONE && pl->at[row] != DRAY_NONE && pl->items[pl->at[row]].id.type == DRAY_DIR) {
		it = &pl->items[pl->at[row]];
		if (it->decision == INST_D_META) {
			/* it has an op: one that sets the time as well */
			struct inst_op *op = &mk->v[it->made];

			if ((op->attrs->after.has & DRAY_HAS_MTIME) != 0)
				return 0;
			inst_meta_free(&op->attrs->after);
			inst_meta_free(&op->attrs->before);
			return fill_meta(pl, it, op, true, e);
		}
	} else if (look_parent(pl, w, d, &found, e) != 0) {
		return -1;
	}
	known = row != DRAY_NONE && it->row != DRAY_NONE && inst_item_target(pl, it, &s) && s.type == DRAY_DIR;
	if (!must && (!known || !s.has_mtime ||
	    (s.mtime_sec == it->id.mtime_sec && s.mtime_nsec == it->id.mtime_nsec)))
		return 0;
	if ((m = add(mk, e)) == NULL || make_meta(m, e) != 0)
		return -1;
	m->path = d->path;
	m->len = (uint16_t)d->len;
	m->old = it->id;
	m->site = d->site;
	if (inst_sites_overlay(pl->sites, m->site))
		m->old.btime_sec = 0, m->old.btime_nsec = 0;
	m->now = m->old;
	fill_fflags(pl, it, m, true);
	if (known) {
		m->entry = row;
		return fill_meta(pl, it, m, true, e);
	}
	m->attrs->after = (struct inst_meta){ .has = DRAY_HAS_MTIME, .mtime_sec = it->id.mtime_sec,
	    .mtime_nsec = it->id.mtime_nsec };
	m->attrs->before = m->attrs->after;
	return 0;
}

/* every directory that a swap changes, and those whose time differs from the release's by other doing */
static int
dir_times(struct inst_planning *pl, struct making *mk, struct dray_err *e)
{
	struct parent *must = NULL, up;
	struct dray_walk w;
	size_t n = 0, n_made = mk->n;
	int rc = -1;

	if (n_made == 0)
		return 0;
	dray_walk_init(&w, pl->root);
	w.component_walk = pl->o->component_walk;
	if ((must = malloc((n_made + 1) * sizeof(*must))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < n_made; i++)
		if (mk->v[i].kind == INST_OP_SWAP)
			must[n++] = (struct parent){ mk->v[i].path,
			    inst_parent_len(mk->v[i].path, mk->v[i].len), mk->v[i].site };
	qsort(must, n, sizeof(*must), parent_cmp);
	for (size_t i = 0; i < n; i++)
		if ((i == 0 || parent_cmp(&must[i - 1], &must[i]) != 0) && dir_time(pl, &w, &must[i], true, mk, e) != 0)
			goto out;
	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];
		struct dray_entry en;

		if (!it->follow || inst_sites_refuse(pl->sites, it->site) != NULL || it->decision != INST_D_SAME)
			continue;
		dray_index_entry(pl->ix, it->row, &en);
		if (inst_where_keep(pl->plan, &en, &up.path, &up.len, e) != 0)
			goto out;
		up.site = it->site;
		if (inst_output_holds(pl, up.path, up.len))
			continue;	/* a copy has the time that it has here */
		if (bsearch(&up, must, n, sizeof(*must), parent_cmp) == NULL && dir_time(pl, &w, &up, false, mk, e) != 0)
			goto out;
	}
	rc = 0;
out:
	dray_walk_close(&w);
	free(must);
	return rc;
}

/* v[i] becomes what v[from[i]] was, in place, because there may be a hundred thousand; uses up @from */
static void
permute(struct inst_op *v, uint32_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct inst_op held = v[i];
		size_t at = i;

		while (from[at] != i) {
			size_t next = from[at];

			v[at] = v[next];
			from[at] = (uint32_t)at;
			at = next;
		}
		v[at] = held;
		from[at] = (uint32_t)at;
	}
}

static int
sort_ops(struct inst_op *v, size_t n, struct dray_err *e)
{
	struct inst_op **by = malloc((n + 1) * sizeof(*by));
	uint32_t *from = malloc((n + 1) * sizeof(*from));
	int rc = 0;

	if (by == NULL || from == NULL) {
		rc = dray_fail(e, DRAY_E_IO, "out of memory");
	} else if (n > 0) {
		for (size_t i = 0; i < n; i++)
			by[i] = &v[i];
		qsort(by, n, sizeof(*by), made_cmp);
		for (size_t i = 0; i < n; i++)
			from[i] = (uint32_t)(by[i] - v);
		permute(v, from, n);
	}
	free(by);
	free(from);
	return rc;
}

int
inst_order(struct inst_planning *pl, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct making mk = { NULL, 0, 0 };
	uint32_t *op_of = NULL;
	int rc = 0;

	for (size_t i = 0; i < pl->n && rc == 0; i++)
		rc = item_op(pl, (uint32_t)i, &mk, e);
	if (rc == 0)
		rc = output_ops(pl, &mk, e);
	if (rc == 0)
		rc = dir_times(pl, &mk, e);
	/* the plan owns them and their attributes, whatever happens */
	p->ops = mk.v;
	p->n_ops = mk.n;
	if (rc != 0 || sort_ops(p->ops, p->n_ops, e) != 0)
		return -1;
	if ((op_of = malloc((pl->n + 1) * sizeof(*op_of))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	memset(op_of, 0xff, (pl->n + 1) * sizeof(*op_of));
	for (size_t i = 0; i < p->n_ops; i++) {
		if (p->ops[i].kind == INST_OP_SWAP) {
			p->ops[i].slot = (uint32_t)i;
			p->n_swaps++;
		}
		if (p->ops[i].item != DRAY_NONE)
			op_of[p->ops[i].item] = (uint32_t)i;
	}
	if ((rc = inst_nodes(pl, op_of, e)) == 0)
		inst_steps(pl, op_of);
	free(op_of);
	return rc;
}
