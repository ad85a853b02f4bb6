/*
 * look.h - info, list and verify: the same in both commands. The tool_cmd_* functions go straight into a table of
 * subcommands; the others take an open bundle.
 */
#ifndef DRAY_LOOK_H
#define DRAY_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/bundle.h"
#include "dray/err.h"
#include "dray/frame.h"
#include "dray/index.h"
#include "tool/media.h"
#include "tool/tool.h"

/* what happens to a path, against all bases at once; up to TOOL_TYPE from the smallest to the largest */
enum tool_change {
	TOOL_SAME, TOOL_META, TOOL_CONTENT, TOOL_TYPE, TOOL_MOVED, TOOL_ADDED, TOOL_REMOVED, TOOL_CHANGES
};

/* the letter in front of a path in a list: = m ~ t > + - */
extern const char tool_change_letter[TOOL_CHANGES];
/* for text and JSON: "same", "metadata", "content", "type", "moved", "added", "removed" */
extern const char *const tool_change_name[TOOL_CHANGES];

struct tool_counts {
	size_t entries, by[TOOL_CHANGES];
	size_t files;			/* of the release */
	uint64_t bytes;			/* of their contents, each content once */
	size_t unsized;			/* files among them whose size is unknown, and not in bytes */
	size_t sent;			/* contents that travel */
	uint64_t sent_bytes;		/* their size once unpacked */
	size_t frames;
	uint64_t stored;		/* bytes of all frames in the bundle */
};

/**
 * tool_moves_of - pairs of paths: a file is moved when no base has its path, and a path that the release no longer has
 * held its content (which is not empty) in some base
 * A path is in one pair at most. Paths with the same last part find each other first, then all go in path order.
 * Return: per entry row the row of the other path, or DRAY_NONE; malloc'ed; NULL when memory is out
 */
uint32_t *tool_moves_of(const struct dray_index *ix);

/* tool_move_print - " moved from PATH" of a moved path, " moved to PATH" of the one that is gone, nothing of others */
void tool_move_print(const struct dray_index *ix, const uint32_t *moves, uint32_t row, enum tool_change change);
/* tool_move_json - the same as "moved_from" or "moved_to" */
void tool_move_json(struct dray_json *o, const struct dray_index *ix, const uint32_t *moves, uint32_t row,
    enum tool_change change);

/**
 * tool_change_of - the largest change against any base; without bases every path is added
 * @moves: as tool_moves_of gives them; NULL: a moved path counts as added
 * @row, @en: of the entry
 */
enum tool_change tool_change_of(const struct dray_index *ix, const uint32_t *moves, uint32_t row,
    const struct dray_entry *en);

/** tool_count - all entries and contents; DRAY_E_IO when memory is out */
DRAY_MUST_CHECK int tool_count(const struct dray_index *ix, struct tool_counts *c, struct dray_err *e);

/** tool_counts_print - the paths by what happens to them, as lines of a report on stdout */
void tool_counts_print(const struct tool_counts *c);

/*
 * A machine that has exactly this base. Of a history, where each path has any of its former states: no such machine reads
 * more, and of each content the dearest way to it counts.
 */
struct tool_base_cost {
	size_t contents[DRAY_RECIPE_COPY + 1];	/* by DRAY_RECIPE_* of the recipe it takes */
	uint64_t bytes;			/* stored bytes of the frames it reads */
};

struct tool_costs {
	/* by DRAY_RECIPE_*: contents that have such a recipe; frames of full recipes, and those that only deltas need */
	struct tool_recipe_cost { size_t contents, frames; uint64_t bytes; } recipe[DRAY_RECIPE_COPY + 1];
	struct tool_recipe_cost former;	/* full recipes of what the release does not have: texts to merge with; not in @recipe */
	struct tool_frame_cost { size_t frames; uint64_t bytes; } kind[DRAY_FRAME_ADDCOPY + 1];
	struct tool_frame_cost lzma;	/* those of them that are LZMA2 data */
	uint64_t metadata;		/* all that is no frame: descriptor, slot, index, notes, headers, padding */
	struct tool_base_cost base[DRAY_MAX_BASES];
};

/* @sure: those of @bases in which the path has no other state than files of this content */
typedef void tool_old_fn(void *ctx, uint32_t entry, uint32_t content, uint64_t bases, uint64_t sure);

/** tool_each_old - @fn hears of every content that a path has in bases, once, in path order; Return: 0, -1: no memory */
DRAY_MUST_CHECK int tool_each_old(const struct dray_index *ix, const struct dray_desc *desc, tool_old_fn *fn,
    void *ctx);

struct tool_held {			/* a content, as bases hold it: bit masks */
	uint64_t bases;			/* under any path, at any time */
	uint64_t sure;			/* every machine of the base has it */
};

/** tool_held_of - per content row; malloc'ed, NULL when memory is out */
struct tool_held *tool_held_of(const struct dray_index *ix, const struct dray_desc *desc);

/** tool_recipe_bases - the bases that have all that a recipe builds on; all bits set when it needs none */
uint64_t tool_recipe_bases(const struct dray_index *ix, const struct tool_held *held, uint32_t content,
    const struct dray_recipe *r);

DRAY_MUST_CHECK int tool_cost(const struct dray_index *ix, const struct dray_desc *desc, struct tool_costs *c,
    struct dray_err *e);

/** tool_why - how the bytes of each of @paths are made; printed, or pushed to @list when it is given */
DRAY_MUST_CHECK int tool_why(const struct dray_index *ix, const struct dray_desc *desc, const struct tool_list *paths,
    struct dray_json *list, struct dray_err *e);

struct tool_look {
	const struct tool_common *common;
	const char *name;		/* of the bundle file, as the user gave it */
	const struct dray_volumes *volumes;	/* the bundle is in these, not in fd; NULL: it is one file */
	struct tool_list keyring;	/* empty: signatures are shown and not checked */
	bool keyring_usual;		/* it is the system's, and was not named */
	struct tool_list dirs;		/* where more volumes may lie */
	bool long_list;			/* list: attributes too */
	bool changed_only;		/* list: leave out what stays the same */
	struct tool_list why;		/* list: only these paths, and how their bytes are made */
	const char *upstream;		/* verify: print of the key that upstream signs with; NULL: nobody asks */
};

/* Each prints its result on stdout. Errors as dray_bundle_open and dray_bundle_check give them. */
DRAY_MUST_CHECK int tool_info(int fd, const struct tool_look *o, struct dray_err *e);
DRAY_MUST_CHECK int tool_list_paths(int fd, const struct tool_look *o, struct dray_err *e);
DRAY_MUST_CHECK int tool_verify(int fd, const struct tool_look *o, struct dray_err *e);	/* needs a keyring */

/** tool_keyprint - from 64 hexadecimal digits; DRAY_E_USAGE for what is none */
DRAY_MUST_CHECK int tool_keyprint(const char *text, uint8_t out[32], struct dray_err *e);

/* what dray_fbsd_prove has proven, as lines on stdout or as the key "upstream" */
struct dray_fbsd_proof;
void tool_upstream_print(const struct dray_fbsd_proof *p);
void tool_upstream_json(struct dray_json *o, const struct dray_fbsd_proof *p);

/* whole subcommands: options, opening, error, exit status */
int tool_cmd_info(int argc, char **argv, const struct tool_cmd *self);
int tool_cmd_list(int argc, char **argv, const struct tool_cmd *self);
int tool_cmd_verify(int argc, char **argv, const struct tool_cmd *self);

/* ready rows of the table of subcommands; PROG: "dray", a literal */
#define TOOL_LOOK_CMDS(PROG) \
	{ "info", "BUNDLE [--keyring FILE] [-d DIR]...", "what a bundle says of itself", \
	  PROG " info up.dray\n" PROG " info up.dray --keyring ops.pub --json\n", tool_cmd_info }, \
	{ "list", "BUNDLE [-l] [--changed] [--why PATH]... [-d DIR]...", "the paths in a bundle: = same, m only attributes, " \
	  "~ changed, t another type, > moved, + added, - removed", PROG " list up.dray --changed\n" PROG " list -l up.dray\n" \
	  PROG " list up.dray --why usr/bin/env\n", tool_cmd_list }, \
	{ "verify", "BUNDLE [--keyring FILE] [--upstream KEYPRINT] [-d DIR]...", "check the signatures and every byte", \
	  PROG " verify up.dray --keyring ops.pub\n", tool_cmd_verify }

/** tool_bundle_open - open a bundle file: a regular file or a block device; the caller names it in messages
 * @mode: O_RDONLY or O_RDWR */
DRAY_MUST_CHECK int tool_bundle_open(const char *path, int mode, int *fd, struct dray_err *e);
/** tool_bundle_fd - the same, for reading */
DRAY_MUST_CHECK int tool_bundle_fd(const char *path, int *fd, struct dray_err *e);

/* where a system says whom it trusts */
#define TOOL_KEYRING_FILE "/etc/dray/keyring.json"
#define TOOL_KEYRING_DIR "/etc/dray/keyring.d"
/** tool_keyring_usual - the one of them that is there, or NULL */
const char *tool_keyring_usual(void);

/** tool_look_open - keyring (if any) and bundle; without a keyring the signatures are not checked */
DRAY_MUST_CHECK int tool_look_open(int fd, const struct tool_look *o, struct dray_bundle **b, struct dray_err *e);

/**
 * tool_mark_path - set @mark (a byte per entry row) to @value for a path that a person gave and all beneath it
 * @path: leading "/" and "./" and trailing "/" do not matter; empty: everything
 * @removed: paths that the release has removed count too
 * DRAY_E_USAGE when the bundle has no such path.
 */
DRAY_MUST_CHECK int tool_mark_path(const struct dray_index *ix, const char *path, bool removed, uint8_t value,
    uint8_t *mark, struct dray_err *e);

#define TOOL_EOL_CAP 64

/** tool_eol - "end of life is DATE", or "was" if that is past at @now; a clock that stands in 1970 decides nothing more */
const char *tool_eol(uint64_t eol, int64_t now, char out[TOOL_EOL_CAP]);
bool tool_is_past(uint64_t eol, int64_t now);	/* never of 0: not known */

/** tool_time - "2026-03-01T12:00:00Z" */
const char *tool_time(int64_t sec, char out[40]);

#endif
