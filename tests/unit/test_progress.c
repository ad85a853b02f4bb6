/*
 * test_progress.c - what a progress line says and when it appears, with a clock that the test moves.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/meter.h"
#include "format/tool/tool_in.h"

#include "catch.h"
#include "test.h"

static int64_t clock_ms;

static int64_t
fake_now(void)
{
	return clock_ms;
}

static const struct tool_clock fake = { fake_now, false };
static struct tool_clock real;

static void
spans_are_told_for_people(void)
{
	char text[32];

	CHECK_STR(tool_seconds(-5, text), "0 s");
	CHECK_STR(tool_seconds(0, text), "0 s");
	CHECK_STR(tool_seconds(1, text), "1 s");
	CHECK_STR(tool_seconds(1000, text), "1 s");
	CHECK_STR(tool_seconds(99000, text), "99 s");
	CHECK_STR(tool_seconds(99001, text), "2 min");
	CHECK_STR(tool_seconds(5940000, text), "99 min");
	CHECK_STR(tool_seconds(5941000, text), "1 h 40 min");
	CHECK_STR(tool_seconds(7200000, text), "2 h 0 min");
}

static void
per_cent_never_is_a_hundred_before_the_end(void)
{
	CHECK_EQ(tool_progress_percent(0, 0), 0);
	CHECK_EQ(tool_progress_percent(0, 10), 0);
	CHECK_EQ(tool_progress_percent(1, 3), 33);
	CHECK_EQ(tool_progress_percent(999, 1000), 99);
	CHECK_EQ(tool_progress_percent(1000, 1000), 99);
	CHECK_EQ(tool_progress_percent(1001, 1000), 99);
	CHECK_EQ(tool_progress_percent(UINT64_MAX / 2, UINT64_MAX), 50);
	CHECK_EQ(tool_progress_percent(UINT64_MAX, UINT64_MAX), 99);
}

static void
the_rate_is_the_mean_at_first_and_follows_later(void)
{
	struct tool_rate r = { .begin_ms = 1000, .at_ms = 1000 };
	int64_t now = 1000;
	uint64_t done = 0;

	tool_rate_add(&r, 1100, 1000000);	/* too soon to tell */
	CHECK_EQ((uint64_t)r.per_s, 0);
	tool_rate_add(&r, 3000, 1000000);
	CHECK_EQ((uint64_t)r.per_s, 500000);
	/* 1 MB/s for ten seconds, then 3 MB/s: after a minute of that nothing is left of the first rate */
	r = (struct tool_rate){ .begin_ms = 1000, .at_ms = 1000 };
	for (int i = 0; i < 10; i++)
		tool_rate_add(&r, now += 1000, done += 1000000);
	CHECK_EQ((uint64_t)r.per_s, 1000000);
	tool_rate_add(&r, now += 1000, done += 3000000);
	CHECK(r.per_s > 1100000 && r.per_s < 1300000);
	for (int i = 0; i < 60; i++)
		tool_rate_add(&r, now += 1000, done += 3000000);
	CHECK(r.per_s > 2950000 && r.per_s <= 3000000);
	/* a stop is seen, and bytes that were taken back are no negative rate */
	for (int i = 0; i < 60; i++)
		tool_rate_add(&r, now += 1000, done -= 10);
	CHECK(r.per_s >= 0 && r.per_s < 30000);
}

static void
the_line_tells_bytes_rate_and_time_left(void)
{
	struct tool_progress p = { .what = "pack", .begin_ms = 0 };
	char text[TOOL_PROGRESS_TEXT];

	/* nothing is counted: only that it lives */
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "pack: 3 s");
	p.done = 1500;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "pack: 1.5 kB");
	p.rate.per_s = 1000;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "pack: 1.5 kB, 1.0 kB/s");
	p.total = 3000;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "pack: 50 % (1.5 kB of 3.0 kB), 1.0 kB/s, 2 s left");
	p.rate.per_s = 0.5;	/* as good as standing still */
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "pack: 50 % (1.5 kB of 3.0 kB)");
	p.rate.per_s = 1;
	p.total = UINT64_MAX;	/* too far away to guess */
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "pack: 0 % (1.5 kB of 18.4 EB), 1 byte/s");
	/* more than was thought: no more than all, and no time left */
	p.total = 1000;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "pack: 99 % (1.0 kB of 1.0 kB), 1 byte/s");
	/* the end tells the mean of the whole phase */
	p.total = 3000;
	p.done = 3000;
	CHECK_STR(tool_progress_text(&p, 1500, true, text), "pack: 3.0 kB, 2.0 kB/s, took 2 s");
	/* the longest there is fits 76 columns with the longer of the two program names */
	p = (struct tool_progress){ .what = "staging", .done = UINT64_C(123400000), .total = UINT64_C(999900000000),
		.rate = { .per_s = 175000000 } };
	tool_progress_text(&p, 2500, false, text);
	CHECK_STR(text, "staging: 0 % (123.4 MB of 999.9 GB), 175.0 MB/s, 96 min left");
	CHECK(strlen(text) + strlen("dray-install: ") <= 76);
}

static void
paths_are_counted_without_a_unit(void)
{
	struct tool_progress p = { .what = "switching", .paths = true };
	char text[TOOL_PROGRESS_TEXT];

	CHECK_STR(tool_progress_text(&p, 2500, false, text), "switching: 3 s");
	CHECK_STR(tool_progress_text(&p, 2500, true, text), "switching: took 3 s");
	p.total = 20000;
	p.done = 1500;
	p.rate.per_s = 500;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "switching: 7 % (1500 of 20000 paths), 37 s left");
	p.done = 20000;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "switching: 99 % (20000 of 20000 paths)");
	CHECK_STR(tool_progress_text(&p, 2500, true, text), "switching: 20000 paths, took 3 s");
	p.total = p.done = 1;
	CHECK_STR(tool_progress_text(&p, 2500, true, text), "switching: 1 path, took 3 s");
	p.total = 0;
	p.done = 12;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "switching: 12 paths");
}

static size_t
count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

/* half of the bytes are a tenth of the work: per cent and the time left are of work, amounts and rate of bytes */
static void
per_cent_are_of_costs_where_they_are_known(void)
{
	struct tool_progress p = { .what = "staging", .done = 1500, .total = 3000, .rate = { .per_s = 1000 }, .cost = 10,
		.costs = 100, .speed = { .per_s = 5 } };
	char text[TOOL_PROGRESS_TEXT], json[TOOL_PROGRESS_JSON];

	CHECK_STR(tool_progress_text(&p, 2500, false, text), "staging: 10 % (1.5 kB of 3.0 kB), 1.0 kB/s, 18 s left");
	CHECK_STR(tool_progress_json(&p, 2500, "runs", json), "{\"done\":1500,\"ms\":2500,\"percent\":10,\"phase\":\"staging\","
	    "\"rate\":1000,\"seconds_left\":18,\"state\":\"runs\",\"total\":3000,\"unit\":\"bytes\"}");
	p.slow = true;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "staging: 10 %, 18 s left");
	p.slow = false;
	/* all bytes, but not all work; all work is 99 until the end says otherwise */
	p.done = 3000;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "staging: 10 % (3.0 kB of 3.0 kB), 1.0 kB/s, 18 s left");
	p.cost = 100;
	CHECK_STR(tool_progress_text(&p, 2500, false, text), "staging: 99 % (3.0 kB of 3.0 kB), 1.0 kB/s");
	p.cost = 101;
	CHECK_EQ(tool_progress_share(&p), 99);
}

static void
per_cent_never_go_back(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	unsigned least = 0;

	tool_clock = fake;
	catch_begin();
	tool_progress_begin(&p, &c, "staging", 0);
	/* half-way, what is still to be done turns out to be more, and then less */
	for (uint64_t i = 0; i <= 400; i++, clock_ms += 10) {
		tool_progress_tell(&p, &(struct dray_progress){ .done = i, .total = 400, .cost = i,
		    .costs = i < 200 ? 250 : i < 300 ? 4000 : 400 });
		CHECK(tool_progress_share(&p) >= least);
		CHECK(tool_progress_share(&p) <= 99);
		least = tool_progress_share(&p);
		if (i == 250)
			CHECK_EQ(least, 79);	/* of 199 of 250 */
	}
	tool_progress_end(&p, true);
	catch_end();
	CHECK_EQ(least, 99);
	CHECK_EQ(p.cost, p.costs);
	CHECK_EQ(count(err, "100 %"), 0);
}

/* phase of 2000 bytes that takes 20 s */
static void
play(struct tool_progress *p, const struct tool_common *c, bool live, bool whole)
{
	tool_clock = fake;
	clock_ms = 70000;
	catch_begin();
	tool_progress_begin(p, c, "staging", 0);
	p->live = live;
	for (uint64_t i = 0; i <= 2000; i++, clock_ms += 10)
		tool_progress_at(p, i, 2000);
	tool_progress_end(p, whole);
	catch_end();
}

static void
a_short_run_shows_no_progress(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;

	tool_clock = fake;
	catch_begin();
	tool_progress_begin(&p, &c, "staging", 100);
	for (uint64_t i = 0; i <= 100; i++, clock_ms += 9)
		tool_progress_at(&p, i, 100);
	tool_progress_end(&p, true);
	catch_end();
	CHECK_STR(err, "");
	CHECK_STR(out, "");
}

static void
without_a_terminal_each_tenth_gets_a_line(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;

	play(&p, &c, false, true);
	CHECK_EQ(count(err, "\n"), 10);
	CHECK_HAS(err, "dray: staging: 50 % (1.0 kB of 2.0 kB), 100 bytes/s, 10 s left\n");
	CHECK_HAS(err, "dray: staging: 2.0 kB, 99 bytes/s, took 21 s\n");
	CHECK_EQ(count(err, "100 %"), 0);
	/* a phase that failed at its last byte does not say that it is over */
	play(&p, &c, false, false);
	CHECK_EQ(count(err, "\n"), 9);
	CHECK_EQ(count(err, "took"), 0);
	/* quiet is quiet */
	c.quiet = true;
	play(&p, &c, false, true);
	CHECK_STR(err, "");
	/* the begin of each phase with -v */
	c = (struct tool_common){ .verbose = 1 };
	play(&p, &c, false, true);
	CHECK(strncmp(err, "dray: staging: begins\n", 22) == 0);
}

static void
without_a_terminal_a_slow_phase_gets_a_line_in_30_seconds(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;

	tool_clock = fake;
	catch_begin();
	tool_progress_begin(&p, &c, "pack", 1000000);
	for (uint64_t i = 0; i < 100; i++, clock_ms += 1000)
		tool_progress_at(&p, i, 0);
	tool_progress_end(&p, false);
	catch_end();
	CHECK_EQ(count(err, "\n"), 3);
	CHECK_EQ(count(err, "dray: pack: 0 % ("), 3);
}

static void
a_terminal_gets_one_line_that_is_gone_in_the_end(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;

	play(&p, &c, true, true);
	CHECK_EQ(count(err, "\n"), 0);
	CHECK_EQ(count(err, "100 %"), 0);
	CHECK(count(err, "\rstaging: ") > 150);		/* ten times a second */
	CHECK(count(err, "\rstaging: ") < 250);
	CHECK_HAS(err, "\rstaging: 99 % (2.0 kB of 2.0 kB), 100 bytes/s\033[K\r\033[K");
}

static void
a_slow_line_gets_few_words_once_a_second(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;

	tool_clock = fake;
	catch_begin();
	tool_progress_begin(&p, &c, "staging", 0);
	p.live = p.slow = true;
	for (uint64_t i = 0; i <= 2000; i++, clock_ms += 10)
		tool_progress_at(&p, i, 2000);
	tool_progress_end(&p, true);
	catch_end();
	/* phase of 20 s */
	CHECK_EQ(count(err, "\rstaging: ") <= 21, 1);
	CHECK_EQ(count(err, "\rstaging: ") >= 18, 1);
	CHECK_EQ(count(err, "bytes"), 0);
	CHECK_EQ(count(err, "B/s"), 0);
	CHECK_HAS(err, " s left\033[K");
}

/* @n phases of @each_ms, one behind the other, each reporting every 10 ms; what of it a terminal gets */
static void
play_short(unsigned n, int64_t each_ms)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;

	tool_clock = fake;
	catch_begin();
	for (unsigned i = 0; i < n; i++) {
		tool_progress_begin_paths(&p, &c, i == 0 ? "first" : i == 1 ? "second" : "third", 0);
		p.live = true;
		for (int64_t at = 0; at < each_ms; at += 10, clock_ms += 10)
			tool_progress_at(&p, (uint64_t)at, 0);
		tool_progress_end(&p, true);
	}
	catch_end();
}

static void
a_terminal_is_never_silent_for_a_second_over_short_phases(void)
{
	/* a line is due after half a second without one, in whichever phase that is */
	play_short(1, 100);	/* whatever was silent before this */
	clock_ms += 5000;
	play_short(1, 200);
	CHECK_HAS(err, "\rfirst: ");
	play_short(2, 300);	/* 100 ms of the first one's line were drawn at most that long ago */
	CHECK_EQ(count(err, "first: "), 0);
	CHECK_HAS(err, "\rsecond: ");
	play_short(3, 400);
	CHECK_HAS(err, "\rsecond: ");
}

static void
a_live_line_is_taken_away_before_an_error(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	struct dray_err e;

	tool_clock = fake;
	catch_begin();
	tool_progress_begin(&p, &c, "staging", 100);
	p.live = true;
	clock_ms += 5000;
	tool_progress_at(&p, 50, 100);
	dray_fail(&e, DRAY_E_IO, "why");
	CHECK_EQ(tool_error(&c, "what", &e), 1);
	tool_progress_end(&p, false);
	catch_end();
	CHECK_STR(err, "\rstaging: 50 % (50 bytes of 100 bytes), 10 bytes/s, 5 s left\033[K\r\033[Kdray: what: why\n");
}

static void *
report(void *p)
{
	for (uint64_t i = 0; i < 1000; i++)
		tool_progress_at(p, i, 1000);
	return NULL;
}

static void
workers_may_report_at_the_same_time(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	pthread_t t[4];

	tool_clock = fake;
	catch_begin();
	tool_progress_begin(&p, &c, "staging", 1000);
	clock_ms += 5000;
	for (size_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, report, &p);
	for (size_t i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	tool_progress_end(&p, true);
	catch_end();
	CHECK_HAS(err, "dray: staging: 90 %");
	CHECK_EQ(p.done, 999);
}

/* the real clock, the real thread, a terminal: the line is redrawn though nothing is reported */
static void
a_step_that_reports_nothing_shows_life(void)
{
	struct tool_common c = { .jobs = 1 };
	struct tool_progress p;
	char text[4096] = "";
	size_t n = 0;
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave, saved = dup(STDERR_FILENO);

	CHECK(master != -1 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	CHECK(slave != -1 && dup2(slave, STDERR_FILENO) != -1);
	tool_clock = real;
	tool_progress_begin(&p, &c, "match", 0);
	/* a read waits until somebody has written */
	while (count(text, "\rmatch: ") < 3 && n < sizeof(text) - 1) {
		ssize_t got = read(master, text + n, sizeof(text) - 1 - n);

		if (got <= 0)
			break;
		n += (size_t)got;
		text[n] = '\0';
	}
	tool_progress_end(&p, false);
	dup2(saved, STDERR_FILENO);
	CHECK_HAS(text, "\rmatch: 2 s\033[K");
	close(saved);
	close(slave);
	close(master);
}

int
main(void)
{
	real = tool_clock;
	RUN(spans_are_told_for_people);
	RUN(per_cent_never_is_a_hundred_before_the_end);
	RUN(the_rate_is_the_mean_at_first_and_follows_later);
	RUN(the_line_tells_bytes_rate_and_time_left);
	RUN(paths_are_counted_without_a_unit);
	RUN(per_cent_are_of_costs_where_they_are_known);
	RUN(per_cent_never_go_back);
	RUN(a_short_run_shows_no_progress);
	RUN(without_a_terminal_each_tenth_gets_a_line);
	RUN(without_a_terminal_a_slow_phase_gets_a_line_in_30_seconds);
	RUN(a_terminal_gets_one_line_that_is_gone_in_the_end);
	RUN(a_terminal_is_never_silent_for_a_second_over_short_phases);
	RUN(a_slow_line_gets_few_words_once_a_second);
	RUN(a_live_line_is_taken_away_before_an_error);
	RUN(workers_may_report_at_the_same_time);
	RUN(a_step_that_reports_nothing_shows_life);
	return test_done();
}
