/*
 * trigger.c - the shape of triggers. What they do is the installer's business.
 */
#include <string.h>

#include "dray/glob.h"
#include "dray/path.h"
#include "dray/slot.h"
#include "dray/trigger.h"

#define LIST_MAX 256u
#define TEXT_MAX 4096u

enum what { ANY_TEXT, PATTERN, PATH };

/* an array of 1 to LIST_MAX texts (@min 0: may be empty) */
static int
check_texts(const struct dray_json *t, const char *key, size_t min, enum what what, const char *where,
    struct dray_err *e)
{
	const struct dray_json *a;
	const char *s, *why;
	size_t n, len;

	if (dray_json_arr(t, key, &a, &n, where, e) != 0)
		return -1;
	if (n < min || n > LIST_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%s: %s has %zu texts, %zu to %u are possible", where, key, n, min, LIST_MAX);
	for (size_t i = 0; i < n; i++) {
		bool ok = (s = dray_json_text(dray_json_at(a, i), &len)) != NULL && len <= TEXT_MAX;

		/* what was said of the text before it is none */
		why = "it is no text of at most 4096 bytes";
		if (ok && what == PATTERN)
			ok = dray_glob_ok(s, len, &why);
		if (ok && what == PATH) {
			ok = dray_path_ok(s, len, &why) && !dray_path_reserved(s, len);
			why = ok || why != NULL ? why : "it is a reserved name";
		}
		if (!ok)
			return dray_fail(e, DRAY_E_FORMAT, "%s: text %zu of %s will not do: %s", where, i + 1, key, why);
	}
	return 0;
}

/* the id of trigger @i; the caller has checked that one */
static const char *
id_of(const struct dray_json *all, size_t i, size_t *len)
{
	struct dray_err e;
	const char *id;

	return dray_json_str(dray_json_at(all, i), "id", &id, len, "", &e) == 0 ? id : "";
}

static int
check_after(const struct dray_json *all, size_t i, const char *where, struct dray_err *e)
{
	const struct dray_json *a;
	size_t n, len, other_len;

	if (dray_json_arr(dray_json_at(all, i), "after", &a, &n, where, e) != 0)
		return -1;
	if (n > LIST_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%s: after has more than %u ids", where, LIST_MAX);
	for (size_t k = 0; k < n; k++) {
		const char *s = dray_json_text(dray_json_at(a, k), &len);
		size_t j = 0;

		/* only what stands before: so there is no circle, and the order of the array is an order to run them in */
		while (s != NULL && j < i && strcmp(id_of(all, j, &other_len), s) != 0)
			j++;
		if (s == NULL || j == i)
			return dray_fail(e, DRAY_E_FORMAT, "%s: after names something that is no trigger before it", where);
	}
	return 0;
}

static const char *const needs_words[] = { [DRAY_NEEDS_ROOT_LIVE] = "root-live", [DRAY_NEEDS_CHROOT] = "chroot",
	[DRAY_NEEDS_NONE] = "none", NULL };
static const char *const failure_words[] = { [DRAY_FAILURE_WARN] = "warn", [DRAY_FAILURE_FAIL] = "fail",
	[DRAY_FAILURE_ROLLBACK] = "rollback", NULL };

/* which of @words a key has; @usual where it is missing; -1: none of them */
static int
word(const struct dray_json *t, const char *key, const char *const *words, int usual, const char *where, struct dray_err *e)
{
	const char *s;
	size_t len;
	int i = 0;

	if (!dray_json_has(t, key))
		return usual;
	if (dray_json_str(t, key, &s, &len, where, e) != 0)
		return -1;
	while (words[i] != NULL && strcmp(words[i], s) != 0)
		i++;
	return words[i] != NULL ? i : dray_fail(e, DRAY_E_FORMAT, "%s: %s is none of \"%s\", \"%s\" and \"%s\"", where, key,
	    words[0], words[1], words[2]);
}

int
dray_trigger_check(const struct dray_json *all, size_t i, const char *where, struct dray_err *e)
{
	static const char *const keys[] = { "after", "argv", "id", "needs", "on_failure", "outputs", "paths", "phase",
		"timeout", NULL };
	const struct dray_json *t = dray_json_at(all, i), *argv;
	const char *s;
	size_t len, n;
	int64_t seconds;

	if (dray_json_only(t, keys, where, e) != 0 || dray_json_str(t, "id", &s, &len, where, e) != 0)
		return -1;
	if (!dray_token_ok(s, len))
		return dray_fail(e, DRAY_E_FORMAT, "%s: the id is not 1 to 64 of A-Z a-z 0-9 . _ + -", where);
	for (size_t k = 0; k < i; k++)
		if (strcmp(id_of(all, k, &n), s) == 0)
			return dray_fail(e, DRAY_E_FORMAT, "%s: %s stands twice", where, s);
	if (check_texts(t, "argv", 1, ANY_TEXT, where, e) != 0 || check_texts(t, "paths", 1, PATTERN, where, e) != 0 ||
	    (dray_json_has(t, "outputs") && check_texts(t, "outputs", 0, PATH, where, e) != 0) ||
	    (dray_json_has(t, "after") && check_after(all, i, where, e) != 0) ||
	    word(t, "needs", needs_words, DRAY_NEEDS_CHROOT, where, e) < 0 ||
	    word(t, "on_failure", failure_words, DRAY_FAILURE_FAIL, where, e) < 0 ||
	    (dray_json_has(t, "timeout") && dray_json_int(t, "timeout", 1, 86400, &seconds, where, e) != 0))
		return -1;
	if (dray_json_arr(t, "argv", &argv, &n, where, e) != 0)
		return -1;
	/* no search along PATH: what runs is what the release says */
	if ((s = dray_json_text(dray_json_at(argv, 0), &len)) == NULL || len < 2 || *s != '/')
		return dray_fail(e, DRAY_E_FORMAT, "%s: argv begins with something that is no absolute path", where);
	if (!dray_json_has(t, "phase"))
		return 0;
	if (dray_json_str(t, "phase", &s, &len, where, e) != 0)
		return -1;
	return dray_token_ok(s, len) ? 0 : dray_fail(e, DRAY_E_FORMAT, "%s: phase is no name of a phase", where);
}

const char *
dray_trigger_phase(const struct dray_json *t)
{
	struct dray_err ignored;
	const char *s;
	size_t len;

	return dray_json_has(t, "phase") && dray_json_str(t, "phase", &s, &len, "", &ignored) == 0 ? s : NULL;
}

enum dray_trigger_needs
dray_trigger_needs(const struct dray_json *t)
{
	struct dray_err ignored;
	int i = word(t, "needs", needs_words, DRAY_NEEDS_CHROOT, "", &ignored);

	return i < 0 ? DRAY_NEEDS_CHROOT : (enum dray_trigger_needs)i;
}

enum dray_on_failure
dray_trigger_on_failure(const struct dray_json *t)
{
	struct dray_err ignored;
	int i = word(t, "on_failure", failure_words, DRAY_FAILURE_FAIL, "", &ignored);

	return i < 0 ? DRAY_FAILURE_FAIL : (enum dray_on_failure)i;
}
