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

/* {"source", "version", "counter"}; *name: VERSION[:COUNTER] */
static int
get_named_base(struct build_recipe *r, const struct build_args *a, const struct dray_json *v, const char **spec,
    const char **name, struct dray_err *e)
{
	static const char *const keys[] = { "counter", "source", "version", NULL };
	const char *version = NULL;
	uint64_t counter = 0;
	char text[200];

	if (build_recipe_only(r, v, keys, e) != 0 || build_recipe_text(r, v, "source", spec, e) != 0 ||
	    build_recipe_text(r, v, "version", &version, e) != 0 ||
	    build_recipe_number(r, v, "counter", INT64_MAX, &counter, e) != 0)
		return -1;
	if (*spec == NULL)
		return build_recipe_fail(r, e, "\"source\" is missing");
	if (version == NULL)
		return counter == 0 ? 0 : build_recipe_fail_key(r, e, "counter", "a counter without a version");
	if (!dray_token_ok(version, strlen(version)))
		return build_recipe_fail_key(r, e, "version", "not 1 to 64 of A-Z a-z 0-9 . _ + -");
	if (counter > a->counter && a->counter != 0)
		return build_recipe_fail_key(r, e, "counter", "a base cannot have a higher one than the release");
	if (counter == 0)
		snprintf(text, sizeof(text), "%s", version);
	else
		snprintf(text, sizeof(text), "%s:%" PRIu64, version, counter);
	if ((*name = build_arena_copy(&r->arena, text, strlen(text))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

/* a base: "SOURCE", or {"source", "version", "counter"} */
static int
get_base(struct build_recipe *r, const struct build_args *a, const struct dray_json *v, const char **spec,
    const char **name, struct dray_err *e)
{
	size_t len;
	int rc;

	if ((*spec = dray_json_text(v, &len)) != NULL)
		return build_recipe_source(r, spec, e);
	if (get_named_base(r, a, v, spec, name, e) != 0)
		return -1;
	build_recipe_key(r, "source");
	rc = build_recipe_source(r, spec, e);
	build_recipe_back(r);
	return rc;
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
	if (n > DRAY_MAX_BASES)
		rc = build_recipe_fail(r, e, "more than %u bases", DRAY_MAX_BASES);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		build_recipe_at(r, i);
		rc = get_base(r, a, dray_json_at(list, i), &specs[i], &names[i], e);
		for (size_t k = 0; rc == 0 && names[i] != NULL && k < i; k++)
			if (names[k] != NULL && strcmp(names[k], names[i]) == 0)
				rc = build_recipe_fail(r, e, "two bases are called %s", names[i]);
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

/* {"server", "keyprint", "components", "with_upstream"} */
static int
get_server(struct build_recipe *r, struct build_args *a, struct dray_err *e)
{
	static const char *const keys[] = { "components", "keyprint", "server", "with_upstream", NULL };
	const char *server = NULL, *keyprint = NULL;
	const struct dray_json *o;
	int rc;

	if (!dray_json_has(r->doc, "freebsd_update"))
		return 0;
	if (dray_json_obj(r->doc, "freebsd_update", &o, "recipe", e) != 0) {
		dray_err_clear(e);
		return build_recipe_fail_key(r, e, "freebsd_update", "an object is wanted");
	}
	build_recipe_key(r, "freebsd_update");
	rc = build_recipe_only(r, o, keys, e);
	if (rc == 0)
		rc = build_recipe_text(r, o, "server", &server, e);
	if (rc == 0)
		rc = build_recipe_text(r, o, "keyprint", &keyprint, e);
	if (rc == 0)
		rc = build_recipe_bool(r, o, "with_upstream", &a->with_upstream, e);
	if (rc == 0)
		rc = build_recipe_take(r, o, "components", BUILD_RECIPE_PARTS, &a->parts, e);
	build_recipe_back(r);
	a->server = a->server != NULL ? a->server : server;
	a->keyprint = a->keyprint != NULL ? a->keyprint : keyprint;
	return rc;
}

/* a component or phase: {"name", "paths"} */
static int
get_part(struct build_recipe *r, const struct dray_json *o, bool (*ok)(const char *, size_t), const struct build_part *before,
    size_t n_before, struct build_part *part, struct dray_err *e)
{
	static const char *const keys[] = { "name", "paths", NULL };
	const struct dray_json *a;
	const char *name = NULL, *text;
	size_t n;
	int rc = 0;

	if (build_recipe_only(r, o, keys, e) != 0 || build_recipe_text(r, o, "name", &name, e) != 0)
		return -1;
	if (name == NULL)
		return build_recipe_fail(r, e, "\"name\" is missing");
	if (!ok(name, strlen(name)))
		return build_recipe_fail(r, e, "the name is not 1 to 64 of A-Z a-z 0-9 . _ + -");
	for (size_t i = 0; i < n_before; i++)
		if (strcmp(before[i].name, name) == 0)
			return build_recipe_fail(r, e, "%s stands twice", name);
	snprintf(part->name, sizeof(part->name), "%s", name);
	if (build_recipe_array(r, o, "paths", &a, &n, e) != 0)
		return -1;
	if (a == NULL) {
		part->rest = true;
		for (size_t i = 0; i < n_before; i++)
			if (before[i].rest)
				return build_recipe_fail(r, e, "%s and %s have no paths; one may have none, for the rest",
				    before[i].name, name);
		return 0;
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		if ((rc = build_recipe_item(r, a, i, BUILD_RECIPE_PATTERNS, &text, e)) == 0)
			rc = build_patterns_add(&part->paths, text, e);
	build_recipe_back(r);
	return rc;
}

static int
get_parts(struct build_recipe *r, const char *key, bool (*ok)(const char *, size_t), size_t max, struct build_part *v,
    size_t *count, struct dray_err *e)
{
	const struct dray_json *a;
	size_t n;
	int rc = 0;

	if (build_recipe_array(r, r->doc, key, &a, &n, e) != 0)
		return -1;
	if (a == NULL)
		return 0;
	if (n == 0 || n > max)
		rc = build_recipe_fail(r, e, "1 to %zu are possible", max);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		build_recipe_at(r, i);
		rc = get_part(r, dray_json_at(a, i), ok, v, i, &v[i], e);
		build_recipe_back(r);
		*count = i + 1;
	}
	build_recipe_back(r);
	return rc;
}

static bool
has_phase(const struct build_layout *l, const char *name)
{
	for (size_t i = 0; i < l->n_phases; i++)
		if (strcmp(l->phases[i].name, name) == 0)
			return true;
	return false;
}

static int
get_triggers(struct build_recipe *r, struct build_args *a, const struct build_layout *l, struct dray_err *e)
{
	const struct dray_json *list;
	const char *phase;
	size_t n;
	int rc = 0;

	if (build_recipe_array(r, r->doc, "triggers", &list, &n, e) != 0)
		return -1;
	if (list == NULL)
		return 0;
	if (n > DRAY_MAX_TRIGGERS)
		rc = build_recipe_fail(r, e, "more than %u", DRAY_MAX_TRIGGERS);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		build_recipe_at(r, i);
		if (dray_trigger_check(list, i, "trigger", e) != 0)
			rc = build_recipe_fail_as(r, e);
		else if ((phase = dray_trigger_phase(dray_json_at(list, i))) != NULL && !has_phase(l, phase))
			rc = build_recipe_fail_key(r, e, "phase", "there is no such phase");
		build_recipe_back(r);
	}
	build_recipe_back(r);
	if (n > 0)
		a->triggers = list;
	return rc;
}

/* fast, default, best or a number */
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
		    (strcmp(text, "fast") != 0 && strcmp(text, "default") != 0 && strcmp(text, "best") != 0))
			return build_recipe_fail_key(r, e, "level", "\"fast\", \"default\", \"best\" or a number from 1 to 19 is wanted");
	}
	if (*out == NULL)
		*out = text;
	return 0;
}

/* seconds, as a number or, for parts of them, as a text */
static int
get_apply_cpu(struct build_recipe *r, const char **out, struct dray_err *e)
{
	const char *text = NULL;
	char number[24];
	uint64_t ns;
	int64_t n;
	size_t len;

	if (*out != NULL || !dray_json_has(r->doc, "apply_cpu"))
		return 0;
	if (dray_json_int(r->doc, "apply_cpu", 1, INT64_MAX, &n, "recipe", e) == 0) {
		snprintf(number, sizeof(number), "%" PRId64, n);
		if ((text = build_arena_copy(&r->arena, number, strlen(number))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
	} else {
		dray_err_clear(e);
		if (dray_json_str(r->doc, "apply_cpu", &text, &len, "recipe", e) != 0)
			text = "";
	}
	if (!build_seconds_ok(text, &ns)) {
		dray_err_clear(e);
		return build_recipe_fail_key(r, e, "apply_cpu", "0.001 to 1000000 seconds are wanted, such as 60 or \"2.5\"");
	}
	*out = text;
	return 0;
}

static int
get_mode(struct build_recipe *r, struct build_args *a, struct dray_err *e)
{
	const char *mode = NULL;

	if (build_recipe_text(r, r->doc, "mode", &mode, e) != 0)
		return -1;
	if (mode == NULL || strcmp(mode, "complete") == 0)
		return 0;
	if (strcmp(mode, "slim") != 0)
		return build_recipe_fail_key(r, e, "mode", "\"complete\" or \"slim\" is wanted");
	if (a->from.n == 0 && a->history.n == 0)
		return build_recipe_fail_key(r, e, "mode",
		    "\"slim\" goes with \"from\" or \"history\": without a base all copies are full");
	a->slim = true;
	return 0;
}

static int
get_singles(struct build_recipe *r, struct build_args *a, struct dray_err *e)
{
	uint64_t counter = 0, slot = 0;

	if (build_recipe_single(r, "to", BUILD_RECIPE_SOURCE, &a->to, e) != 0 || build_recipe_single(r, "product", BUILD_RECIPE_TOKENS, &a->product, e) != 0 ||
	    build_recipe_single(r, "version", BUILD_RECIPE_TOKENS, &a->version, e) != 0 || build_recipe_single(r, "os", BUILD_RECIPE_SYSTEM, &a->os, e) != 0 ||
	    build_recipe_number(r, r->doc, "counter", INT64_MAX, &counter, e) != 0 ||
	    build_recipe_number(r, r->doc, "slot", DRAY_SLOT_MAX, &slot, e) != 0 || get_level(r, &a->level, e) != 0 ||
	    get_apply_cpu(r, &a->apply_cpu, e) != 0 ||
	    build_recipe_bool(r, r->doc, "as_root", &a->as_root, e) != 0 ||
	    build_recipe_bool(r, r->doc, "portable_names", &a->portable_names, e) != 0)
		return -1;
	a->counter = a->counter != 0 ? a->counter : counter;
	if (a->slot == 0 && slot % 512 != 0)
		return build_recipe_fail_key(r, e, "slot", "a multiple of 512 is wanted");
	a->slot = a->slot != 0 ? a->slot : slot;
	return 0;
}

static int
read_all(struct build_recipe *r, struct build_args *a, struct build_layout *l, struct dray_err *e)
{
	static const char *const keys[] = { "apply_cpu", "as_root", "compatible", "components", "config", "counter",
		"freebsd_update", "from", "history", "ignore", "level", "mode", "mounts", "notes", "os", "owner_map", "path_sets",
		"phases", "portable_names", "product", "recipe", "slot", "to", "trigger_sets",
		"triggers", "version", "xattrs", NULL };
	int64_t n;

	if (build_recipe_only(r, r->doc, keys, e) != 0)
		return -1;
	/* so that an old program tells a recipe of tomorrow from a wrong one */
	if (dray_json_int(r->doc, "recipe", RECIPE_VERSION, RECIPE_VERSION, &n, "recipe", e) != 0)
		return build_recipe_fail_key(r, e, "recipe", "1 is wanted, the version of its grammar");
	if (get_singles(r, a, e) != 0 || get_bases(r, a, e) != 0 ||
	    build_recipe_take(r, r->doc, "history", BUILD_RECIPE_SOURCE, &a->history, e) != 0 || get_mode(r, a, e) != 0 ||
	    get_server(r, a, e) != 0 ||
	    build_recipe_take(r, r->doc, "compatible", BUILD_RECIPE_TOKENS, &a->compatible, e) != 0 || build_recipe_take(r, r->doc, "notes", BUILD_RECIPE_NOTES, &a->notes, e) != 0 ||
	    build_recipe_take(r, r->doc, "config", BUILD_RECIPE_PATTERNS, &a->config, e) != 0 ||
	    build_recipe_take(r, r->doc, "path_sets", BUILD_RECIPE_SETS, &a->path_sets, e) != 0 ||
	    build_recipe_take(r, r->doc, "trigger_sets", BUILD_RECIPE_TRIGGERS, &a->trigger_sets, e) != 0 ||
	    build_recipe_take(r, r->doc, "ignore", BUILD_RECIPE_PATTERNS, &a->ignore, e) != 0 || build_recipe_take(r, r->doc, "xattrs", BUILD_RECIPE_PATTERNS, &a->xattrs, e) != 0 ||
	    build_recipe_take(r, r->doc, "mounts", BUILD_RECIPE_PATTERNS, &a->mounts, e) != 0 || build_recipe_take(r, r->doc, "owner_map", BUILD_RECIPE_OWNERS, &a->owner_map, e) != 0)
		return -1;
	if (get_parts(r, "components", dray_part_ok, DRAY_MAX_COMPONENTS, l->components, &l->n_components, e) != 0 ||
	    get_parts(r, "phases", dray_token_ok, DRAY_MAX_PHASES, l->phases, &l->n_phases, e) != 0)
		return -1;
	return get_triggers(r, a, l, e);
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
	r->folder = tool_folder_of(a->recipe);
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
