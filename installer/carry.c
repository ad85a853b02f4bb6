/*
 * carry.c - from a plan to the end of the switch, for apply and repair.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "dray/num.h"
#include "dray/path.h"

#include "installer/carry.h"
#include "installer/due.h"
#include "installer/fence.h"
#include "installer/hook.h"
#include "installer/hooksd.h"
#include "installer/kept.h"
#include "installer/stage.h"
#include "installer/switch.h"
#include "installer/theirs.h"
#include "installer/validate.h"
#include "installer/work.h"

void
inst_carry_init(struct inst_carry *a, const char *verb)
{
	memset(a, 0, sizeof(*a));
	a->keep = UINT64_MAX;
	inst_front_init(&a->f, verb);
}

void
inst_carry_close(struct inst_carry *a)
{
	inst_say_torn(&a->f);
	inst_tx_close(a->tx);
	inst_tx_close(a->earlier);
	inst_foreign_free(&a->foreign);
	inst_run_due_free(&a->due);
	inst_plan_free(a->p);
	inst_front_close(&a->f);
}

int
inst_carry_id_ok(const struct inst_carry *a, struct dray_err *e)
{
	if (a->plan_id == NULL || (strlen(a->plan_id) == 64 && strspn(a->plan_id, "0123456789abcdef") == 64))
		return 0;
	dray_fail(e, DRAY_E_USAGE, "--plan: not a plan id");
	return dray_hint(e, "give the 64 digits that plan printed");
}

/* what an interrupted run left is finished first, so that there is one upgrade at a time */
static int
finish_pending(struct inst_carry *a, struct dray_err *e)
{
	const char *what;

	if (inst_recover(&a->f.st, false, false, &a->recovered, &a->foreign, e) != 0) {
		dray_wrap(e, "finish what an earlier run began");
		if (a->recovered != INST_PENDING_NONE)
			inst_front_record(&a->f, NULL, e);
		return -1;
	}
	if ((what = inst_pending_text(a->recovered)) != NULL)
		inst_say(&a->f, "%s; that is finished now", what);
	inst_print_paths(&a->f, "changed by somebody else meanwhile; left alone or kept in the stash:", &a->foreign);
	inst_foreign_free(&a->foreign);
	/* what is installed may have changed with it */
	if (a->recovered != INST_PENDING_NONE && inst_anchor_load(&a->f.st, &a->f.anchor, e) != 0)
		return -1;
	inst_hooksd_recovered(&a->f, a->recovered, false);
	return 0;
}

/* what this run goes from and to, for a hook; in @to what the bundle holds */
static struct inst_moment
moment(const struct inst_carry *a, struct inst_installed *to)
{
	inst_installed_of(a->f.b, to);
	return (struct inst_moment){ .plan = a->p, .from = &a->f.anchor.installed, .to = to, .phase = a->f.phase };
}

static int
hooks_before(struct inst_carry *a, enum inst_hook_point at, struct dray_err *e)
{
	struct inst_installed to;
	struct inst_moment m = moment(a, &to);

	return inst_hooksd_before(&a->f, at, &m, e);
}

/* a tree without a state folder gets one only when there is something to do: a refusal leaves no trace */
int
inst_carry_begin(struct inst_carry *a, struct dray_err *e)
{
	if (a->verify_writes)
		inst_run_option(&a->f.run, "verify-writes");
	a->f.run.allow_downgrade = a->f.allow_downgrade;
	if (inst_front_bundle(&a->f, e) != 0 || inst_front_existing(&a->f, &a->locked, e) != 0)
		return -1;
	if (inst_phase_read(&a->f, e) != 0 || inst_fence_seal(&a->f, a->rules, e) != 0)
		return -1;
	return a->locked && (finish_pending(a, e) != 0 || inst_between(&a->f.st, &a->tx, e) != 0) ? -1 : 0;
}

static int
check_id(const struct inst_carry *a, struct dray_err *e)
{
	char hex[65];

	if (a->plan_id == NULL)
		return 0;
	if (strcmp(dray_hex(a->p->id, 32, hex), a->plan_id) == 0)
		return 0;
	dray_fail(e, DRAY_E_DRIFT, "the plan is no longer %.64s; it is %s now", a->plan_id, hex);
	return dray_hint(e, "the tree or the bundle changed since plan; nothing was changed; run plan again and look at it");
}

static int
refuse_partial(const struct inst_plan *p, struct dray_err *e)
{
	char quoted[DRAY_QUOTE_CAP(255)];

	if (!p->partial)
		return 0;
	for (size_t i = 0; i < p->n_notes; i++)
		if (p->notes[i].kind == INST_NOTE_UNREADABLE) {
			dray_fail(e, DRAY_E_SYSTEM, "%s cannot be read by this user",
			    dray_quote(p->notes[i].path, p->notes[i].len, quoted, sizeof(quoted)));
			break;
		}
	return dray_hint(e, "nothing was changed; run it as root");
}

static void
count_freed(struct inst_carry *a, const struct inst_forgotten *out)
{
	a->freed.generations += out->generations;
	a->freed.slots += out->slots;
	a->freed.kept += out->kept;
}

/* staging would find a damaged bundle too, but only when the old generation is gone */
static int
check_whole(struct inst_carry *a, struct dray_err *e)
{
	struct tool_progress pr;
	struct dray_check_opts o = { .threads = (unsigned)a->f.common.jobs, .stop = tool_signal_seen,
	    .progress = tool_progress_tell, .ctx = &pr };
	int rc;

	tool_progress_begin(&pr, &a->f.common, "verify", dray_bundle_desc(a->f.b)->length);
	rc = dray_bundle_check(a->f.b, &o, e);
	tool_progress_end(&pr, rc == 0);
	return rc;
}

/* the oldest ways back make room for the next one; the plan has said so */
static int
free_oldest(struct inst_carry *a, struct dray_err *e)
{
	struct inst_forgotten out;

	if (check_whole(a, e) != 0)
		return -1;
	inst_say(&a->f, "room is short: the oldest %zu of %zu old generations %s freed", a->p->frees, a->p->frees + a->p->keeps,
	    a->p->frees == 1 ? "is" : "are");
	if (inst_forget(&a->f.st, false, a->p->keeps, &out, e) != 0)
		return dray_wrap(e, "free an old generation");
	count_freed(a, &out);
	return 0;
}

int
inst_carry_keep(struct inst_carry *a, struct dray_err *e)
{
	struct inst_forgotten out;

	if (a->keep == UINT64_MAX || !a->locked || (a->tx != NULL && inst_tx_between(a->tx)))
		return 0;
	if (inst_forget(&a->f.st, false, (size_t)a->keep, &out, e) != 0) {
		dray_wrap(e, "the upgrade is done, but old generations could not be freed");
		return dray_hint(e, "repair the cause, then free them with forget");
	}
	count_freed(a, &out);
	return 0;
}

/* for want of room an earlier staging is given up, then the oldest ways back. Return: 0 the plan stands; 1 plan again; -1 */
static int
make_room(struct inst_carry *a, bool fits, struct dray_err *e)
{
	struct dray_err refused = *e;
	enum inst_pending did;

	if (fits && a->p->frees == 0)
		return 0;
	if (!fits && (refused.code != DRAY_E_ROOM || !a->locked))
		return -1;
	if (inst_recover(&a->f.st, false, true, &did, &a->foreign, e) != 0)
		return -1;
	if (did == INST_PENDING_STAGED)
		return 1;
	if (fits)
		return free_oldest(a, e) == 0 ? 1 : -1;
	*e = refused;
	return -1;
}

int
inst_carry_plan(struct inst_carry *a, struct dray_err *e)
{
	bool fits;
	int r;

	if (a->tx != NULL)
		return inst_phase_refuse(&a->f, a->tx, e);
	if (hooks_before(a, INST_HOOK_BEFORE_PLAN, e) != 0)
		return -1;
	for (;;) {
		if (inst_front_plan(&a->f, &a->p, e) != 0)
			return -1;
		assert(a->p != NULL);
		if (inst_front_floor(&a->f, a->p, e) != 0 || refuse_partial(a->p, e) != 0)
			return -1;
		fits = inst_plan_verdict(a->p, e) == 0;
		/* all that can be refused is, before anything is freed */
		if (fits && (check_id(a, e) != 0 || inst_phase_in_order(&a->f, a->p->ops, a->p->n_ops, 0, e) != 0 ||
		    inst_front_rights(&a->f, a->p, e) != 0))
			return -1;
		if ((r = make_room(a, fits, e)) <= 0)
			return r;
		dray_err_clear(e);
		inst_plan_free(a->p);
		a->p = NULL;
	}
}

static int
open_earlier(struct inst_carry *a, struct dray_err *e)
{
	enum inst_pending what;
	uint32_t number;

	if (inst_pending(&a->f.st, &what, &number, e) != 0)
		return -1;
	return what == INST_PENDING_STAGED ? inst_tx_open(&a->f.st, number, false, &a->earlier, e) : 0;
}

static int
stopped(struct dray_err *e)
{
	if (tool_signal_seen() == 0)
		return 0;
	return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
}

static int
stage(struct inst_carry *a, struct dray_err *e)
{
	struct tool_progress pr;
	struct inst_stage_opts o = { .threads = (unsigned)a->f.common.jobs, .memory = a->memory, .reuse = a->earlier, .stop = tool_signal_seen,
	    .progress = tool_progress_tell, .ctx = &pr };
	int rc;

	tool_progress_begin(&pr, &a->f.common, "staging", 0);
	rc = inst_stage(a->f.st.root, a->f.b, a->p, a->tx, &o, e);
	tool_progress_end(&pr, rc == 0);
	if (rc == 0 && o.workers < o.threads)
		inst_say(&a->f, "memory for %u of %u workers", o.workers, o.threads);
	if (rc != 0 || !a->verify_writes)
		return rc;
	if (inst_barrier(&a->f.st, a->tx, false, e) != 0)	/* the switch flushes again, and finds nothing to do */
		return -1;
	tool_progress_begin(&pr, &a->f.common, "reading back", 0);
	rc = inst_stage_reread(a->f.b, a->p, a->tx, &o, e);
	tool_progress_end(&pr, rc == 0);
	return rc;
}

/* the folder of the transaction, and what its record will be made of */
static int
open_tx(struct inst_carry *a, struct dray_err *e)
{
	return open_earlier(a, e) != 0 || stopped(e) != 0 || inst_tx_create(&a->f.st, a->p, &a->tx, e) != 0 ||
	    inst_theirs_keep(a->tx, a->p, a->f.b, e) != 0 ||
	    inst_evidence_stage(&a->f.st, a->tx, a->p, &a->f.policy, a->f.b, e) != 0 ? -1 : 0;
}

/* what programs say to merged files goes into the record too */
static int
validate(struct inst_carry *a, struct dray_err *e)
{
	struct inst_validate o = { .chroot = a->f.allow_chroot, .stop = tool_signal_seen };

	if (!inst_validate_wanted(a->p))
		return 0;
	o.here = inst_is_running_system(&a->f);
	return inst_validate_merges(&a->f.st, a->tx, a->p, &o, e) != 0 ? -1 :
	    inst_evidence_stage(&a->f.st, a->tx, a->p, &a->f.policy, a->f.b, e);
}

/* everything the commit needs besides what is staged; the last look at the tree */
static int
make_ready(struct inst_carry *a, const struct inst_installed *to, bool head, struct dray_err *e)
{
	if (inst_state_keep_self(&a->f.st, e) != 0 || (head && inst_tx_write_head(a->tx, a->f.b, e) != 0) ||
	    inst_kept_write(&a->f.st, a->tx, &a->f.anchor.installed, a->p, e) != 0 ||
	    inst_due_stage(a->tx, a->p, dray_bundle_desc(a->f.b), e) != 0 ||
	    inst_plan_recheck(a->f.st.root, a->p, (unsigned)a->f.common.jobs, e) != 0 ||
	    inst_tx_write_plan(a->tx, a->p, &a->f.anchor.installed, to, e) != 0)
		return -1;
	inst_plan_let_go(a->p);
	return inst_tx_take_plan(a->tx, e) != 0 || stopped(e) != 0 ? -1 : 0;
}

/* @live: set once the decision may have been taken */
static int
carry_out(struct inst_carry *a, const struct inst_installed *to, bool head, bool *live, struct dray_err *e)
{
	inst_work_begin(&a->f.st, "preparing", 0);
	if (inst_work_end(&a->f.st, open_tx(a, e)) != 0 || stage(a, e) != 0 || validate(a, e) != 0)
		return -1;
	if (a->earlier != NULL) {
		uint32_t number = a->earlier->number;

		inst_tx_close(a->earlier);
		a->earlier = NULL;
		if (inst_tx_drop(&a->f.st, number, e) != 0)
			return -1;
	}
	if (hooks_before(a, INST_HOOK_BEFORE_COMMIT, e) != 0)
		return -1;
	inst_work_begin(&a->f.st, "comparing", 0);
	if (inst_work_end(&a->f.st, make_ready(a, to, head, e)) != 0)
		return -1;
	*live = true;
	if (inst_commit(&a->f.st, a->tx, a->f.step, &a->foreign, e) != 0) {
		*live = a->tx->state != INST_TX_OPEN;
		return -1;
	}
	a->done = true;
	return inst_tx_between(a->tx) ? 0 : inst_finish(&a->f.st, a->tx, &a->foreign, e);
}

/* a staging that cannot be of use to the next run is not left behind */
static void
clean_up(struct inst_carry *a, const struct dray_err *e)
{
	struct dray_err ignored = { .code = DRAY_OK };	/* the first failure is the one to tell; resume drops the rest */
	uint32_t number;

	if (a->tx == NULL || a->tx->state != INST_TX_OPEN || e->code == DRAY_E_SIGNAL || e->code == DRAY_E_MEDIUM ||
	    e->code == DRAY_E_DRIFT)
		return;
	number = a->tx->number;
	inst_tx_close(a->tx);
	a->tx = NULL;
	if (inst_tx_drop(&a->f.st, number, &ignored) != 0)
		inst_say(&a->f, "what was staged could not be deleted: %s", ignored.text);
}

bool
inst_touches_boot(const struct inst_op *ops, size_t n_swaps, uint8_t after, uint8_t upto)
{
	for (size_t i = 0; i < n_swaps; i++)
		if (ops[i].step > after && ops[i].step <= upto && dray_path_under(ops[i].path, ops[i].len, "boot", 4))
			return true;
	return false;
}

/* on a running system: will anybody finish it after a power cut? */
static void
warn_of_boot(const struct inst_carry *a)
{
	struct dray_err ignored = { .code = DRAY_OK };	/* an upgrade does not hang on its hook */
	struct inst_front bare = a->f;
	struct inst_hook h;

	if (strcmp(a->f.root, "/") != 0 ||
	    (inst_hook_look(&a->f.st, INST_HOOK_NONE, &h, &ignored) == 0 && inst_hook_whole(&h)))
		return;
	bare.bundle = NULL;
	inst_say(&a->f, "no boot hook: after a power cut, run `dray-install resume` before anything else");
	inst_say_command(&bare, "to have each boot do that", "hook install", NULL);
}

int
inst_carry_out(struct inst_carry *a, const struct inst_installed *to, bool head, struct dray_err *e)
{
	bool live = false;

	if (a->p->n_ops == 0)
		return 0;
	warn_of_boot(a);
	if (!a->locked) {
		inst_state_close(&a->f.st);
		if (inst_front_state(&a->f, true, e) != 0)
			return -1;
		a->locked = true;
	}
	a->reboot = strcmp(a->f.root, "/") == 0 && inst_touches_boot(a->p->ops, a->p->n_swaps, 0, a->f.step);
	if (carry_out(a, to, head, &live, e) != 0) {
		if (!live && !a->f.hooks.refused)
			dray_hint(e, "nothing live was changed");
		a->f.hooks.begun = a->f.hooks.begun && (!live || e->code == DRAY_E_WENT_BACK);
		inst_front_record(&a->f, a->tx, e);
		if (!live)
			clean_up(a, e);
		return -1;
	}
	return 0;
}

/* those of the bundle that nothing calls: so that nobody looks for them */
static int
say_not_called(const struct inst_carry *a, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(a->f.b);
	struct dray_json *called;
	char text[400] = "";
	size_t at = 0;

	if (a->tx == NULL || inst_tx_between(a->tx) || d->n_triggers == 0)
		return 0;
	if (inst_due_called(a->tx, &called, e) != 0)
		return -1;
	for (size_t i = 0; i < d->n_triggers; i++) {
		const char *id = inst_due_id(dray_json_at(d->triggers, i));

		if (!inst_due_has(called, id) && at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at > 0 ? ", " : "", id);
	}
	dray_json_free(called);
	if (at >= sizeof(text))
		memcpy(text + sizeof(text) - 4, "...", 4);
	if (at > 0)
		inst_say(&a->f, "not run, as nothing that they wait for changed: %s", text);
	return 0;
}

int
inst_carry_triggers(struct inst_carry *a, struct dray_err *e)
{
	struct inst_installed to;
	struct inst_moment m;
	int rc;

	if (!a->locked)		/* a tree that never had an upgrade */
		return 0;
	rc = inst_run_due(&a->f, &a->due, e) != 0 || (a->done && say_not_called(a, e) != 0) ? -1 : 0;
	if (!a->done || (rc != 0 && e->code == DRAY_E_WENT_BACK))
		return rc;
	if (rc != 0)
		inst_run_due_stopped(&a->f, &a->due, e);
	m = moment(a, &to);
	m.result = a->tx != NULL && inst_tx_between(a->tx) ? "phase" : "done";
	inst_hooksd_after(&a->f, INST_HOOK_AFTER_COMMIT, &m);
	return rc;
}

int
inst_carry_error(struct inst_carry *a, const struct dray_err *e)
{
	inst_hooksd_failed(&a->f, e);
	return inst_front_error(&a->f, e);
}

int
inst_carry_status(const struct inst_carry *a)
{
	if (!a->f.common.exit_detail)
		return 0;
	return !a->done ? 10 : a->reboot ? 11 : 0;
}

void
inst_carry_told(const struct inst_carry *a)
{
	inst_print_paths(&a->f, "changed by somebody else during the switch; left or kept in the stash:", &a->foreign);
	inst_due_say(&a->f);
	if (a->reboot)
		inst_say(&a->f, "boot files changed: a reboot is advised");
}

void
inst_carry_json(const struct inst_carry *a, struct dray_json *o)
{
	bool between = a->tx != NULL && inst_tx_between(a->tx);
	struct dray_json *f;

	dray_json_set_str(o, "result", !a->done ? "already" : between ? "phase" : "done");
	if (between)
		inst_phase_json(a->tx, o);
	dray_json_set_bool(o, "reboot", a->reboot);
	dray_json_set_int(o, "freed_generations", (int64_t)a->freed.generations);
	f = dray_json_set_arr(o, "foreign");
	for (size_t i = 0; i < a->foreign.n; i++)
		dray_json_push_str(f, a->foreign.paths[i]);
}
