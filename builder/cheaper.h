/*
 * cheaper.h - which frames are stored in a way that costs the target less and the bundle more, until a bound is met.
 * Only numbers are looked at: what the ways are is the packer's business.
 */
#ifndef BUILD_CHEAPER_H
#define BUILD_CHEAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_way {		/* to store one frame */
	uint64_t ns, bytes;	/* what it costs to apply, what it takes in the bundle; both below 2^32 */
	uint32_t id;		/* the caller's */
};

struct build_saving {		/* one frame, from one way to the next cheaper one */
	uint32_t frame;
	uint32_t id;		/* of the way it leads to */
	uint8_t turn;		/* number among the steps of the frame */
	bool taken;
	uint64_t ns, bytes;	/* saved; added, at least 1 */
};

/**
 * build_cheaper_steps - the steps of one frame from way 0 on: each leads to the way that saves most for a byte more, so
 * what a byte saves falls from step to step; the last one leads to the cheapest way
 * @v: room for n - 1
 * Return: how many there are
 */
size_t build_cheaper_steps(uint32_t frame, const struct build_way *ways, size_t n, struct build_saving *v);

/** build_cheaper_order - of all frames: what saves most for a byte more comes first; equal ones by frame */
void build_cheaper_order(struct build_saving *v, size_t n);

/**
 * build_cheaper_take - take steps in their order until no base costs more than @bound; only such as make a base cheaper
 * that still does
 * @v: ordered; `taken` is set
 * @readers: by frame, a bit mask: the bases that read it
 * @ns: by base, what it costs; falls by what is taken
 * Return: the most that a base costs now; above @bound: it cannot be met, and this is the least bound that can
 */
uint64_t build_cheaper_take(struct build_saving *v, size_t n, const uint64_t *readers, uint64_t bound, uint64_t *ns,
    size_t n_bases);

#endif
