/*
 * say.c - the one place that prints an error, and what else goes out: JSON documents, sizes, wrapped text.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#include "tool_in.h"

const char *tool_prog = "dray";
bool tool_error_told;

#define COLUMNS 76u

/* code, hint and text as one line of JSON; out of memory here leaves the words on stderr */
static void
print_json(enum dray_code code, const char *text, const char *hint)
{
	struct dray_json *root = dray_json_new_obj(), *o;
	struct dray_err ignored;

	o = dray_json_set_obj(root, "error");
	dray_json_set_int(o, "code", (int64_t)code);
	dray_json_set_str(o, "hint", hint);
	dray_json_set_str(o, "text", text);
	/* a standard output that fails cannot be told better than by the error that is being told */
	(void)tool_json(root, &ignored);
}

int
tool_error(const struct tool_common *c, const char *what, const struct dray_err *e)
{
	const enum dray_code code = e->code == DRAY_OK ? DRAY_E_IO : e->code;
	struct dray_err full = *e;

	if (full.text[0] == '\0')
		dray_fail(&full, code, "failed without a reason");
	if (what != NULL && what[0] != '\0')
		dray_wrap(&full, "%s", what);
	tool_live_clear();
	/* what was printed so far comes first, also where both go to one file */
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", tool_prog, full.text);
	tool_error_told = true;
	if (full.hint[0] != '\0')
		fprintf(stderr, "%s: hint: %s\n", tool_prog, full.hint);
	if (c != NULL && c->json)
		print_json(code, full.text, full.hint);
	return (int)code;
}

int
tool_usage(const struct tool_common *c, const char *hint, const char *fmt, ...)
{
	struct dray_err e;
	char text[sizeof(e.text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dray_fail(&e, DRAY_E_USAGE, "%s", text);
	if (hint != NULL)
		dray_hint(&e, "%s", hint);
	return tool_error(c, NULL, &e);
}

/*
 * JSON allows DEL, C1 controls and the like as they are; a terminal obeys them. Outside of strings there is none of them, so
 * that each can be written as its number; the text says the same.
 */
static bool
put_json(const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t from = 0, n;
	uint32_t cp = 0;

	for (size_t i = 0; i < len; i += n) {
		if ((n = utf8_take(p + i, len - i, &cp)) == 0) {
			n = 1;
		} else if (cp >= 0x7f && dray_char_moves(cp)) {
			if (fwrite(p + from, 1, i - from, stdout) != i - from || printf("\\u%04x", (unsigned)cp) < 0)
				return false;
			from = i + n;
		}
	}
	return fwrite(p + from, 1, len - from, stdout) == len - from;
}

/* errno tells why */
static void
no_stdout(struct dray_err *e)
{
	dray_fail_errno(e, "cannot write to standard output");
	e->code = DRAY_E_IO;	/* a full disk there says nothing about the one that was worked on */
}

int
tool_flush(struct dray_err *e)
{
	errno = 0;
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return 0;
	if (errno == 0)		/* an earlier write failed, and nobody kept its reason */
		errno = EIO;
	no_stdout(e);
	return -1;
}

int
tool_json(struct dray_json *v, struct dray_err *e)
{
	char *text = NULL;
	size_t len = 0;
	int rc = 0;

	if (dray_json_write(v, &text, &len, e) != 0)
		rc = 1;
	else if (!put_json(text, len) || putchar('\n') == EOF || fflush(stdout) != 0) {
		no_stdout(e);
		rc = 1;
	}
	free(text);
	dray_json_free(v);
	return rc;
}

const char *
tool_shell(const char *word, char *dst)
{
	const bool quote = word[0] == '\0' || strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-+=.,:/@%") != strlen(word);
	char *p = dst;

	if (quote)
		*p++ = '\'';
	for (; *word != '\0'; word++) {
		if (*word == '\'') {
			memcpy(p, "'\\'", 3);
			p += 3;
		}
		*p++ = (unsigned char)*word < 32 || *word == 127 ? '?' : *word;
	}
	if (quote)
		*p++ = '\'';
	*p = '\0';
	return dst;
}

void
tool_shell_print(FILE *f, const char *path)
{
	char *p = malloc(TOOL_SHELL_CAP(strlen(path))), cut[DRAY_QUOTE_CAP(255)];

	fputs(path[0] == '-' ? "./" : "", f);
	fputs(p == NULL ? dray_quote(path, strlen(path), cut, sizeof(cut)) : tool_shell(path, p), f);
	free(p);
}

const char *
tool_human(uint64_t bytes, char out[32])
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
	uint64_t whole = bytes, tenths = 0, part;
	size_t u = 0;

	if (bytes < 1000) {
		snprintf(out, 32, "%u %s", (unsigned)bytes, bytes == 1 ? "byte" : "bytes");
		return out;
	}
	/* in whole numbers, so that no locale and no rounding mode has a say; half a tenth goes up */
	for (part = 1000; whole / part >= 1000; part *= 1000)
		u++;
	tenths = whole / part * 10 + (whole % part + part / 20) / (part / 10);
	if (tenths >= 10000 && u + 1 < sizeof(units) / sizeof(units[0])) {
		tenths = 10;
		u++;
	}
	snprintf(out, 32, "%u.%u %s", (unsigned)(tenths / 10), (unsigned)(tenths % 10), units[u]);
	return out;
}

void
tool_wrap_text(const char *text, unsigned indent, unsigned at)
{
	size_t n;

	while (*text != '\0') {
		n = strcspn(text, " ");
		if (at > indent && at + 1 + n > COLUMNS) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		} else if (at < indent) {
			printf("%*s", (int)(indent - at), "");
			at = indent;
		}
		fwrite(text, 1, n, stdout);
		at += (unsigned)n;
		text += n;
		text += strspn(text, " ");
	}
	putchar('\n');
}
