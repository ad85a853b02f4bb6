/*
 * cmd_help.c - dray-install help TOPIC: where the program goes there is no manual, so it brings one.
 */
#include <stdio.h>
#include <string.h>

#include "installer/cmd.h"
#include "installer/help.h"

int
inst_cmd_help(int argc, char **argv, const struct tool_cmd *self)
{
	struct tool_opt opts[] = { { .name = NULL } };
	struct dray_err e = { .code = DRAY_OK };
	struct tool_common common;
	const char *names[32], *near, *operand[1];
	char q[DRAY_QUOTE_CAP(64)];
	size_t n, all = 0;
	int rc;

	if ((rc = tool_parse(argc, argv, self, opts, &common, 0, 1, operand, &n)) != -1)
		return rc;
	for (const struct inst_topic *t = inst_topics; t->name != NULL; t++) {
		if (n == 0)
			printf("  dray-install help %-10s  %s\n", t->name, t->words);
		else if (strcmp(t->name, operand[0]) == 0) {
			for (const char *const *line = t->lines; *line != NULL; line++)
				puts(*line);
			return 0;
		}
		if (all < sizeof(names) / sizeof(names[0]) - 1)
			names[all++] = t->name;
	}
	if (n == 0)
		return 0;
	names[all] = NULL;
	near = tool_nearest(operand[0], names);
	dray_fail(&e, DRAY_E_USAGE, "no page \"%s\"", dray_quote(operand[0], strlen(operand[0]), q, sizeof(q)));
	dray_hint(&e, near != NULL ? "did you mean %s?" : "dray-install help lists them%s", near != NULL ? near : "");
	return tool_error(&common, NULL, &e);
}
