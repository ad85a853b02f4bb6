/*
 * hooksd.h - programs of the site, around a switch and a way back: /etc/dray/hooks.d of the running system, or --hooks.
 * Source: spec/apply.md, "Site hooks".
 */
#ifndef INST_HOOKSD_H
#define INST_HOOKSD_H

#include "installer/cmd.h"

#define INST_HOOKSD "/etc/dray/hooks.d"

/** inst_hooksd_load - which ones there are, told to the runner, which is not made yet. DRAY_E_SYSTEM: others could change one */
DRAY_MUST_CHECK int inst_hooksd_load(struct inst_front *f, struct dray_err *e);

/** inst_hooksd_load_soft - for a recovery, which must not hang on them: where they will not do there are none, and that is told
 * when one should have run */
DRAY_MUST_CHECK int inst_hooksd_load_soft(struct inst_front *f, struct dray_err *e);

struct inst_moment {			/* what a hook is told besides what @f knows */
	const struct inst_plan *plan;	/* NULL: not made */
	const struct inst_installed *from, *to;	/* NULL: not known */
	const char *phase;		/* NULL: all of it */
	const char *result;		/* after-*: "done", "phase", "back", "unchanged" */
};

/** inst_hooksd_any - are there hooks at that point? What was looked at before they ran has to be looked at again */
bool inst_hooksd_any(const struct inst_front *f, enum inst_hook_point at);
/** inst_hooksd_before - one that does not end well ends all of it: DRAY_E_SYSTEM, nothing was changed */
DRAY_MUST_CHECK int inst_hooksd_before(struct inst_front *f, enum inst_hook_point at, const struct inst_moment *m,
    struct dray_err *e);
/** inst_hooksd_after - all of them run, whatever comes of one; failures are in f->hooks. The state is open for writing */
void inst_hooksd_after(struct inst_front *f, enum inst_hook_point at, const struct inst_moment *m);
/** inst_hooksd_recovered - ... after what an interrupted run had left was finished, @back: taken back */
void inst_hooksd_recovered(struct inst_front *f, enum inst_pending did, bool back);
/**
 * inst_hooksd_failed - a run has failed with @e: if before-commit was reached and the tree is as it was, after-rollback tells so
 */
void inst_hooksd_failed(struct inst_front *f, const struct dray_err *e);
/** inst_hooksd_end - 0, or DRAY_E_TRIGGER when one behind the switch has failed */
DRAY_MUST_CHECK int inst_hooksd_end(const struct inst_front *f, struct dray_err *e);
/** inst_hooksd_json - "hooks", those that ran; nothing when none did */
void inst_hooksd_json(const struct inst_front *f, struct dray_json *o);
void inst_hooksd_free(struct inst_front *f);

#endif
