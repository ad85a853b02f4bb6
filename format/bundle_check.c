/*
 * bundle_check.c - every byte that opening a bundle has not looked at. Source: spec/bundle-format.md, 10 "Reading".
 *
 * One reader walks the blocks in file order and hands runs of frames to workers, which hash and (deep) decode them.
 * Memory is bounded by the queue. A content of several pieces has one running hash; since jobs begin in file order and
 * pieces stand in file order, a worker that waits for its turn waits for one that already runs.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/gzip.h"
#include "dray/meter.h"
#include "dray/num.h"
#include "dray/pool.h"
#include "dray/tar.h"

#include "bundle_priv.h"

enum { JOB_BYTES = 1024 * 1024 };	/* stored bytes of one job, unless one frame is longer */

struct use {				/* a piece, seen from its frame */
	uint32_t recipe, piece;		/* piece: its number within the recipe */
};

struct whole {				/* a recipe under way: the hash of what its pieces gave so far */
	struct dray_sha256 *h;		/* made with the second piece's need; NULL for a single piece */
	uint32_t next;			/* piece whose turn it is */
	uint32_t content;
};

struct worker {
	struct dray_sha256 *h;
	struct dray_decoder *dec;
	uint8_t *out;
	size_t cap;
	struct dray_gzip_room gzip;
};

struct check {
	const struct dray_bundle *b;
	const struct dray_index *ix;
	const struct dray_check_opts *o;
	struct dray_pool *pool;
	struct worker *workers;
	unsigned n_workers;
	/* deep only */
	struct whole *wholes;		/* one per recipe */
	uint32_t *first_use;		/* per frame, and one more: where its uses begin */
	struct use *uses;
	pthread_mutex_t lock;		/* of wholes[].next */
	pthread_cond_t turn;
	struct dray_meter meter;	/* bytes hashed and unpacked */
};

struct job {
	uint32_t first, count;		/* frames, one after the other in the file */
	uint8_t *buf;
};

static bool
is_stopped(const struct check *c)
{
	return c->o->stop != NULL && c->o->stop() != 0;
}

static int
stopped(struct dray_err *e)
{
	return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
}

/* bytes that a frame gives; one with base ranges needs bytes that are not in the bundle */
static uint32_t
unpacked(const struct check *c, const struct dray_frame *f)
{
	return c->o->deep && f->range_count == 0 ? f->out : 0;
}

/* what looking at it costs, .gz that are made again included */
static uint64_t
cost_of(const struct check *c, uint32_t frame, const struct dray_frame *f)
{
	uint64_t gz = 0;
	struct dray_recipe r;
	struct dray_piece p;

	if (unpacked(c, f) == 0)
		return (uint64_t)f->stored * DRAY_COST_HASH;
	for (uint32_t i = c->first_use[frame]; i < c->first_use[frame + 1]; i++) {
		dray_index_recipe(c->ix, c->uses[i].recipe, &r);
		dray_index_piece(c->ix, r.piece_first + c->uses[i].piece, &p);
		gz += r.wrap != DRAY_DEFLATE_NONE ? p.len : 0;
	}
	return dray_cost_frame(f, 0, 0) + gz * DRAY_COST_DEFLATE;
}

/* bytes between frames */
static void
tell(struct check *c, uint64_t len)
{
	dray_meter_add(&c->meter, len, len * DRAY_COST_HASH);
}

static int
compare_content(const struct check *c, const uint8_t got[32], uint32_t content, struct dray_err *e)
{
	struct dray_content ct;

	dray_index_content(c->ix, content, &ct);
	if (memcmp(got, ct.sha256, 32) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "content %u does not have its hash after unpacking", content);
	return 0;
}

/* wait until all pieces before ours were hashed; -1: another job failed, there is nothing to tell */
static int
await_turn(struct check *c, struct whole *w, uint32_t piece)
{
	struct timespec ts;
	int rc = 0;

	pthread_mutex_lock(&c->lock);
	while (w->next != piece) {
		if (dray_pool_stopped(c->pool)) {
			rc = -1;
			break;
		}
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += 50 * 1000 * 1000;	/* only to look for a stopped pool; turns are signalled */
		ts.tv_sec += ts.tv_nsec / 1000000000;
		ts.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&c->turn, &c->lock, &ts);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

static int
use_inside(const struct check *c, struct worker *w, const struct dray_recipe *r, uint32_t content, const uint8_t *p, size_t len,
    struct dray_err *e)
{
	struct dray_content ct;
	const uint8_t *gz;
	uint8_t got[32];

	dray_index_content(c->ix, content, &ct);
	if (dray_gzip_content(&w->gzip, r->wrap, p, len, (size_t)ct.size, &gz, e) != 0 ||
	    dray_sha256_once(w->h, gz, (size_t)ct.size, got, e) != 0)
		return -1;
	return compare_content(c, got, content, e);
}

static int
use_piece(struct check *c, struct worker *w, const struct use *u, const uint8_t *out, struct dray_err *e)
{
	struct whole *whole = &c->wholes[u->recipe];
	struct dray_recipe r;
	struct dray_piece p;
	uint8_t got[32];

	dray_index_recipe(c->ix, u->recipe, &r);
	dray_index_piece(c->ix, r.piece_first + u->piece, &p);
	if (r.wrap != DRAY_DEFLATE_NONE)
		return use_inside(c, w, &r, whole->content, out + p.offset, p.len, e);
	if (r.piece_count == 1) {
		if (dray_sha256_once(w->h, out + p.offset, p.len, got, e) != 0)
			return -1;
		return compare_content(c, got, whole->content, e);
	}
	if (await_turn(c, whole, u->piece) != 0)
		return -1;	/* without a reason: the pool keeps the one that stopped it */
	if (whole->h == NULL && (dray_sha256_new(&whole->h, e) != 0 || dray_sha256_begin(whole->h, e) != 0))
		return -1;
	if (dray_sha256_add(whole->h, out + p.offset, p.len, e) != 0)
		return -1;
	if (u->piece + 1 == r.piece_count) {
		if (dray_sha256_end(whole->h, got, e) != 0)
			return -1;
		dray_sha256_free(whole->h);
		whole->h = NULL;
		return compare_content(c, got, whole->content, e);
	}
	pthread_mutex_lock(&c->lock);
	whole->next++;
	pthread_cond_broadcast(&c->turn);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

/* where the output of a filtered frame, which has one use, stands in its content */
static uint64_t
content_at(const struct check *c, uint32_t frame)
{
	const struct use *u = &c->uses[c->first_use[frame]];
	struct dray_recipe r;
	struct dray_piece p;
	uint64_t at = 0;

	if (c->first_use[frame] == c->first_use[frame + 1])
		return 0;	/* a part of a delta: nothing is compared */
	dray_index_recipe(c->ix, u->recipe, &r);
	for (uint32_t i = 0; i < u->piece; i++) {
		dray_index_piece(c->ix, r.piece_first + i, &p);
		at += p.len;
	}
	return at;
}

static int
decode_frame(struct check *c, struct worker *w, uint32_t frame, const struct dray_frame *f, const uint8_t *stored,
    struct dray_err *e)
{
	uint64_t at = f->filter != DRAY_FILTER_NONE ? content_at(c, frame) : 0;

	if (w->dec == NULL && dray_decoder_new(&w->dec, e) != 0)
		return -1;
	if (w->cap < f->out) {
		free(w->out);
		w->cap = 0;
		if ((w->out = malloc(f->out)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		w->cap = f->out;
	}
	if (dray_decode_frame(w->dec, f, stored, NULL, at, c->b->desc, w->out, e) != 0)
		return -1;
	for (uint32_t i = c->first_use[frame]; i < c->first_use[frame + 1]; i++)
		if (use_piece(c, w, &c->uses[i], w->out, e) != 0)
			return -1;
	return 0;
}

static void
drop_job(void *ctx, void *job)
{
	struct job *j = job;

	(void)ctx;
	free(j->buf);
	free(j);
}

static int
run_job(void *ctx, unsigned worker, void *job, struct dray_err *e)
{
	struct check *c = ctx;
	struct worker *w = &c->workers[worker];
	struct job *j = job;
	const uint8_t *p = j->buf;
	struct dray_frame f;
	uint8_t got[32];
	int rc = 0;

	if (w->h == NULL)
		rc = dray_sha256_new(&w->h, e);
	for (uint32_t i = j->first; rc == 0 && i < j->first + j->count; i++) {
		if (is_stopped(c)) {
			rc = stopped(e);
			break;
		}
		dray_index_frame(c->ix, i, &f);
		if ((rc = dray_sha256_once(w->h, p, f.stored, got, e)) == 0 && memcmp(got, f.sha256, sizeof got) != 0)
			rc = dray_fail(e, DRAY_E_FORMAT, "its bytes do not have the hash in the index");
		if (rc == 0 && unpacked(c, &f) > 0)
			rc = decode_frame(c, w, i, &f, p, e);
		if (rc != 0 && e->code != DRAY_OK)
			dray_bundle_blame(c->ix, i, e);
		if (rc == 0)
			dray_meter_add(&c->meter, f.stored + (uint64_t)unpacked(c, &f), cost_of(c, i, &f));
		p += f.stored;
	}
	drop_job(NULL, j);
	return rc;
}

/* read frames [first, first + count), which stand one after the other, and queue them; 1: the pool has stopped */
static int
queue_run(struct check *c, uint32_t first, uint32_t count, uint64_t at, size_t len, struct dray_err *e)
{
	struct job *j;

	if ((j = calloc(1, sizeof *j)) == NULL || (j->buf = malloc(len)) == NULL) {
		free(j);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	j->first = first;
	j->count = count;
	if (dray_bundle_read(c->b, at, j->buf, len, e) != 0) {
		drop_job(NULL, j);
		return -1;
	}
	return dray_pool_push(c->pool, j) != 0 ? 1 : 0;
}

/* one block: header, frames back to back, padding. *frame and *at move behind it. 1: the pool has stopped */
static int
walk_block(struct check *c, uint32_t block, uint32_t *frame, uint64_t *at, struct dray_err *e)
{
	uint32_t n = dray_index_rows(c->ix, DRAY_T_FRAMES), end = *frame, first = *frame;
	uint64_t size = 0, len = 0, start = *at + DRAY_TAR_BLOCK;
	struct dray_frame f;
	char name[32];
	int rc;

	for (; end < n; end++) {
		dray_index_frame(c->ix, end, &f);
		if (f.block != block)
			break;
		if (f.at != start + size)
			return dray_fail(e, DRAY_E_FORMAT, "frame %u is not where its block puts it", end);
		size += f.stored;	/* at most 2^32 frames of 2^32 bytes: the file's length is checked below 2^63 */
	}
	snprintf(name, sizeof name, "blocks/%06" PRIu32, block);
	if (size == 0)
		return dray_fail(e, DRAY_E_FORMAT, "%s holds no frame", name);
	if (dray_bundle_header(c->b, *at, name, size, e) != 0)
		return -1;
	for (uint32_t i = first; i < end; i++) {
		dray_index_frame(c->ix, i, &f);
		if (len > 0 && len + f.stored > JOB_BYTES) {
			if ((rc = queue_run(c, first, i - first, start, (size_t)len, e)) != 0)
				return rc;
			start += len;
			first = i;
			len = 0;
		}
		len += f.stored;
	}
	if ((rc = queue_run(c, first, end - first, start, (size_t)len, e)) != 0)
		return rc;
	if (dray_bundle_padding(c->b, start + len, e) != 0)
		return -1;
	*frame = end;
	*at = (start + len + DRAY_TAR_BLOCK - 1) / DRAY_TAR_BLOCK * DRAY_TAR_BLOCK;
	tell(c, DRAY_TAR_BLOCK + *at - (start + len));
	return 0;
}

static int
walk_blocks(struct check *c, struct dray_err *e)
{
	uint64_t at = dray_bundle_head_len(c->b);
	uint8_t end[DRAY_TAR_END];
	struct dray_frame f;
	uint32_t frame = 0;
	int rc;

	c->meter.total = c->b->length;
	c->meter.costs = (c->b->length - DRAY_TAR_END) * DRAY_COST_HASH;	/* which is read last and not told */
	for (uint32_t i = 0; i < dray_index_rows(c->ix, DRAY_T_FRAMES); i++) {
		dray_index_frame(c->ix, i, &f);
		c->meter.total += unpacked(c, &f);
		c->meter.costs += cost_of(c, i, &f) - (uint64_t)f.stored * DRAY_COST_HASH;
	}
	tell(c, at);
	for (uint32_t i = 0; i < c->b->desc->blocks; i++)
		if ((rc = walk_block(c, i, &frame, &at, e)) != 0)
			return rc;
	if (frame != dray_index_rows(c->ix, DRAY_T_FRAMES) || at + DRAY_TAR_END != c->b->length)
		return dray_fail(e, DRAY_E_FORMAT, "the blocks end at byte %" PRIu64 ", which does not fit the length", at);
	if (dray_bundle_read(c->b, at, end, sizeof end, e) != 0)
		return -1;
	for (size_t i = 0; i < sizeof end; i++)
		if (end[i] != 0)
			return dray_fail(e, DRAY_E_FORMAT, "byte %" PRIu64 " of the end mark is not zero", at + i);
	return 0;
}

/* who uses what: the pieces of all full recipes, sorted by frame (counting sort, stable) */
static int
list_uses(struct check *c, struct dray_err *e)
{
	uint32_t contents = dray_index_rows(c->ix, DRAY_T_CONTENTS), frames = dray_index_rows(c->ix, DRAY_T_FRAMES);
	struct dray_content ct;
	struct dray_recipe r;
	struct dray_piece p;

	c->wholes = calloc((size_t)dray_index_rows(c->ix, DRAY_T_RECIPES) + 1, sizeof *c->wholes);
	c->first_use = calloc((size_t)frames + 2, sizeof *c->first_use);
	c->uses = calloc((size_t)dray_index_rows(c->ix, DRAY_T_PIECES) + 1, sizeof *c->uses);
	if (c->wholes == NULL || c->first_use == NULL || c->uses == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	/* first round counts into [frame + 2], second fills through [frame + 1], which ends as the begin of the next */
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < contents; i++) {
			dray_index_content(c->ix, i, &ct);
			for (uint32_t j = 0; j < ct.recipe_count; j++) {
				uint32_t row = ct.recipe_first + j, last = 0;

				dray_index_recipe(c->ix, row, &r);
				if (r.kind != DRAY_RECIPE_FULL)
					continue;	/* needs base bytes, which a bundle does not have */
				c->wholes[row].content = i;
				for (uint32_t k = 0; k < r.piece_count; k++) {
					dray_index_piece(c->ix, r.piece_first + k, &p);
					if (p.frame < last)
						return dray_fail(e, DRAY_E_FORMAT, "content %u: pieces are not in file order", i);
					last = p.frame;
					if (fill == 0)
						c->first_use[p.frame + 2]++;
					else
						c->uses[c->first_use[p.frame + 1]++] = (struct use){ row, k };
				}
			}
		}
		for (uint32_t i = 2; fill == 0 && i < frames + 2; i++)
			c->first_use[i] += c->first_use[i - 1];
	}
	return 0;
}

static int
check_members(const struct dray_bundle *b, struct dray_err *e)
{
	uint8_t *p;
	size_t len;

	/* index/00 and index/01 were hashed when the bundle was opened */
	for (size_t i = 0; i < b->desc->n_members; i++) {
		if (i == 1 || i == 2)
			continue;
		if (dray_bundle_member(b, b->desc->members[i].name, SIZE_MAX, &p, &len, e) != 0)
			return -1;
		free(p);
	}
	return 0;
}

static void
free_check(struct check *c)
{
	for (unsigned i = 0; c->workers != NULL && i < c->n_workers; i++) {
		dray_sha256_free(c->workers[i].h);
		dray_decoder_free(c->workers[i].dec);
		dray_gzip_room_free(&c->workers[i].gzip);
		free(c->workers[i].out);
	}
	for (uint32_t i = 0; c->wholes != NULL && i < dray_index_rows(c->ix, DRAY_T_RECIPES); i++)
		dray_sha256_free(c->wholes[i].h);
	free(c->workers);
	free(c->wholes);
	free(c->first_use);
	free(c->uses);
	pthread_cond_destroy(&c->turn);
	pthread_mutex_destroy(&c->lock);
}

int
dray_bundle_check(const struct dray_bundle *b, const struct dray_check_opts *o, struct dray_err *e)
{
	struct check c = { .b = b, .ix = b->ix, .o = o, .n_workers = o->threads == 0 ? 1 : o->threads,
		.meter = { .tell = o->progress, .ctx = o->ctx } };
	struct dray_err read_err = { 0 };
	int rc = -1, walked;

	if (b->ix == NULL || b->head_only)
		return dray_fail(e, DRAY_E_IO, "only a whole bundle with its index can be checked");
	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.turn, NULL);
	if (check_members(b, e) != 0 || (o->deep && list_uses(&c, e) != 0))
		goto out;
	if ((c.workers = calloc(c.n_workers, sizeof *c.workers)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (dray_pool_start(c.n_workers, c.n_workers * 2u, run_job, drop_job, &c, &c.pool, e) != 0)
		goto out;
	walked = walk_blocks(&c, &read_err);
	if (walked < 0)
		dray_pool_cancel(c.pool);
	rc = dray_pool_finish(c.pool, e);
	if (walked < 0) {	/* what the reader found comes first */
		*e = read_err;
		rc = -1;
	}
out:
	free_check(&c);
	return rc;
}
