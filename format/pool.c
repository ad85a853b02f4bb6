/*
 * pool.c - worker threads behind a bounded queue, and a parallel loop.
 *
 * One mutex per pool guards everything that changes; jobs run without it. Because jobs begin in the order they were
 * pushed, every job with a lower number than a failed one has begun and is waited for: which failure is told does
 * not depend on the threads' luck.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "dray/num.h"
#include "dray/pool.h"

#define THREADS_MAX 256u
#define DEPTH_MAX ((size_t)1 << 20)

struct job {
	void *data;
	uint64_t seq;
};

struct worker {
	struct dray_pool *pool;
	unsigned number;
	pthread_t thread;
};

struct dray_pool {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	dray_job_fn *run;
	void (*drop)(void *ctx, void *job);
	void *ctx;
	struct job *ring;
	size_t depth, head, count;
	uint64_t next_seq;
	bool stopped;		/* a job failed or the pool was cancelled */
	bool cancelled;		/* ... before any job had failed */
	bool closing;		/* no more pushes */
	bool failed;
	uint64_t failed_seq;
	struct dray_err err;
	struct worker *workers;
	unsigned n_workers;
};

int
dray_thread_start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(t, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

static void
stop_locked(struct dray_pool *p)
{
	p->stopped = true;
	pthread_cond_broadcast(&p->filled);
	pthread_cond_broadcast(&p->emptied);
}

static void
note_failure(struct dray_pool *p, uint64_t seq, struct dray_err *e)
{
	pthread_mutex_lock(&p->lock);
	if (e->code == DRAY_OK && !p->stopped)
		dray_fail(e, DRAY_E_IO, "a job failed without a reason");
	if (e->code != DRAY_OK && !p->cancelled && (!p->failed || seq < p->failed_seq)) {
		p->failed = true;
		p->failed_seq = seq;
		p->err = *e;
	}
	stop_locked(p);
	pthread_mutex_unlock(&p->lock);
}

/* the next job; false when there will be none. *run: false if it is to be dropped */
static bool
next_job(struct dray_pool *p, struct job *job, bool *run)
{
	bool got;

	pthread_mutex_lock(&p->lock);
	while (p->count == 0 && !p->closing && !p->stopped)
		pthread_cond_wait(&p->filled, &p->lock);
	got = p->count != 0;
	if (got) {
		*job = p->ring[p->head];
		p->head = (p->head + 1) % p->depth;
		p->count--;
		pthread_cond_signal(&p->emptied);
	}
	*run = !p->stopped;
	pthread_mutex_unlock(&p->lock);
	return got;
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	struct dray_pool *p = w->pool;
	struct dray_err e;
	struct job job;
	bool run;

	while (next_job(p, &job, &run)) {
		if (!run) {
			if (p->drop != NULL)
				p->drop(p->ctx, job.data);
			continue;
		}
		dray_err_clear(&e);
		if (p->run(p->ctx, w->number, job.data, &e) != 0)
			note_failure(p, job.seq, &e);
	}
	return NULL;
}

static void
join_and_free(struct dray_pool *p)
{
	unsigned i;

	for (i = 0; i < p->n_workers; i++)
		pthread_join(p->workers[i].thread, NULL);
	pthread_cond_destroy(&p->filled);
	pthread_cond_destroy(&p->emptied);
	pthread_mutex_destroy(&p->lock);
	free(p->workers);
	free(p->ring);
	free(p);
}

int
dray_pool_start(unsigned threads, size_t depth, dray_job_fn *run, void (*drop)(void *ctx, void *job),
    void *ctx, struct dray_pool **out, struct dray_err *e)
{
	struct dray_pool *p;
	unsigned i;
	int err;

	*out = NULL;
	if (threads < 1 || threads > THREADS_MAX || depth < 1 || depth > DEPTH_MAX)
		return dray_fail(e, DRAY_E_IO, "%u threads with room for %zu jobs: no such pool", threads, depth);
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->ring = calloc(depth, sizeof(*p->ring));
	p->workers = calloc(threads, sizeof(*p->workers));
	if (p->ring == NULL || p->workers == NULL) {
		free(p->ring);
		free(p->workers);
		free(p);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->filled, NULL);
	pthread_cond_init(&p->emptied, NULL);
	p->run = run;
	p->drop = drop;
	p->ctx = ctx;
	p->depth = depth;
	for (i = 0; i < threads; i++) {
		p->workers[i].pool = p;
		p->workers[i].number = i;
		/* all or none: jobs may wait for each other and count on their number */
		if ((err = dray_thread_start(&p->workers[i].thread, work, &p->workers[i])) != 0) {
			dray_pool_cancel(p);
			join_and_free(p);
			errno = err;
			return dray_fail_errno(e, "cannot start thread %u of %u", i + 1, threads);
		}
		p->n_workers = i + 1;
	}
	*out = p;
	return 0;
}

int
dray_pool_push(struct dray_pool *p, void *job)
{
	bool queued = false;

	pthread_mutex_lock(&p->lock);
	while (p->count == p->depth && !p->stopped)
		pthread_cond_wait(&p->emptied, &p->lock);
	if (!p->stopped) {
		p->ring[(p->head + p->count) % p->depth] =
		    (struct job){ .data = job, .seq = p->next_seq++ };
		p->count++;
		queued = true;
		pthread_cond_signal(&p->filled);
	}
	pthread_mutex_unlock(&p->lock);
	if (!queued && p->drop != NULL)
		p->drop(p->ctx, job);
	return queued ? 0 : -1;
}

bool
dray_pool_stopped(struct dray_pool *p)
{
	bool stopped;

	pthread_mutex_lock(&p->lock);
	stopped = p->stopped;
	pthread_mutex_unlock(&p->lock);
	return stopped;
}

void
dray_pool_cancel(struct dray_pool *p)
{
	pthread_mutex_lock(&p->lock);
	if (!p->failed)
		p->cancelled = true;
	stop_locked(p);
	pthread_mutex_unlock(&p->lock);
}

int
dray_pool_finish(struct dray_pool *p, struct dray_err *e)
{
	unsigned i;
	int rc;

	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->filled);
	pthread_mutex_unlock(&p->lock);
	for (i = 0; i < p->n_workers; i++)
		pthread_join(p->workers[i].thread, NULL);
	p->n_workers = 0;
	/* a cancel may have come when the last worker had already looked: then nothing is left over either */
	assert(p->count == 0);
	rc = p->stopped ? -1 : 0;
	if (p->failed)
		*e = p->err;
	join_and_free(p);
	return rc;
}

struct loop {
	int (*fn)(void *ctx, unsigned worker, size_t i, struct dray_err *e);
	void *ctx;
	size_t n, grain, chunks;
	atomic_size_t next_chunk;
	atomic_size_t fail_at;	/* lowest index known to have failed, n if none */
	pthread_mutex_t lock;	/* guards err together with lowering fail_at */
	struct dray_err err;
};

struct loop_worker {
	struct loop *loop;
	unsigned number;
	pthread_t thread;
};

static void
loop_failed(struct loop *l, size_t i, struct dray_err *e)
{
	if (e->code == DRAY_OK)
		dray_fail(e, DRAY_E_IO, "a job failed without a reason");
	pthread_mutex_lock(&l->lock);
	if (i < atomic_load(&l->fail_at)) {
		atomic_store(&l->fail_at, i);
		l->err = *e;
	}
	pthread_mutex_unlock(&l->lock);
}

/* only what lies above a known failure is skipped, so the lowest failure is always found */
static void *
loop_work(void *arg)
{
	struct loop_worker *w = arg;
	struct loop *l = w->loop;
	struct dray_err e;
	size_t c, i, end;

	while ((c = atomic_fetch_add(&l->next_chunk, 1)) < l->chunks) {
		i = c * l->grain;
		end = l->n - i < l->grain ? l->n : i + l->grain;
		for (; i < end && i < atomic_load(&l->fail_at); i++) {
			dray_err_clear(&e);
			if (l->fn(l->ctx, w->number, i, &e) != 0)
				loop_failed(l, i, &e);
		}
	}
	return NULL;
}

int
dray_parallel(unsigned threads, size_t n, size_t grain,
    int (*fn)(void *ctx, unsigned worker, size_t i, struct dray_err *e), void *ctx, struct dray_err *e)
{
	struct loop l = { .fn = fn, .ctx = ctx, .n = n, .grain = grain == 0 ? 1 : grain };
	struct loop_worker workers[THREADS_MAX];
	unsigned i, started;
	int rc = 0;

	l.chunks = n / l.grain + (n % l.grain != 0);
	atomic_init(&l.next_chunk, 0);
	atomic_init(&l.fail_at, n);
	pthread_mutex_init(&l.lock, NULL);
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	if (threads > l.chunks)
		threads = (unsigned)l.chunks;
	if (threads < 1)
		threads = 1;
	workers[0] = (struct loop_worker){ .loop = &l, .number = 0 };
	/* this thread is worker 0; a thread that cannot be had only makes it slower */
	for (started = 1; started < threads; started++) {
		workers[started] = (struct loop_worker){ .loop = &l, .number = started };
		if (dray_thread_start(&workers[started].thread, loop_work, &workers[started]) != 0)
			break;
	}
	loop_work(&workers[0]);
	for (i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&l.lock);
	if (atomic_load(&l.fail_at) != n) {
		*e = l.err;
		rc = -1;
	}
	return rc;
}
