/*
 * cmd_diff.c - dray diff: options into a struct, run, exit status.
 */
#include <stdio.h>
#include <string.h>

#include "builder/diff.h"
#include "dray/digest.h"

static int
check_fields(const struct tool_list *l, struct dray_err *e)
{
	char quoted[100];

	for (size_t i = 0; i < l->n; i++) {
		if (build_diff_field_ok(l->v[i]))
			continue;
		dray_fail(e, DRAY_E_USAGE, "--ignore \"%s\": no such field",
		    dray_quote(l->v[i], strlen(l->v[i]), quoted, sizeof(quoted)));
		return dray_hint(e, "fields are type, content, target, device, link, mode, uid, gid, flags, xattrs, mtime");
	}
	return 0;
}

int
build_cmd_diff(int argc, char **argv, const struct tool_cmd *self)
{
	struct tool_common common = { .json = false };
	struct build_diff_opts o = { .common = &common };
	struct tool_opt opts[] = {
		{ "all", 'a', TOOL_FLAG, &o.all, 0, 0, NULL, "tell every difference, not only the first" },
		{ "ignore", 0, TOOL_LIST, &o.ignore, 0, 0, "FIELD", "do not compare this field of entries, e.g. mtime; repeats" },
		{ "keyring", 0, TOOL_LIST, &o.keyring, 0, 0, "FILE", "bundles must be signed by these; else that is not checked" },
		{ .name = NULL },
	};
	bool equal = false;
	struct dray_err e;
	size_t n;
	int rc;

	dray_err_clear(&e);
	if ((rc = tool_parse(argc, argv, self, opts, &common, 2, 2, o.name, &n)) != -1)
		return rc;
	if (check_fields(&o.ignore, &e) != 0 || dray_crypto_init(&e) != 0 || build_diff(&o, &equal, &e) != 0)
		return tool_error(&common, "cannot compare", &e);
	return equal ? 0 : DRAY_E_CONFLICT;
}
