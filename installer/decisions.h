/*
 * decisions.h - what was decided about conflicts, one path at a time: lines of a policy file, and beside it the texts that
 * were decided on, named by their hashes. By default STATE/decisions/policy, which plan and apply read before a file of
 * --policy. Source: spec/cli.md, "conflicts".
 */
#ifndef INST_DECISIONS_H
#define INST_DECISIONS_H

#include "installer/cmd.h"

#define INST_DECISIONS_DIR "decisions"
#define INST_DECISIONS_FILE "policy"

struct inst_decisions {
	int dir;		/* the folder; -1: there is none yet */
	char *folder;		/* ... as a person names it, with a slash behind; "": the current one */
	const char *name;	/* of the policy file in it */
	char *text;		/* the file, of @len bytes; owned */
	size_t len;
	struct dray_policy rules;	/* what it says */
};

/**
 * inst_decisions_load - of the state, which is open, or of @file
 * @make: the folder of the state is made if there is none. A file that is none is DRAY_E_USAGE; an absent one has no rules.
 */
DRAY_MUST_CHECK int inst_decisions_load(const struct inst_front *f, const char *file, bool make, struct inst_decisions *d,
    struct dray_err *e);
void inst_decisions_free(struct inst_decisions *d);

/**
 * inst_decisions_set - in memory: a rule for @path alone, in front of all patterns; older ones for it alone go
 * @action: "mine", "theirs", "use HASH for HASH"; NULL: just take those away
 */
DRAY_MUST_CHECK int inst_decisions_set(struct inst_decisions *d, const char *path, size_t len, const char *action,
    struct dray_err *e);
/** inst_decisions_save - the file as it is in memory */
DRAY_MUST_CHECK int inst_decisions_save(struct inst_decisions *d, struct dray_err *e);
/** inst_decisions_keep - a text that is decided on, beside the file */
DRAY_MUST_CHECK int inst_decisions_keep(const struct inst_decisions *d, const uint8_t *p, size_t len, char hex[65],
    struct dray_err *e);

/** inst_decisions_join - those of the state in front of the rules of --policy; nothing if there are none */
DRAY_MUST_CHECK int inst_decisions_join(struct inst_front *f, struct dray_err *e);

#endif
