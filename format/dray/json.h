/*
 * json.h - the one door to json-c, and canonical JSON.
 *
 * Canonical: UTF-8, no white space, object keys in ascending byte order and unique, integers only (-2^63 .. 2^63-1,
 * no leading zeros, no -0), strings with the escapes \" \\ \b \f \n \r \t and \u00xx (lower case) for other
 * control characters and nothing else escaped. Source: spec/bundle-format.md, "Canonical JSON".
 */
#ifndef DRAY_JSON_H
#define DRAY_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct dray_json;	/* a value; children belong to their parent */

#define DRAY_JSON_DEPTH 16

/**
 * dray_json_parse - parse one whole document; bytes after it are an error
 * @canonical: refuse (DRAY_E_FORMAT) what is not canonical, by writing it again and comparing
 * Errors: DRAY_E_FORMAT with the offset.
 */
DRAY_MUST_CHECK int dray_json_parse(const char *text, size_t len, bool canonical, struct dray_json **out,
    struct dray_err *e);
/** dray_json_count_parses - documents handed to the parser by this process: tests prove that damaged ones never get there */
uint64_t dray_json_count_parses(void);
void dray_json_free(struct dray_json *v);	/* a root only */

/* Readers. `where` names the object in messages ("dray.json"). All fail with DRAY_E_FORMAT. Strings are borrowed,
 * NUL-terminated and free of inner NULs (those are refused). */
DRAY_MUST_CHECK int dray_json_str(const struct dray_json *o, const char *key, const char **s, size_t *len,
    const char *where, struct dray_err *e);
DRAY_MUST_CHECK int dray_json_int(const struct dray_json *o, const char *key, int64_t min, int64_t max, int64_t *n,
    const char *where, struct dray_err *e);
DRAY_MUST_CHECK int dray_json_arr(const struct dray_json *o, const char *key, const struct dray_json **a, size_t *n,
    const char *where, struct dray_err *e);
DRAY_MUST_CHECK int dray_json_obj(const struct dray_json *o, const char *key, const struct dray_json **sub,
    const char *where, struct dray_err *e);
DRAY_MUST_CHECK int dray_json_bool(const struct dray_json *o, const char *key, bool *b, const char *where,
    struct dray_err *e);
bool dray_json_has(const struct dray_json *o, const char *key);
const struct dray_json *dray_json_at(const struct dray_json *a, size_t i);	/* NULL past the end */
bool dray_json_is_obj(const struct dray_json *v);
/* the string of an array element, NULL if it is none */
const char *dray_json_text(const struct dray_json *v, size_t *len);
size_t dray_json_count(const struct dray_json *v);				/* array length or number of keys */
const char *dray_json_key(const struct dray_json *o, size_t i);		/* i-th key in byte order */

/** dray_json_only - refuse keys that are not in the NULL-terminated list (closed objects) */
DRAY_MUST_CHECK int dray_json_only(const struct dray_json *o, const char *const *keys, const char *where,
    struct dray_err *e);

/* Builders. A NULL parent result or NULL argument is carried along, so that one check at the end
 * (dray_json_write fails with "out of memory") is enough. Strings that are not UTF-8 get U+FFFD. */
struct dray_json *dray_json_new_obj(void);
struct dray_json *dray_json_new_arr(void);
void dray_json_set_str(struct dray_json *o, const char *key, const char *s);
void dray_json_set_strn(struct dray_json *o, const char *key, const char *s, size_t len);
void dray_json_set_int(struct dray_json *o, const char *key, int64_t n);
void dray_json_set_bool(struct dray_json *o, const char *key, bool b);
struct dray_json *dray_json_set_obj(struct dray_json *o, const char *key);	/* new empty child, borrowed */
struct dray_json *dray_json_set_arr(struct dray_json *o, const char *key);
struct dray_json *dray_json_push_obj(struct dray_json *a);
void dray_json_push_str(struct dray_json *a, const char *s);
void dray_json_push_int(struct dray_json *a, int64_t n);
/** dray_json_copy - the value for another owner: freed by dray_json_free of its own; the two must not be changed */
struct dray_json *dray_json_copy(const struct dray_json *v);
/** dray_json_set_copy - such a copy as a member */
void dray_json_set_copy(struct dray_json *o, const char *key, const struct dray_json *v);
/** dray_json_push_copy - ... as an element */
void dray_json_push_copy(struct dray_json *a, const struct dray_json *v);
/** dray_json_set_path - "key": UTF-8 with bad bytes replaced, and "key_hex" when that lost something */
void dray_json_set_path(struct dray_json *o, const char *key, const char *path, size_t len);

/** dray_json_write - canonical text, malloc'ed, NUL after @len bytes */
DRAY_MUST_CHECK int dray_json_write(const struct dray_json *v, char **text, size_t *len, struct dray_err *e);

#endif
