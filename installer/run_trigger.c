/*
 * run_trigger.c - from a declared trigger to its program, and from what it said to what is shown and kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/trigger.h"

#include "tool/tool.h"

#include "installer/evidence.h"
#include "installer/run_trigger.h"
#include "installer/runner.h"

/* line by line: what a program of the tree says goes to a terminal */
char *
inst_ran_printable(const struct inst_ran *ran)
{
	size_t cap = DRAY_QUOTE_CAP(ran->len) + 1, at = 0;
	char *out = malloc(cap);

	if (out == NULL)
		return NULL;
	out[0] = '\0';
	for (size_t i = 0; i < ran->len;) {
		const char *nl = memchr(ran->output + i, '\n', ran->len - i);
		size_t len = nl != NULL ? (size_t)(nl - ran->output) - i : ran->len - i;

		dray_quote(ran->output + i, len, out + at, cap - at);
		at += strlen(out + at);
		if (nl != NULL)
			out[at++] = '\n';
		out[at] = '\0';
		i += len + (nl != NULL);
	}
	return out;
}

static char **
take_argv(const struct dray_json *t, struct dray_err *e)
{
	const struct dray_json *list;
	const char *s;
	char **argv;
	size_t n, len;

	if (dray_json_arr(t, "argv", &list, &n, "trigger", e) != 0)
		return NULL;
	if ((argv = calloc(n + 1, sizeof(char *))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if ((s = dray_json_text(dray_json_at(list, i), &len)) == NULL || (argv[i] = strdup(s)) == NULL) {
			for (size_t k = 0; k < i; k++)
				free(argv[k]);
			free(argv);
			dray_fail(e, DRAY_E_IO, "out of memory");
			return NULL;
		}
	return argv;
}

static void
free_argv(char **argv)
{
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

/* the longest that it may take; 0: as long as it wants */
static int
take_timeout(const struct dray_json *t, unsigned *seconds, struct dray_err *e)
{
	int64_t n = 0;

	if (dray_json_has(t, "timeout") && dray_json_int(t, "timeout", 1, 86400, &n, "trigger", e) != 0)
		return -1;
	*seconds = (unsigned)n;
	return 0;
}

static enum inst_program_kind
kind_of(const struct dray_json *t)
{
	return dray_trigger_needs(t) == DRAY_NEEDS_NONE ? INST_PROGRAM_CONFINED : INST_PROGRAM_TRIGGER;
}

int
inst_trigger_allow(const struct dray_json *t, struct dray_err *e)
{
	char **argv = NULL;
	unsigned seconds;
	int rc;

	if (take_timeout(t, &seconds, e) != 0 || (argv = take_argv(t, e)) == NULL)
		return -1;
	rc = inst_runner_allow(kind_of(t), seconds, argv, e);
	free_argv(argv);
	return rc;
}

int
inst_trigger_run(const struct dray_json *t, bool other, struct inst_trigger_end *r, struct dray_err *e)
{
	struct inst_program p = { .kind = kind_of(t), .chroot = other, .stop = tool_signal_seen };
	int64_t began = inst_steady_ms();
	char **argv = NULL, how[80];
	struct inst_ran ran;
	int rc = -1;

	*r = (struct inst_trigger_end){ .code = DRAY_OK };
	if (take_timeout(t, &p.timeout_s, e) != 0 || (argv = take_argv(t, e)) == NULL)
		return -1;
	p.argv = argv;
	if (inst_run_program(&p, &ran, e) != 0)
		goto out;
	r->ms = inst_steady_ms() - began;
	if (ran.how != INST_RAN_EXIT || ran.code != 0) {
		r->code = DRAY_E_TRIGGER;
		snprintf(r->why, sizeof(r->why), "%s", inst_ran_text(&ran, how));
	}
	if ((r->output = inst_ran_printable(&ran)) == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else
		rc = 0;
out:
	free_argv(argv);
	return rc;
}

void
inst_trigger_end_free(struct inst_trigger_end *r)
{
	free(r->output);
	r->output = NULL;
}
