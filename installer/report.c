/*
 * report.c - a plan in words and in JSON, and the refusal it amounts to.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dray/num.h"
#include "dray/path.h"

#include "tool/look.h"
#include "tool/tool.h"

#include "installer/cmd.h"

#define FIRST_NAMED 3u		/* reasons named in an error; the report lists all */

static const char *const note_name[] = {
	[INST_NOTE_PARKED] = "parked", [INST_NOTE_KEPT_DELETED] = "kept-deleted", [INST_NOTE_KEPT_DIR] = "kept-directory",
	[INST_NOTE_KEPT_META] = "kept-edit", [INST_NOTE_META_LOST] = "attributes-replaced",
	[INST_NOTE_OUTSIDE_LINK] = "outside-link", [INST_NOTE_CONFLICT] = "conflict", [INST_NOTE_BLOCKED] = "blocked",
	[INST_NOTE_UNREADABLE] = "unreadable", [INST_NOTE_KEPT_LOCAL] = "kept-local", [INST_NOTE_SPLIT_LINK] = "split-link",
	[INST_NOTE_LINK_IGNORED] = "symlink-ignored", [INST_NOTE_LINK_REDIRECTED] = "symlink-redirected",
	[INST_NOTE_NO_SYMLINK] = "no-symlink", [INST_NOTE_LEFT_OUT] = "left-out",
	[INST_NOTE_IGNORED] = "ignored", [INST_NOTE_NOT_ADDED] = "not-added", [INST_NOTE_MINE] = "mine",
	[INST_NOTE_NO_FLAGS] = "no-flags", [INST_NOTE_MERGED] = "merged", [INST_NOTE_MERGED_THEIRS] = "merged-release",
	[INST_NOTE_MERGED_MINE] = "merged-mine", [INST_NOTE_USED] = "decided", [INST_NOTE_KEPT_ATTRS] = "kept-attributes",
	[INST_NOTE_KEPT_DB] = "kept-database", [INST_NOTE_OUTPUT] = "output-not-kept",
};

const char *
inst_note_name(enum inst_note_kind kind)
{
	return note_name[kind];
}

static void
append(struct dray_err *e, const char *fmt, ...) DRAY_PRINTF(2, 3);

/* more text at the end of an error; what does not fit is dropped, the counts came first */
static void
append(struct dray_err *e, const char *fmt, ...)
{
	size_t len = strlen(e->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text + len, sizeof(e->text) - len, fmt, ap);
	va_end(ap);
}

static void
name_first(const struct inst_plan *p, enum inst_note_kind kind, struct dray_err *e)
{
	char quoted[DRAY_QUOTE_CAP(60)];
	size_t told = 0;

	for (size_t i = 0; i < p->n_notes && told < FIRST_NAMED; i++) {
		const struct inst_note *n = &p->notes[i];

		if (n->kind != kind)
			continue;
		append(e, "%s%s %s", told == 0 ? ": " : "; ", dray_quote(n->path, n->len, quoted, sizeof(quoted)), n->why);
		told++;
	}
}

/* the sites that lack room; tells them when @e is given */
static size_t
short_of_room(const struct inst_plan *p, struct dray_err *e)
{
	char need[32], have[32], q[DRAY_QUOTE_CAP(255)];
	uint64_t bytes, inodes;
	size_t n = 0;

	for (size_t i = 0; i < p->n_sites; i++) {
		const struct inst_site *s = &p->sites[i];

		if (!inst_site_short(p, i, &bytes, &inodes) || n++ >= 4 || e == NULL)
			continue;
		append(e, "%s", n > 1 ? "; " : ": ");
		if (i > 0)
			append(e, "on /%s ", dray_quote(s->path, s->len, q, sizeof(q)));
		if (bytes > s->fs.free_bytes)
			append(e, "%s needed, %s free", tool_human(bytes, need), tool_human(s->fs.free_bytes, have));
		if (inodes > s->fs.free_inodes)
			append(e, "%s%" PRIu64 " inodes needed, %" PRIu64 " free", bytes > s->fs.free_bytes ? ", " : "", inodes,
			    s->fs.free_inodes);
	}
	return n;
}

/* of conflicts */
static const char *
way_out(const struct inst_plan *p)
{
	if (p->lacking == p->conflicts)
		return "bring a bundle that holds them: not slim, or built without --from";
	if (p->unmerged > 0)
		return "decide with conflicts, or by rules of --policy FILE";
	if (p->asking > 0)
		return "decide with --symlink PATH=ignore, PATH=restore or PATH=redirect";
	if (p->holding > 0)
		return "move the local objects out of the way, or have them taken into the stash with --park";
	if (p->naming > 0)
		return "name these paths to have them replaced, or move them out of the way";
	return "move the local objects out of the way and run it again";
}

int
inst_plan_verdict(const struct inst_plan *p, struct dray_err *e)
{
	size_t reasons = 0;

	if (p->blocked == 0 && p->conflicts == 0 && short_of_room(p, NULL) == 0)
		return 0;
	dray_err_clear(e);
	if (p->blocked > 0) {
		e->code = DRAY_E_SYSTEM;
		dray_hint(e, "nothing was changed; make these places fit to be changed and run it again");
		append(e, "%zu %s cannot be changed here", p->blocked, p->blocked == 1 ? "path" : "paths");
		name_first(p, INST_NOTE_BLOCKED, e);
		reasons++;
	}
	if (p->conflicts > 0) {
		if (e->code == DRAY_OK)
			e->code = DRAY_E_CONFLICT;
		dray_hint(e, "nothing was changed; %s", way_out(p));
		append(e, "%s%zu %s", reasons++ > 0 ? "; also " : "", p->conflicts, p->conflicts == 1 ? "conflict" : "conflicts");
		name_first(p, INST_NOTE_CONFLICT, e);
	}
	if (short_of_room(p, NULL) > 0) {
		if (e->code == DRAY_OK)
			e->code = DRAY_E_ROOM;
		dray_hint(e, "nothing was changed; free some room, e.g. with forget, and run it again");
		append(e, "%s", reasons > 0 ? "; also not enough room" : "not enough room");
		short_of_room(p, e);
	}
	return -1;
}

static void
count_line(const struct inst_front *f, size_t n, const char *what)
{
	if (n > 0)
		inst_say(f, "  %9zu  %s", n, what);
}

/* a path and a reason in at most 76 columns; a path too long for that has a line of its own */
static void
note_line(const struct inst_front *f, const struct inst_note *n)
{
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];

	dray_quote(n->path, n->len, quoted, sizeof(quoted));
	if (strlen(quoted) + strlen(n->why) + 5 <= 76)
		inst_say(f, "  %s: %s", quoted, n->why);
	else
		inst_say(f, "  %s:\n    %s", quoted, n->why);
}

/* what the program of a rule said; before it was asked, nothing */
static void
check_line(const struct inst_front *f, const struct inst_plan *p, const struct inst_merge *m)
{
	static const char *const says[] = { [INST_CHECK_PASSED] = "passed its check", [INST_CHECK_FAILED] = "failed its check",
		[INST_CHECK_NO_PROGRAM] = "not checked: no such program here",
		[INST_CHECK_NO_CHROOT] = "not checked: not the running system, and no --allow-chroot" };
	struct inst_note n = { .kind = INST_NOTE_MERGED };
	struct dray_entry en;

	if (m->check == INST_CHECK_NONE)
		return;
	dray_index_entry(p->ix, m->row, &en);
	n.path = en.path;
	n.len = en.len;
	snprintf(n.why, sizeof(n.why), "%s", says[m->check]);
	note_line(f, &n);
}

void
inst_report_notes(const struct inst_front *f, const struct inst_plan *p)
{
	static const struct { enum inst_note_kind kind; const char *heading; } part[] = {
		{ INST_NOTE_BLOCKED, "cannot be changed here:" },
		{ INST_NOTE_CONFLICT, "conflicts, to be settled first:" },
		{ INST_NOTE_UNREADABLE, "not readable, so the plan is partial:" },
		{ INST_NOTE_MERGED, "local edits, merged with the release's:" },
		{ INST_NOTE_USED, "local edits, decided on:" },
		{ INST_NOTE_MERGED_THEIRS, "local edits, all of them in the release:" },
		{ INST_NOTE_MERGED_MINE, "local edits, with nothing of the release to add:" },
		{ INST_NOTE_KEPT_DB, "databases of local texts, left alone:" },
		{ INST_NOTE_KEPT_ATTRS, "local owner, mode or flags, kept by the policy:" },
		{ INST_NOTE_PARKED, "local edits, replaced; the old ones are parked:" },
		{ INST_NOTE_KEPT_META, "local edits, their content kept:" },
		{ INST_NOTE_META_LOST, "local owner, mode or attributes, replaced:" },
		{ INST_NOTE_KEPT_DELETED, "deleted here, left deleted:" },
		{ INST_NOTE_KEPT_DIR, "removed by the release, left because of what they hold:" },
		{ INST_NOTE_KEPT_LOCAL, "local, left alone:" },
		{ INST_NOTE_LINK_IGNORED, "symlinks for directories, left alone with all beneath:" },
		{ INST_NOTE_LINK_REDIRECTED, "symlinks for directories, followed:" },
		{ INST_NOTE_MINE, "local edits, kept by the policy:" },
		{ INST_NOTE_NOT_ADDED, "not added, by the policy:" },
		{ INST_NOTE_IGNORED, "left alone by the policy:" },
		{ INST_NOTE_LEFT_OUT, "left out, because only root can make them:" },
		{ INST_NOTE_NO_FLAGS, "without file flags, which their file system does not keep:" },
		{ INST_NOTE_NO_SYMLINK, "decided, but not needed:" },
		{ INST_NOTE_OUTPUT, "made by triggers, and not kept for the way back:" },
		{ INST_NOTE_OUTSIDE_LINK, "files with other names, which keep the old content:" },
		{ INST_NOTE_SPLIT_LINK, "hard links of the release that no file system can hold:" },
	};
	size_t max = f->common.verbose > 0 ? SIZE_MAX : 10;

	for (size_t k = 0; k < sizeof(part) / sizeof(part[0]); k++) {
		size_t told = 0;

		for (size_t i = 0; i < p->n_notes; i++) {
			if (p->notes[i].kind != part[k].kind)
				continue;
			if (told == 0)
				inst_say(f, "%s", part[k].heading);
			if (told++ < max)
				note_line(f, &p->notes[i]);
		}
		if (told > max)
			inst_say(f, "  ... and %zu more (-v lists all)", told - max);
	}
	for (size_t i = 0; i < p->n_merges; i++)
		check_line(f, p, &p->merges[i]);
	if (p->unmerged > 0)
		inst_say_command(f, "to decide", "conflicts", NULL);
	for (size_t i = f->policy.n_decided; p->rules_used != NULL && i < f->policy.rules.n - f->policy.n_bundle; i++)
		if (p->rules_used[i] == 0)
			inst_say(f, "%s, %s %u: decides about no path of this bundle", f->policy_file,
			    f->policy.rules.json ? "rule" : "line", (unsigned)f->policy.rules.v[i].line);
}

static void
report_room(const struct inst_front *f, const struct inst_plan *p)
{
	char need[32], have[32], q[DRAY_QUOTE_CAP(DRAY_PATH_MAX)];
	uint64_t bytes, inodes;

	for (size_t i = 0; i < p->n_sites; i++) {
		const struct inst_site *s = &p->sites[i];

		if (s->shares != i)
			continue;
		inst_site_short(p, i, &bytes, &inodes);
		inst_say(f, "needs %s, %s free%s%s", tool_human(bytes, need),
		    s->fs.free_bytes == UINT64_MAX ? "any number" : tool_human(s->fs.free_bytes, have), i > 0 ? ", on /" : "",
		    i > 0 ? dray_quote(s->path, s->len, q, sizeof(q)) : "");
	}
}

static void
set_bounded(struct dray_json *o, const char *key, uint64_t v)
{
	dray_json_set_int(o, key, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

/* "room": one object for each file system with room of its own, the root's first */
static void
json_room(const struct inst_plan *p, struct dray_json *o)
{
	struct dray_json *a = dray_json_set_arr(o, "room"), *c;
	uint64_t bytes, inodes;

	for (size_t i = 0; i < p->n_sites; i++) {
		const struct inst_site *s = &p->sites[i];

		if (s->shares != i)
			continue;
		inst_site_short(p, i, &bytes, &inodes);
		c = dray_json_push_obj(a);
		dray_json_set_path(c, "path", i > 0 ? s->path : ".", i > 0 ? s->len : 1);
		set_bounded(c, "bytes", bytes);
		set_bounded(c, "inodes", inodes);
		if (s->fs.free_bytes <= INT64_MAX)
			set_bounded(c, "have_bytes", s->fs.free_bytes);
		if (s->fs.free_inodes <= INT64_MAX)
			set_bounded(c, "have_inodes", s->fs.free_inodes);
	}
}

void
inst_report_text(const struct inst_front *f, const struct inst_plan *p)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	char hex[65], need[32], eol[TOOL_EOL_CAP];

	inst_say(f, "%s %s (release counter %" PRIu64 ") on %s", d->product, d->version, d->counter, f->root);
	if (d->eol != 0)
		inst_say(f, "%s", tool_eol(d->eol, time(NULL), eol));
	inst_say(f, "%zu %s touched:", p->touched, p->touched == 1 ? "path is" : "paths are");
	count_line(f, p->already, "are as the release wants them already");
	count_line(f, p->added, "added");
	count_line(f, p->updated, "updated");
	count_line(f, p->merged, "of these from local edits");
	count_line(f, p->type_changed, "of another type");
	count_line(f, p->meta_only, "with other attributes only");
	count_line(f, p->removed, "removed");
	count_line(f, p->left_alone, "left alone");
	count_line(f, p->conflicts, "in conflict");
	count_line(f, p->blocked, "that cannot be changed here");
	for (size_t i = 0; i < d->n_bases; i++)
		if (p->matched[i] > 0)
			inst_say(f, "%zu match base %s", p->matched[i], d->bases[i].version);
	if (p->unmatched > 0)
		inst_say(f, "%zu match no base", p->unmatched);
	inst_report_notes(f, p);
	if (p->frees > 0)
		inst_say(f, "room is short: the oldest %zu of %zu old generations %s freed first, and with %s the way back that far",
		    p->frees, p->frees + p->keeps, p->frees == 1 ? "is" : "are", p->frees == 1 ? "it" : "them");
	for (uint8_t step = 1; d->n_phases > 1 && step <= d->n_phases; step++)
		inst_say(f, "  %9zu  operations in phase %s", p->in_step[step - 1], d->phases[step - 1]);
	if (p->n_ops > 0) {
		inst_say(f, "reads %s of the bundle", tool_human(p->payload, need));
		report_room(f, p);
	}
	inst_due_planned(f, p);
	if (!p->partial)
		inst_say(f, "plan id %s", dray_hex(p->id, 32, hex));
}

void
inst_report_counts(const struct inst_plan *p, struct dray_json *c)
{
	dray_json_set_int(c, "touched", (int64_t)p->touched);
	dray_json_set_int(c, "already", (int64_t)p->already);
	dray_json_set_int(c, "added", (int64_t)p->added);
	dray_json_set_int(c, "updated", (int64_t)p->updated);
	dray_json_set_int(c, "merged", (int64_t)p->merged);
	dray_json_set_int(c, "removed", (int64_t)p->removed);
	dray_json_set_int(c, "type_changed", (int64_t)p->type_changed);
	dray_json_set_int(c, "meta_only", (int64_t)p->meta_only);
	dray_json_set_int(c, "left_alone", (int64_t)p->left_alone);
	dray_json_set_int(c, "parked", (int64_t)p->parked);
	dray_json_set_int(c, "conflicts", (int64_t)p->conflicts);
	dray_json_set_int(c, "blocked", (int64_t)p->blocked);
	dray_json_set_int(c, "unmatched", (int64_t)p->unmatched);
}

void
inst_report_json(const struct inst_front *f, const struct inst_plan *p, struct dray_json *o)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct dray_json *a, *n;
	char hex[65];

	dray_json_set_str(o, "bundle_id", dray_hex(dray_bundle_id(f->b), 32, hex));
	dray_json_set_str(o, "product", d->product);
	dray_json_set_str(o, "version", d->version);
	dray_json_set_int(o, "counter", (int64_t)d->counter);
	if (d->eol != 0)
		dray_json_set_int(o, "eol", (int64_t)d->eol);
	dray_json_set_bool(o, "partial", p->partial);
	if (!p->partial)
		dray_json_set_str(o, "plan_id", dray_hex(p->id, 32, hex));
	inst_report_counts(p, dray_json_set_obj(o, "paths"));
	a = dray_json_set_arr(o, "bases");
	for (size_t i = 0; i < d->n_bases; i++) {
		n = dray_json_push_obj(a);
		dray_json_set_str(n, "version", d->bases[i].version);
		dray_json_set_int(n, "matched", (int64_t)p->matched[i]);
	}
	json_room(p, o);
	a = dray_json_set_arr(o, "components");
	n = dray_json_set_arr(o, "components_absent");
	for (size_t i = 0; i < d->n_components; i++)
		dray_json_push_str((p->absent >> i & 1) != 0 ? n : a, d->components[i]);
	a = dray_json_set_arr(o, "components_counted");
	for (size_t i = 0; i < d->n_components; i++) {
		if (f->counted[i].of == 0)
			continue;
		n = dray_json_push_obj(a);
		dray_json_set_str(n, "name", d->components[i]);
		dray_json_set_int(n, "here", f->counted[i].here);
		dray_json_set_int(n, "of", f->counted[i].of);
	}
	set_bounded(o, "payload", p->payload);
	dray_json_set_int(o, "ops", (int64_t)p->n_ops);
	dray_json_set_int(o, "swaps", (int64_t)p->n_swaps);
	dray_json_set_int(o, "frees_generations", (int64_t)p->frees);
	a = dray_json_set_arr(o, "phases");
	for (uint8_t step = 1; step <= d->n_phases; step++) {
		n = dray_json_push_obj(a);
		dray_json_set_str(n, "name", d->phases[step - 1]);
		dray_json_set_int(n, "ops", (int64_t)p->in_step[step - 1]);
	}
	if (p->rules_used != NULL) {
		a = dray_json_set_arr(o, "rules_unused");
		for (size_t i = f->policy.n_decided; i < f->policy.rules.n - f->policy.n_bundle; i++)
			if (p->rules_used[i] == 0)
				dray_json_push_int(a, f->policy.rules.v[i].line);
	}
	a = dray_json_set_arr(o, "merges");
	for (size_t i = 0; i < p->n_merges; i++)
		inst_merge_json(dray_json_push_obj(a), p, &p->merges[i]);
	inst_due_planned_json(p, o);
	a = dray_json_set_arr(o, "notes");
	for (size_t i = 0; i < p->n_notes; i++) {
		n = dray_json_push_obj(a);
		dray_json_set_str(n, "kind", inst_note_name(p->notes[i].kind));
		dray_json_set_path(n, "path", p->notes[i].path, p->notes[i].len);
		dray_json_set_str(n, "why", p->notes[i].why);
	}
}
