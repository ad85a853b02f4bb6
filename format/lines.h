/*
 * lines.h - texts as lines, lines as numbers: two lines of a group of texts have the same number if and only if they are
 * equal. A last line without its newline equals only another such line.
 */
#ifndef DRAY_LINES_H
#define DRAY_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct dray_lines {
	const uint8_t *p;	/* borrowed */
	uint32_t *at;		/* n + 1 offsets */
	uint32_t *id;		/* dray_lines_number */
	uint32_t n;
};

/** dray_lines_split - at each newline. @len: below 2^32 - 1. Errors: out of memory. dray_lines_free, also after one. */
DRAY_MUST_CHECK int dray_lines_split(const uint8_t *p, size_t len, struct dray_lines *out, struct dray_err *e);
void dray_lines_free(struct dray_lines *l);

/** dray_lines_number - fill the ids of all @n texts; *ids: they are below this. By sorting: no text makes it slow. */
DRAY_MUST_CHECK int dray_lines_number(struct dray_lines *v, size_t n, uint32_t *ids, struct dray_err *e);

const uint8_t *dray_lines_get(const struct dray_lines *l, uint32_t i, size_t *len);	/* with its newline */

/* one difference: lines [a, a + an) of one text stand where the other has [b, b + bn) */
struct dray_edit {
	uint32_t a, an, b, bn;
};

struct dray_edits {
	struct dray_edit *v;
	uint32_t n;
};

/**
 * dray_lines_diff - what differs, as GNU diff finds it where it is not too dear
 * @ids: numbers are below this
 * @horizon: so many lines of what both begin and end with are looked at too: they have a say in where changes come to lie
 */
DRAY_MUST_CHECK int dray_lines_diff(const struct dray_lines *a, const struct dray_lines *b, uint32_t ids, uint32_t horizon,
    struct dray_edits *out, struct dray_err *e);

/* private to the diff: one of the two texts between the lines that both begin and end with */
struct dray_diff_side {
	const uint32_t *id;
	uint32_t n;
	uint8_t *changed;	/* by line; one more is there and stays 0 */
};

/* linediff_drop.c: lines that need no comparing are marked as changed; those that are left: *kept of them, in @at */
DRAY_MUST_CHECK int dray_diff_drop(struct dray_diff_side side[2], uint32_t ids, uint32_t *at[2], uint32_t kept[2], struct dray_err *e);
/* linediff_slide.c: runs of changes are moved to where a person would see them, and joined */
void dray_diff_slide(struct dray_diff_side side[2]);

#endif
