/*
 * meter.c - how far a piece of work is, counted by many threads, and what its parts cost
 */
#include <stdatomic.h>

#include "dray/descriptor.h"
#include "dray/frame.h"
#include "dray/index.h"
#include "dray/meter.h"

/* picoseconds for a byte of a new frame: alone, and for each byte it may build on */
struct pack_cost { uint64_t out, ref; };

static const struct pack_cost pack_costs[2][2] = {	/* [slow][program] */
	{ { 45000, 130000 }, { 48000, 105000 } },
	{ { 620000, 320000 }, { 800000, 870000 } },
};

void
dray_meter_add(struct dray_meter *m, uint64_t bytes, uint64_t cost)
{
	struct dray_progress at = { .total = m->total, .costs = m->costs };

	at.done = atomic_fetch_add(&m->done, bytes) + bytes;
	at.cost = atomic_fetch_add(&m->cost, cost) + cost;
	if (m->tell != NULL)
		m->tell(m->ctx, &at);
}

uint64_t
dray_cost_file(uint64_t bytes)
{
	return DRAY_COST_FILE + bytes * DRAY_COST_HASH;
}

uint64_t
dray_cost_rest(uint64_t bytes, uint64_t hashed)
{
	return DRAY_COST_FILE + (hashed < bytes ? (bytes - hashed) * DRAY_COST_HASH : 0);
}

uint64_t
dray_cost_frame(const struct dray_frame *f, uint64_t ref, uint64_t inside)
{
	const bool lzma = f->codec == DRAY_CODEC_LZMA;
	const uint64_t in = lzma ? DRAY_COST_LZMA_STORED : DRAY_COST_ZSTD_STORED, out = lzma ? DRAY_COST_LZMA_OUT : DRAY_COST_ZSTD_OUT;
	uint64_t sum = f->stored * (DRAY_COST_HASH + in) + f->out * (DRAY_COST_HASH + out) + ref * DRAY_COST_WRITE + inside * DRAY_COST_INFLATE;

	return f->filter == DRAY_FILTER_X86 ? sum + (f->out + ref) * DRAY_COST_X86 : sum;
}

uint64_t
dray_cost_pack(int level, uint8_t filter, uint64_t out, uint64_t ref)
{
	const struct pack_cost *c = &pack_costs[level > 9][filter == DRAY_FILTER_X86];
	uint64_t sum = out * c->out + ref * c->ref;

	/* what fits the caches is faster */
	return sum / 8 * (out < 128 * 1024 ? 5 : out < 1024 * 1024 ? 7 : 8);
}
