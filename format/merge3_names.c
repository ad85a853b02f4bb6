/*
 * merge3_names.c - the lines of files of accounts get names: that of the entry, or the text of a line that is none (version
 * tags left out). One name has one number, in all three files; new names of both sides that share a user id are found.
 */
#include <stdlib.h>
#include <string.h>

#include "merge3_names.h"

void
dray_names_free(struct dray_names *a)
{
	for (int s = 0; s < 3; s++) {
		free(a->text[s]);
		free(a->where[s]);
		dray_lines_free(&a->lines[s]);
	}
	free(a->next);
	free(a->clash);
}

/* a line of the side without its newline */
const uint8_t *
dray_names_bare(const struct dray_lines *v, uint32_t line, size_t *len)
{
	const uint8_t *p = dray_lines_get(v, line, len);

	if (*len > 0 && p[*len - 1] == '\n')
		--*len;
	return p;
}

/* length of the name of the entry; 0: the line is none */
static size_t
name_len(const uint8_t *p, size_t len)
{
	const uint8_t *colon = memchr(p, ':', len);

	return colon == NULL || p[0] == '#' || p[0] == ' ' || p[0] == '\t' ? 0 : (size_t)(colon - p);
}

static int
name_lines(const struct dray_lines *v, uint8_t **text, struct dray_lines *lines, struct dray_err *e)
{
	size_t at = 0, len, n;
	const uint8_t *p;

	if ((*text = malloc((size_t)v->at[v->n] + 2 * (size_t)v->n + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < v->n; i++) {
		p = dray_names_bare(v, i, &len);
		n = name_len(p, len);
		(*text)[at++] = n > 0 ? 'n' : 'l';
		if (n > 0)
			memcpy(*text + at, p, n);
		else
			n = dray_merge3_plain(p, len, *text + at);
		at += n;
		(*text)[at++] = '\n';
	}
	return dray_lines_split(*text, at, lines, e);
}

/* equal comments of one file get numbers of their own, the same in each file: *ids grows to the count of all */
static int
spread(struct dray_names *a, uint32_t *ids, struct dray_err *e)
{
	uint32_t *seen, *first;
	uint32_t sum = 0;

	seen = calloc((size_t)*ids + 1, sizeof(*seen));
	first = calloc((size_t)*ids + 1, sizeof(*first));
	if (seen == NULL || first == NULL) {
		free(seen);
		free(first);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	for (int s = 0; s < 3; s++) {
		memset(seen, 0, (size_t)*ids * sizeof(*seen));
		for (uint32_t i = 0; i < a->lines[s].n; i++) {
			const uint32_t id = a->lines[s].id[i];

			a->doubles |= seen[id]++ > 0 && a->lines[s].p[a->lines[s].at[i]] == 'n';
			first[id] = first[id] < seen[id] ? seen[id] : first[id];
		}
	}
	for (uint32_t id = 0; id < *ids; id++) {
		const uint32_t most = first[id];

		first[id] = sum;
		sum += most;
	}
	for (int s = 0; s < 3; s++) {
		memset(seen, 0, (size_t)*ids * sizeof(*seen));
		for (uint32_t i = 0; i < a->lines[s].n; i++) {
			const uint32_t id = a->lines[s].id[i];

			a->lines[s].id[i] = first[id] + seen[id]++;
		}
	}
	*ids = sum;
	free(seen);
	free(first);
	return 0;
}

/* the third field, if it is a number: its digits and a newline; else nothing */
static size_t
number_of(const uint8_t *p, size_t len, uint8_t *dst)
{
	const uint8_t *end = p + len, *field = p;
	size_t n = 0;

	for (int i = 0; i < 2; i++)
		if ((field = memchr(field, ':', (size_t)(end - field))) == NULL)
			return 0;
		else
			field++;
	while (field < end && *field >= '0' && *field <= '9')
		dst[n++] = *field++;
	if (n == 0 || field == end || *field != ':')
		return 0;
	dst[n++] = '\n';
	return n;
}

/* numbers of the entries that one side alone has, with their names' numbers in @id */
static int
new_numbers(const struct dray_lines *v, const struct dray_names *a, int side, uint8_t **text, uint32_t **id, struct dray_lines *out,
    struct dray_err *e)
{
	size_t at = 0, len, n;
	const uint8_t *p;
	uint32_t k = 0;

	*text = malloc((size_t)v->at[v->n] + 1);
	*id = calloc((size_t)v->n + 1, sizeof(**id));
	if (*text == NULL || *id == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < v->n; i++) {
		const uint32_t name = a->lines[side].id[i];

		p = dray_names_bare(v, i, &len);
		if (a->where[BASE][name] != NONE || a->where[side == MINE ? THEIRS : MINE][name] != NONE || name_len(p, len) == 0 ||
		    (n = number_of(p, len, *text + at)) == 0)
			continue;
		at += n;
		(*id)[k++] = name;
	}
	return dray_lines_split(*text, at, out, e);
}

/* numbers that belong to one new name here and to another one in the release */
static int
find_clashes(const struct dray_lines v[3], struct dray_names *a, struct dray_err *e)
{
	uint8_t *text[2] = { NULL, NULL };
	uint32_t *id[2] = { NULL, NULL }, *mine = NULL, ids;
	struct dray_lines lines[2] = { { .p = NULL } };
	int rc = -1;

	if (new_numbers(&v[MINE], a, MINE, &text[0], &id[0], &lines[0], e) != 0 ||
	    new_numbers(&v[THEIRS], a, THEIRS, &text[1], &id[1], &lines[1], e) != 0 ||
	    dray_lines_number(lines, 2, &ids, e) != 0)
		goto out;
	if ((mine = malloc(((size_t)ids + 1) * sizeof(*mine))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	memset(mine, 0xff, ((size_t)ids + 1) * sizeof(*mine));
	for (uint32_t i = lines[0].n; i-- > 0; )
		mine[lines[0].id[i]] = id[0][i];
	for (uint32_t i = 0; i < lines[1].n; i++) {
		const uint32_t m = mine[lines[1].id[i]];

		if (m == NONE)
			continue;
		a->clashes = true;
		a->clash[id[1][i]] = m;
		if (a->clash[m] == NONE)
			a->clash[m] = id[1][i];
	}
	rc = 0;
out:
	for (int i = 0; i < 2; i++) {
		free(text[i]);
		free(id[i]);
		dray_lines_free(&lines[i]);
	}
	free(mine);
	return rc;
}

int
dray_names_load(const struct dray_lines v[3], bool numbers, struct dray_names *a, struct dray_err *e)
{
	for (int s = 0; s < 3; s++)
		if (name_lines(&v[s], &a->text[s], &a->lines[s], e) != 0)
			return -1;
	if (dray_lines_number(a->lines, 3, &a->ids, e) != 0 || spread(a, &a->ids, e) != 0)
		return -1;
	a->next = calloc((size_t)a->ids + 1, sizeof(*a->next));
	a->clash = malloc(((size_t)a->ids + 1) * sizeof(*a->clash));
	if (a->next == NULL || a->clash == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	memset(a->clash, 0xff, ((size_t)a->ids + 1) * sizeof(*a->clash));
	for (int s = 0; s < 3; s++) {
		if ((a->where[s] = malloc(((size_t)a->ids + 1) * sizeof(*a->where[s]))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		memset(a->where[s], 0xff, ((size_t)a->ids + 1) * sizeof(*a->where[s]));
		for (uint32_t i = 0; i < a->lines[s].n; i++)
			a->where[s][a->lines[s].id[i]] = i;
	}
	return numbers && !a->doubles ? find_clashes(v, a, e) : 0;
}
