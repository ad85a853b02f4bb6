/*
 * cmd_report.c - dray report: what an export of a machine says, and whether it is whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"
#include "dray/trust.h"
#include "tool/tool.h"

#include "builder/build.h"
#include "builder/export_read.h"

struct report {
	struct tool_common common;
	const char *file, *earlier;
	uint64_t paths;
	bool told;		/* the failure stands in the JSON document */
};

static void
say_installed(const struct dray_json *anchor)
{
	const char *product, *version;
	const struct dray_json *in;
	struct dray_err ignored;
	char p[80], v[80];
	size_t plen, vlen;
	int64_t n;

	if (!dray_json_has(anchor, "installed") || dray_json_obj(anchor, "installed", &in, "", &ignored) != 0 ||
	    dray_json_str(in, "product", &product, &plen, "", &ignored) != 0 ||
	    dray_json_str(in, "version", &version, &vlen, "", &ignored) != 0 ||
	    dray_json_int(in, "counter", 0, INT64_MAX, &n, "", &ignored) != 0)
		printf("nothing is recorded as installed\n");
	else
		printf("installed: %s %s (counter %" PRId64 ")\n", dray_quote(product, plen, p, sizeof(p)),
		    dray_quote(version, vlen, v, sizeof(v)), n);
}

static int
begin(const struct report *r, const struct build_export *x, struct dray_json *o, struct dray_err *e)
{
	const struct dray_json *anchor, *generations;
	const char *pending;
	char print[40], hex[65], q[80];
	size_t n, len;

	if (dray_json_obj(x->head, "anchor", &anchor, "head", e) != 0 ||
	    dray_json_arr(x->head, "generations", &generations, &n, "head", e) != 0 ||
	    dray_json_str(x->head, "pending", &pending, &len, "head", e) != 0)
		return -1;
	if (o != NULL) {
		dray_json_set_str(o, "file", r->file);
		dray_json_set_str(o, "id", dray_hex(x->id, 32, hex));
		dray_json_set_copy(o, "anchor", anchor);
		dray_json_set_copy(o, "generations", generations);
		dray_json_set_str(o, "pending", pending);
	} else if (!r->common.quiet) {
		printf("export id %s\n", dray_fingerprint(x->id, print));
		say_installed(anchor);
		if (strcmp(pending, "none") != 0)
			printf("pending: %s\n", dray_quote(pending, len, q, sizeof(q)));
	}
	return 0;
}

/* what an earlier export holds must still be there, unchanged: whoever rewrites a chain cannot reach that one */
static int
compare(const struct report *r, const struct build_export *x, struct tool_runs *runs, struct dray_err *e)
{
	struct build_export old;
	size_t k = 0;

	if (r->earlier == NULL)
		return 0;
	if (build_export_open(r->earlier, &old, e) != 0)
		return -1;
	for (size_t i = 0; i < old.n; i++) {
		while (k < x->n && x->v[k].number < old.v[i].number)
			k++;
		if (k == x->n || x->v[k].number != old.v[i].number)
			tool_runs_problem(runs, "record %" PRIu64 " of the earlier export is missing", old.v[i].number);
		else if (memcmp(x->v[k].sha256, old.v[i].sha256, 32) != 0)
			tool_runs_problem(runs, "record %" PRIu64 " is not the one of the earlier export", old.v[i].number);
	}
	build_export_close(&old);
	return 0;
}

static int
all_runs(struct report *r, const struct build_export *x, struct dray_json *o, struct dray_err *e)
{
	struct tool_runs runs;
	char *text;
	int rc = 0;

	tool_runs_begin(&runs, &r->common, o, false);
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		if ((rc = build_export_record(x, i, &text, e)) != 0)
			break;
		rc = tool_runs_add(&runs, x->v[i].number, text, (size_t)x->v[i].size, &x->v[i].list, e);
		free(text);
	}
	if (rc == 0)
		rc = compare(r, x, &runs, e);
	if (rc == 0)
		rc = tool_runs_end(&runs, x->records, x->last, o, e);
	else
		o = NULL;	/* nothing whole to tell */
	if (rc == 0 && o == NULL && !r->common.quiet) {
		if (runs.lists_away > 0)
			printf("%zu lists of paths are not in it\n", runs.lists_away);
		printf("%zu %s, all whole%s\n", runs.n, runs.n == 1 ? "record" : "records",
		    r->earlier != NULL ? ", and a later state of the earlier export" : "");
		if (runs.n > 0) {
			printf("next: dray report ");
			tool_shell_print(stdout, r->file);
			printf(" --paths %" PRIu64 "\n", x->v[runs.n - 1].number);
		}
	} else if (rc != 0 && o != NULL) {
		struct dray_json *err = dray_json_set_obj(o, "error");

		dray_json_set_int(err, "code", (int64_t)e->code);
		dray_json_set_str(err, "hint", e->hint);
		dray_json_set_str(err, "text", e->text);
		r->told = true;
	}
	tool_runs_free(&runs);
	return rc;
}

static int
one_list(const struct report *r, const struct build_export *x, struct dray_json *o, struct dray_err *e)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].number == r->paths && x->v[i].list.fd != -1)
			return tool_runs_paths(&r->common, &x->v[i].list, o, e);
	dray_fail(e, DRAY_E_USAGE, "record %" PRIu64 " has no list of paths in this file", r->paths);
	return dray_hint(e, "report without --paths shows which records there are");
}

static int
report(struct report *r, struct dray_err *e)
{
	struct dray_json *o = r->common.json ? dray_json_new_obj() : NULL;
	struct dray_err out = { .code = DRAY_OK };
	struct build_export x;
	int rc = -1;

	if (build_export_open(r->file, &x, e) != 0) {
		dray_json_free(o);
		return -1;
	}
	if (r->paths != 0)
		rc = one_list(r, &x, o, e);
	else if (begin(r, &x, o, e) == 0)
		rc = all_runs(r, &x, o, e);
	build_export_close(&x);
	if (o != NULL && (rc == 0 || r->told)) {
		if (tool_json(o, &out) != 0) {
			*e = out;
			rc = -1;
		}
	} else {
		dray_json_free(o);
	}
	return rc;
}

int
build_cmd_report(int argc, char **argv, const struct tool_cmd *self)
{
	struct report r = { .file = NULL };
	struct tool_opt opts[] = {
		{ .name = "paths", .kind = TOOL_NUMBER, .out = &r.paths, .min = 1, .max = INT64_MAX, .arg = "N",
		    .help = "the paths of record N, before and after" },
		{ .name = "earlier", .kind = TOOL_TEXT, .out = &r.earlier, .arg = "FILE",
		    .help = "an earlier export of the same machine, whose records must still be there" },
		{ .name = NULL }
	};
	struct dray_err e = { .code = DRAY_OK };
	const char *operand[1];
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &r.common, 1, 1, operand, &n)) != -1)
		return rc;
	r.file = operand[0];
	if (report(&r, &e) == 0)
		return 0;
	r.common.json = r.common.json && !r.told;
	return tool_error(&r.common, NULL, &e);
}
