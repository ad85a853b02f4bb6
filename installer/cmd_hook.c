/*
 * cmd_hook.c - dray-install hook install, remove, status: have a boot finish what was interrupted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/json.h"

#include "installer/cmd.h"
#include "installer/fence.h"
#include "installer/hook.h"

struct hooking {
	struct inst_front f;
	const char *init;		/* --init, or NULL */
	enum inst_hook_kind kind;
	struct inst_hook h;
};

static const char *const file_state[] = { [INST_HOOK_ABSENT] = "absent", [INST_HOOK_OURS] = "installed",
	[INST_HOOK_OLDER] = "older", [INST_HOOK_FOREIGN] = "foreign" };

static int
look(struct hooking *k, struct dray_err *e)
{
	return inst_hook_look(&k->f.st, k->kind, &k->h, e);
}

static int
print_json(const struct hooking *k, struct dray_err *e)
{
	struct dray_json *o = dray_json_new_obj(), *list, *one;

	dray_json_set_str(o, "kind", inst_hook_name(k->h.kind));
	dray_json_set_bool(o, "installed", inst_hook_whole(&k->h));
	list = dray_json_set_arr(o, "files");
	for (size_t i = 0; i < k->h.n; i++) {
		one = dray_json_push_obj(list);
		dray_json_set_str(one, "path", k->h.files[i].path);
		dray_json_set_str(one, "state", file_state[k->h.files[i].state]);
	}
	return tool_json(o, e) == 0 ? 0 : -1;
}

static int
refuse_unknown(const struct hooking *k, struct dray_err *e)
{
	if (k->h.kind != INST_HOOK_NONE)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%s has neither systemd nor FreeBSD's rc", k->f.root);
	return dray_hint(e, "have its boot call /%s/dray-install resume, or name one of them with --init", k->f.st.rel);
}

static int
install(struct hooking *k, struct dray_err *e)
{
	struct dray_json *made = dray_json_new_arr();
	char below[sizeof(k->f.st.rel) + 2];
	int rc = -1;

	/* first without a trace: a refusal makes no state folder */
	if (inst_front_state(&k->f, false, e) != 0 || look(k, e) != 0 || refuse_unknown(k, e) != 0 ||
	    inst_hook_refuse(&k->h, e) != 0)
		goto out;
	snprintf(below, sizeof(below), "%s/", k->f.st.rel);
	if (inst_hook_missing(&k->f.st, below, made, e) != 0)
		goto out;
	inst_state_close(&k->f.st);
	if (inst_front_state(&k->f, true, e) != 0 || inst_hook_install(&k->f.st, &k->h, made, e) != 0 || look(k, e) != 0)
		goto out;
	inst_say(&k->f, "from the next boot on, %s finishes an interrupted upgrade before its services start", k->f.root);
	for (size_t i = 0; i < k->h.n; i++)
		inst_say(&k->f, "  %s", k->h.files[i].path);
	inst_say_command(&k->f, "to take it away", "hook remove", NULL);
	rc = k->f.common.json ? print_json(k, e) : 0;
out:
	dray_json_free(made);
	return rc;
}

static int
take_away(struct hooking *k, struct dray_err *e)
{
	bool there;

	if (inst_front_existing(&k->f, &there, e) != 0 || look(k, e) != 0 || inst_hook_refuse(&k->h, e) != 0)
		return -1;
	if (there && (inst_hook_remove(&k->f.st, &k->h, e) != 0 || look(k, e) != 0))
		return -1;
	inst_say(&k->f, there ? "no boot hook is on %s any more" : "no boot hook is on %s: nothing to do", k->f.root);
	if (there)
		inst_say_command(&k->f, "to have it back", "hook install", NULL);
	return k->f.common.json ? print_json(k, e) : 0;
}

static int
status(struct hooking *k, struct dray_err *e)
{
	if (inst_front_state(&k->f, false, e) != 0 || look(k, e) != 0)
		return -1;
	if (k->f.common.json)
		return print_json(k, e);
	if (k->h.kind == INST_HOOK_NONE)
		inst_say(&k->f, "%s has no init that this program knows: no boot hook", k->f.root);
	else
		inst_say(&k->f, "boot hook for %s: %s", inst_hook_name(k->h.kind),
		    inst_hook_whole(&k->h) ? "installed" : "not installed");
	for (size_t i = 0; i < k->h.n; i++)
		inst_say(&k->f, "  %s: %s", k->h.files[i].path, file_state[k->h.files[i].state]);
	if (k->h.kind != INST_HOOK_NONE && !inst_hook_whole(&k->h))
		inst_say_command(&k->f, "to install it", "hook install", NULL);
	else if (k->h.kind != INST_HOOK_NONE)
		inst_say_command(&k->f, "to take it away", "hook remove", NULL);
	else
		inst_say(&k->f, "next: have its boot call /%s/dray-install resume", k->f.st.rel);
	return 0;
}

static int
run(int argc, char **argv, const struct tool_cmd *self, int (*what)(struct hooking *, struct dray_err *))
{
	struct hooking k = { .init = NULL };
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(k.f),
		{ .name = "init", .kind = TOOL_TEXT, .out = &k.init, .arg = "NAME",
		    .help = "systemd or rc; default: what the tree has" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	size_t n;
	int rc;

	inst_front_init(&k.f, "hook");
	if ((rc = tool_parse(argc, argv, self, opts, &k.f.common, 0, 0, NULL, &n)) != -1)
		return rc;
	tool_signals();
	inst_fence(&k.f, INST_NEEDS_TREE, NULL);
	if (k.init != NULL && !inst_hook_named(k.init, &k.kind)) {
		dray_fail(&e, DRAY_E_USAGE, "--init: neither systemd nor rc");
		dray_hint(&e, "leave it away to take what the tree has");
		return inst_front_error(&k.f, &e);
	}
	rc = what(&k, &e) == 0 ? 0 : inst_front_error(&k.f, &e);
	inst_front_close(&k.f);
	return rc;
}

int
inst_cmd_hook_install(int argc, char **argv, const struct tool_cmd *self)
{
	return run(argc, argv, self, install);
}

int
inst_cmd_hook_remove(int argc, char **argv, const struct tool_cmd *self)
{
	return run(argc, argv, self, take_away);
}

int
inst_cmd_hook_status(int argc, char **argv, const struct tool_cmd *self)
{
	return run(argc, argv, self, status);
}
