/*
 * cmd_policy.c - dray policy: what a freebsd-update.conf says about paths, as a policy file for dray-install.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"
#include "builder/conf_policy.h"
#include "tool/tool.h"

static int
convert(const char *file, FILE *out, struct dray_err *e)
{
	FILE *in = fopen(file, "re");
	char q[300], *text = NULL;
	size_t len = 0;
	int rc;

	dray_quote(file, strlen(file), q, sizeof(q));
	if (in == NULL)
		rc = dray_fail_errno(e, "open");
	else if ((rc = build_conf_policy(in, &text, &len, e)) == 0)
		fprintf(out, "# made from %s\n%s", q, text);
	free(text);
	if (in != NULL)
		fclose(in);	/* read-only, nothing to lose */
	return rc == 0 ? 0 : dray_wrap(e, "%s", q);
}

int
build_cmd_policy(int argc, char **argv, const struct tool_cmd *self)
{
	struct dray_err e = { .code = DRAY_OK };
	struct tool_common common = { .json = false };
	struct tool_opt opts[] = { { .name = NULL } };
	const char *file;
	size_t n;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &common, 1, 1, &file, &n)) != -1)
		return rc;
	return convert(file, stdout, &e) == 0 ? 0 : tool_error(&common, "no policy", &e);
}
