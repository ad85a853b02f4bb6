/*
 * bases_cost.h - which contents the walks of bases.c look at, and what that costs. Private to them.
 */
#ifndef BUILD_BASES_COST_H
#define BUILD_BASES_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_content;
struct build_resolved;

/** build_bases_usable - may others be made from content @i? */
bool build_bases_usable(const struct build_resolved *rs, size_t i);

/** build_bases_looked_at - is its kind asked for? */
bool build_bases_looked_at(const struct build_content *c);

/** build_bases_asked - some base lacks it: what is it like? */
bool build_bases_asked(const struct build_resolved *rs, const struct build_content *c);

/** build_bases_find_cost - of a byte that is compared with @bytes of all bases, by the weights of dray/meter.h */
uint64_t build_bases_find_cost(uint64_t bytes);

/** build_bases_cost - of both walks; @bytes: of all that is learned; @need: something is */
uint64_t build_bases_cost(const struct build_resolved *rs, uint64_t bytes, bool need);

#endif
