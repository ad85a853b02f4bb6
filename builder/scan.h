/*
 * scan.h - private to the directory source: what its two passes (list directories, hash files) share.
 */
#ifndef BUILD_SCAN_H
#define BUILD_SCAN_H

#include "builder/release.h"
#include "dray/digest.h"
#include "dray/meter.h"
#include "dray/os.h"
#include "dray/path.h"

/* one per thread */
struct build_scan_worker {
	struct dray_walk walk;
	struct dray_sha256 *sha;
	uint8_t *buf;			/* BUILD_SCAN_BUF bytes: file contents, xattr lists and values */
	struct build_arena *arena;	/* of the release */
	struct build_notice *notices;
	size_t n_notices, cap_notices;
};

#define BUILD_SCAN_BUF (256u * 1024u)

struct build_scan {
	const struct build_scan_opts *o;
	struct build_release *r;
	int root;			/* borrowed from the release's source */
	struct dray_stat root_st;
	struct build_scan_worker *workers;
	unsigned threads;
	struct dray_meter meter;	/* bytes hashed */
};

/** build_scan_list - all directories below the root, level by level; files come out unhashed */
DRAY_MUST_CHECK int build_scan_list(struct build_scan *s, struct dray_err *e);

/** build_scan_xattrs - those a bundle carries, of an open file or directory, into @nd */
DRAY_MUST_CHECK int build_scan_xattrs(const struct build_scan_opts *o, struct build_scan_worker *w, int fd,
    struct build_node *nd, struct dray_err *e);

/** build_scan_meta - attributes of @st into @nd; its type must be set */
void build_scan_meta(const struct dray_stat *st, struct build_node *nd);

/** build_scan_open - open @nd below the root, checking on the way that it is still what it was; the handle in *fd */
DRAY_MUST_CHECK int build_scan_open(struct dray_walk *walk, const struct build_node *nd, int flags, int *fd,
    struct dray_err *e);

#endif
