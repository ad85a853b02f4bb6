/*
 * trigger.h - declared post-steps, as dray.json and recipes hold them. Source: spec/bundle-format.md, 4.1 "Triggers".
 */
#ifndef DRAY_TRIGGER_H
#define DRAY_TRIGGER_H

#include <stddef.h>

#include "dray/err.h"
#include "dray/json.h"

#define DRAY_MAX_TRIGGERS 256u

/**
 * dray_trigger_check - is @t a trigger that may stand as number @i of @all?
 * @where: names @t in messages
 * Looks at every field, and that the id is new and what it needs stands before it. DRAY_E_FORMAT.
 */
DRAY_MUST_CHECK int dray_trigger_check(const struct dray_json *all, size_t i, const char *where, struct dray_err *e);

/** dray_trigger_phase - the phase after which it runs, NUL-terminated; NULL: after each that calls it. That there is such a
 * phase is the caller's to look at */
const char *dray_trigger_phase(const struct dray_json *t);

enum dray_trigger_needs {
	DRAY_NEEDS_ROOT_LIVE,	/* the running system: never run for another root */
	DRAY_NEEDS_CHROOT,	/* the root of its own tree: another one will do in a chroot */
	DRAY_NEEDS_NONE,	/* the files of the tree alone: confined on the running system too */
};
enum dray_on_failure { DRAY_FAILURE_WARN, DRAY_FAILURE_FAIL, DRAY_FAILURE_ROLLBACK };

/** dray_trigger_needs, dray_trigger_on_failure - of one that was checked; the default where it does not say */
enum dray_trigger_needs dray_trigger_needs(const struct dray_json *t);
enum dray_on_failure dray_trigger_on_failure(const struct dray_json *t);

#endif
