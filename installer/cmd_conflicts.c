/*
 * cmd_conflicts.c - dray-install conflicts: which files were edited here and changed by the release so that no merge settles
 * it, and what is decided about them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "installer/conflicts.h"
#include "installer/fence.h"

static void
entry_of(const struct inst_conflicts *c, const struct inst_merge *m, struct dray_entry *en)
{
	dray_index_entry(c->plan->ix, m->row, en);
}

/* the rule that settles it, or NULL */
static const struct dray_rule *
decided(const struct inst_conflicts *c, const struct inst_merge *m)
{
	const struct dray_rule *r;
	struct dray_content theirs;
	struct dray_entry en;

	entry_of(c, m, &en);
	dray_index_content(c->plan->ix, m->theirs, &theirs);
	r = dray_policy_find(&c->d.rules, en.path, en.len, DRAY_WHEN_CHANGED | DRAY_WHEN_ADDED, theirs.sha256);
	return r == NULL || r->action == DRAY_ACT_MERGE || r->action == DRAY_ACT_KEEP_METADATA ? NULL : r;
}

/* what else is in the way of the path: a conflict that a merge has nothing to do with, or it cannot be changed at all */
static const struct inst_note *
other_hindrance(const struct inst_conflicts *c, const char *path, size_t len)
{
	for (size_t i = 0; i < c->plan->n_notes; i++) {
		const struct inst_note *n = &c->plan->notes[i];

		if ((n->kind == INST_NOTE_CONFLICT || n->kind == INST_NOTE_BLOCKED) && n->len == len && memcmp(n->path, path, len) == 0)
			return n;
	}
	return NULL;
}

const struct inst_merge *
inst_conflicts_find(const struct inst_conflicts *c, const char *path, struct dray_err *e)
{
	const struct inst_note *other;
	struct dray_entry en;
	char q[300];
	size_t len;

	path += strspn(path, "/");
	len = strlen(path);
	for (size_t i = 0; i < c->plan->n_merges; i++) {
		entry_of(c, &c->plan->merges[i], &en);
		if (c->plan->merges[i].result == INST_MERGED_CONFLICT && en.len == len && memcmp(en.path, path, len) == 0)
			return &c->plan->merges[i];
	}
	dray_quote(path, len, q, sizeof(q));
	if ((other = other_hindrance(c, path, len)) == NULL) {
		dray_fail(e, DRAY_E_USAGE, "%s is no conflict between this bundle and %s", q, c->f.root);
	} else if (other->kind == INST_NOTE_BLOCKED) {
		dray_fail(e, DRAY_E_SYSTEM, "%s cannot be changed here, so nothing can be decided: it %s", q, other->why);
	} else {
		dray_fail(e, DRAY_E_USAGE, "%s is a conflict of another kind: %s", q, other->why);
		dray_hint(e, "plan says how it can be settled");
	}
	return NULL;
}

static void
json_paths(struct dray_json *a, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dray_json_set_path(dray_json_push_obj(a), "path", paths[i] + strspn(paths[i], "/"), strlen(paths[i] + strspn(paths[i], "/")));
}

int
inst_conflicts_next(struct inst_conflicts *c, const char *const *paths, size_t n, struct dray_err *e)
{
	struct dray_json *o = NULL, *a;
	size_t left = 0;

	for (size_t i = 0; i < c->plan->n_merges; i++)
		left += c->plan->merges[i].result == INST_MERGED_CONFLICT && decided(c, &c->plan->merges[i]) == NULL;
	if (c->f.common.json) {
		o = dray_json_new_obj();
		a = dray_json_set_arr(o, "decided");
		json_paths(a, paths, n);
		dray_json_set_int(o, "undecided", (int64_t)left);
		return tool_json(o, e);
	}
	if (left > 0)
		inst_say(&c->f, "%zu conflict%s not decided yet", left, left == 1 ? " is" : "s are");
	inst_say_command(&c->f, "next", left > 0 ? "conflicts" : "plan", NULL);
	return 0;
}

static void
list_json(struct inst_conflicts *c, struct dray_json *o)
{
	struct dray_json *a = dray_json_set_arr(o, "conflicts"), *one;
	const struct dray_rule *r;
	char text[INST_MERGE_WHY], hex[65];
	struct dray_entry en;

	for (size_t i = 0; i < c->plan->n_merges; i++) {
		const struct inst_merge *m = &c->plan->merges[i];

		if (m->result != INST_MERGED_CONFLICT)
			continue;
		entry_of(c, m, &en);
		one = dray_json_push_obj(a);
		dray_json_set_path(one, "path", en.path, en.len);
		dray_json_set_int(one, "places", (int64_t)m->places);
		dray_json_set_str(one, "why", inst_merge_why(m, text));
		if ((r = decided(c, m)) == NULL)
			continue;
		dray_json_set_str(one, "decided", dray_action_name(r->action));
		if (r->action == DRAY_ACT_USE)
			dray_json_set_str(one, "sha256", dray_hex(r->sha256, sizeof(r->sha256), hex));
	}
	a = dray_json_set_arr(o, "others");
	for (size_t i = 0; i < c->plan->n_notes; i++) {
		const struct inst_note *n = &c->plan->notes[i];
		struct dray_err ignored = { .code = DRAY_OK };
		char path[DRAY_PATH_MAX];

		if (n->kind != INST_NOTE_CONFLICT)
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)n->len, n->path);
		if (inst_conflicts_find(c, path, &ignored) != NULL)
			continue;
		one = dray_json_push_obj(a);
		dray_json_set_path(one, "path", n->path, n->len);
		dray_json_set_str(one, "why", n->why);
	}
}

static void
list_text(struct inst_conflicts *c, bool done)
{
	const char *heading = done ? "decided:" : "conflicts, to be decided:";
	char q[DRAY_QUOTE_CAP(DRAY_PATH_MAX)], text[INST_MERGE_WHY];
	const struct dray_rule *r;
	struct dray_entry en;
	bool any = false;

	for (size_t i = 0; i < c->plan->n_merges; i++) {
		const struct inst_merge *m = &c->plan->merges[i];

		if (m->result != INST_MERGED_CONFLICT || ((r = decided(c, m)) != NULL) != done)
			continue;
		if (!any)
			inst_say(&c->f, "%s", heading);
		any = true;
		entry_of(c, m, &en);
		inst_say(&c->f, "  %s: %s", dray_quote(en.path, en.len, q, sizeof(q)),
		    !done ? inst_merge_why(m, text) : r->action == DRAY_ACT_USE ? "an edited text" : dray_action_name(r->action));
	}
}

/* what the list cannot know is no reason to call it empty */
static int
verdict(const struct inst_conflicts *c, size_t left, size_t all, struct dray_err *e)
{
	const size_t n = c->plan->blocked;

	if (left > 0) {
		dray_fail(e, DRAY_E_CONFLICT, "%zu of %zu conflict%s undecided", left, all, all == 1 ? "" : "s");
		return dray_hint(e, "with PATH and --take mine, --take theirs, --show or --edit; nothing was changed");
	}
	if (n == 0)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%zu path%s cannot be changed here, and so %s not looked at for conflicts", n, n == 1 ? "" : "s",
	    n == 1 ? "was" : "were");
	return dray_hint(e, "plan tells them and why; make these places fit to be changed and run it again");
}

static int
list(struct inst_conflicts *c, struct dray_err *e)
{
	struct dray_err printing = { .code = DRAY_OK };
	size_t left = 0, all = 0;
	struct dray_json *o;
	int rc;

	for (size_t i = 0; i < c->plan->n_merges; i++) {
		all += c->plan->merges[i].result == INST_MERGED_CONFLICT;
		left += c->plan->merges[i].result == INST_MERGED_CONFLICT && decided(c, &c->plan->merges[i]) == NULL;
	}
	rc = verdict(c, left, all, e);
	if (c->f.common.json) {
		o = dray_json_new_obj();
		list_json(c, o);
		dray_json_set_int(o, "undecided", (int64_t)left);
		dray_json_set_bool(o, "partial", c->plan->partial);
		if (rc != 0)
			inst_json_error(&c->f, o, e);
		if (tool_json(o, &printing) != 0) {
			*e = printing;
			return -1;
		}
		return rc;
	}
	list_text(c, true);
	list_text(c, false);
	if (c->plan->conflicts > all)
		inst_say(&c->f, "%zu conflict%s of another kind; plan tells", c->plan->conflicts - all, c->plan->conflicts - all == 1 ? " is" : "s are");
	if (c->plan->partial)
		inst_say(&c->f, "some paths cannot be read by this user, and were not looked at; plan tells");
	if (rc != 0)
		return -1;
	inst_say(&c->f, "%s", all > 0 ? "all of them are decided" : c->plan->partial ? "no other file is in conflict" :
	    "no file was edited here and changed by the release so that they cannot be merged");
	inst_say_command(&c->f, "next", "plan", NULL);
	return 0;
}

int
inst_conflicts_write(struct inst_conflicts *c, struct dray_err *e)
{
	inst_decisions_free(&c->d);
	if (c->policy == NULL) {
		inst_state_close(&c->f.st);
		if (inst_front_state(&c->f, true, e) != 0)
			return -1;
	}
	return inst_decisions_load(&c->f, c->policy, true, &c->d, e);
}

static int
set_all(struct inst_conflicts *c, const char *action, struct dray_err *e)
{
	char q[300];

	for (size_t i = 0; i < c->n_paths; i++) {
		const char *path = c->paths[i] + strspn(c->paths[i], "/");
		const size_t was = c->d.rules.n;

		if (inst_decisions_set(&c->d, path, strlen(path), action, e) != 0)
			return -1;
		if (action == NULL && c->d.rules.n == was)
			return dray_fail(e, DRAY_E_USAGE, "nothing is decided about %s alone", dray_quote(path, strlen(path), q, sizeof(q)));
	}
	return 0;
}

/* all of them are looked at before anything is written */
static int
take(struct inst_conflicts *c, struct dray_err *e)
{
	char q[300];

	for (size_t i = 0; i < c->n_paths; i++)
		if (inst_conflicts_find(c, c->paths[i], e) == NULL)
			return -1;
	if (inst_conflicts_write(c, e) != 0 || set_all(c, c->take, e) != 0 || inst_decisions_save(&c->d, e) != 0)
		return -1;
	for (size_t i = 0; i < c->n_paths; i++)
		inst_say(&c->f, "%s: %s", dray_quote(c->paths[i], strlen(c->paths[i]), q, sizeof(q)),
		    strcmp(c->take, "mine") == 0 ? "what is here stays" : "becomes the release's; what is here will be parked");
	return inst_conflicts_next(c, c->paths, c->n_paths, e);
}

/* decisions are taken back; the bundle need not have the paths. Tried in memory first */
static int
reopen(struct inst_conflicts *c, struct dray_err *e)
{
	struct dray_json *o = NULL, *a;
	char q[300];

	if (set_all(c, NULL, e) != 0 || inst_conflicts_write(c, e) != 0 || set_all(c, NULL, e) != 0 ||
	    inst_decisions_save(&c->d, e) != 0)
		return -1;
	if (c->f.common.json) {
		o = dray_json_new_obj();
		a = dray_json_set_arr(o, "reopened");
		json_paths(a, c->paths, c->n_paths);
		return tool_json(o, e);
	}
	for (size_t i = 0; i < c->n_paths; i++)
		inst_say(&c->f, "%s: nothing is decided about it any more", dray_quote(c->paths[i], strlen(c->paths[i]), q, sizeof(q)));
	inst_say_command(&c->f, "next", "conflicts", NULL);
	return 0;
}

static int
run(struct inst_conflicts *c, struct dray_err *e)
{
	struct inst_front *f = &c->f;

	if (inst_front_bundle(f, e) != 0 || inst_front_look(f, e) != 0 || inst_front_idle(f, e) != 0 || inst_front_fits(f, e) != 0)
		return -1;
	if (!c->reopen && inst_front_plan(f, &c->plan, e) != 0)
		return -1;
	if (inst_decisions_load(f, c->policy, false, &c->d, e) != 0)
		return -1;
	f->policy_file = c->policy;	/* for the commands that are printed */
	if (c->reopen)
		return reopen(c, e);
	if (c->take != NULL)
		return take(c, e);
	if (c->edit != NULL)
		return inst_conflicts_edit(c, e);
	return c->show != NULL ? inst_conflicts_show(c, e) : list(c, e);
}

/* which of them were given, and do they go together? */
static int
usage(struct inst_conflicts *c, struct dray_err *e)
{
	int modes = (c->take != NULL) + (c->show != NULL) + (c->edit != NULL) + c->reopen + c->parked;

	if (modes > 1)
		return dray_fail(e, DRAY_E_USAGE, "--take, --show, --edit, --reopen and --list exclude each other");
	if (c->parked != (c->f.bundle == NULL))
		return dray_fail(e, DRAY_E_USAGE, c->parked ? "--list wants no bundle" : "a bundle is wanted, or --list");
	if (c->take != NULL && strcmp(c->take, "mine") != 0 && strcmp(c->take, "theirs") != 0)
		return dray_fail(e, DRAY_E_USAGE, "--take wants mine or theirs");
	if ((c->take != NULL || c->reopen) != (c->n_paths > 0))
		return dray_fail(e, DRAY_E_USAGE, c->n_paths > 0 ? "paths go with --take or --reopen" : "which paths? name them behind the bundle");
	if (c->from != NULL && c->edit == NULL)
		return dray_fail(e, DRAY_E_USAGE, "--from goes with --edit");
	c->f.policy_file = NULL;
	if (inst_policy_read(&c->f, e) != 0)
		return -1;
	c->f.decided = false;
	c->f.conflict_texts = true;
	return 0;
}

/* an editor is the caller's own program, with his terminal and all that he may do: a run that starts one gives up nothing */
static void
fence(const struct inst_conflicts *c)
{
	char *folder = c->policy != NULL ? tool_folder_of(c->policy) : NULL;

	if (c->edit == NULL || c->from != NULL)
		inst_fence(&c->f, INST_NEEDS_TREE, folder);
	free(folder);
}

#define PATHS_MAX 10000

int
inst_cmd_conflicts(int argc, char **argv, const struct tool_cmd *self)
{
	static const char *operand[PATHS_MAX + 1];
	struct inst_conflicts c = { .d = { .dir = -1 } };
	struct tool_opt opts[] = {
		{ .name = "take", .kind = TOOL_TEXT, .out = &c.take, .arg = "WHOSE", .help = "mine or theirs, for the paths named" },
		{ .name = "show", .kind = TOOL_TEXT, .out = &c.show, .arg = "PATH", .help = "where both changed it, all three texts" },
		{ .name = "edit", .kind = TOOL_TEXT, .out = &c.edit, .arg = "PATH",
		    .help = "the merged text with its markers into $VISUAL or $EDITOR; what comes back is the decision" },
		{ .name = "from", .kind = TOOL_TEXT, .out = &c.from, .arg = "FILE", .help = "with --edit: that is the edited text" },
		{ .name = "reopen", .kind = TOOL_FLAG, .out = &c.reopen, .help = "take back what was decided about the paths named" },
		{ .name = "list", .kind = TOOL_FLAG, .out = &c.parked,
		    .help = "what former runs replaced or did not take; without a bundle" },
		INST_OPTS_ROOT(c.f), INST_OPT_KEYRING(c.f), TOOL_OPT_DIR(c.f.dirs), INST_OPTS_POLICY(c.f), { .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	size_t n;
	int rc;

	inst_front_init(&c.f, "conflicts");
	if ((rc = tool_parse(argc, argv, self, opts, &c.f.common, 0, PATHS_MAX + 1, operand, &n)) != -1)
		return rc;
	c.f.bundle = n > 0 ? operand[0] : NULL;
	c.paths = operand + 1;
	c.n_paths = n > 0 ? n - 1 : 0;
	c.policy = c.f.policy_file;
	tool_signals();
	fence(&c);
	if (usage(&c, &e) != 0)
		rc = inst_front_error(&c.f, &e);
	else
		rc = (c.parked ? inst_conflicts_parked(&c, &e) : run(&c, &e)) == 0 ? 0 : inst_front_error(&c.f, &e);
	inst_plan_free(c.plan);
	inst_decisions_free(&c.d);
	inst_front_close(&c.f);
	return rc;
}
