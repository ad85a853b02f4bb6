/*
 * pool.h - worker threads behind a bounded queue, and a parallel loop.
 *
 * The first failure stops the pool: later pushes return -1, jobs not yet begun are passed to the drop function,
 * and dray_pool_finish hands over the first error (lowest sequence number among those that failed). A job that gives
 * up because it saw dray_pool_stopped returns -1 with e->code DRAY_OK: it is never taken for the cause.
 */
#ifndef DRAY_POOL_H
#define DRAY_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct dray_pool;

/** dray_thread_start - a thread with all signals blocked, which are the main thread's business. Return: 0, or errno */
DRAY_MUST_CHECK int dray_thread_start(pthread_t *t, void *(*fn)(void *), void *arg);

/* @worker: 0 .. threads-1, for per-thread scratch. The job is the callee's to free. Return 0 or -1 with @e. */
typedef int dray_job_fn(void *ctx, unsigned worker, void *job, struct dray_err *e);

/**
 * dray_pool_start - start @threads workers (1 .. 256) with room for @depth waiting jobs (1 .. 2^20);
 * jobs begin in FIFO order
 * @drop: called for a job that will not run (may be NULL)
 */
DRAY_MUST_CHECK int dray_pool_start(unsigned threads, size_t depth, dray_job_fn *run,
    void (*drop)(void *ctx, void *job), void *ctx, struct dray_pool **out, struct dray_err *e);

/** dray_pool_push - queue a job; waits while the queue is full. -1: the pool has stopped, the job was dropped. */
DRAY_MUST_CHECK int dray_pool_push(struct dray_pool *p, void *job);

/** dray_pool_stopped - has a job failed, or dray_pool_cancel been called? (workers that wait for each other poll it) */
bool dray_pool_stopped(struct dray_pool *p);
void dray_pool_cancel(struct dray_pool *p);

/**
 * dray_pool_finish - wait for all jobs, join, free
 * Return: 0, or -1 with the first failure. Cancelled before any job failed: -1, and *e is left as it was, because
 * whoever cancelled knows why.
 */
DRAY_MUST_CHECK int dray_pool_finish(struct dray_pool *p, struct dray_err *e);

/**
 * dray_parallel - call fn(ctx, worker, i) for i in [0, n) on @threads threads, in chunks of @grain
 * Return: 0, or -1 with the failure of the lowest i that failed (every lower i was run).
 */
DRAY_MUST_CHECK int dray_parallel(unsigned threads, size_t n, size_t grain,
    int (*fn)(void *ctx, unsigned worker, size_t i, struct dray_err *e), void *ctx, struct dray_err *e);

#endif
