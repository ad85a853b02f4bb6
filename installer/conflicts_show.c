/*
 * conflicts_show.c - dray-install conflicts --show PATH: each place where both changed the file, with a few lines around it.
 */
#include <stdio.h>
#include <string.h>

#include "installer/conflicts.h"

enum { AROUND = 3, LINE_MAX_SHOWN = 4096 };

static bool
begins(const char *line, const char *end, const char *sign)
{
	return end - line > 8 && memcmp(line, sign, 8) == 0;
}

static const char *
next_line(const char *line, const char *end)
{
	const char *nl = memchr(line, '\n', (size_t)(end - line));

	return nl == NULL ? end : nl + 1;
}

/* bytes of a file never reach a terminal as they are */
static void
print_line(const char *line, const char *next)
{
	char q[DRAY_QUOTE_CAP(LINE_MAX_SHOWN)], part[LINE_MAX_SHOWN];
	size_t len = (size_t)(next - line), n = 0;

	while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	for (size_t i = 0; i < len && n < sizeof(part); i++)
		part[n++] = line[i] == '\t' ? ' ' : line[i];
	printf("%s\n", dray_quote(part, n, q, sizeof(q)));
}

/* the last lines before @line, not before @from */
static const char *
back(const char *line, const char *from)
{
	for (int i = 0; i < AROUND && line > from; i++)
		for (line--; line > from && line[-1] != '\n'; line--)
			;
	return line;
}

static void
print_places(const char *p, const char *end)
{
	const char *done = p, *line, *next;
	size_t number = 0;

	for (line = p; line < end; line = next) {
		next = next_line(line, end);
		if (!begins(line, end, "<<<<<<< "))
			continue;
		line = back(line, done);
		printf("@@ place %zu @@\n", ++number);
		for (bool inside = true; line < end && inside; line = next) {
			next = next_line(line, end);
			inside = !begins(line, end, ">>>>>>> ");
			print_line(line, next);
		}
		for (int i = 0; i < AROUND && line < end && !begins(line, end, "<<<<<<< "); i++) {
			next = next_line(line, end);
			print_line(line, next);
			line = next;
		}
		done = next = line;
	}
}

int
inst_conflicts_show(struct inst_conflicts *c, struct dray_err *e)
{
	const struct inst_merge *m = inst_conflicts_find(c, c->show, e);
	struct dray_json *o;
	char q[300];

	if (m == NULL)
		return -1;
	if (m->text == NULL) {
		dray_fail(e, DRAY_E_CONFLICT, "%s: there is no merged text to show: %s", dray_quote(c->show, strlen(c->show), q, sizeof(q)), m->why);
		return dray_hint(e, "decide with --take mine or --take theirs");
	}
	if (c->f.common.json) {
		o = dray_json_new_obj();
		dray_json_set_str(o, "path", c->show + strspn(c->show, "/"));
		dray_json_set_int(o, "places", (int64_t)m->places);
		dray_json_set_path(o, "text", (const char *)m->text, m->len);
		return tool_json(o, e);
	}
	print_places((const char *)m->text, (const char *)m->text + m->len);
	return 0;
}
