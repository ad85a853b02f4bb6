/*
 * cmd_apply.c - dray-install apply: plan, stage, commit, finish. Until the commit record nothing live is changed.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"
#include "dray/path.h"

#include "installer/cmd.h"
#include "installer/stage.h"

struct applying {
	struct inst_front f;
	const char *plan_id;		/* --plan, or NULL */
	struct inst_plan *p;
	struct inst_tx *tx, *earlier;	/* @earlier: an interrupted staging whose files can be taken over */
	struct inst_foreign foreign;
	enum inst_pending recovered;
	bool done, reboot;
};

/* what an interrupted run left is finished first, so that there is one upgrade at a time */
static int
finish_pending(struct applying *a, struct dray_err *e)
{
	const char *what;

	if (inst_recover(&a->f.st, false, false, &a->recovered, &a->foreign, e) != 0)
		return dray_wrap(e, "finish what an earlier run began");
	if ((what = inst_pending_text(a->recovered)) != NULL)
		inst_say(&a->f, "%s; that is finished now", what);
	inst_print_paths(&a->f, "changed by somebody else meanwhile; left alone or kept in the stash:", &a->foreign);
	inst_foreign_free(&a->foreign);
	/* what is installed may have changed with it */
	return a->recovered == INST_PENDING_NONE ? 0 : inst_anchor_load(&a->f.st, &a->f.anchor, e);
}

static int
check_id(const struct applying *a, struct dray_err *e)
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

/* a plan that may go ahead. When room is short an earlier staging is given up for it. */
static int
make_plan(struct applying *a, struct dray_err *e)
{
	enum inst_pending did;

	for (int tries = 0; ; tries++) {
		if (inst_front_plan(&a->f, &a->p, e) != 0)
			return -1;
		assert(a->p != NULL);
		if (inst_front_floor(&a->f, a->p, e) != 0 || refuse_partial(a->p, e) != 0)
			return -1;
		if (inst_plan_verdict(a->p, e) == 0)
			break;
		if (e->code != DRAY_E_ROOM || tries > 0)
			return -1;
		if (inst_recover(&a->f.st, false, true, &did, &a->foreign, e) != 0)
			return -1;
		if (did == INST_PENDING_NONE)
			return inst_plan_verdict(a->p, e);
		dray_err_clear(e);
		inst_plan_free(a->p);
		a->p = NULL;
	}
	return check_id(a, e) != 0 ? -1 : inst_front_rights(&a->f, a->p, e);
}

static int
open_earlier(struct applying *a, struct dray_err *e)
{
	enum inst_pending what;
	uint32_t number;

	if (inst_pending(&a->f.st, &what, &number, e) != 0)
		return -1;
	return what == INST_PENDING_STAGED ? inst_tx_open(&a->f.st, number, false, &a->earlier, e) : 0;
}

static uint64_t
dirs_added_to(const struct inst_plan *p)
{
	uint64_t n = 0;

	/* an upper bound will do: it sizes the room that is kept for them */
	for (size_t i = 0; i < p->n_swaps; i++)
		n += p->ops[i].old.type == DRAY_ABSENT;
	return n;
}

static int
stopped(struct dray_err *e)
{
	if (tool_signal_seen() == 0)
		return 0;
	return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
}

static int
stage(struct applying *a, struct dray_err *e)
{
	struct tool_progress pr;
	struct inst_stage_opts o = { .threads = (unsigned)a->f.common.jobs, .reuse_dir = -1, .stop = tool_signal_seen,
	    .progress = tool_progress_at, .ctx = &pr };
	int rc;

	if (a->earlier != NULL)
		o.reuse_dir = a->earlier->dir;
	tool_progress_begin(&pr, &a->f.common, "staging", 0);
	rc = inst_stage(a->f.st.root, a->f.b, a->p, a->tx, &o, e);
	tool_progress_end(&pr);
	return rc;
}

/* from the plan to the end of the switch; @live: set once the decision may have been taken */
static int
carry_out(struct applying *a, bool *live, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(a->f.b);
	struct inst_installed to = { .known = true, .counter = d->counter };

	memcpy(to.product, d->product, sizeof(to.product));
	memcpy(to.version, d->version, sizeof(to.version));
	memcpy(to.id, dray_bundle_id(a->f.b), sizeof(to.id));
	if (open_earlier(a, e) != 0 || stopped(e) != 0 ||
	    inst_tx_create(&a->f.st, (uint32_t)a->p->n_swaps, dirs_added_to(a->p), &a->tx, e) != 0 || stage(a, e) != 0)
		return -1;
	if (a->earlier != NULL) {
		uint32_t number = a->earlier->number;

		inst_tx_close(a->earlier);
		a->earlier = NULL;
		if (inst_tx_drop(&a->f.st, number, e) != 0)
			return -1;
	}
	if (inst_state_keep_self(&a->f.st, e) != 0 || inst_tx_write_head(a->tx, a->f.b, e) != 0 ||
	    inst_plan_recheck(a->f.st.root, a->p, (unsigned)a->f.common.jobs, e) != 0 ||
	    inst_tx_write_plan(a->tx, a->p, &a->f.anchor.installed, &to, e) != 0 || stopped(e) != 0)
		return -1;
	*live = true;
	if (inst_commit(&a->f.st, a->tx, &a->foreign, e) != 0) {
		*live = a->tx->state != INST_TX_OPEN;
		return -1;
	}
	a->done = true;
	return inst_finish(&a->f.st, a->tx, e);
}

/* a staging that cannot be of use to the next run is not left behind */
static void
clean_up(struct applying *a, const struct dray_err *e)
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

static bool
touches_boot(const struct inst_plan *p)
{
	for (size_t i = 0; i < p->n_swaps; i++)
		if (dray_path_under(p->ops[i].path, p->ops[i].len, "boot", 4))
			return true;
	return false;
}

static void
summary(const struct applying *a)
{
	const struct dray_desc *d = dray_bundle_desc(a->f.b);
	const struct inst_plan *p = a->p;
	struct inst_front bare = a->f;

	if (!a->done) {
		inst_say(&a->f, "%s %s is there already: nothing to do on %s", d->product, d->version, a->f.root);
		inst_report_notes(&a->f, p);
	} else {
		inst_say(&a->f, "%s is now %s %s: %zu added, %zu updated, %zu removed, %zu other", a->f.root, d->product,
		    d->version, p->added, p->updated, p->removed, p->type_changed + p->meta_only);
		inst_report_notes(&a->f, p);
		inst_print_paths(&a->f, "changed by somebody else during the switch; left or kept in the stash:", &a->foreign);
		if (strcmp(a->f.root, "/") == 0)
			inst_say(&a->f, "after a power cut in an upgrade, run `dray-install resume` before anything else");
		if (a->reboot)
			inst_say(&a->f, "boot files changed: a reboot is advised");
	}
	bare.bundle = NULL;
	if (a->done)
		inst_say_command(&bare, "to go back", "rollback", NULL);
	else
		inst_say_command(&a->f, "to compare all of it", "check", NULL);
}

static int
print_json(const struct applying *a, struct dray_err *e)
{
	struct dray_json *o = dray_json_new_obj(), *f;

	inst_report_json(&a->f, a->p, o);
	dray_json_set_str(o, "result", a->done ? "done" : "already");
	dray_json_set_bool(o, "reboot", a->reboot);
	f = dray_json_set_arr(o, "foreign");
	for (size_t i = 0; i < a->foreign.n; i++)
		dray_json_push_str(f, a->foreign.paths[i]);
	return tool_json(o, e);
}

static int
run(struct applying *a, struct dray_err *e)
{
	bool live = false, locked;

	/* a tree without a state folder gets one only when there is something to do: a refusal leaves no trace */
	if (inst_front_bundle(&a->f, e) != 0 || inst_front_existing(&a->f, &locked, e) != 0 ||
	    (locked && finish_pending(a, e) != 0) || inst_front_fits(&a->f, e) != 0)
		return -1;
	if (make_plan(a, e) != 0) {
		if (a->p != NULL && !a->f.common.json)
			inst_report_notes(&a->f, a->p);
		return -1;
	}
	assert(a->p != NULL);
	if (a->p->n_ops > 0) {
		if (!locked) {
			inst_state_close(&a->f.st);
			if (inst_front_state(&a->f, true, e) != 0)
				return -1;
		}
		if (carry_out(a, &live, e) != 0) {
			if (!live) {
				dray_hint(e, "nothing live was changed");
				clean_up(a, e);
			}
			return -1;
		}
		a->reboot = strcmp(a->f.root, "/") == 0 && touches_boot(a->p);
	}
	summary(a);
	return a->f.common.json ? print_json(a, e) : 0;
}

int
inst_cmd_apply(int argc, char **argv, const struct tool_cmd *self)
{
	struct applying a;
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(a.f), INST_OPT_KEYRING(a.f),
		{ .name = "plan", .kind = TOOL_TEXT, .out = &a.plan_id, .arg = "ID",
		    .help = "only if the plan is still the one with this id" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	const char *operand[1];
	size_t n;
	int rc;

	memset(&a, 0, sizeof(a));
	inst_front_init(&a.f);
	if ((rc = tool_parse(argc, argv, self, opts, &a.f.common, 1, 1, operand, &n)) != -1)
		return rc;
	a.f.bundle = operand[0];
	if (a.plan_id != NULL && (strlen(a.plan_id) != 64 || strspn(a.plan_id, "0123456789abcdef") != 64)) {
		dray_fail(&e, DRAY_E_USAGE, "--plan: not a plan id");
		dray_hint(&e, "give the 64 digits that plan printed");
		return inst_front_error(&a.f, &e);
	}
	tool_signals();
	if (run(&a, &e) != 0)
		rc = inst_front_error(&a.f, &e);
	else if (!a.f.common.exit_detail)
		rc = 0;
	else
		rc = !a.done ? 10 : a.reboot ? 11 : 0;
	inst_tx_close(a.tx);
	inst_tx_close(a.earlier);
	inst_foreign_free(&a.foreign);
	inst_plan_free(a.p);
	inst_front_close(&a.f);
	return rc;
}
