/*
 * validate.c - a merged file is shown to the program that a policy names for it before it goes live.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installer/files.h"
#include "installer/runner.h"
#include "installer/validate.h"

#define FOLDER "check"		/* in the transaction's folder, so it goes with it */
#define TIMEOUT_S 60u
#define SAID_MAX 1000u		/* bytes of what it says that are told: the last ones */
enum { WORDS_MAX = 64 };

struct words { char *text; char *v[WORDS_MAX + 1]; };

/* the command, told apart by blanks; %f stays in it */
static int
split(const struct dray_rule *r, struct words *w, struct dray_err *e)
{
	const char *at = r->validate, *end = at + r->validate_len;
	size_t n = 0;
	bool word = false;
	char *to;

	if ((w->text = to = malloc(r->validate_len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (; at < end; at++) {
		if (*at == ' ' || *at == '\t') {
			if (word)
				*to++ = '\0';
			word = false;
			continue;
		}
		if (!word) {
			if (n == WORDS_MAX)
				return dray_fail(e, DRAY_E_USAGE, "a check of more than %u words", (unsigned)WORDS_MAX);
			w->v[n++] = to;
		}
		word = true;
		*to++ = *at;
	}
	*to = '\0';
	w->v[n] = NULL;
	return 0;
}

int
inst_validate_allow(const struct dray_policy *rules, struct dray_err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rules->n; i++) {
		struct words w = { .text = NULL };

		if (rules->v[i].validate == NULL)
			continue;
		if ((rc = split(&rules->v[i], &w, e)) == 0)
			rc = inst_runner_allow(INST_PROGRAM_CHECK, TIMEOUT_S, w.v, e);
		free(w.text);
	}
	return rc;
}

/* a copy of its own, under the file's name; @path: where it lies beneath the root */
static int
show(const struct inst_state *s, const struct inst_tx *tx, const struct inst_merge *m, const char *leaf, int dir, char *path,
    size_t cap, struct dray_err *e)
{
	int fd = openat(dir, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), rc;
	int n = snprintf(path, cap, "/%s/tx/%06u/" FOLDER "/%s", s->rel, (unsigned)tx->number, leaf);

	if (fd == -1)
		return dray_fail_errno(e, "create a copy to be checked");
	rc = n > 0 && (size_t)n < cap ? 0 : dray_fail(e, DRAY_E_SYSTEM, "the path of the state folder is too long");
	if (rc == 0)
		rc = inst_write_all(fd, m->text, m->len, e);
	if (close(fd) == -1 && rc == 0)
		rc = dray_fail_errno(e, "write a copy to be checked");
	return rc;
}

/* what its program says; *failed: it does not like it, and @e tells for the first one */
static int
judge(struct inst_merge *m, const char *file, const struct inst_validate *o, const char *path,
    size_t *failed, struct dray_err *e)
{
	char how[80], q[700], said[900];
	struct words w = { .text = NULL };
	struct inst_program p = { .kind = INST_PROGRAM_CHECK, .timeout_s = TIMEOUT_S, .chroot = !o->here, .text = path, .stop = o->stop };
	struct inst_ran ran;
	size_t from;
	int rc = split(m->rule, &w, e);

	p.argv = w.v;
	if (rc == 0)
		rc = inst_run_program(&p, &ran, e);
	free(w.text);
	if (rc != 0)
		return -1;
	if (ran.how == INST_RAN_MISSING) {
		m->check = INST_CHECK_NO_PROGRAM;
	} else if (ran.how == INST_RAN_EXIT && ran.code == 0) {
		m->check = INST_CHECK_PASSED;
	} else {
		m->check = INST_CHECK_FAILED;
		while (ran.len > 0 && ran.output[ran.len - 1] == '\n')
			ran.len--;
		from = ran.len > SAID_MAX ? ran.len - SAID_MAX : 0;
		snprintf(said, sizeof(said), "%s%s", ran.len > 0 ? ": " : "",
		    dray_quote(ran.output + from, ran.len - from, q, sizeof(q)));
		if ((*failed)++ == 0)
			dray_fail(e, DRAY_E_CONFLICT, "%s fails its check (%.*s, %s)%s", file, (int)m->rule->validate_len, m->rule->validate,
			    inst_ran_text(&ran, how), said);
	}
	return 0;
}

/* in a folder of its own: what the program leaves beside the copy, or puts in its place, goes with it */
static int
one(const struct inst_state *s, const struct inst_tx *tx, const struct inst_plan *p, struct inst_merge *m,
    const struct inst_validate *o, size_t *failed, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], file[DRAY_QUOTE_CAP(120)], path[2 * DRAY_PATH_MAX];
	struct dray_err ignored = { .code = DRAY_OK }, *of;
	struct dray_entry en;
	int dir = -1, rc;
	size_t up;

	dray_index_entry(p->ix, m->row, &en);
	for (up = en.len; up > 0 && en.path[up - 1] != '/'; up--)
		;
	memcpy(leaf, en.path + up, en.len - up);	/* a part has at most 255 bytes */
	leaf[en.len - up] = '\0';
	dray_quote(en.path, en.len, file, sizeof(file));
	if (mkdirat(tx->dir, FOLDER, 0700) == -1 ||
	    (dir = openat(tx->dir, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return dray_fail_errno(e, "make a folder for checks");
	rc = show(s, tx, m, leaf, dir, path, sizeof(path), e);
	close(dir);
	if (rc == 0)
		rc = judge(m, file, o, path, failed, e);
	of = rc == 0 && *failed == 0 ? e : &ignored;	/* what failed before is what is told */
	if (inst_rmtree(tx->dir, FOLDER, of) != 0 && of == e)
		rc = dray_wrap(e, "delete the folder for checks");
	return rc;
}

static bool
checked(const struct inst_merge *m)
{
	return m->rule != NULL && m->rule->validate != NULL && m->text != NULL;
}

bool
inst_validate_wanted(const struct inst_plan *p)
{
	for (size_t i = 0; i < p->n_merges; i++)
		if (checked(&p->merges[i]))
			return true;
	return false;
}

int
inst_validate_merges(const struct inst_state *s, const struct inst_tx *tx, struct inst_plan *p,
    const struct inst_validate *o, struct dray_err *e)
{
	size_t failed = 0;
	int rc = 0;

	for (size_t i = 0; i < p->n_merges && rc == 0; i++)
		if (checked(&p->merges[i]) && !o->here && !o->chroot)
			p->merges[i].check = INST_CHECK_NO_CHROOT;
		else if (checked(&p->merges[i]))
			rc = one(s, tx, p, &p->merges[i], o, &failed, e);
	if (rc != 0 || failed == 0)
		return rc;
	if (failed > 1)
		dray_wrap(e, "%zu merged files fail their checks, the first of them", failed);
	return dray_hint(e, "nothing was changed; decide with --policy FILE: PATH mine, PATH theirs, PATH use HASH");
}
