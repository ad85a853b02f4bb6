/*
 * stage.c - all new objects into their slots: directories, what an earlier staging left, the bundle's frames in file
 * order, links, directories' attributes, and at last the identity of every slot's object for the journal.
 */
#include <stdlib.h>
#include <string.h>

#include "installer/staging.h"
#include "installer/tree.h"

struct frame_job {
	uint32_t frame;
	uint8_t *buf;
};

/* buffers go round between reader and workers */
struct buffers {
	pthread_mutex_t lock;
	pthread_cond_t free_one;
	uint8_t **v;
	size_t n, total;
};

struct run {
	struct stage *s;
	struct buffers bufs;
	size_t *first_use;		/* per frame row: first of its uses */
};

int
inst_stage_stopped(const struct stage *s, struct dray_err *e)
{
	if (s->o->stop == NULL || s->o->stop() == 0)
		return 0;
	return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
}

static uint8_t *
take_buffer(struct run *r)
{
	uint8_t *b;

	pthread_mutex_lock(&r->bufs.lock);
	while (r->bufs.n == 0)
		pthread_cond_wait(&r->bufs.free_one, &r->bufs.lock);
	b = r->bufs.v[--r->bufs.n];
	pthread_mutex_unlock(&r->bufs.lock);
	return b;
}

static void
give_buffer(struct run *r, uint8_t *b)
{
	pthread_mutex_lock(&r->bufs.lock);
	r->bufs.v[r->bufs.n++] = b;
	pthread_cond_signal(&r->bufs.free_one);
	pthread_mutex_unlock(&r->bufs.lock);
}

static void
drop_job(void *ctx, void *job)
{
	struct frame_job *j = job;

	give_buffer(ctx, j->buf);
	free(j);
}

static int
decode(struct stage *s, struct stage_worker *w, const struct frame_job *j, const struct dray_frame *f, uint64_t at,
    struct dray_err *e)
{
	struct dray_ref ref = { .p = w->ref, .len = w->ref_len, .ranges = w->ranges, .n = f->range_count };

	return dray_decode_frame(w->dec, f, j->buf, &ref, at, dray_bundle_desc(s->b), w->out, e);
}

/* hash, then decode, then hash again what came out: nothing unverified goes on */
static int
run_frame(struct run *r, struct stage_worker *w, const struct frame_job *j, struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	struct stage *s = r->s;
	const struct use *u = &s->uses[r->first_use[j->frame]];
	struct dray_frame f;
	bool good;

	dray_index_frame(s->ix, j->frame, &f);
	if (dray_sha256_once(w->sha, j->buf, f.stored, sum, e) != 0)
		return -1;
	if (memcmp(sum, f.sha256, sizeof(sum)) != 0) {
		dray_fail(e, DRAY_E_FORMAT, "frame %u is damaged (its hash differs)", (unsigned)j->frame);
		dray_hint(e, "copy the bundle again; nothing on this machine was changed");
		return inst_stage_blame(s, s->wants[u->want].first_node, e);
	}
	if (inst_stage_reference(s, w, &f, &good, e) != 0)
		return dray_wrap(e, "frame %u", (unsigned)j->frame);
	if (good && decode(s, w, j, &f, u->at, e) != 0) {
		if (f.range_count == 0)
			return dray_wrap(e, "frame %u", (unsigned)j->frame);
		/* the stored bytes are right, so it was built on something else than the bundle's base */
		dray_err_clear(e);
		good = false;
	}
	for (; u < s->uses + s->n_uses && u->frame == j->frame; u++)
		if (inst_stage_use(s, w, u, good, e) != 0)
			return -1;
	dray_meter_add(&s->meter, 0, inst_stage_cost_frame(s, &f));
	return 0;
}

static int
frame_job(void *ctx, unsigned worker, void *job, struct dray_err *e)
{
	struct run *r = ctx;
	struct frame_job *j = job;
	int rc = run_frame(r, &r->s->workers[worker], j, e);

	drop_job(ctx, job);
	return rc;
}

/* the one reader: file order, whole frames, into buffers that are used again */
static int
read_frames(struct run *r, struct dray_err *e)
{
	struct stage *s = r->s;
	struct frame_job *j;
	struct dray_frame f;
	size_t i;

	for (i = 0; i < s->n_uses; i++) {
		if (i > 0 && s->uses[i].frame == s->uses[i - 1].frame)
			continue;
		if (inst_stage_stopped(s, e) != 0)
			return -1;
		if ((j = malloc(sizeof(*j))) == NULL)
			return dray_fail_errno(e, "reading frames");
		j->frame = s->uses[i].frame;
		j->buf = take_buffer(r);
		dray_index_frame(s->ix, j->frame, &f);
		if (dray_bundle_read(s->b, f.at, j->buf, f.stored, e) != 0) {
			drop_job(r, j);
			return dray_wrap(e, "frame %u", (unsigned)s->uses[i].frame);
		}
		if (dray_pool_push(s->pool, j) != 0)
			return 0;	/* stopped: finish tells why */
	}
	return 0;
}

static int
start(struct run *r, struct dray_err *e)
{
	struct stage *s = r->s;
	size_t frames = dray_index_rows(s->ix, DRAY_T_FRAMES), largest = 1, i;
	struct dray_frame f;

	if ((r->first_use = calloc(frames + 1, sizeof(*r->first_use))) == NULL)
		return dray_fail_errno(e, "staging tables");
	for (i = s->n_uses; i-- > 0;) {
		r->first_use[s->uses[i].frame] = i;
		dray_index_frame(s->ix, s->uses[i].frame, &f);
		if (f.stored > largest)
			largest = f.stored;
	}
	r->bufs.total = 2 * (size_t)s->threads + 2;
	if ((r->bufs.v = calloc(r->bufs.total, sizeof(*r->bufs.v))) == NULL)
		return dray_fail_errno(e, "buffers");
	for (; r->bufs.n < r->bufs.total; r->bufs.n++)
		if ((r->bufs.v[r->bufs.n] = malloc(largest)) == NULL)
			return dray_fail_errno(e, "buffers");
	return 0;
}

static int
stage_frames(struct stage *s, struct dray_err *e)
{
	struct run r = { .s = s };
	struct dray_err read_err = { 0 };
	size_t i;
	int rc = -1, read_rc;

	if (s->n_uses == 0)
		return 0;
	if (pthread_mutex_init(&r.bufs.lock, NULL) != 0)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (pthread_cond_init(&r.bufs.free_one, NULL) != 0) {
		pthread_mutex_destroy(&r.bufs.lock);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	if (start(&r, e) != 0 ||
	    dray_pool_start(s->threads, (size_t)s->threads + 1, frame_job, drop_job, &r, &s->pool, e) != 0)
		goto out;
	read_rc = read_frames(&r, &read_err);
	if (read_rc != 0)
		dray_pool_cancel(s->pool);
	rc = dray_pool_finish(s->pool, e);
	s->pool = NULL;
	if (read_rc != 0) {
		*e = read_err;
		rc = -1;
	}
out:
	for (i = 0; i < r.bufs.n; i++)
		free(r.bufs.v[i]);
	free(r.bufs.v);
	free(r.first_use);
	pthread_cond_destroy(&r.bufs.free_one);
	pthread_mutex_destroy(&r.bufs.lock);
	return rc;
}

/* what recovery will know each staged object by */
static int
identify(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct stage *s = ctx;
	struct inst_op *op = &s->p->ops[i];
	char leaf[DRAY_NAME_MAX + 1], q[512];
	struct dray_stat st;
	int dir;

	dray_meter_add(&s->meter, 0, DRAY_COST_OP);
	if (op->now.type == DRAY_ABSENT)
		return 0;
	if (inst_place_at(&s->workers[worker].place, op->site, op->slot, "", 0, &dir, leaf, e) != 0)
		goto fail;
	if (os_stat_at(dir, leaf, &st) == -1) {
		dray_fail_errno(e, "look at the staged object");
		goto fail;
	}
	inst_ident_from(&st, &op->now);
	if (s->p->sites[op->site].fs.kind == DRAY_FS_OVERLAY)
		op->now.btime_sec = 0, op->now.btime_nsec = 0;
	if ((op->flags & INST_OP_SUBTREE) &&
	    inst_tree_digest_but(dir, leaf, &(struct inst_but){ op->path, op->len, s->p->outputs,
	    (op->flags & INST_OP_OUTPUT_INSIDE) != 0 ? s->p->n_outputs : 0 }, op->trees->now, e) != 0)
		goto fail;
	return 0;
fail:
	return dray_wrap(e, "%s", dray_quote(op->path, op->len, q, sizeof(q)));
}

/* and what a directory that goes as a whole looked like, to keep what somebody adds to it later */
static int
identify_old(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct stage *s = ctx;
	struct inst_op *op = &s->p->ops[i];
	char leaf[DRAY_NAME_MAX + 1], q[512];
	int dir, r;

	if (!(op->flags & INST_OP_SUBTREE) || op->old.type != DRAY_DIR)
		return 0;
	r = dray_walk_parent(&s->workers[worker].live, op->path, op->len, &dir, leaf, e);
	if (r > 0)
		dray_fail(e, DRAY_E_DRIFT, "went away since the plan");
	if (r == 0)
		r = inst_tree_digest(dir, leaf, op->trees->old, e);
	return r == 0 ? 0 : dray_wrap(e, "%s", dray_quote(op->path, op->len, q, sizeof(q)));
}

/* contents by their recipes, in passes: what could not be made gets its next recipe in the next one */
static int
make_contents(struct stage *s, struct dray_err *e)
{
	uint64_t left;
	bool again;

	do {
		if (inst_stage_list_uses(s, e) != 0 || inst_stage_cost_left(s, false, &left, e) != 0)
			return -1;
		s->meter.costs = s->meter.cost + left;
		if (inst_stage_make_copies(s, e) != 0 || stage_frames(s, e) != 0 ||
		    inst_stage_fall_back(s, &again, e) != 0)
			return -1;
	} while (again);
	return 0;
}

/* what the index, the plan and the lists of staging take */
static uint64_t
tables(const struct stage *s)
{
	return dray_index_bytes(s->ix) + s->p->n_ops * (sizeof(struct inst_op) + sizeof(struct use)) +
	    s->p->n_nodes * (sizeof(struct inst_node) + sizeof(struct want) + 3 * sizeof(uint32_t)) +
	    s->p->n_facts * sizeof(struct inst_fact);
}

/* what a worker needs to make .gz again: the largest of them, and the contexts; 0 if there are none */
static uint64_t
for_gzip(const struct dray_index *ix)
{
	struct dray_content c;
	struct dray_recipe r;
	uint64_t most = 0;

	for (uint32_t i = 0; i < dray_index_rows(ix, DRAY_T_CONTENTS); i++) {
		dray_index_content(ix, i, &c);
		for (uint32_t k = 0; k < c.recipe_count; k++) {
			dray_index_recipe(ix, c.recipe_first + k, &r);
			if (r.wrap != DRAY_DEFLATE_NONE && c.size > most)
				most = c.size;
		}
	}
	return most > 0 ? most + DRAY_GZIP_CONTEXTS : 0;
}

/* a worker's share: one frame's output, the most that one builds on, two frames as they are stored, a .gz; and two more
 * frames for the reader */
static unsigned
keep_to_memory(const struct stage *s)
{
	uint64_t share, ref, most_ref = 0, most_stored = 0, left;
	uint32_t n = dray_index_rows(s->ix, DRAY_T_FRAMES);
	struct dray_frame f;
	struct dray_range r;

	if (s->o->memory == 0)
		return s->threads;
	for (uint32_t i = 0; i < n; i++) {
		dray_index_frame(s->ix, i, &f);
		ref = 0;
		for (uint32_t k = 0; k < f.range_count; k++) {
			dray_index_range(s->ix, f.range_first + k, &r);
			ref += r.len;	/* the index has proved that the sum stays below the limit */
		}
		if (ref > most_ref)
			most_ref = ref;
		if (f.stored > most_stored)
			most_stored = f.stored;
	}
	share = dray_bundle_desc(s->b)->limit_frame + most_ref + 2 * most_stored + for_gzip(s->ix);
	left = s->o->memory;
	left -= left < tables(s) + 2 * most_stored ? left : tables(s) + 2 * most_stored;
	for (unsigned t = s->threads; t > 1; t--)
		if (share <= left / t)
			return t;
	return 1;
}

int
inst_stage(int rootfd, const struct dray_bundle *b, struct inst_plan *p, struct inst_tx *tx,
    struct inst_stage_opts *o, struct dray_err *e)
{
	struct stage s = { .root = rootfd, .b = b, .ix = dray_bundle_index(b), .p = p, .tx = tx, .o = o,
		.threads = o->threads == 0 ? 1 : o->threads, .meter = { .tell = o->progress, .ctx = o->ctx } };
	int rc = -1;

	s.threads = o->workers = keep_to_memory(&s);
	if (inst_stage_workers(&s, s.threads, e) != 0 || inst_stage_collect(&s, e) != 0 || inst_stage_cost_left(&s, true, &s.meter.costs, e) != 0 ||
	    dray_parallel(s.threads, p->n_swaps, 8, identify_old, &s, e) != 0 || inst_stage_write_manifest(&s, e) != 0 ||
	    inst_stage_outputs(&s, e) != 0 ||
	    inst_stage_make_dirs(&s, e) != 0 || inst_stage_reuse(&s, e) != 0 || inst_stage_make_plain(&s, e) != 0 ||
	    make_contents(&s, e) != 0 || inst_stage_make_links(&s, e) != 0 ||
	    inst_stage_close_dirs(&s, e) != 0 || inst_stage_fflags(&s, e) != 0 || dray_parallel(s.threads, p->n_swaps, 64, identify, &s, e) != 0)
		goto out;
	rc = 0;
out:
	inst_stage_release(&s);
	return rc == 0 ? 0 : dray_wrap(e, "staging");
}
