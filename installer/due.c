/*
 * due.c - the triggers that wait, on the disk: STATE/triggers.json, written whole and renamed, and `triggers` in the folder of
 * a transaction, from before its decision.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/trigger.h"

#include "installer/due.h"
#include "installer/files.h"
#include "installer/run_trigger.h"

#define DUE "triggers.json"
#define STAGED "triggers"
#define MAX_BYTES (64u * 1024u * 1024u)	/* a descriptor has at most 1 MiB, and one id of a later release replaces that of an earlier one */

const char *
inst_due_id(const struct dray_json *t)
{
	struct dray_err ignored;
	const char *id;
	size_t len;

	return dray_json_str(t, "id", &id, &len, "", &ignored) == 0 ? id : "";
}

const struct dray_json *
inst_due_trigger(const struct dray_json *entry)
{
	const struct dray_json *t;
	struct dray_err ignored;

	return dray_json_obj(entry, "trigger", &t, "", &ignored) == 0 ? t : entry;
}

static int64_t
number(const struct dray_json *entry, const char *key)
{
	struct dray_err ignored;
	int64_t n;

	return dray_json_has(entry, key) && dray_json_int(entry, key, 0, UINT32_MAX, &n, "", &ignored) == 0 ? n : 0;
}

uint32_t
inst_due_of(const struct dray_json *entry)
{
	return (uint32_t)number(entry, "of");
}

bool
inst_due_failed(const struct dray_json *entry)
{
	return number(entry, "failed") != 0;
}

/* the entry of that id; NULL: none */
static const struct dray_json *
find(const struct dray_json *list, const char *id)
{
	for (size_t i = 0; i < dray_json_count(list); i++)
		if (strcmp(inst_due_id(inst_due_trigger(dray_json_at(list, i))), id) == 0)
			return dray_json_at(list, i);
	return NULL;
}

/* what has to be known to run it. Of what it comes after, what waits before it: the others need not run */
static void
copy_trigger(const struct dray_json *list, const struct dray_json *t, struct dray_json *o)
{
	static const char *const keys[] = { "argv", "id", "outputs", "paths" }, *const words[] = { "needs", "on_failure" };
	const struct dray_json *after, *v;
	struct dray_err ignored;
	struct dray_json *a;
	const char *text;
	size_t n, len;
	int64_t seconds;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		if (strcmp(keys[k], "id") == 0)
			dray_json_set_str(o, "id", inst_due_id(t));
		else if (dray_json_has(t, keys[k]) && dray_json_arr(t, keys[k], &v, &n, "", &ignored) == 0)
			dray_json_set_copy(o, keys[k], v);
	}
	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		if (dray_json_has(t, words[k]) && dray_json_str(t, words[k], &text, &len, "", &ignored) == 0)
			dray_json_set_str(o, words[k], text);
	if (dray_json_has(t, "timeout") && dray_json_int(t, "timeout", 1, 86400, &seconds, "", &ignored) == 0)
		dray_json_set_int(o, "timeout", seconds);
	if (!dray_json_has(t, "after") || dray_json_arr(t, "after", &after, &n, "", &ignored) != 0)
		return;
	a = dray_json_set_arr(o, "after");
	for (size_t i = 0; i < n; i++)
		if ((text = dray_json_text(dray_json_at(after, i), &len)) != NULL && find(list, text) != NULL)
			dray_json_push_str(a, text);
}

static void
put(struct dray_json *list, const struct dray_json *t, int64_t of, int64_t since, bool failed)
{
	struct dray_json *one = dray_json_new_obj(), *entry;

	copy_trigger(list, t, one);
	entry = dray_json_push_obj(list);
	dray_json_set_int(entry, "failed", failed ? 1 : 0);
	dray_json_set_int(entry, "of", of);
	dray_json_set_int(entry, "since", since);
	dray_json_set_copy(entry, "trigger", one);
	dray_json_free(one);
}

/* as it waits */
static void
put_again(struct dray_json *list, const struct dray_json *entry, bool failed)
{
	put(list, inst_due_trigger(entry), number(entry, "of"), number(entry, "since"), failed);
}

/* the array @key of a small document of ours; 1: there is none */
static int
read_list(int dir, const char *name, const char *version, const char *key, struct dray_json **list, struct dray_err *e)
{
	const struct dray_json *a;
	struct dray_json *doc = NULL;
	uint8_t *p = NULL;
	int64_t one;
	size_t len, n;
	int r = inst_read_file(dir, name, MAX_BYTES, &p, &len, e);

	*list = NULL;
	if (r != 0)
		return r;
	r = -1;
	if (dray_json_parse((const char *)p, len, true, &doc, e) != 0)
		goto out;
	if (!dray_json_is_obj(doc)) {
		dray_fail(e, DRAY_E_FORMAT, "not a JSON object");
		goto out;
	}
	if (dray_json_int(doc, version, 1, 1, &one, name, e) != 0 || dray_json_arr(doc, key, &a, &n, name, e) != 0)
		goto out;
	if ((*list = dray_json_copy(a)) == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else
		r = 0;
out:
	dray_json_free(doc);
	free(p);
	return r;
}

static int
write_list(int dir, const char *name, const char *version, const char *key, const struct dray_json *list, struct dray_err *e)
{
	struct dray_json *doc = dray_json_new_obj();
	char *text = NULL;
	size_t len;
	int rc;

	dray_json_set_int(doc, version, 1);
	dray_json_set_copy(doc, key, list);
	rc = dray_json_write(doc, &text, &len, e);
	dray_json_free(doc);
	if (rc == 0)
		rc = inst_write_file(dir, name, text, len, 0600, e);
	free(text);
	return rc == 0 ? 0 : dray_wrap(e, "%s", name);
}

/* the shape of each entry, and of the triggers in them */
static int
check_list(const struct dray_json *list, struct dray_err *e)
{
	static const char *const keys[] = { "failed", "of", "since", "trigger", NULL };
	struct dray_json *all = dray_json_new_arr();
	const struct dray_json *t;
	int64_t n;
	int rc = all != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");

	for (size_t i = 0; rc == 0 && i < dray_json_count(list); i++) {
		const struct dray_json *entry = dray_json_at(list, i);

		rc = dray_json_only(entry, keys, "a trigger", e) != 0 || dray_json_int(entry, "failed", 0, 1, &n, "a trigger", e) != 0 ||
		    dray_json_int(entry, "of", 0, UINT32_MAX, &n, "a trigger", e) != 0 ||
		    dray_json_int(entry, "since", 0, UINT32_MAX, &n, "a trigger", e) != 0 ||
		    dray_json_obj(entry, "trigger", &t, "a trigger", e) != 0 ? -1 : 0;
		if (rc == 0) {
			dray_json_push_copy(all, t);
			rc = dray_trigger_check(all, i, "a trigger", e);
		}
	}
	dray_json_free(all);
	return rc;
}

int
inst_due_load(const struct inst_state *s, struct dray_json **list, struct dray_err *e)
{
	int r = s->dir == -1 ? 1 : read_list(s->dir, DUE, "dray_triggers", "due", list, e);

	if (r == 0 && (r = check_list(*list, e)) != 0) {
		dray_json_free(*list);
		*list = NULL;
	}
	if (r == 1) {
		*list = dray_json_new_arr();
		return *list != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
	}
	if (r == 0 || e->code == DRAY_E_IO)
		return r;
	dray_wrap(e, "%s/" DUE, s->rel);
	e->code = DRAY_E_SYSTEM;
	return dray_hint(e, "it lists what has to be run after upgrades; when you have run that by hand, delete the file");
}

int
inst_due_called(const struct inst_tx *tx, struct dray_json **list, struct dray_err *e)
{
	int r = read_list(tx->dir, STAGED, "dray_triggers", "called", list, e);

	if (r != 1)
		return r;
	*list = dray_json_new_arr();
	return *list != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

bool
inst_due_has(const struct dray_json *list, const char *id)
{
	return find(list, id) != NULL;
}

int
inst_due_stage(struct inst_tx *tx, const struct inst_plan *p, const struct dray_desc *d, struct dray_err *e)
{
	struct dray_json *list = dray_json_new_arr(), *one;
	int rc = 0;

	for (size_t i = 0; i < d->n_triggers; i++) {
		if (p->due[i] == 0)
			continue;
		one = dray_json_push_obj(list);
		dray_json_set_int(one, "steps", p->due[i]);
		dray_json_set_copy(one, "trigger", dray_json_at(d->triggers, i));
		dray_json_set_int(one, "undone", p->undone[i] ? 1 : 0);
	}
	if (list == NULL || dray_json_count(list) > 0)
		rc = write_list(tx->dir, STAGED, "dray_triggers", "called", list, e);
	dray_json_free(list);
	return rc;
}

/* does a step up to @goal call it? */
static bool
called_by(const struct dray_json *entry, uint8_t goal)
{
	return goal >= DRAY_MAX_PHASES || (number(entry, "steps") & ((INT64_C(1) << goal) - 1)) != 0;
}

/* those that @tx calls up to the step @goal, behind those that wait already */
static void
join(const struct dray_json *waiting, const struct dray_json *called, const struct inst_tx *tx, uint8_t goal,
    struct dray_json *out)
{
	for (size_t i = 0; i < dray_json_count(waiting); i++) {
		const struct dray_json *w = dray_json_at(waiting, i), *c = find(called, inst_due_id(inst_due_trigger(w)));

		if (c == NULL || !called_by(c, goal))
			put_again(out, w, inst_due_failed(w));
	}
	for (size_t i = 0; i < dray_json_count(called); i++) {
		const struct dray_json *c = dray_json_at(called, i), *t = inst_due_trigger(c), *w = find(waiting, inst_due_id(t));

		if (called_by(c, goal))
			put(out, t, tx->number, w != NULL ? number(w, "since") : tx->number, false);
	}
}

/*
 * The way back over @tx: what it called has to run again, for the files are others again, unless all that it makes comes
 * back too. What waited before it waits on.
 */
static void
join_back(const struct dray_json *waiting, const struct dray_json *called, const struct inst_tx *tx, struct dray_json *out)
{
	for (size_t i = 0; i < dray_json_count(waiting); i++) {
		const struct dray_json *w = dray_json_at(waiting, i), *c = find(called, inst_due_id(inst_due_trigger(w)));

		if (c == NULL || (number(c, "undone") != 0 && number(w, "since") < tx->number))
			put(out, inst_due_trigger(w), number(w, "since"), number(w, "since"), c == NULL && inst_due_failed(w));
	}
	for (size_t i = 0; i < dray_json_count(called); i++)
		if (called_by(dray_json_at(called, i), tx->done) && number(dray_json_at(called, i), "undone") == 0)
			put(out, inst_due_trigger(dray_json_at(called, i)), 0, 0, false);
}

int
inst_due_add(const struct inst_state *s, struct inst_tx *tx, uint8_t goal, bool back, struct dray_err *e)
{
	struct dray_json *called = NULL, *waiting = NULL, *out = NULL;
	struct dray_err bad = { .code = DRAY_OK };
	int r = read_list(tx->dir, STAGED, "dray_triggers", "called", &called, e);

	if (r != 0)
		return r == 1 ? 0 : -1;
	/* a list that is damaged must not stop the end of an upgrade: it begins anew */
	if (inst_due_load(s, &waiting, &bad) != 0)
		waiting = dray_json_new_arr();
	out = dray_json_new_arr();
	if (back)
		join_back(waiting, called, tx, out);
	else
		join(waiting, called, tx, goal, out);
	while (r == 0 && write_list(s->dir, DUE, "dray_triggers", "due", out, e) != 0)
		r = inst_tx_made_room(tx, e) ? 0 : -1;
	dray_json_free(called);
	dray_json_free(waiting);
	dray_json_free(out);
	return r == 0 ? 0 : dray_wrap(e, "triggers");
}

int
inst_due_ended(const struct inst_state *s, const char *id, bool well, struct dray_err *e)
{
	struct dray_json *list, *out;
	int rc;

	if (inst_due_load(s, &list, e) != 0)
		return -1;
	out = dray_json_new_arr();
	for (size_t i = 0; i < dray_json_count(list); i++) {
		bool it = strcmp(inst_due_id(inst_due_trigger(dray_json_at(list, i))), id) == 0;

		if (!it || !well)
			put_again(out, dray_json_at(list, i), it || inst_due_failed(dray_json_at(list, i)));
	}
	dray_json_free(list);
	rc = write_list(s->dir, DUE, "dray_triggers", "due", out, e);
	dray_json_free(out);
	return rc;
}

/* what cannot be read or will not do is told by who wants to run it */
static void
allow_called(const struct inst_state *s, uint32_t tx)
{
	struct dray_json *called = NULL;
	struct dray_err ignored;
	char name[32];
	int dir;

	snprintf(name, sizeof(name), "tx/%06u", (unsigned)tx);
	if ((dir = openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return;
	if (read_list(dir, STAGED, "dray_triggers", "called", &called, &ignored) == 0)
		for (size_t i = 0; i < dray_json_count(called); i++)
			inst_trigger_allow(inst_due_trigger(dray_json_at(called, i)), &ignored);
	dray_json_free(called);
	close(dir);
}

void
inst_due_allow(const struct inst_state *s)
{
	struct dray_json *waiting = NULL;
	struct dray_err ignored;
	uint32_t *numbers = NULL;
	size_t n = 0;

	if (s->dir == -1)
		return;
	if (inst_due_load(s, &waiting, &ignored) == 0)
		for (size_t i = 0; i < dray_json_count(waiting); i++)
			inst_trigger_allow(inst_due_trigger(dray_json_at(waiting, i)), &ignored);
	dray_json_free(waiting);
	if (inst_tx_list(s, &numbers, &n, &ignored) == 0)
		for (size_t i = 0; i < n; i++)
			allow_called(s, numbers[i]);
	free(numbers);
}
