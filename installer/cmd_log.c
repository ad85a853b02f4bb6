/*
 * cmd_log.c - dray-install status --log: every run that is recorded here, and whether the records are whole.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/runs.h"

#include "installer/cmd.h"

static int
add_one(const struct inst_front *f, uint64_t number, bool lists, struct tool_runs *r, struct dray_err *e)
{
	struct tool_span list = { .fd = -1 };
	struct dray_err bad;
	uint8_t *p = NULL;
	size_t len;
	int rc;

	/* one that cannot be read is a problem of the evidence, and the others are told all the same */
	rc = inst_chain_read(&f->st, number, &p, &len, &bad);
	if (rc == 1)
		dray_fail(&bad, DRAY_E_FORMAT, "it is gone");
	if (rc != 0) {
		tool_runs_missing(r, number, &bad);
		return 0;
	}
	if (lists && inst_chain_list(&f->st, number, &list.fd, &list.size, e) < 0) {
		free(p);
		return -1;
	}
	rc = tool_runs_add(r, number, (const char *)p, len, &list, e);
	if (list.fd != -1)
		close(list.fd);
	free(p);
	return rc;
}

int
inst_log_check(const struct inst_front *f, bool lists, struct tool_runs *r, struct dray_err *e)
{
	uint64_t *numbers;
	size_t n, i;
	int rc = 0;

	if (inst_chain_numbers(&f->st, &numbers, &n, e) != 0)
		return -1;
	for (i = 0; rc == 0 && i < n; i++)
		rc = add_one(f, numbers[i], lists, r, e);
	free(numbers);
	return rc;
}

int
inst_log(struct inst_front *f, struct dray_err *e)
{
	struct dray_json *o = f->common.json ? dray_json_new_obj() : NULL;
	struct tool_runs r;
	int rc;

	tool_runs_begin(&r, &f->common, o, false);
	if (inst_log_check(f, true, &r, e) != 0) {
		tool_runs_free(&r);
		dray_json_free(o);
		return -1;
	}
	rc = tool_runs_end(&r, f->anchor.records, f->anchor.last, o, e);
	if (o != NULL) {
		struct dray_err out = { .code = DRAY_OK };

		if (rc != 0)
			inst_json_error(f, o, e);
		if (tool_json(o, &out) != 0) {
			*e = out;
			rc = -1;
		}
	} else {
		if (r.n == 0)
			inst_say(f, "no run is recorded on %s", f->root);
		else if (f->anchor.records == 0)
			inst_say(f, "the anchor was deleted: whether the newest records are missing is not known");
		if (r.lists_away > 0)
			inst_say(f, "%zu %s of paths not here any more", r.lists_away, r.lists_away == 1 ? "list is" : "lists are");
		if (rc == 0 && r.n > 0)
			inst_say_command(f, "to take it out of here", "status", "--export FILE");
	}
	tool_runs_free(&r);
	return rc;
}

int
inst_log_paths(struct inst_front *f, uint64_t number, struct dray_err *e)
{
	struct dray_json *o;
	struct tool_span list = { .fd = -1 };
	int r = inst_chain_list(&f->st, number, &list.fd, &list.size, e);

	if (r == 1) {
		dray_fail(e, DRAY_E_USAGE, "record %" PRIu64 " has no list of paths here", number);
		dray_hint(e, "status --log shows which records there are; only an upgrade has a list");
	}
	if (r != 0)
		return -1;
	o = f->common.json ? dray_json_new_obj() : NULL;
	r = tool_runs_paths(&f->common, &list, o, e);
	close(list.fd);
	if (r == 0 && o != NULL)
		return tool_json(o, e) == 0 ? 0 : -1;
	dray_json_free(o);
	return r;
}
