/*
 * delta_match.h - where bytes of a new text stand in an old one: hashed blocks first, a suffix array for the rest.
 */
#ifndef DELTA_MATCH_H
#define DELTA_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct dray_cover { uint32_t src, ref, len; };	/* len bytes that are equal; covers ascend by src and do not overlap */

struct dray_matcher {
	const uint8_t *src, *ref;
	size_t len, ref_len;
	struct dray_cover *covers;
	size_t n, cap;
	uint64_t covered;		/* bytes of src in covers */
	size_t at;			/* the first cover that does not end before the last position asked for */
	int32_t *sa;			/* NULL: only covers are looked at */
	uint32_t *bucket;		/* 65,537: where suffixes that begin with two bytes begin in sa; NULL: ref is short */
	uint64_t work;			/* bytes compared */
};

/** dray_match_blocks - find the covers: all equal stretches of 63 bytes and more, and most from 32 bytes on */
DRAY_MUST_CHECK int dray_match_blocks(struct dray_matcher *m, struct dray_err *e);

/**
 * dray_match_share - how much of src is in ref, in stretches too short for a cover: a cheap guess
 * *per_cent: of sampled 12-byte strings of src, those that are somewhere in ref
 */
DRAY_MUST_CHECK int dray_match_share(const struct dray_matcher *m, unsigned *per_cent, struct dray_err *e);

/** dray_match_suffixes - make the suffix array of ref */
DRAY_MUST_CHECK int dray_match_suffixes(struct dray_matcher *m, struct dray_err *e);

/**
 * dray_match_find - the longest stretch of ref that is equal to src from @i on, as far as it was looked for
 * @i: never lower than the one before
 * @diag: ref position minus src position of the alignment in use: preferred where it matches well
 * Return: its length, 0 .. ; *pos: where it stands in ref
 */
size_t dray_match_find(struct dray_matcher *m, size_t i, int64_t diag, size_t *pos);
void dray_match_free(struct dray_matcher *m);

#endif
