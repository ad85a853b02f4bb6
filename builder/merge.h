/*
 * merge.h - releases side by side, path by path.
 */
#ifndef BUILD_MERGE_H
#define BUILD_MERGE_H

#include <stddef.h>

#include "builder/release.h"
#include "dray/err.h"

struct build_merge {
	struct build_release *const *rel;
	size_t n;
	size_t *at;			/* next node of each */
	struct build_node **here;	/* of each: the first node of the path that stands now; NULL where it lacks the path */
	size_t *count;			/* how many follow each other there: one, or the states of a history */
};

/** build_merge_begin - @rel, @n: borrowed; at least one. build_merge_end in any case */
DRAY_MUST_CHECK int build_merge_begin(struct build_merge *m, struct build_release *const *rel, size_t n,
    struct dray_err *e);
void build_merge_end(struct build_merge *m);

/** build_merge_next - go to the next path in path order; Return: its first holder's node, or NULL at the end */
struct build_node *build_merge_next(struct build_merge *m);

#endif
