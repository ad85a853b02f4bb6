/*
 * linediff_slide.c - a run of changed lines between equal ones can often lie a little further up or down: it is put where it
 * meets other runs or, if it meets none, as far down as it goes, or level with a change in the other text.
 */
#include "lines.h"

/* a run [first, end) of changed lines of one text; @level: where the other text stands */
struct run {
	uint32_t first, end, level;
};

static void
up(struct dray_diff_side *one, const struct dray_diff_side *other, struct run *r)
{
	one->changed[--r->first] = 1;
	one->changed[--r->end] = 0;
	while (r->first > 0 && one->changed[r->first - 1] != 0)
		r->first--;
	while (other->changed[--r->level] != 0)
		;
}

/* *meets: the end of the run where it was last level with a change of the other text */
static void
down(struct dray_diff_side *one, const struct dray_diff_side *other, struct run *r, uint32_t *meets)
{
	one->changed[r->first++] = 0;
	one->changed[r->end++] = 1;
	while (one->changed[r->end] != 0)
		r->end++;
	while (other->changed[++r->level] != 0)
		*meets = r->end;
}

static void
settle(struct dray_diff_side *one, const struct dray_diff_side *other, struct run *r)
{
	uint32_t len, meets;

	do {
		len = r->end - r->first;
		while (r->first > 0 && one->id[r->first - 1] == one->id[r->end - 1])
			up(one, other, r);
		meets = r->level > 0 && other->changed[r->level - 1] != 0 ? r->end : one->n;
		while (r->end < one->n && one->id[r->first] == one->id[r->end])
			down(one, other, r, &meets);
	} while (len != r->end - r->first);
	while (meets < r->end)
		up(one, other, r);
}

static void
slide(struct dray_diff_side *one, const struct dray_diff_side *other)
{
	struct run r = { 0, 0, 0 };

	for (;;) {
		for (; r.end < one->n && one->changed[r.end] == 0; r.end++)
			while (other->changed[r.level++] != 0)
				;
		if (r.end == one->n)
			return;
		r.first = r.end;
		while (one->changed[r.end] != 0)
			r.end++;
		while (other->changed[r.level] != 0)
			r.level++;
		settle(one, other, &r);
	}
}

void
dray_diff_slide(struct dray_diff_side side[2])
{
	slide(&side[0], &side[1]);
	slide(&side[1], &side[0]);
}
