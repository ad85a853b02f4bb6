/*
 * fbsd_contents.h - the contents of a release of a freebsd-update server: which there are, and those that a build needs
 * into its spool.
 */
#ifndef BUILD_FBSD_CONTENTS_H
#define BUILD_FBSD_CONTENTS_H

#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_get.h"
#include "builder/fbsd_source.h"
#include "builder/release.h"
#include "dray/err.h"
#include "dray/fbsd_lines.h"

struct build_spool;

struct build_fbsd_source {		/* what a release keeps: texts of its nodes point into the metadata */
	struct build_fbsd_server server;
	struct build_fbsd_meta *meta;
	struct build_fbsd_text left_out;	/* by the user's rules: HOW|PATH|WHY, as DRAY_UPSTREAM_LEFT_OUT holds them */
	struct build_spool *spool;	/* of the contents that were needed; NULL: none yet */
	const struct build_fbsd_opts *fo;
	const struct build_scan_opts *o;	/* of the call that runs, or NULL */
	uint64_t fetched, spooled;	/* bytes */
	uint64_t put;			/* of the content that is being put */
};

/** build_fbsd_contents - the contents of the files in @l, each hash once, in the order of hashes; malloc'ed */
DRAY_MUST_CHECK int build_fbsd_contents(const struct dray_fbsd_lines *l, const char *dir, struct build_fbsd_want **out,
    size_t *n, struct dray_err *e);

/** build_fbsd_came - so many bytes more have arrived; @ctx: a struct build_fbsd_source */
void build_fbsd_came(void *ctx, uint64_t n);

/* build_release.fetch and .open; errors of the first: those of build_fbsd_pull and of sources that are here; DRAY_E_ROOM */
DRAY_MUST_CHECK int build_fbsd_fetch(struct build_release *r, const struct build_scan_opts *o, struct dray_err *e);
DRAY_MUST_CHECK int build_fbsd_content(const struct build_release *r, const struct build_node *nd, struct build_reader *out,
    struct dray_err *e);

#endif
