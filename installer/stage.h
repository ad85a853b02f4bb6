/*
 * stage.h - make every new object in its slot, checked; nothing live is touched. One reader walks the needed frames
 * in file order, workers hash, decode, write and hash again. Source: spec/apply.md, "Stage".
 */
#ifndef INST_STAGE_H
#define INST_STAGE_H

#include "installer/journal.h"

struct dray_progress;	/* meter.h */

struct inst_stage_opts {
	unsigned threads;
	uint64_t memory;	/* bytes that frames and what they build on may take; fewer workers keep to it, one at least; 0: any */
	unsigned workers;	/* out: how many there were */
	const struct inst_tx *reuse;	/* an earlier unfinished staging, or NULL: its files with the right hash are taken over */
	int (*stop)(void);	/* nonzero: a signal was seen, stop with DRAY_E_SIGNAL */
	void (*progress)(void *ctx, const struct dray_progress *at);	/* bytes of output, or read back; from several threads */
	void *ctx;
};

/**
 * inst_stage_reread - read every staged file back from the disk and compare (reread.c)
 * @tx: staged, and flushed by inst_barrier; a difference is DRAY_E_IO
 * @o:  threads, stop, progress
 */
DRAY_MUST_CHECK int inst_stage_reread(const struct dray_bundle *b, const struct inst_plan *p, const struct inst_tx *tx,
    const struct inst_stage_opts *o, struct dray_err *e);

/** inst_stage - fill all slots of @tx and plan->ops[].now; on return everything is written but not yet synced */
DRAY_MUST_CHECK int inst_stage(int rootfd, const struct dray_bundle *b, struct inst_plan *p, struct inst_tx *tx,
    struct inst_stage_opts *o, struct dray_err *e);

#endif
