/*
 * cmd_status.c - dray-install status (what is installed, pending and kept for going back) and forget (free it).
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"
#include "tool/runs.h"

#include "installer/cmd.h"
#include "installer/due.h"
#include "installer/fence.h"
#include "installer/switch.h"

#define DEPTH_MAX 64u	/* handles held at once; what lies deeper is not counted */

struct generation {
	uint32_t number;
	const char *state;
	struct inst_installed from, to;
	bool known;		/* @from and @to are */
	bool unsynced;
	bool partial;		/* there are more @bytes, which could not be counted */
	uint64_t bytes;
	struct inst_foreign parked, missing;	/* @missing: file systems it lies on that are not mounted */
	struct inst_tx *between;	/* of one that is between phases; owned */
};

struct evidence { size_t records; bool intact, unread; struct dray_err why; };

struct asked {
	bool log, restart;
	uint64_t paths;		/* number of a record, 0: not asked */
	const char *export;
};

/* bytes on disk of all in @dir; takes @dir. What vanishes meanwhile is not there to be counted. */
static uint64_t
disk_use(int dir, unsigned depth, bool *partial)
{
	uint64_t sum = 0;
	struct dirent *d;
	struct stat st;
	DIR *list;
	int sub;

	if ((list = fdopendir(dir)) == NULL) {
		*partial = true;
		close(dir);
		return 0;
	}
	for (errno = 0; (d = readdir(list)) != NULL; errno = 0) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
			*partial |= errno != ENOENT;
			continue;
		}
		sum += (uint64_t)st.st_blocks * 512 / (st.st_nlink > 0 && !S_ISDIR(st.st_mode) ? (uint64_t)st.st_nlink : 1);
		if (!S_ISDIR(st.st_mode) || depth >= DEPTH_MAX)
			continue;
		sub = openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub != -1)
			sum += disk_use(sub, depth + 1, partial);
		else
			*partial |= errno != ENOENT;
	}
	*partial |= errno != 0;
	closedir(list);
	return sum;
}

const char *
inst_state_name(const struct inst_tx *tx)
{
	switch (tx->state) {
	case INST_TX_OPEN: return "staged";
	case INST_TX_COMMIT: return "switching";
	case INST_TX_DONE: return inst_tx_between(tx) ? "between-phases" : "switched";
	case INST_TX_FINISHED: return "done";
	case INST_TX_UNDO: return "going-back";
	case INST_TX_UNDONE: return "back";
	case INST_TX_FORGET: return tx->arg == INST_FORGET_DONE ? "leftover" : "forgetting";
	}
	return "unknown";
}

static int
read_generation(const struct inst_front *f, uint32_t number, struct generation *g, struct dray_err *e)
{
	struct inst_tx *tx;
	int rc = -1;

	if (inst_tx_open(&f->st, number, false, &tx, e) != 0)
		return -1;
	g->number = number;
	g->state = inst_state_name(tx);
	g->known = tx->has_plan;
	g->unsynced = tx->unsynced;
	g->from = tx->from;
	g->to = tx->to;
	for (size_t i = 0; i < tx->n_slots; i++) {
		int fd = tx->slots[i].dir == -1 ? -1 : openat(tx->slots[i].dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd != -1)
			g->bytes += disk_use(fd, 0, &g->partial);
		else if (tx->slots[i].dir != -1)
			g->partial = true;
		else if (!tx->slots[i].mounted && inst_foreign_add(&g->missing, tx->slots[i].path, tx->slots[i].len, e) != 0)
			goto out;
	}
	if (g->missing.n == 0 && tx->has_plan && (tx->state == INST_TX_FINISHED || tx->state == INST_TX_FORGET ||
	    inst_tx_between(tx)) && inst_parked(&f->st, tx, &g->parked, e) != 0)
		goto out;
	if (inst_tx_between(tx)) {
		g->between = tx;
		tx = NULL;
	}
	rc = 0;
out:
	inst_tx_close(tx);
	return rc;
}

const char *
inst_pending_word(enum inst_pending p)
{
	switch (p) {
	case INST_PENDING_NONE: break;
	case INST_PENDING_STAGED: return "staged";
	case INST_PENDING_FORWARD: return "switching";
	case INST_PENDING_BACKWARD: return "going-back";
	case INST_PENDING_FINISH: return "switched";
	case INST_PENDING_BETWEEN: return "between-phases";
	case INST_PENDING_FORGET: return "forgetting";
	}
	return "none";
}

/* the chain alone; --log looks at the lists too */
static int
look_evidence(const struct inst_front *f, struct evidence *ev, struct dray_err *e)
{
	struct tool_runs r;
	int rc;

	tool_runs_begin(&r, &f->common, NULL, true);
	rc = inst_log_check(f, false, &r, e);
	ev->records = r.n;
	/* what is wrong with it is a fact to tell, no failure to look */
	ev->intact = rc == 0 && tool_runs_end(&r, f->anchor.records, f->anchor.last, NULL, &ev->why) == 0;
	ev->unread = rc == 0 && !ev->intact && ev->why.code == DRAY_E_IO;
	tool_runs_free(&r);
	return rc;
}

static int
json_due(const struct inst_front *f, struct dray_json *o, struct dray_err *e)
{
	struct dray_json *a = dray_json_set_arr(o, "triggers_due"), *list;

	if (inst_due_load(&f->st, &list, e) != 0)
		return -1;
	for (size_t i = 0; i < dray_json_count(list); i++)
		inst_due_json(a, dray_json_at(list, i));
	dray_json_free(list);
	return 0;
}

static int
print_json(struct inst_front *f, enum inst_pending pending, const struct generation *g, size_t n,
    const struct evidence *ev, struct dray_err *e)
{
	struct dray_json *o = dray_json_new_obj(), *a, *one, *parked;

	inst_installed_json(o, "installed", &f->anchor.installed);
	if (f->anchor.lost)
		dray_json_set_bool(o, "anchor_lost", true);
	a = dray_json_set_arr(o, "floors");
	for (size_t i = 0; i < f->anchor.n_floors; i++) {
		one = dray_json_push_obj(a);
		dray_json_set_str(one, "product", f->anchor.floors[i].product);
		dray_json_set_int(one, "counter", (int64_t)f->anchor.floors[i].counter);
	}
	one = dray_json_set_obj(o, "evidence");
	dray_json_set_int(one, "records", (int64_t)ev->records);
	dray_json_set_bool(one, "intact", ev->intact);
	if (ev->unread)
		inst_json_error(f, o, &ev->why);
	dray_json_set_str(o, "pending", inst_pending_word(pending));
	inst_fence_json(o);
	if (json_due(f, o, e) != 0) {
		dray_json_free(o);
		return -1;
	}
	a = dray_json_set_arr(o, "generations");
	for (size_t i = 0; i < n; i++) {
		one = dray_json_push_obj(a);
		dray_json_set_int(one, "number", g[i].number);
		dray_json_set_str(one, "state", g[i].state);
		if (g[i].between != NULL)
			inst_phase_json(g[i].between, one);
		dray_json_set_int(one, "bytes", (int64_t)g[i].bytes);
		if (g[i].partial)
			dray_json_set_bool(one, "bytes_partial", true);
		dray_json_set_bool(one, "unsynced", g[i].unsynced);
		if (g[i].known) {
			inst_installed_json(one, "from", &g[i].from);
			inst_installed_json(one, "to", &g[i].to);
		}
		parked = dray_json_set_arr(one, "parked");
		for (size_t k = 0; k < g[i].parked.n; k++)
			dray_json_push_str(parked, g[i].parked.paths[k]);
		parked = dray_json_set_arr(one, "not_mounted");
		for (size_t k = 0; k < g[i].missing.n; k++)
			dray_json_push_str(parked, g[i].missing.paths[k]);
	}
	return tool_json(o, e);
}

/* which two it lies between; a repair stays at one */
static const char *
releases(const struct generation *g, char *out, size_t cap)
{
	out[0] = '\0';
	if (g->known && g->from.known && memcmp(g->from.id, g->to.id, sizeof(g->to.id)) == 0)
		snprintf(out, cap, ", within %s", g->to.version);
	else if (g->known)
		snprintf(out, cap, "%s%s to %s", g->from.known ? ", from " : "", g->from.known ? g->from.version : "", g->to.version);
	return out;
}

static void
print_text(const struct inst_front *f, enum inst_pending pending, const struct generation *g, size_t n,
    const struct evidence *ev)
{
	const struct inst_installed *in = &f->anchor.installed;
	char size[32], between[2 * 64 + 32];
	bool back = false, parked = false;

	if (in->known)
		inst_say(f, "%s has %s %s (release counter %" PRIu64 ")", f->root, in->product, in->version, in->counter);
	else
		inst_say(f, "nothing is recorded as installed on %s", f->root);
	for (size_t i = 0; i < in->n_components; i++)
		if (!in->components[i].present)
			inst_say(f, "component %s is not on it", in->components[i].name);
	for (size_t i = 0; i < f->anchor.n_floors; i++)
		inst_say(f, "floor of %s: release counter %" PRIu64, f->anchor.floors[i].product,
		    f->anchor.floors[i].counter);
	if (in->known && f->anchor.n_floors == 0)
		inst_say(f, "no floor is known");
	if (f->anchor.lost)
		inst_say(f, "anchor.json is gone from %s: the next upgrade is trusted anew", f->st.rel);
	for (size_t i = 0; i < n; i++) {
		inst_say(f, "generation %u: %s%s, %s%s%s", (unsigned)g[i].number, g[i].state,
		    releases(&g[i], between, sizeof(between)), g[i].partial ? "at least " : "",
		    tool_human(g[i].bytes, size), g[i].unsynced ? ", made with --no-sync" : "");
		if (g[i].between != NULL)
			inst_phase_say(f, g[i].between);
		inst_print_paths(f, "  parked there:", &g[i].parked);
		inst_print_paths(f, "  part of it lies on file systems that are not mounted:", &g[i].missing);
		back |= strcmp(g[i].state, "done") == 0;
		parked |= g[i].parked.n > 0;
	}
	if (ev->records > 0)
		inst_say(f, "%zu %s recorded (status --log)", ev->records, ev->records == 1 ? "run is" : "runs are");
	if (!ev->intact && !ev->unread)
		inst_say(f, "%s", ev->why.text);
	inst_due_say(f);
	if (pending == INST_PENDING_BETWEEN) {
		inst_say(f, "%s: apply of the same bundle goes on", inst_pending_text(pending));
		inst_say_command(f, "to go back", "rollback", NULL);
	} else if (inst_pending_text(pending) != NULL) {
		inst_say(f, "pending: %s", inst_pending_text(pending));
		inst_say_command(f, "next", "resume", NULL);
	} else if (pending == INST_PENDING_STAGED) {
		inst_say(f, "an interrupted run left staged files: apply of the same bundle takes them over and goes on");
		inst_say_command(f, "to delete them instead", "resume", NULL);
	} else if (back) {
		inst_say_command(f, "to go back", "rollback", NULL);
		inst_say_command(f, "to free that room", "forget", NULL);
	} else if (parked) {
		inst_say_command(f, "to free what is parked", "forget", "--parked");
	} else {
		inst_say(f, "nothing is pending and nothing is kept: nothing to do");
	}
}

static int
status(struct inst_front *f, struct dray_err *e)
{
	enum inst_pending pending = INST_PENDING_NONE;
	struct evidence ev = { .intact = true };
	struct generation *g = NULL;
	uint32_t *numbers = NULL, number;
	size_t n = 0, read = 0;
	int rc = -1;

	if (inst_front_state(f, false, e) != 0)
		return -1;
	if (f->st.dir != -1) {
		if (inst_pending(&f->st, &pending, &number, e) != 0 || inst_tx_list(&f->st, &numbers, &n, e) != 0)
			goto out;
		if ((g = calloc(n + 1, sizeof(*g))) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
		for (; read < n; read++)
			if (read_generation(f, numbers[read], &g[read], e) != 0)
				goto out;
		if (look_evidence(f, &ev, e) != 0)
			goto out;
	}
	if (f->common.json) {
		rc = print_json(f, pending, g, n, &ev, e);
	} else {
		print_text(f, pending, g, n, &ev);
		inst_fence_say(f);
		rc = 0;
	}
	if (rc == 0 && ev.unread) {	/* no fact of this machine, but a look that failed */
		*e = ev.why;
		rc = -1;
	}
out:
	for (size_t i = 0; g != NULL && i < n; i++)
		inst_foreign_free(&g[i].parked), inst_foreign_free(&g[i].missing), inst_tx_close(g[i].between);
	free(g);
	free(numbers);
	return rc;
}

/* the one thing that was asked for */
static int
look(struct inst_front *f, const struct asked *a, bool *advised, struct dray_err *e)
{
	if ((a->log || a->paths != 0) + (a->export != NULL) + a->restart > 1) {
		dray_fail(e, DRAY_E_USAGE, "--log, --export and --needs-restart do not go together");
		return dray_hint(e, "ask for one of them at a time");
	}
	if (!a->log && a->paths == 0 && a->export == NULL && !a->restart)
		return status(f, e);
	if (inst_front_state(f, false, e) != 0)
		return -1;
	if (a->paths != 0)
		return inst_log_paths(f, a->paths, e);
	if (a->export != NULL)
		return inst_export(f, a->export, e);
	return a->restart ? inst_restart(f, advised, e) : inst_log(f, e);
}

int
inst_cmd_status(int argc, char **argv, const struct tool_cmd *self)
{
	struct asked a = { .log = false };
	struct inst_front f;
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(f),
		{ .name = "log", .kind = TOOL_FLAG, .out = &a.log, .help = "every run that is recorded, and whether all is whole" },
		{ .name = "paths", .kind = TOOL_NUMBER, .out = &a.paths, .min = 1, .max = INT64_MAX, .arg = "N",
		    .help = "the paths of record N, before and after" },
		{ .name = "export", .kind = TOOL_TEXT, .out = &a.export, .arg = "FILE",
		    .help = "all of that in one file, for `dray report`" },
		{ .name = "needs-restart", .kind = TOOL_FLAG, .out = &a.restart,
		    .help = "processes that still use replaced files" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	bool advised = false;	/* to restart processes */
	char *folder = NULL;
	size_t n;
	int rc;

	inst_front_init(&f, "status");
	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 0, 0, NULL, &n)) != -1)
		return rc;
	if (a.export != NULL && (folder = tool_folder_of(a.export)) == NULL) {
		dray_fail(&e, DRAY_E_IO, "out of memory");
		return inst_front_error(&f, &e);
	}
	inst_fence(&f, INST_NEEDS_NOTHING, folder);
	free(folder);
	rc = look(&f, &a, &advised, &e) == 0 ? (advised && f.common.exit_detail ? 11 : 0) : inst_front_error(&f, &e);
	inst_front_close(&f);
	return rc;
}

static int
forget(struct inst_front *f, bool parked, struct dray_err *e)
{
	struct inst_forgotten out = { .generations = 0 };
	struct inst_foreign kept = { .n = 0 };
	enum inst_pending did = INST_PENDING_NONE;
	struct inst_tx *between = NULL;
	struct dray_json *o;
	bool there;
	int rc = 0;

	if (inst_front_existing(f, &there, e) != 0)
		return -1;
	if (there)
		rc = inst_recover(&f->st, false, false, &did, &kept, e);
	if (rc == 0 && inst_pending_text(did) != NULL)
		inst_say(f, "%s; that is finished now", inst_pending_text(did));
	inst_foreign_free(&kept);
	if (rc != 0 || (there && inst_forget(&f->st, parked, 0, &out, e) != 0)) {
		if ((rc != 0 && did != INST_PENDING_NONE) || out.begun)
			inst_front_record(f, NULL, e);
		return -1;
	}
	if (there && inst_between(&f->st, &between, e) != 0)
		return -1;
	if (between != NULL)
		inst_say(f, "an upgrade is between two of its phases: what it has replaced stays");
	inst_tx_close(between);
	if (f->common.json) {
		o = dray_json_new_obj();
		dray_json_set_int(o, "generations", (int64_t)out.generations);
		dray_json_set_int(o, "freed", (int64_t)out.slots);
		dray_json_set_int(o, "kept", (int64_t)out.kept);
		return tool_json(o, e);
	}
	if (out.generations == 0 && out.kept == 0)
		inst_say(f, "nothing is kept on %s: nothing to do", f->root);
	else
		inst_say(f, "%zu old %s freed; rollback is over for %zu %s", out.slots, out.slots == 1 ? "object" : "objects",
		    out.generations, out.generations == 1 ? "upgrade" : "upgrades");
	if (out.kept > 0) {
		inst_say(f, "%zu parked %s, changed here, so not freed", out.kept, out.kept == 1 ? "object stays" : "objects stay");
		inst_say_command(f, "to free them too", "forget", "--parked");
	} else if (out.generations > 0) {
		inst_say_command(f, "next", "status", NULL);
	}
	return 0;
}

int
inst_cmd_forget(int argc, char **argv, const struct tool_cmd *self)
{
	struct inst_front f;
	bool parked = false;
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(f),
		{ .name = "parked", .kind = TOOL_FLAG, .out = &parked, .help = "free parked local edits too" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	size_t n;
	int rc;

	inst_front_init(&f, "forget");
	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 0, 0, NULL, &n)) != -1)
		return rc;
	if (parked)
		inst_run_option(&f.run, "parked");
	tool_signals();
	inst_fence(&f, INST_NEEDS_TREE, NULL);
	rc = forget(&f, parked, &e);
	inst_say_torn(&f);
	rc = rc == 0 ? 0 : inst_front_error(&f, &e);
	inst_front_close(&f);
	return rc;
}
