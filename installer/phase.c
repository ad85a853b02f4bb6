/*
 * phase.c - an upgrade phase by phase: which one may come next, and what is refused between two of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"
#include "dray/path.h"

#include "installer/carry.h"
#include "installer/swap.h"
#include "installer/hooksd.h"

static int
no_such_phase(const struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	char q[200], list[300] = "";
	size_t at = 0;

	for (size_t i = 0; i < d->n_phases && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i == 0 ? "" : ", ", d->phases[i]);
	dray_fail(e, DRAY_E_USAGE, "--phase %s: the bundle has no such phase",
	    dray_quote(f->phase, strlen(f->phase), q, sizeof(q)));
	return dray_hint(e, "it has, in this order: %s", list);
}

int
inst_phase_read(struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	f->step = INST_STEP_ALL;
	if (f->phase == NULL)
		return 0;
	for (size_t i = 0; i < d->n_phases; i++)
		if (strcmp(d->phases[i], f->phase) == 0)
			f->step = (uint8_t)(i + 1);
	return f->step == INST_STEP_ALL ? no_such_phase(f, e) : 0;
}

int
inst_phase_in_order(const struct inst_front *f, const struct inst_op *ops, size_t n, uint8_t done, struct dray_err *e)
{
	uint8_t first = INST_STEP_ALL;

	for (size_t i = 0; i < n && f->phase != NULL; i++)
		if (ops[i].step > done && ops[i].step < first)
			first = ops[i].step;
	if (f->phase == NULL || first >= f->step)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "phase %s comes before %s", dray_bundle_desc(f->b)->phases[first - 1], f->phase);
	return dray_hint(e, "nothing was changed; phases go on in the order of the bundle");
}

/* names of the steps in (after, upto] */
static const char *
names(const struct inst_tx *tx, uint8_t after, uint8_t upto, char *out, size_t cap)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t step = after + 1u; step <= upto && step <= tx->n_phases && at < cap; step++)
		at += (size_t)snprintf(out + at, cap - at, "%s%s", at == 0 ? "" : ", ", tx->phases[step - 1]);
	return out;
}

void
inst_phase_say(const struct inst_front *f, const struct inst_tx *tx)
{
	char done[200], left[200];

	inst_say(f, "%s %s: done are the phases: %s; still to come: %s", tx->to.product, tx->to.version,
	    names(tx, 0, tx->done, done, sizeof(done)), names(tx, tx->done, tx->last, left, sizeof(left)));
}

void
inst_phase_json(const struct inst_tx *tx, struct dray_json *o)
{
	struct dray_json *done = dray_json_set_arr(o, "phases_done"), *left = dray_json_set_arr(o, "phases_left");

	for (size_t step = 1; step <= tx->last && step <= tx->n_phases; step++)
		dray_json_push_str(step <= tx->done ? done : left, tx->phases[step - 1]);
}

int
inst_phase_refuse(const struct inst_front *f, const struct inst_tx *tx, struct dray_err *e)
{
	struct inst_front bare = *f;
	char done[200], left[200], *back;

	dray_fail(e, DRAY_E_SYSTEM, "%s is between phases of %s %s: %s done, %s to come", f->root, tx->to.product,
	    tx->to.version, names(tx, 0, tx->done, done, sizeof(done)), names(tx, tx->done, tx->last, left, sizeof(left)));
	bare.bundle = NULL;
	if ((back = inst_command(&bare, "rollback", NULL)) != NULL)
		dray_hint(e, "nothing was changed; go on with apply of that bundle, or go back: %s", back);
	free(back);
	return -1;
}

/* is the slot as staging left it, with nothing standing aside (swap.c, settle)? */
static int
slot_waits(struct inst_swapper *w, const struct inst_op *op, bool *waits, struct dray_err *e)
{
	char slot[24], aside[32];
	struct inst_ident id;
	struct dray_stat st;

	if (inst_slot_look(w, op, &id, e) != 0)
		return -1;
	snprintf(aside, sizeof(aside), "%s~", inst_tx_slot(op->slot, slot));
	*waits = id.type == DRAY_ABSENT && op->now.type == DRAY_ABSENT;
	if (id.type != DRAY_ABSENT && op->now.type != DRAY_ABSENT && inst_slot_holds_untouched(w, op, false, waits, e) != 0)
		return -1;
	*waits = *waits && os_stat_at(w->slot.root, aside, &st) != 0;
	return 0;
}

/* a step that was taken back keeps in its slots what others put in its place: that is never what the release wants */
static int
slots_wait(const struct inst_front *f, struct inst_tx *tx, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	struct inst_swapper w;
	bool waits = true;
	int rc = inst_slots_all(tx, e);

	inst_swapper_init(&w, f->st.root, tx, false);
	for (size_t i = 0; rc == 0 && waits && i < tx->n_swaps; i++) {
		const struct inst_op *op = &tx->ops[i];

		if (op->step <= tx->done || op->step > f->step)
			continue;
		if ((rc = slot_waits(&w, op, &waits, e)) != 0 || waits)
			continue;
		dray_fail(e, DRAY_E_DRIFT, "%s: what was staged for it is gone, the stash holds somebody else's object",
		    dray_quote(op->path, op->len, q, sizeof(q)));
		rc = dray_hint(e, "nothing was changed; go back with rollback and apply again");
	}
	inst_swapper_close(&w);
	return rc;
}

/* what was decided beforehand decided about all phases; a choice of components that is not told again is the one then */
static int
same_policy(const struct inst_carry *a, struct dray_err *e)
{
	struct inst_front view = a->f;
	uint8_t id[32];

	view.anchor.installed = a->tx->to;
	if (inst_policy_settle(&view, true, e) != 0 || inst_components_settle(&view, e) != 0 ||
	    inst_policy_id(&view.policy, dray_bundle_desc(a->f.b), id, e) != 0)
		return -1;
	if (memcmp(id, a->tx->policy_id, sizeof(id)) == 0)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "the phases of %s %s were begun with other options", a->tx->to.product, a->tx->to.version);
	return dray_hint(e, "nothing was changed; give those that the first phase had, or go back with rollback");
}

/* the same bundle, decided beforehand alike and, if it was named, the same plan; all that waits was staged with the first phase */
static int
same_upgrade(const struct inst_carry *a, struct dray_err *e)
{
	char hex[65];

	if (memcmp(dray_bundle_id(a->f.b), a->tx->to.id, sizeof(a->tx->to.id)) != 0)
		return inst_phase_refuse(&a->f, a->tx, e);
	if (same_policy(a, e) != 0)
		return -1;
	if (a->plan_id == NULL || strcmp(dray_hex(a->tx->plan_id, 32, hex), a->plan_id) == 0)
		return 0;
	dray_fail(e, DRAY_E_DRIFT, "the plan that was begun is %s, not %.64s", hex, a->plan_id);
	return dray_hint(e, "nothing was changed; its phases belong together");
}

/* is the tree as it was left between the phases, and all that waits as it was staged? */
static int
still_fits(const struct inst_carry *a, struct inst_tx *tx, struct dray_err *e)
{
	inst_work_begin(&a->f.st, "comparing", 0);
	if (inst_work_end(&a->f.st, inst_ops_recheck(a->f.st.root, tx->ops, tx->n_ops, tx->done, a->f.step,
	    (unsigned)a->f.common.jobs, e)) == 0)
		return slots_wait(&a->f, tx, e);
	if (e->code == DRAY_E_DRIFT) {
		e->hint[0] = '\0';
		dray_hint(e, "nothing was changed; put the very same file back, or go back with rollback and plan again");
	}
	return -1;
}

int
inst_carry_go_on(struct inst_carry *a, struct dray_err *e)
{
	struct inst_tx *tx = a->tx;
	uint8_t done = tx->done;

	if (same_upgrade(a, e) != 0 || inst_phase_in_order(&a->f, tx->ops, tx->n_ops, tx->done, e) != 0)
		return -1;
	if (a->f.step <= tx->done)
		return 0;
	if (still_fits(a, tx, e) != 0)
		return -1;
	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	if (inst_hooksd_before(&a->f, INST_HOOK_BEFORE_COMMIT, &(struct inst_moment){ .from = &tx->from, .to = &tx->to,
	    .phase = a->f.phase }, e) != 0)
		return -1;
	/* a hook takes its time, and may change the tree */
	if (inst_hooksd_any(&a->f, INST_HOOK_BEFORE_COMMIT) && still_fits(a, tx, e) != 0)
		return -1;
	if (inst_commit(&a->f.st, tx, a->f.step, &a->foreign, e) != 0) {
		a->f.hooks.begun = e->code == DRAY_E_WENT_BACK || (tx->state == INST_TX_DONE && tx->done == done);
		if (e->code != DRAY_E_WENT_BACK && tx->state == INST_TX_DONE && tx->done == done)
			dray_hint(e, "nothing live was changed by this phase");
		inst_front_record(&a->f, tx, e);
		return -1;
	}
	a->done = true;
	a->reboot = strcmp(a->f.root, "/") == 0 && inst_touches_boot(tx->ops, tx->n_swaps, done, a->f.step);
	return inst_tx_between(tx) ? 0 : inst_finish(&a->f.st, tx, &a->foreign, e);
}
