/*
 * due.c - the triggers that wait, on the disk: STATE/triggers.json, written whole and renamed, and `triggers` in the folder of
 * a transaction, from before its decision.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/trigger.h"

#include "installer/due.h"
#include "installer/files.h"

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

static bool
has(const struct dray_json *list, const char *id)
{
	for (size_t i = 0; i < dray_json_count(list); i++)
		if (strcmp(inst_due_id(dray_json_at(list, i)), id) == 0)
			return true;
	return false;
}

/* a copy that comes after what waits before it alone: the others need not run */
static void
put(struct dray_json *list, const struct dray_json *t)
{
	static const char *const keys[] = { "argv", "id", "outputs", "paths" }, *const words[] = { "needs", "on_failure" };
	const struct dray_json *after;
	struct dray_err ignored;
	struct dray_json *o, *a;
	const char *text;
	size_t n, len;
	int64_t seconds;

	o = dray_json_push_obj(list);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		const struct dray_json *v;

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
		if ((text = dray_json_text(dray_json_at(after, i), &len)) != NULL && has(list, text))
			dray_json_push_str(a, text);
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

int
inst_due_load(const struct inst_state *s, struct dray_json **list, struct dray_err *e)
{
	int r = s->dir == -1 ? 1 : read_list(s->dir, DUE, "dray_triggers", "due", list, e);

	for (size_t i = 0; r == 0 && i < dray_json_count(*list); i++)
		if ((r = dray_trigger_check(*list, i, "a trigger", e)) != 0) {
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
	}
	if (list == NULL || dray_json_count(list) > 0)
		rc = write_list(tx->dir, STAGED, "dray_triggers", "called", list, e);
	dray_json_free(list);
	return rc;
}

/* those that @tx calls up to the step @goal, behind those that wait already */
static int
join(const struct dray_json *waiting, const struct dray_json *called, uint8_t goal, struct dray_json *out, struct dray_err *e)
{
	struct dray_json *now = dray_json_new_arr();
	const struct dray_json *t;
	int64_t steps;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < dray_json_count(called); i++)
		if ((rc = dray_json_int(dray_json_at(called, i), "steps", 1, UINT16_MAX, &steps, STAGED, e)) == 0 &&
		    (rc = dray_json_obj(dray_json_at(called, i), "trigger", &t, STAGED, e)) == 0 &&
		    (goal >= DRAY_MAX_PHASES || (steps & ((INT64_C(1) << goal) - 1)) != 0))
			put(now, t);
	for (size_t i = 0; i < dray_json_count(waiting); i++)
		if (!has(now, inst_due_id(dray_json_at(waiting, i))))
			put(out, dray_json_at(waiting, i));
	for (size_t i = 0; i < dray_json_count(now); i++)
		put(out, dray_json_at(now, i));
	dray_json_free(now);
	return rc;
}

int
inst_due_add(const struct inst_state *s, struct inst_tx *tx, uint8_t goal, struct dray_err *e)
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
	r = join(waiting, called, goal, out, e);
	while (r == 0 && write_list(s->dir, DUE, "dray_triggers", "due", out, e) != 0)
		r = inst_tx_made_room(tx, e) ? 0 : -1;
	dray_json_free(called);
	dray_json_free(waiting);
	dray_json_free(out);
	return r == 0 ? 0 : dray_wrap(e, "triggers");
}

int
inst_due_done(const struct inst_state *s, const char *id, struct dray_err *e)
{
	struct dray_json *list, *out;
	int rc;

	if (inst_due_load(s, &list, e) != 0)
		return -1;
	out = dray_json_new_arr();
	for (size_t i = 0; i < dray_json_count(list); i++)
		if (strcmp(inst_due_id(dray_json_at(list, i)), id) != 0)
			put(out, dray_json_at(list, i));
	dray_json_free(list);
	rc = write_list(s->dir, DUE, "dray_triggers", "due", out, e);
	dray_json_free(out);
	return rc;
}
