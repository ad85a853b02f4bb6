/*
 * checking.h - what the files that compare a tree with a release share. Private to them.
 */
#ifndef INST_CHECKING_H
#define INST_CHECKING_H

#include "dray/digest.h"
#include "dray/meter.h"
#include "dray/path.h"

#include "installer/check.h"
#include "installer/policy.h"

#define INST_CHECK_BUF (256u * 1024u)	/* bytes of a thread's read buffer */

/* a name of a file that has, or shall have, several; no link leaves its mount */
struct inst_name { uint64_t mnt, dev, ino; uint32_t row, group; };

struct inst_checker {		/* one thread's tools */
	struct dray_walk walk;
	struct dray_sha256 *hash;
	uint8_t *buf;
	uint64_t hashed;		/* bytes of the path it is at */
	struct inst_name *names;
	size_t n, cap;
};

struct inst_checking {
	const struct dray_index *ix;
	const struct inst_check_opts *o;
	struct inst_check *c;
	struct inst_checker *checkers;
	unsigned threads;
	struct dray_meter meter;	/* bytes hashed */
};

/* check_entry.c: fills c->diffs of one row */
DRAY_MUST_CHECK int inst_check_entry(struct inst_checking *ck, struct inst_checker *w, uint32_t row, struct dray_err *e);

/* check_links.c: names of one group must be one object, and no others */
DRAY_MUST_CHECK int inst_check_links(struct inst_checking *ck, struct dray_err *e);

/* check_local.c: what is nobody's damage, and the counts */
void inst_check_local(struct inst_checking *ck, const struct dray_desc *desc);

/* check_foreign.c: a removed directory that holds something else than removed paths is kept for its sake */
DRAY_MUST_CHECK int inst_check_removed_dirs(struct inst_checking *ck, struct dray_err *e);

#endif
