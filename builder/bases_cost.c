/*
 * bases_cost.c - which contents the walks of bases.c look at, and what that costs, for the progress line
 */
#include "builder/bases_cost.h"
#include "builder/match_index.h"
#include "builder/resolve.h"
#include "dray/meter.h"

bool
build_bases_usable(const struct build_resolved *rs, size_t i)
{
	const struct build_content *c = &rs->contents[i];

	return c->solid != 0 && c->size != DRAY_SIZE_UNKNOWN && build_content_len(c) >= MATCH_WINDOW;
}

bool
build_bases_looked_at(const struct build_content *c)
{
	return (c->wanted || c->former) && c->size != 0;
}

bool
build_bases_asked(const struct build_resolved *rs, const struct build_content *c)
{
	return c->wanted && (build_resolved_all(rs) & ~c->sure) != 0;
}

uint64_t
build_bases_find_cost(uint64_t bytes)
{
	uint64_t cost = DRAY_COST_LEARN + (bytes >> 20) * DRAY_COST_FIND;

	return cost > DRAY_COST_FIND_MAX ? DRAY_COST_FIND_MAX : cost;
}

uint64_t
build_bases_cost(const struct build_resolved *rs, uint64_t bytes, bool need)
{
	uint64_t sum = need ? bytes * DRAY_COST_SORT : 0, find = build_bases_find_cost(bytes);

	for (size_t i = 0; i < rs->n_contents; i++) {
		const struct build_content *c = &rs->contents[i];

		if (need && build_bases_usable(rs, i))
			sum += DRAY_COST_FILE + build_content_len(c) * DRAY_COST_LEARN;
		if (build_bases_looked_at(c))
			sum += DRAY_COST_FILE + build_content_len(c) * (need && build_bases_asked(rs, c) ? find : DRAY_COST_HASH);
	}
	return sum;
}
