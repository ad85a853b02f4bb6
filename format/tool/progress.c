/*
 * progress.c - how far a long run is, on stderr: one live line on a terminal, otherwise a line at every tenth or
 * every 30 seconds. What is over soon says nothing. A thread of its own redraws the line, so that a step
 * that reports nothing for a while is not taken for a program that hangs.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "dray/meter.h"
#include "dray/pool.h"

#include "tool_in.h"

#define QUIET_MS 1000	/* without a terminal: of each phase before its first line */
#define SILENT_MS 400	/* on a terminal without a line; with a tick that is less than a second */
#define LIVE_MS 100	/* between two redraws */
#define SLOW_MS 1000	/* ... on a slow line */
#define TICK_MS 400	/* the thread's */
#define LINE_MS 30000	/* at least this often without a terminal */
#define JSON_MS 500	/* between two lines of JSON */

struct tool_ticker {
	pthread_t thread;
	pthread_cond_t wake;
	bool over;		/* with lock held */
};

/* one lock for all: it guards the progress state, which workers share, and the line on the terminal */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool line_shown;
static int64_t silent_since;	/* the first phase of the run began, or a line was last drawn; 0: neither */

int64_t
tool_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct tool_clock tool_clock = { tool_now_ms, true };

static void
clear_locked(void)
{
	if (line_shown)
		fputs("\r\033[K", stderr);
	line_shown = false;
}

void
tool_live_clear(void)
{
	pthread_mutex_lock(&lock);
	clear_locked();
	pthread_mutex_unlock(&lock);
}

static void
show_locked(struct tool_progress *p, int64_t now, bool whole)
{
	char text[TOOL_PROGRESS_TEXT];

	tool_progress_text(p, now, whole, text);
	if (p->live)
		fprintf(stderr, "\r%s\033[K", text);
	else
		fprintf(stderr, "%s: %s\n", tool_prog, text);
	fflush(stderr);
	line_shown = p->live;
	p->shown = true;
	p->last_ms = silent_since = now;
}

static void
show_json_locked(struct tool_progress *p, int64_t now, const char *state)
{
	char text[TOOL_PROGRESS_JSON];

	fprintf(stderr, "%s\n", tool_progress_json(p, now, state, text));
	fflush(stderr);
	p->last_ms = now;
}

static void
show_if_due(struct tool_progress *p, int64_t now)
{
	int tenth;

	p->percent = tool_progress_share(p);
	tenth = (int)(p->percent / 10);
	tool_rate_add(&p->rate, now, p->done);
	tool_rate_add(&p->speed, now, p->cost);
	if (p->json) {
		if (now - p->last_ms >= JSON_MS)
			show_json_locked(p, now, "runs");
		return;
	}
	if (p->live ? !p->shown && now - silent_since < SILENT_MS : now - p->begin_ms < QUIET_MS)
		return;
	if (p->live ? now - p->last_ms < (p->slow ? SLOW_MS : LIVE_MS) : tenth <= p->last_tenth && now - p->last_ms < LINE_MS)
		return;
	p->last_tenth = tenth > p->last_tenth ? tenth : p->last_tenth;
	show_locked(p, now, false);
}

static void *
tick(void *arg)
{
	struct tool_progress *p = arg;
	struct timespec t;

	pthread_mutex_lock(&lock);
	while (!p->ticker->over) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec += TICK_MS * 1000000L;
		t.tv_sec += t.tv_nsec / 1000000000L;
		t.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&p->ticker->wake, &lock, &t);
		if (!p->ticker->over)
			show_if_due(p, tool_clock.now_ms());
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* without it the line moves when something is reported, and only then */
static void
start_ticker(struct tool_progress *p)
{
	pthread_condattr_t attr;

	if (!p->on || !tool_clock.ticks || (p->ticker = calloc(1, sizeof(*p->ticker))) == NULL)
		return;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->ticker->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (dray_thread_start(&p->ticker->thread, tick, p) == 0)
		return;
	pthread_cond_destroy(&p->ticker->wake);
	free(p->ticker);
	p->ticker = NULL;
}

static void
stop_ticker(struct tool_progress *p)
{
	if (p->ticker == NULL)
		return;
	pthread_mutex_lock(&lock);
	p->ticker->over = true;
	pthread_cond_signal(&p->ticker->wake);
	pthread_mutex_unlock(&lock);
	pthread_join(p->ticker->thread, NULL);
	pthread_cond_destroy(&p->ticker->wake);
	free(p->ticker);
	p->ticker = NULL;
}

/* a terminal that can take a line back; TERM=dumb says that it cannot */
static bool
can_redraw(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) == 1 && (term == NULL || strcmp(term, "dumb") != 0);
}

static bool
is_slow(void)
{
	struct termios t;
	speed_t speed;

	if (tcgetattr(STDERR_FILENO, &t) != 0)
		return false;
	/* 0 hangs up, and is what terminals without a line have */
	speed = cfgetospeed(&t);
	return speed != B0 && speed <= B9600;
}

static void
begin(struct tool_progress *p, const struct tool_common *c, const char *what, uint64_t total, bool paths)
{
	const int64_t now = tool_clock.now_ms();

	pthread_mutex_lock(&lock);
	if (silent_since == 0 || silent_since > now)
		silent_since = now;
	pthread_mutex_unlock(&lock);
	*p = (struct tool_progress){
		.what = what,
		.total = total,
		.paths = paths,
		.on = !c->quiet,
		.json = c->progress != NULL && strcmp(c->progress, "json") == 0,
		.live = can_redraw(),
		.begin_ms = now,
		.last_ms = now,
		.rate = { .begin_ms = now, .at_ms = now },
		.speed = { .begin_ms = now, .at_ms = now },
	};
	if (p->json)
		p->live = false;
	p->slow = p->live && is_slow();
	if (p->on && p->json) {
		pthread_mutex_lock(&lock);
		show_json_locked(p, now, "begins");
		pthread_mutex_unlock(&lock);
	} else if (p->on && c->verbose > 0) {
		tool_live_clear();
		fprintf(stderr, "%s: %s: begins\n", tool_prog, what);
	}
	start_ticker(p);
}

void
tool_progress_begin(struct tool_progress *p, const struct tool_common *c, const char *what, uint64_t total)
{
	begin(p, c, what, total, false);
}

void
tool_progress_begin_paths(struct tool_progress *p, const struct tool_common *c, const char *what, uint64_t total)
{
	begin(p, c, what, total, true);
}

void
tool_progress_at(void *arg, uint64_t done, uint64_t total)
{
	tool_progress_tell(arg, &(struct dray_progress){ .done = done, .total = total });
}

void
tool_progress_tell(void *arg, const struct dray_progress *at)
{
	struct tool_progress *p = arg;

	if (!p->on)
		return;
	pthread_mutex_lock(&lock);
	p->done = at->done > p->done ? at->done : p->done;	/* workers overtake each other between counting and telling */
	p->cost = at->cost > p->cost ? at->cost : p->cost;
	if (at->total != 0)
		p->total = at->total;
	if (at->costs != 0)
		p->costs = at->costs;
	show_if_due(p, tool_clock.now_ms());
	pthread_mutex_unlock(&lock);
}

void
tool_progress_end(struct tool_progress *p, bool whole)
{
	stop_ticker(p);
	pthread_mutex_lock(&lock);
	if (p->on && p->json)
		show_json_locked(p, tool_clock.now_ms(), whole ? "done" : "stopped");
	else if (p->on && p->live)
		clear_locked();
	else if (p->on && whole && p->shown)
		show_locked(p, tool_clock.now_ms(), true);
	p->on = false;
	pthread_mutex_unlock(&lock);
}
