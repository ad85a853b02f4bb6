/*
 * cmd_apply.c - dray-install apply: plan, stage, commit, finish. Until the commit record nothing live is changed.
 */
#include <assert.h>
#include <string.h>

#include "installer/carry.h"
#include "installer/fence.h"
#include "installer/release.h"

/* what the tree is now, and what to do next */
static void
summary(const struct inst_carry *a)
{
	const struct dray_desc *d = dray_bundle_desc(a->f.b);
	const struct inst_plan *p = a->p;
	struct inst_front bare = a->f, next = a->f;

	if (a->freed.generations > 0)
		inst_say(&a->f, "%zu old %s freed, the way back over %s with them", a->freed.generations,
		    a->freed.generations == 1 ? "generation" : "generations", a->freed.generations == 1 ? "it" : "them");
	if (a->tx != NULL && inst_tx_between(a->tx)) {
		inst_phase_say(&a->f, a->tx);
		if (p != NULL)
			inst_report_notes(&a->f, p);
		inst_carry_told(a);
		next.phase = a->tx->phases[a->tx->done];
		inst_say_command(&next, "next", "apply", NULL);
	} else if (p == NULL) {
		inst_say(&a->f, "%s is now %s %s", a->f.root, d->product, d->version);
		inst_carry_told(a);
	} else if (!a->done) {
		inst_say(&a->f, "%s %s is there already: nothing to do on %s", d->product, d->version, a->f.root);
		inst_report_notes(&a->f, p);
	} else {
		inst_say(&a->f, "%s is now %s %s: %zu added, %zu updated, %zu removed, %zu other", a->f.root, d->product,
		    d->version, p->added, p->updated, p->removed, p->type_changed + p->meta_only);
		inst_report_notes(&a->f, p);
		inst_carry_told(a);
	}
	bare.bundle = NULL;
	if (a->done && a->keep > 0)
		inst_say_command(&bare, "to go back", "rollback", NULL);
	else
		inst_say_command(&a->f, "to compare all of it", "check", NULL);
}

static int
tell(struct inst_carry *a, struct dray_err *e)
{
	struct dray_json *o = a->f.common.json ? dray_json_new_obj() : NULL;

	summary(a);
	if (o != NULL && a->p != NULL)
		inst_report_json(&a->f, a->p, o);
	if (o != NULL)
		inst_carry_json(a, o);
	return inst_run_due_told(&a->f, &a->due, o, e);
}

/* another choice of components that changes nothing in the tree is kept all the same, for check and the next upgrade */
static int
keep_choice(struct inst_carry *a, const struct inst_installed *to, struct dray_err *e)
{
	struct inst_installed *in = &a->f.anchor.installed;

	if (a->done || !a->locked || !in->known || memcmp(in->id, to->id, sizeof(in->id)) != 0 ||
	    (a->f.components == NULL && a->f.without == NULL))
		return 0;
	in->n_components = to->n_components;
	memcpy(in->components, to->components, sizeof(in->components));
	return inst_anchor_save(&a->f.st, &a->f.anchor, e);
}

static int
run(struct inst_carry *a, struct dray_err *e)
{
	struct inst_installed to;

	if (inst_carry_begin(a, e) != 0 || inst_front_fits(&a->f, e) != 0)
		return -1;
	if (a->tx != NULL)
		return inst_carry_go_on(a, e) == 0 && inst_carry_triggers(a, e) == 0 && inst_carry_keep(a, e) == 0 ? tell(a, e) : -1;
	if (inst_carry_plan(a, e) != 0) {
		if (a->p != NULL && !a->f.common.json)
			inst_report_notes(&a->f, a->p);
		return -1;
	}
	assert(a->p != NULL);
	inst_installed_of(a->f.b, &to);
	to.no_owner = a->p->no_owner;
	inst_components_record(dray_bundle_desc(a->f.b), a->p->absent, &to);
	if (inst_release_digest(dray_bundle_index(a->f.b), to.release, e) != 0)
		return -1;
	return inst_carry_out(a, &to, true, e) == 0 && keep_choice(a, &to, e) == 0 && inst_carry_triggers(a, e) == 0 &&
	    inst_carry_keep(a, e) == 0 ? tell(a, e) : -1;
}

int
inst_cmd_apply(int argc, char **argv, const struct tool_cmd *self)
{
	struct inst_carry a;
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(a.f), INST_OPT_KEYRING(a.f), TOOL_OPT_DIR((a.f).dirs), INST_OPTS_POLICY(a.f), INST_OPTS_CARRY(a),
		{ .name = "plan", .kind = TOOL_TEXT, .out = &a.plan_id, .arg = "ID",
		    .help = "only if the plan is still the one with this id" },
		{ .name = "keep", .kind = TOOL_NUMBER, .out = &a.keep, .min = 0, .max = 1000000, .arg = "N",
		    .help = "free old generations afterwards, but for the newest N" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	const char *operand[1];
	size_t n;
	int rc;

	inst_carry_init(&a, "apply");
	if ((rc = tool_parse(argc, argv, self, opts, &a.f.common, 1, 1, operand, &n)) != -1)
		return rc;
	a.f.bundle = operand[0];
	a.rules = true;
	tool_signals();
	rc = inst_carry_id_ok(&a, &e) == 0 && inst_fence_programs(&a.f, &e) == 0 && inst_policy_read(&a.f, &e) == 0 &&
	    run(&a, &e) == 0 ? inst_carry_status(&a) : inst_carry_error(&a, &e);
	inst_carry_close(&a);
	return rc;
}
