/*
 * decisions.c - what was decided about conflicts, read and written (decisions.h).
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/merge3.h"
#include "dray/num.h"
#include "dray/path.h"

#include "installer/decisions.h"
#include "installer/files.h"

static int
no_memory(struct dray_err *e)
{
	return dray_fail(e, DRAY_E_IO, "out of memory");
}

static int
open_state(const struct inst_front *f, bool make, struct inst_decisions *d, struct dray_err *e)
{
	const char *root = strcmp(f->root, "/") == 0 ? "" : f->root;
	const size_t cap = strlen(root) + strlen(f->st.rel) + sizeof("//" INST_DECISIONS_DIR "/");
	int r;

	d->name = INST_DECISIONS_FILE;
	if ((d->folder = malloc(cap)) == NULL)
		return no_memory(e);
	snprintf(d->folder, cap, "%s/%s/" INST_DECISIONS_DIR "/", root, f->st.rel);
	if (f->st.dir == -1)
		return 0;
	if ((r = inst_private_dir(f->st.dir, INST_DECISIONS_DIR, make, &d->dir, e)) == 1)
		d->dir = -1;
	return r < 0 ? dray_wrap(e, "the decisions in %s", d->folder) : 0;
}

static int
open_file(const char *file, struct inst_decisions *d, struct dray_err *e)
{
	char q[300];

	d->name = tool_leaf_of(file);
	if ((d->folder = strndup(file, (size_t)(d->name - file))) == NULL)
		return no_memory(e);
	d->dir = open(d->folder[0] == '\0' ? "." : d->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir == -1 && errno == ENOENT)
		return dray_fail(e, DRAY_E_USAGE, "there is no folder %s", dray_quote(d->folder, strlen(d->folder), q, sizeof(q)));
	return d->dir == -1 ? dray_fail_errno(e, "open %s", dray_quote(d->folder, strlen(d->folder), q, sizeof(q))) : 0;
}

/* what the file says, now that its text is in memory */
static int
parse(struct inst_decisions *d, struct dray_err *e)
{
	char q[300], n[300];

	dray_policy_free(&d->rules);
	if (dray_policy_parse(d->text, d->len, &d->rules, e) == 0)
		return 0;
	return dray_wrap(e, "%s%s", dray_quote(d->folder, strlen(d->folder), q, sizeof(q)), dray_quote(d->name, strlen(d->name), n, sizeof(n)));
}

int
inst_decisions_load(const struct inst_front *f, const char *file, bool make, struct inst_decisions *d, struct dray_err *e)
{
	uint8_t *text = NULL;
	int r;

	*d = (struct inst_decisions){ .dir = -1 };
	if (file != NULL ? open_file(file, d, e) != 0 : open_state(f, make, d, e) != 0)
		return -1;
	r = d->dir == -1 ? 1 : inst_read_file(d->dir, d->name, DRAY_POLICY_MAX_BYTES, &text, &d->len, e);
	if (r < 0)
		return dray_wrap(e, "the decisions in %s", d->folder);
	d->text = r == 0 ? (char *)text : calloc(1, 1);
	return d->text == NULL ? no_memory(e) : parse(d, e);
}

void
inst_decisions_free(struct inst_decisions *d)
{
	if (d->dir != -1)
		close(d->dir);
	free(d->folder);
	free(d->text);
	dray_policy_free(&d->rules);
	*d = (struct inst_decisions){ .dir = -1 };
}

/* the path as a pattern that matches it alone, as it stands in a line; @out: 2 * @len + 1 */
static size_t
as_pattern(const char *path, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (strchr(" \t\r*?[\\#", path[i]) != NULL || (i == 0 && path[i] == '{'))	/* which would begin JSON */
			out[n++] = '\\';
		out[n++] = path[i];
	}
	out[n] = '\0';
	return n;
}

/* length of the pattern, if the line is a rule of ours: a path, "mine", "theirs" or "use HASH for HASH", and no more; else 0 */
static size_t
plain_rule(const char *line, size_t len)
{
	static const char *const ours[] = { " mine", " theirs", " use " };
	size_t n = 0;

	while (n < len && line[n] != ' ' && strchr("\t\r*?[#", line[n]) == NULL)
		n += line[n] == '\\' && len - n > 1 ? 2 : 1;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		const size_t k = strlen(ours[i]);

		if (len - n >= k && memcmp(line + n, ours[i], k) == 0 && len - n - k == (ours[i][k - 1] == ' ' ? sizeof(" for ") - 1 + 2 * 64 : 0))
			return n;
	}
	return 0;
}

/* without the newline; *next: where the line behind it begins */
static size_t
line_len(const char *line, const char *end, const char **next)
{
	const char *nl = memchr(line, '\n', (size_t)(end - line));

	*next = nl == NULL ? end : nl + 1;
	return (size_t)((nl == NULL ? end : nl) - line);
}

static int
compare(const char *a, size_t alen, const char *b, size_t blen)
{
	int c = memcmp(a, b, alen < blen ? alen : blen);

	return c != 0 ? c : alen < blen ? -1 : alen > blen;
}

/*
 * @out: the text anew. Rules of ours stand in front of all others, in descending order: one file for the same decisions,
 * however they were come by, and what lies in a directory before the directory, whose rule is about it as well
 */
static size_t
rewrite(const struct inst_decisions *d, const char *pattern, size_t n, const char *action, char *out)
{
	const char *next, *end = d->text + d->len;
	bool first = true;
	size_t at = 0, len, plain;

	for (const char *line = d->text; line < end; line = next) {
		len = line_len(line, end, &next);
		plain = plain_rule(line, len);
		first = first && plain > 0;
		if (action != NULL && (!first || compare(line, plain, pattern, n) <= 0)) {
			at += (size_t)sprintf(out + at, "%s %s\n", pattern, action);
			action = NULL;
		}
		if (plain == n && memcmp(line, pattern, n) == 0)
			continue;
		memcpy(out + at, line, len);
		at += len;
		out[at++] = '\n';
	}
	if (action != NULL)
		at += (size_t)sprintf(out + at, "%s %s\n", pattern, action);
	return at;
}

int
inst_decisions_set(struct inst_decisions *d, const char *path, size_t len, const char *action, struct dray_err *e)
{
	char *pattern = malloc(2 * len + 1), *text = NULL, q[300];
	int rc = -1;

	if (d->rules.json) {
		dray_fail(e, DRAY_E_USAGE, "%s%s is a policy in JSON, which is left to whoever wrote it", d->folder, d->name);
		dray_hint(e, "name a file of lines: --policy FILE");
		goto out;
	}
	if (memchr(path, '\n', len) != NULL) {
		dray_fail(e, DRAY_E_USAGE, "%s cannot stand in a line", dray_quote(path, len, q, sizeof(q)));
		dray_hint(e, "decide about it in a policy in JSON");
		goto out;
	}
	if (pattern == NULL || (text = malloc(d->len + 2 * len + 200)) == NULL) {
		no_memory(e);
		goto out;
	}
	d->len = rewrite(d, pattern, as_pattern(path, len, pattern), action, text);
	free(d->text);
	d->text = text;
	text = NULL;
	rc = parse(d, e);
out:
	free(pattern);
	free(text);
	return rc;
}

int
inst_decisions_save(struct inst_decisions *d, struct dray_err *e)
{
	struct stat st;
	unsigned mode = fstatat(d->dir, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & 0777 : 0600;

	if (inst_write_file(d->dir, d->name, d->text, d->len, mode, e) == 0)
		return 0;
	return dray_wrap(e, "the decisions in %s", d->folder);
}

int
inst_decisions_keep(const struct inst_decisions *d, const uint8_t *p, size_t len, char hex[65], struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_sha256 *h = NULL;
	int rc = -1;

	if (dray_sha256_new(&h, e) == 0 && dray_sha256_once(h, p, len, sum, e) == 0)
		rc = inst_write_file(d->dir, dray_hex(sum, sizeof(sum), hex), p, len, 0600, e);
	dray_sha256_free(h);
	return rc == 0 ? 0 : dray_wrap(e, "the text decided on");
}

/* about single paths, as this program writes them; what else a policy can say belongs into --policy */
static int
only_ours(const struct inst_decisions *d, struct dray_err *e)
{
	for (size_t i = 0; i < d->rules.n; i++) {
		const struct dray_rule *r = &d->rules.v[i];

		if (r->action == DRAY_ACT_RESTORE || r->action == DRAY_ACT_REDIRECT)
			return dray_fail(e, DRAY_E_USAGE, "%s%s: line %u: %s belongs into a file of --policy", d->folder, d->name,
			    (unsigned)r->line, dray_action_name(r->action));
	}
	return 0;
}

/* a decision settles what becomes of the content; what the site asks for besides still holds: a check, attributes that stay */
static void
inherit(struct dray_rule *r, const struct dray_policy *site)
{
	const struct dray_rule *of;
	char path[DRAY_PATH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < r->len && n < sizeof(path); i++) {
		i += r->pattern[i] == '\\' && i + 1 < r->len;
		path[n++] = r->pattern[i];
	}
	of = dray_policy_find(site, path, n, DRAY_WHEN_CHANGED | DRAY_WHEN_ADDED, NULL);
	if (of == NULL)
		return;
	r->keep_metadata = r->keep_metadata || of->keep_metadata;
	if (r->action == DRAY_ACT_USE && r->validate == NULL) {
		r->validate = of->validate;
		r->validate_len = of->validate_len;
	}
}

int
inst_decisions_join(struct inst_front *f, struct dray_err *e)
{
	struct inst_decisions d;
	int rc = -1;

	if (inst_decisions_load(f, NULL, false, &d, e) != 0 || only_ours(&d, e) != 0)
		goto out;
	f->policy.n_decided = d.rules.n;
	if (d.rules.n > 0) {
		for (size_t i = 0; i < d.rules.n; i++)
			inherit(&d.rules.v[i], &f->policy.rules);
		if (dray_policy_join(&d.rules, &f->policy.rules, e) != 0)
			goto out;
		f->policy.rules = d.rules;
		f->policy.decided = d.folder;
		d.rules = (struct dray_policy){ .v = NULL };
		d.folder = NULL;
	}
	rc = 0;
out:
	inst_decisions_free(&d);
	return rc;
}
