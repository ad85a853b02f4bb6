/*
 * cmds.c - finds the subcommand and runs it; help pages; the last look at standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool_in.h"

#define BRIEF_COLUMN 22u
#define WORD_MAX 32u	/* bytes; longer words are near to nothing of ours */

/* changes that make a of b: insert, delete, replace, swap neighbours, each 1 (optimal string alignment) */
static size_t
distance(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t row[3][WORD_MAX + 1], i, j, best;
	size_t *before = row[0], *above = row[1], *here = row[2], *spare;

	for (j = 0; j <= blen; j++)
		above[j] = j;
	memcpy(before, above, sizeof(row[0][0]) * (blen + 1));
	for (i = 1; i <= alen; i++) {
		here[0] = i;
		for (j = 1; j <= blen; j++) {
			best = above[j - 1] + (a[i - 1] != b[j - 1]);
			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (here[j - 1] + 1 < best)
				best = here[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			here[j] = best;
		}
		spare = before;
		before = above;
		above = here;
		here = spare;
	}
	return above[blen];
}

const char *
tool_nearest(const char *typed, const char *const *words)
{
	const size_t len = strlen(typed);
	const char *best = NULL;
	size_t best_at = 0, d, n;

	if (len < 2 || len > WORD_MAX)
		return NULL;
	for (; *words != NULL; words++) {
		if ((n = strlen(*words)) > WORD_MAX)
			continue;
		d = distance(typed, len, *words, n);
		/* a third of the letters may differ, three at most; a beginning is near as well */
		if (n > len && len >= 3 && strncmp(typed, *words, len) == 0)
			d = 1;
		if (d > 3 || d * 3 > (len > n ? len : n) + 1)
			continue;
		if (best == NULL || d < best_at) {
			best = *words;
			best_at = d;
		}
	}
	return best;
}

static void
print_row(const char *left, const char *right)
{
	int n = printf("  %s", left);
	unsigned at = n > 0 ? (unsigned)n : 0;

	if (right == NULL || right[0] == '\0') {
		putchar('\n');
		return;
	}
	if (at + 2 > BRIEF_COLUMN) {
		putchar('\n');
		at = 0;
	}
	tool_wrap_text(right, BRIEF_COLUMN, at);
}

void
tool_help(const struct tool_cmd *cmd, const struct tool_opt *opts)
{
	char left[80], head[120];

	if (cmd->examples != NULL)
		printf("%s%s\n", cmd->examples,
		    cmd->examples[0] != '\0' && cmd->examples[strlen(cmd->examples) - 1] == '\n' ? "" : "\n");
	snprintf(head, sizeof(head), "usage: %s %s", tool_prog, cmd->name);
	fputs(head, stdout);
	tool_wrap_text(cmd->args == NULL ? "" : cmd->args, 8, (unsigned)strlen(head));
	putchar('\n');
	tool_wrap_text(cmd->brief, 0, 0);
	putchar('\n');
	for (; opts != NULL && opts->name != NULL; opts++) {
		/* an option without words is not for people */
		if (opts->help == NULL)
			continue;
		if (opts->letter != 0)
			snprintf(left, sizeof(left), "-%c, --%s %s", opts->letter, opts->name,
			    opts->arg == NULL ? "" : opts->arg);
		else
			snprintf(left, sizeof(left), "--%s %s", opts->name, opts->arg == NULL ? "" : opts->arg);
		print_row(left, opts->help);
	}
	print_row("-j, --jobs N", "threads; default: processors");
	print_row("--json", "facts as JSON on standard output");
	print_row("-q, --quiet", "no progress, only what matters");
	print_row("-v, --verbose", "more words");
	print_row("--progress HOW", "text, or json: lines of JSON on standard error");
	print_row("--exit-detail", "also exit with 10 (already there) and 11 (done, reboot advised)");
	print_row("-h, --help", "this page");
}

static void
print_overview(const char *about, const struct tool_cmd *cmds)
{
	tool_wrap_text(about, 0, 0);
	printf("\nusage: %s COMMAND [OPTION]... [OPERAND]...\n       %s --version\n\n", tool_prog, tool_prog);
	for (; cmds->name != NULL; cmds++)
		print_row(cmds->name, cmds->brief);
	printf("\n%s COMMAND --help tells more about one of them.\n", tool_prog);
}

/* is it the first word of a two-word command? */
static bool
begins(const struct tool_cmd *cmd, const char *word)
{
	const size_t n = strlen(word);

	return strncmp(cmd->name, word, n) == 0 && cmd->name[n] == ' ';
}

static const struct tool_cmd *
find(const struct tool_cmd *cmds, int argc, char **argv, int *words)
{
	const char *space;

	for (; cmds->name != NULL; cmds++) {
		space = strchr(cmds->name, ' ');
		*words = space == NULL ? 1 : 2;
		if (space == NULL && strcmp(cmds->name, argv[1]) == 0)
			return cmds;
		if (space != NULL && argc > 2 && begins(cmds, argv[1]) && strcmp(space + 1, argv[2]) == 0)
			return cmds;
	}
	return NULL;
}

/* "key" alone, or "key nwe": tell which there are */
static int
tell_group(const struct tool_common *c, const struct tool_cmd *cmds, int argc, char **argv)
{
	const char *words[65], *near;
	char hint[300] = "there are: ", quoted[100];
	size_t at, n = 0;

	if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
		for (; cmds->name != NULL; cmds++) {
			if (begins(cmds, argv[1]))
				print_row(cmds->name, cmds->brief);
		}
		return 0;
	}
	for (; cmds->name != NULL; cmds++) {
		if (!begins(cmds, argv[1]))
			continue;
		at = strlen(hint);
		snprintf(hint + at, sizeof(hint) - at, "%s%s", n == 0 ? "" : ", ", cmds->name);
		if (n < 64)
			words[n++] = strchr(cmds->name, ' ') + 1;
	}
	words[n] = NULL;
	if (argc <= 2 || argv[2][0] == '-')
		return tool_usage(c, hint, "%s: which one?", argv[1]);
	if ((near = tool_nearest(argv[2], words)) != NULL)
		snprintf(hint, sizeof(hint), "did you mean %s %s?", argv[1], near);
	return tool_usage(c, hint, "unknown command %s \"%s\"", argv[1],
	    dray_quote(argv[2], strlen(argv[2]), quoted, sizeof(quoted)));
}

static int
tell_unknown(const struct tool_common *c, const struct tool_cmd *cmds, const char *typed)
{
	const char *words[65], *near;
	char quoted[100], hint[160], name[62][WORD_MAX + 1];
	size_t n = 0;

	/* of a command of two words the first is what was typed; told once is enough, and any of them will do */
	for (; cmds->name != NULL && n < 62; cmds++) {
		snprintf(name[n], sizeof(name[n]), "%.*s", (int)strcspn(cmds->name, " "), cmds->name);
		words[n] = name[n];
		n++;
	}
	words[n++] = "--help";
	words[n++] = "--version";
	words[n] = NULL;
	dray_quote(typed, strlen(typed), quoted, sizeof(quoted));
	near = tool_nearest(typed, words);
	if (near != NULL)
		snprintf(hint, sizeof(hint), "did you mean %s?", near);
	else
		snprintf(hint, sizeof(hint), "%s --help lists the commands", tool_prog);
	return tool_usage(c, hint, "unknown command \"%s\"", quoted);
}

/* a closed descriptor 0, 1 or 2 would be given to the next file opened, and words would be written into it */
static void
hold_standard_fds(void)
{
	int fd, null;

	for (fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) != -1 || errno != EBADF)
			continue;
		/* the lowest free one is fd itself; read-only, so that output into it is still an error */
		if ((null = open("/dev/null", O_RDONLY)) != -1 && null != fd)
			close(null);
	}
}

static int
dispatch(const char *about, const struct tool_cmd *cmds, int argc, char **argv)
{
	struct tool_common c = { .jobs = 1 };
	const struct tool_cmd *cmd;
	int words, i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			c.json = true;
	}
	if (argc < 2) {
		char hint[160];

		snprintf(hint, sizeof(hint), "%s --help lists the commands", tool_prog);
		return tool_usage(&c, hint, "a command is missing");
	}
	cmd = find(cmds, argc, argv, &words);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (strcmp(argv[1], "help") == 0 && cmd == NULL)) {
		print_overview(about, cmds);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("%s %s\n", tool_prog, DRAY_VERSION);
		return 0;
	}
	if (cmd != NULL)
		return cmd->run(argc - words, argv + words, cmd);
	for (cmd = cmds; cmd->name != NULL; cmd++) {
		if (begins(cmd, argv[1]))
			return tell_group(&c, cmds, argc, argv);
	}
	return tell_unknown(&c, cmds, argv[1]);
}

int
tool_main(const char *prog, const char *about, const struct tool_cmd *cmds, int argc, char **argv)
{
	struct dray_err e;
	int status;

	tool_prog = prog;
	tool_error_told = false;
	hold_standard_fds();
	status = dispatch(about, cmds, argc, argv);
	tool_live_clear();
	tool_lists_free();
	/* words that did not get out were not said; a result that is no failure (10, 11, 20 of diff) is not to be told apart then */
	if (tool_flush(&e) != 0 && !tool_error_told) {
		dray_hint(&e, "the command went to its end; what is missing is what it says");
		status = tool_error(NULL, NULL, &e);
	}
	return status;
}
