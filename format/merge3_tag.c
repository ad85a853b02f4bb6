/*
 * merge3_tag.c - version tags: what a version control system or a maintainer writes into a line to tell the file's version.
 * `$FreeBSD: ... $` and its kin anywhere in a line; in a comment that speaks of a version, each word with a digit. Lines that
 * differ in nothing else count as equal within a conflict, and the release's tag is taken.
 */
#include <stdlib.h>
#include <string.h>

#include "merge3_in.h"

static bool
digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool
letter(uint8_t c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* length of "$Name$" or "$Name: anything $" at @p; 0: there is none */
static size_t
keyword(const uint8_t *p, size_t len)
{
	static const char *const names[] = { "FreeBSD", "Id", "Header", "NetBSD", "OpenBSD", "DragonFly", "MidnightBSD", "Revision",
		"Date", "Author", "Source", "RCSfile", "Name", "State", "Locker" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t n = strlen(names[i]) + 1;
		const uint8_t *end;

		if (len <= n || p[0] != '$' || memcmp(p + 1, names[i], n - 1) != 0)
			continue;
		if (p[n] == '$')
			return n + 1;
		if (p[n] != ':' || len - n < 3 || p[n + 1] != ' ' || (end = memchr(p + n + 2, '$', len - n - 2)) == NULL)
			return 0;
		return end[-1] == ' ' ? (size_t)(end - p) + 1 : 0;
	}
	return 0;
}

/* does the line begin as a comment of some language? */
static bool
comment(const uint8_t *p, size_t len)
{
	static const char *const begins[] = { "#", ";", "//", "/*", "*", "--", "!", "%", "\"", "<!--", ".\\\"" };
	size_t at = 0;

	while (at < len && (p[at] == ' ' || p[at] == '\t'))
		at++;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (len - at >= strlen(begins[i]) && memcmp(p + at, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool
word_is(const uint8_t *p, size_t len, const char *word)
{
	if (len != strlen(word))
		return false;
	for (size_t i = 0; i < len; i++)
		if ((p[i] | 0x20) != word[i])
			return false;
	return true;
}

/* is one of the words "version", "release", "revision", or "v" before a digit? */
static bool
speaks_of_version(const uint8_t *p, size_t len)
{
	size_t end;

	for (size_t at = 0; at < len; at = end + 1) {
		for (end = at; end < len && letter(p[end]); end++)
			;
		if (word_is(p + at, end - at, "version") || word_is(p + at, end - at, "release") ||
		    word_is(p + at, end - at, "revision") || (word_is(p + at, end - at, "v") && end < len && digit(p[end])))
			return true;
	}
	return false;
}

/* the word at @p, of what versions and dates are made of */
static size_t
word_len(const uint8_t *p, size_t len, bool *digits)
{
	size_t n = 0;

	*digits = false;
	while (n < len && (letter(p[n]) || digit(p[n]) || (p[n] != '\0' && strchr(".-+~:", p[n]) != NULL)))
		*digits |= digit(p[n++]);
	return n;
}

size_t
dray_merge3_plain(const uint8_t *line, size_t len, uint8_t *dst)
{
	const bool words = comment(line, len) && speaks_of_version(line, len);
	size_t n = 0, took;
	bool digits;

	for (size_t at = 0; at < len; at += took) {
		if ((took = keyword(line + at, len - at)) > 0) {
			dst[n++] = '$';
		} else if (words && (took = word_len(line + at, len - at, &digits)) > 0 && digits) {
			dst[n++] = '0';
		} else {
			took = took > 0 ? took : 1;
			memcpy(dst + n, line + at, took);
			n += took;
		}
	}
	return n;
}

/* lines of one side without their tags, in *text; *tags: is there any? */
static int
plain_lines(const struct dray_lines *v, uint32_t at, uint32_t n, uint8_t **text, struct dray_lines *out, bool *tags, struct dray_err *e)
{
	size_t len, at_out = 0, was;
	const uint8_t *line;

	if ((*text = malloc((size_t)(v->at[at + n] - v->at[at]) + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = at; i < at + n; i++) {
		line = dray_lines_get(v, i, &len);
		was = at_out;
		at_out += dray_merge3_plain(line, len, *text + at_out);
		*tags |= at_out - was != len || memcmp(*text + was, line, len) != 0;
	}
	return dray_lines_split(*text, at_out, out, e);
}

/* a line that is equal but for its tags: who changed those? */
static enum dray_merge3_take
whose_tag(const struct dray_lines v[3], uint32_t mine, uint32_t base, uint32_t theirs, bool no_base)
{
	const uint32_t m = v[MINE].id[mine], t = v[THEIRS].id[theirs];

	if (m == t)
		return DRAY_MERGE3_SAME;
	if (no_base)
		return DRAY_MERGE3_TAG;
	if (t == v[BASE].id[base])
		return DRAY_MERGE3_FROM_MINE;
	return m == v[BASE].id[base] ? DRAY_MERGE3_FROM_THEIRS : DRAY_MERGE3_TAG;
}

/* lines that are the same without tags, one by one */
static int
tag_lines(const struct dray_lines v[3], bool no_base, const struct dray_merge3_part *p, struct dray_merge3_parts *parts, struct dray_err *e)
{
	for (uint32_t i = 0; i < p->side[MINE].n; i++) {
		struct dray_merge3_part one = *p;

		for (int s = 0; s < 3; s++) {
			one.side[s].at += i;
			one.side[s].n = s != BASE || !no_base;
		}
		one.take = whose_tag(v, one.side[MINE].at, one.side[BASE].at, one.side[THEIRS].at, no_base);
		if (dray_merge3_part_add(parts, &one, e) != 0)
			return -1;
	}
	return 0;
}

/* changed alike but for tags: mine and theirs line by line, and the lines of the base with the first */
static int
alike(const struct dray_lines v[3], const struct dray_merge3_part *p, struct dray_merge3_parts *parts, struct dray_err *e)
{
	struct dray_merge3_part one = *p;

	for (uint32_t i = 0; i < p->side[MINE].n || i == 0; i++) {
		one.side[MINE].at = p->side[MINE].at + i;
		one.side[THEIRS].at = p->side[THEIRS].at + i;
		one.side[MINE].n = one.side[THEIRS].n = p->side[MINE].n > 0;
		one.take = one.side[MINE].n == 0 || v[MINE].id[one.side[MINE].at] == v[THEIRS].id[one.side[THEIRS].at] ?
		    DRAY_MERGE3_FROM_BOTH : DRAY_MERGE3_TAG;
		if (dray_merge3_part_add(parts, &one, e) != 0)
			return -1;
		one.side[BASE].at += one.side[BASE].n;
		one.side[BASE].n = 0;
	}
	return 0;
}

/* a conflict without its tags may be none, or several smaller ones */
static int
settle(const struct dray_lines v[3], bool no_base, const struct dray_merge3_part *p, struct dray_merge3_parts *parts, struct dray_err *e)
{
	struct dray_merge3_parts inner = { .v = NULL };
	struct dray_lines lines[3] = { { .p = NULL } };
	uint8_t *text[3] = { NULL, NULL, NULL };
	bool tags = false;
	uint32_t ids;
	int rc = -1;

	for (int s = 0; s < 3; s++)
		if (plain_lines(&v[s], p->side[s].at, p->side[s].n, &text[s], &lines[s], &tags, e) != 0)
			goto out;
	if (!tags) {
		rc = dray_merge3_part_add(parts, p, e);
		goto out;
	}
	if (dray_lines_number(lines, 3, &ids, e) != 0 || dray_merge3_join(lines, ids, no_base, &inner, e) != 0)
		goto out;
	for (size_t i = 0; i < inner.n; i++) {
		struct dray_merge3_part *in = &inner.v[i];

		for (int s = 0; s < 3; s++)
			in->side[s].at += p->side[s].at;
		if (in->take == DRAY_MERGE3_SAME ? tag_lines(v, no_base, in, parts, e) != 0 :
		    in->take == DRAY_MERGE3_FROM_BOTH ? alike(v, in, parts, e) != 0 : dray_merge3_part_add(parts, in, e) != 0)
			goto out;
	}
	rc = 0;
out:
	free(inner.v);
	for (int s = 0; s < 3; s++) {
		dray_lines_free(&lines[s]);
		free(text[s]);
	}
	return rc;
}

int
dray_merge3_tags(const struct dray_lines v[3], bool no_base, struct dray_merge3_parts *parts, struct dray_err *e)
{
	struct dray_merge3_parts out = { .v = NULL };
	int rc = 0;

	if (dray_merge3_part_clashes(parts) == 0)
		return 0;
	for (size_t i = 0; i < parts->n && rc == 0; i++)
		rc = parts->v[i].take == DRAY_MERGE3_CONFLICT ? settle(v, no_base, &parts->v[i], &out, e) :
		    dray_merge3_part_add(&out, &parts->v[i], e);
	free(rc == 0 ? parts->v : out.v);
	if (rc == 0)
		*parts = out;
	return rc;
}
