/*
 * policy.h - a policy file: what a site has decided about paths beforehand. Lines "PATTERN ACTION [OPTION...]", or the same as
 * JSON. The first rule that matches a path and its case decides about it. Source: spec/cli.md, "Policy files".
 */
#ifndef DRAY_POLICY_H
#define DRAY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

enum { DRAY_POLICY_MAX_BYTES = 1 << 20, DRAY_POLICY_MAX_RULES = 4096 };

#define DRAY_POLICY_NOTE "notes/dray-policy"	/* the attachment that is a bundle's own: bundle-format.md 1 */

enum dray_action {
	DRAY_ACT_NONE,
	DRAY_ACT_IGNORE,	/* left as it is, whatever it is */
	DRAY_ACT_MINE,		/* what was edited here stays in place */
	DRAY_ACT_THEIRS,	/* the release's, where the release changes it */
	DRAY_ACT_STRICT,	/* ... and where it does not */
	DRAY_ACT_RESTORE,	/* a directory of the release that is a symlink here: it comes back */
	DRAY_ACT_REDIRECT,	/* ...: what is beneath it goes where the symlink leads */
	DRAY_ACT_MERGE,		/* a file that was edited here is merged with the release's */
	DRAY_ACT_KEEP_METADATA,	/* as without a rule, but owner, mode and flags set here stay */
	DRAY_ACT_USE,		/* a text that was decided on, where it would be a conflict otherwise */
};

enum { DRAY_WHEN_ADDED = 1,	/* no state that the bundle knows from before has the path, the release has */
	DRAY_WHEN_REMOVED = 2,	/* the release does not have it */
	DRAY_WHEN_CHANGED = 4,	/* all else */
	DRAY_WHEN_ANY = 7,
};

struct dray_rule {
	const char *pattern;	/* glob.h, without slashes around; in the set's memory. It decides about all beneath as
				 * well, but for restore and redirect */
	size_t len;
	enum dray_action action;
	uint8_t when;		/* DRAY_WHEN_* */
	bool keep_metadata;	/* owner, mode and flags set here stay */
	const char *validate;	/* merge, use: the command that says whether the new file will do; not NUL-terminated; NULL: none */
	size_t validate_len;
	uint8_t sha256[32];	/* use: of the text */
	bool bound;		/* use: only where the release's file is @release; else as if there was no such rule */
	uint8_t release[32];
	uint32_t line;		/* where it stands, from 1; of JSON the number of the rule */
};

struct dray_policy {
	struct dray_rule *v;
	size_t n;
	bool json;		/* of joined ones: the last */
	char *text, *more[2];	/* what the patterns point into; @more: of rules that were joined */
};

/**
 * dray_policy_parse - @text, of @len bytes, not NUL-terminated
 * DRAY_E_USAGE with the line, and what is wrong there. *out holds nothing after a failure; dray_policy_free.
 */
DRAY_MUST_CHECK int dray_policy_parse(const char *text, size_t len, struct dray_policy *out, struct dray_err *e);
void dray_policy_free(struct dray_policy *p);
/** dray_policy_join - the rules of @last behind those of @p, twice at most; @last has none afterwards */
DRAY_MUST_CHECK int dray_policy_join(struct dray_policy *p, struct dray_policy *last, struct dray_err *e);

/**
 * dray_policy_find - the first rule about @path in the case @when (one bit); NULL: none
 * @release: SHA-256 of the file that the release has there, 32 bytes; NULL: it has none, and no bound rule is found
 */
const struct dray_rule *dray_policy_find(const struct dray_policy *p, const char *path, size_t len, uint8_t when,
    const uint8_t *release);

/** dray_policy_bundled - may a bundle say it? It speaks for files in general: texts and symlinks of a machine are the machine's */
bool dray_policy_bundled(enum dray_action a);

/** dray_action_name - as it is written */
const char *dray_action_name(enum dray_action a);

/** dray_when_name - "added", "removed", "changed"; NULL for any */
const char *dray_when_name(uint8_t when);

#endif
