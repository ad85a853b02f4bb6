/*
 * evidence.h - what stays of a run: one record for each end of a transaction and for each run that failed after it had
 * begun, chained by hashes. Source: spec/apply.md, "Evidence".
 */
#ifndef INST_EVIDENCE_H
#define INST_EVIDENCE_H

#include "dray/evidence.h"

#include "installer/commit.h"

struct inst_run {		/* the running command, as its records tell it */
	const char *verb;	/* "apply", ... */
	int64_t began;		/* wall clock, seconds since 1970: for people; nothing hangs on it */
	int64_t began_ms;	/* steady clock */
	const char *options[4];	/* those that decide what comes out */
	size_t n_options;
	uint64_t allow_downgrade;	/* counter of an older release that is accepted; 0: none is */
	enum dray_code code;	/* what the run will exit with, when that is known before its end */
	char why[400];
	const struct dray_json *hooks;	/* site hooks that ran since the last record; borrowed; NULL: none */
	bool torn;		/* the newest record was not the one the anchor names: the next one says so for good */
};

int64_t inst_steady_ms(void);	/* of a clock that nobody sets */
void inst_run_begin(struct inst_run *r, const char *verb);
void inst_run_option(struct inst_run *r, const char *option);	/* without dashes; a literal */
/** inst_run_blame - the end that comes is the work of this failure */
void inst_run_blame(const struct inst_state *s, enum dray_code code, const char *why);

/** inst_evidence_stage - before the decision: list and origin of the run into the transaction's folder, flushed */
DRAY_MUST_CHECK int inst_evidence_stage(const struct inst_state *s, struct inst_tx *tx, const struct inst_plan *p,
    const struct inst_policy *policy, const struct dray_bundle *b, struct dray_err *e);

enum inst_end { INST_END_DONE, INST_END_BACK, INST_END_FORGOTTEN, INST_END_FORGOTTEN_ALL };

/**
 * inst_evidence_end - the record of a transaction's end; when it is there already, only the anchor's fields are set
 * @kept: objects that stay in the slots, or NULL
 * @a:    loaded; its records and last are set, and the caller saves it before it says in the log that it is at the end
 */
DRAY_MUST_CHECK int inst_evidence_end(const struct inst_state *s, const struct inst_tx *tx, enum inst_end end,
    const struct inst_foreign *kept, struct inst_anchor *a, struct dray_err *e);

/** inst_evidence_failed - a run that had begun to write has failed; @tx: what it worked on, or NULL */
DRAY_MUST_CHECK int inst_evidence_failed(const struct inst_state *s, const struct inst_tx *tx, const struct dray_err *why,
    struct dray_err *e);

/**
 * inst_evidence_trigger - a trigger ran, or (@r NULL) somebody said that it was done; the anchor is saved
 * @a: loaded
 */
struct inst_trigger_end;
DRAY_MUST_CHECK int inst_evidence_trigger(const struct inst_state *s, const char *id, const struct inst_trigger_end *r,
    struct inst_anchor *a, struct dray_err *e);

/** inst_evidence_hooks - those of s->run have run behind the end; @why: of the first that failed, or NULL; the anchor is saved */
DRAY_MUST_CHECK int inst_evidence_hooks(const struct inst_state *s, const struct dray_err *why, struct inst_anchor *a,
    struct dray_err *e);

/* chain.c: the records on the disk */
#define INST_CHAIN_DIR "evidence"
/** inst_chain_numbers - of all records, ascending; malloc'ed */
DRAY_MUST_CHECK int inst_chain_numbers(const struct inst_state *s, uint64_t **numbers, size_t *n, struct dray_err *e);
/** inst_chain_last - number of the newest record, 0: none */
DRAY_MUST_CHECK int inst_chain_last(const struct inst_state *s, uint64_t *number, struct dray_err *e);
/** inst_chain_read - bytes of one record, malloc'ed; 1 when it is not there */
DRAY_MUST_CHECK int inst_chain_read(const struct inst_state *s, uint64_t number, uint8_t **p, size_t *len,
    struct dray_err *e);
/** inst_chain_list - the list of a record, open for reading, and its bytes; 1 when it is not there */
DRAY_MUST_CHECK int inst_chain_list(const struct inst_state *s, uint64_t number, int *fd, uint64_t *size,
    struct dray_err *e);
/** inst_chain_find - the newest record after @base that is about @tx; *number 0: none */
DRAY_MUST_CHECK int inst_chain_find(const struct inst_state *s, const struct inst_tx *tx, uint64_t base,
    uint64_t *number, uint8_t sha256[32], char ended[32], struct dray_err *e);
/**
 * inst_chain_append - number and prev are set in @o, then it is written and flushed; @a gets the new end
 * @list: move this transaction's list of paths along
 */
DRAY_MUST_CHECK int inst_chain_append(const struct inst_state *s, struct dray_json *o, const struct inst_tx *list,
    struct inst_anchor *a, struct dray_err *e);
/** inst_chain_take_list - the list of record @number from the transaction's folder, if it still lies there */
DRAY_MUST_CHECK int inst_chain_take_list(const struct inst_state *s, const struct inst_tx *tx, uint64_t number,
    struct dray_err *e);

#endif
