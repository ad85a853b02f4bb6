/*
 * runs.h - evidence told to people and scripts: the chain checked record by record, each run in a line, the paths of one.
 * The same in `dray-install status --log` and `dray report`. All of it is text of foreign origin.
 */
#ifndef DRAY_RUNS_H
#define DRAY_RUNS_H

#include "dray/evidence.h"
#include "dray/json.h"
#include "tool/tool.h"

struct tool_runs {
	const struct tool_common *common;
	bool silent;			/* check only */
	struct dray_json *runs;		/* array; with --json */
	struct dray_json *problems;	/* array of texts; owned */
	size_t n, n_problems, lists_away;
	size_t n_unread;		/* of the problems: what could not be read, which may be whole */
	uint64_t next;			/* number that comes next */
	uint8_t prev[32];		/* SHA-256 of the record before it */
	bool prev_bad;			/* that record was told already */
};

/** tool_runs_begin - @o: gets "runs" with --json, or NULL; @silent: nothing is printed */
void tool_runs_begin(struct tool_runs *r, const struct tool_common *c, struct dray_json *o, bool silent);

/* where a record's list lies: @size bytes at @at of an open file; fd -1: it is not here */
struct tool_span { int fd; uint64_t at, size; };

/** tool_runs_add - the next record in ascending order of numbers; what is wrong with it is a problem, not a failure */
DRAY_MUST_CHECK int tool_runs_add(struct tool_runs *r, uint64_t number, const char *text, size_t len,
    const struct tool_span *list, struct dray_err *e);

/** tool_runs_missing - record @number cannot be read: @why; with DRAY_E_IO nothing is known of it */
void tool_runs_missing(struct tool_runs *r, uint64_t number, const struct dray_err *why);

/** tool_runs_say - a record in words, on stdout: its number, its time, what was done */
void tool_runs_say(const struct dray_ev_record *rec);

/** tool_runs_problem - what the caller has found wrong */
void tool_runs_problem(struct tool_runs *r, const char *fmt, ...) DRAY_PRINTF(2, 3);

/**
 * tool_runs_end - hold the chain against the anchor that names its newest record; tell what is wrong
 * @records: number of that record, 0: no anchor knows; @last: its SHA-256
 * @o: gets "intact", "problems", "lists_away" with --json, or NULL
 * Return: 0; -1 with DRAY_E_FORMAT when something is wrong (the first problem), which is no reason to stop; DRAY_E_IO when
 * nothing is, as far as it could be read
 */
DRAY_MUST_CHECK int tool_runs_end(struct tool_runs *r, uint64_t records, const uint8_t last[32], struct dray_json *o,
    struct dray_err *e);
void tool_runs_free(struct tool_runs *r);

/** tool_runs_paths - the rows of one list, which is read whole; printed, or as "paths" in @o with --json */
DRAY_MUST_CHECK int tool_runs_paths(const struct tool_common *c, const struct tool_span *list, struct dray_json *o,
    struct dray_err *e);

#endif
