/*
 * json_in.h - where json-c comes in, for json.c and json_write.c alone. Values are json-c's own objects: a
 * `struct dray_json` is never defined.
 */
#ifndef JSON_IN_H
#define JSON_IN_H

#include <stdint.h>

#include <json-c/json.h>

#include "dray/json.h"

static inline const struct json_object *
in(const struct dray_json *v)
{
	return (const struct json_object *)v;
}

static inline struct json_object *
in_rw(struct dray_json *v)
{
	return (struct json_object *)v;
}

/* json-c asks for a writable object where it only reads one (strings, numbers): the one place that gives way */
static inline struct json_object *
readable(const struct dray_json *v)
{
	return (struct json_object *)(uintptr_t)v;
}

#endif
