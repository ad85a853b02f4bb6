/*
 * test_tool_say.c - sizes for people, progress, signals.
 */
#include <sys/wait.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/tool/tool.h"

#include "catch.h"
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
a_short_run_shows_no_progress(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	uint64_t i;

	catch_begin();
	tool_progress_begin(&p, &c, "staging", 100);
	for (i = 0; i <= 100; i++)
		tool_progress_at(&p, i, 100);
	tool_progress_end(&p);
	catch_end();
	CHECK_STR(err, "");
	CHECK_STR(out, "");
}

static void
without_a_terminal_each_tenth_gets_a_line(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	const char *s;
	uint64_t i;
	int lines = 0;

	catch_begin();
	tool_progress_begin(&p, &c, "staging", 0);
	p.begin_ms -= 5000;	/* as if it had run for a while */
	for (i = 0; i <= 2000; i++)
		tool_progress_at(&p, i, 2000);
	tool_progress_end(&p);
	catch_end();
	for (s = err; (s = strchr(s, '\n')) != NULL; s++)
		lines++;
	CHECK_EQ(lines, 10);
	CHECK_HAS(err, "dray: staging: 50 % (1.0 kB of 2.0 kB)\n");
	CHECK_HAS(err, "dray: staging: 100 % (2.0 kB of 2.0 kB)\n");
	/* quiet is quiet */
	c.quiet = true;
	catch_begin();
	tool_progress_begin(&p, &c, "staging", 10);
	p.begin_ms -= 5000;
	tool_progress_at(&p, 10, 10);
	tool_progress_end(&p);
	catch_end();
	CHECK_STR(err, "");
}

static void
a_live_line_is_taken_away_before_an_error(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	struct dray_err e;

	catch_begin();
	tool_progress_begin(&p, &c, "staging", 100);
	p.live = true;
	p.begin_ms -= 5000;
	p.last_ms -= 5000;
	tool_progress_at(&p, 50, 100);
	dray_fail(&e, DRAY_E_IO, "why");
	CHECK_EQ(tool_error(&c, "what", &e), 1);
	tool_progress_end(&p);
	catch_end();
	CHECK_STR(err, "\rstaging: 50 % (50 bytes of 100 bytes)\033[K\r\033[Kdray: what: why\n");
}

static void *
report(void *p)
{
	uint64_t i;

	for (i = 0; i < 1000; i++)
		tool_progress_at(p, i, 1000);
	return NULL;
}

static void
workers_may_report_at_the_same_time(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	pthread_t t[4];
	size_t i;

	catch_begin();
	tool_progress_begin(&p, &c, "staging", 1000);
	p.begin_ms -= 5000;
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, report, &p);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	tool_progress_end(&p);
	catch_end();
	CHECK_HAS(err, "dray: staging: 90 %");
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
	RUN(a_short_run_shows_no_progress);
	RUN(without_a_terminal_each_tenth_gets_a_line);
	RUN(a_live_line_is_taken_away_before_an_error);
	RUN(workers_may_report_at_the_same_time);
	RUN(the_first_signal_is_remembered);
	return test_done();
}
