/*
 * hooksd.c - programs of the site: found and judged before anything foreign is read, run around a switch and a way back.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"

#include "installer/hooksd.h"
#include "installer/run_trigger.h"
#include "installer/runner.h"

#define TIMEOUT_S 3600u
#define HOOKS_MAX 256

static const char *const point_name[INST_HOOK_POINTS] = { "before-plan", "before-commit", "after-commit", "after-rollback" };

/* who may write there has whatever he likes run as who runs this */
static int
ours_alone(const char *path, const struct stat *st, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(300)];

	if ((st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	dray_fail(e, DRAY_E_SYSTEM, "%s belongs to uid %lu with mode %04o: others could change what is run as a hook",
	    dray_quote(path, strlen(path), q, sizeof(q)), (unsigned long)st->st_uid, (unsigned)(st->st_mode & 07777));
	return dray_hint(e, "nothing was changed; chown root and chmod 755 it, look at what is in it, or give --no-hooks");
}

/* @path, resolved, and every folder above it */
static int
way_is_ours(const char *path, struct dray_err *e)
{
	char *at = strdup(path), *slash;
	struct stat st;
	int rc = 0;

	if (at == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	while (rc == 0) {
		rc = lstat(at[0] == '\0' ? "/" : at, &st) == -1 ? dray_fail_errno(e, "look at %s", at) :
		    ours_alone(at[0] == '\0' ? "/" : at, &st, e);
		if (at[0] == '\0' || (slash = strrchr(at, '/')) == NULL)
			break;
		*slash = '\0';
	}
	free(at);
	return rc;
}

/* as run-parts(8) has it: letters, digits, - and _ */
static int
named(const struct dirent *d)
{
	const char *p = d->d_name;

	while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '-' || *p == '_')
		p++;
	return p != d->d_name && *p == '\0';
}

static int
add(struct inst_front *f, enum inst_hook_point at, const char *folder, const char *name, struct dray_err *e)
{
	size_t cap = strlen(folder) + strlen(name) + 2;
	char *path = malloc(cap), q[DRAY_QUOTE_CAP(300)];
	char *argv[] = { path, NULL };
	struct inst_hook_file *v;
	struct stat st;

	if (path == NULL || (v = realloc(f->hooks.v, (f->hooks.n + 1) * sizeof(*v))) == NULL) {
		free(path);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	f->hooks.v = v;
	snprintf(path, cap, "%s/%s", folder, name);
	if (lstat(path, &st) == -1) {
		dray_fail_errno(e, "look at %s", path);
		goto bad;
	}
	if (S_ISREG(st.st_mode) && (st.st_mode & 0111) == 0) {	/* switched off, or a text about the others */
		free(path);
		return 0;
	}
	if (!S_ISREG(st.st_mode)) {
		dray_fail(e, DRAY_E_SYSTEM, "%s is no regular file", dray_quote(path, strlen(path), q, sizeof(q)));
		dray_hint(e, "nothing was changed; a hook is a program itself, not a link to one: put it there, or give --no-hooks");
		goto bad;
	}
	if (ours_alone(path, &st, e) != 0 || inst_runner_allow(INST_PROGRAM_HOOK, TIMEOUT_S, argv, e) != 0)
		goto bad;
	if (f->hooks.n == HOOKS_MAX) {
		dray_fail(e, DRAY_E_SYSTEM, "more than %d hooks, with those in %s", HOOKS_MAX, folder);
		dray_hint(e, "nothing was changed; have one hook call several programs, or give --no-hooks");
		goto bad;
	}
	v[f->hooks.n++] = (struct inst_hook_file){ at, path };
	return 0;
bad:
	free(path);
	return -1;
}

static int
load_point(struct inst_front *f, const char *dir, enum inst_hook_point at, struct dray_err *e)
{
	struct dirent **names = NULL;
	char folder[4400];
	struct stat st;
	int n, rc = 0;

	snprintf(folder, sizeof(folder), "%s/%s", dir, point_name[at]);
	if (lstat(folder, &st) == -1)
		return errno == ENOENT ? 0 : dray_fail_errno(e, "look at %s", folder);
	if (!S_ISDIR(st.st_mode)) {
		dray_fail(e, DRAY_E_SYSTEM, "%s is no directory", folder);
		return dray_hint(e, "nothing was changed; hooks lie in a directory itself, not behind a link to one: make it, or give --no-hooks");
	}
	if (ours_alone(folder, &st, e) != 0)
		return -1;
	if ((n = scandir(folder, &names, named, alphasort)) == -1)
		return dray_fail_errno(e, "list %s", folder);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = add(f, at, folder, names[i]->d_name, e);
		free(names[i]);
	}
	free(names);
	return rc;
}

int
inst_hooksd_load(struct inst_front *f, struct dray_err *e)
{
	const char *dir = f->hooks.dir != NULL ? f->hooks.dir : INST_HOOKSD;
	char *real, q[DRAY_QUOTE_CAP(300)];
	int rc = 0;

	if (f->hooks.none && f->hooks.dir != NULL)
		return dray_fail(e, DRAY_E_USAGE, "--hooks and --no-hooks exclude each other");
	if (f->hooks.none)
		return 0;
	if ((real = realpath(dir, NULL)) == NULL) {
		if (errno == ENOENT && f->hooks.dir == NULL)
			return 0;
		rc = dray_fail_errno(e, "look for hooks in %s", dray_quote(dir, strlen(dir), q, sizeof(q)));
		if (f->hooks.dir != NULL)
			e->code = DRAY_E_USAGE;
		return rc;
	}
	if (strlen(real) > 4096)
		rc = dray_fail(e, DRAY_E_SYSTEM, "the path of the hooks is too long");
	if (rc == 0)
		rc = way_is_ours(real, e);
	for (int at = 0; rc == 0 && at < INST_HOOK_POINTS; at++)
		rc = load_point(f, real, (enum inst_hook_point)at, e);
	free(real);
	return rc;
}

int
inst_hooksd_load_soft(struct inst_front *f, struct dray_err *e)
{
	if (inst_hooksd_load(f, e) == 0)
		return 0;
	if (e->code == DRAY_E_USAGE)
		return -1;
	f->hooks.unusable = *e;
	dray_err_clear(e);
	while (f->hooks.n > 0)
		free(f->hooks.v[--f->hooks.n].path);
	return 0;
}

static char *
facts(const struct inst_front *f, enum inst_hook_point at, const struct inst_moment *m, struct dray_err *e)
{
	struct dray_json *o = dray_json_new_obj(), *c;
	char hex[65], *text = NULL;
	size_t len;

	dray_json_set_int(o, "dray_hook", 1);
	dray_json_set_str(o, "point", point_name[at]);
	dray_json_set_str(o, "verb", f->run.verb);
	dray_json_set_path(o, "root", f->root, strlen(f->root));
	dray_json_set_path(o, "state", f->st.rel, strlen(f->st.rel));
	if (f->b != NULL) {
		const struct dray_desc *d = dray_bundle_desc(f->b);

		c = dray_json_set_obj(o, "bundle");
		dray_json_set_str(c, "id", dray_hex(dray_bundle_id(f->b), 32, hex));
		dray_json_set_str(c, "product", d->product);
		dray_json_set_str(c, "version", d->version);
		dray_json_set_int(c, "counter", (int64_t)d->counter);
	}
	if (m->from != NULL)
		inst_installed_json(o, "from", m->from);
	if (m->to != NULL)
		inst_installed_json(o, "to", m->to);
	if (m->phase != NULL)
		dray_json_set_str(o, "phase", m->phase);
	if (m->plan != NULL) {
		dray_json_set_str(o, "plan_id", dray_hex(m->plan->id, 32, hex));
		inst_report_counts(m->plan, dray_json_set_obj(o, "paths"));
	}
	if (m->result != NULL)
		dray_json_set_str(o, "result", m->result);
	if (dray_json_write(o, &text, &len, e) == 0 && len >= INST_RAN_INPUT) {
		dray_fail(e, DRAY_E_SYSTEM, "there is more to tell a hook than it may be told");
		free(text);
		text = NULL;
	}
	dray_json_free(o);
	return text;
}

/* *why: empty when it ended well */
static int
run_one(struct inst_front *f, const struct inst_hook_file *h, const char *input, char why[300], struct dray_err *e)
{
	char *argv[] = { h->path, NULL }, *said, how[80], q[200];
	struct inst_program p = { .kind = INST_PROGRAM_HOOK, .argv = argv, .timeout_s = TIMEOUT_S, .text = input,
	    .stop = tool_signal_seen };
	const char *leaf = strrchr(h->path, '/') + 1, *last;
	struct dray_json *o;
	struct inst_ran ran;

	inst_say(f, "hook %s/%s", point_name[h->at], leaf);
	if (inst_run_program(&p, &ran, e) != 0)
		return -1;
	if ((said = inst_ran_printable(&ran)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (said[0] != '\0')
		inst_say_output(f, said);
	why[0] = '\0';
	if (ran.how != INST_RAN_EXIT || ran.code != 0) {
		while (ran.len > 0 && ran.output[ran.len - 1] == '\n')
			ran.output[--ran.len] = '\0';
		last = ran.len > 150 ? ran.output + ran.len - 150 : ran.output;
		for (char *nl = strchr(last, '\n'); nl != NULL; nl = strchr(nl, '\n'))
			*nl = '|';
		snprintf(why, 300, "hook %s/%s: %s%s%s", point_name[h->at], leaf, inst_ran_text(&ran, how), last[0] != '\0' ? ": " : "",
		    dray_quote(last, strlen(last), q, sizeof(q)));
	}
	if (f->hooks.told == NULL)
		f->hooks.told = dray_json_new_arr();
	o = dray_json_push_obj(f->hooks.told);
	dray_json_set_str(o, "point", point_name[h->at]);
	dray_json_set_str(o, "hook", leaf);
	dray_json_set_str(o, "result", why[0] == '\0' ? "done" : "failed");
	dray_json_set_str(o, "output", said);
	free(said);
	return 0;
}

bool
inst_hooksd_any(const struct inst_front *f, enum inst_hook_point at)
{
	for (size_t i = 0; i < f->hooks.n; i++)
		if (f->hooks.v[i].at == at)
			return true;
	return false;
}

int
inst_hooksd_before(struct inst_front *f, enum inst_hook_point at, const struct inst_moment *m, struct dray_err *e)
{
	char *input = NULL, why[300] = "";
	int rc = 0;

	f->hooks.begun |= at == INST_HOOK_BEFORE_COMMIT;
	for (size_t i = 0; rc == 0 && i < f->hooks.n; i++) {
		if (f->hooks.v[i].at != at)
			continue;
		if (input == NULL && (input = facts(f, at, m, e)) == NULL)
			return -1;
		if ((rc = run_one(f, &f->hooks.v[i], input, why, e)) == 0 && why[0] != '\0') {
			dray_fail(e, DRAY_E_SYSTEM, "%s", why);
			f->hooks.refused = true;
			rc = dray_hint(e, "nothing was changed; repair what it asks for, or go on without with --no-hooks");
		}
	}
	free(input);
	f->run.hooks = f->hooks.told;
	return rc;
}

static void
blame(struct inst_front *f, const char *why)
{
	inst_say(f, "  %s", why);
	if (f->hooks.bad++ == 0)
		dray_fail(&f->hooks.why, DRAY_E_TRIGGER, "%s", why);
}

void
inst_hooksd_after(struct inst_front *f, enum inst_hook_point at, const struct inst_moment *m)
{
	struct dray_err e = { .code = DRAY_OK };
	char *input = NULL, why[300] = "";
	size_t ran = 0;

	f->hooks.begun = false;
	f->run.hooks = NULL;	/* those before have their record */
	dray_json_free(f->hooks.recorded);
	f->hooks.recorded = f->hooks.told;
	f->hooks.told = NULL;
	if (f->hooks.unusable.code != DRAY_OK)
		blame(f, f->hooks.unusable.text);
	for (size_t i = 0; i < f->hooks.n; i++) {
		if (f->hooks.v[i].at != at)
			continue;
		ran++;
		if ((input == NULL && (input = facts(f, at, m, &e)) == NULL) || run_one(f, &f->hooks.v[i], input, why, &e) != 0) {
			snprintf(why, sizeof(why), "hook %s: %.200s", f->hooks.v[i].path, e.text);
			blame(f, why);
			break;
		}
		if (why[0] != '\0')
			blame(f, why);
	}
	free(input);
	if (ran == 0 || f->hooks.told == NULL)
		return;
	f->run.hooks = f->hooks.told;
	if (f->st.lock != -1 && (inst_anchor_load(&f->st, &f->anchor, &e) != 0 ||
	    inst_evidence_hooks(&f->st, f->hooks.bad > 0 ? &f->hooks.why : NULL, &f->anchor, &e) != 0))
		inst_say(f, "what the hooks said could not be recorded: %s", e.text);
	f->run.hooks = NULL;
}

void
inst_hooksd_recovered(struct inst_front *f, enum inst_pending did, bool back)
{
	struct inst_moment m = { .to = &f->anchor.installed };

	switch (did) {
	case INST_PENDING_FORWARD:
	case INST_PENDING_FINISH:
		m.result = back ? "back" : "done";
		break;
	case INST_PENDING_BACKWARD:
		m.result = "back";
		back = true;
		break;
	case INST_PENDING_NONE:
	case INST_PENDING_STAGED:
	case INST_PENDING_FORGET:
	case INST_PENDING_BETWEEN:
		return;
	}
	inst_hooksd_after(f, back ? INST_HOOK_AFTER_ROLLBACK : INST_HOOK_AFTER_COMMIT, &m);
}

void
inst_hooksd_failed(struct inst_front *f, const struct dray_err *e)
{
	if (f->hooks.begun)
		inst_hooksd_after(f, INST_HOOK_AFTER_ROLLBACK,
		    &(struct inst_moment){ .result = e->code == DRAY_E_WENT_BACK ? "back" : "unchanged" });
}

int
inst_hooksd_end(const struct inst_front *f, struct dray_err *e)
{
	if (f->hooks.bad == 0)
		return 0;
	*e = f->hooks.why;
	if (f->hooks.bad > 1)
		dray_wrap(e, "%zu hooks failed; the first", f->hooks.bad);
	return dray_hint(e, "the files stay as they are; do by hand what it is for");
}

void
inst_hooksd_json(const struct inst_front *f, struct dray_json *o)
{
	const struct dray_json *const both[] = { f->hooks.recorded, f->hooks.told };
	struct dray_json *a = NULL;

	for (size_t k = 0; k < sizeof(both) / sizeof(both[0]); k++)
		for (size_t i = 0; both[k] != NULL && i < dray_json_count(both[k]); i++) {
			if (a == NULL)
				a = dray_json_set_arr(o, "hooks");
			dray_json_push_copy(a, dray_json_at(both[k], i));
		}
}

void
inst_hooksd_free(struct inst_front *f)
{
	for (size_t i = 0; i < f->hooks.n; i++)
		free(f->hooks.v[i].path);
	free(f->hooks.v);
	dray_json_free(f->hooks.told);
	dray_json_free(f->hooks.recorded);
}
