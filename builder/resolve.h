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
	bool wanted;		/* a recipe is needed */
	bool config;		/* a config path of the target holds it */
	bool former;		/* a base has it at a config path that the target changes: a text to merge with, if it is one */
	uint8_t old_base;	/* the first base that holds it, and its node there; only if bases != 0 */
	uint32_t old_node;
	uint64_t bases;		/* bit mask: bases that hold it anywhere */
	uint64_t solid;		/* ... at a path that nobody edits by hand */
	uint64_t sure;		/* ... where every machine of the base has it; of a history: the one state the path ever had */
	uint64_t comps;		/* components of the target's paths that hold it */
	uint64_t old_comps;	/* ... of the bases' paths behind solid */
	uint64_t sure_comps;	/* ... behind sure */

	/* filled by build_insides_find: a .gz that is looked at inside (gzip.h) */
	uint32_t inside;	/* bytes of its inside; 0: it is taken as it is */
	uint8_t wrap;		/* DRAY_DEFLATE_* by which it can be made again; NONE: a base only */
	uint64_t make_ns;	/* what that costs */
};

/* bytes that packing has to do with */
static inline uint64_t
build_content_len(const struct build_content *c)
{
	return c->inside != 0 ? c->inside : c->size;
}

struct build_old {		/* a file of some bases: at one path, with one content */
	uint32_t row;		/* of the entry; ascending, with one item for each content */
	uint32_t content;
	uint64_t bases;
	uint64_t gaps;		/* those of them in which there was no file at times */
	uint64_t comps;
	const char *path;	/* borrowed */
	uint32_t len;
	bool config;
};

struct build_resolved {
	struct dray_index_writer *tables;	/* recipes and frames are still missing */
	struct build_content *contents;		/* by row; path order of first use */
	size_t n_contents, cap_contents;
	struct build_old *olds;
	size_t n_olds, cap_olds;
	struct build_release **releases;	/* the target, then the bases; borrowed */
	size_t n_bases;
	uint64_t history;			/* bit mask: bases that are histories */
	bool unsized;				/* the size of some content is unknown, and nobody needs its bytes */
	size_t n_entries, n_same;
	size_t n_wanted;
	uint64_t wanted_bytes;			/* size of all wanted contents */
};

/**
 * build_resolve - compare
 * @target: its nodes get their rows; no history
 * @bases, @n_bases: bit i of an alternative's mask is bases[i]; their nodes get their rows too. All releases must stay
 *     until build_resolved_free. A base is a whole release, or a history: the states that each path had (history.h)
 *
 * A content is wanted, and travels in some form, when any state of a base differs from the target at its path, unless
 * content and hard-link group are the same in all of them: then only attributes change, and the target has the bytes.
 */
DRAY_MUST_CHECK int build_resolve(struct build_release *target, struct build_release *const *bases, size_t n_bases,
    struct build_resolved **out, struct dray_err *e);
void build_resolved_free(struct build_resolved *rs);

/** build_resolved_all - bit mask of all bases */
uint64_t build_resolved_all(const struct build_resolved *rs);

/** build_resolved_olds - the old contents at entry @row: *n of them, borrowed; NULL when there are none */
const struct build_old *build_resolved_olds(const struct build_resolved *rs, uint32_t row, size_t *n);

#endif
