/*
 * json_write.c - building JSON, and the canonical way to write it.
 */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/json.h"
#include "dray/num.h"

#include "json_in.h"
#include "json_text.h"
#include "utf8.h"

/* the user data of a container to which something could not be added; needs no memory itself */
static char broken;

struct dray_json *
dray_json_new_obj(void)
{
	return (struct dray_json *)json_object_new_object();
}

struct dray_json *
dray_json_new_arr(void)
{
	return (struct dray_json *)json_object_new_array();
}

/* takes v; what cannot be added marks its container, which dray_json_write finds */
static struct json_object *
add(struct dray_json *to, const char *key, struct json_object *v)
{
	int rc = -1;

	if (to != NULL && v != NULL)
		rc = key != NULL ? json_object_object_add(in_rw(to), key, v) :
				   json_object_array_add(in_rw(to), v);
	if (rc == 0)
		return v;
	if (to != NULL)
		json_object_set_userdata(in_rw(to), &broken, NULL);
	json_object_put(v);
	return NULL;
}

static struct json_object *
new_string(const char *s, size_t len)
{
	return s == NULL || len > INT_MAX ? NULL : json_object_new_string_len(s, (int)len);
}

void
dray_json_set_str(struct dray_json *o, const char *key, const char *s)
{
	dray_json_set_strn(o, key, s, s == NULL ? 0 : strlen(s));
}

void
dray_json_set_strn(struct dray_json *o, const char *key, const char *s, size_t len)
{
	(void)add(o, key, new_string(s, len));
}

void
dray_json_set_int(struct dray_json *o, const char *key, int64_t n)
{
	(void)add(o, key, json_object_new_int64(n));
}

struct dray_json *
dray_json_copy(const struct dray_json *v)
{
	return (struct dray_json *)json_object_get(readable(v));
}

void
dray_json_set_copy(struct dray_json *o, const char *key, const struct dray_json *v)
{
	(void)add(o, key, json_object_get(readable(v)));
}

void
dray_json_set_bool(struct dray_json *o, const char *key, bool b)
{
	(void)add(o, key, json_object_new_boolean(b));
}

struct dray_json *
dray_json_set_obj(struct dray_json *o, const char *key)
{
	return (struct dray_json *)add(o, key, json_object_new_object());
}

struct dray_json *
dray_json_set_arr(struct dray_json *o, const char *key)
{
	return (struct dray_json *)add(o, key, json_object_new_array());
}

struct dray_json *
dray_json_push_obj(struct dray_json *a)
{
	return (struct dray_json *)add(a, NULL, json_object_new_object());
}

void
dray_json_push_str(struct dray_json *a, const char *s)
{
	(void)add(a, NULL, new_string(s, s == NULL ? 0 : strlen(s)));
}

void
dray_json_push_copy(struct dray_json *a, const struct dray_json *v)
{
	(void)add(a, NULL, json_object_get(readable(v)));
}

void
dray_json_push_int(struct dray_json *a, int64_t n)
{
	(void)add(a, NULL, json_object_new_int64(n));
}

void
dray_json_set_path(struct dray_json *o, const char *key, const char *path, size_t len)
{
	struct json_object *v = NULL;
	char *hex = NULL, name[64];
	size_t n, i;
	uint32_t cp;

	dray_json_set_strn(o, key, path, len);
	for (i = 0; i < len && (n = utf8_take((const uint8_t *)path + i, len - i, &cp)) != 0; i += n)
		;
	if (i >= len)
		return;
	assert(strlen(key) < sizeof(name) - 4);	/* keys are ours, and short */
	snprintf(name, sizeof(name), "%s_hex", key);
	if (len < INT_MAX / 2 && (hex = malloc(2 * len + 1)) != NULL)
		v = new_string(dray_hex((const uint8_t *)path, len, hex), 2 * len);
	(void)add(o, name, v);
	free(hex);
}

static int
key_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* the keys in byte order, malloc'ed; NULL when memory is out */
static const char **
sorted_keys(const struct json_object *o, size_t n)
{
	struct lh_entry *en;
	const char **keys;
	size_t i = 0;

	if ((keys = calloc(n + 1, sizeof(*keys))) == NULL)
		return NULL;
	lh_foreach(json_object_get_object(o), en)
		keys[i++] = lh_entry_k(en);
	qsort(keys, n, sizeof(*keys), key_order);
	return keys;
}

static void write_value(struct json_out *t, struct json_object *v);

static void
write_object(struct json_out *t, const struct json_object *o)
{
	const size_t n = (size_t)json_object_object_length(o);
	const char **keys = sorted_keys(o, n);
	struct json_object *child;
	size_t i;

	if (keys == NULL) {
		t->failed = true;
		return;
	}
	dray_json_out_bytes(t, "{", 1);
	for (i = 0; i < n; i++) {
		if (i != 0)
			dray_json_out_bytes(t, ",", 1);
		dray_json_out_string(t, keys[i], strlen(keys[i]));
		dray_json_out_bytes(t, ":", 1);
		child = NULL;
		json_object_object_get_ex(o, keys[i], &child);
		write_value(t, child);
	}
	dray_json_out_bytes(t, "}", 1);
	free(keys);
}

static void
write_array(struct json_out *t, const struct json_object *a)
{
	const size_t n = json_object_array_length(a);
	size_t i;

	dray_json_out_bytes(t, "[", 1);
	for (i = 0; i < n; i++) {
		if (i != 0)
			dray_json_out_bytes(t, ",", 1);
		write_value(t, json_object_array_get_idx(a, i));
	}
	dray_json_out_bytes(t, "]", 1);
}

/* a child that could not be made is no child: its container is marked */
static void
write_value(struct json_out *t, struct json_object *v)
{
	const enum json_type type = json_object_get_type(v);
	char num[32];

	if (json_object_get_userdata(v) == &broken)
		t->failed = true;
	if (t->failed)
		return;
	if (type == json_type_object) {
		write_object(t, v);
	} else if (type == json_type_array) {
		write_array(t, v);
	} else if (type == json_type_string) {
		dray_json_out_string(t, json_object_get_string(v), (size_t)json_object_get_string_len(v));
	} else if (type == json_type_int) {
		snprintf(num, sizeof(num), "%" PRId64, json_object_get_int64(v));
		dray_json_out_bytes(t, num, strlen(num));
	} else if (type == json_type_boolean) {
		dray_json_out_bytes(t, json_object_get_boolean(v) ? "true" : "false", json_object_get_boolean(v) ? 4 : 5);
	} else {
		t->failed = true;	/* null, a double: nothing of ours makes them */
	}
}

int
dray_json_write(const struct dray_json *v, char **text, size_t *len, struct dray_err *e)
{
	struct json_out t = { .p = NULL };

	*text = NULL;
	*len = 0;
	if (v != NULL)
		write_value(&t, readable(v));
	if (v == NULL || t.failed) {
		free(t.p);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*text = t.p;
	*len = t.len;
	return 0;
}
