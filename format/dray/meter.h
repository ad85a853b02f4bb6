/*
 * meter.h - how far a piece of work is: bytes, for people to read, and what they cost, which is what per cent and the
 * time left are made of. A small file costs more than its bytes, a delta more than a copy, a .gz made again far more.
 */
#ifndef DRAY_METER_H
#define DRAY_METER_H

#include <stdint.h>

struct dray_frame;

/* one look at it; costs 0: they are not known, done and total are the measure */
struct dray_progress {
	uint64_t done, total;	/* bytes; total 0: not known */
	uint64_t cost, costs;	/* of them, by the weights below */
};

/* counts what threads do; make it with its first four members */
struct dray_meter {
	void (*tell)(void *ctx, const struct dray_progress *at);	/* from any thread; may be NULL */
	void *ctx;
	uint64_t total, costs;	/* a thread that adds reads them: set while there is none */
	_Atomic uint64_t done, cost;
};

/** dray_meter_add - so much more is done, and is told; any thread */
void dray_meter_add(struct dray_meter *m, uint64_t bytes, uint64_t cost);

/*
 * Weights, in picoseconds of one core for a byte, a path or a file. Only their ratios count, and the sum of the parts is the
 * whole, exactly. Measured as processor time of single items on real trees (a twentieth of a release, and its upgrade):
 * hash 0.7 ns with the processor's own instructions and 2.2 without; a file 20 to 30 us to open and look at, 65 to 85 us to
 * make; the insides of .gz 61 to 67 ns to deflate and 4.6 ns to inflate; encoding 45 to 50 ns (fast) and 620 to 790 ns
 * (default) for a byte of output alone, 146 to 170 ns and 920 to 1670 ns with about as much to build on.
 */
enum {
	DRAY_COST_FILE = 22000000,	/* a path that is looked at, opened and closed */
	DRAY_COST_LIST = 11000000,	/* a path that is listed, before anything is read */
	DRAY_COST_MAKE = 70000000,	/* an object that is made in its slot */
	DRAY_COST_OP = 12000000,	/* a staged object that is looked at once more */
	DRAY_COST_HASH = 900,		/* a byte that is read and hashed */
	DRAY_COST_WRITE = 500,
	DRAY_COST_ZSTD_OUT = 300,	/* a byte that zstd gives */
	DRAY_COST_ZSTD_STORED = 4000,	/* ... and one that it has to decode */
	DRAY_COST_LZMA_OUT = 2400,	/* the same of LZMA */
	DRAY_COST_LZMA_STORED = 57000,
	DRAY_COST_X86 = 1800,		/* filter: a byte of base or output */
	DRAY_COST_INFLATE = 4600,	/* a byte of the inside of a .gz of a base */
	DRAY_COST_DEFLATE = 62000,	/* a byte of the inside of a .gz made again */
	DRAY_COST_LEARN = 4600,		/* builder: a byte whose features are looked for */
	DRAY_COST_PIECE = 14000,	/* a byte of a large content, whose features are looked for in one base */
	DRAY_COST_SORT = 2500,		/* a byte of all that was learned, to sort its features */
	DRAY_COST_FIND = 8,		/* a byte of new content, for each MiB that was learned: caches miss */
	DRAY_COST_FIND_MAX = 20000,
};

/** dray_cost_file - a file is opened, read and hashed */
uint64_t dray_cost_file(uint64_t bytes);

/** dray_cost_rest - what is left of it when so much was hashed (and told), which may be another size or nothing at all */
uint64_t dray_cost_rest(uint64_t bytes, uint64_t hashed);

/**
 * dray_cost_frame - a frame is hashed and decoded, what comes out is hashed
 * @ref, @inside: bytes it builds on; how many of them are the insides of .gz
 */
uint64_t dray_cost_frame(const struct dray_frame *f, uint64_t ref, uint64_t inside);

/** dray_cost_pack - a frame of @out bytes is made from scratch and, if @ref is not 0, from so many bytes of a base */
uint64_t dray_cost_pack(int level, uint8_t filter, uint64_t out, uint64_t ref);

#endif
