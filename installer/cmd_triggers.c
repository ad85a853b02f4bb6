/*
 * cmd_triggers.c - dray-install triggers: run what waits since upgrades, or take it as done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installer/cmd.h"
#include "installer/due.h"
#include "installer/fence.h"

struct triggering {
	struct inst_front f;
	const char **ids;		/* those named; n_ids 0: all that wait */
	size_t n_ids;
	bool done;
	struct inst_run_due due;
};

static int
check_ids(const struct triggering *t, const struct dray_json *list, struct dray_err *e)
{
	char quoted[200];

	for (size_t k = 0; k < t->n_ids; k++) {
		size_t i = 0;

		while (i < dray_json_count(list) && strcmp(t->ids[k], inst_due_id(inst_due_trigger(dray_json_at(list, i)))) != 0)
			i++;
		if (i < dray_json_count(list))
			continue;
		dray_fail(e, DRAY_E_USAGE, "no trigger \"%s\" waits on %s", dray_quote(t->ids[k], strlen(t->ids[k]), quoted,
		    sizeof(quoted)), t->f.root);
		return dray_hint(e, "status lists those that wait");
	}
	return 0;
}

static int
refuse(const struct triggering *t, struct dray_err *e)
{
	const char *why = inst_run_due_why(&t->f);

	if (why == NULL)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%s", why);
	return geteuid() != 0 ? dray_hint(e, "run it as root, or what it lists by hand, and then triggers --done") :
	    dray_hint(e, "give --allow-chroot if you trust what is in it, run them there yourself, or see --done");
}

static int
take_one(struct triggering *t, const char *id, struct dray_err *e)
{
	struct dray_json *o = dray_json_push_obj(t->due.told);

	dray_json_set_str(o, "id", id);
	dray_json_set_str(o, "result", "taken-as-done");
	t->due.ran++;
	return inst_evidence_trigger(&t->f.st, id, NULL, &t->f.anchor, e) != 0 ? -1 : inst_due_ended(&t->f.st, id, true, e);
}

static int
take_as_done(struct triggering *t, const struct dray_json *list, struct dray_err *e)
{
	if ((t->due.told = dray_json_new_arr()) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < dray_json_count(list); i++) {
		const char *id = inst_due_id(inst_due_trigger(dray_json_at(list, i)));
		bool named = t->n_ids == 0;

		for (size_t k = 0; k < t->n_ids; k++)
			named |= strcmp(t->ids[k], id) == 0;
		if (named && take_one(t, id, e) != 0)
			return -1;
	}
	inst_say(&t->f, "%zu %s as done on %s", t->due.ran, t->due.ran == 1 ? "trigger is taken" : "triggers are taken", t->f.root);
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
work(struct triggering *t, const struct dray_json *list, struct dray_err *e)
{
	if (check_ids(t, list, e) != 0)
		return -1;
	if (dray_json_count(list) == 0)
		inst_say(&t->f, "no trigger waits on %s: nothing to do", t->f.root);
	else if (t->done ? take_as_done(t, list, e) != 0 : refuse(t, e) != 0 || inst_run_due(&t->f, &t->due, e) != 0)
		return -1;
	else if (!t->done && t->due.bad + t->due.warned == 0)
		inst_say(&t->f, "%zu %s run on %s", t->due.ran, t->due.ran == 1 ? "trigger was" : "triggers were", t->f.root);
	if (t->due.ran > 0 && t->due.bad + t->due.warned == 0)
		inst_say_command(&t->f, "next", "status", NULL);
	return inst_run_due_told(&t->f, &t->due, t->f.common.json ? dray_json_new_obj() : NULL, e);
}

static int
run(struct triggering *t, struct dray_err *e)
{
	struct dray_json *list;
	bool there;
	int rc;

	if (inst_front_existing(&t->f, &there, e) != 0 || inst_fence_seal(&t->f, false, e) != 0 || (there && check_pending(t, e) != 0) ||
	    inst_due_load(&t->f.st, &list, e) != 0)
		return -1;
	t->due.ids = t->ids;
	t->due.n_ids = t->n_ids;
	t->due.again = true;
	rc = work(t, list, e);
	dray_json_free(list);
	return rc;
}

int
inst_cmd_triggers(int argc, char **argv, const struct tool_cmd *self)
{
	struct triggering t = { .done = false };
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(t.f),
		{ .name = "done", .kind = TOOL_FLAG, .out = &t.done, .help = "run nothing: somebody has done what they are for" },
		{ .name = "allow-chroot", .kind = TOOL_FLAG, .out = &t.f.allow_chroot,
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
		inst_fence(&t.f, t.done ? INST_NEEDS_TREE : INST_NEEDS_PROGRAMS, NULL);
		rc = run(&t, &e) == 0 ? 0 : inst_front_error(&t.f, &e);
		inst_say_torn(&t.f);
		inst_front_close(&t.f);
	}
	inst_run_due_free(&t.due);
	free(t.ids);
	return rc;
}
