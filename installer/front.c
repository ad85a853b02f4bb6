/*
 * front.c - what happens before a plan: keyring, bundle, state folder, and what this user may do.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/attrs.h"
#include "dray/os.h"
#include "dray/path.h"

#include "tool/look.h"

#include "installer/cmd.h"
#include "installer/decisions.h"
#include "installer/hooksd.h"
#include "installer/runner.h"
#include "installer/stash_room.h"

static void
work_end(void *ctx, bool whole)
{
	tool_progress_end(&((struct inst_front *)ctx)->work, whole);
}

static void
work_begin(void *ctx, const char *what, uint64_t paths)
{
	struct inst_front *f = ctx;

	work_end(f, true);
	tool_progress_begin_paths(&f->work, &f->common, what, paths);
}

static void
work_at(void *ctx, uint64_t done, uint64_t total)
{
	tool_progress_at(&((struct inst_front *)ctx)->work, done, total);
}

void
inst_front_init(struct inst_front *f, const char *verb)
{
	memset(f, 0, sizeof(*f));
	inst_run_begin(&f->run, verb);
	f->root = "/";
	f->step = INST_STEP_ALL;
	f->media.fd = -1;
	f->st.root = f->st.dir = f->st.lock = -1;
	f->listener = (struct inst_listener){ work_begin, work_at, work_end, f };
	f->st.listener = &f->listener;
}

void
inst_front_close(struct inst_front *f)
{
	dray_bundle_close(f->b);
	dray_keyring_free(f->keys);
	tool_media_close(&f->media);
	free(f->policy.links);
	dray_policy_free(&f->policy.rules);
	free(f->policy.texts);
	free(f->policy.decided);
	inst_hooksd_free(f);
	inst_state_close(&f->st);
	inst_runner_end();
}

/* always the running system's: a tree that is to be upgraded must not say whom to trust */
static int
load_keys(struct inst_front *f, struct dray_err *e)
{
	const char *usual;

	if (f->keyring.n > 0)
		return dray_keyring_load(f->keyring.v, f->keyring.n, f->common.allow_test_keys, &f->keys, e);
	if ((usual = tool_keyring_usual()) == NULL) {
		dray_fail(e, DRAY_E_TRUST, "no keyring: neither --keyring nor %s nor %s", TOOL_KEYRING_FILE, TOOL_KEYRING_DIR);
		return dray_hint(e, "name the public key of whoever signs your bundles: --keyring FILE");
	}
	return dray_keyring_load(&usual, 1, f->common.allow_test_keys, &f->keys, e);
}

int
inst_front_bundle(struct inst_front *f, struct dray_err *e)
{
	struct dray_bundle_opts o = { .threads = (unsigned)f->common.jobs };
	char quoted[DRAY_QUOTE_CAP(255)];
	int rc;

	if (load_keys(f, e) != 0)
		return -1;
	o.keyring = f->keys;
	inst_work_begin(&f->st, "opening", 0);
	if ((rc = tool_media_open(f->bundle, &f->dirs, &f->media, e)) == 0) {
		o.volumes = tool_media_volumes(&f->media);
		rc = dray_bundle_open(f->media.fd, &o, &f->b, e);
	}
	if (inst_work_end(&f->st, rc) == 0)
		return 0;
	return dray_wrap(e, "%s", dray_quote(f->bundle, strlen(f->bundle), quoted, sizeof(quoted)));
}

int
inst_front_state(struct inst_front *f, bool write, struct dray_err *e)
{
	if (f->policy.no_sync && strcmp(f->root, "/") == 0)
		return dray_fail(e, DRAY_E_USAGE, "--no-sync is for a tree that may be lost, never for /");
	if (inst_state_open(f->root, f->state, write, &f->st, e) != 0)
		return -1;
	f->st.no_sync = f->policy.no_sync;
	f->st.run = &f->run;
	f->st.listener = &f->listener;
	if (inst_anchor_load(&f->st, &f->anchor, e) != 0)
		return -1;
	if (!f->decided)
		return 0;
	f->decided = false;	/* once: a plan holds on to its rules */
	return inst_decisions_join(f, e);
}

/* a state folder that only root can read: what it knows is left out, and that is said */
static bool
closed_to_us(const struct inst_front *f)
{
	const char *state = f->state != NULL ? f->state : os_state_dir();
	struct dray_err ignored = { .code = DRAY_OK };	/* whatever it is, opening the state in earnest tells it */
	struct inst_ident id;
	struct dray_stat st;
	struct dray_walk w;
	bool closed = false;
	int root;

	if (geteuid() == 0 || (root = open(f->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return false;
	state += strspn(state, "/");
	dray_walk_init(&w, root);
	if (dray_path_ok(state, strlen(state), NULL) && inst_look(&w, state, strlen(state), &id, &st, &ignored) == 0)
		closed = id.type == DRAY_DIR && st.uid != (uint32_t)geteuid() && st.uid == 0;
	dray_walk_close(&w);
	close(root);
	return closed;
}

int
inst_front_look(struct inst_front *f, struct dray_err *e)
{
	const char *state = f->state != NULL ? f->state : os_state_dir();

	if (!closed_to_us(f))
		return inst_front_state(f, false, e);
	if ((f->st.root = open(f->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return dray_fail_errno(e, "open root %s", f->root);
	snprintf(f->st.rel, sizeof(f->st.rel), "%s", state + strspn(state, "/"));
	inst_say(f, "the state folder belongs to root: what is installed or pending is not known here");
	return 0;
}

int
inst_front_existing(struct inst_front *f, bool *there, struct dray_err *e)
{
	if (inst_front_state(f, false, e) != 0)
		return -1;
	*there = f->st.dir != -1;
	if (!*there)
		return 0;
	inst_state_close(&f->st);
	return inst_front_state(f, true, e);
}

const char *
inst_pending_text(enum inst_pending what)
{
	switch (what) {
	case INST_PENDING_NONE:
	case INST_PENDING_STAGED:
		break;
	case INST_PENDING_FORWARD:
		return "an upgrade was interrupted while it was switching";
	case INST_PENDING_BACKWARD:
		return "a rollback was interrupted";
	case INST_PENDING_FINISH:
		return "an upgrade was interrupted after its switch, before it was recorded";
	case INST_PENDING_FORGET:
		return "forget was interrupted";
	case INST_PENDING_BETWEEN:
		return "an upgrade is between two of its phases";
	}
	return NULL;
}

int
inst_front_idle(const struct inst_front *f, struct dray_err *e)
{
	enum inst_pending what;
	struct inst_front bare = *f;
	struct inst_tx *tx;
	uint32_t number;
	char *again;

	if (f->st.dir == -1)
		return 0;
	if (inst_pending(&f->st, &what, &number, e) != 0)
		return -1;
	if (inst_pending_text(what) == NULL || what == INST_PENDING_FORGET)
		return 0;
	if (what == INST_PENDING_BETWEEN) {
		if (inst_tx_open(&f->st, number, false, &tx, e) != 0)
			return -1;
		inst_phase_refuse(f, tx, e);
		inst_tx_close(tx);
		return -1;
	}
	dray_fail(e, DRAY_E_SYSTEM, "%s on %s", inst_pending_text(what), f->root);
	bare.bundle = NULL;
	if ((again = inst_command(&bare, "resume", NULL)) != NULL)
		dray_hint(e, "finish it first: %s", again);
	free(again);
	return -1;
}

int
inst_front_plan(struct inst_front *f, struct inst_plan **p, struct dray_err *e)
{
	struct tool_progress pr;
	struct inst_plan_opts o = { .threads = (unsigned)f->common.jobs, .state = f->st.rel,
	    .policy = &f->policy, .installed = &f->anchor.installed, .conflict_texts = f->conflict_texts, .progress = tool_progress_tell, .ctx = &pr, .stop = tool_signal_seen };
	int rc;

	if (inst_policy_settle(f, true, e) != 0 || inst_components_settle(f, e) != 0 || inst_rules_of_bundle(f->b, &f->policy, e) != 0)
		return -1;
	tool_progress_begin(&pr, &f->common, "looking", 0);
	rc = inst_plan_make(f->st.root, f->b, &o, p, e);
	tool_progress_end(&pr, rc == 0);
	return rc == 0 ? inst_stash_room(&f->st, *p, e) : -1;
}

/* does the state ask for what only root can give? */
static bool
needs_root(const struct dray_index *ix, const struct dray_state *s)
{
	struct dray_attrs a;
	struct dray_xattr x;

	dray_index_attrs(ix, s->attrs, &a);
	if (((a.has & DRAY_HAS_UID) != 0 && a.uid != (uint32_t)geteuid()) ||
	    ((a.has & DRAY_HAS_GID) != 0 && a.gid != (uint32_t)getegid()) || inst_is_device(s->type))
		return true;
	for (uint32_t i = 0; i < a.xattr_count; i++) {
		dray_index_xattr(ix, a.xattr_first + i, &x);
		if (dray_xattr_privileged(x.name, x.name_len))
			return true;
	}
	return false;
}

/* may this user do what the op does to what is there: names in a directory, attributes of what is his? */
static int
may_change(struct dray_walk *w, const struct inst_op *op, bool *may, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1] = "";
	struct dray_stat st;
	int dir = w->root, r;

	*may = true;
	if (op->len > 0 && (r = dray_walk_parent(w, op->path, op->len, &dir, leaf, e)) != 0)
		return r < 0 ? -1 : 0;	/* gone since: the check before the commit says so */
	if (op->kind == INST_OP_META)
		*may = os_stat_at(dir, leaf, &st) == -1 || st.uid == (uint32_t)geteuid();
	else
		*may = faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0 && (op->old.type != DRAY_DIR ||
		    faccessat(dir, leaf, W_OK, AT_EACCESS) == 0);
	return 0;
}

/*
 * A directory is moved, and names in it are, by who may write to it: not even its owner where its mode says so. Then a
 * new one would not get to its place, and one that is closed at the end would not open again for the way back.
 */
static int
closed_to_owner(const struct inst_plan *p, struct dray_err *e)
{
	char quoted[DRAY_QUOTE_CAP(255)];
	const char *path = NULL;
	size_t len = 0;

	for (size_t i = 0; i < p->n_nodes && path == NULL; i++) {
		struct dray_entry en;
		struct dray_state s;
		struct dray_attrs a;

		dray_index_entry(p->ix, p->nodes[i].entry, &en);
		dray_index_state(p->ix, en.target, &s);
		dray_index_attrs(p->ix, s.attrs, &a);
		if (p->nodes[i].rel == en.len && s.type == DRAY_DIR && (a.has & DRAY_HAS_MODE) != 0 && (a.mode & 0200) == 0) {
			path = en.path;
			len = en.len;
		}
	}
	for (size_t i = p->n_swaps; i < p->n_ops && path == NULL; i++) {
		const struct inst_op *op = &p->ops[i];

		if (op->times != 0 && (op->attrs->after.has & DRAY_HAS_MODE) != 0 && (op->attrs->after.mode & 0200) == 0) {
			path = op->path;
			len = op->len;
		}
	}
	if (path == NULL)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%s is to be a directory that its owner may not write to", len == 0 ? "the root directory" :
	    dray_quote(path, len, quoted, sizeof(quoted)));
	return dray_hint(e, "nothing was changed; only root can move such a directory, or go back inside of it");
}

int
inst_front_rights(const struct inst_front *f, const struct inst_plan *p, struct dray_err *e)
{
	char quoted[DRAY_QUOTE_CAP(255)];
	struct dray_entry en;
	struct dray_state s;
	struct dray_walk w;
	size_t n = 0;
	uint32_t first = DRAY_NONE;
	bool may = true;
	int rc = 0;

	if (geteuid() == 0)
		return 0;
	for (size_t i = 0; !p->no_owner && i < p->n_nodes + p->n_ops; i++) {
		uint32_t row = i < p->n_nodes ? p->nodes[i].entry : p->ops[i - p->n_nodes].entry;

		/* of ops only those that change an owner in place; what is swapped in has its nodes */
		if (i >= p->n_nodes && (p->ops[i - p->n_nodes].kind != INST_OP_META ||
		    (p->ops[i - p->n_nodes].attrs->after.has & (DRAY_HAS_UID | DRAY_HAS_GID)) == 0))
			continue;
		if (row == DRAY_NONE)
			continue;
		dray_index_entry(p->ix, row, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(p->ix, en.target, &s);
		if (!needs_root(p->ix, &s))
			continue;
		if (n++ == 0)
			first = row;
	}
	if (n > 0) {
		dray_index_entry(p->ix, first, &en);
		dray_fail(e, DRAY_E_SYSTEM, "%zu paths need an owner, a device or a capability that only root can give, "
		    "the first is %s", n, dray_quote(en.path, en.len, quoted, sizeof(quoted)));
		return dray_hint(e, "run it as root, or leave all that out with --no-owner");
	}
	dray_walk_init(&w, f->st.root);
	for (size_t i = 0; rc == 0 && may && i < p->n_ops; i++) {
		rc = may_change(&w, &p->ops[i], &may, e);
		if (rc == 0 && !may) {
			dray_fail(e, DRAY_E_SYSTEM, "%s cannot be changed by this user", p->ops[i].len == 0 ? "the root directory" :
			    dray_quote(p->ops[i].path, p->ops[i].len, quoted, sizeof(quoted)));
			rc = dray_hint(e, "nothing was changed; run it as root, or as the owner of the tree");
		}
	}
	dray_walk_close(&w);
	return rc == 0 ? closed_to_owner(p, e) : rc;
}

void
inst_say(const struct inst_front *f, const char *fmt, ...)
{
	va_list ap;
	FILE *to = f->common.json || f->listing ? stderr : stdout;

	if (f->common.quiet)
		return;
	va_start(ap, fmt);
	vfprintf(to, fmt, ap);
	va_end(ap);
	fputc('\n', to);
}

void
inst_print_paths(const struct inst_front *f, const char *heading, const struct inst_foreign *list)
{
	size_t max = f->common.verbose > 0 ? SIZE_MAX : 10;

	if (list->n == 0)
		return;
	inst_say(f, "%s", heading);
	for (size_t i = 0; i < list->n && i < max; i++)
		inst_say(f, "  %s", list->paths[i]);
	if (list->n > max)
		inst_say(f, "  ... and %zu more (-v lists all)", list->n - max);
}

void
inst_json_error(struct inst_front *f, struct dray_json *o, const struct dray_err *e)
{
	struct dray_json *err = dray_json_set_obj(o, "error");

	dray_json_set_int(err, "code", (int64_t)e->code);
	dray_json_set_str(err, "hint", e->hint);
	dray_json_set_str(err, "text", e->text);
	f->told = true;
}

int
inst_front_error(const struct inst_front *f, const struct dray_err *e)
{
	struct tool_common c = f->common;

	c.json = c.json && !f->told;
	return tool_error(&c, NULL, e);
}

void
inst_front_record(const struct inst_front *f, const struct inst_tx *tx, const struct dray_err *e)
{
	struct dray_err bad = { .code = DRAY_OK };

	/* one that went back by itself has its record: the end of the transaction */
	if (f->st.lock == -1 || (e->code == DRAY_E_WENT_BACK && f->run.code == DRAY_E_WENT_BACK))
		return;
	if (inst_evidence_failed(&f->st, tx, e, &bad) != 0)
		inst_say(f, "that this run failed could not be recorded: %s", bad.text);
}

void
inst_say_torn(const struct inst_front *f)
{
	if (!f->run.torn)
		return;
	inst_say(f, "records of earlier runs were changed or deleted by somebody else");
	inst_say_command(f, "to see which", "status", "--log");
}
