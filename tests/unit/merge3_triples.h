/*
 * merge3_triples.h - texts and edits of them, the same in every run
 */
#ifndef MERGE3_TRIPLES_H
#define MERGE3_TRIPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
	char **v;
	size_t n, cap;
	bool open;	/* no newline at the end */
	bool cr;
};

static uint64_t triples_state = 1;

static unsigned
pick(unsigned below)
{
	triples_state = triples_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(triples_state >> 33) % below;
}

static void
lines_free(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct lines){ .n = 0 };
}

static char *
text_copy(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		abort();
	return p;
}

static void
line_insert(struct lines *l, size_t at, const char *text)
{
	if (l->n == l->cap && (l->v = realloc(l->v, (l->cap = l->cap * 2 + 16) * sizeof(l->v[0]))) == NULL)
		abort();
	memmove(&l->v[at + 1], &l->v[at], (l->n - at) * sizeof(l->v[0]));
	l->v[at] = text_copy(text);
	l->n++;
}

static void
line_remove(struct lines *l, size_t at)
{
	free(l->v[at]);
	l->n--;
	memmove(&l->v[at], &l->v[at + 1], (l->n - at) * sizeof(l->v[0]));
}

/* one of @kinds lines, or an empty one */
static const char *
any_line(unsigned kinds)
{
	static char text[40];

	text[0] = '\0';
	if (pick(5) != 0)
		snprintf(text, sizeof(text), pick(40) == 0 ? "w\xff\x80%u" : "w%u", pick(kinds));
	return text;
}

static void
copy_lines(const struct lines *from, struct lines *to)
{
	*to = (struct lines){ .open = from->open, .cr = from->cr };
	for (size_t i = 0; i < from->n; i++)
		line_insert(to, i, from->v[i]);
}

static void
block_edit(struct lines *l, unsigned kinds)
{
	size_t from = pick((unsigned)l->n), n = 1 + pick(8), to;
	char *kept[8];
	const unsigned what = pick(3);

	n = n < l->n - from ? n : l->n - from;
	for (size_t i = 0; i < n; i++)
		kept[i] = text_copy(l->v[from + i]);
	for (size_t i = 0; i < n && what != 0; i++)		/* moved or removed */
		line_remove(l, from);
	to = pick((unsigned)l->n + 1);
	for (size_t i = 0; i < n; i++) {
		if (what != 2)
			line_insert(l, to + i < l->n ? to + i : l->n, kept[i]);
		free(kept[i]);
	}
	if (what == 2 && pick(2) == 0)
		line_insert(l, from < l->n ? from : l->n, any_line(kinds));
}

static void
edit(struct lines *l, unsigned kinds, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		const unsigned what = pick(8);

		if (what < 3 || l->n == 0)
			line_insert(l, pick((unsigned)l->n + 1), any_line(kinds));
		else if (what < 5)
			line_remove(l, pick((unsigned)l->n));
		else if (what == 5)
			block_edit(l, kinds);
		else {
			const size_t at = pick((unsigned)l->n);

			line_remove(l, at);
			line_insert(l, at, any_line(kinds));
		}
	}
	if (pick(25) == 0)
		l->open = !l->open;
}

static char *
lines_text(const struct lines *l, size_t *len)
{
	size_t cap = 1;
	char *p;

	for (size_t i = 0; i < l->n; i++)
		cap += strlen(l->v[i]) + 2;
	if ((p = malloc(cap)) == NULL)
		abort();
	*len = 0;
	for (size_t i = 0; i < l->n; i++)
		*len += (size_t)sprintf(p + *len, "%s%s%s", l->v[i], l->cr ? "\r" : "", l->open && i + 1 == l->n ? "" : "\n");
	return p;
}

/* of a text without bytes of zero */
static void
lines_of(const char *p, size_t len, struct lines *l)
{
	size_t n;

	*l = (struct lines){ .open = len > 0 && p[len - 1] != '\n' };
	for (const char *end = p + len; p < end; p += n + 1) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		char *line;

		n = (size_t)((nl == NULL ? end : nl) - p);
		if ((line = strndup(p, n)) == NULL)
			abort();
		line_insert(l, l->n, line);
		free(line);
	}
}

struct triple {
	char *p[3];	/* mine, base, theirs */
	size_t len[3];
};

static void
triple_free(struct triple *t)
{
	for (int i = 0; i < 3; i++)
		free(t->p[i]);
}

static void
triple_make(uint64_t seed, struct triple *t)
{
	static const unsigned sizes[] = { 3, 12, 40, 150, 600 }, variety[] = { 2, 5, 20, 100, 1000 };
	struct lines l[3];
	unsigned kinds, times;

	triples_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	kinds = variety[pick(5)];
	times = 1 + pick(pick(3) == 0 ? 30 : 4);
	l[1] = (struct lines){ .open = pick(20) == 0, .cr = pick(20) == 0 };
	for (unsigned n = pick(sizes[pick(5)]); n > 0; n--)
		line_insert(&l[1], l[1].n, any_line(kinds));
	copy_lines(&l[1], &l[0]);
	if (pick(6) == 0)
		edit(&l[0], kinds, 2);		/* the same change on both sides */
	copy_lines(&l[0], &l[2]);
	edit(&l[0], kinds, times);
	edit(&l[2], kinds, 1 + pick(times));
	for (int i = 0; i < 3; i++) {
		t->p[i] = lines_text(&l[i], &t->len[i]);
		lines_free(&l[i]);
	}
}

#endif
