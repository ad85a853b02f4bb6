/*
 * work.h - one phase of a build: on how many threads, whom to tell how far it is, and whether it shall go on.
 */
#ifndef BUILD_WORK_H
#define BUILD_WORK_H

#include <stdatomic.h>
#include <stdint.h>

#include "dray/err.h"
#include "tool/tool.h"

struct build_work {		/* all zero but @threads: nothing is told */
	unsigned threads;
	const struct tool_common *common;	/* NULL: nothing is told */
	struct tool_progress progress;
	_Atomic uint64_t done;		/* bytes */
	uint64_t total;
	_Atomic uint64_t cost;	/* by dray/meter.h; costs 0: bytes are the measure */
	uint64_t costs;
};

/** build_work_begin - the next phase, "pack"; @total: bytes of work, 0: not counted */
void build_work_begin(struct build_work *w, const char *what, uint64_t total);

/** build_work_costs - the phase that has begun will cost so much in all */
void build_work_costs(struct build_work *w, uint64_t costs);

/** build_work_step - @len more bytes are done; any thread. -1: DRAY_E_SIGNAL, a signal has come */
DRAY_MUST_CHECK int build_work_step(struct build_work *w, uint64_t len, struct dray_err *e);

/** build_work_spend - ... and have cost so much */
DRAY_MUST_CHECK int build_work_spend(struct build_work *w, uint64_t len, uint64_t cost, struct dray_err *e);

/** build_work_end - @rc: of the phase; handed on */
int build_work_end(struct build_work *w, int rc);

#endif
