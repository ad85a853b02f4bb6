/*
 * cmd_plan.c - dray-install plan: what apply would do here, without doing anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "installer/cmd.h"
#include "installer/fence.h"

static int
run(struct inst_front *f, struct dray_err *e)
{
	struct inst_plan *p = NULL;
	struct dray_json *o = NULL;
	char hex[65], more[80];
	int refused, rc = -1;

	if (inst_front_bundle(f, e) != 0 || inst_front_look(f, e) != 0 || inst_phase_read(f, e) != 0 ||
	    inst_front_idle(f, e) != 0 || inst_front_fits(f, e) != 0 || inst_front_plan(f, &p, e) != 0)
		goto out;
	if (inst_front_floor(f, p, e) != 0 || inst_phase_in_order(f, p->ops, p->n_ops, 0, e) != 0)
		goto out;
	refused = inst_plan_verdict(p, e);
	if (!f->common.json) {
		inst_report_text(f, p);
	} else {
		struct dray_err printing = { .code = DRAY_OK };

		o = dray_json_new_obj();
		inst_report_json(f, p, o);
		if (refused != 0)
			inst_json_error(f, o, e);
		if (tool_json(o, &printing) != 0) {
			*e = printing;
			goto out;
		}
	}
	if (refused != 0)
		goto out;
	if (p->partial) {
		inst_say(f, "the plan is partial and has no id; run it as root to see everything");
	} else if (p->n_ops == 0) {
		inst_say(f, "nothing to do: everything is as the release wants it, or left alone");
	} else {
		snprintf(more, sizeof(more), "--plan %s", dray_hex(p->id, 32, hex));
		inst_say_command(f, "next", "apply", more);
	}
	rc = 0;
out:
	inst_plan_free(p);
	return rc;
}

int
inst_cmd_plan(int argc, char **argv, const struct tool_cmd *self)
{
	struct inst_front f;
	struct tool_opt opts[] = { INST_OPTS_ROOT(f), INST_OPT_KEYRING(f), TOOL_OPT_DIR((f).dirs), INST_OPTS_POLICY(f), { .name = NULL } };
	struct dray_err e = { .code = DRAY_OK };
	const char *operand[1];
	size_t n;
	int rc;

	inst_front_init(&f, "plan");
	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 1, 1, operand, &n)) != -1)
		return rc;
	f.bundle = operand[0];
	tool_signals();
	inst_fence(&f, INST_NEEDS_NOTHING, NULL);
	rc = inst_policy_read(&f, &e) == 0 && run(&f, &e) == 0 ? 0 : inst_front_error(&f, &e);
	inst_front_close(&f);
	return rc;
}
