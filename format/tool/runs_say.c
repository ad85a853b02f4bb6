/*
 * runs_say.c - one record of the evidence in words. Every text in it may be anybody's, so all of it is quoted.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runs.h"
#include "tool_in.h"

#define INDENT 28u

struct words { char text[1600]; size_t len; };

DRAY_PRINTF(2, 3) static void
add(struct words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->text + w->len, sizeof(w->text) - w->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		w->len = (size_t)n < sizeof(w->text) - w->len ? w->len + (size_t)n : sizeof(w->text) - 1;
}

/* the member as printable text, "" when there is none */
static const char *
text_of(const struct dray_json *o, const char *key, char *out, size_t cap)
{
	struct dray_err ignored;
	const char *s;
	size_t len;

	out[0] = '\0';
	if (o != NULL && dray_json_has(o, key) && dray_json_str(o, key, &s, &len, "", &ignored) == 0)
		dray_quote(s, len, out, cap);
	return out;
}

static int64_t
number_of(const struct dray_json *o, const char *key)
{
	struct dray_err ignored;
	int64_t n;

	if (o == NULL || !dray_json_has(o, key) || dray_json_int(o, key, 0, INT64_MAX, &n, "", &ignored) != 0)
		return 0;
	return n;
}

static const struct dray_json *
object_of(const struct dray_json *o, const char *key)
{
	struct dray_err ignored;
	const struct dray_json *sub;

	if (o == NULL || !dray_json_has(o, key) || dray_json_obj(o, key, &sub, "", &ignored) != 0)
		return NULL;
	return sub;
}

/* of a repair both are the same */
static bool
one_release(const struct dray_json *from, const struct dray_json *to)
{
	char a[80], b[80];

	text_of(from, "bundle_id", a, sizeof(a));
	return a[0] != '\0' && strcmp(a, text_of(to, "bundle_id", b, sizeof(b))) == 0;
}

static void
add_release(struct words *w, const struct dray_json *tx, const struct dray_json *run)
{
	const struct dray_json *from = object_of(tx, "from"), *to = object_of(tx, "to");
	char a[80], b[80], c[80];

	if (to == NULL)		/* it was not decided yet */
		to = object_of(run, "release");
	if (from != NULL && (to == NULL || !one_release(from, to)))
		add(w, " %s %s ->", text_of(from, "product", a, sizeof(a)), text_of(from, "version", b, sizeof(b)));
	if (to != NULL)
		add(w, " %s %s (counter %" PRId64 ")", text_of(to, "product", a, sizeof(a)),
		    text_of(to, "version", c, sizeof(c)), number_of(to, "counter"));
}

static void
add_signers(struct words *w, const struct dray_json *run)
{
	struct dray_err ignored;
	const struct dray_json *list;
	char name[80], key[24];
	size_t n;

	if (run == NULL || !dray_json_has(run, "signers") || dray_json_arr(run, "signers", &list, &n, "", &ignored) != 0)
		return;
	for (size_t i = 0; i < n && i < 8; i++)
		add(w, "%s %s %.8s", i == 0 ? "; signed by" : ",", text_of(dray_json_at(list, i), "name", name, sizeof(name)),
		    text_of(dray_json_at(list, i), "key", key, sizeof(key)));
	if (n > 8)
		add(w, " and %zu more", n - 8);
}

static void
add_options(struct words *w, const struct dray_json *doc)
{
	struct dray_err ignored;
	const struct dray_json *list;
	char q[80];
	size_t n, len;

	if (!dray_json_has(doc, "options") || dray_json_arr(doc, "options", &list, &n, "", &ignored) != 0)
		return;
	for (size_t i = 0; i < n && i < 8; i++) {
		const char *s = dray_json_text(dray_json_at(list, i), &len);

		if (s != NULL)
			add(w, " --%s", dray_quote(s, len, q, sizeof(q)));
	}
}

static void
add_end(struct words *w, const struct dray_ev_record *rec, const struct dray_json *run)
{
	const struct dray_json *list = object_of(rec->doc, "list");
	char why[700];
	int64_t n;

	if (strcmp(rec->ended, "done") == 0)
		add(w, ": done");
	else if (strcmp(rec->ended, "back") == 0)
		add(w, ": back in the state before");
	else if (strcmp(rec->ended, "failed") == 0)
		add(w, ": failed");
	else if (strcmp(rec->ended, "forgotten") == 0 || strcmp(rec->ended, "forgotten-all") == 0)
		add(w, ": the way back is freed");
	else if (strcmp(rec->ended, "trigger") == 0)
		add(w, ": trigger %s", text_of(object_of(rec->doc, "trigger"), "id", why, sizeof(why)));
	else
		add(w, ": %s", text_of(rec->doc, "ended", why, sizeof(why)));
	if ((n = number_of(rec->doc, "exit")) != 0)
		add(w, " (exit %" PRId64 ")", n);
	if (list != NULL)
		add(w, ", %" PRId64 " paths", number_of(list, "rows"));
	if ((n = number_of(object_of(run, "decisions"), "merged")) != 0)
		add(w, ", %" PRId64 " merged", n);
	if ((n = number_of(rec->doc, "about")) != 0)
		add(w, " (record %" PRId64 ")", n);
	if ((n = number_of(rec->doc, "kept_count")) != 0)
		add(w, ", %" PRId64 " kept", n);
	add_signers(w, run);
	if (text_of(rec->doc, "why", why, sizeof(why))[0] != '\0')
		add(w, "; %s", why);
}

void
tool_runs_say(const struct dray_ev_record *rec)
{
	const struct dray_json *run = object_of(rec->doc, "run"), *tx = object_of(rec->doc, "transaction");
	char verb[40], began[40], when[40];
	struct words w = { .len = 0 };

	text_of(rec->doc, "verb", verb, sizeof(verb));
	text_of(run, "verb", began, sizeof(began));
	add(&w, "%s", verb[0] != '\0' ? verb : "?");
	add_options(&w, rec->doc);
	if (began[0] != '\0' && strcmp(began, verb) != 0)
		add(&w, " of an %s", began);
	add_release(&w, tx, run);
	add_end(&w, rec, run);
	printf("%5" PRIu64 "  %-20s ", rec->number, text_of(rec->doc, "time", when, sizeof(when)));
	tool_wrap_text(w.text, INDENT, INDENT);
}
