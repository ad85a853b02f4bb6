/*
 * pack_keep.c - which of the planned uses and frames a bundle keeps, now that it is known what became of each frame. A delta
 * that turned out to be no smaller than a full copy is no delta: in slim mode it becomes the full copy.
 */
#include <stdlib.h>

#include "builder/pack_result.h"
#include "dray/frame.h"

static void
keep_frames(struct pack_kept *k, const struct pack_plan *p, const struct pack_use *u, uint8_t section)
{
	for (size_t i = u->first; i < u->first + u->n; i++)
		k->section[p->parts[i].frame] = section;
}

static void
decide(struct pack_kept *k, const struct pack_plan *p, const struct pack_result *results, bool slim)
{
	for (size_t i = 0; i < p->n_uses; i++)
		if (p->uses[i].bases == 0)
			k->full[p->uses[i].content] = true;
	for (size_t i = 0; i < p->n_uses; i++) {
		const struct pack_use *u = &p->uses[i];
		uint64_t based = 0, all = 0;

		for (size_t j = u->first; j < u->first + u->n; j++) {
			all += p->parts[j].len;
			if (results[p->parts[j].frame].kind != DRAY_FRAME_PLAIN)
				based += p->parts[j].len;
		}
		if (u->bases == 0) {
			k->use[i] = PACK_FULL;
		} else if (slim ? based > 0 : based > 0 && based >= all / 4) {
			/* a large content of which only a small part is old is better read as a full copy, if there is one */
			k->use[i] = PACK_DELTA;
		} else if (slim && !k->full[u->content]) {
			k->full[u->content] = true;
			k->use[i] = PACK_FULL;
		}
		if (k->use[i] != PACK_DROPPED)
			keep_frames(k, p, u, k->use[i]);
	}
}

/* counting sort by content, stable */
static void
sort_uses(struct pack_kept *k, const struct pack_plan *p, size_t n_contents)
{
	for (size_t i = 0; i < p->n_uses; i++)
		k->first[p->uses[i].content + 1]++;
	for (size_t i = 1; i <= n_contents; i++)
		k->first[i] += k->first[i - 1];
	for (size_t i = 0; i < p->n_uses; i++)
		k->sorted[k->first[p->uses[i].content]++] = (uint32_t)i;
	for (size_t i = n_contents; i > 0; i--)
		k->first[i] = k->first[i - 1];
	k->first[0] = 0;
}

int
build_pack_keep(const struct build_resolved *rs, const struct pack_plan *p, const struct pack_result *results, bool slim,
    struct pack_kept *k, struct dray_err *e)
{
	size_t uses = p->n_uses + 1, contents = rs->n_contents + 2;

	k->use = calloc(uses, 1);
	k->sorted = calloc(uses, sizeof(*k->sorted));
	k->section = calloc(p->n_frames + 1, 1);
	k->full = calloc(contents, sizeof(*k->full));
	k->first = calloc(contents, sizeof(*k->first));
	if (k->use == NULL || k->sorted == NULL || k->section == NULL || k->full == NULL || k->first == NULL) {
		build_pack_kept_free(k);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	decide(k, p, results, slim);
	sort_uses(k, p, rs->n_contents);
	return 0;
}

void
build_pack_kept_free(struct pack_kept *k)
{
	free(k->use);
	free(k->sorted);
	free(k->section);
	free(k->full);
	free(k->first);
	*k = (struct pack_kept){ .use = NULL };
}
