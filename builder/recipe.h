/*
 * recipe.h - what a build is made of, as it was given: options, and a recipe file that holds the same and more.
 */
#ifndef BUILD_RECIPE_H
#define BUILD_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "builder/layout.h"
#include "dray/err.h"
#include "dray/json.h"
#include "tool/tool.h"

struct build_args {		/* texts as given; NULL, 0, empty: not given */
	const char *recipe;
	const char *to, *product, *version, *os, *level, *apply_cpu;
	const char *server, *keyprint, *fetched;
	struct tool_list parts, have;
	uint64_t counter, slot;
	bool slim, as_root, portable_names, with_upstream;
	struct tool_list from, history;
	struct tool_list names;		/* of from; NULL texts: none; may be shorter */
	struct tool_list compatible, notes, config, path_sets, trigger_sets, ignore, xattrs, mounts, owner_map;
	const struct dray_json *triggers;	/* only by recipe; checked; borrowed from it */
};

/** build_seconds_ok - "2", "0.25": 0.001 to 1000000, at most three digits behind the point; *ns: the nanoseconds */
bool build_seconds_ok(const char *text, uint64_t *ns);

struct build_recipe;

#define BUILD_COMPATIBLE_MAX 16u	/* as many as a descriptor holds */

/** build_os_ok - is it a system that a bundle may be for? */
bool build_os_ok(const char *name);

/**
 * build_recipe_load - read a->recipe and put what it holds beside the options
 * @a: a single value that was given as an option stays; a list gets the recipe's items in front of its own
 * @l: components and phases; empty before
 * @out: holds what @a and @l point to; build_recipe_free when they are no longer used
 * Return: 0, or -1: DRAY_E_USAGE "FILE:LINE:COLUMN: ...", DRAY_E_IO.
 */
DRAY_MUST_CHECK int build_recipe_load(struct build_args *a, struct build_layout *l, struct build_recipe **out,
    struct dray_err *e);
void build_recipe_free(struct build_recipe *r);

#endif
