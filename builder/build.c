/*
 * build.c - runs the chain and keeps the promise that a failed build leaves nothing behind.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"
#include "builder/fbsd_upstream.h"
#include "builder/history.h"
#include "builder/needed.h"
#include "builder/pack.h"
#include "builder/parts.h"
#include "builder/resolve.h"
#include "builder/sign.h"
#include "builder/source.h"
#include "builder/temp.h"
#include "builder/triggerset.h"
#include "dray/bundle.h"

/* known ones by counter and version, unnamed ones behind them by what they hold: never by the order of arguments */
static int
base_cmp(const void *pa, const void *pb)
{
	const struct build_base *a = pa, *b = pb;
	int c;

	if (a->named != b->named)
		return a->named ? -1 : 1;
	if (!a->named)
		return build_release_cmp(a->in->release, b->in->release);
	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	c = strcmp(a->version, b->version);
	return c != 0 ? c : build_release_cmp(a->in->release, b->in->release);
}

static int
order_bases(struct build_opts *o, struct dray_err *e)
{
	size_t exact = o->n_inputs - o->n_history - 1, unnamed = 0;

	if (exact > 1)
		qsort(o->bases, exact, sizeof(o->bases[0]), base_cmp);
	for (size_t i = 0; i < exact; i++)
		if (!o->bases[i].named)
			snprintf(o->bases[i].version, sizeof(o->bases[i].version), "base-%zu", ++unnamed);
	for (size_t i = 0; i < o->n_bases; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(o->bases[i].version, o->bases[k].version) == 0 &&
			    o->bases[i].counter == o->bases[k].counter)
				return dray_fail(e, DRAY_E_USAGE, "two bases are called %s", o->bases[i].version);
	return 0;
}

/* where unnamed files are made; malloc'ed */
static char *
temp_dir(const struct build_opts *o)
{
	return o->tmpdir != NULL ? strdup(o->tmpdir) : tool_folder_of(o->output);
}

/* @out NULL: the contents that are needed of what was loaded before */
static int
load(const struct build_opts *o, const struct build_input *in, struct build_release **out, struct dray_err *e)
{
	struct tool_progress p;
	struct build_release *all[2 * DRAY_MAX_BASES + 1];
	struct build_scan_opts so = { .threads = (unsigned)o->common->jobs, .filter = &o->filter, .xattrs = &o->xattrs,
		.mounts = &o->mounts, .fbsd = &o->fbsd, .history = in->all_states, .beside = all, .owner = o->owner.n > 0 || o->owner.as_root ? &o->owner : NULL,
		.progress = tool_progress_tell, .ctx = &p };
	char *dir = temp_dir(o);
	int rc;

	if (dir == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	so.spool_dir = dir;
	for (; out == NULL && so.n_beside < o->n_inputs; so.n_beside++)
		all[so.n_beside] = o->inputs[so.n_beside].release;
	tool_progress_begin(&p, o->common, out != NULL ? "read" : "fetch", 0);
	rc = out != NULL ? build_source_load(in->spec, &so, out, e) : in->release->fetch(in->release, &so, e);
	tool_progress_end(&p, rc == 0);
	free(dir);
	return rc;
}

/* all that was read, the target first */
static void
list_releases(const struct build_opts *o, struct build_release *all[2 * DRAY_MAX_BASES + 1])
{
	for (size_t i = 0; i < o->n_inputs; i++)
		all[i] = o->inputs[(i + o->n_inputs - 1) % o->n_inputs].release;
}

/* of sources that are far away, what the others do not have in common with them */
static int
fetch_needed(const struct build_opts *o, struct dray_err *e)
{
	struct build_release *all[2 * DRAY_MAX_BASES + 1];
	bool far = false;

	list_releases(o, all);
	for (size_t i = 0; i < o->n_inputs; i++)
		far |= all[i]->fetch != NULL;
	if (!far)
		return 0;
	if (build_needed(all, o->n_inputs, e) != 0)
		return -1;
	for (size_t i = 0; i < o->n_inputs; i++)
		if (o->inputs[i].release->fetch != NULL && load(o, &o->inputs[i], NULL, e) != 0)
			return -1;
	return 0;
}

/* what may be a mistake: told, and refused where going on would do harm */
static int
look_at_target(const struct build_opts *o, struct build_release *r, struct dray_err *e)
{
	size_t cases;

	r->layout = o->layout;
	if (r->n == 0 && !o->empty_ok) {
		dray_fail(e, DRAY_E_USAGE, "%s: there is nothing in it: the bundle would remove all it knows", r->name);
		return dray_hint(e, "give --allow-empty if that is what you want");
	}
	if (build_release_cases(r, o->portable_names || o->common->verbose > 0, &cases, e) != 0 || build_pathset_missed(&o->filter, r, e) != 0)
		return -1;
	build_notices_sort(r);
	if (cases > 0 && o->portable_names) {
		dray_fail(e, DRAY_E_USAGE, "%s: %zu name%s only by case from a name beside it", r->name, cases,
		    cases == 1 ? " differs" : "s differ");
		return dray_hint(e, "the warnings name them; without --portable-names they are packed");
	}
	return 0;
}

/* former states that say nothing, or what others say already, are a slip */
static int
look_at_history(const struct build_opts *o, struct dray_err *e)
{
	size_t last = o->n_inputs - 1, first = last - o->n_history;

	for (size_t i = first; i < last; i++) {
		const struct build_release *r = o->inputs[i].release;

		if (r->n == 0) {
			dray_fail(e, DRAY_E_USAGE, "--history %s: there is nothing in it", r->name);
			return dray_hint(e, "name trees that machines have; an empty one is no place to start from");
		}
		if (build_release_cmp(r, o->inputs[last].release) == 0) {
			dray_fail(e, DRAY_E_USAGE, "--history %s: it holds the same as the release", r->name);
			return dray_hint(e, "leave it out: a machine that has it needs no upgrade");
		}
		for (size_t k = 0; k < i; k++)
			if (build_release_cmp(r, o->inputs[k].release) == 0) {
				dray_fail(e, DRAY_E_USAGE, "--history %s: it holds the same as --%s %s", r->name,
				    k < first ? "from" : "history", o->inputs[k].release->name);
				return dray_hint(e, "give each former state once");
			}
	}
	return 0;
}

/* what was not said and the source knows */
static int
take_facts(struct build_opts *o, const struct build_release *r, struct dray_err *e)
{
	if (r->facts == NULL)
		return 0;
	if (o->product == NULL)
		o->product = r->facts->product;
	if (o->version == NULL)
		o->version = r->facts->version;
	if (o->counter == 0)
		o->counter = r->facts->counter;
	if (o->counter != 0)
		return 0;
	dray_fail(e, DRAY_E_USAGE, "%s: a release of that name has no number of its own", r->name);
	return dray_hint(e, "give --counter, higher than that of the release before");
}

/* components and phases that the source of the release tells */
static int
take_parts(struct build_opts *o, struct dray_err *e)
{
	struct build_release *all[2 * DRAY_MAX_BASES + 1];
	struct build_layout *l = o->layout;

	for (size_t i = 0; i < o->n_inputs; i++)
		all[i] = o->inputs[i].release;
	if (build_parts_join(all, o->n_inputs, l, e) != 0)
		return -1;
	if (all[o->n_inputs - 1]->n_parts > 0 && l->n_phases == 0)
		build_layout_freebsd(l);
	return 0;
}

static int
load_all(struct build_opts *o, struct build_result *r, struct dray_err *e)
{
	struct build_release *states[DRAY_MAX_BASES], *all[2 * DRAY_MAX_BASES + 1];

	for (size_t i = 0; i < o->n_inputs; i++)
		if (load(o, &o->inputs[i], &o->inputs[i].release, e) != 0)
			return -1;
	r->target = o->inputs[o->n_inputs - 1].release;
	if (take_facts(o, r->target, e) != 0)
		return -1;
	if (look_at_target(o, r->target, e) != 0 || look_at_history(o, e) != 0 || order_bases(o, e) != 0)
		return -1;
	if (take_parts(o, e) != 0 || fetch_needed(o, e) != 0)
		return -1;
	list_releases(o, all);
	if (build_triggers(o->triggers, o->trigger_sets, all, o->n_inputs, &r->triggers, e) != 0)
		return -1;
	for (size_t i = 0; i < o->n_history; i++)
		states[i] = o->inputs[o->n_inputs - 1 - o->n_history + i].release;
	return o->n_history == 0 ? 0 : build_history_join(states, o->n_history, &r->history, e);
}

static int
text_cmp(const void *pa, const void *pb)
{
	return strcmp(pa, pb);
}

static void
describe(const struct build_opts *o, struct build_result *r, struct dray_desc *d)
{
	r->built = o->has_built ? o->built : build_release_newest(r->target);
	snprintf(d->product, sizeof(d->product), "%s", o->product);
	snprintf(d->version, sizeof(d->version), "%s", o->version);
	snprintf(d->os, sizeof(d->os), "%s", o->os);
	d->counter = o->counter;
	d->slot = o->slot;
	d->slim = o->slim;
	if (r->triggers != NULL) {
		d->triggers = dray_json_copy(r->triggers);
		d->n_triggers = dray_json_count(r->triggers);
		/* optional: a program that cannot run them still brings the files, and says so */
		snprintf(d->optional[d->n_optional++], sizeof(d->optional[0]), "triggers");
	}
	d->built = r->built;
	d->eol = r->target->facts != NULL ? r->target->facts->eol : 0;
	d->n_bases = o->n_bases;
	for (size_t i = 0; i < o->n_bases; i++) {
		memcpy(d->bases[i].version, o->bases[i].version, sizeof(d->bases[i].version));
		d->bases[i].counter = o->bases[i].counter;
		d->bases[i].history = o->bases[i].in == NULL || o->bases[i].in->all_states;
	}
	for (size_t i = 0; i < o->compatible.n; i++)
		snprintf(d->compatible[i], sizeof(d->compatible[i]), "%s", o->compatible.v[i]);
	if (o->layout != NULL) {
		d->n_components = o->layout->n_components;
		for (size_t i = 0; i < d->n_components; i++)
			memcpy(d->components[i], o->layout->components[i].name, sizeof(d->components[i]));
		d->n_phases = o->layout->n_phases;
		for (size_t i = 0; i < d->n_phases; i++)
			memcpy(d->phases[i], o->layout->phases[i].name, sizeof(d->phases[i]));
	}
	d->n_compatible = o->compatible.n;
	qsort(d->compatible, d->n_compatible, sizeof(d->compatible[0]), text_cmp);
}

static int
pack(const struct build_opts *o, struct build_result *r, struct build_resolved **rs, struct dray_err *e)
{
	struct build_release *bases[DRAY_MAX_BASES];
	struct build_pack_opts po = { .level = o->level, .slim = o->slim, .apply_ns = o->apply_ns,
		.threads = (unsigned)o->common->jobs, .cache = r->cache, .common = o->common };
	char *dir;
	int rc;

	for (size_t i = 0; i < o->n_bases; i++)
		bases[i] = o->bases[i].in != NULL ? o->bases[i].in->release : r->history;
	if (build_resolve(r->target, bases, o->n_bases, rs, e) != 0)
		return -1;
	if ((po.dir = dir = temp_dir(o)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rc = build_pack(*rs, &po, &r->packed, e);
	free(dir);
	return rc;
}

/* read the finished file as an installer would: a bundle that we cannot read ourselves never gets its name */
static int
check(const struct build_opts *o, struct build_result *r, int fd, struct dray_err *e)
{
	struct dray_bundle_opts bo = { .unsigned_ok = true, .threads = (unsigned)o->common->jobs };
	struct tool_progress p;
	struct dray_check_opts co = { .threads = (unsigned)o->common->jobs, .deep = true, .stop = tool_signal_seen,
		.progress = tool_progress_tell, .ctx = &p };
	struct dray_bundle *b;
	int rc;

	if (dray_bundle_open(fd, &bo, &b, e) != 0)
		return dray_wrap(e, "the new bundle does not read back");
	tool_progress_begin(&p, o->common, "check", r->sizes.total);
	rc = dray_bundle_check(b, &co, e);
	tool_progress_end(&p, rc == 0);
	if (rc == 0) {
		memcpy(r->id, dray_bundle_id(b), sizeof(r->id));
		r->n_signed = dray_bundle_slot(b)->n;
		rc = tool_count(dray_bundle_index(b), &r->counts, e);
		if (rc == 0)
			rc = tool_cost(dray_bundle_index(b), dray_bundle_desc(b), &r->costs, e);
	}
	dray_bundle_close(b);
	return rc == 0 || e->code == DRAY_E_SIGNAL ? rc : dray_wrap(e, "the new bundle does not read back");
}

/* a list of a hundred thousand paths takes a while to be packed */
static int
attach_upstream(const struct build_opts *o, const struct build_result *r, struct build_notes *notes, struct dray_err *e)
{
	struct tool_progress p;
	int rc;

	tool_progress_begin(&p, o->common, "attach", 0);
	rc = build_fbsd_notes(r->target, o->level, notes, e);
	tool_progress_end(&p, rc == 0);
	return rc;
}

static int
load_keys(const struct build_opts *o, struct dray_key **keys, struct dray_err *e)
{
	/* a server tells these later; the size of signatures does not depend on them */
	struct dray_signed of = { .counter = o->counter != 0 ? o->counter : 1 };

	for (size_t i = 0; i < o->keys.n; i++)
		if (build_key_load(o->keys.v[i], o->pass_file, &keys[i], e) != 0)
			return -1;
	snprintf(of.product, sizeof(of.product), "%s", o->product != NULL ? o->product : "x");
	snprintf(of.version, sizeof(of.version), "%s", o->version != NULL ? o->version : "x");
	return build_sign_fits((const struct dray_key *const *)keys, o->keys.n, &of, (size_t)o->slot, e);
}

static int
run_into(struct build_opts *o, struct build_result *r, struct build_temp *t, struct dray_err *e)
{
	struct dray_desc *d = dray_desc_new();
	struct build_resolved *rs = NULL;
	struct build_notes notes = { .v = NULL };
	struct dray_key *keys[DRAY_SLOT_SIGS_MAX] = { NULL };
	struct build_work work = { .threads = (unsigned)o->common->jobs, .common = o->common };
	int64_t at = tool_now_ms();
	int rc = -1;

	if (d == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	/* what can be wrong with the options is found before the long work begins */
	if (load_keys(o, keys, e) != 0)
		goto out;
	if (!o->no_cache && build_places_cache(o, &r->cache, e) != 0)
		goto out;
	if (build_notes_load(o->notes.v, o->notes.n, &notes, e) != 0 || load_all(o, r, e) != 0 ||
	    (o->with_upstream && attach_upstream(o, r, &notes, e) != 0))
		goto out;
	r->n_notes = notes.n;
	describe(o, r, d);
	r->scan_ms = tool_now_ms() - at;
	if (pack(o, r, &rs, e) != 0)
		goto out;
	at = tool_now_ms();
	if (build_write(t->fd, d, rs, r->packed, &notes, o->level, &work, &r->sizes, e) != 0 ||
	    (o->keys.n > 0 &&
	    build_sign_fd(t->fd, (const struct dray_key *const *)keys, o->keys.n, false, e) != 0))
		goto out;
	r->write_ms = tool_now_ms() - at;
	at += r->write_ms;
	if (check(o, r, t->fd, e) != 0)
		goto out;
	r->check_ms = tool_now_ms() - at;
	if (tool_signal_seen() != 0) {
		dray_fail(e, DRAY_E_SIGNAL, "interrupted");
		goto out;
	}
	rc = build_temp_commit(t, e);
out:
	for (size_t i = 0; i < o->keys.n; i++)
		dray_key_free(keys[i]);
	build_resolved_free(rs);
	build_notes_free(&notes);
	dray_desc_free(d);
	return rc;
}

int
build_run(struct build_opts *o, struct build_result *r, struct dray_err *e)
{
	struct build_temp t;
	int rc;

	*r = (struct build_result){ .target = NULL };
	for (size_t i = o->n_inputs; i-- > 0;)
		if (build_check_apart(o->inputs[i].spec, o->output, e) != 0)
			return -1;
	/* first of all, so that a folder without write permission is told before an hour of work */
	if (build_temp_open(o->output, &t, e) != 0)
		return -1;
	r->stale = t.removed;
	rc = run_into(o, r, &t, e);
	build_temp_drop(&t);
	if (rc != 0 && e->code == DRAY_E_SIGNAL)
		dray_hint(e, "nothing was written");
	if (rc != 0 && e->code == DRAY_E_ROOM)
		dray_hint(e, "make room, or name a file in another folder by -o; nothing was written");
	return rc;
}

void
build_result_free(struct build_opts *o, struct build_result *r)
{
	build_release_free(r->history);
	dray_json_free(r->triggers);
	for (size_t i = 0; i < o->n_inputs; i++)
		build_release_free(o->inputs[i].release);
	build_packed_free(r->packed);
	build_cache_close(r->cache);
}
