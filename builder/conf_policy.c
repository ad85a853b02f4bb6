/*
 * conf_policy.c - a freebsd-update.conf as a policy: each list of paths is a list of rules, each switch a rule or a word of rules.
 * Source: freebsd-update.conf(5); path lists there are extended regular expressions that have to match from the start.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/conf_policy.h"
#include "dray/policy.h"

#define LINE_MAX_BYTES 65536u

enum kind { IGNORE, MERGE, KEEP, ALLOW_ADD, ALLOW_DELETE, METADATA, OTHER };

static const struct option { const char *name; enum kind kind; } options[] = {
	{ "IgnorePaths", IGNORE }, { "UpdateIfUnmodified", KEEP }, { "MergeChanges", MERGE }, { "AllowAdd", ALLOW_ADD },
	{ "AllowDelete", ALLOW_DELETE }, { "KeepModifiedMetadata", METADATA },
	/* about fetching, the machine, or its report: nothing that a policy says */
	{ "KeyPrint", OTHER }, { "ServerName", OTHER }, { "Components", OTHER }, { "IDSIgnorePaths", OTHER },
	{ "WorkDir", OTHER }, { "MailTo", OTHER }, { "StrictComponents", OTHER }, { "BackupKernel", OTHER },
	{ "BackupKernelDir", OTHER }, { "BackupKernelSymbolFiles", OTHER }, { "CreateBootEnv", OTHER }, { "BaseDir", OTHER },
};

/* rules by what goes first */
enum { LEFT_ALONE, ADDED_REMOVED, MERGED, KEPT, PARTS };

struct conf {
	FILE *out[PARTS];	/* lines without what is said of owners and modes */
	char *text[PARTS];
	size_t len[PARTS];
	bool keep_metadata;
	bool seen[sizeof(options) / sizeof(options[0])];
};

/* one expression as a pattern into @p, of @cap bytes; *why when it says more than a pattern can */
static bool
pattern_of(const char *re, char *p, size_t cap, const char **why)
{
	size_t n = 0;
	bool set = false;

	re += strspn(re, "/");
	for (; *re != '\0' && n + 3 < cap; re++) {
		if (!set && *re == '\\' && re[1] != '\0') {
			re++;
			if (strchr("*?[\\", *re) != NULL)
				p[n++] = '\\';
			p[n++] = *re;
		} else if (!set && strchr("*+?(){}|^$", *re) != NULL) {
			*why = "it repeats, chooses or ends, which no pattern here can say";
			return false;
		} else {
			set = *re == '[' ? true : *re == ']' ? false : set;
			p[n++] = *re;
		}
	}
	*why = "it is too long";
	if (*re != '\0')
		return false;
	/* of the start of a name any longer name is meant as well */
	if (n > 0 && p[n - 1] != '/')
		p[n++] = '*';
	p[n] = '\0';
	*why = "it is empty";
	return n > 0;
}

static int
paths(struct conf *c, enum kind kind, char *words, struct dray_err *e)
{
	static const struct { int part; const char *action; } how[] = { [IGNORE] = { LEFT_ALONE, "ignore" },
		[MERGE] = { MERGED, "merge" }, [KEEP] = { KEPT, "mine" } };
	char p[2048], q[200], *at = NULL;
	const char *why;

	for (char *w = strtok_r(words, " \t\r", &at); w != NULL; w = strtok_r(NULL, " \t\r", &at)) {
		if (!pattern_of(w, p, sizeof(p), &why)) {
			dray_fail(e, DRAY_E_USAGE, "%s: %s", dray_quote(w, strlen(w), q, sizeof(q)), why);
			return dray_hint(e, "leave it out there, and write a rule of your own into the policy");
		}
		fprintf(c->out[how[kind].part], "%s %s\n", p, how[kind].action);
	}
	return 0;
}

static int
option(struct conf *c, const char *name, char *words, struct dray_err *e)
{
	char q[100], *at = NULL, *value;
	size_t i = 0;
	bool no;

	while (i < sizeof(options) / sizeof(options[0]) && strcmp(options[i].name, name) != 0)
		i++;
	if (i == sizeof(options) / sizeof(options[0]))
		return dray_fail(e, DRAY_E_USAGE, "no option is called %s", dray_quote(name, strlen(name), q, sizeof(q)));
	if (options[i].kind == IGNORE || options[i].kind == MERGE || options[i].kind == KEEP)
		return paths(c, options[i].kind, words, e);
	if (options[i].kind == OTHER)
		return 0;
	if (c->seen[i])
		return dray_fail(e, DRAY_E_USAGE, "%s is there twice", name);
	c->seen[i] = true;
	value = strtok_r(words, " \t\r", &at);
	no = value != NULL && strcmp(value, "no") == 0;
	if (value == NULL || (!no && strcmp(value, "yes") != 0))
		return dray_fail(e, DRAY_E_USAGE, "%s is yes or no", name);
	if (no && options[i].kind != METADATA)
		fprintf(c->out[ADDED_REMOVED], "** ignore if %s\n", options[i].kind == ALLOW_ADD ? "added" : "removed");
	if (options[i].kind == METADATA)
		c->keep_metadata = !no;
	return 0;
}

static int
line(struct conf *c, char *text, struct dray_err *e)
{
	char *name, *at = NULL;

	text[strcspn(text, "#\n")] = '\0';
	name = strtok_r(text, " \t\r", &at);
	return name == NULL ? 0 : option(c, name, at, e);
}

static int
read_conf(FILE *in, struct conf *c, struct dray_err *e)
{
	char *text = malloc(LINE_MAX_BYTES);
	size_t number = 0, len;
	int rc = 0;

	if (text == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	while (rc == 0 && fgets(text, LINE_MAX_BYTES, in) != NULL) {
		number++;
		len = strlen(text);
		if (len + 1 == LINE_MAX_BYTES || (len > 0 && text[len - 1] != '\n' && !feof(in)))
			rc = dray_fail(e, DRAY_E_USAGE, "too long, or no text");
		else
			rc = line(c, text, e);
		if (rc != 0)
			dray_wrap(e, "line %zu", number);
	}
	if (rc == 0 && ferror(in))
		rc = dray_fail_errno(e, "read");
	free(text);
	return rc;
}

/* what was made of it as one text */
static int
put_together(const struct conf *c, char **text, size_t *len, struct dray_err *e)
{
	FILE *out = open_memstream(text, len);

	if (out == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < PARTS; i++)
		for (const char *at = c->text[i], *end; *at != '\0'; at = end + 1) {
			end = strchr(at, '\n');
			fprintf(out, "%.*s%s\n", (int)(end - at), at, c->keep_metadata && i >= MERGED ? " keep-metadata" : "");
		}
	if (c->keep_metadata)
		fprintf(out, "** keep-metadata\n");
	return fclose(out) == 0 ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

int
build_conf_policy(FILE *in, char **text, size_t *len, struct dray_err *e)
{
	struct conf c = { .out = { NULL } };
	struct dray_policy check;
	int rc = 0;

	*text = NULL;
	for (size_t i = 0; i < PARTS && rc == 0; i++)
		if ((c.out[i] = open_memstream(&c.text[i], &c.len[i])) == NULL)
			rc = dray_fail(e, DRAY_E_IO, "out of memory");
	if (rc == 0)
		rc = read_conf(in, &c, e);
	for (size_t i = 0; i < PARTS; i++)
		if (c.out[i] != NULL && fclose(c.out[i]) != 0 && rc == 0)
			rc = dray_fail(e, DRAY_E_IO, "out of memory");
	/* what is written must be read: a set of a regular expression may be none of a pattern */
	if (rc == 0 && (rc = put_together(&c, text, len, e)) == 0 && (rc = dray_policy_parse(*text, *len, &check, e)) == 0)
		dray_policy_free(&check);
	for (size_t i = 0; i < PARTS; i++)
		free(c.text[i]);
	if (rc != 0) {
		free(*text);
		*text = NULL;
	}
	return rc;
}
