/*
 * match_index.h - which old content shares most bytes with a new one. Contents are told by features: hashes of 16-byte
 * windows, of which a few are kept by their value alone, so that the same window is kept wherever it stands.
 */
#ifndef BUILD_MATCH_INDEX_H
#define BUILD_MATCH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define MATCH_WINDOW 16u
#define MATCH_SHIFT_MIN 6u		/* one window in 64 */
#define MATCH_FEATURES_MAX 65536u	/* of one content, about: larger ones are looked at more coarsely */

struct match_roll {			/* a walk over the bytes of one content */
	uint64_t h;
	uint8_t last[MATCH_WINDOW];
	uint64_t at;			/* bytes seen */
	uint32_t before;		/* the last feature: long runs give one, not thousands */
	bool any;
	unsigned shift;
};

struct match_feature { uint32_t value, where; };	/* where: block of the content, see match_roll_add */

struct match_list {			/* all zero at first, reusable */
	struct match_feature *v;
	size_t n, cap;
};

/** build_match_shift - how coarsely to look at a content of @size bytes; @least: the finest */
unsigned build_match_shift(uint64_t size, uint64_t features, unsigned least);

/**
 * build_match_roll_add - the next @len bytes; features are appended to @to
 * @block: bytes of a block; a feature stands in the block in which its window ends
 */
DRAY_MUST_CHECK int build_match_roll_add(struct match_roll *r, const uint8_t *p, size_t len, uint64_t block,
    struct match_list *to, struct dray_err *e);

/** build_match_list_sort - by value, then place; equal items once */
void build_match_list_sort(struct match_list *l);

/* --- the index -------------------------------------------------------------------------------------------------------- */

struct match_index;

struct match_score { uint32_t content, shared; };	/* shared: features in common, as if both had been looked at alike */

/** build_match_index_new - @contents: numbers below it are contents; @threads: callers of match_index_add */
DRAY_MUST_CHECK int build_match_index_new(size_t contents, unsigned threads, struct match_index **out, struct dray_err *e);
void build_match_index_free(struct match_index *ix);

/** build_match_index_add - the features of one content; several threads at once, each with its own @worker; @l gets sorted */
DRAY_MUST_CHECK int build_match_index_add(struct match_index *ix, unsigned worker, uint32_t content, unsigned shift,
    struct match_list *l, struct dray_err *e);

/** build_match_index_finish - after the last content; the result does not depend on who added what when */
DRAY_MUST_CHECK int build_match_index_finish(struct match_index *ix, unsigned threads, struct dray_err *e);

struct match_query {			/* of one thread; all zero at first */
	uint32_t *shared;		/* by content */
	struct match_score *v;		/* the answer: most shared first, then lower number */
	size_t n, cap, contents;
};

/** build_match_index_find - all contents that share features with @l, which gets sorted */
DRAY_MUST_CHECK int build_match_index_find(const struct match_index *ix, struct match_query *q, unsigned shift,
    struct match_list *l, struct dray_err *e);
void build_match_query_free(struct match_query *q);

#endif
