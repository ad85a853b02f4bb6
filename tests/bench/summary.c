/*
 * summary.c - what a benchmark has measured, as a table and as JSON: "summary [--json FILE] [--goals] <rows"
 *
 * Rows are lines of words: "sample CASE METRIC WHO VALUE" for each value measured, and
 * "goal CASE METRIC WHO AGAINST MOST": the median of WHO is at most MOST times that of AGAINST, which is a name,
 * "METRIC/NAME" or "CASE/METRIC/NAME" of elsewhere, or 1. The NAME "peers" is the least of those that do not begin with dray. The first name of a case and metric is what the others are compared with: by the ratio of medians, and by Student's t-test
 * at 95 %. With --goals a goal that is missed ends it with status 1.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "student.h"

#define WORD 64
#define WORDS 8
#define SETS_MAX 4096

struct set { char of[WORD], metric[WORD], who[WORD]; double *v; size_t n, cap; struct sample s; };
struct goal { char of[WORD], metric[WORD], who[WORD], against[3 * WORD]; double most, got; bool judged; };

static struct set sets[SETS_MAX];
static struct goal goals[SETS_MAX];
static size_t n_sets, n_goals, line_no;

static void
die(const char *what)
{
	fprintf(stderr, "summary: line %zu: %s\n", line_no, what);
	exit(2);
}

/* names go into JSON as they are */
static bool
plain(const char *w)
{
	return w[0] != '\0' && strspn(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,_+=/-") == strlen(w);
}

static void
copy(char *to, size_t cap, const char *w)
{
	if (strlen(w) >= cap || !plain(w))
		die("a name is too long or holds odd characters");
	strcpy(to, w);
}

static double
number(const char *w)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(w, &end);
	if (end == w || *end != '\0' || errno != 0 || !(v >= 0))
		die("a value is no number from 0 on");
	return v;
}

static struct set *
find(const char *of, const char *metric, const char *who)
{
	for (size_t i = 0; i < n_sets; i++)
		if (strcmp(sets[i].of, of) == 0 && strcmp(sets[i].metric, metric) == 0 && strcmp(sets[i].who, who) == 0)
			return &sets[i];
	return NULL;
}

static void
add_sample(char *const *w)
{
	struct set *s = find(w[1], w[2], w[3]);
	double *v;

	if (s == NULL) {
		if (n_sets == SETS_MAX)
			die("too many names");
		s = &sets[n_sets++];
		copy(s->of, sizeof(s->of), w[1]);
		copy(s->metric, sizeof(s->metric), w[2]);
		copy(s->who, sizeof(s->who), w[3]);
	}
	if (s->n == s->cap) {
		s->cap = s->cap * 2 + 8;
		if ((v = realloc(s->v, s->cap * sizeof(*v))) == NULL)
			die("out of memory");
		s->v = v;
	}
	s->v[s->n++] = number(w[4]);
}

static void
add_goal(char *const *w)
{
	struct goal *g = &goals[n_goals];

	if (n_goals == SETS_MAX)
		die("too many goals");
	copy(g->of, sizeof(g->of), w[1]);
	copy(g->metric, sizeof(g->metric), w[2]);
	copy(g->who, sizeof(g->who), w[3]);
	copy(g->against, sizeof(g->against), w[4]);
	g->most = number(w[5]);
	n_goals++;
}

static void
read_rows(void)
{
	char line[1024], *w[WORDS], *save;
	size_t n;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		line_no++;
		n = 0;
		for (char *p = strtok_r(line, " \t\n", &save); p != NULL && n < WORDS; p = strtok_r(NULL, " \t\n", &save))
			w[n++] = p;
		if (n == 5 && strcmp(w[0], "sample") == 0)
			add_sample(w);
		else if (n == 6 && strcmp(w[0], "goal") == 0)
			add_goal(w);
		else
			die("neither sample nor goal");
	}
	for (size_t i = 0; i < n_sets; i++)
		sets[i].s = sample_of(sets[i].v, sets[i].n);
}

/* the first of the same case and metric */
static const struct set *
first_of(const struct set *s)
{
	for (size_t i = 0;; i++)
		if (strcmp(sets[i].of, s->of) == 0 && strcmp(sets[i].metric, s->metric) == 0)
			return &sets[i];
}

/* of all that are no dray, the least */
static const struct set *
least_peer(const char *of, const char *metric)
{
	const struct set *least = NULL;

	for (size_t i = 0; i < n_sets; i++)
		if (strcmp(sets[i].of, of) == 0 && strcmp(sets[i].metric, metric) == 0 &&
		    strncmp(sets[i].who, "dray", 4) != 0 && (least == NULL || sets[i].s.median < least->s.median))
			least = &sets[i];
	return least;
}

/* what a goal is measured against; NULL: nothing of that name was */
static const struct set *
against(const struct goal *g)
{
	char words[3 * WORD];
	const char *of = g->of, *metric = g->metric, *who = words;
	char *slash;

	strcpy(words, g->against);
	if ((slash = strrchr(words, '/')) != NULL) {
		*slash = '\0';
		who = slash + 1;
		metric = words;
		if ((slash = strrchr(words, '/')) != NULL) {
			*slash = '\0';
			metric = slash + 1;
			of = words;
		}
	}
	return strcmp(who, "peers") == 0 ? least_peer(of, metric) : find(of, metric, who);
}

static bool
judge(struct goal *g)
{
	const struct set *s = find(g->of, g->metric, g->who), *a;

	if (s == NULL)
		return false;
	if (strcmp(g->against, "1") == 0)
		g->got = s->s.median;
	else if ((a = against(g)) == NULL || !(a->s.median > 0))
		return false;
	else
		g->got = s->s.median / a->s.median;
	g->judged = true;
	return g->got <= g->most;
}

/* four digits that count, and sizes in full */
static const char *
text(double v, char buf[32])
{
	snprintf(buf, 32, v >= 1000 ? "%.0f" : v >= 100 ? "%.1f" : v >= 10 ? "%.2f" : v >= 1 ? "%.3f" : "%.4f", v);
	return buf;
}

static void
print_set(const struct set *s)
{
	const struct set *f = first_of(s);
	char b[5][32];
	double margin = student_margin(&f->s, &s->s), diff = s->s.mean - f->s.mean;

	printf("  %-24s %-16s %3zu %12s %12s %12s %12s %10s", s == f ? s->metric : "", s->who, s->n, text(s->s.min, b[0]), text(s->s.median, b[1]), text(s->s.max, b[2]),
	    text(s->s.mean, b[3]), text(s->s.sd, b[4]));
	if (s != f && f->s.median > 0)
		printf("  %6.3f", s->s.median / f->s.median);
	if (s != f && f->s.mean > 0 && margin > 0)
		printf(diff > margin || -diff > margin ? "  %+.1f %% +/- %.1f %%" : "  none shown (%+.1f %% +/- %.1f %%)",
		    diff * 100 / f->s.mean, margin * 100 / f->s.mean);
	putchar('\n');
}

/* was everything in this case measured once? */
static bool
once(const char *of)
{
	for (size_t i = 0; i < n_sets; i++)
		if (strcmp(sets[i].of, of) == 0 && sets[i].n != 1)
			return false;
	return true;
}

/* a case of single values: a line for each name, a column for each metric */
static void
print_case(size_t first)
{
	const char *of = sets[first].of, *metrics[WORD];
	char b[32];
	size_t n = 0;

	printf("%s, single runs\n  %-16s", of, "");
	for (size_t i = first; i < n_sets && n < WORD; i++)
		if (strcmp(sets[i].of, of) == 0 && first_of(&sets[i]) == &sets[i])
			printf(" %12s", metrics[n++] = sets[i].metric);
	putchar('\n');
	for (size_t i = first; i < n_sets; i++) {
		bool seen = strcmp(sets[i].of, of) != 0;

		for (size_t k = first; k < i && !seen; k++)
			seen = strcmp(sets[k].of, of) == 0 && strcmp(sets[k].who, sets[i].who) == 0;
		if (seen)
			continue;
		printf("  %-16s", sets[i].who);
		for (size_t m = 0; m < n; m++) {
			const struct set *s = find(of, metrics[m], sets[i].who);

			printf(" %12s", s == NULL ? "-" : text(s->s.median, b));
		}
		putchar('\n');
	}
}

static bool
first_of_case(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(sets[k].of, sets[i].of) == 0)
			return false;
	return true;
}

/* a case of several runs: a line for each metric and name */
static void
print_runs(size_t first)
{
	printf("%s\n  %-24s %-16s %3s %12s %12s %12s %12s %10s   ratio  difference at 95 %%\n", sets[first].of, "", "", "n", "min",
	    "median", "max", "mean", "sd");
	for (size_t i = first; i < n_sets; i++) {
		if (strcmp(sets[i].of, sets[first].of) != 0 || first_of(&sets[i]) != &sets[i])
			continue;
		for (size_t k = i; k < n_sets; k++)
			if (first_of(&sets[k]) == &sets[i])
				print_set(&sets[k]);
	}
}

static void
print_tables(void)
{
	for (size_t i = 0; i < n_sets; i++)
		if (first_of_case(i)) {
			if (once(sets[i].of))
				print_case(i);
			else
				print_runs(i);
		}
}

static int
write_json(const char *path)
{
	FILE *f = fopen(path, "w");

	if (f == NULL)
		return -1;
	fputs("{\"goals\":[", f);
	for (size_t i = 0; i < n_goals; i++) {
		const struct goal *g = &goals[i];

		fprintf(f, "%s\n{\"against\":\"%s\",\"case\":\"%s\",\"got\":", i == 0 ? "" : ",", g->against, g->of);
		if (g->judged)
			fprintf(f, "%.9g", g->got);
		else
			fputs("null", f);
		fprintf(f, ",\"metric\":\"%s\",\"most\":%.9g,\"who\":\"%s\"}", g->metric, g->most, g->who);
	}
	fputs("],\n\"samples\":[", f);
	for (size_t i = 0; i < n_sets; i++) {
		const struct sample *s = &sets[i].s;

		fprintf(f, "%s\n{\"case\":\"%s\",\"max\":%.9g,\"mean\":%.9g,\"median\":%.9g,\"metric\":\"%s\",\"min\":%.9g,\"n\":%zu,\"sd\":%.9g,\"who\":\"%s\"}",
		    i == 0 ? "" : ",", sets[i].of, s->max, s->mean, s->median, sets[i].metric, s->min, s->n, s->sd, sets[i].who);
	}
	fputs("]}\n", f);
	return fclose(f) == 0 ? 0 : -1;
}

int
main(int argc, char **argv)
{
	const char *json = NULL;
	bool strict = false;
	size_t missed = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--goals") == 0) {
			strict = true;
		} else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
			json = argv[++i];
		} else {
			fputs("usage: summary [--json FILE] [--goals] <rows\n", stderr);
			return 2;
		}
	}
	read_rows();
	print_tables();
	for (size_t i = 0; i < n_goals; i++) {
		struct goal *g = &goals[i];
		bool met = judge(g);

		missed += !met;
		printf("goal: %s, %s of %s", g->of, g->metric, g->who);
		if (g->judged)
			printf(" is %.4g", g->got);
		else
			printf(" was not measured");
		printf(strcmp(g->against, "1") == 0 ? "" : " of %s", g->against);
		printf(", wanted at most %.4g: %s\n", g->most, !g->judged ? "open" : met ? "met" : "MISSED");
	}
	for (size_t i = 0; i < n_sets; i++)
		free(sets[i].v);
	if (json != NULL && write_json(json) != 0) {
		fprintf(stderr, "summary: %s cannot be written\n", json);
		return 2;
	}
	return strict && missed > 0 ? 1 : 0;
}
