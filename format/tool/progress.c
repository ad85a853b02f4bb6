/*
 * progress.c - how far a long run is, on stderr: one live line on a terminal, otherwise a line at every tenth or
 * every 30 seconds. A run that is over in a second says nothing.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tool_in.h"

#define QUIET_MS 1000	/* before the first line */
#define LIVE_MS 100	/* between two redraws */
#define LINE_MS 30000	/* at least this often without a terminal */

/* one lock for all: it guards the progress state, which workers share, and the line on the terminal */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool line_shown;

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

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

void
tool_progress_begin(struct tool_progress *p, const struct tool_common *c, const char *what, uint64_t total)
{
	const int64_t now = now_ms();

	*p = (struct tool_progress){
		.what = what,
		.total = total,
		.on = !c->quiet,
		.live = isatty(STDERR_FILENO) == 1,
		.begin_ms = now,
		.last_ms = now,
	};
}

static unsigned
percent(uint64_t done, uint64_t total)
{
	if (total == 0 || done >= total)
		return 100;
	return total < UINT64_MAX / 100 ? (unsigned)(done * 100 / total) : (unsigned)(done / (total / 100));
}

void
tool_progress_at(void *arg, uint64_t done, uint64_t total)
{
	struct tool_progress *p = arg;
	char a[32], b[32];
	int64_t now;
	unsigned pc;

	if (!p->on)
		return;
	pthread_mutex_lock(&lock);
	now = now_ms();
	if (total != 0)
		p->total = total;
	pc = percent(done, p->total);
	if (now - p->begin_ms >= QUIET_MS && p->live && now - p->last_ms >= LIVE_MS) {
		fprintf(stderr, "\r%s: %u %% (%s of %s)\033[K", p->what, pc, tool_human(done, a),
		    tool_human(p->total, b));
		fflush(stderr);
		line_shown = true;
		p->last_ms = now;
	} else if (now - p->begin_ms >= QUIET_MS && !p->live &&
	    ((int)(pc / 10) > p->last_tenth || now - p->last_ms >= LINE_MS)) {
		fprintf(stderr, "%s: %s: %u %% (%s of %s)\n", tool_prog, p->what, pc, tool_human(done, a),
		    tool_human(p->total, b));
		p->last_tenth = (int)(pc / 10);
		p->last_ms = now;
	}
	pthread_mutex_unlock(&lock);
}

void
tool_progress_end(struct tool_progress *p)
{
	pthread_mutex_lock(&lock);
	if (p->on && p->live)
		clear_locked();
	p->on = false;
	pthread_mutex_unlock(&lock);
}
