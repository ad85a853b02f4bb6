/*
 * tool.h - what the two commands share: subcommand table, options, the one place that prints an error, progress,
 * exit status. Not part of libdray.
 */
#ifndef DRAY_TOOL_H
#define DRAY_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dray/err.h"
#include "dray/json.h"

/*
 * One option of a subcommand. Kinds: flag (bool), text, number (u64 within [min, max]), size (bytes), list (repeats).
 * An option given twice is an error unless it is a list.
 */
enum tool_kind { TOOL_FLAG, TOOL_TEXT, TOOL_NUMBER, TOOL_SIZE, TOOL_LIST };

struct tool_list { const char **v; size_t n; };	/* start as zero; v belongs to the tool and lives until tool_main ends */

struct tool_opt {
	const char *name;	/* long name without dashes; NULL ends the table */
	char letter;		/* short form or 0 */
	enum tool_kind kind;
	void *out;		/* bool *, const char **, uint64_t *, struct tool_list * */
	uint64_t min, max;
	const char *arg, *help;	/* for --help: "FILE", one line; help NULL: not shown */
};

struct tool_common {		/* understood by every subcommand */
	bool json, quiet, help, exit_detail, allow_test_keys;
	unsigned verbose;
	const char *progress;	/* --progress: NULL or "text", or "json" */
	uint64_t jobs;		/* -j, default: cores */
};

struct tool_cmd {
	const char *name;	/* "apply", "key new"; NULL ends the table */
	const char *args, *brief;	/* "BUNDLE --root DIR", one line */
	const char *examples;	/* shown first by --help */
	int (*run)(int argc, char **argv, const struct tool_cmd *self);	/* exit status */
};

/** tool_main - find the subcommand (two-word ones too), suggest the nearest for an unknown one (2), run it */
int tool_main(const char *prog, const char *about, const struct tool_cmd *cmds, int argc, char **argv);

/**
 * tool_parse - options of one subcommand, common ones included; operands to operand[0..*n)
 * @min_n, @max_n: how many operands; Return: -1 go on; otherwise the exit status (0 after --help, 2 on a mistake,
 * already told).
 */
int tool_parse(int argc, char **argv, const struct tool_cmd *self, struct tool_opt *opts, struct tool_common *common,
    size_t min_n, size_t max_n, const char **operand, size_t *n);

/** tool_error - print "PROG: text" and "PROG: hint: ..." on stderr, with --json {"error":{code,hint,text}} on stdout;
 * Return: the exit status. */
int tool_error(const struct tool_common *c, const char *what, const struct dray_err *e);

/** tool_flush - nothing that was printed is only in memory; Return: 0, or -1 with DRAY_E_IO when stdout failed, now or before */
int tool_flush(struct dray_err *e);

/** tool_json - print a document and a newline on stdout, free it; Return: 0, or 1 when stdout failed */
int tool_json(struct dray_json *v, struct dray_err *e);

/**
 * tool_shell - @word as a shell reads it back: in '' when it holds anything but plain characters
 * @dst: at least TOOL_SHELL_CAP(strlen(word)) bytes
 * A control character becomes "?", it would act on the terminal; the command is for reading then. Return: @dst.
 */
const char *tool_shell(const char *word, char *dst);
#define TOOL_SHELL_CAP(len) ((size_t)(len) * 4 + 3)

/**
 * tool_shell_print - a path, the same way, on @f; one that looks like an option with "./" before it
 * Where memory is short: as dray_quote has it, cut.
 */
void tool_shell_print(FILE *f, const char *path);

/** tool_human - "1.3 GB", "512 bytes" (powers of 1000) */
const char *tool_human(uint64_t bytes, char out[32]);

/*
 * Progress on stderr: one live line on a terminal, redrawn at least twice a second; otherwise a line every 10 % or 30 s.
 * Nothing with -q, nor when it is over soon: on a terminal no more than a second is silent, whatever phases are in it;
 * elsewhere the first second of each. With -v also when it begins. One phase at a time. With --progress=json a line of
 * JSON when a phase begins and ends and at most each half second between.
 */
struct tool_rate { int64_t begin_ms, at_ms; uint64_t done; double per_s; };	/* all of it tool_rate_add's */
struct tool_ticker;
struct dray_progress;	/* dray/meter.h */
struct tool_progress {
	const char *what;
	uint64_t done, total;		/* bytes, or paths; total 0: not known */
	uint64_t cost, costs;		/* of them by weight (dray/meter.h); costs 0: done and total are the measure */
	unsigned percent;		/* told already: it never goes back */
	bool live, on, shown, paths, json;
	bool slow;			/* a live line of few words, once a second: a serial line of 9600 baud or less */
	int last_tenth;
	int64_t last_ms, begin_ms;
	struct tool_rate rate, speed;	/* of done and cost */
	struct tool_ticker *ticker;
};
void tool_progress_begin(struct tool_progress *p, const struct tool_common *c, const char *what, uint64_t total);
/* ... of so many paths */
void tool_progress_begin_paths(struct tool_progress *p, const struct tool_common *c, const char *what, uint64_t total);
/* fits the progress callbacks of libdray, builder and installer; @total 0: as before; thread-safe */
void tool_progress_at(void *p, uint64_t done, uint64_t total);
/* the same with the costs; for per cent and the time left, while bytes are told as well */
void tool_progress_tell(void *p, const struct dray_progress *at);
/* @whole: the phase has done its work, and tells how long it took. Nothing ever tells 100 %: more phases may follow */
void tool_progress_end(struct tool_progress *p, bool whole);

/* SIGINT, SIGTERM, SIGHUP set a flag; SIGPIPE is ignored; SIGXFSZ too */
void tool_signals(void);
int tool_signal_seen(void);	/* the signal or 0 */

/** tool_nearest - the one of @words (NULL-terminated) that @typed was meant to be, NULL if none is near */
const char *tool_nearest(const char *typed, const char *const *words);

/** tool_leaf_of - the last part of such a name, within it; empty when it ends in a slash */
const char *tool_leaf_of(const char *path);

/** tool_folder_of - the folder of a file as a person names it, malloc'ed ("." if there is no slash); NULL: no memory */
char *tool_folder_of(const char *path);

/** tool_now_ms - milliseconds of a clock that only goes forward */
int64_t tool_now_ms(void);

extern const char *tool_prog;	/* "dray" or "dray-install" */

#endif
