/*
 * work.c - progress and signals of one phase of a build.
 */
#include "builder/work.h"
#include "dray/meter.h"

void
build_work_begin(struct build_work *w, const char *what, uint64_t total)
{
	atomic_store(&w->done, 0);
	atomic_store(&w->cost, 0);
	w->total = total;
	w->costs = 0;
	if (w->common != NULL)
		tool_progress_begin(&w->progress, w->common, what, total);
}

void
build_work_costs(struct build_work *w, uint64_t costs)
{
	w->costs = costs;
}

int
build_work_step(struct build_work *w, uint64_t len, struct dray_err *e)
{
	return build_work_spend(w, len, 0, e);
}

int
build_work_spend(struct build_work *w, uint64_t len, uint64_t cost, struct dray_err *e)
{
	struct dray_progress at = { .total = w->total, .costs = w->costs };

	at.done = atomic_fetch_add(&w->done, len) + len;
	at.cost = atomic_fetch_add(&w->cost, cost) + cost;

	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	tool_progress_tell(&w->progress, &at);
	return 0;
}

int
build_work_end(struct build_work *w, int rc)
{
	tool_progress_end(&w->progress, rc == 0);
	return rc;
}
