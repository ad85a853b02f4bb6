/*
 * bundle.h - a bundle opened for reading: tar headers, signature, descriptor, index, in that order; each byte is
 * hashed before anything parses or decodes it. Source: spec/bundle-format.md, "Reading".
 */
#ifndef DRAY_BUNDLE_H
#define DRAY_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/descriptor.h"
#include "dray/err.h"
#include "dray/index.h"
#include "dray/slot.h"
#include "dray/trust.h"
#include "dray/volume.h"

struct dray_bundle;

struct dray_bundle_opts {
	const struct dray_keyring *keyring;	/* NULL only with @unsigned_ok or @expect_id */
	bool unsigned_ok;	/* builder's own commands (info, sign): trust is not asked, the verdict says so */
	bool no_index;		/* stop after the descriptor */
	bool head_only;		/* a stored head: ends where dray_bundle_head_len says, has no blocks. Needs @expect_id */
	const uint8_t *expect_id;	/* 32 bytes or NULL: the bundle id must be this one, and then no keyring is asked */
	unsigned threads;	/* for the index; 0: one */
	const struct dray_volumes *volumes;	/* the bundle is cut into these, and there is no @fd; NULL: it is one file */
};

/**
 * dray_bundle_open - open and check everything up to and with the index
 * @fd: borrowed, open for reading until dray_bundle_close, as volumes are; read with pread only, its position does not move
 * @e: filled on failure: DRAY_E_TRUST (30), DRAY_E_FORMAT (31), DRAY_E_NEWER (32), DRAY_E_MEDIUM (33: EIO on read)
 */
DRAY_MUST_CHECK int dray_bundle_open(int fd, const struct dray_bundle_opts *o, struct dray_bundle **out,
    struct dray_err *e);
void dray_bundle_close(struct dray_bundle *b);

const struct dray_desc *dray_bundle_desc(const struct dray_bundle *b);
const struct dray_index *dray_bundle_index(const struct dray_bundle *b);	/* NULL with no_index */
const struct dray_verdict *dray_bundle_verdict(const struct dray_bundle *b);
const struct dray_slot *dray_bundle_slot(const struct dray_bundle *b);
const uint8_t *dray_bundle_id(const struct dray_bundle *b);		/* 32 bytes: SHA-256 of dray.json */
const char *dray_bundle_json(const struct dray_bundle *b, size_t *len);	/* verified text of dray.json */

/** dray_bundle_head_len - bytes from the start up to the first block: signature, descriptor, notes and index */
uint64_t dray_bundle_head_len(const struct dray_bundle *b);

/** dray_bundle_read - @len bytes at @at, whole or an error: short is DRAY_E_FORMAT "ends at byte N", EIO DRAY_E_MEDIUM */
DRAY_MUST_CHECK int dray_bundle_read(const struct dray_bundle *b, uint64_t at, void *buf, size_t len, struct dray_err *e);

/** dray_bundle_member - bytes of a listed member (README.txt, notes/...), hashed; malloc'ed; at most @max bytes */
DRAY_MUST_CHECK int dray_bundle_member(const struct dray_bundle *b, const char *name, size_t max, uint8_t **p,
    size_t *len, struct dray_err *e);

struct dray_progress;	/* meter.h */

struct dray_check_opts {
	unsigned threads;
	bool deep;		/* also decode every frame and compare the hash of every content that has a recipe */
	void (*progress)(void *ctx, const struct dray_progress *at);	/* bytes hashed and unpacked; any thread; may be NULL */
	void *ctx;
	int (*stop)(void);	/* other than 0: end with DRAY_E_SIGNAL; asked before every frame by all workers; may be NULL */
};

/**
 * dray_bundle_check - every byte that dray_bundle_open has not looked at: headers, padding, members, frames, the end
 * Errors name what is damaged, and for a frame the first path that needs it.
 */
DRAY_MUST_CHECK int dray_bundle_check(const struct dray_bundle *b, const struct dray_check_opts *o, struct dray_err *e);

#endif
