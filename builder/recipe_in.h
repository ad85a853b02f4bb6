/*
 * recipe_in.h - private to recipes: getting values out of the document, and telling the place of those that will not do.
 * The steps lead from the root to what is looked at now; each function that takes a key leaves them as they were.
 */
#ifndef BUILD_RECIPE_IN_H
#define BUILD_RECIPE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/arena.h"
#include "builder/json_place.h"
#include "dray/err.h"
#include "dray/json.h"
#include "tool/tool.h"

#define BUILD_RECIPE_STEPS 8u

struct build_recipe {
	char *text, *folder;
	size_t len;
	const char *file;		/* quoted, in the arena */
	struct dray_json *doc;
	struct build_arena arena;
	const char **lists[16];		/* arrays handed out */
	size_t n_lists;
	struct build_step steps[BUILD_RECIPE_STEPS];	/* from the root to what is looked at now */
	size_t depth;
};

/** build_recipe_fail - "FILE:LINE:COLUMN: KEYS: TEXT" of what the steps lead to, KEYS like components[2].paths[0];
 * always -1 */
int build_recipe_fail(struct build_recipe *r, struct dray_err *e, const char *fmt, ...) DRAY_PRINTF(3, 4);
/** build_recipe_fail_key - the same of @key in what the steps lead to */
int build_recipe_fail_key(struct build_recipe *r, struct dray_err *e, const char *key, const char *text);

/** build_recipe_fail_as - the same for the words of somebody else, who does not know the place; code and hint stay */
int build_recipe_fail_as(struct build_recipe *r, struct dray_err *e);
/** build_recipe_fail_json - the same for a text that is no JSON of ours: by the byte that its reader told, if it did */
int build_recipe_fail_json(struct build_recipe *r, struct dray_err *e);

void build_recipe_key(struct build_recipe *r, const char *key);
void build_recipe_at(struct build_recipe *r, size_t i);
void build_recipe_back(struct build_recipe *r);

/** build_recipe_only - @o is an object with no other keys than @keys, which ends with NULL */
DRAY_MUST_CHECK int build_recipe_only(struct build_recipe *r, const struct dray_json *o, const char *const *keys,
    struct dray_err *e);

/* each leaves its output alone where the key is missing; a number is at least 1; a bool is only ever switched on */
DRAY_MUST_CHECK int build_recipe_text(struct build_recipe *r, const struct dray_json *o, const char *key,
    const char **out, struct dray_err *e);
DRAY_MUST_CHECK int build_recipe_number(struct build_recipe *r, const struct dray_json *o, const char *key, int64_t max,
    uint64_t *out, struct dray_err *e);
DRAY_MUST_CHECK int build_recipe_bool(struct build_recipe *r, const struct dray_json *o, const char *key, bool *out,
    struct dray_err *e);

/** build_recipe_array - *a NULL: there is none; else the steps lead into it, and build_recipe_back is the caller's */
DRAY_MUST_CHECK int build_recipe_array(struct build_recipe *r, const struct dray_json *o, const char *key,
    const struct dray_json **a, size_t *n, struct dray_err *e);

/** build_recipe_list - room for @n texts, which goes with the recipe; NULL with an error */
const char **build_recipe_list(struct build_recipe *r, size_t n, struct dray_err *e);

enum build_recipe_kind {
	BUILD_RECIPE_TOKENS, BUILD_RECIPE_PATTERNS, BUILD_RECIPE_OWNERS, BUILD_RECIPE_SETS, BUILD_RECIPE_TRIGGERS, BUILD_RECIPE_SYSTEM,
	BUILD_RECIPE_PARTS,
	BUILD_RECIPE_NOTES, BUILD_RECIPE_SOURCE		/* these two as seen from the folder of the recipe */
};

/** build_recipe_single - the text of @key, if *out is still NULL: an option wins, and nobody looks at this one then */
DRAY_MUST_CHECK int build_recipe_single(struct build_recipe *r, const char *key, enum build_recipe_kind kind,
    const char **out, struct dray_err *e);

/** build_recipe_item - text @i of array @a, which the steps lead to */
DRAY_MUST_CHECK int build_recipe_item(struct build_recipe *r, const struct dray_json *a, size_t i,
    enum build_recipe_kind kind, const char **out, struct dray_err *e);

/** build_recipe_take - the texts of @key of @o in front of those in @to */
DRAY_MUST_CHECK int build_recipe_take(struct build_recipe *r, const struct dray_json *o, const char *key,
    enum build_recipe_kind kind, struct tool_list *to, struct dray_err *e);

/** build_recipe_source - @spec, to which the steps lead, as seen from the folder of the recipe; refused if it is none */
DRAY_MUST_CHECK int build_recipe_source(struct build_recipe *r, const char **spec, struct dray_err *e);

/** build_recipe_file - the whole file into r->text */
DRAY_MUST_CHECK int build_recipe_file(struct build_recipe *r, const char *path, struct dray_err *e);

#endif
