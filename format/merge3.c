/*
 * merge3.c - three texts become one: what is no text or needs no merging, the order in which conflicts are settled, and the
 * text with its markers.
 */
#include <stdlib.h>
#include <string.h>

#include "merge3_in.h"

enum dray_merge3_kind
dray_merge3_kind(const char *path, size_t len)
{
	static const struct { const char *path; enum dray_merge3_kind kind; } by_entry[] = {
		{ "etc/passwd", DRAY_MERGE3_ACCOUNTS }, { "etc/master.passwd", DRAY_MERGE3_ACCOUNTS },
		{ "etc/group", DRAY_MERGE3_ACCOUNTS }, { "etc/shadow", DRAY_MERGE3_SHADOWS },
		{ "etc/gshadow", DRAY_MERGE3_SHADOWS },
	};

	for (size_t i = 0; i < sizeof(by_entry) / sizeof(by_entry[0]); i++)
		if (strlen(by_entry[i].path) == len && memcmp(by_entry[i].path, path, len) == 0)
			return by_entry[i].kind;
	return DRAY_MERGE3_TEXT;
}

void
dray_merge3_free(struct dray_merge3 *m)
{
	free(m->text);
	free(m->part);
	*m = (struct dray_merge3){ .text = NULL };
}

/* a text in the making: counted first, then written */
struct sink {
	uint8_t *p;
	size_t len;
	const char *eol;
	bool open;	/* the last line has no newline yet */
};

static void
put(struct sink *s, const void *p, size_t len)
{
	if (len == 0)
		return;
	if (s->p != NULL)
		memcpy(s->p + s->len, p, len);
	s->len += len;
}

static void
put_text(struct sink *s, const void *p, size_t len)
{
	if (len == 0)
		return;
	if (s->open)
		put(s, s->eol, strlen(s->eol));
	put(s, p, len);
	s->open = ((const uint8_t *)p)[len - 1] != '\n';
}

static void
put_marker(struct sink *s, const char *sign, const char *label)
{
	put_text(s, sign, 7);
	if (label != NULL) {
		put(s, " ", 1);
		put(s, label, strlen(label));
	}
	put(s, s->eol, strlen(s->eol));
	s->open = false;
}

static void
put_lines(struct sink *s, const struct dray_lines *l, const struct dray_merge3_part *p, int side)
{
	const uint32_t from = l->at[p->side[side].at];

	put_text(s, l->p + from, l->at[p->side[side].at + p->side[side].n] - from);
}

static void
write_all(struct sink *s, const struct dray_merge3_in *in, const struct dray_lines v[3], const struct dray_merge3_parts *parts)
{
	static const char *const name[3] = { [MINE] = "mine", [BASE] = "released before", [THEIRS] = "released" };
	const char *label[3];

	for (int i = 0; i < 3; i++)
		label[i] = in->side[i].label != NULL ? in->side[i].label : name[i];
	for (size_t i = 0; i < parts->n; i++) {
		const struct dray_merge3_part *p = &parts->v[i];

		if (p->take != DRAY_MERGE3_CONFLICT) {
			put_lines(s, &v[p->take == DRAY_MERGE3_SAME || p->take == DRAY_MERGE3_FROM_MINE ? MINE : THEIRS], p,
			    p->take == DRAY_MERGE3_SAME || p->take == DRAY_MERGE3_FROM_MINE ? MINE : THEIRS);
			continue;
		}
		put_marker(s, "<<<<<<<", label[MINE]);
		put_lines(s, &v[MINE], p, MINE);
		if (!in->no_base) {
			put_marker(s, "|||||||", label[BASE]);
			put_lines(s, &v[BASE], p, BASE);
		}
		put_marker(s, "=======", NULL);
		put_lines(s, &v[THEIRS], p, THEIRS);
		put_marker(s, ">>>>>>>", label[THEIRS]);
	}
}

static int
render(const struct dray_merge3_in *in, const struct dray_lines v[3], const struct dray_merge3_parts *parts,
    struct dray_merge3 *out, struct dray_err *e)
{
	size_t first = v[MINE].n > 0 ? v[MINE].at[1] : 0;
	struct sink s = { .eol = first > 1 && v[MINE].p[first - 1] == '\n' && v[MINE].p[first - 2] == '\r' ? "\r\n" : "\n" };

	write_all(&s, in, v, parts);
	if ((out->text = malloc(s.len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	s = (struct sink){ .p = out->text, .eol = s.eol };
	write_all(&s, in, v, parts);
	out->len = s.len;
	return 0;
}

static bool
same(const struct dray_merge3_text *a, const struct dray_merge3_text *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->p, b->p, a->len) == 0);
}

/* two of the three are equal: no need to know what they are */
static int
without_merging(const struct dray_merge3_in *in, struct dray_merge3 *out, bool *done, struct dray_err *e)
{
	const struct dray_merge3_text *t = in->side, *from = NULL;

	if (same(&t[MINE], &t[THEIRS]) || (!in->no_base && same(&t[BASE], &t[THEIRS])))
		from = &t[MINE];
	else if (!in->no_base && same(&t[MINE], &t[BASE]))
		from = &t[THEIRS];
	*done = from != NULL;
	if (from == NULL)
		return 0;
	if ((out->text = malloc(from->len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (from->len > 0)
		memcpy(out->text, from->p, from->len);
	out->len = from->len;
	return 0;
}

static const char *
no_text(const struct dray_merge3_text *t)
{
	size_t lines = 0;

	if (t->len > DRAY_MERGE3_MAX_BYTES)
		return "it is longer than 16 MiB";
	for (size_t i = 0; i < t->len; i++) {
		if (t->p[i] == '\0')
			return "it is not text";
		lines += t->p[i] == '\n';
	}
	return lines >= DRAY_MERGE3_MAX_LINES ? "it has more than a million lines" : NULL;
}

static bool
any_is_no_text(const struct dray_merge3_in *in, struct dray_merge3 *out)
{
	for (int i = 0; i < 3 && out->why == NULL; i++) {
		if (i == BASE && in->no_base)
			continue;
		out->why = no_text(&in->side[i]);
		out->why_side = (enum dray_merge3_side)i;
	}
	out->conflicts = out->why != NULL;
	return out->why != NULL;
}

int
dray_merge3(const struct dray_merge3_in *in, struct dray_merge3 *out, struct dray_err *e)
{
	struct dray_merge3_parts parts = { .v = NULL };
	struct dray_lines v[3] = { { .p = NULL } };
	uint32_t ids;
	bool done;
	int rc = -1;

	*out = (struct dray_merge3){ .text = NULL };
	if (without_merging(in, out, &done, e) != 0)
		return -1;
	if (done || any_is_no_text(in, out))
		return 0;
	for (int i = 0; i < 3; i++)
		if (dray_lines_split(in->side[i].p, i == BASE && in->no_base ? 0 : in->side[i].len, &v[i], e) != 0)
			goto out;
	if (dray_lines_number(v, 3, &ids, e) != 0 || dray_merge3_join(v, ids, in->no_base, &parts, e) != 0 ||
	    dray_merge3_tags(v, in->no_base, &parts, e) != 0)
		goto out;
	if (in->kind != DRAY_MERGE3_TEXT && !in->no_base &&
	    dray_merge3_entries(v, in->kind == DRAY_MERGE3_ACCOUNTS, &parts, e) != 0)
		goto out;
	if (render(in, v, &parts, out, e) != 0)
		goto out;
	out->conflicts = dray_merge3_part_clashes(&parts);
	out->part = parts.v;
	out->n = parts.n;
	parts.v = NULL;
	rc = 0;
out:
	free(parts.v);
	for (int i = 0; i < 3; i++)
		dray_lines_free(&v[i]);
	return rc;
}

/* seven of them, and then a blank or the end of the line */
static bool
is_marker(const uint8_t *p, size_t len)
{
	if (len < 7 || strchr("<|>", p[0]) == NULL || p[0] == '\0')
		return false;
	for (size_t i = 1; i < 7; i++)
		if (p[i] != p[0])
			return false;
	return len == 7 || p[7] == ' ' || p[7] == '\n' || p[7] == '\r';
}

size_t
dray_merge3_marker(const uint8_t *text, size_t len)
{
	const uint8_t *nl;
	size_t line = 1;

	for (size_t at = 0; at < len; line++) {
		if (is_marker(text + at, len - at))
			return line;
		nl = memchr(text + at, '\n', len - at);
		at = nl == NULL ? len : (size_t)(nl - text) + 1;
	}
	return 0;
}
