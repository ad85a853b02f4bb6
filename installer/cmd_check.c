/*
 * cmd_check.c - dray-install check: does the tree equal the release? Of a bundle, or of what is recorded as installed.
 */
#include <stdio.h>

#include "installer/check_report.h"
#include "installer/fence.h"
#include "installer/mtree.h"

struct checking_opts { bool quick, strict, extra, mtree; };

/* the bundle named, or the head kept from the last upgrade */
static int
open_release(struct inst_front *f, struct dray_err *e)
{
	if (f->bundle != NULL)
		return inst_front_look(f, e) != 0 ? -1 : inst_front_bundle(f, e);
	if (inst_front_state(f, false, e) != 0)
		return -1;
	if (f->st.dir == -1 || !f->anchor.installed.known) {
		dray_fail(e, DRAY_E_SYSTEM, "nothing is recorded as installed on %s", f->root);
		return dray_hint(e, "name the bundle whose release it should be: dray-install check BUNDLE");
	}
	inst_work_begin(&f->st, "opening", 0);
	return inst_work_end(&f->st, inst_head_open(&f->st, f->anchor.installed.id, &f->media.fd, &f->b, e));
}

/* words of a comparison without damage */
static void
say_good(const struct inst_front *f, const struct inst_check *c)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	if (c->local == 0)
		inst_say(f, "%s is %s %s: all %zu entries are as the release says", f->root, d->product, d->version, c->entries);
	else
		inst_say(f, "%s is %s %s: %zu of %zu entries are as the release says, %zu differ%s by local decision", f->root,
		    d->product, d->version, c->entries - c->local, c->entries, c->local, c->local == 1 ? "s" : "");
	inst_say_command(f, "next", "status", NULL);
}

/* what the exit status says of it */
static int
verdict(const struct inst_front *f, const struct inst_check *c, struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);

	if (c->differ > 0) {
		dray_fail(e, DRAY_E_CONFLICT, "%zu of %zu entries differ from %s %s%s", c->differ, c->entries, d->product,
		    d->version, c->unread > 0 ? ", and not all could be checked" : "");
		return dray_hint(e, "nothing was changed; dray-install repair BUNDLE%s brings back what differs",
		    c->strict ? " /" : "");
	}
	if (c->unread > 0) {
		dray_fail(e, DRAY_E_SYSTEM, "%zu of %zu entries could not be checked by this user", c->unread, c->entries);
		return dray_hint(e, "all others are as %s %s says; run it as root, or with --quick", d->product, d->version);
	}
	return 0;
}

static int
print_json(struct inst_front *f, const struct inst_check *c, const struct checking_opts *w, bool bad,
    struct dray_err *e)
{
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct dray_json *o = dray_json_new_obj();
	struct dray_err printing = { .code = DRAY_OK };

	dray_json_set_str(o, "product", d->product);
	dray_json_set_str(o, "version", d->version);
	dray_json_set_bool(o, "quick", w->quick);
	dray_json_set_bool(o, "strict", w->strict);
	inst_check_json(f, c, o);
	if (w->extra && inst_check_tell_foreign(f, c, o, &printing) != 0) {
		dray_json_free(o);
		*e = printing;
		return -1;
	}
	if (bad)
		inst_json_error(f, o, e);
	if (tool_json(o, &printing) == 0)
		return 0;
	*e = printing;
	return -1;
}

/* the release, what of it was asked for, and whether the tree is in the middle of something */
static int
begin(struct inst_front *f, struct dray_err *e)
{
	enum inst_pending what;
	uint32_t number;

	if (open_release(f, e) != 0 || inst_policy_settle(f, false, e) != 0)
		return -1;
	if (f->st.dir == -1)
		return 0;
	if (inst_pending(&f->st, &what, &number, e) != 0)
		return -1;
	if (inst_pending_text(what) != NULL)
		inst_say(f, "pending: %s", inst_pending_text(what));
	return 0;
}

/* the release alone, for another program to compare */
static int
list_release(struct inst_front *f, const struct checking_opts *w, struct dray_err *e)
{
	bool known;

	if (f->common.json || w->quick || w->strict || w->extra) {
		dray_fail(e, DRAY_E_USAGE, "--mtree compares nothing: it excludes --json, --quick, --strict and --extra");
		return dray_hint(e, "mtree -k and -R choose what is compared");
	}
	f->listing = true;
	if (begin(f, e) != 0)
		return -1;
	f->policy.absent = inst_components_absent(dray_bundle_desc(f->b), &f->anchor.installed, &known);
	if (inst_mtree_print(dray_bundle_index(f->b), dray_bundle_desc(f->b), &f->policy, stdout, e) != 0)
		return -1;
	return tool_flush(e);
}

static int
run(struct inst_front *f, const struct checking_opts *w, struct dray_err *e)
{
	struct inst_check_opts o = { .quick = w->quick, .strict = w->strict };
	struct inst_check c = { .differ = 0 };
	int rc = -1;

	if (begin(f, e) != 0)
		return -1;
	o.no_owner = f->policy.no_owner;
	if (inst_check_run(f, o, &c, e) != 0)
		goto out;
	rc = verdict(f, &c, e);
	if (f->common.json) {
		if (print_json(f, &c, w, rc != 0, e) != 0)
			rc = -1;
		goto out;
	}
	inst_check_say(f, &c);
	if (w->extra) {
		struct dray_err listing = { .code = DRAY_OK };

		if (inst_check_tell_foreign(f, &c, NULL, &listing) != 0) {
			*e = listing;
			rc = -1;
			goto out;
		}
	}
	if (rc == 0)
		say_good(f, &c);
out:
	inst_check_free(&c);
	return rc;
}

int
inst_cmd_check(int argc, char **argv, const struct tool_cmd *self)
{
	struct checking_opts w = { .quick = false };
	struct inst_front f;
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(f), INST_OPT_KEYRING(f), TOOL_OPT_DIR((f).dirs), INST_OPTS_OWNER(f),
		{ .name = "quick", .kind = TOOL_FLAG, .out = &w.quick, .help = "open no file: sizes instead of contents" },
		{ .name = "strict", .kind = TOOL_FLAG, .out = &w.strict,
		    .help = "local decisions and times of directories count too" },
		{ .name = "extra", .kind = TOOL_FLAG, .out = &w.extra, .help = "list what no release knows" },
		{ .name = "mtree", .kind = TOOL_FLAG, .out = &w.mtree, .help = "compare nothing: print the release for mtree(8)" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	const char *operand[1];
	size_t n;
	int rc;

	inst_front_init(&f, "check");
	if ((rc = tool_parse(argc, argv, self, opts, &f.common, 0, 1, operand, &n)) != -1)
		return rc;
	f.bundle = n > 0 ? operand[0] : NULL;
	tool_signals();
	inst_fence(&f, INST_NEEDS_NOTHING, NULL);
	rc = (w.mtree ? list_release(&f, &w, &e) : run(&f, &w, &e)) == 0 ? 0 : inst_front_error(&f, &e);
	inst_front_close(&f);
	return rc;
}
