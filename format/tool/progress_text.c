/*
 * progress_text.c - what a progress line says: per cent of the bytes or paths, rate, time left. The clock is the caller's.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tool_in.h"

#define SPAN_MS 10000		/* the rate looks back about so far */
#define STEP_MS 200		/* shorter spans tell no rate */
#define LEFT_MAX_S 360000.0	/* 100 hours: longer guesses are none */

void
tool_rate_add(struct tool_rate *r, int64_t now_ms, uint64_t done)
{
	double span = (double)(now_ms - r->at_ms), weight;

	if (now_ms - r->at_ms < STEP_MS)
		return;
	if (now_ms - r->begin_ms <= SPAN_MS) {
		r->per_s = (double)done * 1000 / (double)(now_ms - r->begin_ms);
	} else {
		weight = span / (span + SPAN_MS);
		r->per_s += ((done > r->done ? (double)(done - r->done) : 0) * 1000 / span - r->per_s) * weight;
	}
	r->at_ms = now_ms;
	r->done = done;
}

const char *
tool_seconds(int64_t ms, char out[32])
{
	int64_t s = ms <= 0 ? 0 : (ms + 999) / 1000, min = (s + 59) / 60;

	if (s < 100)
		snprintf(out, 32, "%" PRId64 " s", s);
	else if (min < 100)
		snprintf(out, 32, "%" PRId64 " min", min);
	else
		snprintf(out, 32, "%" PRId64 " h %" PRId64 " min", min / 60, min % 60);
	return out;
}

unsigned
tool_progress_percent(uint64_t done, uint64_t total)
{
	unsigned pc;

	if (total == 0 || done >= total)
		return total == 0 ? 0 : 99;
	pc = total < UINT64_MAX / 100 ? (unsigned)(done * 100 / total) : (unsigned)(done / (total / 100));
	return pc > 99 ? 99 : pc;
}

unsigned
tool_progress_share(const struct tool_progress *p)
{
	unsigned pc = p->costs != 0 ? tool_progress_percent(p->cost, p->costs) : tool_progress_percent(p->done, p->total);

	return pc > p->percent ? pc : p->percent;
}

/* seconds, 0: they cannot be told */
static double
seconds_left(const struct tool_progress *p)
{
	double per_s = p->costs != 0 ? p->speed.per_s : p->rate.per_s, left = 0;

	if (per_s < 1)
		return 0;
	if (p->costs != 0)
		left = p->cost < p->costs ? (double)(p->costs - p->cost) / per_s : 0;
	else
		left = p->done < p->total ? (double)(p->total - p->done) / per_s : 0;
	return left < LEFT_MAX_S ? left : 0;
}

/* bytes for people, or a number of paths */
static const char *
quantity(const struct tool_progress *p, uint64_t n, char out[32])
{
	if (!p->paths)
		return tool_human(n, out);
	snprintf(out, 32, "%" PRIu64, n);
	return out;
}

/* what has been done, and how much of the whole that is */
static int
amount(const struct tool_progress *p, bool whole, char *out, size_t cap)
{
	const char *unit = p->paths ? p->total == 1 ? " path" : " paths" : "";
	char a[32], b[32];

	if (p->slow && p->total != 0 && !whole)
		return snprintf(out, cap, "%s: %u %%", p->what, tool_progress_share(p));
	if (p->total == 0 || whole)
		return snprintf(out, cap, "%s: %s%s", p->what, quantity(p, p->total == 0 ? p->done : p->total, a), unit);
	return snprintf(out, cap, "%s: %u %% (%s of %s%s)", p->what, tool_progress_share(p),
	    quantity(p, p->done < p->total ? p->done : p->total, a), quantity(p, p->total, b), unit);
}

const char *
tool_progress_text(const struct tool_progress *p, int64_t now_ms, bool whole, char out[TOOL_PROGRESS_TEXT])
{
	int64_t took = now_ms - p->begin_ms;
	double per_s = p->rate.per_s, left = seconds_left(p);
	char rate[32], time[32];
	int n;

	if (p->done == 0 && p->total == 0) {	/* nothing is counted, or not yet */
		snprintf(out, TOOL_PROGRESS_TEXT, "%s: %s%s", p->what, whole ? "took " : "", tool_seconds(took, time));
		return out;
	}
	n = amount(p, whole, out, TOOL_PROGRESS_TEXT);
	if (whole && took > 0)
		per_s = (double)(p->total > 0 ? p->total : p->done) * 1000 / (double)took;
	if (per_s >= 1 && !p->paths && (!p->slow || whole))
		n += snprintf(out + n, TOOL_PROGRESS_TEXT - (size_t)n, ", %s/s", tool_human((uint64_t)per_s, rate));
	if (whole) {
		snprintf(out + n, TOOL_PROGRESS_TEXT - (size_t)n, ", took %s", tool_seconds(took, time));
	} else if (left > 0) {
		snprintf(out + n, TOOL_PROGRESS_TEXT - (size_t)n, ", %s left", tool_seconds((int64_t)(left * 1000), time));
	}
	return out;
}

const char *
tool_progress_json(const struct tool_progress *p, int64_t now_ms, const char *state, char out[TOOL_PROGRESS_JSON])
{
	double per_s = p->rate.per_s, left = seconds_left(p);
	size_t cap = TOOL_PROGRESS_JSON;
	int n;

	/* phases are words of our own: nothing in them needs an escape */
	n = snprintf(out, cap, "{\"done\":%" PRIu64 ",\"ms\":%" PRId64, p->total != 0 && p->done > p->total ? p->total : p->done,
	    now_ms - p->begin_ms);
	if (p->total != 0)
		n += snprintf(out + n, cap - (size_t)n, ",\"percent\":%u", tool_progress_share(p));
	n += snprintf(out + n, cap - (size_t)n, ",\"phase\":\"%s\"", p->what);
	if (per_s >= 1 && per_s < 1e18)
		n += snprintf(out + n, cap - (size_t)n, ",\"rate\":%" PRIu64, (uint64_t)per_s);
	if (left > 0)
		n += snprintf(out + n, cap - (size_t)n, ",\"seconds_left\":%" PRIu64, (uint64_t)(left + 0.5));
	n += snprintf(out + n, cap - (size_t)n, ",\"state\":\"%s\"", state);
	if (p->total != 0)
		n += snprintf(out + n, cap - (size_t)n, ",\"total\":%" PRIu64, p->total);
	snprintf(out + n, cap - (size_t)n, ",\"unit\":\"%s\"}", p->paths ? "paths" : "bytes");
	return out;
}
