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

#endif
