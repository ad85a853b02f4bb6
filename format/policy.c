/*
 * policy.c - policy files, as lines and as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/glob.h"
#include "dray/json.h"
#include "dray/policy.h"

static const char *const action_name[] = { [DRAY_ACT_IGNORE] = "ignore", [DRAY_ACT_MINE] = "mine", [DRAY_ACT_THEIRS] = "theirs",
	[DRAY_ACT_STRICT] = "strict", [DRAY_ACT_RESTORE] = "restore", [DRAY_ACT_REDIRECT] = "redirect" };
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

void
dray_policy_free(struct dray_policy *p)
{
	free(p->v);
	free(p->text);
	*p = (struct dray_policy){ .v = NULL };
}

static bool
about_one(enum dray_action a)
{
	return a == DRAY_ACT_RESTORE || a == DRAY_ACT_REDIRECT;
}

/* one rule more; @pattern is kept as a pointer */
static int
add(struct dray_policy *p, struct word pattern, struct word action, struct word when, struct dray_err *e)
{
	struct dray_rule *r = &p->v[p->n];
	const char *why;
	char q[200];

	while (pattern.len > 0 && pattern.p[0] == '/')
		pattern.p++, pattern.len--;
	while (pattern.len > 0 && pattern.p[pattern.len - 1] == '/')
		pattern.len--;
	if (!dray_glob_ok(pattern.p, pattern.len, &why))
		return dray_fail(e, DRAY_E_USAGE, "the pattern %s: %s", dray_quote(pattern.p, pattern.len, q, sizeof(q)), why);
	*r = (struct dray_rule){ .pattern = pattern.p, .len = pattern.len, .when = when.p == NULL ? DRAY_WHEN_ANY : 0 };
	for (size_t i = DRAY_ACT_IGNORE; i < sizeof(action_name) / sizeof(action_name[0]); i++)
		if (is(action, action_name[i]))
			r->action = (enum dray_action)i;
	for (size_t i = 0; when.p != NULL && i < sizeof(whens) / sizeof(whens[0]); i++)
		if (is(when, whens[i].name))
			r->when = whens[i].when;
	if (r->action == DRAY_ACT_NONE) {
		dray_fail(e, DRAY_E_USAGE, "no action is called %s", dray_quote(action.p, action.len, q, sizeof(q)));
		return dray_hint(e, "there are ignore, mine, theirs, strict, restore and redirect");
	}
	if (r->when == 0) {
		dray_fail(e, DRAY_E_USAGE, "no case is called %s", dray_quote(when.p, when.len, q, sizeof(q)));
		return dray_hint(e, "there are added, removed and changed");
	}
	if (about_one(r->action) && (r->when != DRAY_WHEN_ANY || memchr(r->pattern, '*', r->len) != NULL || memchr(r->pattern, '?', r->len) != NULL ||
	    memchr(r->pattern, '[', r->len) != NULL || memchr(r->pattern, '\\', r->len) != NULL))
		return dray_fail(e, DRAY_E_USAGE, "%s is about one directory: a plain path, in any case", action_name[r->action]);
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

static int
one_line(struct dray_policy *p, const char *at, const char *end, struct dray_err *e)
{
	struct word pattern = next_word(&at, end), action = next_word(&at, end), cond = next_word(&at, end);
	struct word when = next_word(&at, end), more = next_word(&at, end);

	if (pattern.len == 0 || pattern.p[0] == '#')
		return 0;
	if (action.len == 0 || more.len > 0 || (cond.len > 0 && (!is(cond, "if") || when.len == 0))) {
		dray_fail(e, DRAY_E_USAGE, "no rule: a pattern, an action, and perhaps a case are wanted");
		return dray_hint(e, "for example: etc/ssh/** mine if changed");
	}
	if (memchr(pattern.p, '\0', pattern.len) != NULL)
		return dray_fail(e, DRAY_E_USAGE, "it holds a byte of zero");
	return add(p, pattern, action, cond.len > 0 ? when : (struct word){ .p = NULL }, e);
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
rules(struct dray_policy *p, const struct dray_json *doc, struct dray_err *e)
{
	static const char *const top[] = { "dray_policy", "rules", NULL }, *const inner[] = { "path", "action", "if", NULL };
	struct word path, action, when;
	const struct dray_json *a, *o;
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
		o = dray_json_at(a, i);
		if (!dray_json_is_obj(o))
			dray_fail(e, DRAY_E_USAGE, "it is no object");
		else if (dray_json_only(o, inner, "a rule", e) == 0 && text_of(o, "path", true, &keep, &path, e) == 0 &&
		    text_of(o, "action", true, &keep, &action, e) == 0 && text_of(o, "if", false, &keep, &when, e) == 0 &&
		    add(p, path, action, when, e) == 0) {
			p->v[p->n - 1].line = (uint32_t)i + 1;
			continue;
		}
		return dray_wrap(e, "rule %zu", i + 1);
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
	out->v = calloc(DRAY_POLICY_MAX_RULES, sizeof(*out->v));
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

const struct dray_rule *
dray_policy_find(const struct dray_policy *p, const char *path, size_t len, uint8_t when)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct dray_rule *r = &p->v[i];

		if ((r->when & when) == 0)
			continue;
		if (about_one(r->action) ? r->len == len && memcmp(r->pattern, path, len) == 0 :
		    dray_glob_covers(r->pattern, r->len, path, len))
			return r;
	}
	return NULL;
}
