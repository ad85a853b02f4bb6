/*
 * opts.c - options of one subcommand: one table, the common ones added; each mistake told in its own words.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"
#include "dray/os.h"

#include "tool_in.h"

#define OPTS_MAX 64
#define JOBS_MAX 256

/* arrays handed out for TOOL_LIST; they live until the program ends */
static struct list_block {
	struct list_block *next;
	const char *v[];
} *lists;

void
tool_lists_free(void)
{
	struct list_block *b;

	while ((b = lists) != NULL) {
		lists = b->next;
		free(b);
	}
}

struct parser {
	const struct tool_cmd *self;
	struct tool_common *common;
	struct tool_opt all[OPTS_MAX];	/* the subcommand's own, then the common ones */
	bool given[OPTS_MAX];
	size_t n;
	bool verbose_flag;	/* only its address counts: -v may be repeated */
	char hint[160];
	char letters[2 * OPTS_MAX + 2];
	struct option longs[OPTS_MAX + 1];
};

static bool
takes_value(const struct tool_opt *o)
{
	return o->kind != TOOL_FLAG;
}

static void
add_all(struct parser *p, const struct tool_opt *opts)
{
	struct tool_common *c = p->common;
	const struct tool_opt shared[] = {
		{ "json", 0, TOOL_FLAG, &c->json, 0, 0, NULL, NULL },
		{ "quiet", 'q', TOOL_FLAG, &c->quiet, 0, 0, NULL, NULL },
		{ "verbose", 'v', TOOL_FLAG, &p->verbose_flag, 0, 0, NULL, NULL },
		{ "progress", 0, TOOL_TEXT, &c->progress, 0, 0, NULL, NULL },
		{ "jobs", 'j', TOOL_NUMBER, &c->jobs, 1, JOBS_MAX, NULL, NULL },
		{ "exit-detail", 0, TOOL_FLAG, &c->exit_detail, 0, 0, NULL, NULL },
		{ "help", 'h', TOOL_FLAG, &c->help, 0, 0, NULL, NULL },
		{ "allow-test-keys", 0, TOOL_FLAG, &c->allow_test_keys, 0, 0, NULL, NULL },
	};
	const size_t n_shared = sizeof(shared) / sizeof(shared[0]);
	size_t i, at = 0;

	for (; opts != NULL && opts->name != NULL && p->n < OPTS_MAX - n_shared; opts++)
		p->all[p->n++] = *opts;
	for (i = 0; i < n_shared; i++)
		p->all[p->n++] = shared[i];
	p->letters[at++] = ':';	/* a missing value is told apart from an unknown option */
	for (i = 0; i < p->n; i++) {
		const struct tool_opt *o = &p->all[i];

		p->longs[i] = (struct option){ o->name, takes_value(o) ? required_argument : no_argument, NULL,
			256 + (int)i };
		if (o->letter != 0) {
			p->letters[at++] = o->letter;
			if (takes_value(o))
				p->letters[at++] = ':';
		}
	}
	p->letters[at] = '\0';
}

static size_t
find_value(const struct parser *p, int got)
{
	size_t i;

	if (got >= 256)
		return (size_t)(got - 256);
	for (i = 0; i < p->n && p->all[i].letter != got; i++)
		;
	return i;
}

static int
unknown_long(const struct parser *p, const char *arg)
{
	const char *words[OPTS_MAX + 1], *near;
	char typed[64], quoted[128], hint[200];
	size_t len = strcspn(arg + 2, "="), i, n = 0;

	for (i = 0; i < p->n; i++) {
		if (strcmp(p->all[i].name, "allow-test-keys") != 0)
			words[n++] = p->all[i].name;
	}
	words[n] = NULL;
	dray_quote(arg, len + 2, quoted, sizeof(quoted));
	if (len >= sizeof(typed))
		len = sizeof(typed) - 1;
	memcpy(typed, arg + 2, len);
	typed[len] = '\0';
	if ((near = tool_nearest(typed, words)) == NULL)
		return tool_usage(p->common, p->hint, "%s: unknown option %s", p->self->name, quoted);
	snprintf(hint, sizeof(hint), "did you mean --%s?", near);
	return tool_usage(p->common, hint, "%s: unknown option %s", p->self->name, quoted);
}

/* getopt said '?': which of its reasons was it? */
static int
tell_unknown(const struct parser *p, char **argv)
{
	const char *arg = argv[optind - 1];
	char quoted[16];
	char letter;
	size_t i;

	if (optopt == 0)
		return unknown_long(p, arg);
	i = find_value(p, optopt);
	if (optopt >= 256 && i < p->n)
		return tool_usage(p->common, p->hint, "%s: option --%s takes no value", p->self->name, p->all[i].name);
	letter = (char)optopt;
	return tool_usage(p->common, p->hint, "%s: unknown option -%s", p->self->name,
	    dray_quote(&letter, 1, quoted, sizeof(quoted)));
}

static int
set_number(const struct parser *p, const struct tool_opt *o, const char *value)
{
	char quoted[128], hint[160];
	bool ok;

	if (o->kind == TOOL_SIZE)
		ok = dray_parse_size(value, o->min, o->max, o->out);
	else
		ok = dray_parse_u64(value, o->min, o->max, o->out);
	if (ok)
		return -1;
	snprintf(hint, sizeof(hint), "a whole number%s from %" PRIu64 " to %" PRIu64 " is wanted",
	    o->kind == TOOL_SIZE ? " of bytes, or with k, M or G behind it," : "", o->min, o->max);
	return tool_usage(p->common, hint, "%s: option --%s: \"%s\" will not do", p->self->name, o->name,
	    dray_quote(value, strlen(value), quoted, sizeof(quoted)));
}

static int
add_to_list(const struct parser *p, struct tool_list *list, const char *value, int argc)
{
	struct list_block *b;
	struct dray_err e;

	if (list->v == NULL) {
		/* there cannot be more values than words */
		b = calloc(1, sizeof(*b) + (size_t)argc * sizeof(b->v[0]));
		if (b == NULL) {
			dray_fail(&e, DRAY_E_IO, "out of memory");
			return tool_error(p->common, p->self->name, &e);
		}
		b->next = lists;
		lists = b;
		list->v = b->v;
	}
	list->v[list->n++] = value;
	return -1;
}

/* no option and no operand has a use for an empty text: mostly a script has left a variable unset */
static int
tell_empty(const struct parser *p, const char *what)
{
	char hint[200];

	snprintf(hint, sizeof(hint), "was a variable left unset? %s", p->hint);
	return tool_usage(p->common, hint, "%s: %s is empty", p->self->name, what);
}

/* -1 or the exit status */
static int
set_option(struct parser *p, size_t i, int argc)
{
	const struct tool_opt *o = &p->all[i];
	char what[64];

	if (o->out == &p->verbose_flag) {
		p->common->verbose++;
		return -1;
	}
	if (p->given[i] && o->kind != TOOL_LIST)
		return tool_usage(p->common, p->hint, "%s: option --%s is given twice", p->self->name, o->name);
	p->given[i] = true;
	if ((o->kind == TOOL_TEXT || o->kind == TOOL_LIST) && *optarg == '\0') {
		snprintf(what, sizeof(what), "the value of option --%s", o->name);
		return tell_empty(p, what);
	}
	switch (o->kind) {
	case TOOL_FLAG:
		*(bool *)o->out = true;
		return -1;
	case TOOL_TEXT:
		*(const char **)o->out = optarg;
		return -1;
	case TOOL_NUMBER:
	case TOOL_SIZE:
		return set_number(p, o, optarg);
	case TOOL_LIST:
		return add_to_list(p, o->out, optarg, argc);
	}
	return -1;
}

/* getopt takes "--js" for "--json"; a script that relies on it breaks with the next option, so it is refused */
static bool
is_abbreviated(const struct parser *p, size_t i, char **argv)
{
	const char *word = argv[optind - 1];

	if (takes_value(&p->all[i]) && optarg == word)
		word = argv[optind - 2];
	return strncmp(word, "--", 2) == 0 && strcspn(word + 2, "=") != strlen(p->all[i].name);
}

static int
read_options(struct parser *p, int argc, char **argv)
{
	int got, rc;
	size_t i;

	opterr = 0;
	optind = 0;	/* begin anew, both in glibc and on BSD */
	for (;;) {
		optopt = 0;
		got = getopt_long(argc, argv, p->letters, p->longs, NULL);
		if (got == -1)
			return -1;
		if (got == '?')
			return tell_unknown(p, argv);
		i = find_value(p, got == ':' ? optopt : got);
		if (i >= p->n)
			return tell_unknown(p, argv);
		if (got == ':')
			return tool_usage(p->common, p->hint, "%s: option --%s wants a value", p->self->name,
			    p->all[i].name);
		if (got >= 256 && is_abbreviated(p, i, argv)) {
			const char *word = argv[optind - 1];

			return unknown_long(p, optarg == word && takes_value(&p->all[i]) ? argv[optind - 2] : word);
		}
		if ((rc = set_option(p, i, argc)) != -1)
			return rc;
	}
}

static int
read_operands(const struct parser *p, int argc, char **argv, size_t min_n, size_t max_n, const char **operand,
    size_t *n)
{
	char quoted[200];

	for (; optind < argc; optind++) {
		if (*argv[optind] == '\0')
			return tell_empty(p, "an operand");
		if (*n == max_n)
			return tool_usage(p->common, p->hint, "%s: \"%s\" is one operand too many", p->self->name,
			    dray_quote(argv[optind], strlen(argv[optind]), quoted, sizeof(quoted)));
		operand[(*n)++] = argv[optind];
	}
	if (*n < min_n)
		return tool_usage(p->common, p->hint, "%s: %s", p->self->name,
		    *n == 0 ? "an operand is missing" : "a further operand is missing");
	return -1;
}

int
tool_parse(int argc, char **argv, const struct tool_cmd *self, struct tool_opt *opts, struct tool_common *common,
    size_t min_n, size_t max_n, const char **operand, size_t *n)
{
	struct parser p = { .self = self, .common = common };
	int rc, i;

	*n = 0;
	*common = (struct tool_common){ .jobs = os_cpus() };
	if (common->jobs > JOBS_MAX)
		common->jobs = JOBS_MAX;
	snprintf(p.hint, sizeof(p.hint), "see %s %s --help", tool_prog, self->name);
	add_all(&p, opts);
	/* a mistake that comes before --json on the line is told in JSON too */
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			common->json = true;
	}
	if ((rc = read_options(&p, argc, argv)) != -1)
		return rc;
	if (common->help) {
		tool_help(self, opts);
		return 0;
	}
	if (common->quiet && common->verbose > 0)
		return tool_usage(common, p.hint, "%s: --quiet and --verbose exclude each other", self->name);
	if (common->progress != NULL && strcmp(common->progress, "json") != 0 && strcmp(common->progress, "text") != 0)
		return tool_usage(common, p.hint, "%s: --progress is text or json", self->name);
	return read_operands(&p, argc, argv, min_n, max_n, operand, n);
}
