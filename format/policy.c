/*
 * policy.c - policy files, as lines and as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/glob.h"
#include "dray/json.h"
#include "dray/num.h"
#include "dray/policy.h"

static const char *const action_name[] = { [DRAY_ACT_IGNORE] = "ignore", [DRAY_ACT_MINE] = "mine", [DRAY_ACT_THEIRS] = "theirs",
	[DRAY_ACT_STRICT] = "strict", [DRAY_ACT_RESTORE] = "restore", [DRAY_ACT_REDIRECT] = "redirect", [DRAY_ACT_MERGE] = "merge",
	[DRAY_ACT_KEEP_METADATA] = "keep-metadata", [DRAY_ACT_USE] = "use" };
static const struct { const char *name; uint8_t when; } whens[] = {
	{ "added", DRAY_WHEN_ADDED }, { "removed", DRAY_WHEN_REMOVED }, { "changed", DRAY_WHEN_CHANGED },
};

struct word { const char *p; size_t len; };

static bool
is(struct word w, const char *text)
{
	return w.len == strlen(text) && memcmp(w.p, text, w.len) == 0;
}

const char *
dray_action_name(enum dray_action a)
{
	return action_name[a];
}

const char *
dray_when_name(uint8_t when)
{
	for (size_t i = 0; i < sizeof(whens) / sizeof(whens[0]); i++)
		if (whens[i].when == when)
			return whens[i].name;
	return NULL;
}

bool
dray_policy_bundled(enum dray_action a)
{
	return a != DRAY_ACT_USE && a != DRAY_ACT_RESTORE && a != DRAY_ACT_REDIRECT && a != DRAY_ACT_STRICT;
}

void
dray_policy_free(struct dray_policy *p)
{
	free(p->v);
	free(p->text);
	free(p->more[0]);
	free(p->more[1]);
	*p = (struct dray_policy){ .v = NULL };
}

static bool
about_one(enum dray_action a)
{
	return a == DRAY_ACT_RESTORE || a == DRAY_ACT_REDIRECT;
}

/* a rule as it is written; what is not there has no @p */
struct written {
	struct word pattern, action, sha256, release, when, validate;
	bool keep_metadata;
};

/* a command is told apart by blanks alone, no shell sees it */
static int
check_command(const struct written *w, enum dray_action a, struct dray_err *e)
{
	bool file = false;

	if (a != DRAY_ACT_MERGE && a != DRAY_ACT_USE)
		return dray_fail(e, DRAY_E_USAGE, "validate goes with merge or use");
	for (size_t i = 0; i + 1 < w->validate.len; i++)
		file |= w->validate.p[i] == '%' && w->validate.p[i + 1] == 'f';
	if (w->validate.len < 2 || w->validate.p[0] != '/' || memchr(w->validate.p, '\0', w->validate.len) != NULL || !file)
		return dray_fail(e, DRAY_E_USAGE, "validate wants a program from / on, and %%f where the file's name shall stand");
	return 0;
}

static int
options(const struct written *w, struct dray_rule *r, struct dray_err *e)
{
	r->keep_metadata = w->keep_metadata || r->action == DRAY_ACT_KEEP_METADATA;
	if (r->keep_metadata && (about_one(r->action) || r->action == DRAY_ACT_IGNORE || r->action == DRAY_ACT_STRICT))
		return dray_fail(e, DRAY_E_USAGE, "keep-metadata does not go with %s", action_name[r->action]);
	if ((r->action == DRAY_ACT_USE) != (w->sha256.p != NULL) ||
	    (w->sha256.p != NULL && !dray_unhex(w->sha256.p, w->sha256.len, r->sha256, sizeof(r->sha256))))
		return dray_fail(e, DRAY_E_USAGE, "use, and it alone, wants the SHA-256 of a text: 64 digits");
	r->bound = w->release.p != NULL;
	if (r->bound && (r->action != DRAY_ACT_USE || !dray_unhex(w->release.p, w->release.len, r->release, sizeof(r->release))))
		return dray_fail(e, DRAY_E_USAGE, "for goes with use, and wants the SHA-256 of the release's file: 64 digits");
	if (w->validate.p == NULL)
		return 0;
	r->validate = w->validate.p;
	r->validate_len = w->validate.len;
	return check_command(w, r->action, e);
}

static bool
has_magic(const struct dray_rule *r)
{
	return memchr(r->pattern, '*', r->len) != NULL || memchr(r->pattern, '?', r->len) != NULL ||
	    memchr(r->pattern, '[', r->len) != NULL || memchr(r->pattern, '\\', r->len) != NULL;
}

/* one rule more; @w points into the set's memory */
static int
add(struct dray_policy *p, struct written *w, struct dray_err *e)
{
	struct dray_rule *r = &p->v[p->n];
	struct word pattern = w->pattern;
	const char *why;
	char q[200];

	while (pattern.len > 0 && pattern.p[0] == '/')
		pattern.p++, pattern.len--;
	while (pattern.len > 0 && pattern.p[pattern.len - 1] == '/')
		pattern.len--;
	if (!dray_glob_ok(pattern.p, pattern.len, &why))
		return dray_fail(e, DRAY_E_USAGE, "the pattern %s: %s", dray_quote(pattern.p, pattern.len, q, sizeof(q)), why);
	*r = (struct dray_rule){ .pattern = pattern.p, .len = pattern.len, .when = w->when.p == NULL ? DRAY_WHEN_ANY : 0 };
	for (size_t i = DRAY_ACT_IGNORE; i < sizeof(action_name) / sizeof(action_name[0]); i++)
		if (is(w->action, action_name[i]))
			r->action = (enum dray_action)i;
	for (size_t i = 0; w->when.p != NULL && i < sizeof(whens) / sizeof(whens[0]); i++)
		if (is(w->when, whens[i].name))
			r->when = whens[i].when;
	if (r->action == DRAY_ACT_NONE) {
		dray_fail(e, DRAY_E_USAGE, "no action is called %s", dray_quote(w->action.p, w->action.len, q, sizeof(q)));
		return dray_hint(e, "there are merge, mine, theirs, use, keep-metadata, ignore, strict, restore and redirect");
	}
	if (r->when == 0) {
		dray_fail(e, DRAY_E_USAGE, "no case is called %s", dray_quote(w->when.p, w->when.len, q, sizeof(q)));
		return dray_hint(e, "there are added, removed and changed");
	}
	if (about_one(r->action) && (r->when != DRAY_WHEN_ANY || has_magic(r)))
		return dray_fail(e, DRAY_E_USAGE, "%s is about one directory: a plain path, in any case", action_name[r->action]);
	if (options(w, r, e) != 0)
		return -1;
	p->n++;
	return 0;
}

/* the next word of a line; a backslash keeps what follows it, a blank too */
static struct word
next_word(const char **at, const char *end)
{
	struct word w;

	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
		(*at)++;
	w.p = *at;
	while (*at < end && **at != ' ' && **at != '\t' && **at != '\r')
		*at += **at == '\\' && end - *at > 1 ? 2 : 1;
	w.len = (size_t)(*at - w.p);
	return w;
}

/* a command in quotes; false: there is none */
static bool
quoted(const char **at, const char *end, struct word *w)
{
	const char *close;

	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	if (*at == end || **at != '"' || (close = memchr(*at + 1, '"', (size_t)(end - *at - 1))) == NULL)
		return false;
	*w = (struct word){ *at + 1, (size_t)(close - *at - 1) };
	*at = close + 1;
	return *at == end || **at == ' ' || **at == '\t' || **at == '\r';
}

/* what stands behind the action, each at most once */
static bool
line_options(struct written *w, const char *at, const char *end)
{
	struct word key;

	if (is(w->action, "use")) {
		w->sha256 = next_word(&at, end);
		if (w->sha256.len == 0)
			return false;
	}
	while ((key = next_word(&at, end)).len > 0) {
		if (is(key, "if") && w->when.p == NULL) {
			w->when = next_word(&at, end);
			if (w->when.len == 0)
				return false;
		} else if (is(key, "for") && w->release.p == NULL) {
			w->release = next_word(&at, end);
			if (w->release.len == 0)
				return false;
		} else if (is(key, "keep-metadata") && !w->keep_metadata) {
			w->keep_metadata = true;
		} else if (!is(key, "validate") || w->validate.p != NULL || !quoted(&at, end, &w->validate)) {
			return false;
		}
	}
	return true;
}

static int
one_line(struct dray_policy *p, const char *at, const char *end, struct dray_err *e)
{
	struct written w = { .keep_metadata = false };

	w.pattern = next_word(&at, end);
	if (w.pattern.len == 0 || w.pattern.p[0] == '#')
		return 0;
	w.action = next_word(&at, end);
	if (w.action.len == 0 || !line_options(&w, at, end)) {
		dray_fail(e, DRAY_E_USAGE, "no rule: a pattern, an action, and perhaps a case and a check are wanted");
		return dray_hint(e, "for example: etc/ssh/** merge if changed validate \"/usr/sbin/sshd -t -f %%f\"");
	}
	if (memchr(w.pattern.p, '\0', w.pattern.len) != NULL)
		return dray_fail(e, DRAY_E_USAGE, "it holds a byte of zero");
	return add(p, &w, e);
}

static int
lines(struct dray_policy *p, size_t len, struct dray_err *e)
{
	uint32_t line = 0;
	size_t before;

	for (const char *at = p->text, *all = p->text + len; at < all; ) {
		const char *end = memchr(at, '\n', (size_t)(all - at));

		end = end == NULL ? all : end;
		line++;
		before = p->n;
		if (p->n == DRAY_POLICY_MAX_RULES)
			return dray_fail(e, DRAY_E_USAGE, "more than %u rules", (unsigned)DRAY_POLICY_MAX_RULES);
		if (one_line(p, at, end, e) != 0)
			return dray_wrap(e, "line %u", (unsigned)line);
		if (p->n > before)
			p->v[before].line = line;
		at = end + (end < all);
	}
	return 0;
}

/* a text of the object as a word within @keep, where it is copied to */
static int
text_of(const struct dray_json *o, const char *key, bool wanted, char **keep, struct word *w, struct dray_err *e)
{
	const char *s;

	*w = (struct word){ .p = NULL };
	if (!wanted && !dray_json_has(o, key))
		return 0;
	if (dray_json_str(o, key, &s, &w->len, "a rule", e) != 0)
		return -1;
	memcpy(*keep, s, w->len);
	w->p = *keep;
	*keep += w->len;
	return 0;
}

static int
one_object(struct dray_policy *p, const struct dray_json *o, char **keep, struct dray_err *e)
{
	static const char *const keys[] = { "path", "action", "if", "keep_metadata", "sha256", "for", "validate", NULL };
	struct written w = { .keep_metadata = false };

	if (!dray_json_is_obj(o))
		return dray_fail(e, DRAY_E_USAGE, "it is no object");
	if (dray_json_only(o, keys, "a rule", e) != 0 || text_of(o, "path", true, keep, &w.pattern, e) != 0 ||
	    text_of(o, "action", true, keep, &w.action, e) != 0 || text_of(o, "if", false, keep, &w.when, e) != 0 ||
	    text_of(o, "sha256", false, keep, &w.sha256, e) != 0 || text_of(o, "for", false, keep, &w.release, e) != 0 ||
	    text_of(o, "validate", false, keep, &w.validate, e) != 0 ||
	    (dray_json_has(o, "keep_metadata") && dray_json_bool(o, "keep_metadata", &w.keep_metadata, "a rule", e) != 0))
		return -1;
	return add(p, &w, e);
}

static int
rules(struct dray_policy *p, const struct dray_json *doc, struct dray_err *e)
{
	static const char *const top[] = { "dray_policy", "rules", NULL };
	const struct dray_json *a;
	char *keep = p->text;
	int64_t version;
	size_t n;

	if (!dray_json_is_obj(doc))
		return dray_fail(e, DRAY_E_USAGE, "not a JSON object");
	if (dray_json_only(doc, top, "the policy", e) != 0 ||
	    dray_json_int(doc, "dray_policy", 1, 1, &version, "the policy", e) != 0 ||
	    dray_json_arr(doc, "rules", &a, &n, "the policy", e) != 0)
		return -1;
	if (n > DRAY_POLICY_MAX_RULES)
		return dray_fail(e, DRAY_E_USAGE, "more than %u rules", (unsigned)DRAY_POLICY_MAX_RULES);
	for (size_t i = 0; i < n; i++) {
		if (one_object(p, dray_json_at(a, i), &keep, e) != 0)
			return dray_wrap(e, "rule %zu", i + 1);
		p->v[p->n - 1].line = (uint32_t)i + 1;
	}
	return 0;
}

static int
parse(struct dray_policy *p, const char *text, size_t len, struct dray_err *e)
{
	struct dray_json *doc = NULL;
	int rc;

	if (!p->json)
		return lines(p, len, e);
	if (dray_json_parse(text, len, false, &doc, e) != 0) {
		e->code = DRAY_E_USAGE;
		return -1;
	}
	/* texts of a document are never longer than what they are written as */
	rc = rules(p, doc, e);
	dray_json_free(doc);
	if (rc != 0)
		e->code = DRAY_E_USAGE;
	return rc;
}

/* no more rules than this: each begins a line, or an object of JSON */
static size_t
rules_at_most(const char *text, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len && n < DRAY_POLICY_MAX_RULES; i++)
		n += text[i] == '\n' || text[i] == '{';
	return n;
}

int
dray_policy_parse(const char *text, size_t len, struct dray_policy *out, struct dray_err *e)
{
	size_t first = 0;

	*out = (struct dray_policy){ .v = NULL };
	if (len > DRAY_POLICY_MAX_BYTES)
		return dray_fail(e, DRAY_E_USAGE, "longer than %u bytes", (unsigned)DRAY_POLICY_MAX_BYTES);
	while (first < len && strchr(" \t\r\n", text[first]) != NULL && text[first] != '\0')
		first++;
	out->json = first < len && text[first] == '{';
	out->text = malloc(len + 1);
	out->v = calloc(rules_at_most(text, len), sizeof(*out->v));
	if (out->text == NULL || out->v == NULL) {
		dray_policy_free(out);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	memcpy(out->text, text, len);
	if (parse(out, text, len, e) == 0)
		return 0;
	dray_policy_free(out);
	return -1;
}

int
dray_policy_join(struct dray_policy *p, struct dray_policy *last, struct dray_err *e)
{
	struct dray_rule *v = reallocarray(p->v, p->n + last->n + 1, sizeof(*v));

	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->v = v;
	if (last->n > 0)
		memcpy(v + p->n, last->v, last->n * sizeof(*v));
	p->n += last->n;
	p->json = last->json;
	p->more[p->more[0] != NULL] = last->text;
	last->text = NULL;
	dray_policy_free(last);
	return 0;
}

const struct dray_rule *
dray_policy_find(const struct dray_policy *p, const char *path, size_t len, uint8_t when, const uint8_t *release)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct dray_rule *r = &p->v[i];

		if ((r->when & when) == 0 || (r->bound && (release == NULL || memcmp(release, r->release, sizeof(r->release)) != 0)))
			continue;
		if (about_one(r->action) ? r->len == len && memcmp(r->pattern, path, len) == 0 :
		    dray_glob_covers(r->pattern, r->len, path, len))
			return r;
	}
	return NULL;
}
