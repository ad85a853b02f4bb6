/*
 * linediff_drop.c - before two texts are compared: lines that the other text does not have need no comparing, and lines that
 * it has very often tell little; among many of the first kind they are left out as well. The thresholds are those of
 * GNU diff, because they show in the result.
 */
#include <stdlib.h>

#include "lines.h"

enum mark { KEEP, DROP, OFTEN };	/* OFTEN: dropped if its neighbours are */

/* about twice the root of n / 64, times 5 */
static uint32_t
often_from(uint32_t n)
{
	uint32_t many = 5;

	for (uint32_t t = n / 64 >> 2; t > 0; t >>= 2)
		many *= 2;
	return many;
}

/* OFTEN lines that make up a whole run of @most or more are kept */
static void
keep_long_runs(uint8_t *mark, uint32_t n, uint32_t most)
{
	uint32_t end;

	for (uint32_t i = 0; i < n; i = end + 1) {
		for (end = i; end < n && mark[end] == OFTEN; end++)
			;
		if (end - i >= most)
			for (uint32_t k = i; k < end; k++)
				mark[k] = KEEP;
	}
}

/* the @i-th line from the front, or from the back */
static uint8_t *
nth(uint8_t *mark, uint32_t n, uint32_t i, bool back)
{
	return &mark[back ? n - 1 - i : i];
}

/* near an end of the run OFTEN lines are kept, until three DROPs follow each other or eight lines are done */
static void
keep_near_end(uint8_t *mark, uint32_t n, bool back)
{
	uint32_t row = 0;

	for (uint32_t i = 0; i < n && row < 3; i++) {
		uint8_t *m = nth(mark, n, i, back);

		if (i >= 8 && *m == DROP)
			return;
		row = *m == DROP ? row + 1 : 0;
		if (*m == OFTEN)
			*m = KEEP;
	}
}

/* a run that begins and ends with DROP */
static void
settle_run(uint8_t *mark, uint32_t n)
{
	uint32_t often = 0, most = 1;

	for (uint32_t i = 0; i < n; i++)
		often += mark[i] == OFTEN;
	if (often > n / 4) {
		keep_long_runs(mark, n, 1);
		return;
	}
	for (uint32_t t = n >> 4; t > 0; t >>= 2)
		most <<= 1;
	keep_long_runs(mark, n, most + 1);
	keep_near_end(mark, n, false);
	keep_near_end(mark, n, true);
}

static void
settle(uint8_t *mark, uint32_t n)
{
	uint32_t end, next;

	for (uint32_t i = 0; i < n; i = next) {
		next = i + 1;
		if (mark[i] == OFTEN)
			mark[i] = KEEP;
		if (mark[i] == KEEP)
			continue;
		for (end = i; end < n && mark[end] != KEEP; end++)
			;
		next = end;
		while (mark[end - 1] == OFTEN)
			mark[--end] = KEEP;
		settle_run(mark + i, end - i);
	}
}

/* @times: how often the other text has each line */
static uint32_t
drop(struct dray_diff_side *s, const uint32_t *times, uint8_t *mark, uint32_t *at)
{
	uint32_t kept = 0, many = often_from(s->n);

	for (uint32_t i = 0; i < s->n; i++)
		mark[i] = times[s->id[i]] == 0 ? DROP : times[s->id[i]] > many ? OFTEN : KEEP;
	settle(mark, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		s->changed[i] = mark[i] != KEEP;
		if (mark[i] == KEEP)
			at[kept++] = i;
	}
	return kept;
}

int
dray_diff_drop(struct dray_diff_side side[2], uint32_t ids, uint32_t *at[2], uint32_t kept[2], struct dray_err *e)
{
	uint32_t *times[2];
	uint8_t *mark;
	int rc = -1;

	mark = malloc((size_t)(side[0].n > side[1].n ? side[0].n : side[1].n) + 1);
	for (int f = 0; f < 2; f++) {
		at[f] = calloc((size_t)side[f].n + 1, sizeof(*at[f]));
		times[f] = calloc((size_t)ids + 1, sizeof(*times[f]));
	}
	if (mark == NULL || at[0] == NULL || at[1] == NULL || times[0] == NULL || times[1] == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (int f = 0; f < 2; f++)
		for (uint32_t i = 0; i < side[f].n; i++)
			times[f][side[f].id[i]]++;
	for (int f = 0; f < 2; f++)
		kept[f] = drop(&side[f], times[1 - f], mark, at[f]);
	rc = 0;
out:
	free(mark);
	free(times[0]);
	free(times[1]);
	return rc;
}
