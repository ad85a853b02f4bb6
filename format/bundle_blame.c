/*
 * bundle_blame.c - what is wrong with a frame, said with a path that needs it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "dray/index.h"

#include "bundle_priv.h"

/* the first path that needs a frame; slow, for messages only */
static bool
find_path(const struct dray_index *ix, uint32_t frame, struct dray_entry *out)
{
	uint32_t n = dray_index_rows(ix, DRAY_T_CONTENTS), entries = dray_index_rows(ix, DRAY_T_ENTRIES);
	struct dray_content c;
	struct dray_recipe r;
	struct dray_piece p;
	struct dray_state s;
	bool found = false;
	uint8_t *needs;

	if ((needs = calloc(n + 1u, 1)) == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		dray_index_content(ix, i, &c);
		for (uint32_t j = 0; j < c.recipe_count; j++) {
			dray_index_recipe(ix, c.recipe_first + j, &r);
			for (uint32_t k = 0; k < r.piece_count; k++) {
				dray_index_piece(ix, r.piece_first + k, &p);
				needs[i] |= p.frame == frame;
			}
		}
	}
	for (uint32_t i = 0; i < entries && !found; i++) {
		dray_index_entry(ix, i, out);
		if (out->target == DRAY_NONE)
			continue;
		dray_index_state(ix, out->target, &s);
		found = s.content != DRAY_NONE && needs[s.content];
	}
	free(needs);
	return found;
}

int
dray_bundle_blame(const struct dray_index *ix, uint32_t frame, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(200)];
	struct dray_entry en;
	struct dray_frame f;

	dray_index_frame(ix, frame, &f);
	dray_hint(e, "the bundle is damaged: copy it again");
	if (find_path(ix, frame, &en))
		return dray_wrap(e, "frame %u at byte %" PRIu64 ", needed for %s", frame, f.at,
		    dray_quote(en.path, en.len, q, sizeof q));
	return dray_wrap(e, "frame %u at byte %" PRIu64, frame, f.at);
}
