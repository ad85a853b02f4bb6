/*
 * test_pool.c - the bounded queue and the parallel loop: order, failure, cancellation, nothing lost.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "dray/pool.h"

#include "test.h"

struct count {
	atomic_size_t run, dropped, sum, highest;
	atomic_int running, most;
	size_t fail_from;	/* jobs with a number of at least this fail */
	bool wait_for_stop;	/* job 0 waits until the pool has stopped, then gives up */
	atomic_bool gate;	/* jobs wait until it is open */
	struct dray_pool *pool;
	atomic_uint workers_seen;
};

static void
nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

static size_t *
job(size_t n)
{
	size_t *p = malloc(sizeof(*p));

	if (p == NULL)
		abort();
	*p = n;
	return p;
}

static int
run_job(void *ctx, unsigned worker, void *data, struct dray_err *e)
{
	struct count *c = ctx;
	const size_t n = *(size_t *)data;
	int now = atomic_fetch_add(&c->running, 1) + 1, most = atomic_load(&c->most);

	free(data);
	while (now > most && !atomic_compare_exchange_weak(&c->most, &most, now))
		;
	atomic_fetch_or(&c->workers_seen, 1u << worker);
	while (!atomic_load(&c->gate))
		nap();
	atomic_fetch_add(&c->run, 1);
	atomic_fetch_add(&c->sum, n);
	if (c->wait_for_stop && n == 0) {
		while (!dray_pool_stopped(c->pool))
			nap();
		atomic_fetch_sub(&c->running, 1);
		return -1;
	}
	atomic_fetch_sub(&c->running, 1);
	if (n >= c->fail_from)
		return dray_fail(e, DRAY_E_FORMAT, "job %zu", n);
	return 0;
}

static void
drop_job(void *ctx, void *data)
{
	struct count *c = ctx;

	free(data);
	atomic_fetch_add(&c->dropped, 1);
}

static void
count_init(struct count *c, bool gate)
{
	memset(c, 0, sizeof(*c));
	c->fail_from = SIZE_MAX;
	atomic_store(&c->gate, gate);
}

static void
every_job_runs_once(void)
{
	struct dray_err e;
	struct count c;
	unsigned threads;
	size_t i;

	for (threads = 1; threads <= 8; threads *= 2) {
		count_init(&c, true);
		CHECK_EQ(dray_pool_start(threads, 3, run_job, drop_job, &c, &c.pool, &e), 0);
		for (i = 0; i < 1000; i++)
			CHECK_EQ(dray_pool_push(c.pool, job(i)), 0);
		CHECK(!dray_pool_stopped(c.pool));
		CHECK_EQ(dray_pool_finish(c.pool, &e), 0);
		CHECK_EQ(c.run, 1000);
		CHECK_EQ(c.sum, 499500);
		CHECK_EQ(c.dropped, 0);
		CHECK(c.most <= (int)threads);
		CHECK(c.workers_seen < 1u << threads);
	}
}

static void
a_pool_without_jobs_ends(void)
{
	struct dray_err e;
	struct count c;

	count_init(&c, true);
	CHECK_EQ(dray_pool_start(4, 1, run_job, drop_job, &c, &c.pool, &e), 0);
	CHECK_EQ(dray_pool_finish(c.pool, &e), 0);
}

static void
impossible_pools_are_refused(void)
{
	struct dray_pool *p = NULL;
	struct dray_err e;

	CHECK_EQ(dray_pool_start(0, 1, run_job, NULL, NULL, &p, &e), -1);
	CHECK(p == NULL);
	CHECK_STR(e.text, "0 threads with room for 1 jobs: no such pool");
	CHECK_EQ(dray_pool_start(257, 1, run_job, NULL, NULL, &p, &e), -1);
	CHECK_EQ(dray_pool_start(1, 0, run_job, NULL, NULL, &p, &e), -1);
	CHECK_EQ(dray_pool_start(1, SIZE_MAX, run_job, NULL, NULL, &p, &e), -1);
	CHECK_STR(e.text, "1 threads with room for 18446744073709551615 jobs: no such pool");
	CHECK(p == NULL);
}

/* many fail at the same time; the one that is told is the first of them, however the threads fall */
static void
the_lowest_failure_is_told(void)
{
	struct dray_err e;
	struct count c;
	size_t i, pushed;
	int round;

	for (round = 0; round < 50; round++) {
		count_init(&c, false);
		c.fail_from = 5;
		CHECK_EQ(dray_pool_start(4, 16, run_job, drop_job, &c, &c.pool, &e), 0);
		for (i = 0; i < 16; i++)
			CHECK_EQ(dray_pool_push(c.pool, job(i)), 0);
		atomic_store(&c.gate, true);
		for (pushed = 16; dray_pool_push(c.pool, job(pushed)) == 0; pushed++)
			;
		CHECK(dray_pool_stopped(c.pool));
		CHECK_EQ(dray_pool_push(c.pool, job(7)), -1);
		CHECK_EQ(dray_pool_finish(c.pool, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_STR(e.text, "job 5");
		/* each pushed job either ran or was dropped: pushed ones and the two refused ones */
		CHECK_EQ(c.run + c.dropped, pushed + 2);
	}
}

static void
a_job_that_gives_up_because_of_the_stop_is_not_the_cause(void)
{
	struct dray_err e;
	struct count c;

	count_init(&c, true);
	c.wait_for_stop = true;
	c.fail_from = 1;
	CHECK_EQ(dray_pool_start(2, 4, run_job, drop_job, &c, &c.pool, &e), 0);
	CHECK_EQ(dray_pool_push(c.pool, job(0)), 0);
	(void)!dray_pool_push(c.pool, job(1));
	CHECK_EQ(dray_pool_finish(c.pool, &e), -1);
	CHECK_STR(e.text, "job 1");
}

static void
cancelling_drops_what_waits_and_keeps_the_callers_error(void)
{
	struct dray_err e;
	struct count c;
	size_t i;

	count_init(&c, false);
	CHECK_EQ(dray_pool_start(2, 10, run_job, drop_job, &c, &c.pool, &e), 0);
	for (i = 0; i < 10; i++)
		CHECK_EQ(dray_pool_push(c.pool, job(i)), 0);
	dray_fail(&e, DRAY_E_SIGNAL, "interrupted");
	dray_pool_cancel(c.pool);
	CHECK(dray_pool_stopped(c.pool));
	atomic_store(&c.gate, true);
	CHECK_EQ(dray_pool_push(c.pool, job(1)), -1);
	CHECK_EQ(dray_pool_finish(c.pool, &e), -1);
	CHECK_STR(e.text, "interrupted");
	CHECK_EQ(c.run + c.dropped, 11);
	CHECK(c.run <= 2);
}

static void *
cancel_soon(void *arg)
{
	struct count *c = arg;

	while (atomic_load(&c->run) == 0)
		nap();
	nap();
	dray_pool_cancel(c->pool);
	return NULL;
}

static void
cancelling_wakes_a_push_that_waits(void)
{
	struct dray_err e;
	struct count c;
	pthread_t t;

	count_init(&c, true);
	c.wait_for_stop = true;
	CHECK_EQ(dray_pool_start(1, 1, run_job, drop_job, &c, &c.pool, &e), 0);
	CHECK_EQ(dray_pool_push(c.pool, job(0)), 0);
	CHECK_EQ(pthread_create(&t, NULL, cancel_soon, &c), 0);
	/* the worker sits in job 0 until the cancel; one fits into the queue, the next must wait and come back */
	while (dray_pool_push(c.pool, job(1)) == 0)
		;
	pthread_join(t, NULL);
	CHECK_EQ(dray_pool_finish(c.pool, &e), -1);
	CHECK_EQ(c.run, 1);
}

static int
fail_silently(void *ctx, unsigned worker, void *data, struct dray_err *e)
{
	(void)ctx, (void)worker, (void)data, (void)e;
	return -1;
}

static void
a_failure_without_a_reason_is_still_a_failure(void)
{
	struct dray_pool *p;
	struct dray_err e;

	CHECK_EQ(dray_pool_start(1, 1, fail_silently, NULL, NULL, &p, &e), 0);
	CHECK_EQ(dray_pool_push(p, NULL), 0);
	CHECK_EQ(dray_pool_finish(p, &e), -1);
	CHECK_STR(e.text, "a job failed without a reason");
}

#define LOOP 10000

static atomic_uchar done[LOOP];
static size_t bad_a, bad_b;
static atomic_bool bad_worker;

static int
mark(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	if (worker >= *(unsigned *)ctx)
		atomic_store(&bad_worker, true);
	atomic_fetch_add(&done[i], 1);
	if (i == bad_a || i == bad_b)
		return dray_fail(e, DRAY_E_DRIFT, "index %zu", i);
	return 0;
}

static void
reset_marks(size_t a, size_t b)
{
	size_t i;

	for (i = 0; i < LOOP; i++)
		atomic_store(&done[i], 0);
	bad_a = a;
	bad_b = b;
	atomic_store(&bad_worker, false);
}

static void
the_loop_calls_each_index_once(void)
{
	static const size_t grains[] = { 0, 1, 7, 64, LOOP, SIZE_MAX };
	static const size_t lens[] = { 0, 1, 63, 64, 65, LOOP };
	struct dray_err e;
	unsigned threads;
	size_t g, l, i;

	for (threads = 0; threads <= 4; threads++) {
		unsigned limit = threads == 0 ? 1 : threads;

		for (g = 0; g < sizeof(grains) / sizeof(grains[0]); g++) {
			for (l = 0; l < sizeof(lens) / sizeof(lens[0]); l++) {
				reset_marks(SIZE_MAX, SIZE_MAX);
				CHECK_EQ(dray_parallel(threads, lens[l], grains[g], mark, &limit, &e), 0);
				for (i = 0; i < LOOP && atomic_load(&done[i]) == (i < lens[l]); i++)
					;
				CHECK_EQ(i, LOOP);
				CHECK(!atomic_load(&bad_worker));
			}
		}
	}
}

static void
the_loop_tells_the_lowest_failing_index_and_runs_all_below(void)
{
	unsigned threads, limit = 4;
	struct dray_err e;
	int round;
	size_t i;

	for (round = 0; round < 40; round++) {
		threads = 1 + (unsigned)round % 4;
		reset_marks(5003, 4999);
		CHECK_EQ(dray_parallel(threads, LOOP, 1 + (size_t)round * 3, mark, &limit, &e), -1);
		CHECK_EQ(e.code, DRAY_E_DRIFT);
		CHECK_STR(e.text, "index 4999");
		for (i = 0; i <= 4999 && atomic_load(&done[i]) == 1; i++)
			;
		CHECK_EQ(i, 5000);
	}
}

static void
a_failure_at_the_last_index_is_not_lost(void)
{
	unsigned limit = 2;
	struct dray_err e;

	reset_marks(LOOP - 1, SIZE_MAX);
	CHECK_EQ(dray_parallel(2, LOOP, 64, mark, &limit, &e), -1);
	CHECK_STR(e.text, "index 9999");
	reset_marks(0, SIZE_MAX);
	CHECK_EQ(dray_parallel(2, 1, 64, mark, &limit, &e), -1);
	CHECK_STR(e.text, "index 0");
}

int
main(void)
{
	RUN(every_job_runs_once);
	RUN(a_pool_without_jobs_ends);
	RUN(impossible_pools_are_refused);
	RUN(the_lowest_failure_is_told);
	RUN(a_job_that_gives_up_because_of_the_stop_is_not_the_cause);
	RUN(cancelling_drops_what_waits_and_keeps_the_callers_error);
	RUN(cancelling_wakes_a_push_that_waits);
	RUN(a_failure_without_a_reason_is_still_a_failure);
	RUN(the_loop_calls_each_index_once);
	RUN(the_loop_tells_the_lowest_failing_index_and_runs_all_below);
	RUN(a_failure_at_the_last_index_is_not_lost);
	return test_done();
}
