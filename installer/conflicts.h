/*
 * conflicts.h - what the files of dray-install conflicts share.
 */
#ifndef INST_CONFLICTS_H
#define INST_CONFLICTS_H

#include "installer/decisions.h"

struct inst_conflicts {
	struct inst_front f;
	const char *policy;		/* --policy: where decisions are kept instead of the state */
	const char *take, *show, *edit, *from;
	bool reopen, parked;		/* --reopen, --list */
	const char *const *paths;	/* operands behind the bundle */
	size_t n_paths;
	struct inst_plan *plan;		/* as if nothing was decided */
	struct inst_decisions d;
};

/** inst_conflicts_find - the conflict that @path, as people write it, names; NULL: DRAY_E_USAGE says what it is instead */
const struct inst_merge *inst_conflicts_find(const struct inst_conflicts *c, const char *path, struct dray_err *e);
/** inst_conflicts_next - these paths are decided: what to do now, or with --json the document that says so */
DRAY_MUST_CHECK int inst_conflicts_next(struct inst_conflicts *c, const char *const *paths, size_t n, struct dray_err *e);

/** inst_conflicts_write - the decisions once more, for writing: the state is made if there is none, and locked */
DRAY_MUST_CHECK int inst_conflicts_write(struct inst_conflicts *c, struct dray_err *e);

/* conflicts_edit.c */
DRAY_MUST_CHECK int inst_conflicts_edit(struct inst_conflicts *c, struct dray_err *e);
/* conflicts_show.c: the places of one conflict, each with a few lines around it */
DRAY_MUST_CHECK int inst_conflicts_show(struct inst_conflicts *c, struct dray_err *e);
/* conflicts_parked.c: what former runs replaced or did not take; needs no bundle */
DRAY_MUST_CHECK int inst_conflicts_parked(struct inst_conflicts *c, struct dray_err *e);

#endif
