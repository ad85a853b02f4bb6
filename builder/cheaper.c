/*
 * cheaper.c - steps from dear ways to cheap ones, in the order of what they save for a byte more.
 */
#include <stdlib.h>

#include "builder/cheaper.h"

/* does @a save more for a byte than @b? Both below 2^32 bytes, and below 2^32 ns, which is 4 s for one frame */
static bool
better(const struct build_saving *a, const struct build_saving *b)
{
	return a->ns * b->bytes > b->ns * a->bytes;
}

size_t
build_cheaper_steps(uint32_t frame, const struct build_way *ways, size_t n, struct build_saving *v)
{
	size_t steps = 0, at = 0, next = 0;

	for (; steps < n; at = next) {
		struct build_saving best = { .ns = 0 };

		for (size_t i = 1; i < n; i++) {
			struct build_saving s = { .frame = frame, .id = ways[i].id, .turn = (uint8_t)steps,
				.bytes = ways[i].bytes > ways[at].bytes ? ways[i].bytes - ways[at].bytes : 1 };

			if (ways[i].ns >= ways[at].ns)
				continue;
			s.ns = ways[at].ns - ways[i].ns;
			if (best.ns == 0 || better(&s, &best)) {
				best = s;
				next = i;
			}
		}
		if (best.ns == 0)
			break;
		v[steps++] = best;
	}
	return steps;
}

static int
step_cmp(const void *pa, const void *pb)
{
	const struct build_saving *a = pa, *b = pb;

	if (better(a, b) || better(b, a))
		return better(a, b) ? -1 : 1;
	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	return (a->turn > b->turn) - (a->turn < b->turn);
}

void
build_cheaper_order(struct build_saving *v, size_t n)
{
	if (n > 1)
		qsort(v, n, sizeof(*v), step_cmp);
}

/* bit mask of the bases that cost more than @bound */
static uint64_t
above(const uint64_t *ns, size_t n_bases, uint64_t bound)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < n_bases; i++)
		mask |= ns[i] > bound ? UINT64_C(1) << i : 0;
	return mask;
}

uint64_t
build_cheaper_take(struct build_saving *v, size_t n, const uint64_t *readers, uint64_t bound, uint64_t *ns,
    size_t n_bases)
{
	uint64_t dear = above(ns, n_bases, bound), most = 0;

	/* bases only ever become cheaper, so a frame of which one step is passed over has no later one taken */
	for (size_t i = 0; i < n && dear != 0; i++) {
		uint64_t of = readers[v[i].frame];

		if ((of & dear) == 0)
			continue;
		v[i].taken = true;
		for (size_t b = 0; b < n_bases; b++)
			ns[b] -= (of >> b & 1) != 0 ? v[i].ns : 0;
		dear = above(ns, n_bases, bound);
	}
	for (size_t b = 0; b < n_bases; b++)
		most = ns[b] > most ? ns[b] : most;
	return most;
}
