/*
 * test_tool.c - subcommands, options, the one place that prints an error
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/tool/look.h"
#include "format/tool/tool.h"

#include "catch.h"
#include "test.h"

/* what the last run of a subcommand found */
static struct {
	struct tool_common common;
	const char *operand[3], *text, *ran, *list_item[4];
	uint64_t number, size;
	size_t n, list_n;
	bool flag, other;
} got;

static int
run_any(int argc, char **argv, const struct tool_cmd *self)
{
	struct tool_list list = { NULL, 0 };
	struct tool_opt opts[] = {
		{ "flag", 'f', TOOL_FLAG, &got.flag, 0, 0, NULL, "a flag" },
		{ "text", 't', TOOL_TEXT, &got.text, 0, 0, "FILE", "a text" },
		{ "number", 'n', TOOL_NUMBER, &got.number, 1, 9, "N", "a number" },
		{ "size", 0, TOOL_SIZE, &got.size, 1, UINT64_MAX, "SIZE",
		    "a size, with words enough that this line of the help page must be wrapped somewhere" },
		{ "list", 'l', TOOL_LIST, &list, 0, 0, "X", "a list" },
		{ "secret", 0, TOOL_FLAG, &got.other, 0, 0, NULL, NULL },
		{ .name = NULL },
	};
	size_t i;
	int rc;

	memset(&got, 0, sizeof(got));
	rc = tool_parse(argc, argv, self, opts, &got.common, 1, 2, got.operand, &got.n);
	if (rc != -1)
		return rc;
	got.ran = self->name;
	got.list_n = list.n;
	for (i = 0; i < list.n && i < 4; i++)
		got.list_item[i] = list.v[i];
	printf("ran %s\n", self->name);
	return 0;
}

static int
run_failing(int argc, char **argv, const struct tool_cmd *self)
{
	struct tool_common c;
	struct dray_err e;
	size_t n;
	int rc = tool_parse(argc, argv, self, NULL, &c, 0, 0, NULL, &n);

	if (rc != -1)
		return rc;
	dray_fail(&e, DRAY_E_FORMAT, "digest differs");
	dray_hint(&e, "copy it again");
	return tool_error(&c, "cannot install \"x\"", &e);
}

/* a result that is no failure has no message of its own */
static int
run_differs(int argc, char **argv, const struct tool_cmd *self)
{
	struct tool_common c;
	size_t n;
	int rc = tool_parse(argc, argv, self, NULL, &c, 0, 0, NULL, &n);

	if (rc != -1)
		return rc;
	printf("a | b\n");
	return 20;
}

static const struct tool_cmd cmds[] = {
	{ "build", "SOURCE [SOURCE]", "make a bundle", "  dray build x\n", run_any },
	{ "verify", "BUNDLE", "check a bundle; this brief goes on and on so that the overview has to wrap it once", NULL,
	    run_any },
	{ "key new", "NAME", "make a key", NULL, run_any },
	{ "key show", "FILE", "show a key", NULL, run_any },
	{ "fail", "", "fail", NULL, run_failing },
	{ "differs", "", "find a difference", NULL, run_differs },
	{ NULL, NULL, NULL, NULL, NULL },
};

static const char *prog = "dray";

/* "dray" with these words, separated by blanks */
static int
run_words(const char *words)
{
	static char line[512];
	char *argv[32];
	int argc = 0;
	char *p;

	snprintf(line, sizeof(line), "dray %s", words);
	for (p = strtok(line, " "); p != NULL && argc < 31; p = strtok(NULL, " "))
		argv[argc++] = p;
	argv[argc] = NULL;
	return tool_main(prog, "dray makes bundles.", cmds, argc, argv);
}

static int
run(const char *words)
{
	int rc;

	catch_begin();
	rc = run_words(words);
	catch_end();
	return rc;
}

static void
a_subcommand_is_found_and_run(void)
{
	CHECK_EQ(run("build a"), 0);
	CHECK_STR(out, "ran build\n");
	CHECK_STR(err, "");
	CHECK_EQ(run("key new ops"), 0);
	CHECK_STR(out, "ran key new\n");
	CHECK_STR(got.operand[0], "ops");
	CHECK_EQ(run("key show x"), 0);
	CHECK_STR(out, "ran key show\n");
}

static void
an_unknown_command_is_a_mistake_with_a_suggestion(void)
{
	CHECK_EQ(run("biuld a"), 2);
	CHECK_STR(err, "dray: unknown command \"biuld\"\ndray: hint: did you mean build?\n");
	CHECK_STR(out, "");
	CHECK_EQ(run("verfy a"), 2);
	CHECK_STR(err, "dray: unknown command \"verfy\"\ndray: hint: did you mean verify?\n");
	CHECK_EQ(run("--hlep"), 2);
	CHECK_STR(err, "dray: unknown command \"--hlep\"\ndray: hint: did you mean --help?\n");
	CHECK_EQ(run("--verson"), 2);
	CHECK_STR(err, "dray: unknown command \"--verson\"\ndray: hint: did you mean --version?\n");
	CHECK_EQ(run("frobnicate"), 2);
	CHECK_STR(err, "dray: unknown command \"frobnicate\"\ndray: hint: dray --help lists the commands\n");
	CHECK_EQ(run("\x1b[2J"), 2);
	CHECK_HAS(err, "unknown command \"\\x1b[2J\"");
	CHECK_EQ(run(""), 2);
	CHECK_STR(err, "dray: a command is missing\ndray: hint: dray --help lists the commands\n");
}

static void
half_a_command_tells_its_halves(void)
{
	CHECK_EQ(run("key"), 2);
	CHECK_STR(err, "dray: key: which one?\ndray: hint: there are: key new, key show\n");
	CHECK_EQ(run("key nwe"), 2);
	CHECK_STR(err, "dray: unknown command key \"nwe\"\ndray: hint: did you mean key new?\n");
	CHECK_EQ(run("key quux"), 2);
	CHECK_STR(err, "dray: unknown command key \"quux\"\ndray: hint: there are: key new, key show\n");
	CHECK_EQ(run("kye new"), 2);
	CHECK_STR(err, "dray: unknown command \"kye\"\ndray: hint: did you mean key?\n");
	CHECK_EQ(run("key --help"), 0);
	CHECK_HAS(out, "key new");
	CHECK_HAS(out, "show a key");
}

static void
options_of_every_kind_are_read(void)
{
	CHECK_EQ(run("build --flag --text=T --number 7 --size 2k -l one --list two x -j 3 --json -v -v y"), 0);
	CHECK(got.flag && got.common.json && !got.common.quiet && !got.other);
	CHECK_STR(got.text, "T");
	CHECK_EQ(got.number, 7);
	CHECK_EQ(got.size, 2048);
	CHECK_EQ(got.list_n, 2);
	CHECK_STR(got.list_item[0], "one");
	CHECK_STR(got.list_item[1], "two");
	CHECK_EQ(got.common.jobs, 3);
	CHECK_EQ(got.common.verbose, 2);
	CHECK_EQ(got.n, 2);
	CHECK_STR(got.operand[0], "x");
	CHECK_STR(got.operand[1], "y");
	CHECK_EQ(run("build -fn9 -q -- --flag"), 0);
	CHECK(got.flag && got.common.quiet);
	CHECK_EQ(got.number, 9);
	CHECK_STR(got.operand[0], "--flag");
	CHECK_EQ(run("build --exit-detail --allow-test-keys --secret x"), 0);
	CHECK(got.common.exit_detail && got.common.allow_test_keys && got.other);
	CHECK(got.common.jobs >= 1 && got.common.jobs <= 256);
}

static void
mistakes_in_options_are_told_each_in_its_words(void)
{
	static const char see[] = "dray: hint: see dray build --help\n";

	CHECK_EQ(run("build --flag --flag x"), 2);
	CHECK_HAS(err, "dray: build: option --flag is given twice\n");
	CHECK_HAS(err, see);
	CHECK_EQ(run("build -t a --text b x"), 2);
	CHECK_HAS(err, "dray: build: option --text is given twice\n");
	CHECK_EQ(run("build --json --json x"), 2);
	CHECK_HAS(err, "dray: build: option --json is given twice\n");
	CHECK_EQ(run("build x --text"), 2);
	CHECK_HAS(err, "dray: build: option --text wants a value\n");
	CHECK_EQ(run("build x -t"), 2);
	CHECK_HAS(err, "dray: build: option --text wants a value\n");
	CHECK_EQ(run("build --text= x"), 2);
	CHECK_STR(err, "dray: build: the value of option --text is empty\n"
	    "dray: hint: was a variable left unset? see dray build --help\n");
	CHECK_EQ(run("build --list=a --list= x"), 2);
	CHECK_HAS(err, "dray: build: the value of option --list is empty\n");
	CHECK_EQ(run("build --number= x"), 2);
	CHECK_HAS(err, "dray: build: option --number: \"\" will not do\n");
	CHECK_EQ(run("build --flag=1 x"), 2);
	CHECK_HAS(err, "dray: build: option --flag takes no value\n");
	CHECK_EQ(run("build --number 10 x"), 2);
	CHECK_STR(err, "dray: build: option --number: \"10\" will not do\n"
	    "dray: hint: a whole number from 1 to 9 is wanted\n");
	CHECK_EQ(run("build --size 1T x"), 2);
	CHECK_HAS(err, "dray: build: option --size: \"1T\" will not do\n");
	CHECK_EQ(run("build -j 0 x"), 2);
	CHECK_HAS(err, "dray: build: option --jobs: \"0\" will not do\n");
	CHECK_EQ(run("build -x x"), 2);
	CHECK_HAS(err, "dray: build: unknown option -x\n");
	CHECK_EQ(run("build -q -v x"), 2);
	CHECK_HAS(err, "dray: build: --quiet and --verbose exclude each other\n");
	CHECK_EQ(run("build"), 2);
	CHECK_HAS(err, "dray: build: an operand is missing\n");
	CHECK_EQ(run("build a b c"), 2);
	CHECK_HAS(err, "dray: build: \"c\" is one operand too many\n");
	CHECK(got.ran == NULL);
	CHECK_STR(out, "");
}

static void
unknown_and_shortened_options_are_refused_with_a_suggestion(void)
{
	CHECK_EQ(run("build --flga x"), 2);
	CHECK_HAS(err, "dray: build: unknown option --flg");
	CHECK_EQ(run("build --nubmer=3 x"), 2);
	CHECK_STR(err, "dray: build: unknown option --nubmer\ndray: hint: did you mean --number?\n");
	CHECK_EQ(run("build --num 3 x"), 2);
	CHECK_STR(err, "dray: build: unknown option --num\ndray: hint: did you mean --number?\n");
	CHECK_EQ(run("build --numb=3 x"), 2);
	CHECK_HAS(err, "unknown option --numb\n");
	CHECK_EQ(run("build --verb x"), 2);
	CHECK_STR(err, "dray: build: unknown option --verb\ndray: hint: did you mean --verbose?\n");
	CHECK_EQ(run("build --allow-test-key x"), 2);
	CHECK(strstr(err, "--allow-test-keys") == NULL);
	CHECK_EQ(run("build --qqqqqqqqqqqqq x"), 2);
	CHECK_STR(err, "dray: build: unknown option --qqqqqqqqqqqqq\ndray: hint: see dray build --help\n");
}

static void
an_error_is_told_once_and_in_json_too(void)
{
	CHECK_EQ(run("fail"), 31);
	CHECK_STR(err, "dray: cannot install \"x\": digest differs\ndray: hint: copy it again\n");
	CHECK_STR(out, "");
	CHECK_EQ(run("fail --json"), 31);
	CHECK_STR(err, "dray: cannot install \"x\": digest differs\ndray: hint: copy it again\n");
	CHECK_STR(out, "{\"error\":{\"code\":31,\"hint\":\"copy it again\","
	    "\"text\":\"cannot install \\\"x\\\": digest differs\"}}\n");
	/* a mistake before --json on the line as well */
	CHECK_EQ(run("build --nope --json"), 2);
	CHECK_HAS(out, "{\"error\":{\"code\":2,");
	CHECK_EQ(run("nope --json"), 2);
	CHECK_HAS(out, "\"text\":\"unknown command \\\"nope\\\"\"}}\n");
}

static void
check_width(void)
{
	const char *p = out;
	size_t n;

	for (; *p != '\0'; p += n + (p[n] != '\0')) {
		n = strcspn(p, "\n");
		CHECK(n <= 76);
		CHECK(n == 0 || p[n - 1] != ' ');
	}
}

static void
help_goes_to_standard_output_within_76_columns(void)
{
	CHECK_EQ(run("--help"), 0);
	CHECK_STR(err, "");
	CHECK_HAS(out, "dray makes bundles.");
	CHECK_HAS(out, "  key new             make a key\n");
	check_width();
	prog = "dray-install";
	CHECK_EQ(run("--help"), 0);
	check_width();
	prog = "dray";
	CHECK_EQ(run("build --help"), 0);
	CHECK(strncmp(out, "  dray build x\n", 15) == 0);
	CHECK_HAS(out, "usage: dray build SOURCE [SOURCE]\n");
	CHECK_HAS(out, "  -t, --text FILE     a text\n");
	CHECK_HAS(out, "-j, --jobs N");
	CHECK(strstr(out, "secret") == NULL && strstr(out, "allow-test-keys") == NULL);
	CHECK(got.ran == NULL);
	check_width();
	/* help comes before what else would be wrong */
	CHECK_EQ(run("build -h a b c d"), 0);
	CHECK_EQ(run("--version"), 0);
	CHECK_STR(out, "dray " DRAY_VERSION "\n");
}

/* in a child, whose standard output is what the test needs */
static int
run_with_stdout(const char *words, const char *path, int flags)
{
	int status = 0, fd;
	pid_t pid;

	catch_begin();
	if ((pid = fork()) == 0) {
		close(STDOUT_FILENO);
		if (path != NULL && ((fd = open(path, flags)) == -1 || fd != STDOUT_FILENO))
			_exit(99);
		_exit(run_words(words));
	}
	waitpid(pid, &status, 0);
	catch_end();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
output_that_does_not_get_out_is_an_error(void)
{
#define HINT "dray: hint: the command went to its end; what is missing is what it says\n"
	CHECK_EQ(run_with_stdout("build x", "/dev/null", O_WRONLY), 0);
	CHECK_EQ(run_with_stdout("build x", "/dev/full", O_WRONLY), 1);
	CHECK_STR(err, "dray: cannot write to standard output: no space left on device\n" HINT);
	CHECK_EQ(run_with_stdout("build x", NULL, 0), 1);
	CHECK_STR(err, "dray: cannot write to standard output: bad file descriptor\n" HINT);
	/* what was found is not known then; a failure that was told stays the only one */
	CHECK_EQ(run_with_stdout("differs", "/dev/null", O_WRONLY), 20);
	CHECK_EQ(run_with_stdout("differs", "/dev/full", O_WRONLY), 1);
	CHECK_STR(err, "dray: cannot write to standard output: no space left on device\n" HINT);
	CHECK_EQ(run_with_stdout("fail", "/dev/full", O_WRONLY), 31);
	CHECK_STR(err, "dray: cannot install \"x\": digest differs\ndray: hint: copy it again\n");
#undef HINT
}

static void
the_end_of_life_is_past_or_not_by_the_clock_alone(void)
{
	char t[TOOL_EOL_CAP];

	CHECK_STR(tool_eol(1719792000, 1719791999, t), "end of life is 2024-07-01T00:00:00Z");
	CHECK_STR(tool_eol(1719792000, 1719792000, t), "end of life was 2024-07-01T00:00:00Z");
	CHECK_STR(tool_eol(1719792000, 0, t), "end of life is 2024-07-01T00:00:00Z");
	CHECK_STR(tool_eol(1719792000, -1, t), "end of life is 2024-07-01T00:00:00Z");	/* time(2) that failed */
	CHECK_STR(tool_eol(253402300799, INT64_MAX, t), "end of life was 9999-12-31T23:59:59Z");
	CHECK(!tool_is_past(0, INT64_MAX));
}

int
main(void)
{
	RUN(a_subcommand_is_found_and_run);
	RUN(an_unknown_command_is_a_mistake_with_a_suggestion);
	RUN(half_a_command_tells_its_halves);
	RUN(options_of_every_kind_are_read);
	RUN(mistakes_in_options_are_told_each_in_its_words);
	RUN(unknown_and_shortened_options_are_refused_with_a_suggestion);
	RUN(an_error_is_told_once_and_in_json_too);
	RUN(help_goes_to_standard_output_within_76_columns);
	RUN(output_that_does_not_get_out_is_an_error);
	RUN(the_end_of_life_is_past_or_not_by_the_clock_alone);
	return test_done();
}
