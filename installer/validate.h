/*
 * validate.h - a merged file is shown to the program that a policy names for it before it goes live.
 * Source: spec/cli.md, "Merging".
 */
#ifndef INST_VALIDATE_H
#define INST_VALIDATE_H

#include "dray/policy.h"

#include "installer/journal.h"

struct inst_validate {
	bool here;		/* the tree is the running system's: no chroot is needed */
	bool chroot;		/* ... and else it is allowed */
	int (*stop)(void);
};

/** inst_validate_wanted - is there any merge with a command? */
bool inst_validate_wanted(const struct inst_plan *p);

/** inst_validate_allow - the programs that these rules name, for the runner; before it is sealed */
DRAY_MUST_CHECK int inst_validate_allow(const struct dray_policy *rules, struct dray_err *e);

/**
 * inst_validate_merges - run the command of each merge of @p that has one, and note what came of it
 * The program sees a copy beneath the folder of @tx, not the staged file, so nothing that it does to it goes live.
 * Return: 0; -1: DRAY_E_CONFLICT with all that failed counted, the first one named with what its program said; or it could
 * not be done.
 */
DRAY_MUST_CHECK int inst_validate_merges(const struct inst_state *s, const struct inst_tx *tx, struct inst_plan *p,
    const struct inst_validate *o, struct dray_err *e);

#endif
