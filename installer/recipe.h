/*
 * recipe.h - which way a content is made here. The plan chooses, stage falls back. Source: spec/apply.md, "Recipes".
 */
#ifndef INST_RECIPE_H
#define INST_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "dray/index.h"

#define INST_RECIPE_NONE UINT32_MAX		/* there is none that can be made here */
#define INST_RECIPE_UNWANTED (UINT32_MAX - 1)	/* in plan->recipe_of: nothing needs this content */

/**
 * inst_recipe_next - the first recipe of @content at or after @from that can be made here
 * @from:    ordinal among the content's recipes, 0 first
 * @live_of: per content row, the entry row whose live object holds it, DRAY_NONE: not here
 * Return: its ordinal, with *r; INST_RECIPE_NONE when there is none.
 */
uint32_t inst_recipe_next(const struct dray_index *ix, uint32_t content, uint32_t from, const uint32_t *live_of,
    struct dray_recipe *r);

/** inst_recipe_missing - the first base content a recipe needs that is not here; DRAY_NONE: all are */
uint32_t inst_recipe_missing(const struct dray_index *ix, uint32_t content, const struct dray_recipe *r,
    const uint32_t *live_of);

#endif
