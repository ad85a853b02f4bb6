/*
 * recipe_in.c - values of a recipe, and the place of those that will not do.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/recipe_in.h"

#define RECIPE_MAX (4u * 1024u * 1024u)

/* the steps as people write them: components[2].paths[0] */
static void
key_path(const struct build_recipe *r, char *out, size_t cap)
{
	char quoted[100];
	size_t at = 0;

	*out = '\0';
	for (size_t i = 0; i < r->depth && at < cap; i++) {
		const struct build_step *s = &r->steps[i];
		int n;

		if (s->key != NULL)
			n = snprintf(out + at, cap - at, "%s%s", i > 0 ? "." : "",
			    dray_quote(s->key, strlen(s->key), quoted, sizeof(quoted)));
		else
			n = snprintf(out + at, cap - at, "[%zu]", s->index);
		at += n > 0 ? (size_t)n : 0;
	}
}

int
build_recipe_fail(struct build_recipe *r, struct dray_err *e, const char *fmt, ...)
{
	size_t line, column;
	char path[300], text[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	key_path(r, path, sizeof(path));
	(void)build_json_place(r->text, r->len, r->steps, r->depth, &line, &column);
	dray_fail(e, DRAY_E_USAGE, "%s:%zu:%zu: %s%s%s", r->file, line, column, path, r->depth > 0 ? ": " : "", text);
	return dray_hint(e, "see \"Recipes\" in the manual page of dray");
}

int
build_recipe_fail_json(struct build_recipe *r, struct dray_err *e)
{
	const char *at = strstr(e->text, "byte ");
	char text[sizeof(e->text)];
	size_t line = 1, column = 1;
	unsigned long long n;

	if (e->code != DRAY_E_FORMAT || at == NULL) {	/* of the whole */
		e->code = e->code == DRAY_E_FORMAT ? DRAY_E_USAGE : e->code;
		return dray_wrap(e, "%s", r->file);
	}
	n = strtoull(at + strlen("byte "), NULL, 10);
	for (size_t i = 0; i < n && i < r->len; i++) {
		column++;
		if (r->text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	snprintf(text, sizeof(text), "%s", e->text);
	return dray_fail(e, DRAY_E_USAGE, "%s:%zu:%zu: %s", r->file, line, column, text);
}

int
build_recipe_fail_as(struct build_recipe *r, struct dray_err *e)
{
	struct dray_err was = *e;

	dray_err_clear(e);
	build_recipe_fail(r, e, "%s", was.text);
	if (was.code != DRAY_E_FORMAT)
		e->code = was.code;
	if (was.hint[0] != '\0')
		snprintf(e->hint, sizeof(e->hint), "%s", was.hint);
	return -1;
}

void
build_recipe_key(struct build_recipe *r, const char *key)
{
	if (r->depth < BUILD_RECIPE_STEPS)
		r->steps[r->depth++] = (struct build_step){ .key = key };
}

void
build_recipe_at(struct build_recipe *r, size_t i)
{
	if (r->depth < BUILD_RECIPE_STEPS)
		r->steps[r->depth++] = (struct build_step){ .index = i };
}

void
build_recipe_back(struct build_recipe *r)
{
	r->depth--;
}

int
build_recipe_fail_key(struct build_recipe *r, struct dray_err *e, const char *key, const char *text)
{
	build_recipe_key(r, key);
	build_recipe_fail(r, e, "%s", text);
	build_recipe_back(r);
	return -1;
}

int
build_recipe_only(struct build_recipe *r, const struct dray_json *o, const char *const *keys, struct dray_err *e)
{
	if (!dray_json_is_obj(o))
		return build_recipe_fail(r, e, "an object is wanted");
	for (size_t i = 0; i < dray_json_count(o); i++) {
		const char *key = dray_json_key(o, i);
		size_t k = 0;

		while (keys[k] != NULL && strcmp(keys[k], key) != 0)
			k++;
		if (keys[k] != NULL)
			continue;
		return build_recipe_fail_key(r, e, key, "unknown key");
	}
	return 0;
}

int
build_recipe_text(struct build_recipe *r, const struct dray_json *o, const char *key, const char **out,
    struct dray_err *e)
{
	size_t len;
	int rc = 0;

	if (!dray_json_has(o, key))
		return 0;
	build_recipe_key(r, key);
	if (dray_json_str(o, key, out, &len, "recipe", e) != 0)
		rc = build_recipe_fail(r, e, "a text is wanted");
	build_recipe_back(r);
	return rc;
}

int
build_recipe_number(struct build_recipe *r, const struct dray_json *o, const char *key, int64_t max, uint64_t *out,
    struct dray_err *e)
{
	int64_t n;
	int rc = 0;

	if (!dray_json_has(o, key))
		return 0;
	build_recipe_key(r, key);
	if (dray_json_int(o, key, 1, max, &n, "recipe", e) != 0)
		rc = build_recipe_fail(r, e, "a number from 1 to %" PRId64 " is wanted", max);
	else
		*out = (uint64_t)n;
	build_recipe_back(r);
	return rc;
}

int
build_recipe_bool(struct build_recipe *r, const struct dray_json *o, const char *key, bool *out,
    struct dray_err *e)
{
	bool b = false;
	int rc = 0;

	if (!dray_json_has(o, key))
		return 0;
	build_recipe_key(r, key);
	if (dray_json_bool(o, key, &b, "recipe", e) != 0)
		rc = build_recipe_fail(r, e, "true or false is wanted");
	build_recipe_back(r);
	*out |= b;
	return rc;
}

const char **
build_recipe_list(struct build_recipe *r, size_t n, struct dray_err *e)
{
	const char **v = r->n_lists < sizeof(r->lists) / sizeof(r->lists[0]) ? calloc(n + 1, sizeof(const char *)) : NULL;

	if (v == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else
		r->lists[r->n_lists++] = v;
	return v;
}

int
build_recipe_array(struct build_recipe *r, const struct dray_json *o, const char *key, const struct dray_json **a,
    size_t *n, struct dray_err *e)
{
	*a = NULL;
	*n = 0;
	if (!dray_json_has(o, key))
		return 0;
	build_recipe_key(r, key);
	if (dray_json_arr(o, key, a, n, "recipe", e) == 0)
		return 0;
	build_recipe_fail(r, e, "an array is wanted");
	build_recipe_back(r);
	return -1;
}

int
build_recipe_file(struct build_recipe *r, const char *path, struct dray_err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1;
	struct stat st;

	if (fd == -1 || fstat(fd, &st) != 0) {
		dray_fail_errno(e, "cannot be read");
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)RECIPE_MAX) {
		dray_fail(e, DRAY_E_USAGE, "a recipe is a regular file of at most 4 MiB");
		goto out;
	}
	if ((r->text = malloc((size_t)st.st_size + 1)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	while (r->len < (size_t)st.st_size) {
		ssize_t n = read(fd, r->text + r->len, (size_t)st.st_size - r->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			dray_fail_errno(e, "cannot be read");
			goto out;
		}
		if (n == 0)
			break;	/* it has become shorter; what there is may still be JSON, or not */
		r->len += (size_t)n;
	}
	rc = 0;
out:
	if (fd != -1)
		close(fd);
	return rc;
}
