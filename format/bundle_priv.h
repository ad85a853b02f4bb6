/*
 * bundle_priv.h - an open bundle (private to bundle.c, bundle_check.c and bundle_blame.c).
 */
#ifndef DRAY_BUNDLE_PRIV_H
#define DRAY_BUNDLE_PRIV_H

#include "dray/bundle.h"

struct dray_bundle {
	int fd;				/* borrowed; -1 with volumes */
	const struct dray_volumes *volumes;	/* borrowed; NULL: one file */
	bool head_only;
	uint64_t length;		/* where it must end, as signed; 0 until that is known */
	uint8_t id[32];
	char *json;
	size_t json_len;
	uint8_t *slot_bytes;
	uint64_t slot_len;
	struct dray_slot slot;
	struct dray_verdict verdict;
	struct dray_desc *desc;
	struct dray_index *ix;
};

/** dray_bundle_padding - the bytes from @end up to a multiple of 512 must be zero */
DRAY_MUST_CHECK int dray_bundle_padding(const struct dray_bundle *b, uint64_t end, struct dray_err *e);

/** dray_bundle_header - the canonical header at @at must be that of @name with exactly @size bytes */
DRAY_MUST_CHECK int dray_bundle_header(const struct dray_bundle *b, uint64_t at, const char *name, uint64_t size,
    struct dray_err *e);

/* wrap @e, which tells what is wrong with a frame: where it stands, and the first path that needs it. Return: -1 */
int dray_bundle_blame(const struct dray_index *ix, uint32_t frame, struct dray_err *e);

#endif
