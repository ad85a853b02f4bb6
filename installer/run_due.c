/*
 * run_due.c - triggers that wait are run, one after the other. Each one is recorded at its end, so a run that is killed
 * leaves those waiting that have no record.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/trigger.h"

#include "installer/cmd.h"
#include "installer/due.h"
#include "installer/hooksd.h"
#include "installer/run_trigger.h"
#include "installer/switch.h"

struct running {
	struct inst_front *f;
	struct inst_run_due *r;
	struct dray_json *list;		/* what waited at the begin */
	bool *blocks;			/* by number in it: what comes after it is not run */
	bool other;			/* not the running system's root */
	size_t n, at;			/* those to run, and which one it is */
};

const char *
inst_run_due_why(const struct inst_front *f)
{
	if (f->no_triggers)
		return "it was told not to run any";
	if (!inst_is_running_system(f) && !f->allow_chroot)
		return "programs of another root run in a chroot alone, and that was not allowed";
	return geteuid() == 0 ? NULL : "only root can run them";
}

static const struct dray_json *
trigger(const struct running *x, size_t i)
{
	return inst_due_trigger(dray_json_at(x->list, i));
}

static bool
wanted(const struct running *x, size_t i)
{
	bool named = x->r->n_ids == 0;

	for (size_t k = 0; k < x->r->n_ids; k++)
		named |= strcmp(x->r->ids[k], inst_due_id(trigger(x, i))) == 0;
	return named && (x->r->again || !inst_due_failed(dray_json_at(x->list, i)));
}

static bool
not_here(const struct running *x, size_t i)
{
	return x->other && dray_trigger_needs(trigger(x, i)) == DRAY_NEEDS_ROOT_LIVE;
}

/* does it come after one that has failed, or was left out for that? */
static bool
lacks(const struct running *x, size_t i)
{
	const struct dray_json *after, *one = trigger(x, i);
	struct dray_err ignored;
	const char *id;
	size_t n, len;

	if (!dray_json_has(one, "after") || dray_json_arr(one, "after", &after, &n, "", &ignored) != 0)
		return false;
	for (size_t k = 0; k < n; k++)
		for (size_t j = 0; j < i; j++)
			if (x->blocks[j] && (id = dray_json_text(dray_json_at(after, k), &len)) != NULL &&
			    strcmp(id, inst_due_id(trigger(x, j))) == 0)
				return true;
	return false;
}

static struct dray_json *
tell(struct running *x, size_t i, const char *result)
{
	struct dray_json *o = dray_json_push_obj(x->r->told);

	dray_json_set_str(o, "id", inst_due_id(trigger(x, i)));
	dray_json_set_str(o, "result", result);
	return o;
}

/* what is known of it after it ran, in all places that keep it; it waits no more if it did what it should */
static int
settle(struct running *x, size_t i, const struct inst_trigger_end *r, struct dray_err *e)
{
	const char *id = inst_due_id(trigger(x, i));
	struct dray_json *o = tell(x, i, r->code == DRAY_OK ? "done" : "failed");

	dray_json_set_str(o, "output", r->output);
	dray_json_set_int(o, "milliseconds", r->ms);
	if (inst_evidence_trigger(&x->f->st, id, r, &x->f->anchor, e) != 0)
		return -1;
	return inst_due_ended(&x->f->st, id, r->code == DRAY_OK, e);
}

/* what a way back calls. That it failed too is told, and no more: the files are what they were */
static int
run_back(struct inst_front *f, struct dray_err *e)
{
	struct inst_run_due back = { .ran = 0 };
	int rc = inst_run_due(f, &back, e);

	inst_run_due_free(&back);
	return rc;
}

/*
 * It failed, and asks for the way back: the transaction that called it, if that is the one to go back from.
 * @begun: set once the files are on their way
 * Return: 0: it was not taken back, and @why says so; -1: DRAY_E_WENT_BACK, or going back failed
 */
static int
take_back(struct inst_front *f, uint32_t of, bool *begun, struct dray_err *why, struct dray_err *e)
{
	struct inst_foreign kept = { .n = 0 }, drift = { .n = 0 };
	struct dray_err bad = { .code = DRAY_OK };
	struct inst_tx *tx = NULL;
	int rc = -1;

	if (inst_stash(&f->st, true, &tx, e) != 0)
		goto out;
	if (tx == NULL || tx->number != of) {
		rc = 0;		/* of an upgrade that is no more the last one, or of a way back */
		goto out;
	}
	if (inst_back_ready(f, tx, &drift, &bad) != 0) {
		dray_wrap(why, "the upgrade cannot be taken back (%.300s), although this asks for it", bad.text);
		rc = 0;
		goto out;
	}
	inst_run_blame(&f->st, DRAY_E_WENT_BACK, why->text);
	*begun = true;
	if (inst_undo(&f->st, tx, &kept, e) != 0) {
		dray_wrap(e, "%.300s; going back for that", why->text);
		dray_hint(e, "repair the cause, then: dray-install resume --root %s", f->st.root_path);
		goto out;
	}
	inst_print_paths(f, "changed since the upgrade; kept in the stash:", &kept);
	if (inst_anchor_load(&f->st, &f->anchor, e) != 0 || run_back(f, e) != 0)
		goto out;
	dray_fail(e, DRAY_E_WENT_BACK, "a trigger failed that asks for the way back, so everything is as it was: %s", why->text);
	dray_hint(e, "repair the cause, then run apply again");
out:
	inst_foreign_free(&kept);
	inst_foreign_free(&drift);
	inst_tx_close(tx);
	return rc;
}

static int
failed(struct running *x, size_t i, const struct inst_trigger_end *end, struct dray_err *e)
{
	enum dray_on_failure then = dray_trigger_on_failure(trigger(x, i));
	struct dray_err why = { .code = DRAY_OK };

	dray_fail(&why, DRAY_E_TRIGGER, "%s: %s", inst_due_id(trigger(x, i)), end->why);
	if (then == DRAY_FAILURE_WARN) {
		x->r->warned++;
		return 0;
	}
	x->blocks[i] = true;
	if (then == DRAY_FAILURE_ROLLBACK && take_back(x->f, inst_due_of(dray_json_at(x->list, i)), &x->r->back, &why, e) != 0)
		return -1;
	if (x->r->bad++ == 0)
		x->r->why = why;
	return 0;
}

static int
run_one(struct running *x, size_t i, struct dray_err *e)
{
	const struct dray_json *one = trigger(x, i);
	const char *id = inst_due_id(one);
	struct inst_trigger_end end;
	int rc;

	inst_say(x->f, "trigger %zu of %zu:", ++x->at, x->n);
	inst_due_line(x->f, one);
	if (inst_trigger_run(one, x->other, &end, e) != 0)
		return e->code == DRAY_E_SIGNAL ? dray_hint(e, "those that have no record wait; resume or triggers runs them") : -1;
	if (end.output[0] != '\0')
		inst_say_output(x->f, end.output);
	x->r->ran++;
	inst_say(x->f, "  %s: %s, %" PRId64 ".%" PRId64 " s", id, end.code == DRAY_OK ? "done" : end.why, end.ms / 1000,
	    end.ms % 1000 / 100);
	rc = settle(x, i, &end, e);
	if (rc == 0 && end.code != DRAY_OK)
		rc = failed(x, i, &end, e);
	inst_trigger_end_free(&end);
	return rc;
}

static int
run_all(struct running *x, struct dray_err *e)
{
	size_t all = dray_json_count(x->list);

	for (size_t i = 0; i < all; i++)
		x->n += wanted(x, i) && !not_here(x, i);
	for (size_t i = 0; i < all; i++) {
		if (!wanted(x, i)) {
			x->blocks[i] = inst_due_failed(dray_json_at(x->list, i)) &&
			    dray_trigger_on_failure(trigger(x, i)) != DRAY_FAILURE_WARN;
		} else if (not_here(x, i)) {
			inst_say(x->f, "  %s: not run, because it needs the running system, and %s is another root",
			    inst_due_id(trigger(x, i)), x->f->root);
			tell(x, i, "not-here");
		} else if (lacks(x, i)) {
			x->blocks[i] = true;
			inst_say(x->f, "  %s: not run, because it comes after one that failed", inst_due_id(trigger(x, i)));
			tell(x, i, "skipped");
		} else if (run_one(x, i, e) != 0) {
			return -1;
		}
	}
	return 0;
}

int
inst_run_due(struct inst_front *f, struct inst_run_due *r, struct dray_err *e)
{
	struct running x = { .f = f, .r = r, .other = !inst_is_running_system(f) };
	struct dray_err bad = { .code = DRAY_OK };
	int rc = -1;

	if (r->told == NULL && (r->told = dray_json_new_arr()) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (inst_run_due_why(f) != NULL)
		return 0;
	/* what cannot be read is told with what waits */
	if (inst_due_load(&f->st, &x.list, &bad) != 0)
		return 0;
	if (dray_json_count(x.list) == 0)
		rc = 0;
	else if (inst_anchor_load(&f->st, &f->anchor, e) != 0)
		rc = -1;
	else if ((x.blocks = calloc(dray_json_count(x.list), sizeof(*x.blocks))) == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else
		rc = run_all(&x, e);
	free(x.blocks);
	dray_json_free(x.list);
	return rc;
}

void
inst_run_due_stopped(const struct inst_front *f, const struct inst_run_due *r, struct dray_err *e)
{
	struct inst_front bare = *f;
	char *again;

	if (r->back)
		return;
	dray_wrap(e, "the files are switched, but what is run after that stopped");
	if (e->code != DRAY_E_SIGNAL)
		e->code = DRAY_E_IO;	/* those of a refusal say that nothing was changed */
	bare.bundle = NULL;
	if ((again = inst_command(&bare, "resume", inst_is_running_system(f) ? NULL : "--allow-chroot")) != NULL)
		dray_hint(e, "repair the cause, then: %s", again);
	free(again);
}

int
inst_run_due_end(const struct inst_front *f, const struct inst_run_due *r, struct dray_err *e)
{
	struct inst_front bare = *f;
	char *again;

	if (r->bad == 0)
		return inst_hooksd_end(f, e);
	*e = r->why;
	if (r->bad > 1)
		dray_wrap(e, "%zu triggers failed; the first", r->bad);
	bare.bundle = NULL;
	if ((again = inst_command(&bare, "triggers", inst_is_running_system(f) ? NULL : "--allow-chroot")) != NULL)
		dray_hint(e, "the files stay as they are; repair the cause, then: %s", again);
	free(again);
	return -1;
}

int
inst_run_due_json(struct inst_front *f, const struct inst_run_due *r, struct dray_json *o, struct dray_err *e)
{
	struct dray_err bad = { .code = DRAY_OK };
	struct dray_json *list, *a;
	int rc = inst_run_due_end(f, r, e);

	if (r->told != NULL)
		dray_json_set_copy(o, "triggers", r->told);
	else
		(void)dray_json_set_arr(o, "triggers");
	a = dray_json_set_arr(o, "triggers_due");
	/* a damaged list is told by whoever wants to work with it */
	if (inst_due_load(&f->st, &list, &bad) == 0) {
		for (size_t i = 0; i < dray_json_count(list); i++)
			inst_due_json(a, dray_json_at(list, i));
		dray_json_free(list);
	}
	inst_hooksd_json(f, o);
	if (rc != 0)
		inst_json_error(f, o, e);
	return rc;
}

int
inst_run_due_told(struct inst_front *f, const struct inst_run_due *r, struct dray_json *o, struct dray_err *e)
{
	struct dray_err bad = { .code = DRAY_OK };
	int rc;

	if (!f->common.json)
		return inst_run_due_end(f, r, e);
	rc = inst_run_due_json(f, r, o, e);
	return tool_json(o, rc != 0 ? &bad : e) != 0 ? -1 : rc;
}

void
inst_run_due_free(struct inst_run_due *r)
{
	dray_json_free(r->told);
	r->told = NULL;
}
