/*
 * recipe.c - a build as one file that can be reviewed. Strict: what is not known is refused with its place, so that a
 * word with a slip in it never passes for "not given". Paths count from the folder of the recipe.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/recipe.h"
#include "builder/recipe_in.h"
#include "builder/source.h"
#include "builder/temp.h"
#include "dray/slot.h"
#include "dray/trigger.h"

#define RECIPE_VERSION 1

enum kind { WORDS, PATTERNS, FILES };

static int
get_item(struct build_recipe *r, const struct dray_json *a, size_t i, enum kind kind, const char *key,
    const char **out, struct dray_err *e)
{
	struct build_patterns p = { .n = 0 };
	size_t len;
	int rc = 0;

	build_recipe_at(r, i);
	if ((*out = dray_json_text(dray_json_at(a, i), &len)) == NULL) {
		rc = build_recipe_fail(r, e, "%s: a text is wanted", key);
	} else if (kind == PATTERNS && build_patterns_add(&p, *out, e) != 0) {
		rc = build_recipe_fail_as(r, e);
	} else if (kind == FILES && **out != '/') {
		size_t n = strlen(r->folder) + 1 + len;
		char *path = build_arena_take(&r->arena, n + 1);

		if (path == NULL)
			rc = dray_fail(e, DRAY_E_IO, "out of memory");
		else
			snprintf(path, n + 1, "%s/%s", r->folder, *out);
		*out = path;
	}
	free(p.v);
	build_recipe_back(r);
	return rc;
}

/* the texts of @key in front of those in @to */
static int
get_list(struct build_recipe *r, const char *key, enum kind kind, struct tool_list *to, struct dray_err *e)
{
	const struct dray_json *a;
	const char **v;
	size_t n;
	int rc = 0;

	if (build_recipe_array(r, r->doc, key, &a, &n, e) != 0)
		return -1;
	if (a == NULL)
		return 0;
	if ((v = build_recipe_list(r, n + to->n, e)) == NULL)
		rc = -1;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = get_item(r, a, i, kind, key, &v[i], e);
	build_recipe_back(r);
	if (rc != 0)
		return -1;
	if (to->n > 0)
		memcpy(v + n, to->v, to->n * sizeof(const char *));
	*to = (struct tool_list){ v, n + to->n };
	return 0;
}

/* @spec as seen from the folder of the recipe, in the arena */
static int
rebase(struct build_recipe *r, const char **spec, struct dray_err *e)
{
	char *s = build_source_rebase(*spec, r->folder);

	*spec = s == NULL ? NULL : build_arena_copy(&r->arena, s, strlen(s));
	free(s);
	return *spec == NULL ? dray_fail(e, DRAY_E_IO, "out of memory") : 0;
}

/* a base: "SOURCE", or {"source", "version", "counter"} */
static int
get_base(struct build_recipe *r, const struct dray_json *v, const char **spec, const char **name,
    struct dray_err *e)
{
	static const char *const keys[] = { "counter", "source", "version", NULL };
	const char *version = NULL;
	uint64_t counter = 0;
	char text[200];
	size_t len;

	if ((*spec = dray_json_text(v, &len)) == NULL) {
		if (build_recipe_only(r, v, keys, "from", e) != 0 || build_recipe_text(r, v, "source", spec, e) != 0 ||
		    build_recipe_text(r, v, "version", &version, e) != 0 ||
		    build_recipe_number(r, v, "counter", INT64_MAX, &counter, e) != 0)
			return -1;
		if (*spec == NULL)
			return build_recipe_fail(r, e, "from: \"source\" is missing");
		if (version == NULL && counter != 0)
			return build_recipe_fail(r, e, "from: a counter without a version");
		if (version != NULL && !dray_token_ok(version, strlen(version)))
			return build_recipe_fail(r, e, "from: the version is not 1 to 64 of A-Z a-z 0-9 . _ + -");
	}
	if (version != NULL) {
		if (counter == 0)
			snprintf(text, sizeof(text), "%s", version);
		else
			snprintf(text, sizeof(text), "%s:%" PRIu64, version, counter);
		if ((*name = build_arena_copy(&r->arena, text, strlen(text))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	return rebase(r, spec, e);
}

static int
get_bases(struct build_recipe *r, struct build_args *a, struct dray_err *e)
{
	const struct dray_json *list;
	const char **specs, **names;
	size_t n;
	int rc = 0;

	if (build_recipe_array(r, r->doc, "from", &list, &n, e) != 0)
		return -1;
	if (list == NULL)
		return 0;
	if ((specs = build_recipe_list(r, n + a->from.n, e)) == NULL ||
	    (names = build_recipe_list(r, n + a->names.n, e)) == NULL)
		return -1;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		build_recipe_at(r, i);
		rc = get_base(r, dray_json_at(list, i), &specs[i], &names[i], e);
		build_recipe_back(r);
	}
	build_recipe_back(r);
	if (rc != 0)
		return -1;
	if (a->from.n > 0)
		memcpy(specs + n, a->from.v, a->from.n * sizeof(const char *));
	if (a->names.n > 0)
		memcpy(names + n, a->names.v, a->names.n * sizeof(const char *));
	a->from = (struct tool_list){ specs, n + a->from.n };
	a->names = (struct tool_list){ names, n + a->names.n };
	return 0;
}

/* one of @key: {"name", "paths"} */
static int
get_part(struct build_recipe *r, const struct dray_json *o, const char *key, const struct build_part *before,
    size_t n_before, struct build_part *part, struct dray_err *e)
{
	static const char *const keys[] = { "name", "paths", NULL };
	const struct dray_json *a;
	const char *name = NULL, *text;
	size_t n;
	int rc = 0;

	if (build_recipe_only(r, o, keys, key, e) != 0 || build_recipe_text(r, o, "name", &name, e) != 0)
		return -1;
	if (name == NULL)
		return build_recipe_fail(r, e, "%s: \"name\" is missing", key);
	if (!dray_token_ok(name, strlen(name)))
		return build_recipe_fail(r, e, "%s: the name is not 1 to 64 of A-Z a-z 0-9 . _ + -", key);
	for (size_t i = 0; i < n_before; i++)
		if (strcmp(before[i].name, name) == 0)
			return build_recipe_fail(r, e, "%s: %s stands twice", key, name);
	snprintf(part->name, sizeof(part->name), "%s", name);
	if (build_recipe_array(r, o, "paths", &a, &n, e) != 0)
		return -1;
	if (a == NULL) {
		part->rest = true;
		for (size_t i = 0; i < n_before; i++)
			if (before[i].rest)
				return build_recipe_fail(r, e, "%s: %s and %s have no paths; one may have none, for the rest",
				    key, before[i].name, name);
		return 0;
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		if ((rc = get_item(r, a, i, PATTERNS, "paths", &text, e)) == 0)
			rc = build_patterns_add(&part->paths, text, e);
	build_recipe_back(r);
	return rc;
}

static int
get_parts(struct build_recipe *r, const char *key, size_t max, struct build_part *v, size_t *count,
    struct dray_err *e)
{
	const struct dray_json *a;
	size_t n;
	int rc = 0;

	if (build_recipe_array(r, r->doc, key, &a, &n, e) != 0)
		return -1;
	if (a == NULL)
		return 0;
	if (n == 0 || n > max)
		rc = build_recipe_fail(r, e, "%s: 1 to %zu are possible", key, max);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		build_recipe_at(r, i);
		rc = get_part(r, dray_json_at(a, i), key, v, i, &v[i], e);
		build_recipe_back(r);
		*count = i + 1;
	}
	build_recipe_back(r);
	return rc;
}

static int
get_triggers(struct build_recipe *r, struct build_args *a, struct dray_err *e)
{
	const struct dray_json *list;
	char where[40];
	size_t n;
	int rc = 0;

	if (build_recipe_array(r, r->doc, "triggers", &list, &n, e) != 0)
		return -1;
	if (list == NULL)
		return 0;
	if (n > DRAY_MAX_TRIGGERS)
		rc = build_recipe_fail(r, e, "triggers: more than %u", DRAY_MAX_TRIGGERS);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		build_recipe_at(r, i);
		snprintf(where, sizeof(where), "trigger %zu", i + 1);
		if (dray_trigger_check(list, i, where, e) != 0)
			rc = build_recipe_fail_as(r, e);
		build_recipe_back(r);
	}
	build_recipe_back(r);
	if (n > 0)
		a->triggers = list;
	return rc;
}

/* fast, default or a number */
static int
get_level(struct build_recipe *r, const char **out, struct dray_err *e)
{
	const char *text = NULL;
	char number[24];
	int64_t n;

	if (!dray_json_has(r->doc, "level"))
		return 0;
	if (dray_json_int(r->doc, "level", 1, 19, &n, "recipe", e) == 0) {
		snprintf(number, sizeof(number), "%" PRId64, n);
		text = build_arena_copy(&r->arena, number, strlen(number));
		if (text == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	} else {
		size_t len;

		dray_err_clear(e);
		if (dray_json_str(r->doc, "level", &text, &len, "recipe", e) != 0 ||
		    (strcmp(text, "fast") != 0 && strcmp(text, "default") != 0)) {
			build_recipe_key(r, "level");
			build_recipe_fail(r, e, "level: \"fast\", \"default\" or a number from 1 to 19 is wanted");
			build_recipe_back(r);
			return -1;
		}
	}
	if (*out == NULL)
		*out = text;
	return 0;
}

static int
get_mode(struct build_recipe *r, bool *slim, struct dray_err *e)
{
	const char *mode = NULL;

	if (build_recipe_text(r, r->doc, "mode", &mode, e) != 0)
		return -1;
	if (mode == NULL || strcmp(mode, "complete") == 0)
		return 0;
	if (strcmp(mode, "slim") != 0) {
		build_recipe_key(r, "mode");
		build_recipe_fail(r, e, "mode: \"complete\" or \"slim\" is wanted");
		build_recipe_back(r);
		return -1;
	}
	*slim = true;
	return 0;
}

/* what stands there once; an option of the command line wins */
static int
get_singles(struct build_recipe *r, struct build_args *a, struct dray_err *e)
{
	const char *to = NULL, *product = NULL, *version = NULL, *os = NULL;
	uint64_t counter = 0, slot = 0;

	if (build_recipe_text(r, r->doc, "to", &to, e) != 0 || build_recipe_text(r, r->doc, "product", &product, e) != 0 ||
	    build_recipe_text(r, r->doc, "version", &version, e) != 0 || build_recipe_text(r, r->doc, "os", &os, e) != 0 ||
	    build_recipe_number(r, r->doc, "counter", INT64_MAX, &counter, e) != 0 ||
	    build_recipe_number(r, r->doc, "slot", DRAY_SLOT_MAX, &slot, e) != 0 || get_level(r, &a->level, e) != 0 ||
	    get_mode(r, &a->slim, e) != 0 || build_recipe_bool(r, r->doc, "as_root", &a->as_root, e) != 0 ||
	    build_recipe_bool(r, r->doc, "portable_names", &a->portable_names, e) != 0)
		return -1;
	if (a->to == NULL && to != NULL) {
		if (rebase(r, &to, e) != 0)
			return -1;
		a->to = to;
	}
	a->product = a->product != NULL ? a->product : product;
	a->version = a->version != NULL ? a->version : version;
	a->os = a->os != NULL ? a->os : os;
	a->counter = a->counter != 0 ? a->counter : counter;
	a->slot = a->slot != 0 ? a->slot : slot;
	return 0;
}

static int
read_all(struct build_recipe *r, struct build_args *a, struct build_layout *l, struct dray_err *e)
{
	static const char *const keys[] = { "as_root", "compatible", "components", "config", "counter", "from", "ignore",
		"level", "mode", "mounts", "notes", "os", "owner_map", "path_sets", "phases", "portable_names", "product",
		"recipe", "slot", "to", "triggers", "version", "xattrs", NULL };
	int64_t n;

	if (build_recipe_only(r, r->doc, keys, "recipe", e) != 0)
		return -1;
	/* so that an old program tells a recipe of tomorrow from a wrong one */
	if (dray_json_int(r->doc, "recipe", RECIPE_VERSION, RECIPE_VERSION, &n, "recipe", e) != 0) {
		build_recipe_key(r, "recipe");
		build_recipe_fail(r, e, "\"recipe\": %d is wanted, the version of its grammar", RECIPE_VERSION);
		build_recipe_back(r);
		return -1;
	}
	if (get_singles(r, a, e) != 0 || get_bases(r, a, e) != 0 ||
	    get_list(r, "compatible", WORDS, &a->compatible, e) != 0 || get_list(r, "notes", FILES, &a->notes, e) != 0 ||
	    get_list(r, "config", PATTERNS, &a->config, e) != 0 ||
	    get_list(r, "path_sets", WORDS, &a->path_sets, e) != 0 ||
	    get_list(r, "ignore", PATTERNS, &a->ignore, e) != 0 || get_list(r, "xattrs", PATTERNS, &a->xattrs, e) != 0 ||
	    get_list(r, "mounts", PATTERNS, &a->mounts, e) != 0 || get_list(r, "owner_map", WORDS, &a->owner_map, e) != 0)
		return -1;
	if (get_parts(r, "components", DRAY_MAX_COMPONENTS, l->components, &l->n_components, e) != 0 ||
	    get_parts(r, "phases", DRAY_MAX_PHASES, l->phases, &l->n_phases, e) != 0)
		return -1;
	return get_triggers(r, a, e);
}

int
build_recipe_load(struct build_args *a, struct build_layout *l, struct build_recipe **out, struct dray_err *e)
{
	struct build_recipe *r = calloc(1, sizeof(*r));
	char quoted[300];
	int rc = -1;

	*out = NULL;
	if (r == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	dray_quote(a->recipe, strlen(a->recipe), quoted, sizeof(quoted));
	r->folder = build_temp_dir(a->recipe);
	r->file = build_arena_copy(&r->arena, quoted, strlen(quoted));
	if (r->folder == NULL || r->file == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
	} else if (build_recipe_file(r, a->recipe, e) != 0) {
		dray_wrap(e, "%s", r->file);
	} else if (dray_json_parse(r->text, r->len, false, &r->doc, e) != 0) {
		build_recipe_fail_json(r, e);
	} else {
		rc = read_all(r, a, l, e);
	}
	*out = r;
	return rc;
}

void
build_recipe_free(struct build_recipe *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->n_lists; i++)
		free(r->lists[i]);
	build_arena_free(&r->arena);
	dray_json_free(r->doc);
	free(r->text);
	free(r->folder);
	free(r);
}
