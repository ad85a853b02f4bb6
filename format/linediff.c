/*
 * linediff.c - what differs between two texts: the shortest way from one to the other (Myers, "An O(ND) difference
 * algorithm", in linear space), found from both ends, or a good one where the shortest is too dear. The bounds and the order
 * of the search are those of GNU diff, because among ways of one length they decide. Beyond those, all the work of a
 * comparison is bounded: when it is used up, what is left is compared coarsely.
 */
#include <stdlib.h>

#include "lines.h"

enum { GIVE_UP_MIN = 4096, GIVE_UP_COARSE = 32, WORK = 1 << 27 };

struct box {		/* lines [x, xe) of one text against [y, ye) of the other */
	int32_t x, xe, y, ye;
	bool exact;	/* known to be cheap: the shortest way */
};

struct search {
	const uint32_t *at[2];	/* per kept line its number in the side */
	const struct dray_diff_side *side;
	int32_t *fwd, *bwd;	/* per diagonal x - y: how far a way from each end has come */
	int32_t give_up;
	int64_t work;		/* that is left */
};

/* diagonals that a search has reached */
struct span {
	int32_t min, max;
};

static bool
same(const struct search *s, int32_t x, int32_t y)
{
	return s->side[0].id[s->at[0][x]] == s->side[1].id[s->at[1][y]];
}

static void
widen(struct span *n, int32_t lowest, int32_t highest, int32_t *reach, int32_t none)
{
	if (n->min > lowest)
		reach[--n->min - 1] = none;
	else
		n->min++;
	if (n->max < highest)
		reach[++n->max + 1] = none;
	else
		n->max--;
}

/* one change more from the front; true: a way from the back is met at *x, *y */
static bool
forward(struct search *s, const struct box *b, const struct span *n, const struct span *met, int32_t *x, int32_t *y)
{
	for (int32_t d = n->max; d >= n->min; d -= 2) {
		const int32_t low = s->fwd[d - 1], high = s->fwd[d + 1], from = low < high ? high : low + 1;

		*x = from;
		*y = from - d;
		while (*x < b->xe && *y < b->ye && same(s, *x, *y))
			++*x, ++*y;
		s->work -= *x - from + 1;
		s->fwd[d] = *x;
		if (met != NULL && met->min <= d && d <= met->max && s->bwd[d] <= *x)
			return true;
	}
	return false;
}

static bool
backward(struct search *s, const struct box *b, const struct span *n, const struct span *met, int32_t *x, int32_t *y)
{
	for (int32_t d = n->max; d >= n->min; d -= 2) {
		const int32_t low = s->bwd[d - 1], high = s->bwd[d + 1], from = low < high ? low : high - 1;

		*x = from;
		*y = from - d;
		while (b->x < *x && b->y < *y && same(s, *x - 1, *y - 1))
			--*x, --*y;
		s->work -= from - *x + 1;
		s->bwd[d] = *x;
		if (met != NULL && met->min <= d && d <= met->max && *x <= s->fwd[d])
			return true;
	}
	return false;
}

/* the way from the front that has come farthest, within the box; how far: x + y */
static int32_t
farthest(const struct search *s, const struct box *b, const struct span *n, int32_t *x)
{
	int32_t best = -1;

	for (int32_t d = n->max; d >= n->min; d -= 2) {
		int32_t tx = s->fwd[d] < b->xe ? s->fwd[d] : b->xe, ty = tx - d;

		if (ty > b->ye) {
			tx = b->ye + d;
			ty = b->ye;
		}
		if (best < tx + ty) {
			best = tx + ty;
			*x = tx;
		}
	}
	return best;
}

static int32_t
nearest(const struct search *s, const struct box *b, const struct span *n, int32_t *x)
{
	int32_t best = INT32_MAX;

	for (int32_t d = n->max; d >= n->min; d -= 2) {
		int32_t tx = s->bwd[d] > b->x ? s->bwd[d] : b->x, ty = tx - d;

		if (ty < b->y) {
			tx = b->y + d;
			ty = b->y;
		}
		if (tx + ty < best) {
			best = tx + ty;
			*x = tx;
		}
	}
	return best;
}

/* cut the box in two at a point of a short way; the box holds a change in each text */
static void
cut(struct search *s, const struct box *b, struct box part[2])
{
	const int32_t lowest = b->x - b->ye, highest = b->xe - b->y, fmid = b->x - b->y, bmid = b->xe - b->ye;
	const bool odd = ((fmid - bmid) & 1) != 0;
	struct span f = { fmid, fmid }, r = { bmid, bmid };
	bool exact[2] = { true, true };
	int32_t x = 0, y = 0, bx = 0, sum, bsum;

	s->fwd[fmid] = b->x;
	s->bwd[bmid] = b->xe;
	for (int32_t cost = 1; ; cost++) {
		widen(&f, lowest, highest, s->fwd, -1);
		if (forward(s, b, &f, odd ? &r : NULL, &x, &y))
			break;
		widen(&r, lowest, highest, s->bwd, INT32_MAX);
		if (backward(s, b, &r, odd ? NULL : &f, &x, &y))
			break;
		if (s->work > 0 ? b->exact || cost < s->give_up : cost < GIVE_UP_COARSE)
			continue;
		sum = farthest(s, b, &f, &x);
		bsum = nearest(s, b, &r, &bx);
		exact[0] = b->xe + b->ye - bsum < sum - (b->x + b->y);
		exact[1] = !exact[0];
		y = exact[0] ? sum - x : bsum - bx;
		x = exact[0] ? x : bx;
		break;
	}
	part[0] = (struct box){ b->x, x, b->y, y, exact[0] };
	part[1] = (struct box){ x, b->xe, y, b->ye, exact[1] };
}

static void
mark(const struct search *s, int f, int32_t from, int32_t to)
{
	for (int32_t i = from; i < to; i++)
		s->side[f].changed[s->at[f][i]] = 1;
}

static int64_t
size(const struct box *b)
{
	return (int64_t)(b->xe - b->x) + (b->ye - b->y);
}

static void
compare(struct search *s, struct box all)
{
	struct box stack[64], part[2], b;	/* the smaller part comes first, so that as many as a number has bits will do */
	size_t n = 0;
	int small;

	stack[n++] = all;
	while (n > 0) {
		b = stack[--n];
		while (b.x < b.xe && b.y < b.ye && same(s, b.x, b.y))
			b.x++, b.y++;
		while (b.x < b.xe && b.y < b.ye && same(s, b.xe - 1, b.ye - 1))
			b.xe--, b.ye--;
		if (b.x == b.xe || b.y == b.ye) {
			mark(s, 0, b.x, b.xe);
			mark(s, 1, b.y, b.ye);
			continue;
		}
		cut(s, &b, part);
		small = size(&part[1]) < size(&part[0]);
		stack[n++] = part[1 - small];
		stack[n++] = part[small];
	}
}

/* changes that lie side by side in both texts are one; @before: lines in front of both sides */
static int
collect(const struct dray_diff_side side[2], uint32_t before, struct dray_edits *out, struct dray_err *e)
{
	uint32_t n = 0;

	for (int f = 0; f < 2; f++)
		for (uint32_t i = 0; i < side[f].n; i++)
			n += side[f].changed[i] != 0 && (i == 0 || side[f].changed[i - 1] == 0);
	if (n == 0)
		return 0;
	if ((out->v = calloc(n, sizeof(*out->v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0, k = 0; i < side[0].n || k < side[1].n; i++, k++) {
		struct dray_edit d = { .a = before + i, .b = before + k };

		while (side[0].changed[i] != 0)
			i++, d.an++;
		while (side[1].changed[k] != 0)
			k++, d.bn++;
		if (d.an > 0 || d.bn > 0)
			out->v[out->n++] = d;
	}
	return 0;
}

static int
search(struct dray_diff_side side[2], uint32_t ids, struct dray_err *e)
{
	struct search s = { .side = side, .give_up = 1, .work = WORK };
	uint32_t *at[2] = { NULL, NULL }, kept[2];
	int32_t *reach = NULL;
	size_t diagonals;
	int rc = -1;

	if (dray_diff_drop(side, ids, at, kept, e) != 0)
		goto out;
	diagonals = (size_t)kept[0] + kept[1] + 3;
	if ((reach = calloc(2 * diagonals, sizeof(*reach))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (size_t n = diagonals; n != 0; n >>= 2)
		s.give_up <<= 1;
	s.give_up = s.give_up < GIVE_UP_MIN ? GIVE_UP_MIN : s.give_up;
	s.at[0] = at[0];
	s.at[1] = at[1];
	s.fwd = reach + kept[1] + 1;
	s.bwd = s.fwd + diagonals;
	compare(&s, (struct box){ 0, (int32_t)kept[0], 0, (int32_t)kept[1], false });
	dray_diff_slide(side);
	rc = 0;
out:
	free(at[0]);
	free(at[1]);
	free(reach);
	return rc;
}

int
dray_lines_diff(const struct dray_lines *a, const struct dray_lines *b, uint32_t ids, uint32_t horizon, struct dray_edits *out,
    struct dray_err *e)
{
	const uint32_t least = a->n < b->n ? a->n : b->n;
	struct dray_diff_side side[2];
	uint32_t front = 0, back = 0;
	int rc = -1;

	*out = (struct dray_edits){ .v = NULL };
	while (front < least && a->id[front] == b->id[front])
		front++;
	if (front == a->n && front == b->n)
		return 0;
	front -= front < horizon ? front : horizon;
	while (back < least - front && a->id[a->n - 1 - back] == b->id[b->n - 1 - back])
		back++;
	back -= back < horizon ? back : horizon;
	side[0] = (struct dray_diff_side){ .id = a->id + front, .n = a->n - front - back };
	side[1] = (struct dray_diff_side){ .id = b->id + front, .n = b->n - front - back };
	side[0].changed = calloc((size_t)side[0].n + 1, 1);
	side[1].changed = calloc((size_t)side[1].n + 1, 1);
	if (side[0].changed == NULL || side[1].changed == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (search(side, ids, e) == 0)
		rc = collect(side, front, out, e);
	free(side[0].changed);
	free(side[1].changed);
	return rc;
}
