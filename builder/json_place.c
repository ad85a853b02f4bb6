/*
 * json_place.c - a walk over JSON that is known to be right; should it not be, the walk ends early.
 */
#include <string.h>

#include "builder/json_place.h"

struct text {
	const char *p, *end;
};

static void
blank(struct text *t)
{
	while (t->p < t->end && strchr(" \t\r\n", *t->p) != NULL)
		t->p++;
}

static bool
at(const struct text *t, char c)
{
	return t->p < t->end && *t->p == c;
}

static void
string(struct text *t)
{
	for (t->p++; t->p < t->end && *t->p != '"'; t->p++)
		if (*t->p == '\\' && t->p + 1 < t->end)
			t->p++;
	if (t->p < t->end)
		t->p++;
}

/* over one value: brackets inside strings do not count */
static void
value(struct text *t)
{
	size_t depth = 0;

	do {
		blank(t);
		if (t->p >= t->end)
			return;
		if (at(t, '"')) {
			string(t);
		} else if (at(t, '{') || at(t, '[')) {
			depth++;
			t->p++;
		} else if (at(t, '}') || at(t, ']')) {
			depth--;
			t->p++;
		} else if (at(t, ',') || at(t, ':')) {
			t->p++;
		} else {
			while (t->p < t->end && strchr(" \t\r\n,:]}", *t->p) == NULL)
				t->p++;
		}
	} while (depth > 0);
}

/* into the value at t->p, to the item of @step; *mark: its key, or itself */
static bool
enter(struct text *t, const struct build_step *step, const char **mark)
{
	char open = step->key != NULL ? '{' : '[';

	if (!at(t, open))
		return false;
	t->p++;
	for (size_t i = 0;; i++) {
		const char *begin;

		blank(t);
		if (t->p >= t->end || at(t, '}') || at(t, ']'))
			return false;
		begin = t->p;
		if (step->key != NULL) {
			size_t n;

			string(t);
			n = (size_t)(t->p - begin);
			blank(t);
			if (at(t, ':'))
				t->p++;
			blank(t);
			if (n == strlen(step->key) + 2 && memcmp(begin + 1, step->key, n - 2) == 0) {
				*mark = begin;
				return true;
			}
		} else if (i == step->index) {
			*mark = begin;
			return true;
		}
		value(t);
		blank(t);
		if (at(t, ','))
			t->p++;
	}
}

bool
build_json_place(const char *text, size_t len, const struct build_step *steps, size_t n, size_t *line,
    size_t *column)
{
	struct text t = { text, text + len };
	const char *mark, *found;
	bool ok = true;

	blank(&t);
	found = t.p;
	for (size_t i = 0; ok && i < n; i++)
		if ((ok = enter(&t, &steps[i], &mark)))
			found = mark;
	*line = *column = 1;
	for (const char *p = text; p < found; p++) {
		++*column;
		if (*p == '\n') {
			++*line;
			*column = 1;
		}
	}
	return ok;
}
