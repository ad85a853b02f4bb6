/*
 * conflicts_edit.c - dray-install conflicts --edit PATH: the merged text with its markers goes to a file and into an editor;
 * what comes back without markers is the decision.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/merge3.h"
#include "dray/num.h"
#include "dray/path.h"

#include "installer/conflicts.h"
#include "installer/files.h"

enum { NAME = 300 };

/* the same for the same path and texts: what was begun is gone on with, and nothing that the tree has left behind is */
static int
file_name(const struct inst_conflicts *c, const struct inst_merge *m, char name[NAME], struct dray_err *e)
{
	uint8_t sum[2][DRAY_SHA256_LEN];
	struct dray_sha256 *h = NULL;
	struct dray_entry en;
	const char *leaf;
	char hex[17];
	int rc;

	dray_index_entry(c->plan->ix, m->row, &en);
	leaf = memrchr(en.path, '/', en.len);
	leaf = leaf == NULL ? en.path : leaf + 1;
	rc = dray_sha256_new(&h, e) != 0 || dray_sha256_once(h, m->text, m->len, sum[0], e) != 0 ||
	    dray_sha256_once(h, en.path, en.len, sum[1], e) != 0 || dray_sha256_once(h, sum[0], sizeof(sum), sum[0], e) != 0 ? -1 : 0;
	dray_sha256_free(h);
	if (rc == 0)
		snprintf(name, NAME, "edit-%s-%.*s", dray_hex(sum[0], 8, hex), (int)(en.path + en.len - leaf < 200 ? en.path + en.len - leaf : 200), leaf);
	return rc;
}

static int
put_file(const struct inst_conflicts *c, const struct inst_merge *m, const char *name, struct dray_err *e)
{
	uint8_t *p = NULL;
	size_t len;
	int r = inst_read_file(c->d.dir, name, 2 * (size_t)DRAY_MERGE3_MAX_BYTES, &p, &len, e);

	free(p);
	return r == 1 ? inst_write_file(c->d.dir, name, m->text, m->len, 0600, e) : r;
}

/* the editor is a command line of the operator's own, as other programs take it; *status: what it ended with */
static int
run_editor(const char *editor, const char *file, int *status, struct dray_err *e)
{
	char sh[] = "sh", how[] = "-c", *line = malloc(strlen(editor) + sizeof(" \"$1\"")), *name = strdup(file);
	char *argv[] = { sh, how, line, sh, name, NULL };
	int rc = -1, error;
	pid_t pid;

	if (line == NULL || name == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	sprintf(line, "%s \"$1\"", editor);
	if ((error = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ)) != 0) {
		errno = error;
		dray_fail_errno(e, "start the editor by /bin/sh");
		goto out;
	}
	while ((rc = waitpid(pid, status, 0)) == -1 && errno == EINTR)
		;
	rc = rc == -1 ? dray_fail_errno(e, "wait for the editor") : 0;
out:
	free(line);
	free(name);
	return rc;
}

/* without an editor it is said where the text lies */
static int
edit_file(const char *file, struct dray_err *e)
{
	const char *editor = getenv("VISUAL");
	char q[DRAY_QUOTE_CAP(600)];
	int status;

	if (editor == NULL || editor[0] == '\0')
		editor = getenv("EDITOR");
	dray_quote(file, strlen(file), q, sizeof(q));
	if (editor == NULL || editor[0] == '\0') {
		dray_fail(e, DRAY_E_CONFLICT, "not decided: neither VISUAL nor EDITOR names an editor");
		return dray_hint(e, "edit %s, then give it with --from", q);
	}
	if (run_editor(editor, file, &status, e) != 0)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	dray_fail(e, DRAY_E_CONFLICT, "not decided: the editor ended with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return dray_hint(e, "the text is in %s; --edit again goes on with it", q);
}

/* an edited text becomes the decision, unless there is still a marker in it */
static int
decide(struct inst_conflicts *c, const struct inst_merge *m, const char *file, const uint8_t *p, size_t len, struct dray_err *e)
{
	char hex[65], for_hex[65], action[160], q[DRAY_QUOTE_CAP(600)];
	struct dray_content theirs;
	struct dray_entry en;
	size_t line = dray_merge3_marker(p, len);

	dray_index_entry(c->plan->ix, m->row, &en);
	if (line != 0) {
		dray_fail(e, DRAY_E_CONFLICT, "not decided: line %zu is still a marker of a conflict", line);
		return dray_hint(e, "settle each place in %s, then --edit again", dray_quote(file, strlen(file), q, sizeof(q)));
	}
	if (inst_conflicts_write(c, e) != 0 || inst_decisions_keep(&c->d, p, len, hex, e) != 0)
		return -1;
	/* a later release has to be looked at again */
	dray_index_content(c->plan->ix, m->theirs, &theirs);
	snprintf(action, sizeof(action), "use %s for %s", hex, dray_hex(theirs.sha256, sizeof(for_hex) / 2, for_hex));
	return inst_decisions_set(&c->d, en.path, en.len, action, e) == 0 ? inst_decisions_save(&c->d, e) : -1;
}

static int
from_file(struct inst_conflicts *c, const struct inst_merge *m, struct dray_err *e)
{
	uint8_t *p = NULL;
	char q[300];
	size_t len;
	int r = inst_read_file(AT_FDCWD, c->from, DRAY_MERGE3_MAX_BYTES, &p, &len, e);

	if (r == 1)
		r = dray_fail(e, DRAY_E_USAGE, "no such file");
	if (r != 0) {
		if (e->code == DRAY_E_SYSTEM)
			e->code = DRAY_E_USAGE;
		return dray_wrap(e, "--from %s", dray_quote(c->from, strlen(c->from), q, sizeof(q)));
	}
	r = decide(c, m, c->from, p, len, e);
	free(p);
	return r;
}

static int
from_editor(struct inst_conflicts *c, const struct inst_merge *m, const char *name, struct dray_err *e)
{
	uint8_t *p = NULL;
	size_t len = 0;
	char *file;
	int r = -1;

	if (inst_conflicts_write(c, e) != 0 || put_file(c, m, name, e) != 0)
		return -1;
	if ((file = malloc(strlen(c->d.folder) + NAME)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	sprintf(file, "%s%s", c->d.folder, name);
	inst_state_close(&c->f.st);	/* nobody has to wait for the editor */
	if (edit_file(file, e) == 0) {
		r = inst_read_file(c->d.dir, name, DRAY_MERGE3_MAX_BYTES, &p, &len, e);
		r = r == 1 ? dray_fail(e, DRAY_E_CONFLICT, "not decided: the editor left no file") : r;
	}
	if (r == 0)
		r = decide(c, m, file, p, len, e);
	free(file);
	free(p);
	return r;
}

int
inst_conflicts_edit(struct inst_conflicts *c, struct dray_err *e)
{
	const struct inst_merge *m = inst_conflicts_find(c, c->edit, e);
	char name[NAME] = "", q[300];

	if (m == NULL)
		return -1;
	dray_quote(c->edit, strlen(c->edit), q, sizeof(q));
	if (m->text == NULL && c->from == NULL) {
		dray_fail(e, DRAY_E_CONFLICT, "%s: there is no merged text to edit: %s", q, m->why);
		return dray_hint(e, "decide with --take mine or --take theirs, or give a file with --from");
	}
	if (m->text != NULL && file_name(c, m, name, e) != 0)
		return -1;
	if ((c->from != NULL ? from_file(c, m, e) : from_editor(c, m, name, e)) != 0)
		return dray_wrap(e, "%s", q);
	if (name[0] != '\0' && unlinkat(c->d.dir, name, 0) == -1 && errno != ENOENT)
		return dray_fail_errno(e, "delete the text that was edited, %s%s", c->d.folder, name);
	inst_say(&c->f, "%s: becomes the edited text; what is here will be parked", q);
	return inst_conflicts_next(c, (const char *const *)&c->edit, 1, e);
}
