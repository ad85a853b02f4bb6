/*
 * kept.h - what upgrades left alone because somebody here had decided so: the record beside a release's head, by which
 * check tells a decision from damage. Source: spec/apply.md, "Places".
 */
#ifndef INST_KEPT_H
#define INST_KEPT_H

#include "installer/journal.h"

/**
 * inst_kept_load - per entry row of @ix, enum inst_local (check.h): deleted, edited or neither
 * @release: the recorded release whose record is read
 * @out: malloc'ed; NULL when there is no record. Paths that @ix does not have are passed over.
 * DRAY_E_SYSTEM when the record is damaged.
 */
DRAY_MUST_CHECK int inst_kept_load(const struct inst_state *st, const struct inst_installed *release,
    const struct dray_index *ix, uint8_t **out, struct dray_err *e);

/**
 * inst_kept_write - the record that shall hold once @tx is finished: what @plan left alone, and of the present record
 * what @plan had nothing to do with
 */
DRAY_MUST_CHECK int inst_kept_write(const struct inst_state *st, struct inst_tx *tx, const struct inst_installed *now,
    const struct inst_plan *plan, struct dray_err *e);

/** inst_kept_finish, inst_kept_back - the record of @tx comes into force, or the one before it; repeatable */
DRAY_MUST_CHECK int inst_kept_finish(const struct inst_state *st, const struct inst_tx *tx, struct dray_err *e);
DRAY_MUST_CHECK int inst_kept_back(const struct inst_state *st, const struct inst_tx *tx, struct dray_err *e);

#endif
