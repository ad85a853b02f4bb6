/*
 * check_report.c - what check found, in words and in JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/path.h"

#include "installer/check_report.h"
#include "installer/kept.h"
#include "installer/repair.h"

/* so many without -v */
#define TEXT_DAMAGE 100u
#define TEXT_OTHER 10u
#define JSON_MEMBERS 10000u

/* the lists a row can stand in */
enum part { DAMAGE, DECIDED, UNREAD, CHOSEN };

struct view {
	const struct inst_front *f;
	const struct inst_check *c;
	const uint8_t *chosen;		/* by a repair; NULL: there is none */
};

static const char *const because[] = {
	[INST_LOCAL_CONFIG] = "config", [INST_LOCAL_MADE] = "made", [INST_LOCAL_DELETED] = "deleted", [INST_LOCAL_EDITED] = "edited",
	[INST_LOCAL_SYMLINK] = "symlink", [INST_LOCAL_POLICY] = "policy", [INST_LOCAL_ATTRS] = "attributes",
	[INST_LOCAL_OWN] = "edited-attributes",
};

int
inst_check_run(const struct inst_front *f, struct inst_check_opts o, struct inst_check *out, struct dray_err *e)
{
	const struct inst_installed *have = &f->anchor.installed;
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct tool_progress pr;
	uint8_t *kept = NULL;
	int rc;

	memset(out, 0, sizeof(*out));
	if (have->known && strcmp(have->product, d->product) == 0 && strcmp(have->version, d->version) == 0 &&
	    have->counter == d->counter && inst_kept_load(&f->st, have, dray_bundle_index(f->b), &kept, e) != 0)
		return -1;
	o.absent = inst_components_absent(d, have, &o.components);
	o.threads = (unsigned)f->common.jobs;
	o.kept = kept;
	o.progress = tool_progress_tell;
	o.ctx = &pr;
	o.stop = tool_signal_seen;
	tool_progress_begin(&pr, &f->common, "checking", 0);
	rc = inst_check_tree(f->st.root, dray_bundle_index(f->b), d, &o, out, e);
	tool_progress_end(&pr, rc == 0);
	free(kept);
	return rc;
}

/* the bits of a row that matter in a list; 0: it is not in it */
static uint16_t
bits_of(const struct view *v, uint32_t row, enum part part)
{
	const struct inst_check *c = v->c;

	if (part == CHOSEN)
		return inst_repair_bits(c, v->chosen, row);
	if (part == UNREAD)
		return c->why[row] == INST_LOCAL_ABSENT ? 0 : c->diffs[row] & INST_CHECK_UNREAD;
	/* what is missing with the directory above it is told there */
	if ((c->diffs[row] & INST_CHECK_BENEATH) != 0)
		return 0;
	if (part == DAMAGE)
		return inst_check_damage(c, row);
	if (v->chosen != NULL && (v->chosen[row] & INST_REPAIR_NAMED) != 0)
		return 0;	/* decided otherwise now */
	return c->why[row] == INST_LOCAL_ABSENT ? 0 : inst_check_decided(c, row);
}

static size_t
in_part(const struct view *v, enum part part)
{
	size_t n = 0;

	for (uint32_t row = 0; row < v->c->rows; row++)
		n += bits_of(v, row, part) != 0;
	return n;
}

static size_t
limit(const struct inst_front *f, size_t usual)
{
	return f->common.verbose > 0 ? SIZE_MAX : usual;
}

static void
diff_words(uint16_t diffs, char *out, size_t cap)
{
	size_t at = 0;

	out[0] = '\0';
	for (unsigned d = 0; d < INST_DIFFS; d++)
		if ((diffs >> d & 1) != 0 && at < cap)
			at += (size_t)snprintf(out + at, cap - at, "%s%s", at == 0 ? "" : ", ", inst_diff_name[d]);
}

/* paths that a row of this list stands for besides its own */
static size_t
beneath_of(const struct view *v, uint32_t row, enum part part)
{
	return part == CHOSEN ? 0 : inst_check_beneath(v->c, dray_bundle_index(v->f->b), row);
}

static void
say_row(const struct view *v, uint32_t row, enum part part)
{
	const struct inst_front *f = v->f;
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)], words[160], more[64] = "";
	struct dray_entry en;
	size_t beneath;

	dray_index_entry(dray_bundle_index(f->b), row, &en);
	dray_quote(en.path, en.len, quoted, sizeof(quoted));
	if (part == UNREAD) {
		inst_say(f, "  %s", quoted);
		return;
	}
	diff_words(bits_of(v, row, part), words, sizeof(words));
	if ((beneath = beneath_of(v, row, part)) > 0)
		snprintf(more, sizeof(more), ", and %zu %s beneath it", beneath, beneath == 1 ? "path" : "paths");
	if (part == DECIDED)
		inst_say(f, "  %s: %s%s (%s)", quoted, words, more, because[v->c->why[row]]);
	else
		inst_say(f, "%s%s: %s%s", part == CHOSEN ? "  " : "", quoted, words, more);
}

static void
say_part(const struct view *v, enum part part, const char *heading, size_t usual)
{
	const struct inst_front *f = v->f;
	size_t max = limit(f, usual), n = in_part(v, part), told = 0;

	if (n > 0 && heading != NULL)
		inst_say(f, "%s", heading);
	for (uint32_t row = 0; row < v->c->rows && told < n && told < max; row++)
		if (bits_of(v, row, part) != 0) {
			say_row(v, row, part);
			told++;
		}
	if (told < n)
		inst_say(f, "%s... and %zu more (-v lists all)", heading != NULL ? "  " : "", n - told);
}

static void
say_decided(const struct view *v)
{
	say_part(v, DECIDED, "different by local decision, which is no damage:", TEXT_OTHER);
}

static void
say_counts(const struct inst_front *f, const struct inst_check *c)
{
	char line[400];
	size_t at = 0;

	for (unsigned k = 0; k < INST_DIFFS; k++)
		if (c->of[k] > 0 && at < sizeof(line))
			at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s %zu", at == 0 ? "" : ", ", inst_diff_name[k],
			    c->of[k]);
	if (at > 0)
		inst_say(f, "different in: %s", line);
}

void
inst_check_say_absent(const struct inst_front *f, const struct inst_check *c)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	for (size_t i = 0; i < d->n_components; i++)
		if ((c->absent >> i & 1) != 0)
			inst_say(f, "component %s is not here, so it was not compared", d->components[i]);
}

void
inst_check_say(const struct inst_front *f, const struct inst_check *c)
{
	const struct view v = { .f = f, .c = c };

	say_part(&v, DAMAGE, NULL, TEXT_DAMAGE);
	say_decided(&v);
	say_part(&v, UNREAD, "not checked, because this user may not read it:", TEXT_OTHER);
	say_counts(f, c);
	inst_check_say_absent(f, c);
	if (c->unsized > 0)
		inst_say(f, "of %zu files the release tells no size, so --quick did not compare their content", c->unsized);
}

void
inst_check_say_chosen(const struct inst_front *f, const struct inst_check *c, const uint8_t *chosen, const char *heading)
{
	const struct view v = { .f = f, .c = c, .chosen = chosen };

	say_part(&v, CHOSEN, heading, TEXT_DAMAGE);
	say_decided(&v);
}

static void
json_row(const struct view *v, uint32_t row, enum part part, struct dray_json *a)
{
	struct dray_json *one = dray_json_push_obj(a), *what;
	uint16_t bits = bits_of(v, row, part);
	struct dray_entry en;
	size_t beneath;

	dray_index_entry(dray_bundle_index(v->f->b), row, &en);
	dray_json_set_path(one, "path", en.path, en.len);
	if (part == UNREAD)
		return;
	what = dray_json_set_arr(one, "what");
	for (unsigned k = 0; k < INST_DIFFS; k++)
		if ((bits >> k & 1) != 0)
			dray_json_push_str(what, inst_diff_name[k]);
	if ((beneath = beneath_of(v, row, part)) > 0)
		dray_json_set_int(one, "beneath", (int64_t)beneath);
	if (part == DECIDED)
		dray_json_set_str(one, "why", because[v->c->why[row]]);
}

static void
json_part(const struct view *v, enum part part, const char *key, struct dray_json *o)
{
	struct dray_json *a = dray_json_set_arr(o, key);
	size_t max = limit(v->f, JSON_MEMBERS), told = 0;

	for (uint32_t row = 0; row < v->c->rows && told < max; row++)
		if (bits_of(v, row, part) != 0) {
			json_row(v, row, part, a);
			told++;
		}
}

void
inst_check_json_chosen(const struct inst_front *f, const struct inst_check *c, const uint8_t *chosen, struct dray_json *o)
{
	const struct view v = { .f = f, .c = c, .chosen = chosen };

	json_part(&v, CHOSEN, "repairs", o);
	dray_json_set_int(o, "repairs_total", (int64_t)in_part(&v, CHOSEN));
	json_part(&v, DECIDED, "local", o);
}

void
inst_check_json(const struct inst_front *f, const struct inst_check *c, struct dray_json *o)
{
	const struct view v = { .f = f, .c = c };
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct dray_json *counts, *absent;

	dray_json_set_int(o, "entries", (int64_t)c->entries);
	json_part(&v, DAMAGE, "different", o);
	dray_json_set_int(o, "different_total", (int64_t)c->differ);
	json_part(&v, DECIDED, "local", o);
	dray_json_set_int(o, "local_total", (int64_t)c->local);
	json_part(&v, UNREAD, "not_checked", o);
	dray_json_set_int(o, "not_checked_total", (int64_t)c->unread);
	counts = dray_json_set_obj(o, "counts");
	for (unsigned k = 0; k < INST_DIFFS; k++)
		if (c->of[k] > 0)
			dray_json_set_int(counts, inst_diff_name[k], (int64_t)c->of[k]);
	if (c->unsized > 0)
		dray_json_set_int(o, "unsized", (int64_t)c->unsized);
	absent = dray_json_set_arr(o, "absent");
	for (size_t i = 0; i < d->n_components; i++)
		if ((c->absent >> i & 1) != 0)
			dray_json_push_str(absent, d->components[i]);
}

struct telling { const struct inst_front *f; struct dray_json *list; size_t max, total; };

static int
tell_stranger(void *ctx, const char *path, size_t len, bool dir, struct dray_err *e)
{
	struct telling *t = ctx;
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];

	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	if (t->total++ >= t->max)
		return 0;
	if (t->list != NULL) {
		dray_json_set_path(dray_json_push_obj(t->list), "path", path, len);
		return 0;
	}
	if (t->total == 1) {
		(void)inst_work_end(&t->f->st, 0);	/* from here on the list shows that it lives */
		inst_say(t->f, "no part of the release:");
	}
	inst_say(t->f, "  %s%s", dray_quote(path, len, quoted, sizeof(quoted)), dir ? "/" : "");
	return 0;
}

int
inst_check_tell_foreign(const struct inst_front *f, const struct inst_check *c, struct dray_json *o, struct dray_err *e)
{
	struct telling t = { .f = f, .max = limit(f, o != NULL ? JSON_MEMBERS : TEXT_DAMAGE) };

	if (o != NULL)
		t.list = dray_json_set_arr(o, "foreign");
	inst_work_begin(&f->st, "searching", 0);
	if (inst_work_end(&f->st, inst_check_foreign(f->st.root, dray_bundle_index(f->b), c, f->st.rel, tell_stranger, &t,
	    e)) != 0)
		return -1;
	if (o != NULL)
		dray_json_set_int(o, "foreign_total", (int64_t)t.total);
	else if (t.total > t.max)
		inst_say(f, "  ... and %zu more (-v lists all)", t.total - t.max);
	return 0;
}
