/*
 * cmd_triggers.c - dray-install triggers: run what waits since upgrades, or take it as done. Each one is recorded at its end,
 * so a run that is killed leaves those waiting that have no record.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/trigger.h"

#include "installer/cmd.h"
#include "installer/due.h"
#include "installer/run_trigger.h"
#include "installer/switch.h"

struct triggering {
	struct inst_front f;
	const char **ids;		/* those named; n_ids 0: all that wait */
	size_t n_ids;
	bool done, allow_chroot;
	struct dray_json *list;		/* what waited at the begin */
	bool *failed;			/* by number in it */
	struct dray_json *told;		/* "triggers" of the document */
	size_t ran, bad, skipped;
	char first_bad[80];
	struct dray_err why;		/* of the first failure */
};

static bool
wanted(const struct triggering *t, size_t i)
{
	bool named = t->n_ids == 0;

	for (size_t k = 0; k < t->n_ids; k++)
		named |= strcmp(t->ids[k], inst_due_id(dray_json_at(t->list, i))) == 0;
	return named;
}

static int
check_ids(const struct triggering *t, struct dray_err *e)
{
	char quoted[200];

	for (size_t k = 0; k < t->n_ids; k++) {
		size_t i = 0;

		while (i < dray_json_count(t->list) && strcmp(t->ids[k], inst_due_id(dray_json_at(t->list, i))) != 0)
			i++;
		if (i < dray_json_count(t->list))
			continue;
		dray_fail(e, DRAY_E_USAGE, "no trigger \"%s\" waits on %s", dray_quote(t->ids[k], strlen(t->ids[k]), quoted,
		    sizeof(quoted)), t->f.root);
		return dray_hint(e, "status lists those that wait");
	}
	return 0;
}

/* does it come after one that has failed in this run, or was left out for that? */
static bool
lacks(const struct triggering *t, size_t i)
{
	const struct dray_json *after, *one = dray_json_at(t->list, i);
	struct dray_err ignored;
	const char *id;
	size_t n, len;

	if (!dray_json_has(one, "after") || dray_json_arr(one, "after", &after, &n, "", &ignored) != 0)
		return false;
	for (size_t k = 0; k < n; k++)
		for (size_t j = 0; j < i; j++)
			if (t->failed[j] && (id = dray_json_text(dray_json_at(after, k), &len)) != NULL &&
			    strcmp(id, inst_due_id(dray_json_at(t->list, j))) == 0)
				return true;
	return false;
}

/* what is known of it after it ran, in all places that keep it; it waits no more if it did what it should */
static int
settle(struct triggering *t, const struct dray_json *one, const struct inst_trigger_end *r, struct dray_err *e)
{
	const char *id = inst_due_id(one);
	struct dray_json *o = dray_json_push_obj(t->told);

	dray_json_set_str(o, "id", id);
	dray_json_set_str(o, "result", r == NULL ? "taken-as-done" : r->code == DRAY_OK ? "done" : "failed");
	if (r != NULL)
		dray_json_set_str(o, "output", r->output);
	if (inst_evidence_trigger(&t->f.st, id, r, &t->f.anchor, e) != 0)
		return -1;
	return r == NULL || r->code == DRAY_OK ? inst_due_done(&t->f.st, id, e) : 0;
}

static int
run_one(struct triggering *t, size_t i, struct dray_err *e)
{
	const struct dray_json *one = dray_json_at(t->list, i);
	const char *id = inst_due_id(one);
	struct inst_trigger_end r;
	int rc;

	inst_due_line(&t->f, one);
	if (inst_trigger_run(&t->f.st, one, strcmp(t->f.root, "/") != 0, &r, e) != 0)
		return e->code == DRAY_E_SIGNAL ? dray_hint(e, "those that have no record wait; run it again") : -1;
	if (r.output[0] != '\0')
		inst_say_output(&t->f, r.output);
	t->ran++;
	if (r.code != DRAY_OK) {
		t->failed[i] = true;
		inst_say(&t->f, "  %s: %s", id, r.why);
		if (t->bad++ == 0) {
			snprintf(t->first_bad, sizeof(t->first_bad), "%s", id);
			dray_fail(&t->why, DRAY_E_TRIGGER, "%s: %s", id, r.why);
		}
	}
	rc = settle(t, one, &r, e);
	inst_trigger_end_free(&r);
	return rc;
}

static int
run_all(struct triggering *t, struct dray_err *e)
{
	size_t n = dray_json_count(t->list);

	if (strcmp(t->f.root, "/") != 0 && !t->allow_chroot) {
		dray_fail(e, DRAY_E_SYSTEM, "programs of %s run in a chroot alone, and that was not allowed", t->f.root);
		return dray_hint(e, "give --allow-chroot if you trust what is in it, run them there yourself, or see --done");
	}
	if (geteuid() != 0) {
		dray_fail(e, DRAY_E_SYSTEM, "only root can run them");
		return dray_hint(e, "run it as root, or what it lists by hand, and then triggers --done");
	}
	for (size_t i = 0; i < n; i++) {
		if (!wanted(t, i))
			continue;
		if (lacks(t, i)) {
			t->failed[i] = true;
			t->skipped++;
			inst_say(&t->f, "  %s: not run, because it comes after one that failed", inst_due_id(dray_json_at(t->list, i)));
			continue;
		}
		if (run_one(t, i, e) != 0)
			return -1;
	}
	return 0;
}

static int
take_as_done(struct triggering *t, struct dray_err *e)
{
	for (size_t i = 0; i < dray_json_count(t->list); i++)
		if (wanted(t, i)) {
			if (settle(t, dray_json_at(t->list, i), NULL, e) != 0)
				return -1;
			t->ran++;
		}
	inst_say(&t->f, "%zu %s as done on %s", t->ran, t->ran == 1 ? "trigger is taken" : "triggers are taken", t->f.root);
	return 0;
}

/* what is half-way comes first: it may change what has to be run */
static int
check_pending(const struct triggering *t, struct dray_err *e)
{
	enum inst_pending what;
	uint32_t number;

	if (inst_pending(&t->f.st, &what, &number, e) != 0)
		return -1;
	if (what == INST_PENDING_BETWEEN || what == INST_PENDING_FORGET || inst_pending_text(what) == NULL)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%s on %s", inst_pending_text(what), t->f.root);
	return dray_hint(e, "finish it first: dray-install resume");
}

static int
tell(struct triggering *t, struct dray_err *e)
{
	struct dray_json *o, *list, *a;
	int rc = 0;

	if (t->bad > 0) {
		*e = t->why;
		if (t->bad > 1)
			dray_wrap(e, "%zu triggers failed; the first", t->bad);
		dray_hint(e, "repair the cause and run it again; what was done waits no more");
	}
	if (!t->f.common.json)
		return t->bad > 0 ? -1 : 0;
	o = dray_json_new_obj();
	dray_json_set_copy(o, "triggers", t->told);
	a = dray_json_set_arr(o, "triggers_due");
	if (inst_due_load(&t->f.st, &list, e) != 0) {
		dray_json_free(o);
		return -1;
	}
	for (size_t i = 0; i < dray_json_count(list); i++)
		inst_due_json(a, dray_json_at(list, i));
	dray_json_free(list);
	if (t->bad > 0)
		inst_json_error(&t->f, o, e);
	rc = tool_json(o, e);
	return t->bad > 0 || rc != 0 ? -1 : 0;
}

static int
run(struct triggering *t, struct dray_err *e)
{
	bool there;
	int rc;

	if (inst_front_existing(&t->f, &there, e) != 0 || (there && check_pending(t, e) != 0) ||
	    inst_due_load(&t->f.st, &t->list, e) != 0 || check_ids(t, e) != 0)
		return -1;
	if ((t->failed = calloc(dray_json_count(t->list) + 1, sizeof(*t->failed))) == NULL ||
	    (t->told = dray_json_new_arr()) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (dray_json_count(t->list) == 0) {
		inst_say(&t->f, "no trigger waits on %s: nothing to do", t->f.root);
		return tell(t, e);
	}
	rc = t->done ? take_as_done(t, e) : run_all(t, e);
	if (rc != 0)
		return -1;
	if (!t->done && t->bad == 0)
		inst_say(&t->f, "%zu %s run on %s", t->ran, t->ran == 1 ? "trigger was" : "triggers were", t->f.root);
	return tell(t, e);
}

int
inst_cmd_triggers(int argc, char **argv, const struct tool_cmd *self)
{
	struct triggering t = { .done = false };
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(t.f),
		{ .name = "done", .kind = TOOL_FLAG, .out = &t.done, .help = "run nothing: somebody has done what they are for" },
		{ .name = "allow-chroot", .kind = TOOL_FLAG, .out = &t.allow_chroot,
		    .help = "with --root: run programs of that tree, as root, in a chroot" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	int rc;

	inst_front_init(&t.f, "triggers");
	if ((t.ids = calloc((size_t)argc + 1, sizeof(const char *))) == NULL) {
		dray_fail(&e, DRAY_E_IO, "out of memory");
		return inst_front_error(&t.f, &e);
	}
	if ((rc = tool_parse(argc, argv, self, opts, &t.f.common, 0, (size_t)argc, t.ids, &t.n_ids)) == -1) {
		if (t.done)
			inst_run_option(&t.f.run, "done");
		tool_signals();
		rc = run(&t, &e) == 0 ? 0 : inst_front_error(&t.f, &e);
		inst_say_torn(&t.f);
		inst_front_close(&t.f);
	}
	dray_json_free(t.list);
	dray_json_free(t.told);
	free(t.failed);
	free(t.ids);
	return rc;
}
