/*
 * fuzz_text.c - foreign bytes on their way to a terminal, a shell, another program or a script: nothing that moves a cursor
 * gets through, and what is written can be read again as what it was. The first byte is the room for quoted text.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/json.h"
#include "dray/num.h"
#include "tool/tool.h"

#include "installer/mtree.h"
#include "installer/run_trigger.h"
#include "installer/runner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *
room(size_t len)
{
	void *p = malloc(len);

	if (p == NULL)
		abort();
	return p;
}

static void
plain(const char *text, size_t cap, bool lines)
{
	if (memchr(text, '\0', cap) == NULL)
		abort();
	for (const char *c = text; *c != '\0'; c++)
		if (((unsigned char)*c < 32 && !(lines && *c == '\n')) || *c == 127)
			abort();
}

static void
quoted(const uint8_t *p, size_t len, size_t small)
{
	const size_t cap = DRAY_QUOTE_CAP(len);
	char *q = room(cap), *again = room(small);

	dray_quote(p, len, q, cap);
	plain(q, cap, false);
	if (strlen(q) < len)
		abort();
	dray_quote(p, len, again, small);
	plain(again, small, false);
	free(q);
	free(again);
}

static void
said(const uint8_t *p, size_t len)
{
	static struct inst_ran r;
	char *text;

	r.len = len < sizeof(r.output) ? len : sizeof(r.output) - 1;
	memcpy(r.output, p, r.len);
	r.output[r.len] = '\0';
	if ((text = inst_ran_printable(&r)) == NULL)
		abort();
	plain(text, strlen(text) + 1, true);
	free(text);
}

/* \ooo, and nothing else that some reader of mtree(5) would take for more than itself */
static void
mtree(const uint8_t *p, size_t len)
{
	char *text = room(INST_MTREE_CAP(len));
	const char *c = inst_mtree_escape((const char *)p, len, text);

	for (size_t i = 0; i < len; i++) {
		unsigned v = (unsigned char)*c;

		if (v <= 32 || v >= 127)
			abort();
		if (v == '\\') {
			v = (unsigned)(c[1] - '0') << 6 | (unsigned)(c[2] - '0') << 3 | (unsigned)(c[3] - '0');
			c += 3;
		}
		if (v != p[i])
			abort();
		c++;
	}
	if (*c != '\0')
		abort();
	free(text);
}

/* as sh reads it: '...' with '\'' within, or a word of harmless characters */
static void
shell(const char *word)
{
	char *text = room(TOOL_SHELL_CAP(strlen(word)));
	const char *c = text;

	tool_shell(word, text);
	plain(text, TOOL_SHELL_CAP(strlen(word)), false);
	if (*c != '\'') {
		if (strcmp(text, word) != 0 || strpbrk(text, " \t\n\"'\\$`;|&<>()*?[]{}~#!") != NULL)
			abort();
		free(text);
		return;
	}
	for (c++; *word != '\0'; word++) {
		if (*word == '\'') {
			if (strncmp(c, "'\\''", 4) != 0)
				abort();
			c += 4;
		} else if (*c++ != ((unsigned char)*word < 32 || *word == 127 ? '?' : *word)) {
			abort();
		}
	}
	if (strcmp(c, "'") != 0)
		abort();
	free(text);
}

/* a path in JSON: UTF-8 as it is, anything else in hexadecimal besides */
static void
json(const uint8_t *p, size_t len)
{
	struct dray_json *o = dray_json_new_obj(), *again = NULL;
	struct dray_err e = { .code = DRAY_OK };
	const char *s = NULL;
	char *text = NULL;
	uint8_t *raw = room(len + 1);
	size_t n = 0;

	dray_json_set_path(o, "path", (const char *)p, len);
	if (dray_json_write(o, &text, &n, &e) != 0 || dray_json_parse(text, n, true, &again, &e) != 0)
		abort();
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 32)
			abort();
	if (dray_json_has(again, "path_hex")) {
		if (dray_json_str(again, "path_hex", &s, &n, "fuzz", &e) != 0 || n != 2 * len || !dray_unhex(s, n, raw, len) ||
		    memcmp(raw, p, len) != 0)
			abort();
	} else if (dray_json_str(again, "path", &s, &n, "fuzz", &e) != 0 || n != len || memcmp(s, p, len) != 0) {
		abort();
	}
	free(text);
	free(raw);
	dray_json_free(o);
	dray_json_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *word;

	if (size == 0)
		return 0;
	word = room(size);
	memcpy(word, data + 1, size - 1);
	word[size - 1] = '\0';
	quoted(data + 1, size - 1, (size_t)data[0] + 1);
	said(data + 1, size - 1);
	mtree(data + 1, size - 1);
	shell(word);
	json((const uint8_t *)word, strlen(word));
	free(word);
	return 0;
}
