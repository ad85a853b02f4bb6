/*
 * recipe_value.c - what values of a recipe mean: checked as the option of the same name is, and told by their place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/owner.h"
#include "builder/pathset.h"
#include "builder/recipe.h"
#include "builder/recipe_in.h"
#include "builder/source.h"
#include "builder/triggerset.h"
#include "builder/write.h"
#include "dray/descriptor.h"
#include "dray/fbsd_lines.h"
#include "dray/num.h"
#include "dray/slot.h"

bool
build_os_ok(const char *name)
{
	return strcmp(name, "linux") == 0 || strcmp(name, "freebsd") == 0 || strcmp(name, "any") == 0;
}

bool
build_seconds_ok(const char *text, uint64_t *ns)
{
	size_t whole = strspn(text, "0123456789"), part = 0;
	char ms[16];
	uint64_t n;

	if (whole == 0 || whole > 7 || (text[whole] != '\0' && text[whole] != '.'))
		return false;
	if (text[whole] == '.') {
		part = strspn(text + whole + 1, "0123456789");
		if (part == 0 || part > 3 || text[whole + 1 + part] != '\0')
			return false;
	}
	snprintf(ms, sizeof(ms), "%.*s%.*s%s", (int)whole, text, (int)part, part == 0 ? "" : text + whole + 1,
	    &"000"[part]);
	/* numbers have no zeros in front */
	if (!dray_parse_u64(ms + strspn(ms, "0"), 1, 1000000000, &n))
		return false;
	*ns = n * 1000000;
	return true;
}

/* what the option of that name would say to @text */
static int
check_item(enum build_recipe_kind kind, const char *text, struct dray_err *e)
{
	struct build_patterns patterns = { .n = 0 };
	struct build_filter filter = { .sets = 0 };
	struct build_owner owner = { .n = 0 };
	unsigned sets = 0;
	int rc = 0;

	switch (kind) {
	case BUILD_RECIPE_TOKENS:
		return dray_token_ok(text, strlen(text)) ? 0 :
		    dray_fail(e, DRAY_E_USAGE, "not 1 to 64 of A-Z a-z 0-9 . _ + -");
	case BUILD_RECIPE_PATTERNS:
		rc = build_patterns_add(&patterns, text, e);
		free(patterns.v);
		return rc;
	case BUILD_RECIPE_NOTES:
		return build_note_check(text, e);
	case BUILD_RECIPE_OWNERS:
		return build_owner_parse(text, &owner, e);
	case BUILD_RECIPE_SETS:
		return build_pathset_add(&filter, text, e);
	case BUILD_RECIPE_TRIGGERS:
		return build_triggerset_add(&sets, text, e);
	case BUILD_RECIPE_SYSTEM:
		return build_os_ok(text) ? 0 : dray_fail(e, DRAY_E_USAGE, "linux, freebsd or any is wanted");
	case BUILD_RECIPE_PARTS: {
		struct dray_fbsd_parts parts = { .n = 0 };

		return dray_fbsd_parts_add(&parts, text, e);
	}
	case BUILD_RECIPE_SOURCE:
		break;
	}
	return rc;
}

/* @text as seen from the folder of the recipe, in the arena */
static int
from_folder(struct build_recipe *r, const char **text, struct dray_err *e)
{
	size_t n = strlen(r->folder) + 1 + strlen(*text);
	char *path;

	if (**text == '/')
		return 0;
	if ((path = build_arena_take(&r->arena, n + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	snprintf(path, n + 1, "%s/%s", r->folder, *text);
	*text = path;
	return 0;
}

int
build_recipe_item(struct build_recipe *r, const struct dray_json *a, size_t i, enum build_recipe_kind kind, const char **out,
    struct dray_err *e)
{
	size_t len;
	int rc = 0;

	build_recipe_at(r, i);
	if ((*out = dray_json_text(dray_json_at(a, i), &len)) == NULL)
		rc = build_recipe_fail(r, e, "a text is wanted");
	else if (kind == BUILD_RECIPE_NOTES && from_folder(r, out, e) != 0)
		rc = -1;
	else if (kind == BUILD_RECIPE_SOURCE)
		rc = build_recipe_source(r, out, e);
	else if (check_item(kind, *out, e) != 0)
		rc = build_recipe_fail_as(r, e);
	build_recipe_back(r);
	return rc;
}

/* how many there may be */
static size_t
most_of(enum build_recipe_kind kind)
{
	if (kind == BUILD_RECIPE_SOURCE)
		return DRAY_MAX_BASES;
	return kind == BUILD_RECIPE_TOKENS ? BUILD_COMPATIBLE_MAX : SIZE_MAX;
}

/* of those that must differ, @v[i] and one before it are the same */
static bool
stands_twice(enum build_recipe_kind kind, const char *const *v, size_t i)
{
	if (kind != BUILD_RECIPE_TOKENS)
		return false;
	for (size_t k = 0; k < i; k++)
		if (strcmp(v[k], v[i]) == 0)
			return true;
	return false;
}

/* the texts of @key in front of those in @to */
int
build_recipe_take(struct build_recipe *r, const struct dray_json *o, const char *key, enum build_recipe_kind kind,
    struct tool_list *to, struct dray_err *e)
{
	const struct dray_json *a;
	const char **v;
	size_t n;
	int rc = 0;

	if (build_recipe_array(r, o, key, &a, &n, e) != 0)
		return -1;
	if (a == NULL)
		return 0;
	if ((v = build_recipe_list(r, n + to->n, e)) == NULL)
		rc = -1;
	else if (n > most_of(kind))
		rc = build_recipe_fail(r, e, "more than %zu", most_of(kind));
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = build_recipe_item(r, a, i, kind, &v[i], e);
		if (rc == 0 && stands_twice(kind, v, i)) {
			build_recipe_at(r, i);
			rc = build_recipe_fail(r, e, "%s stands twice", v[i]);
			build_recipe_back(r);
		}
	}
	build_recipe_back(r);
	if (rc != 0)
		return -1;
	if (to->n > 0)
		memcpy(v + n, to->v, to->n * sizeof(const char *));
	*to = (struct tool_list){ v, n + to->n };
	return 0;
}

/* the source at the steps, as seen from the folder of the recipe, in the arena */
int
build_recipe_source(struct build_recipe *r, const char **spec, struct dray_err *e)
{
	char *s = build_source_rebase(*spec, r->folder);
	struct build_source source;
	int rc;

	*spec = s == NULL ? NULL : build_arena_copy(&r->arena, s, strlen(s));
	free(s);
	if (*spec == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if ((rc = build_source_parse(*spec, &source, e)) != 0)
		rc = build_recipe_fail_as(r, e);
	build_source_free(&source);
	return rc;
}

/* a text that stands there once; an option of the command line wins, and nobody looks at this one then */
int
build_recipe_single(struct build_recipe *r, const char *key, enum build_recipe_kind kind, const char **out, struct dray_err *e)
{
	const char *text = NULL;
	int rc = 0;

	if (build_recipe_text(r, r->doc, key, &text, e) != 0)
		return -1;
	if (*out != NULL || text == NULL)
		return 0;
	build_recipe_key(r, key);
	if (kind == BUILD_RECIPE_SOURCE)
		rc = build_recipe_source(r, &text, e);
	else if (check_item(kind, text, e) != 0)
		rc = build_recipe_fail_as(r, e);
	build_recipe_back(r);
	*out = text;
	return rc;
}
