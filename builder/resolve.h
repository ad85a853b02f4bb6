/*
 * resolve.h - bases and target become the tables of the index, and the list of contents that must travel.
 */
#ifndef BUILD_RESOLVE_H
#define BUILD_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "dray/err.h"
#include "dray/index_write.h"

struct build_content {		/* one row of CONTENTS */
	uint64_t size;
	const uint8_t *sha256;	/* borrowed from a node */
	uint32_t node;		/* first node of the target that holds it; DRAY_NONE: only bases do */
	bool wanted;		/* a full recipe is needed */
};

struct build_resolved {
	struct dray_index_writer *tables;	/* recipes and frames are still missing */
	struct build_content *contents;		/* by row; path order of first use */
	size_t n_contents, cap_contents;
	size_t n_entries, n_same;
	size_t n_wanted;
	uint64_t wanted_bytes;			/* output of all wanted contents */
};

/**
 * build_resolve - compare
 * @target: its nodes get their rows
 * @bases, @n_bases: bit i of an alternative's mask is bases[i]; their nodes get their rows too
 *
 * Rule of the mode "complete": a file gets a full recipe when any base differs from the target at its path, unless
 * content and hard-link group are the same in every base: then only attributes change, and the target has the bytes.
 */
DRAY_MUST_CHECK int build_resolve(struct build_release *target, struct build_release *const *bases, size_t n_bases,
    struct build_resolved **out, struct dray_err *e);
void build_resolved_free(struct build_resolved *rs);

#endif
