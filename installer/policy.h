/*
 * policy.h - what the operator has decided beforehand about a plan. All zero: the usual. Goes into the plan id.
 * Source: spec/cli.md 3.1, "Policy".
 */
#ifndef INST_POLICY_H
#define INST_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/policy.h"

/* what repair shall do about a path; 0: nothing */
enum {
	INST_REPAIR = 1,		/* make it what the release says */
	INST_REPAIR_NAMED = 2,		/* ... which the operator asked for by name */
	INST_REPAIR_KEEP_CONTENT = 4,	/* ... but its content is a local decision: owner, mode and extended attributes alone */
	INST_REPAIR_LINKS = 8,		/* it is one file with names that it should not share one with, or not with those it should */
};

/* a directory of the release that is a symlink here */
enum inst_link_how {
	INST_LINK_ASK,		/* not decided: a conflict */
	INST_LINK_IGNORE,	/* nothing beneath it is changed */
	INST_LINK_RESTORE,	/* the directory comes back, the symlink is parked */
	INST_LINK_REDIRECT,	/* what is beneath it goes where the symlink leads */
};

struct inst_link {
	const char *path;	/* borrowed, not NUL-terminated */
	size_t len;
	enum inst_link_how how;
	bool ruled;		/* by a rule of the policy file, not by --symlink */
};

struct inst_policy {
	bool strict;		/* the tree shall equal the release: all of it is looked at, no local edit stays in place */
	bool no_sync;		/* the tree may be lost: nothing is flushed, file systems that cannot keep the promise will do */
	bool no_owner;		/* owners, setuid, setgid, devices and what only root can set are left alone */
	bool park;		/* what is local in a directory that has to give way goes along with it into the stash */
	uint64_t absent;	/* components of the bundle that this tree lacks, a bit each: nothing of them is touched */
	uint64_t fresh;		/* those that it lacked and gets now: what is missing of them is wanted */
	struct inst_link *links;	/* in path order, each path once; owned */
	size_t n_links;
	struct dray_policy rules;	/* of --policy; owned */
	size_t n_decided;	/* so many of them are decisions of the state, whose folder is @decided, with a slash behind */
	char *decided;		/* owned */
	bool bundle_asked;	/* the rules of the bundle are among them, as the last @n_bundle */
	size_t n_bundle;
	char *texts;		/* its folder with a slash behind, "" for the current one: texts decided on lie there; owned */
	const uint8_t *repair;	/* per entry row: INST_REPAIR_*; NULL: an upgrade, which decides on what the release changes */
	size_t named;		/* paths named to repair; 0: all damage, and no local decision is undone */
};

/** inst_rules_load - a policy file; DRAY_E_USAGE with its name and line; dray_policy_free (rules.c) */
DRAY_MUST_CHECK int inst_rules_load(const char *file, struct dray_policy *out, struct dray_err *e);

struct dray_bundle;
/** inst_rules_of_bundle - what the release itself says about paths, behind all other rules; once, and not of a repair (rules.c) */
DRAY_MUST_CHECK int inst_rules_of_bundle(const struct dray_bundle *b, struct inst_policy *p, struct dray_err *e);

struct dray_index;
struct dray_entry;
/** inst_row_absent - does the entry belong to components of @absent alone? (components.c) */
bool inst_row_absent(const struct dray_index *ix, const struct dray_entry *en, uint64_t absent);

#endif
