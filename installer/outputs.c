/*
 * outputs.c - what triggers make or change: where it lies, whether it can be kept for the way back, and by what.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/glob.h"
#include "dray/json.h"
#include "dray/num.h"
#include "dray/trigger.h"

#include "installer/outputs.h"
#include "installer/symlinks.h"
#include "installer/tree.h"

enum { OUTPUTS_MAX = 1024,	/* looked at of one bundle; a trigger with more runs again on the way back */
	OBJECTS_MAX = 10000,	/* in one directory */
	HOPS_MAX = 8 };

/* which output, of which trigger */
struct inst_output_ref { uint16_t trigger; uint32_t output; };

static const char *
text_of(const struct dray_json *list, size_t i, size_t *len)
{
	const char *s = dray_json_text(dray_json_at(list, i), len);

	return s != NULL ? s : "";
}

static const struct dray_json *
outputs_of(const struct dray_desc *d, size_t trigger, size_t *n)
{
	const struct dray_json *t = dray_json_at(d->triggers, trigger), *list;
	struct dray_err ignored;

	*n = 0;
	if (!dray_json_has(t, "outputs") || dray_json_arr(t, "outputs", &list, n, "", &ignored) != 0)
		return NULL;
	return list;
}

struct found { char path[DRAY_PATH_MAX]; size_t len; const char *why; bool gone; };

/* a symlink on the way at @at: the path goes on where it leads */
static int
follow(struct dray_walk *w, struct found *f, size_t at, struct dray_err *e)
{
	char text[DRAY_PATH_MAX + 1], rest[DRAY_PATH_MAX];
	size_t n, rest_len = f->len - at;
	struct inst_lead lead;
	int r = inst_link_text(w, f->path, at, text, &n, e);

	if (r == 0)
		r = inst_lead_find(w, f->path, at, text, n, &lead, e);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (lead.kind != INST_LEAD_DIR && lead.kind != INST_LEAD_LINK)
		f->why = "a symlink on the way to it leads to no directory of the tree";
	if (lead.kind == INST_LEAD_LINK)
		f->why = "a symlink on the way to it leads to another symlink";
	if (f->why != NULL)
		return 0;
	if (lead.len + rest_len >= sizeof(f->path)) {
		f->why = "its path is too long";
		return 0;
	}
	memcpy(rest, f->path + at, rest_len);
	memcpy(f->path, lead.path, lead.len);
	memcpy(f->path + lead.len, rest, rest_len);
	f->len = lead.len + rest_len;
	return 0;
}

/* the place of @path: symlinks for directories, such as /lib, are gone through as text; the last part is taken as it is */
static int
resolve(struct dray_walk *w, const char *path, size_t len, struct found *f, struct dray_err *e)
{
	struct inst_ident id;
	size_t at = 0;

	*f = (struct found){ .len = len };
	memcpy(f->path, path, len);
	for (int hops = 0; hops < HOPS_MAX;) {
		const char *slash = at < f->len ? memchr(f->path + at + 1, '/', f->len - at - 1) : NULL;

		if (slash == NULL)
			return 0;
		at = (size_t)(slash - f->path);
		if (inst_look(w, f->path, at, &id, NULL, e) != 0)
			return -1;
		if (id.type == DRAY_DIR)
			continue;
		f->gone = id.type == DRAY_ABSENT;
		if (!f->gone && id.type != DRAY_SYMLINK)
			f->why = "what it lies in is no directory";
		if (id.type != DRAY_SYMLINK)
			return 0;
		if (follow(w, f, at, e) != 0 || f->why != NULL)
			return f->why != NULL ? 0 : -1;
		at = 0;
		hops++;
	}
	f->why = "too many symlinks are on the way to it";
	return 0;
}

/* does it hold what this program itself writes to, or lie in it? A copy of that would have no end, and a swap would move it away */
static bool
meets_state(const struct inst_planning *pl, const struct inst_output *o)
{
	const char *state = pl->o->state;

	return state != NULL && (dray_path_under(state, strlen(state), o->path, o->len) ||
	    dray_path_under(o->path, o->len, state, strlen(state)));
}

/* what is there, and on which file system */
static int
look(struct inst_planning *pl, struct dray_walk *w, struct inst_output *o, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_stat up, st;
	int dir, r;

	if (o->why == NULL && meets_state(pl, o))
		o->why = "the state folder of dray-install lies there";
	if (o->why != NULL || o->gone)
		return 0;
	if ((r = dray_walk_parent(w, o->path, o->len, &dir, leaf, e)) != 0) {
		o->gone = true;
		return r < 0 ? -1 : 0;
	}
	if (os_stat_at(dir, "", &up) != 0)
		return dray_fail_errno(e, "look at the directory of an output");
	if (inst_sites_find(pl->sites, &up, o->path, inst_parent_len(o->path, o->len), &o->site, e) != 0)
		return -1;
	if ((up.fflags & DRAY_FF_LOCKS) != 0 && !pl->unlocks)
		o->why = "its directory is immutable or append-only";
	if (os_stat_at(dir, leaf, &st) != 0)
		return errno == ENOENT ? 0 : dray_fail_errno(e, "look at an output");
	inst_ident_from(&st, &o->id);
	o->fflags = st.fflags;
	o->bytes = st.size;
	o->objects = 1;
	if (st.mount_root || st.dev != up.dev || st.mnt_id != up.mnt_id)
		o->why = "something is mounted on it";
	else if ((st.fflags & DRAY_FF_LOCKS) != 0 && !pl->unlocks)
		o->why = "it is immutable or append-only";
	else if (o->id.type != DRAY_FILE && o->id.type != DRAY_SYMLINK && o->id.type != DRAY_DIR)
		o->why = "it is neither a file nor a symlink nor a directory";
	else if (o->id.type != DRAY_SYMLINK && faccessat(dir, leaf, R_OK, AT_EACCESS) != 0)
		o->why = "this user cannot read it";
	return 0;
}

static int
keep_text(struct inst_plan *p, const struct found *f, const char **path, struct dray_err *e)
{
	char **v = realloc(p->texts, (p->n_texts + 1) * sizeof(*v));

	if (v != NULL)
		p->texts = v;
	if (v == NULL || (v[p->n_texts] = strndup(f->path, f->len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*path = v[p->n_texts++];
	return 0;
}

/* a plan of somebody who may not look everywhere is partial: of no use but to be looked at */
static bool
unseen(const char **why, struct dray_err *e)
{
	if (geteuid() == 0)
		return false;
	*why = "this user cannot look at it";
	dray_err_clear(e);
	return true;
}

static int
take(struct inst_planning *pl, struct dray_walk *w, size_t trigger, const char *path, size_t len, struct dray_err *e)
{
	struct inst_output *o;
	const char *kept;
	struct found f;
	size_t i = 0;

	if (resolve(w, path, len, &f, e) != 0 && !unseen(&f.why, e))
		return -1;
	while (i < pl->n_outputs && dray_path_cmp(pl->outputs[i].path, pl->outputs[i].len, f.path, f.len) != 0)
		i++;
	pl->output_refs[pl->n_output_refs++] = (struct inst_output_ref){ (uint16_t)trigger, (uint32_t)i };
	if (i < pl->n_outputs)
		return 0;
	if (keep_text(pl->plan, &f, &kept, e) != 0)
		return -1;
	o = &pl->outputs[pl->n_outputs++];
	*o = (struct inst_output){ .path = kept, .len = f.len, .why = f.why, .gone = f.gone };
	return look(pl, w, o, e) != 0 && !unseen(&o->why, e) ? -1 : 0;
}

int
inst_outputs_look(struct inst_planning *pl, struct dray_err *e)
{
	struct dray_walk w;
	size_t n, len;
	int rc = 0;

	if (pl->desc->n_triggers == 0)
		return 0;
	pl->outputs = calloc(OUTPUTS_MAX, sizeof(*pl->outputs));
	pl->output_refs = calloc(OUTPUTS_MAX, sizeof(*pl->output_refs));
	if (pl->outputs == NULL || pl->output_refs == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	dray_walk_init(&w, pl->root);
	w.component_walk = pl->o->component_walk;
	for (size_t i = 0; rc == 0 && i < pl->desc->n_triggers; i++) {
		const struct dray_json *list = outputs_of(pl->desc, i, &n);

		for (size_t k = 0; rc == 0 && k < n && pl->n_output_refs < OUTPUTS_MAX; k++) {
			const char *path = text_of(list, k, &len);

			rc = take(pl, &w, i, path, len, e);
		}
	}
	dray_walk_close(&w);
	return rc;
}

/* after which phase trigger @i runs that one of @phase calls: one may name a later one */
static unsigned
step_of(const struct dray_desc *d, size_t i, uint8_t phase)
{
	const char *name = dray_trigger_phase(dray_json_at(d->triggers, i));
	unsigned named = 0;

	while (name != NULL && named < d->n_phases && strcmp(d->phases[named], name) != 0)
		named++;
	return named < phase ? phase : named;
}

/* the triggers that wait for a change of this path; their shape was checked with the descriptor */
static int
call_triggers(struct inst_planning *pl, const struct dray_entry *en, struct dray_err *e)
{
	const struct dray_json *paths;
	const char *pattern;
	size_t n, len;

	for (size_t i = 0; i < pl->desc->n_triggers; i++) {
		const uint16_t step = (uint16_t)(1u << step_of(pl->desc, i, en->phase));
		uint16_t *due = &pl->plan->due[i];

		if ((*due & step) != 0)
			continue;
		if (dray_json_arr(dray_json_at(pl->desc->triggers, i), "paths", &paths, &n, "trigger", e) != 0)
			return -1;
		for (size_t k = 0; k < n && (*due & step) == 0; k++)
			if ((pattern = dray_json_text(dray_json_at(paths, k), &len)) != NULL &&
			    dray_glob_covers(pattern, len, en->path, en->len))
				*due |= step;
	}
	return 0;
}

struct counting { struct inst_output *o; uint64_t block; };

static int
count(void *ctx, int dir, const char *name, const struct dray_stat *st, struct dray_err *e)
{
	struct counting *c = ctx;
	uint32_t type = st->mode & S_IFMT;

	(void)dir, (void)name, (void)e;
	c->o->objects++;
	c->o->bytes += (type == S_IFREG ? st->size : 0) + 2 * c->block;
	if (st->mount_root)
		c->o->why = "something is mounted in it";
	else if (type != S_IFREG && type != S_IFLNK && type != S_IFDIR)
		c->o->why = "it holds something that is neither a file nor a symlink nor a directory";
	else if (c->o->objects > OBJECTS_MAX)
		c->o->why = "it holds more than 10000 objects";
	return c->o->why == NULL ? 0 : -1;
}

static int
weigh(struct inst_planning *pl, struct dray_walk *w, struct inst_output *o, struct dray_err *e)
{
	struct counting c = { o, 4096 };
	char leaf[DRAY_NAME_MAX + 1];
	int dir;

	if (inst_sites_refuse(pl->sites, o->site) != NULL && !o->gone)
		o->why = inst_sites_refuse(pl->sites, o->site);
	if (o->why != NULL || o->id.type != DRAY_DIR)
		return 0;
	if (!inst_sites_moves_dirs(pl->sites, o->site))
		o->why = "its file system cannot move directories";
	else if (dray_walk_parent(w, o->path, o->len, &dir, leaf, e) != 0)
		o->why = "it changed meanwhile";
	else if (inst_tree_each(dir, leaf, count, &c, e) != 0 && o->why == NULL)
		o->why = "what it holds cannot be looked at";
	dray_err_clear(e);
	return 0;
}

int
inst_outputs_decide(struct inst_planning *pl, struct dray_err *e)
{
	struct dray_walk w;
	struct dray_entry en;
	int rc = 0;

	if (pl->desc->n_triggers == 0)
		return 0;
	for (size_t i = 0; i < pl->n; i++) {
		char change = inst_fact_letter(&pl->items[i]);

		if (change == '\0' || change == '.')
			continue;
		dray_index_entry(pl->ix, pl->items[i].row, &en);
		if (call_triggers(pl, &en, e) != 0)
			return -1;
	}
	for (size_t i = 0; i < pl->n_output_refs; i++) {
		uint16_t due = pl->plan->due[pl->output_refs[i].trigger];
		struct inst_output *o = &pl->outputs[pl->output_refs[i].output];

		for (uint8_t step = 1; due != 0 && step <= DRAY_MAX_PHASES; step++)
			if ((due >> (step - 1) & 1) != 0) {
				o->step = o->step == 0 || step < o->step ? step : o->step;
				break;
			}
	}
	dray_walk_init(&w, pl->root);
	w.component_walk = pl->o->component_walk;
	for (size_t i = 0; rc == 0 && i < pl->n_outputs; i++)
		if (pl->outputs[i].step != 0)
			rc = weigh(pl, &w, &pl->outputs[i], e);
	dray_walk_close(&w);
	return rc;
}

/* one operation of the release and one output */
static void
meet(struct inst_op *op, struct inst_output *o)
{
	bool swap = op->kind == INST_OP_SWAP;

	if (op->len == o->len && memcmp(op->path, o->path, o->len) == 0) {
		if (!swap) {
			o->why = "the upgrade changes its attributes in place";
			return;
		}
		op->flags |= INST_OP_OUTPUT;
		if (op->times == 0 || o->step < op->times)
			op->times = o->step;	/* not later than what makes it anew: steps.c */
		o->covered = true;
	} else if (dray_path_under(op->path, op->len, o->path, o->len)) {
		if (swap)
			op->flags |= INST_OP_OUTPUT;
		o->why = "the upgrade changes what it holds";
	} else if (swap && (op->flags & INST_OP_SUBTREE) != 0 && dray_path_under(o->path, o->len, op->path, op->len)) {
		if (op->now.type == DRAY_DIR)
			op->flags |= INST_OP_OUTPUT_INSIDE;
		o->covered = true;
	}
}

bool
inst_output_own(const struct inst_output *o)
{
	return o->step != 0 && o->why == NULL && !o->covered;
}

bool
inst_output_holds(const struct inst_planning *pl, const char *path, size_t len)
{
	for (size_t i = 0; i < pl->n_outputs; i++)
		if (inst_output_own(&pl->outputs[i]) && dray_path_under(path, len, pl->outputs[i].path, pl->outputs[i].len))
			return true;
	return false;
}

/* an output inside of another one is kept with it */
static void
nest(struct inst_planning *pl)
{
	for (size_t i = 0; i < pl->n_outputs; i++)
		for (size_t k = 0; k < pl->n_outputs; k++) {
			struct inst_output *in = &pl->outputs[i], *up = &pl->outputs[k];

			if (in->step == 0 || up->step == 0 || up->why != NULL || in->why != NULL || in->len <= up->len ||
			    !dray_path_under(in->path, in->len, up->path, up->len))
				continue;
			in->covered = true;
			if (in->step < up->step)
				up->step = in->step;
		}
}

int
inst_outputs_match(struct inst_planning *pl, struct inst_op *ops, size_t n, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;

	for (size_t k = 0; k < pl->n_outputs; k++)
		for (size_t i = 0; i < n && pl->outputs[k].step != 0; i++)
			meet(&ops[i], &pl->outputs[k]);
	nest(pl);
	if ((p->outputs = calloc(pl->n_outputs + 1, sizeof(*p->outputs))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t k = 0; k < pl->n_outputs; k++) {
		struct inst_output *o = &pl->outputs[k];

		if (o->step != 0 && o->gone && !o->covered && o->why == NULL)
			o->why = "the directory it lies in is not there";
		if (o->step != 0 && o->why == NULL)
			p->outputs[p->n_outputs++] = (struct inst_text){ o->path, o->len };
	}
	for (size_t i = 0; i < pl->desc->n_triggers; i++) {
		size_t declared, kept = 0;

		(void)outputs_of(pl->desc, i, &declared);
		for (size_t k = 0; k < pl->n_output_refs; k++)
			kept += pl->output_refs[k].trigger == i && pl->outputs[pl->output_refs[k].output].why == NULL;
		p->undone[i] = declared > 0 && kept == declared;
	}
	return 0;
}
