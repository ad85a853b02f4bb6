/*
 * cmd_recover.c - dray-install resume (finish what was interrupted) and rollback (back to the state before).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/os.h"
#include "dray/path.h"

#include "installer/cmd.h"
#include "installer/fence.h"
#include "installer/hooksd.h"
#include "installer/switch.h"
#include "installer/tree.h"

static const char *
result_word(enum inst_pending did, bool back)
{
	switch (did) {
	case INST_PENDING_NONE:
		return "nothing";
	case INST_PENDING_STAGED:
		return "dropped";
	case INST_PENDING_FORWARD:
	case INST_PENDING_FINISH:
		return back ? "back" : "forward";
	case INST_PENDING_BACKWARD:
		return "back";
	case INST_PENDING_FORGET:
		return "forgotten";
	case INST_PENDING_BETWEEN:
		break;
	}
	return "nothing";
}

static int
print_result(struct inst_front *f, const char *result, const struct inst_foreign *kept, const struct inst_installed *now,
    const struct inst_run_due *due, struct dray_err *e)
{
	struct dray_json *o, *a;

	if (!f->common.json)
		return inst_run_due_end(f, due, e);
	o = dray_json_new_obj();
	dray_json_set_str(o, "result", result);
	if (now->known) {
		dray_json_set_str(o, "product", now->product);
		dray_json_set_str(o, "version", now->version);
	}
	a = dray_json_set_arr(o, "kept");
	for (size_t i = 0; i < kept->n; i++)
		dray_json_push_str(a, kept->paths[i]);
	return inst_run_due_told(f, due, o, e);
}

static int
resume(struct inst_front *f, bool back, struct inst_foreign *kept, struct inst_run_due *due, struct dray_err *e)
{
	enum inst_pending did = INST_PENDING_NONE;
	struct inst_tx *between = NULL;
	const char *what;
	bool there;
	int r;

	if (inst_front_existing(f, &there, e) != 0 || inst_fence_seal(f, false, e) != 0)
		return -1;
	if (there && inst_recover(&f->st, back, true, &did, kept, e) != 0) {
		if (did != INST_PENDING_NONE)
			inst_front_record(f, NULL, e);
		return -1;
	}
	if (there && inst_anchor_load(&f->st, &f->anchor, e) != 0)
		return -1;
	what = inst_pending_text(did);
	if (there && inst_between(&f->st, &between, e) != 0)
		return -1;
	if (between != NULL) {
		inst_phase_say(f, between);
		inst_say(f, "that was asked for: apply of the same bundle goes on, rollback goes back");
	}
	inst_tx_close(between);
	if (did == INST_PENDING_NONE)
		inst_say(f, "nothing was interrupted on %s: nothing to do", f->root);
	else if (did == INST_PENDING_STAGED)
		inst_say(f, "what an interrupted run had staged is deleted; nothing live had been changed");
	else
		inst_say(f, "%s; it is finished now, %s", what, strcmp(result_word(did, back), "back") == 0 ?
		    "back to the old state" : "in the new state");
	inst_print_paths(f, "changed by somebody else meanwhile; kept in the stash:", kept);
	r = there ? inst_run_due(f, due, e) : 0;
	inst_hooksd_recovered(f, did, back);
	if (r != 0)
		return -1;
	if (there)
		inst_due_say(f);
	if (did != INST_PENDING_NONE)
		inst_say_command(f, "next", "status", NULL);
	return print_result(f, result_word(did, back), kept, &f->anchor.installed, due, e);
}

int
inst_cmd_resume(int argc, char **argv, const struct tool_cmd *self)
{
	struct inst_front f;
	bool back = false;
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(f), INST_OPTS_TRIGGERS(f),
		{ .name = "back", .kind = TOOL_FLAG, .out = &back, .help = "go back to the old state instead of forward" },
		{ .name = NULL }
	};
	struct inst_foreign kept = { .n = 0 };
	struct inst_run_due due = { .ran = 0 };
	struct dray_err e = { .code = DRAY_OK };
	size_t n;
	int rc;

	inst_front_init(&f, "resume");
	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 0, 0, NULL, &n)) != -1)
		return rc;
	if (back)
		inst_run_option(&f.run, "back");
	tool_signals();
	if ((rc = inst_hooksd_load_soft(&f, &e)) == 0) {
		inst_fence(&f, INST_NEEDS_PROGRAMS, NULL);
		rc = resume(&f, back, &kept, &due, &e);
	}
	inst_say_torn(&f);
	rc = rc == 0 ? 0 : inst_front_error(&f, &e);
	inst_foreign_free(&kept);
	inst_run_due_free(&due);
	inst_front_close(&f);
	return rc;
}

/* does going back bring the directory above @op as well? */
static bool
brings_parent(const struct inst_tx *tx, const struct inst_op *op)
{
	for (size_t i = 0; i < tx->n_swaps; i++) {
		const struct inst_op *up = &tx->ops[i];

		if (up->step <= tx->done && up->old.type == DRAY_DIR && up->len < op->len && dray_path_under(op->path, op->len, up->path, up->len))
			return true;
	}
	return false;
}

/* can the old object go back to its place? Recovery may not ask: it goes on anyway, and keeps it in its slot */
static int
has_place(struct dray_walk *w, const struct inst_tx *tx, const struct inst_op *op,
    struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], q[DRAY_QUOTE_CAP(255)];
	struct dray_stat slots, up, st = { .fflags = 0 };
	const char *why = NULL;
	int dir, r = dray_walk_parent(w, op->path, op->len, &dir, leaf, e);

	if (r < 0)
		return -1;
	if (r > 0) {
		if (op->old.type != DRAY_ABSENT && !brings_parent(tx, op))
			why = "the directory above it is gone or something else";
	} else {
		if (os_stat_at(tx->slots[op->site].dir, "", &slots) == -1 || os_stat_at(dir, "", &up) == -1)
			return dray_fail_errno(e, "look at a directory");
		if (up.mnt_id != slots.mnt_id || up.dev != slots.dev)
			why = "its directory is on another mount than it was";
		else if (os_stat_at(dir, leaf, &st) == 0 && st.mount_root)
			why = "something is mounted on it";
		else if ((st.fflags & DRAY_FF_LOCKS) != 0 && (op->flags & INST_OP_FFLAGS) == 0)
			why = "it was made immutable or append-only since";
	}
	if (why == NULL)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%s cannot be put back: %s", dray_quote(op->path, op->len, q, sizeof(q)), why);
	return dray_hint(e, "nothing was changed; make the directories what they were, unmount, and run rollback again");
}

/* a directory that goes back as a whole must not take somebody's mount along */
static int
no_mount_inside(struct dray_walk *w, const struct inst_op *op, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], q[512];
	int dir, r;

	if (!(op->flags & INST_OP_SUBTREE) || op->now.type != DRAY_DIR)
		return 0;
	r = dray_walk_parent(w, op->path, op->len, &dir, leaf, e);
	if (r == 0 && inst_tree_no_mount(dir, leaf, e) != 0) {
		r = dray_wrap(e, "%s", dray_quote(op->path, op->len, q, sizeof(q)));
		if (e->code == DRAY_E_SYSTEM)
			dray_hint(e, "unmount it and run rollback again; nothing was changed");
	}
	return r < 0 ? -1 : 0;
}

/* is each old object still in its slot? Without it going back would only take the new one away */
static int
stash_whole(const struct inst_front *f, struct inst_tx *tx, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)] = "";
	struct inst_swapper w;
	struct inst_ident id;
	size_t n = 0;
	int rc = 0;

	inst_swapper_init(&w, f->st.root, tx, false);
	for (size_t i = 0; i < tx->n_swaps && rc == 0; i++) {
		const struct inst_op *op = &tx->ops[i];

		if (op->step > tx->done || op->old.type == DRAY_ABSENT)
			continue;
		rc = inst_slot_look(&w, op, &id, e);
		if (rc == 0 && id.type == DRAY_ABSENT && n++ == 0)
			dray_quote(op->path, op->len, q, sizeof(q));
	}
	inst_swapper_close(&w);
	if (rc != 0 || n == 0)
		return rc;
	dray_fail(e, DRAY_E_SYSTEM, "%zu %s cannot be put back, because what was kept is gone: %s%s", n,
	    n == 1 ? "path" : "paths", q, n > 1 ? ", ..." : "");
	return dray_hint(e, "nothing was changed; bring %s/tx/%06u back from a backup, or give the way back up with forget",
	    f->st.rel, (unsigned)tx->number);
}

/* what changed since the upgrade: it will be in the stash afterwards, not in the tree */
int
inst_back_ready(const struct inst_front *f, struct inst_tx *tx, struct inst_foreign *drift, struct dray_err *e)
{
	struct inst_ident now;
	struct dray_walk w;
	int rc = -1;

	inst_work_begin(&f->st, "looking", tx->n_swaps);
	dray_walk_init(&w, f->st.root);
	if (inst_refuse_copy(&f->st, tx, e) != 0 || stash_whole(f, tx, e) != 0)
		goto out;
	for (size_t i = 0; i < tx->n_swaps; i++) {
		const struct inst_op *op = &tx->ops[i];

		inst_work_at(&f->st, i);
		if (op->step > tx->done)
			continue;	/* never begun */
		if (has_place(&w, tx, op, e) != 0 || inst_look(&w, op->path, op->len, &now, NULL, e) != 0)
			goto out;
		if (no_mount_inside(&w, op, e) != 0)
			goto out;
		if ((op->flags & (INST_OP_OUTPUT | INST_OP_OUTPUT_INSIDE)) == 0 && !inst_ident_same(&now, &op->now) && inst_foreign_add(drift, op->path, op->len, e) != 0)
			goto out;
	}
	rc = 0;
out:
	dray_walk_close(&w);
	return inst_work_end(&f->st, rc);
}

/* the way back was begun: it has to be gone to its end */
static void
hint_resume(const struct inst_front *f, const struct inst_tx *tx, struct dray_err *e)
{
	char *resume;

	if (tx->state != INST_TX_UNDO && tx->state != INST_TX_UNDONE)
		return;
	if ((resume = inst_command(f, "resume", NULL)) != NULL)
		dray_hint(e, "repair the cause, then finish it: %s", resume);
	free(resume);
}

static int
rollback(struct inst_front *f, struct inst_foreign *kept, struct inst_run_due *due, struct dray_err *e)
{
	struct inst_foreign drift = { .n = 0 }, meanwhile = { .n = 0 };
	struct inst_tx *tx = NULL;
	struct inst_installed from;
	enum inst_pending did = INST_PENDING_NONE;
	bool there;
	int rc = -1, r;

	if (inst_front_existing(f, &there, e) != 0 || inst_fence_seal(f, false, e) != 0)
		goto out;
	/* an upgrade cut in its switch is finished first: then there is one state to go back from */
	if (there && inst_recover(&f->st, false, true, &did, &meanwhile, e) != 0) {
		if (did != INST_PENDING_NONE)
			inst_front_record(f, NULL, e);
		goto out;
	}
	if (inst_pending_text(did) != NULL)
		inst_say(f, "%s; that is finished now", inst_pending_text(did));
	inst_print_paths(f, "changed by somebody else meanwhile; kept in the stash:", &meanwhile);
	if (did == INST_PENDING_BACKWARD) {
		/* that was the way back already; a second one would go one upgrade too far */
		if (inst_anchor_load(&f->st, &f->anchor, e) != 0)
			goto out;
		from = f->anchor.installed;
	} else {
		if (there && inst_stash(&f->st, true, &tx, e) != 0)
			goto out;
		if (tx == NULL) {
			dray_fail(e, DRAY_E_SYSTEM, "there is nothing to go back to on %s", f->root);
			dray_hint(e, "no upgrade was made here, or its stash was freed by forget");
			goto out;
		}
		from = tx->from;
		if (inst_back_ready(f, tx, &drift, e) != 0)
			goto out;
		inst_print_paths(f, "changed since the upgrade, and not kept in place:", &drift);
		if (tool_signal_seen() != 0) {
			dray_fail(e, DRAY_E_SIGNAL, "interrupted");
			dray_hint(e, "nothing live was changed");
			goto out;
		}
		if (inst_hooksd_before(f, INST_HOOK_BEFORE_COMMIT, &(struct inst_moment){ .from = &tx->to, .to = &from }, e) != 0)
			goto out;
		/* a hook takes its time, and may change the tree; what drifted meanwhile is told as what was kept */
		inst_foreign_free(&drift);
		if (inst_hooksd_any(f, INST_HOOK_BEFORE_COMMIT) && inst_back_ready(f, tx, &drift, e) != 0)
			goto out;
		if (inst_undo(&f->st, tx, kept, e) != 0) {
			f->hooks.begun = tx->state != INST_TX_UNDO && tx->state != INST_TX_UNDONE;
			hint_resume(f, tx, e);
			if (tx->state == INST_TX_UNDO || tx->state == INST_TX_UNDONE)
				inst_front_record(f, tx, e);
			goto out;
		}
	}
	if (from.known)
		inst_say(f, "%s is back at %s %s", f->root, from.product, from.version);
	else
		inst_say(f, "%s is back in the state before the upgrade", f->root);
	inst_print_paths(f, "changed since the upgrade; kept in the stash:", kept);
	r = inst_run_due(f, due, e);
	inst_hooksd_after(f, INST_HOOK_AFTER_ROLLBACK, &(struct inst_moment){ .to = &from, .result = "back" });
	if (r != 0)
		goto out;
	inst_due_say(f);
	inst_say_command(f, "next", "status", NULL);
	rc = print_result(f, "back", kept, &from, due, e);
out:
	inst_tx_close(tx);
	inst_foreign_free(&drift);
	inst_foreign_free(&meanwhile);
	return rc;
}

int
inst_cmd_rollback(int argc, char **argv, const struct tool_cmd *self)
{
	struct inst_front f;
	struct tool_opt opts[] = { INST_OPTS_ROOT(f), INST_OPTS_TRIGGERS(f), { .name = NULL } };
	struct inst_foreign kept = { .n = 0 };
	struct inst_run_due due = { .ran = 0 };
	struct dray_err e = { .code = DRAY_OK };
	size_t n;
	int rc;

	inst_front_init(&f, "rollback");
	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 0, 0, NULL, &n)) != -1)
		return rc;
	tool_signals();
	if ((rc = inst_fence_programs(&f, &e) == 0 ? rollback(&f, &kept, &due, &e) : -1) != 0)
		inst_hooksd_failed(&f, &e);
	inst_say_torn(&f);
	rc = rc == 0 ? 0 : inst_front_error(&f, &e);
	inst_foreign_free(&kept);
	inst_run_due_free(&due);
	inst_front_close(&f);
	return rc;
}
