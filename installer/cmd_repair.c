/*
 * cmd_repair.c - dray-install repair: what differs from the release that is installed becomes again what it says, from a
 * bundle of that release, by the same way from plan to commit as an upgrade.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "tool/look.h"

#include "installer/carry.h"
#include "installer/check_report.h"
#include "installer/fence.h"
#include "installer/release.h"
#include "installer/repair.h"

struct repairing {
	struct inst_carry a;
	bool dry_run;
	struct inst_check c;
	uint8_t *chosen;		/* per entry row */
	size_t n;			/* rows chosen */
};

/* the release of the bundle has to be the one that is installed, not merely one of its name */
static int
refuse_other(const struct inst_front *f, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	const struct inst_installed *have = &f->anchor.installed;
	static const uint8_t unknown[32];
	uint8_t release[32];

	if (!have->known) {
		dray_fail(e, DRAY_E_SYSTEM, "nothing is recorded as installed on %s", f->root);
		return dray_hint(e, "repair brings back what an upgrade made; to install the bundle, use apply");
	}
	if (strcmp(have->product, d->product) != 0 || strcmp(have->version, d->version) != 0 || have->counter != d->counter) {
		dray_fail(e, DRAY_E_SYSTEM, "the bundle is %s %s (release counter %" PRIu64 "), but %s has %s %s (%" PRIu64 ")",
		    d->product, d->version, d->counter, f->root, have->product, have->version, have->counter);
		return dray_hint(e, "nothing was changed; take a bundle of what is installed, or upgrade with apply");
	}
	if (memcmp(have->release, unknown, sizeof(unknown)) == 0)
		return 0;
	if (inst_release_digest(dray_bundle_index(f->b), release, e) != 0)
		return -1;
	if (memcmp(have->release, release, sizeof(release)) == 0)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "the bundle's %s %s is another release than the one of that name on %s", d->product,
	    d->version, f->root);
	return dray_hint(e, "nothing was changed; take the bundle that was installed, or one of the same tree");
}

/* what the tree lacks of the release, and what of that shall be done */
static int
look(struct repairing *r, struct dray_err *e)
{
	struct inst_front *f = &r->a.f;
	const struct dray_index *ix = dray_bundle_index(f->b);
	struct inst_check_opts o = { .quick = false };
	uint8_t *named = NULL;
	size_t unread;
	int rc = -1;

	f->policy.no_owner = f->anchor.installed.no_owner;
	if (f->n_paths > 0 && (named = calloc((size_t)dray_index_rows(ix, DRAY_T_ENTRIES) + 1, 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < f->n_paths; i++)
		if (tool_mark_path(ix, f->paths[i], true, 1, named, e) != 0)
			goto out;
	if (inst_check_run(f, o, &r->c, e) != 0)
		goto out;
	if ((r->chosen = inst_repair_choose(&r->c, named, &r->n, &unread)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (unread > 0) {
		dray_fail(e, DRAY_E_SYSTEM, "%zu of %zu entries could not be checked by this user", unread, r->c.entries);
		dray_hint(e, "nothing was changed; run it as root");
		goto out;
	}
	f->policy.repair = r->chosen;
	f->policy.named = f->n_paths;
	rc = 0;
out:
	free(named);
	return rc;
}

static void
say_nothing(const struct inst_front *f)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	inst_say(f, "%s is %s %s: nothing to repair%s", f->root, d->product, d->version, f->n_paths > 0 ? " there" : "");
	inst_say_command(f, "next", "status", NULL);
}

/* @result: NULL for a dry run that found something to do */
static int
print_json(struct repairing *r, const char *result, bool refused, struct dray_err *e)
{
	struct inst_front *f = &r->a.f;
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct dray_json *o = dray_json_new_obj();
	struct dray_err printing = { .code = DRAY_OK };
	int rc = 0;

	if (r->a.p != NULL) {
		inst_report_json(f, r->a.p, o);
	} else {
		dray_json_set_str(o, "product", d->product);
		dray_json_set_str(o, "version", d->version);
	}
	if (result == NULL)
		dray_json_set_str(o, "result", "planned");
	else if (r->a.p != NULL)
		inst_carry_json(&r->a, o);
	else
		dray_json_set_str(o, "result", result);
	inst_check_json_chosen(f, &r->c, r->chosen, o);
	if (refused)
		inst_json_error(f, o, e);
	else if (r->a.p != NULL && result != NULL)
		rc = inst_run_due_json(f, &r->a.due, o, e);
	if (tool_json(o, &printing) == 0)
		return rc;
	*e = printing;
	return -1;
}

static int
nothing(struct repairing *r, struct dray_err *e)
{
	if (r->a.f.common.json)
		return print_json(r, "already", false, e);
	inst_check_say_chosen(&r->a.f, &r->c, r->chosen, NULL);
	inst_check_say_absent(&r->a.f, &r->c);
	say_nothing(&r->a.f);
	return 0;
}

static int
plan_only(struct repairing *r, struct dray_err *e)
{
	struct inst_front *f = &r->a.f;
	char hex[65], more[80];
	int refused;

	if (inst_front_bundle(f, e) != 0 || inst_front_look(f, e) != 0 || inst_front_idle(f, e) != 0 ||
	    refuse_other(f, e) != 0 || look(r, e) != 0)
		return -1;
	if (r->n == 0)
		return nothing(r, e);
	if (inst_front_plan(f, &r->a.p, e) != 0)
		return -1;
	refused = inst_plan_verdict(r->a.p, e);
	if (f->common.json)
		return print_json(r, NULL, refused != 0, e) != 0 ? -1 : refused;
	inst_check_say_chosen(f, &r->c, r->chosen, "to be repaired:");
	inst_report_text(f, r->a.p);
	if (refused != 0)
		return -1;
	snprintf(more, sizeof(more), "--plan %s", dray_hex(r->a.p->id, 32, hex));
	inst_say_command(f, "next", "repair", more);
	return 0;
}

static void
summary(const struct repairing *r)
{
	const struct inst_front *f = &r->a.f;
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct inst_front bare = *f;

	inst_report_notes(f, r->a.p);
	if (!r->a.done) {
		say_nothing(f);
		return;
	}
	inst_carry_told(&r->a);
	inst_say(f, "%zu %s of %s %s on %s %s repaired", r->n, r->n == 1 ? "path" : "paths", d->product, d->version, f->root,
	    r->n == 1 ? "is" : "are");
	bare.bundle = NULL;
	inst_say_command(&bare, "to go back", "rollback", NULL);
}

static int
repair(struct repairing *r, struct dray_err *e)
{
	struct inst_front *f = &r->a.f;
	struct inst_installed same;

	if (inst_carry_begin(&r->a, e) != 0)
		return -1;
	if (r->a.tx != NULL)
		return inst_phase_refuse(f, r->a.tx, e);
	if (refuse_other(f, e) != 0 || look(r, e) != 0)
		return -1;
	if (r->n == 0)
		return nothing(r, e);
	if (!f->common.json)
		inst_check_say_chosen(f, &r->c, r->chosen, "to be repaired:");
	if (inst_carry_plan(&r->a, e) != 0) {
		if (r->a.p != NULL && !f->common.json)
			inst_report_notes(f, r->a.p);
		return -1;
	}
	assert(r->a.p != NULL);
	/* what is recorded stays as it is: a repair is no other release, and the record of this one is there */
	same = f->anchor.installed;
	if (inst_carry_out(&r->a, &same, false, e) != 0 || inst_carry_triggers(&r->a, e) != 0)
		return -1;
	summary(r);
	return f->common.json ? print_json(r, "", false, e) : inst_run_due_end(f, &r->a.due, e);
}

int
inst_cmd_repair(int argc, char **argv, const struct tool_cmd *self)
{
	struct repairing r = { .dry_run = false };
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(r.a.f), INST_OPT_KEYRING(r.a.f), TOOL_OPT_DIR((r.a.f).dirs), INST_OPTS_CARRY(r.a),
		{ .name = "dry-run", .letter = 'n', .kind = TOOL_FLAG, .out = &r.dry_run, .help = "show what would be done" },
		{ .name = "plan", .kind = TOOL_TEXT, .out = &r.a.plan_id, .arg = "ID",
		    .help = "only if the plan is still the one with this id" },
		{ .name = "park", .kind = TOOL_FLAG, .out = &r.a.f.policy.park,
		    .help = "local files in a directory that has to give way go into the stash" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	const char **operand = calloc((size_t)argc + 1, sizeof(*operand));
	size_t n;
	int rc;

	inst_carry_init(&r.a, "repair");
	if (operand == NULL) {
		dray_fail(&e, DRAY_E_IO, "out of memory");
		return inst_front_error(&r.a.f, &e);
	}
	if ((rc = tool_parse(argc, argv, self, opts, &r.a.f.common, 1, (size_t)argc, operand, &n)) != -1) {
		free(operand);
		return rc;
	}
	r.a.f.bundle = operand[0];
	r.a.f.paths = operand + 1;
	r.a.f.n_paths = n - 1;
	tool_signals();
	if (inst_carry_id_ok(&r.a, &e) != 0)
		rc = -1;
	else if (r.dry_run) {
		inst_fence(&r.a.f, INST_NEEDS_NOTHING, NULL);
		rc = plan_only(&r, &e);
	} else {
		rc = inst_fence_programs(&r.a.f, &e) == 0 && repair(&r, &e) == 0 ? 0 : -1;
	}
	rc = rc != 0 ? inst_carry_error(&r.a, &e) : r.dry_run ? 0 : inst_carry_status(&r.a);
	inst_carry_close(&r.a);
	inst_check_free(&r.c);
	free(r.chosen);
	free(operand);
	return rc;
}
