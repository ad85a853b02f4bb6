/*
 * due_say.c - the triggers that wait, for people and for scripts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/trigger.h"

#include "installer/cmd.h"
#include "installer/due.h"

void
inst_due_line(const struct inst_front *f, const struct dray_json *entry)
{
	const struct dray_json *t = inst_due_trigger(entry);
	char *command = inst_command_of(f, t), quoted[DRAY_QUOTE_CAP(64)];
	const char *id = inst_due_id(t);

	inst_say(f, "  %s: %s", dray_quote(id, strlen(id), quoted, sizeof(quoted)), command != NULL ? command : "(out of memory)");
	free(command);
}

void
inst_say_output(const struct inst_front *f, const char *text)
{
	for (const char *p = text; *p != '\0';) {
		size_t len = strcspn(p, "\n");

		inst_say(f, "    %.*s", (int)len, p);
		p += len + (p[len] == '\n');
	}
}

void
inst_due_json(struct dray_json *list, const struct dray_json *entry)
{
	struct dray_json *o = dray_json_push_obj(list);
	const struct dray_json *t = inst_due_trigger(entry);
	const struct dray_json *argv;
	struct dray_err ignored;
	size_t n;

	dray_json_set_str(o, "id", inst_due_id(t));
	if (dray_json_arr(t, "argv", &argv, &n, "", &ignored) == 0)
		dray_json_set_copy(o, "argv", argv);
}

void
inst_due_say(const struct inst_front *f)
{
	struct dray_err e = { .code = DRAY_OK };
	struct inst_front bare = *f;
	struct dray_json *list;
	const char *why;
	size_t n;

	if (inst_due_load(&f->st, &list, &e) != 0) {
		inst_say(f, "what has to be run after upgrades cannot be told: %s", e.text);
		return;
	}
	n = dray_json_count(list);
	if (n > 0)
		inst_say(f, "%zu %s to be run on %s, for what depends on files that changed:", n, n == 1 ? "trigger has" : "triggers have",
		    f->root);
	for (size_t i = 0; i < n; i++)
		inst_due_line(f, dray_json_at(list, i));
	dray_json_free(list);
	bare.bundle = NULL;
	if (n > 0) {
		if ((why = inst_run_due_why(f)) != NULL && f->st.lock != -1)
			inst_say(f, "none was run, because %s", why);
		inst_say_command(&bare, "to run them", "triggers", inst_is_running_system(f) ? NULL : "--allow-chroot");
		inst_say_command(&bare, "if you have", "triggers", "--done");
	}
}

void
inst_due_planned(const struct inst_front *f, const struct inst_plan *p)
{
	size_t told = 0;

	for (size_t i = 0; i < p->desc->n_triggers; i++) {
		const struct dray_json *t = dray_json_at(p->desc->triggers, i);

		if (p->due[i] == 0)
			continue;
		if (told++ == 0)
			inst_say(f, inst_is_running_system(f) ? "after it, apply runs:" : "after it, apply runs with --allow-chroot:");
		inst_due_line(f, t);
		if (!inst_is_running_system(f) && dray_trigger_needs(t) == DRAY_NEEDS_ROOT_LIVE)
			inst_say(f, "    not here: it needs the running system, and waits for it");
	}
}

void
inst_due_planned_json(const struct inst_plan *p, struct dray_json *o)
{
	struct dray_json *list = dray_json_set_arr(o, "triggers_due");

	for (size_t i = 0; i < p->desc->n_triggers; i++)
		if (p->due[i] != 0)
			inst_due_json(list, dray_json_at(p->desc->triggers, i));
}
