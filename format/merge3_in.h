/*
 * merge3_in.h - what the files of the three-way merge share. Private to them.
 */
#ifndef DRAY_MERGE3_IN_H
#define DRAY_MERGE3_IN_H

#include "dray/merge3.h"
#include "lines.h"

enum { MINE = DRAY_MERGE3_MINE, BASE = DRAY_MERGE3_BASE, THEIRS = DRAY_MERGE3_THEIRS };

struct dray_merge3_parts {
	struct dray_merge3_part *v;
	size_t n, cap;
};

/** dray_merge3_part_add - @p at the end; an empty one is left out */
DRAY_MUST_CHECK int dray_merge3_part_add(struct dray_merge3_parts *parts, const struct dray_merge3_part *p, struct dray_err *e);
/** dray_merge3_part_clash - a conflict of these three ranges, and why */
struct dray_merge3_part dray_merge3_part_clash(const struct dray_merge3_part *at);
size_t dray_merge3_part_clashes(const struct dray_merge3_parts *parts);

/** dray_merge3_join - parts of the whole of @v, whose lines are numbered below @ids; @parts: added to */
DRAY_MUST_CHECK int dray_merge3_join(const struct dray_lines v[3], uint32_t ids, bool no_base, struct dray_merge3_parts *parts,
    struct dray_err *e);

/** dray_merge3_tags - settle, in place, what only version tags keep apart */
DRAY_MUST_CHECK int dray_merge3_tags(const struct dray_lines v[3], bool no_base, struct dray_merge3_parts *parts,
    struct dray_err *e);
/** dray_merge3_plain - the line with its version tags taken out, into @dst of @len bytes at least. Return: its length. */
size_t dray_merge3_plain(const uint8_t *line, size_t len, uint8_t *dst);

/** dray_merge3_entries - if it helps and the files allow it, @parts are made anew, entry by entry */
DRAY_MUST_CHECK int dray_merge3_entries(const struct dray_lines v[3], bool numbers, struct dray_merge3_parts *parts,
    struct dray_err *e);

#endif
