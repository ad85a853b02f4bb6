/*
 * fbsd_proof.h - the proof that a bundle brings what a freebsd-update server has signed: its attachments hold the server's
 * key, tag and list, and each path of the release is held against its line. Source: spec/freebsd-update.md, 7.
 */
#ifndef DRAY_FBSD_PROOF_H
#define DRAY_FBSD_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "dray/bundle.h"
#include "dray/err.h"
#include "dray/fbsd.h"
#include "dray/fbsd_lines.h"

/* members notes/... */
#define DRAY_UPSTREAM_KEY "upstream-pub.ssl"
#define DRAY_UPSTREAM_TAG "upstream-latest.ssl"
#define DRAY_UPSTREAM_TINDEX "upstream-tINDEX"
#define DRAY_UPSTREAM_LIST "upstream-INDEX-ALL.zst"	/* one zstd frame that tells its size */
#define DRAY_UPSTREAM_LEFT_OUT "upstream-left-out"	/* lines HOW|PATH|WHY, by path; HOW: "all", or what is "beneath" alone */

#define DRAY_UPSTREAM_LIST_MAX (128u * 1024u * 1024u)	/* bytes of INDEX-ALL; FreeBSD's have up to 20 million */
#define DRAY_UPSTREAM_NOTE_MAX (64u * 1024u * 1024u)	/* bytes of an attachment */

struct dray_fbsd_left {			/* lines of the list that the bundle does not have */
	enum { DRAY_LEFT_COMPONENT, DRAY_LEFT_ALL, DRAY_LEFT_BENEATH, DRAY_LEFT_TWICE } how;
	const char *name, *why;		/* the component, or the path; not NUL-terminated. Unquoted */
	size_t len, why_len;
	size_t lines;			/* that many */
};

struct dray_fbsd_proof {
	struct dray_fbsd_tag tag;
	char of[100];			/* "14.0-RELEASE/amd64" */
	size_t lines;			/* of the list, the root excepted */
	size_t paths;			/* of the release, all of them equal to their lines */
	size_t removed;			/* paths that the bundle removes: no list of a release tells these */
	struct dray_fbsd_left *left;	/* in the order of components, then of paths */
	size_t n_left, cap_left;
	uint8_t *list, *left_out;	/* texts that all of this points into */
};

/**
 * dray_fbsd_prove - keyprint -> key -> tag -> index -> list -> every path
 * @b: opened, and all of it checked (dray_bundle_check)
 * Errors: DRAY_E_TRUST: an attachment is missing, does not hang together, or a path differs: the first one with its field,
 * and how many more; DRAY_E_FORMAT, DRAY_E_IO, DRAY_E_MEDIUM: the bundle cannot be read (any more).
 */
DRAY_MUST_CHECK int dray_fbsd_prove(const struct dray_bundle *b, const uint8_t keyprint[32], struct dray_fbsd_proof **out,
    struct dray_err *e);
void dray_fbsd_proof_free(struct dray_fbsd_proof *p);

/**
 * dray_fbsd_compare - the last link alone: each path of the release against the lines of its components
 * @list: what DRAY_UPSTREAM_LIST holds
 * @left_out: what was left out on purpose, as DRAY_UPSTREAM_LEFT_OUT tells it, @left_len bytes
 * @p: lines, paths, removed and left are filled
 */
DRAY_MUST_CHECK int dray_fbsd_compare(const struct dray_desc *d, const struct dray_index *ix,
    const struct dray_fbsd_list *list, const char *left_out, size_t left_len, struct dray_fbsd_proof *p, struct dray_err *e);

#endif
