/*
 * work.c - progress and signals of one phase of a build.
 */
#include "builder/work.h"

void
build_work_begin(struct build_work *w, const char *what, uint64_t total)
{
	atomic_store(&w->done, 0);
	w->total = total;
	if (w->common != NULL)
		tool_progress_begin(&w->progress, w->common, what, total);
}

int
build_work_step(struct build_work *w, uint64_t len, struct dray_err *e)
{
	uint64_t done = atomic_fetch_add(&w->done, len) + len;

	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	tool_progress_at(&w->progress, done, w->total);
	return 0;
}

int
build_work_end(struct build_work *w, int rc)
{
	tool_progress_end(&w->progress, rc == 0);
	return rc;
}
