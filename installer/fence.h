/*
 * fence.h - before a run reads anything that is not its caller's: it makes the process that runs programs, and gives up what it
 * has no need of itself. Source: spec/apply.md, "Programs".
 */
#ifndef INST_FENCE_H
#define INST_FENCE_H

#include "installer/cmd.h"

enum inst_needs {
	INST_NEEDS_NOTHING,	/* it reads */
	INST_NEEDS_TREE,	/* it writes beneath the root */
	INST_NEEDS_PROGRAMS,	/* ... and programs are run for it */
};

/**
 * inst_fence - after the options, before all else; the process has one thread
 * @folder: another one in which it writes a file, or NULL
 */
void inst_fence(const struct inst_front *f, enum inst_needs needs, const char *folder);
/** inst_fence_programs - the same with NEEDS_PROGRAMS, the site's hooks found first; DRAY_E_SYSTEM, DRAY_E_USAGE: of these */
DRAY_MUST_CHECK int inst_fence_programs(struct inst_front *f, struct dray_err *e);
/** inst_fence_only - for what works on no tree: @folder is all it may write to, or NULL */
void inst_fence_only(const char *folder);

/** inst_fence_json, inst_fence_say - which of them hold here */
void inst_fence_json(struct dray_json *o);
void inst_fence_say(const struct inst_front *f);

/** inst_fence_seal - tell the runner all programs that this run may ask for; @rules: those of policies too. The state is open */
DRAY_MUST_CHECK int inst_fence_seal(struct inst_front *f, bool rules, struct dray_err *e);

#endif
