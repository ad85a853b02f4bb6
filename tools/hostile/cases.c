/*
 * cases.c - the tables of cases read: NAME | WHAT IS WRONG | SECTION | CODES | TEXT | OPERATION ; OPERATION ...
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static char *
cut(char **line, const char *at)
{
	char *from = *line, *end = strstr(from, at);

	if (end == NULL) {
		*line = from + strlen(from);
		return from;
	}
	*end = '\0';
	*line = end + strlen(at);
	return from;
}

static void
add_op(struct hostile_case *c, char *words)
{
	static char nothing[] = "";
	struct op *o = &c->op[c->n_ops];

	o->n = 0;
	for (size_t i = 0; i < WORDS_MAX; i++)
		o->w[i] = nothing;
	while (*words != '\0') {
		if (o->n == WORDS_MAX)
			hostile_die("%s: an operation has too many words", c->name);
		o->w[o->n++] = cut(&words, " ");
	}
	if (o->n == 0)
		return;
	if (strcmp(o->w[0], "also") == 0) {
		c->also = true;
	} else if (strcmp(o->w[0], "root-only") == 0) {
		c->root_only = true;
	} else if (strcmp(o->w[0], "by-hand") == 0) {
		c->by_hand = true;
	} else if (strcmp(o->w[0], "memory") == 0 && o->n == 2) {
		c->memory = (long)hostile_number(o->w[1]);
	} else if (strcmp(o->w[0], "after") == 0 && o->n == 2) {
		c->after = o->w[1];
	} else if (++c->n_ops == OPS_MAX) {
		hostile_die("%s has too many operations", c->name);
	}
}

/* 31, or 0/0/20: of verify, plan and apply */
static void
codes(struct hostile_case *c, const char *s)
{
	int n = sscanf(s, "%d/%d/%d", &c->code[0], &c->code[1], &c->code[2]);

	if (n == 1)
		c->code[1] = c->code[2] = c->code[0];
	else if (n != 3)
		hostile_die("%s: \"%s\" are no exit codes", c->name, s);
}

static void
read_line(struct hostile_case *c, char *line)
{
	memset(c, 0, sizeof *c);
	c->name = cut(&line, " | ");
	c->wrong = cut(&line, " | ");
	c->section = cut(&line, " | ");
	codes(c, cut(&line, " | "));
	c->text[1] = cut(&line, " | ");
	c->text[0] = cut(&c->text[1], " // ");
	if (*c->text[1] == '\0')
		c->text[1] = c->text[0];
	while (*line != '\0')
		add_op(c, cut(&line, " ; "));
}

static void
read_table(const char *path, struct hostile_case **all, size_t *n)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (f == NULL)
		hostile_die("%s cannot be read", path);
	while ((len = getline(&line, &cap, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if ((*all = realloc(*all, (*n + 1) * sizeof **all)) == NULL)
			hostile_die("out of memory");
		read_line(&(*all)[(*n)++], line);
		line = NULL;	/* the case keeps it */
		cap = 0;
	}
	free(line);
	fclose(f);
}

static int
is_table(const struct dirent *d)
{
	const size_t len = strlen(d->d_name);

	return len > 4 && strcmp(d->d_name + len - 4, ".tab") == 0;
}

struct hostile_case *
cases_load(const char *folder, size_t *n)
{
	struct hostile_case *all = NULL;
	struct dirent **names;
	int found = scandir(folder, &names, is_table, alphasort);

	*n = 0;
	if (found <= 0)
		hostile_die("no tables in %s", folder);
	for (int i = 0; i < found; i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
		read_table(path, &all, n);
		free(names[i]);
	}
	free(names);
	for (size_t i = 0; i < *n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(all[i].name, all[k].name) == 0)
				hostile_die("two cases are called %s", all[i].name);
	return all;
}

void
hostile_save(const char *path, const void *p, size_t len)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || (len > 0 && fwrite(p, 1, len, f) != len) || fclose(f) != 0)
		hostile_die("%s cannot be written", path);
}

static int
is_file(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void
empty(const char *folder)
{
	struct dirent **names;
	int n = scandir(folder, &names, is_file, NULL);

	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
		if (remove(path) != 0)
			hostile_die("%s cannot be removed", path);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void
case_write(const struct hostile_case *c, const struct dray_key *key, const char *folder, char file[4096])
{
	static const char *const not_ours[] = { "plant", "want", "volumes", "volume", "volume-cut", "volume-missing" };
	struct bundle *b = bundle_good();

	for (size_t i = 0; i < c->n_ops; i++) {
		char *const *w = c->op[i].w;
		bool ours = true;

		for (size_t k = 0; k < sizeof not_ours / sizeof not_ours[0]; k++)
			ours = ours && strcmp(not_ours[k], w[0]) != 0;
		if (ours && !bundle_bend(b, w, c->op[i].n))
			hostile_die("%s: unknown operation %s, or not so many words", c->name, w[0]);
	}
	bundle_make(b, key);
	empty(folder);
	if (volumes_asked(c)) {
		volumes_write(c, b, folder, file);
	} else {
		snprintf(file, 4096, "%s/%s.dray", folder, c->name);
		hostile_save(file, b->out.p, b->out.len);
	}
	bundle_free(b);
}
