/*
 * test_tool_say.c - sizes for people, words for a shell, signals.
 */
#include <sys/wait.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/tool/tool.h"

#include "test.h"

static void
sizes_are_told_for_people(void)
{
	char text[32];

	CHECK_STR(tool_human(0, text), "0 bytes");
	CHECK_STR(tool_human(1, text), "1 byte");
	CHECK_STR(tool_human(999, text), "999 bytes");
	CHECK_STR(tool_human(1000, text), "1.0 kB");
	CHECK_STR(tool_human(1049, text), "1.0 kB");
	CHECK_STR(tool_human(1050, text), "1.1 kB");
	CHECK_STR(tool_human(999949, text), "999.9 kB");
	CHECK_STR(tool_human(999950, text), "1.0 MB");
	CHECK_STR(tool_human(1300000000, text), "1.3 GB");
	CHECK_STR(tool_human(UINT64_MAX, text), "18.4 EB");
}

static void
words_are_quoted_for_a_shell(void)
{
	char text[TOOL_SHELL_CAP(20)];

	CHECK_STR(tool_shell("/mnt/a-b_c.dray", text), "/mnt/a-b_c.dray");
	CHECK_STR(tool_shell("", text), "''");
	CHECK_STR(tool_shell("USB DISK/$x;y", text), "'USB DISK/$x;y'");
	CHECK_STR(tool_shell("it's", text), "'it'\\''s'");
	CHECK_STR(tool_shell("a\nb\033c\177", text), "'a?b?c?'");
	CHECK_STR(tool_shell("''''''''''''''''''''", text),
	    "''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''\\'''");
}

static void
the_first_signal_is_remembered(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		signal(SIGHUP, SIG_IGN);
		tool_signals();
		raise(SIGHUP);	/* was ignored, as under nohup, and stays so */
		raise(SIGPIPE);
		raise(SIGXFSZ);
		if (tool_signal_seen() != 0)
			_exit(1);
		raise(SIGTERM);
		raise(SIGINT);
		_exit(tool_signal_seen() == SIGTERM ? 0 : 2);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
	CHECK_EQ(tool_signal_seen(), 0);
}

int
main(void)
{
	RUN(sizes_are_told_for_people);
	RUN(words_are_quoted_for_a_shell);
	RUN(the_first_signal_is_remembered);
	return test_done();
}
