/*
 * evidence.c - what a run tells of itself, for good. What decided it lies in the transaction's folder from before the
 * decision on, so that whichever run brings it to its end can write the one record of that end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dray/digest.h"
#include "dray/json.h"
#include "dray/num.h"

#include "tool/look.h"

#include "installer/evidence.h"
#include "installer/files.h"
#include "installer/run_trigger.h"

#define RUN "run"
#define NAMES_MAX (16u * 1024u)	/* bytes of paths named in a record; all of them are counted */
#define HOOKS_MAX (16u * 1024u)	/* bytes of what hooks said */

static const char *const end_name[] = { [INST_END_DONE] = "done", [INST_END_BACK] = "back",
	[INST_END_FORGOTTEN] = "forgotten", [INST_END_FORGOTTEN_ALL] = "forgotten-all" };

int64_t
inst_steady_ms(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
		return 0;
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void
inst_run_begin(struct inst_run *r, const char *verb)
{
	*r = (struct inst_run){ .verb = verb, .began = (int64_t)time(NULL), .began_ms = inst_steady_ms() };
}

void
inst_run_option(struct inst_run *r, const char *option)
{
	if (r->n_options < sizeof(r->options) / sizeof(r->options[0]))
		r->options[r->n_options++] = option;
}

void
inst_run_blame(const struct inst_state *s, enum dray_code code, const char *why)
{
	if (s->run == NULL)
		return;
	s->run->code = code;
	snprintf(s->run->why, sizeof(s->run->why), "%s", why);
}

static void
set_time(struct dray_json *o, const char *key, int64_t sec)
{
	char text[40];

	dray_json_set_str(o, key, tool_time(sec, text));
}

static void
set_hex(struct dray_json *o, const char *key, const uint8_t hash[32])
{
	char hex[65];

	dray_json_set_str(o, key, dray_hex(hash, 32, hex));
}

static void
set_options(struct dray_json *o, const struct inst_run *r)
{
	struct dray_json *list = dray_json_set_arr(o, "options");

	for (size_t i = 0; r != NULL && i < r->n_options; i++)
		dray_json_push_str(list, r->options[i]);
}

/* what the operator had decided beforehand */
static void
set_policy(struct dray_json *o, const struct inst_policy *policy, const struct dray_desc *d, const struct inst_run *run)
{
	static const char *const how[] = { [INST_LINK_ASK] = "ask", [INST_LINK_IGNORE] = "ignore",
		[INST_LINK_RESTORE] = "restore", [INST_LINK_REDIRECT] = "redirect" };
	struct dray_json *p = dray_json_set_obj(o, "policy"), *links, *one;

	dray_json_set_str(p, "profile", policy->strict ? "strict" : "preserve");
	dray_json_set_bool(p, "park", policy->park);
	dray_json_set_bool(p, "no_sync", policy->no_sync);
	dray_json_set_bool(p, "no_owner", policy->no_owner);
	if (policy->named != 0)
		dray_json_set_int(p, "paths_named", (int64_t)policy->named);
	if (run != NULL && run->allow_downgrade != 0)
		dray_json_set_int(p, "allow_downgrade", (int64_t)run->allow_downgrade);
	if (d->n_components > 1) {
		links = dray_json_set_arr(p, "components_absent");
		for (size_t i = 0; i < d->n_components; i++)
			if ((policy->absent >> i & 1) != 0)
				dray_json_push_str(links, d->components[i]);
	}
	links = policy->rules.n > policy->n_bundle ? dray_json_set_arr(p, "rules") : NULL;
	for (size_t i = 0; i < policy->rules.n - policy->n_bundle; i++) {
		const struct dray_rule *r = &policy->rules.v[i];

		one = dray_json_push_obj(links);
		dray_json_set_str(one, "action", dray_action_name(r->action));
		if (dray_when_name(r->when) != NULL)
			dray_json_set_str(one, "if", dray_when_name(r->when));
		if (r->keep_metadata)
			dray_json_set_bool(one, "keep_metadata", true);
		if (r->action == DRAY_ACT_USE)
			set_hex(one, "sha256", r->sha256);
		if (r->bound)
			set_hex(one, "for", r->release);
		if (r->validate != NULL)
			dray_json_set_strn(one, "validate", r->validate, r->validate_len);
		dray_json_set_path(one, "path", r->pattern, r->len);
	}
	links = dray_json_set_arr(p, "symlinks");
	for (size_t i = 0; i < policy->n_links; i++) {
		one = dray_json_push_obj(links);
		dray_json_set_path(one, "path", policy->links[i].path, policy->links[i].len);
		dray_json_set_str(one, "how", how[policy->links[i].how]);
	}
}

/* whose signatures counted, and how many had to */
static void
set_signers(struct dray_json *o, const struct dray_bundle *b)
{
	const struct dray_verdict *v = dray_bundle_verdict(b);
	struct dray_json *list = dray_json_set_arr(o, "signers"), *one;

	for (unsigned i = 0; i < v->n; i++) {
		if (v->signers[i].state != DRAY_SIGNER_GOOD)
			continue;
		one = dray_json_push_obj(list);
		set_hex(one, "key", v->signers[i].key);
		dray_json_set_str(one, "name", v->signers[i].name);
	}
	dray_json_set_int(o, "signatures_needed", v->needed);
}

static void
set_decisions(struct dray_json *o, const struct inst_plan *p)
{
	const struct { const char *key; size_t n; } counts[] = { { "added", p->added }, { "already", p->already },
		{ "left_alone", p->left_alone }, { "merged", p->merged }, { "meta_only", p->meta_only }, { "parked", p->parked },
		{ "removed", p->removed }, { "touched", p->touched }, { "type_changed", p->type_changed },
		{ "updated", p->updated } };
	struct dray_json *d = dray_json_set_obj(o, "decisions");

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		dray_json_set_int(d, counts[i].key, (int64_t)counts[i].n);
}

/* what became of each edit that met a change of the release; as many as fit, all of them are counted */
static void
set_merges(struct dray_json *o, const struct inst_plan *p)
{
	struct dray_json *list;
	struct dray_entry en;
	size_t room = NAMES_MAX;

	if (p->n_merges == 0)
		return;
	dray_json_set_int(o, "merges_count", (int64_t)p->n_merges);
	list = dray_json_set_arr(o, "merges");
	for (size_t i = 0; i < p->n_merges; i++) {
		const struct inst_merge *m = &p->merges[i];

		dray_index_entry(p->ix, m->row, &en);
		if (en.len + 300 > room)
			break;
		room -= en.len + 300;
		inst_merge_json(dray_json_push_obj(list), p, m);
	}
}

static int
set_triggers(struct dray_json *o, const struct inst_plan *p, const struct dray_desc *d, struct dray_err *e)
{
	struct dray_json *list = dray_json_set_arr(o, "triggers_due");
	const char *id;
	size_t len;

	for (size_t i = 0; i < d->n_triggers; i++) {
		if (p->due[i] == 0)
			continue;
		if (dray_json_str(dray_json_at(d->triggers, i), "id", &id, &len, "trigger", e) != 0)
			return -1;
		dray_json_push_str(list, id);
	}
	return 0;
}

static int
set_list(struct dray_json *o, const struct dray_ev_writer *w, struct dray_err *e)
{
	struct dray_json *list = dray_json_set_obj(o, "list");
	uint8_t sum[32];

	if (dray_sha256_bytes(w->p, w->len, sum, e) != 0)
		return -1;
	set_hex(list, "sha256", sum);
	dray_json_set_int(list, "size", (int64_t)w->len);
	dray_json_set_int(list, "rows", (int64_t)w->rows);
	return 0;
}

int
inst_evidence_stage(const struct inst_state *s, struct inst_tx *tx, const struct inst_plan *p,
    const struct inst_policy *policy, const struct dray_bundle *b, struct dray_err *e)
{
	struct dray_json *o = dray_json_new_obj();
	struct dray_ev_writer list = { .p = NULL };
	struct inst_installed release;
	char *text = NULL;
	uint64_t last;
	size_t len;
	int rc = -1;

	if (inst_chain_last(s, &last, e) != 0)
		goto out;
	dray_json_set_int(o, "dray_run", 1);
	dray_json_set_int(o, "records_before", (int64_t)last);
	if (s->run != NULL) {
		dray_json_set_str(o, "verb", s->run->verb);
		set_time(o, "began", s->run->began);
	}
	dray_json_set_str(o, "program", DRAY_VERSION);
	set_options(o, s->run);
	set_policy(o, policy, dray_bundle_desc(b), s->run);
	inst_installed_of(b, &release);
	inst_installed_json(o, "release", &release);
	set_hex(o, "plan_id", p->id);
	set_signers(o, b);
	set_decisions(o, p);
	set_merges(o, p);
	if (set_triggers(o, p, dray_bundle_desc(b), e) != 0 || inst_facts_list(p, &list, e) != 0 || set_list(o, &list, e) != 0 || dray_json_write(o, &text, &len, e) != 0 ||
	    inst_write_file(tx->dir, "paths", list.p, list.len, 0600, e) != 0 ||
	    inst_write_file(tx->dir, RUN, text, len, 0600, e) != 0)
		goto out;
	rc = 0;
out:
	dray_ev_free(&list);
	dray_json_free(o);
	free(text);
	return rc == 0 ? 0 : dray_wrap(e, "evidence");
}

/* what the transaction's folder says of the run that decided it; *o NULL: nothing that can be read */
static int
read_run(const struct inst_tx *tx, struct dray_json **o, uint64_t *before, struct dray_err *e)
{
	struct dray_err bad;	/* a damaged file tells nothing; the end is recorded without it */
	uint8_t *p;
	size_t len;
	int64_t n;
	int r = inst_read_file(tx->dir, RUN, DRAY_EV_RECORD_MAX / 2, &p, &len, e);

	*o = NULL;
	*before = 0;
	if (r != 0)
		return r == 1 ? 0 : -1;
	if (dray_json_parse((const char *)p, len, true, o, &bad) != 0) {
		*o = NULL;
	} else if (!dray_json_is_obj(*o)) {
		dray_json_free(*o);
		*o = NULL;
	} else if (dray_json_int(*o, "records_before", 0, INT64_MAX, &n, RUN, &bad) == 0) {
		*before = (uint64_t)n;
	}
	free(p);
	return 0;
}

/* what the site's hooks said, as far as it fits; its end where it does not */
static void
set_hooks(struct dray_json *o, const struct dray_json *hooks)
{
	struct dray_json *a = dray_json_set_arr(o, "hooks"), *one;
	size_t n = dray_json_count(hooks), each = HOOKS_MAX / (n + 1), len;
	struct dray_err ignored;
	const char *s;

	for (size_t i = 0; i < n; i++) {
		static const char *const keys[] = { "point", "hook", "result", "output" };

		one = dray_json_push_obj(a);
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			if (dray_json_str(dray_json_at(hooks, i), keys[k], &s, &len, "", &ignored) != 0)
				continue;
			if (len > each) {	/* a whole character begins there */
				s += len - each;
				while (((unsigned char)*s & 0xc0) == 0x80)
					s++;
			}
			dray_json_set_str(one, keys[k], s);
		}
	}
}

/* what every record has; @exit: of the run that writes it */
static struct dray_json *
new_record(const struct inst_state *s, const char *ended, enum dray_code code, const char *why)
{
	struct dray_json *o = dray_json_new_obj();

	dray_json_set_int(o, "dray_evidence", 1);
	dray_json_set_str(o, "ended", ended);
	dray_json_set_int(o, "exit", (int64_t)code);
	if (why != NULL && why[0] != '\0')
		dray_json_set_str(o, "why", why);
	dray_json_set_str(o, "program", DRAY_VERSION);
	set_time(o, "time", (int64_t)time(NULL));
	if (s->run == NULL)
		return o;
	dray_json_set_str(o, "verb", s->run->verb);
	set_time(o, "began", s->run->began);
	dray_json_set_int(o, "milliseconds", inst_steady_ms() - s->run->began_ms);
	set_options(o, s->run);
	if (s->run->hooks != NULL)
		set_hooks(o, s->run->hooks);
	s->run->hooks = NULL;
	return o;
}

static void
set_transaction(struct dray_json *o, const struct inst_tx *tx)
{
	struct dray_json *t = dray_json_set_obj(o, "transaction");

	dray_json_set_int(t, "number", tx->number);
	if (!tx->has_plan)
		return;
	set_hex(t, "journal", tx->plan_sha256);
	inst_installed_json(t, "from", &tx->from);
	inst_installed_json(t, "to", &tx->to);
}

static void
set_kept(struct dray_json *o, const struct inst_foreign *kept)
{
	struct dray_json *names;
	size_t room = NAMES_MAX;

	if (kept == NULL || kept->n == 0)
		return;
	dray_json_set_int(o, "kept_count", (int64_t)kept->n);
	names = dray_json_set_arr(o, "kept");
	for (size_t i = 0; i < kept->n && strlen(kept->paths[i]) < room; i++) {
		room -= strlen(kept->paths[i]);
		dray_json_push_str(names, kept->paths[i]);
	}
}

int
inst_evidence_end(const struct inst_state *s, const struct inst_tx *tx, enum inst_end end, const struct inst_foreign *kept,
    struct inst_anchor *a, struct dray_err *e)
{
	struct dray_json *run = NULL, *o = NULL;
	uint64_t before, number;
	char ended[32];
	uint8_t sum[32];
	int rc = -1;

	if (read_run(tx, &run, &before, e) != 0 || inst_chain_find(s, tx, before, &number, sum, ended, e) != 0)
		goto out;
	if (number != 0 && strcmp(ended, end_name[end]) == 0) {
		/* cut behind it */
		if (number >= a->records) {
			a->records = number;
			memcpy(a->last, sum, 32);
		}
		rc = inst_chain_take_list(s, tx, number, e);
		goto out;
	}
	o = new_record(s, end_name[end], s->run == NULL ? DRAY_OK : s->run->code, s->run == NULL ? NULL : s->run->why);
	set_transaction(o, tx);
	inst_installed_json(o, "installed", &a->installed);
	set_kept(o, kept);
	if (number != 0) {
		dray_json_set_int(o, "about", (int64_t)number);
	} else if (run != NULL) {
		const struct dray_json *list;

		dray_json_set_copy(o, "run", run);
		if (dray_json_obj(run, "list", &list, RUN, e) != 0)
			goto out;
		dray_json_set_copy(o, "list", list);
	}
	rc = inst_chain_append(s, o, number == 0 ? tx : NULL, a, e);
out:
	dray_json_free(run);
	dray_json_free(o);
	return rc;
}

int
inst_evidence_failed(const struct inst_state *s, const struct inst_tx *tx, const struct dray_err *why, struct dray_err *e)
{
	struct dray_json *o, *run = NULL;
	struct inst_anchor a;
	uint64_t before;
	int rc = -1;

	if (inst_anchor_load(s, &a, e) != 0)
		return -1;
	o = new_record(s, "failed", why->code, why->text);
	inst_installed_json(o, "installed", &a.installed);
	if (tx != NULL) {
		set_transaction(o, tx);
		if (read_run(tx, &run, &before, e) != 0)
			goto out;
		if (run != NULL)
			dray_json_set_copy(o, "run", run);
	}
	if (inst_chain_append(s, o, NULL, &a, e) == 0)
		rc = inst_anchor_save(s, &a, e);
out:
	dray_json_free(run);
	dray_json_free(o);
	return rc;
}

int
inst_evidence_trigger(const struct inst_state *s, const char *id, const struct inst_trigger_end *r, struct inst_anchor *a,
    struct dray_err *e)
{
	struct dray_json *o = new_record(s, "trigger", r != NULL ? r->code : DRAY_OK, r != NULL ? r->why : NULL), *t;
	int rc;

	inst_installed_json(o, "installed", &a->installed);
	t = dray_json_set_obj(o, "trigger");
	dray_json_set_str(t, "id", id);
	if (r != NULL)
		dray_json_set_str(t, "output", r->output);
	if (r != NULL)
		dray_json_set_int(t, "milliseconds", r->ms);
	rc = inst_chain_append(s, o, NULL, a, e);
	dray_json_free(o);
	return rc != 0 ? -1 : inst_anchor_save(s, a, e);
}

int
inst_evidence_hooks(const struct inst_state *s, const struct dray_err *why, struct inst_anchor *a, struct dray_err *e)
{
	struct dray_json *o = new_record(s, "hooks", why != NULL ? why->code : DRAY_OK, why != NULL ? why->text : NULL);
	int rc;

	inst_installed_json(o, "installed", &a->installed);
	rc = inst_chain_append(s, o, NULL, a, e);
	dray_json_free(o);
	return rc != 0 ? -1 : inst_anchor_save(s, a, e);
}
