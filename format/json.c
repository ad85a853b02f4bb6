/*
 * json.c - strict parsing of JSON, and readers.
 *
 * json-c decides the grammar; what it would let pass (numbers that are no int64, NUL in strings, doubled keys, a
 * lone surrogate) is refused by a look at the bytes before it sees them.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dray/json.h"

#include "json_in.h"
#include "json_text.h"

static bool
is_type(const struct dray_json *v, enum json_type t)
{
	return v != NULL && json_object_get_type(in(v)) == t;
}

/* keys in the whole tree: json-c keeps one of two equal ones, so fewer than the text has tells of a doubled one */
static size_t
count_keys(const struct json_object *o)
{
	struct lh_entry *en;
	size_t n = 0, i;

	if (json_object_get_type(o) == json_type_object) {
		lh_foreach(json_object_get_object(o), en)
			n += 1 + count_keys(lh_entry_v(en));
	} else if (json_object_get_type(o) == json_type_array) {
		for (i = 0; i < json_object_array_length(o); i++)
			n += count_keys(json_object_array_get_idx(o, i));
	}
	return n;
}

/* the text of a string from its quote on: its length with both quotes */
static size_t
string_len(const char *p, size_t left)
{
	size_t i = 1;

	while (i < left && p[i] != '"')
		i += p[i] == '\\' ? 2 : 1;
	return i + 1 < left ? i + 1 : left;
}

/* is the key at @p, quotes and all, among @seen? It is afterwards */
static bool
seen_before(struct json_object *seen, const char *p, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *key = tok == NULL ? NULL : json_tokener_parse_ex(tok, p, (int)len);
	bool before = key != NULL && json_object_object_get_ex(seen, json_object_get_string(key), NULL);

	if (key != NULL && !before)
		(void)json_object_object_add(seen, json_object_get_string(key), NULL);
	json_object_put(key);
	if (tok != NULL)
		json_tokener_free(tok);
	return before;
}

/* where a key of its object stands for the second time, in a text that is JSON; @len if memory ran out on the way */
static size_t
find_doubled(const char *text, size_t len)
{
	struct json_object *seen[DRAY_JSON_DEPTH + 1] = { NULL };	/* keys of each open object; NULL: an array */
	size_t depth = 0, found = len, n;

	for (size_t i = 0; i < len && found == len; i += n) {
		size_t next;

		n = 1;
		if (text[i] == '{' || text[i] == '[') {
			seen[depth++] = text[i] == '{' ? json_object_new_object() : NULL;
		} else if (text[i] == '}' || text[i] == ']') {
			json_object_put(seen[--depth]);
		} else if (text[i] == '"') {
			n = string_len(text + i, len - i);
			for (next = i + n; next < len && dray_json_text_blank(text[next]); next++)
				;
			if (next < len && text[next] == ':' && seen[depth - 1] != NULL && seen_before(seen[depth - 1], text + i, n))
				found = i;
		}
	}
	while (depth > 0)
		json_object_put(seen[--depth]);
	return found;
}

static int
check_canonical(const struct json_object *root, const char *text, size_t len, struct dray_err *e)
{
	char *again = NULL;
	size_t again_len, i;
	int rc = 0;

	if (dray_json_write((const struct dray_json *)root, &again, &again_len, e) != 0)
		return -1;
	if (again_len != len || memcmp(again, text, len) != 0) {
		for (i = 0; i < len && i < again_len && text[i] == again[i]; i++)
			;
		rc = dray_fail(e, DRAY_E_FORMAT, "the JSON is not canonical from byte %zu on", i);
	}
	free(again);
	return rc;
}

static atomic_uint_fast64_t parsed;

uint64_t
dray_json_count_parses(void)
{
	return atomic_load(&parsed);
}

int
dray_json_parse(const char *text, size_t len, bool canonical, struct dray_json **out, struct dray_err *e)
{
	struct json_tokener *tok;
	struct json_object *root;
	size_t keys = 0, used = len, first = 0;
	int rc = -1;

	*out = NULL;
	atomic_fetch_add(&parsed, 1);
	if (len > INT_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "the JSON is longer than 2 GiB");
	if (dray_json_text_scan(text, len, DRAY_JSON_DEPTH, &keys, e) != 0)
		return -1;
	/* json-c calls a blank after the end trailing text */
	while (used > 0 && dray_json_text_blank(text[used - 1]))
		used--;
	while (first < used && dray_json_text_blank(text[first]))
		first++;
	if (first < used && text[first] != '{' && text[first] != '[')
		return dray_fail(e, DRAY_E_FORMAT, "the JSON is neither an object nor an array, at byte %zu", first);
	/* a scalar takes a level of its own there */
	if ((tok = json_tokener_new_ex(DRAY_JSON_DEPTH + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	errno = 0;
	root = json_tokener_parse_ex(tok, text, (int)used);
	if (json_tokener_get_error(tok) == json_tokener_continue)
		dray_fail(e, DRAY_E_FORMAT, "the JSON ends too early, at byte %zu", used);
	else if (json_tokener_get_error(tok) != json_tokener_success)
		dray_fail(e, DRAY_E_FORMAT, "not JSON at byte %zu", json_tokener_get_parse_end(tok));
	/* json-c 0.16 has no code for it: it comes back early, or without the key it had no room for */
	else if (root == NULL || json_tokener_get_parse_end(tok) != used ||
	    (errno == ENOMEM && count_keys(root) != keys))
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (count_keys(root) != keys)
		dray_fail(e, DRAY_E_FORMAT, "the JSON has a key twice in one object, at byte %zu", find_doubled(text, used));
	else if (!canonical || check_canonical(root, text, len, e) == 0)
		rc = 0;
	json_tokener_free(tok);
	if (rc == 0)
		*out = (struct dray_json *)root;
	else
		json_object_put(root);
	return rc;
}

void
dray_json_free(struct dray_json *v)
{
	if (v != NULL)
		json_object_put(in_rw(v));
}

static int
find(const struct dray_json *o, const char *key, enum json_type type, const char *type_name,
    struct json_object **v, const char *where, struct dray_err *e)
{
	*v = NULL;
	if (!is_type(o, json_type_object))
		return dray_fail(e, DRAY_E_FORMAT, "%s: an object is wanted where \"%s\" is looked for", where, key);
	if (!json_object_object_get_ex(in(o), key, v))
		return dray_fail(e, DRAY_E_FORMAT, "%s: \"%s\" is missing", where, key);
	if (json_object_get_type(*v) != type)
		return dray_fail(e, DRAY_E_FORMAT, "%s: \"%s\" is not %s", where, key, type_name);
	return 0;
}

int
dray_json_str(const struct dray_json *o, const char *key, const char **s, size_t *len, const char *where,
    struct dray_err *e)
{
	struct json_object *v;

	if (find(o, key, json_type_string, "a string", &v, where, e) != 0)
		return -1;
	*s = json_object_get_string(v);
	*len = (size_t)json_object_get_string_len(v);
	return 0;
}

int
dray_json_int(const struct dray_json *o, const char *key, int64_t min, int64_t max, int64_t *n,
    const char *where, struct dray_err *e)
{
	struct json_object *v;
	int64_t got;

	if (find(o, key, json_type_int, "a whole number", &v, where, e) != 0)
		return -1;
	got = json_object_get_int64(v);
	if (got < min || got > max)
		return dray_fail(e, DRAY_E_FORMAT, "%s: \"%s\" is %" PRId64 ", not within %" PRId64 " .. %" PRId64,
		    where, key, got, min, max);
	*n = got;
	return 0;
}

int
dray_json_arr(const struct dray_json *o, const char *key, const struct dray_json **a, size_t *n,
    const char *where, struct dray_err *e)
{
	struct json_object *v;

	if (find(o, key, json_type_array, "an array", &v, where, e) != 0)
		return -1;
	*a = (const struct dray_json *)v;
	*n = json_object_array_length(v);
	return 0;
}

int
dray_json_obj(const struct dray_json *o, const char *key, const struct dray_json **sub, const char *where,
    struct dray_err *e)
{
	struct json_object *v;

	if (find(o, key, json_type_object, "an object", &v, where, e) != 0)
		return -1;
	*sub = (const struct dray_json *)v;
	return 0;
}

int
dray_json_bool(const struct dray_json *o, const char *key, bool *b, const char *where, struct dray_err *e)
{
	struct json_object *v;

	if (find(o, key, json_type_boolean, "true or false", &v, where, e) != 0)
		return -1;
	*b = json_object_get_boolean(v) != 0;
	return 0;
}

bool
dray_json_has(const struct dray_json *o, const char *key)
{
	return is_type(o, json_type_object) && json_object_object_get_ex(in(o), key, NULL);
}

const struct dray_json *
dray_json_at(const struct dray_json *a, size_t i)
{
	if (!is_type(a, json_type_array) || i >= json_object_array_length(in(a)))
		return NULL;
	return (const struct dray_json *)json_object_array_get_idx(in(a), i);
}

bool
dray_json_is_obj(const struct dray_json *v)
{
	return is_type(v, json_type_object);
}

const char *
dray_json_text(const struct dray_json *v, size_t *len)
{
	if (!is_type(v, json_type_string))
		return NULL;
	*len = (size_t)json_object_get_string_len(in(v));
	return json_object_get_string(readable(v));
}

size_t
dray_json_count(const struct dray_json *v)
{
	if (is_type(v, json_type_array))
		return json_object_array_length(in(v));
	if (is_type(v, json_type_object))
		return (size_t)json_object_object_length(in(v));
	return 0;
}

/* the smallest key above `after`, NULL if none */
static const char *
next_key(const struct json_object *o, const char *after)
{
	const char *best = NULL, *key;
	struct lh_entry *en;

	lh_foreach(json_object_get_object(o), en)
	{
		key = lh_entry_k(en);
		if ((after == NULL || strcmp(key, after) > 0) && (best == NULL || strcmp(key, best) < 0))
			best = key;
	}
	return best;
}

const char *
dray_json_key(const struct dray_json *o, size_t i)
{
	const char *last = NULL, *found = NULL, *key;
	struct lh_entry *en;
	size_t n = 0;

	if (!is_type(o, json_type_object))
		return NULL;
	/* canonical text left its keys in order; then this is one walk */
	lh_foreach(json_object_get_object(in(o)), en)
	{
		key = lh_entry_k(en);
		if (last != NULL && strcmp(last, key) > 0)
			goto unordered;
		if (n++ == i)
			found = key;
		last = key;
	}
	return found;
unordered:
	found = next_key(in(o), NULL);
	for (n = 0; n < i && found != NULL; n++)
		found = next_key(in(o), found);
	return found;
}

int
dray_json_only(const struct dray_json *o, const char *const *keys, const char *where, struct dray_err *e)
{
	struct lh_entry *en;
	const char *key;
	char name[160];
	size_t i;

	if (!is_type(o, json_type_object))
		return dray_fail(e, DRAY_E_FORMAT, "%s: an object is wanted", where);
	lh_foreach(json_object_get_object(in(o)), en)
	{
		key = lh_entry_k(en);
		for (i = 0; keys[i] != NULL && strcmp(keys[i], key) != 0; i++)
			;
		if (keys[i] == NULL)
			return dray_fail(e, DRAY_E_FORMAT, "%s: unknown key \"%s\"", where,
			    dray_quote(key, strlen(key), name, sizeof(name)));
	}
	return 0;
}
