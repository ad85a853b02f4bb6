/*
 * tool_in.h - what the files of format/tool share among themselves.
 */
#ifndef TOOL_IN_H
#define TOOL_IN_H

#include "tool.h"

/* has tool_error printed something since tool_main began? */
extern bool tool_error_told;

/** tool_usage - tell a mistake of usage; Return: 2 */
int tool_usage(const struct tool_common *c, const char *hint, const char *fmt, ...) DRAY_PRINTF(3, 4);

/** tool_wrap_text - print @text on stdout in lines of at most 76 columns, each @indent blanks in; begins at column @at */
void tool_wrap_text(const char *text, unsigned indent, unsigned at);

/** tool_help - the page of one subcommand on stdout */
void tool_help(const struct tool_cmd *cmd, const struct tool_opt *opts);

/** tool_lists_free - the arrays behind TOOL_LIST options */
void tool_lists_free(void);

/** tool_live_clear - take the live progress line away before other words go to stderr */
void tool_live_clear(void);

/* --- the inside of progress: without clock, lock and terminal ----------------------------------------------------- */

/* a test puts its own here; ticks: a thread redraws the line */
struct tool_clock { int64_t (*now_ms)(void); bool ticks; };
extern struct tool_clock tool_clock;

#define TOOL_PROGRESS_TEXT 160
#define TOOL_PROGRESS_JSON 320

/**
 * tool_rate_add - @done bytes are done at @now_ms
 * @r: begin_ms and at_ms are the begin of the phase, all else 0
 * The mean of all so far in the first ten seconds, later mostly that of the last ten.
 */
void tool_rate_add(struct tool_rate *r, int64_t now_ms, uint64_t done);

/** tool_seconds - "48 s", "12 min", "3 h 5 min"; begun seconds count */
const char *tool_seconds(int64_t ms, char out[32]);

/** tool_progress_percent - at most 99: the work is not over when its last byte was read */
unsigned tool_progress_percent(uint64_t done, uint64_t total);

/** tool_progress_share - per cent of @p: of the costs where they are known; not less than was told */
unsigned tool_progress_share(const struct tool_progress *p);

/** tool_progress_json - the same as one JSON object; @state: "begins", "runs", "done" or "stopped" */
const char *tool_progress_json(const struct tool_progress *p, int64_t now_ms, const char *state, char out[TOOL_PROGRESS_JSON]);

/** tool_progress_text - the line, without program, end and cursor movements. @whole: the phase is over */
const char *tool_progress_text(const struct tool_progress *p, int64_t now_ms, bool whole, char out[TOOL_PROGRESS_TEXT]);

#endif
