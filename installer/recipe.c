/* recipe.c - a recipe can be made here when every base content it names lies in the live tree */
#include "installer/recipe.h"

uint32_t
inst_recipe_missing(const struct dray_index *ix, uint32_t content, const struct dray_recipe *r, const uint32_t *live_of)
{
	struct dray_piece piece;
	struct dray_frame f;
	struct dray_range range;

	if (r->kind == DRAY_RECIPE_COPY)
		return live_of[content] == DRAY_NONE ? content : DRAY_NONE;
	for (uint32_t i = 0; i < r->piece_count; i++) {
		dray_index_piece(ix, r->piece_first + i, &piece);
		dray_index_frame(ix, piece.frame, &f);
		for (uint32_t k = 0; k < f.range_count; k++) {
			dray_index_range(ix, f.range_first + k, &range);
			if (live_of[range.content] == DRAY_NONE)
				return range.content;
		}
	}
	return DRAY_NONE;
}

uint32_t
inst_recipe_next(const struct dray_index *ix, uint32_t content, uint32_t from, const uint32_t *live_of,
    struct dray_recipe *r)
{
	struct dray_content c;

	dray_index_content(ix, content, &c);
	for (uint32_t i = from; i < c.recipe_count; i++) {
		dray_index_recipe(ix, c.recipe_first + i, r);
		if (inst_recipe_missing(ix, content, r, live_of) == DRAY_NONE)
			return i;
	}
	return INST_RECIPE_NONE;
}
