/*
 * pack.c - one reader goes through the contents in order and hashes them again, workers compress, and whoever
 * finishes the frame that is due writes it and all that wait behind it. So the order of the file is the order of the
 * plan, and memory is bounded by the slots of the ring.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/pack.h"
#include "builder/pack_plan.h"
#include "builder/temp.h"
#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/pool.h"
#include "tool/tool.h"

struct slot {
	size_t frame;			/* number in the plan */
	uint8_t *in, *out;
	size_t in_cap, out_cap, out_len;
	uint8_t sha256[32];
	bool done;
};

struct packer {
	const struct build_pack_opts *o;
	const struct build_release *target;
	struct build_resolved *rs;
	struct build_packed *to;
	struct pack_plan plan;
	struct dray_encoder **encoders;	/* one per thread */
	struct dray_sha256 **hashers;	/* the same; the last one is the reader's */
	struct dray_pool *pool;
	struct slot *ring;
	size_t n_ring;

	pthread_mutex_t lock;		/* of all below and of rs->tables */
	pthread_cond_t moved;		/* a slot became free, or the pool stopped */
	size_t next;			/* the frame that is due */
	bool failed;
};

/* the frame that is due, under the lock */
static int
write_frame(struct packer *k, const struct slot *s, struct dray_err *e)
{
	struct build_packed *to = k->to;
	uint32_t len = (uint32_t)s->out_len, out = k->plan.frames[s->frame].out, row;
	struct dray_frame f = { .kind = DRAY_FRAME_PLAIN, .stored = len, .out = out, .sha256 = s->sha256 };

	if (to->n_blocks == 0 || to->blocks[to->n_blocks - 1] + len > BUILD_BLOCK_BYTES) {
		if (to->n_blocks == to->cap_blocks) {
			size_t cap = to->cap_blocks == 0 ? 64 : to->cap_blocks * 2;
			uint64_t *v = realloc(to->blocks, cap * sizeof(*v));

			if (v == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			to->blocks = v;
			to->cap_blocks = cap;
		}
		to->blocks[to->n_blocks++] = 0;
	}
	f.block = (uint32_t)(to->n_blocks - 1);
	if (build_temp_write(to->fd, to->stored, s->out, len, e) != 0)
		return dray_wrap(e, "temporary file in %s", k->o->dir);
	if (dray_iw_frame(k->rs->tables, &f, NULL, 0, &row, e) != 0)
		return -1;
	to->blocks[to->n_blocks - 1] += len;
	to->stored += len;
	to->plain += out;
	to->n_frames++;
	if (len > to->max_stored)
		to->max_stored = len;
	if (out > to->max_out)
		to->max_out = out;
	return 0;
}

/* mark @s done, then write all frames that are due */
static int
deliver(struct packer *k, struct slot *s, struct dray_err *e)
{
	uint64_t plain;
	int rc = 0;

	pthread_mutex_lock(&k->lock);
	s->done = true;
	while (rc == 0 && !k->failed) {
		struct slot *due = &k->ring[k->next % k->n_ring];

		if (!due->done || due->frame != k->next)
			break;
		if ((rc = write_frame(k, due, e)) == 0) {
			due->done = false;
			k->next++;
		}
	}
	plain = k->to->plain;
	k->failed |= rc != 0;
	pthread_cond_broadcast(&k->moved);
	pthread_mutex_unlock(&k->lock);
	if (rc == 0 && k->o->progress != NULL)
		k->o->progress(k->o->ctx, plain, k->rs->wanted_bytes);
	return rc;
}

static int
encode(void *ctx, unsigned worker, void *job, struct dray_err *e)
{
	struct packer *k = ctx;
	struct slot *s = job;

	if (dray_encode(k->encoders[worker], s->in, k->plan.frames[s->frame].out, s->out, s->out_cap, &s->out_len,
	    e) == 0 && dray_sha256_once(k->hashers[worker], s->out, s->out_len, s->sha256, e) == 0 &&
	    deliver(k, s, e) == 0)
		return 0;
	/* the reader may wait for this very slot */
	pthread_mutex_lock(&k->lock);
	k->failed = true;
	pthread_cond_broadcast(&k->moved);
	pthread_mutex_unlock(&k->lock);
	return -1;
}

static int
room_in(uint8_t **buf, size_t *cap, size_t want, struct dray_err *e)
{
	uint8_t *p;

	if (want <= *cap)
		return 0;
	if ((p = realloc(*buf, want)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*buf = p;
	*cap = want;
	return 0;
}

/* wait until the slot of frame @i has been written; NULL: a worker failed */
static struct slot *
free_slot(struct packer *k, size_t i)
{
	struct slot *s = &k->ring[i % k->n_ring];
	bool failed;

	pthread_mutex_lock(&k->lock);
	while (!k->failed && i >= k->next + k->n_ring)
		pthread_cond_wait(&k->moved, &k->lock);
	failed = k->failed;
	pthread_mutex_unlock(&k->lock);
	return failed ? NULL : s;
}

struct reading {
	struct build_reader r;		/* of the content that is open; fd -1: none */
	struct dray_sha256 *hash;
};

static void
close_reader(struct build_reader *r)
{
	if (r->owned && r->fd != -1)
		close(r->fd);
	*r = (struct build_reader){ .fd = -1 };
}

/* the bytes of @part into @to; the whole content is hashed from part to part and compared at its end */
static int
read_part(struct packer *k, struct reading *rd, const struct pack_part *part, uint8_t *to, struct dray_err *e)
{
	const struct build_content *c = &k->rs->contents[part->content];
	const struct build_node *nd = &k->target->v[c->node];
	uint8_t sum[32];

	if (part->at == 0) {
		close_reader(&rd->r);
		if (k->target->open(k->target, nd, &rd->r, e) != 0 || dray_sha256_begin(rd->hash, e) != 0)
			return -1;
	}
	for (size_t got = 0; got < part->len;) {
		ssize_t n = pread(rd->r.fd, to + got, part->len - got, (off_t)(rd->r.at + part->at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dray_fail_errno(e, "cannot be read");
		if (n == 0)
			return dray_fail(e, DRAY_E_IO, "changed since the tree was read (it is shorter now)");
		got += (size_t)n;
	}
	if (dray_sha256_add(rd->hash, to, part->len, e) != 0)
		return -1;
	if (part->at + part->len < c->size)
		return 0;
	close_reader(&rd->r);
	if (dray_sha256_end(rd->hash, sum, e) != 0)
		return -1;
	if (memcmp(sum, c->sha256, sizeof(sum)) != 0)
		return dray_fail(e, DRAY_E_IO, "changed since the tree was read");
	return 0;
}

/* all frames into the pool; -1 with e->code DRAY_OK: a worker failed and knows why */
static int
feed(struct packer *k, struct dray_err *e)
{
	struct reading rd = { .r = { .fd = -1 }, .hash = k->hashers[k->o->threads] };
	int rc = -1;

	for (size_t i = 0; i < k->plan.n_frames; i++) {
		const struct pack_frame *f = &k->plan.frames[i];
		struct slot *s = free_slot(k, i);
		size_t at = 0;

		if (s == NULL)
			goto out;
		if (tool_signal_seen() != 0) {
			dray_fail(e, DRAY_E_SIGNAL, "interrupted");
			goto out;
		}
		s->frame = i;
		if (room_in(&s->in, &s->in_cap, f->out, e) != 0 ||
		    room_in(&s->out, &s->out_cap, dray_encode_bound(f->out), e) != 0)
			goto out;
		for (size_t p = f->first; p < f->first + f->n; p++) {
			const struct pack_part *part = &k->plan.parts[p];
			const struct build_node *nd = &k->target->v[k->rs->contents[part->content].node];

			if (read_part(k, &rd, part, s->in + at, e) != 0) {
				if (e->code == DRAY_E_IO)
					dray_hint(e, "build from a tree that is at rest; nothing was written");
				build_path_err(e, k->target, nd->path, nd->len);
				goto out;
			}
			at += part->len;
		}
		if (dray_pool_push(k->pool, s) != 0)
			goto out;
	}
	rc = 0;
out:
	close_reader(&rd.r);
	return rc;
}

static int
run(struct packer *k, struct dray_err *e)
{
	struct dray_err mine = { .code = DRAY_OK };
	unsigned threads = k->o->threads;
	int rc;

	k->n_ring = 2 * (size_t)threads + 2;
	k->ring = calloc(k->n_ring, sizeof(*k->ring));
	k->encoders = calloc(threads, sizeof(struct dray_encoder *));
	k->hashers = calloc(threads + 1u, sizeof(struct dray_sha256 *));
	if (k->ring == NULL || k->encoders == NULL || k->hashers == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned i = 0; i <= threads; i++)
		if ((i < threads && dray_encoder_new(k->o->level, &k->encoders[i], e) != 0) ||
		    dray_sha256_new(&k->hashers[i], e) != 0)
			return -1;
	if (dray_pool_start(threads, k->n_ring, encode, NULL, k, &k->pool, e) != 0)
		return -1;
	rc = feed(k, &mine);
	if (rc != 0)
		dray_pool_cancel(k->pool);
	if (dray_pool_finish(k->pool, e) != 0 && mine.code == DRAY_OK)
		return -1;
	if (rc != 0)
		*e = mine;	/* the reader's own failure, or its signal */
	return rc;
}

static void
packer_free(struct packer *k)
{
	for (size_t i = 0; k->ring != NULL && i < k->n_ring; i++) {
		free(k->ring[i].in);
		free(k->ring[i].out);
	}
	for (unsigned i = 0; k->encoders != NULL && i < k->o->threads; i++)
		dray_encoder_free(k->encoders[i]);
	for (unsigned i = 0; k->hashers != NULL && i <= k->o->threads; i++)
		dray_sha256_free(k->hashers[i]);
	free(k->ring);
	free(k->encoders);
	free(k->hashers);
	build_pack_plan_free(&k->plan);
	pthread_cond_destroy(&k->moved);
	pthread_mutex_destroy(&k->lock);
}

int
build_pack(const struct build_release *target, struct build_resolved *rs, const struct build_pack_opts *o,
    struct build_packed **out, struct dray_err *e)
{
	struct build_packed *to = calloc(1, sizeof(*to));
	struct packer k = { .o = o, .target = target, .rs = rs, .to = to };
	int rc = -1;

	*out = NULL;
	if (to == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	to->fd = -1;
	pthread_mutex_init(&k.lock, NULL);
	pthread_cond_init(&k.moved, NULL);
	if (build_pack_plan_make(rs, &k.plan, e) != 0)
		goto out;
	if (build_temp_unnamed(o->dir, &to->fd, e) != 0) {
		dray_wrap(e, "%s", o->dir);
		goto out;
	}
	if ((k.plan.n_frames > 0 && run(&k, e) != 0) || build_pack_plan_recipes(rs, &k.plan, e) != 0)
		goto out;
	*out = to;
	to = NULL;
	rc = 0;
out:
	packer_free(&k);
	build_packed_free(to);
	return rc;
}

void
build_packed_free(struct build_packed *p)
{
	if (p == NULL)
		return;
	if (p->fd != -1)
		close(p->fd);
	free(p->blocks);
	free(p);
}
