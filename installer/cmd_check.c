/*
 * cmd_check.c - dray-install check: does the tree equal the release? Of a bundle, or of what is recorded as installed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/path.h"

#include "installer/cmd.h"

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
	return inst_head_open(&f->st, f->anchor.installed.id, &f->fd, &f->b, e);
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

static void
print_text(const struct inst_front *f, const struct inst_check *c)
{
	const struct dray_index *ix = dray_bundle_index(f->b);
	const struct dray_desc *d = dray_bundle_desc(f->b);
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)], words[128];
	struct dray_entry en;

	for (size_t i = 0; i < c->n; i++) {
		dray_index_entry(ix, c->v[i].row, &en);
		diff_words(c->v[i].diffs, words, sizeof(words));
		inst_say(f, "%s: %s", dray_quote(en.path, en.len, quoted, sizeof(quoted)), words);
	}
	if (c->n == 0)
		inst_say(f, "%s is %s %s: all %zu entries are as the release says", f->root, d->product, d->version,
		    c->entries);
}

static int
print_json(struct inst_front *f, const struct inst_check *c, bool quick, struct dray_err *e)
{
	const struct dray_index *ix = dray_bundle_index(f->b);
	const struct dray_desc *d = dray_bundle_desc(f->b);
	struct dray_json *o = dray_json_new_obj(), *a, *one, *what;
	struct dray_err printing = { .code = DRAY_OK };
	struct dray_entry en;

	dray_json_set_str(o, "product", d->product);
	dray_json_set_str(o, "version", d->version);
	dray_json_set_bool(o, "quick", quick);
	dray_json_set_int(o, "entries", (int64_t)c->entries);
	a = dray_json_set_arr(o, "different");
	for (size_t i = 0; i < c->n; i++) {
		dray_index_entry(ix, c->v[i].row, &en);
		one = dray_json_push_obj(a);
		dray_json_set_path(one, "path", en.path, en.len);
		what = dray_json_set_arr(one, "what");
		for (unsigned k = 0; k < INST_DIFFS; k++)
			if ((c->v[i].diffs >> k & 1) != 0)
				dray_json_push_str(what, inst_diff_name[k]);
	}
	if (c->n > 0)
		inst_json_error(f, o, e);
	if (tool_json(o, &printing) == 0)
		return 0;
	*e = printing;
	return -1;
}

static int
run(struct inst_front *f, bool quick, struct dray_err *e)
{
	struct tool_progress pr;
	struct inst_check_opts o = { .threads = (unsigned)f->common.jobs, .quick = quick, .progress = tool_progress_at,
	    .ctx = &pr, .stop = tool_signal_seen };
	struct inst_check c = { .n = 0 };
	enum inst_pending what;
	uint32_t number;
	int rc = -1;

	if (open_release(f, e) != 0 || inst_policy_settle(f, false, e) != 0)
		return -1;
	o.no_owner = f->policy.no_owner;
	if (f->st.dir != -1) {
		if (inst_pending(&f->st, &what, &number, e) != 0)
			return -1;
		if (inst_pending_text(what) != NULL)
			inst_say(f, "pending: %s", inst_pending_text(what));
	}
	tool_progress_begin(&pr, &f->common, "checking", 0);
	rc = inst_check_tree(f->st.root, dray_bundle_index(f->b), &o, &c, e);
	tool_progress_end(&pr, rc == 0);
	if (rc != 0)
		goto out;
	if (c.n > 0) {
		rc = dray_fail(e, DRAY_E_CONFLICT, "%zu of %zu entries differ from %s %s", c.n, c.entries,
		    dray_bundle_desc(f->b)->product, dray_bundle_desc(f->b)->version);
		dray_hint(e, "nothing was changed; local edits show up here too");
	}
	if (!f->common.json)
		print_text(f, &c);
	else if (print_json(f, &c, quick, e) != 0)
		rc = -1;
out:
	inst_check_free(&c);
	return rc;
}

int
inst_cmd_check(int argc, char **argv, const struct tool_cmd *self)
{
	struct inst_front f;
	bool quick = false;
	struct tool_opt opts[] = {
		INST_OPTS_ROOT(f), INST_OPT_KEYRING(f), INST_OPTS_OWNER(f),
		{ .name = "quick", .kind = TOOL_FLAG, .out = &quick, .help = "compare sizes instead of contents" },
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
	rc = run(&f, quick, &e) == 0 ? 0 : inst_front_error(&f, &e);
	inst_front_close(&f);
	return rc;
}
