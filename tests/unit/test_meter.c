/*
 * test_meter.c - what many threads count adds up, and costs of the parts of a frame or a file are those of the whole
 */
#include <pthread.h>
#include <stdatomic.h>

#include "dray/frame.h"
#include "dray/index.h"
#include "dray/meter.h"
#include "test.h"

static _Atomic uint64_t most_cost, most_done, calls;

static void
tell(void *ctx, const struct dray_progress *at)
{
	uint64_t cost = most_cost, done = most_done;

	CHECK(ctx == &calls);
	while (cost < at->cost && !atomic_compare_exchange_weak(&most_cost, &cost, at->cost))
		;
	while (done < at->done && !atomic_compare_exchange_weak(&most_done, &done, at->done))
		;
	atomic_fetch_add(&calls, 1);
}

static void *
work(void *meter)
{
	for (uint64_t i = 0; i < 1000; i++)
		dray_meter_add(meter, i, dray_cost_file(i));
	return NULL;
}

static void
threads_count_to_the_whole(void)
{
	struct dray_meter m = { .tell = tell, .ctx = &calls };
	pthread_t t[4];

	for (uint64_t i = 0; i < 1000; i++) {
		m.total += 4 * i;
		m.costs += 4 * dray_cost_file(i);
	}
	for (size_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, &m);
	for (size_t i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	CHECK_EQ(calls, 4000);
	CHECK_EQ(m.done, m.total);
	CHECK_EQ(m.cost, m.costs);
	CHECK_EQ(most_done, m.total);
	CHECK_EQ(most_cost, m.costs);
	/* and nobody need listen */
	m.tell = NULL;
	dray_meter_add(&m, 1, 1);
	CHECK_EQ(m.done, m.total + 1);
}

static void
a_file_costs_the_same_in_one_part_or_in_many(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 7; i++)
		sum += 1001 * DRAY_COST_HASH;
	CHECK_EQ(sum + dray_cost_rest(7007, 7007), dray_cost_file(7007));
	/* what was not hashed counts as done with the file, and more than was thought counts no less than the file */
	CHECK_EQ(dray_cost_rest(7007, 0), dray_cost_file(7007));
	CHECK_EQ(1000 * DRAY_COST_HASH + dray_cost_rest(7007, 1000), dray_cost_file(7007));
	CHECK_EQ(dray_cost_rest(7007, 7008), dray_cost_file(0));
	/* a thousand small files cost more than their bytes in one */
	CHECK(1000 * dray_cost_file(1000) > 10 * dray_cost_file(1000000));
}

static void
what_a_frame_builds_on_costs(void)
{
	struct dray_frame f = { .kind = DRAY_FRAME_PLAIN, .stored = 1000, .out = 4000, .raw = 4000 };
	uint64_t plain = dray_cost_frame(&f, 0, 0), based = dray_cost_frame(&f, 4000, 0);

	CHECK(plain > 1000 * (uint64_t)DRAY_COST_HASH);
	CHECK(based > plain);
	f.codec = DRAY_CODEC_LZMA;
	CHECK_EQ(dray_cost_frame(&f, 4000, 0), based + f.stored * (uint64_t)(DRAY_COST_LZMA_STORED - DRAY_COST_ZSTD_STORED) +
	    f.out * (uint64_t)(DRAY_COST_LZMA_OUT - DRAY_COST_ZSTD_OUT));
	f.codec = DRAY_CODEC_ZSTD;
	CHECK_EQ(dray_cost_frame(&f, 4000, 4000), based + 4000 * (uint64_t)DRAY_COST_INFLATE);
	f.filter = DRAY_FILTER_X86;
	CHECK_EQ(dray_cost_frame(&f, 4000, 0), based + 8000 * (uint64_t)DRAY_COST_X86);
	/* a delta is more work to make, a better one far more */
	CHECK(dray_cost_pack(9, 0, 4000, 4000) > 2 * dray_cost_pack(9, 0, 4000, 0));
	CHECK(dray_cost_pack(19, 0, 4000, 4000) > 2 * dray_cost_pack(9, 0, 4000, 4000));
	/* the largest there is does not overflow */
	CHECK(dray_cost_pack(19, DRAY_FILTER_X86, UINT32_MAX, UINT32_MAX) > dray_cost_pack(19, DRAY_FILTER_X86, UINT32_MAX / 2, 0));
}

int
main(void)
{
	RUN(threads_count_to_the_whole);
	RUN(a_file_costs_the_same_in_one_part_or_in_many);
	RUN(what_a_frame_builds_on_costs);
	return test_done();
}
