/*
 * merge3.h - three texts become one, line by line: what the release had before (base), what was edited here (mine), what
 * the release has now (theirs). No I/O. Source: spec/cli.md, "Merging".
 */
#ifndef DRAY_MERGE3_H
#define DRAY_MERGE3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

enum { DRAY_MERGE3_MAX_BYTES = 16 << 20, DRAY_MERGE3_MAX_LINES = 1000000 };	/* of each text */

enum dray_merge3_kind {
	DRAY_MERGE3_TEXT,
	DRAY_MERGE3_ACCOUNTS,	/* passwd, group: one entry a line, a name first, a number as third field */
	DRAY_MERGE3_SHADOWS,	/* shadow, gshadow: a name first */
};

enum dray_merge3_side { DRAY_MERGE3_MINE, DRAY_MERGE3_BASE, DRAY_MERGE3_THEIRS };

struct dray_merge3_text {
	const uint8_t *p;	/* any bytes; borrowed */
	size_t len;
	const char *label;	/* for markers: "mine", "released 1.0"; printable; NULL: the name of the side */
};

struct dray_merge3_in {
	struct dray_merge3_text side[3];	/* by enum dray_merge3_side */
	bool no_base;		/* there is none: both added the file, and what differs is a conflict */
	enum dray_merge3_kind kind;
};

enum dray_merge3_take {
	DRAY_MERGE3_SAME,	/* all three are equal there, or mine and theirs are if there is no base */
	DRAY_MERGE3_FROM_MINE,	/* edited here alone */
	DRAY_MERGE3_FROM_THEIRS,	/* changed by the release alone */
	DRAY_MERGE3_FROM_BOTH,	/* changed alike */
	DRAY_MERGE3_TAG,	/* only a version tag differs, or mine is an edit beside one: theirs is taken */
	DRAY_MERGE3_CONFLICT,
};

/* why of a part: two new names in a file of accounts have one number */
extern const char dray_merge3_one_number[];

/* one stretch of the result; those of a result follow each other as their lines do in it */
struct dray_merge3_part {
	struct { uint32_t at, n; } side[3];	/* lines, from 0 */
	enum dray_merge3_take take;
	const char *why;	/* CONFLICT: static text, "changed on both sides" */
};

struct dray_merge3 {
	uint8_t *text;		/* the merged text; around each conflict markers. NULL when @why is not */
	size_t len;
	struct dray_merge3_part *part;
	size_t n;
	size_t conflicts;
	const char *why;	/* static text: why it cannot be merged at all ("it is not text"); conflicts is then 1 */
	enum dray_merge3_side why_side;	/* ... of which of the three */
};

/** dray_merge3_kind - by the path, without slash in front: etc/passwd, etc/group, etc/master.passwd, etc/shadow, ... */
enum dray_merge3_kind dray_merge3_kind(const char *path, size_t len);

/**
 * dray_merge3 - merge
 * @out: dray_merge3_free, also after a failure
 *
 * Where `diff3 -m` finds no conflict the result is its result, byte by byte. Where it finds one, equal changes, version tags
 * and entries of accounts that stand in each other's way only by their place are settled. Two names that got one number, on
 * one side each, are a conflict wherever they stand. A text with a byte of zero, or beyond the bounds above, is not merged,
 * unless two of the three are equal. Time and memory are bounded by a multiple of the length, whatever the texts hold.
 * Return: 0, merged or not: see @out->conflicts; -1: out of memory.
 */
DRAY_MUST_CHECK int dray_merge3(const struct dray_merge3_in *in, struct dray_merge3 *out, struct dray_err *e);
void dray_merge3_free(struct dray_merge3 *m);

/** dray_merge3_marker - number of the first line, from 1, that begins like a marker of a conflict; 0: none does */
size_t dray_merge3_marker(const uint8_t *text, size_t len);

#endif
