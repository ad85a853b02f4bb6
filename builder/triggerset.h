/*
 * triggerset.h - named sets of triggers: what a system has to do after its files have changed.
 */
#ifndef BUILD_TRIGGERSET_H
#define BUILD_TRIGGERSET_H

#include <stdbool.h>
#include <stddef.h>

#include "builder/release.h"
#include "dray/err.h"
#include "dray/json.h"

#define BUILD_TRIGGERS_NONE 1u	/* bit 0: none at all, also not the set that a source has on by itself */

/** build_triggerset_add - switch the set @name on; DRAY_E_USAGE lists the names there are */
DRAY_MUST_CHECK int build_triggerset_add(unsigned *sets, const char *name, struct dray_err *e);

/**
 * build_triggers - @own and those of the sets that have something to wait for
 * @own: array, checked, or NULL; they stand first, and one of them replaces one of a set that has its id
 * @rel: the target first, then the bases
 * @out: array, or NULL when there are none; dray_json_free
 */
DRAY_MUST_CHECK int build_triggers(const struct dray_json *own, unsigned sets, struct build_release *const *rel, size_t n,
    struct dray_json **out, struct dray_err *e);

#endif
