/*
 * stage.h - make every new object in its slot, checked; nothing live is touched. One reader walks the needed frames
 * in file order, workers hash, decode, write and hash again. Source: spec/apply.md, "Stage".
 */
#ifndef INST_STAGE_H
#define INST_STAGE_H

#include "installer/journal.h"

struct inst_stage_opts {
	unsigned threads;
	const struct inst_tx *reuse;	/* an earlier unfinished staging, or NULL: its files with the right hash are taken over */
	int (*stop)(void);	/* nonzero: a signal was seen, stop with DRAY_E_SIGNAL */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);	/* bytes of output */
	void *ctx;
};

/** inst_stage - fill all slots of @tx and plan->ops[].now; on return everything is written but not yet synced */
DRAY_MUST_CHECK int inst_stage(int rootfd, const struct dray_bundle *b, struct inst_plan *p, struct inst_tx *tx,
    const struct inst_stage_opts *o, struct dray_err *e);

#endif
