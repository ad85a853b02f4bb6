/*
 * check.h - is the tree what the release says? What was found, path by path, and what of it counts.
 * Source: spec/cli.md, "check".
 */
#ifndef INST_CHECK_H
#define INST_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/descriptor.h"
#include "dray/err.h"
#include "dray/index.h"

/* ways in which an entry can differ; inst_diff_name has the words */
enum inst_diff {
	INST_DIFF_MISSING, INST_DIFF_TYPE, INST_DIFF_CONTENT, INST_DIFF_OWNER, INST_DIFF_MODE, INST_DIFF_XATTRS,
	INST_DIFF_FLAGS, INST_DIFF_MTIME, INST_DIFF_LINKS,
	INST_DIFF_EXTRA,	/* the release removed it, and it is here as it once was */
	INST_DIFF_READ,		/* the disk does not give it back */
	INST_DIFFS
};
#define INST_DIFF_BIT(d) ((uint16_t)(1u << (d)))
#define INST_CHECK_DIR_TIME 0x2000u	/* time of a directory, where that does not count: whatever is made in it moves it */
#define INST_CHECK_UNREAD 0x4000u	/* could not be looked at by this user: not compared, or not all of it */
#define INST_CHECK_BENEATH 0x8000u	/* missing because a directory above it is missing or something else */
#define INST_CHECK_STATE (INST_CHECK_DIR_TIME | INST_CHECK_UNREAD | INST_CHECK_BENEATH)	/* no differences by themselves */

extern const char *const inst_diff_name[INST_DIFFS];

/* why a difference is no damage */
enum inst_local {
	INST_LOCAL_NO,
	INST_LOCAL_CONFIG,	/* a file that people edit */
	INST_LOCAL_DELETED,	/* deleted before an upgrade, which left it so */
	INST_LOCAL_EDITED,	/* edited before an upgrade, which kept its content */
	INST_LOCAL_SYMLINK,	/* a symlink for a directory, decided about with --symlink */
	INST_LOCAL_POLICY,	/* a policy kept it or left it alone */
	INST_LOCAL_ABSENT,	/* of a component that this tree does not have */
	INST_LOCAL_ATTRS,	/* owner, mode and flags set before an upgrade, which kept them by a policy */
	INST_LOCAL_OWN,		/* ... and edited, or a file that people edit */
	INST_LOCAL_MADE,	/* made on this machine, by a trigger that the bundle declares */
};

struct dray_progress;	/* meter.h */

struct inst_check_opts {
	unsigned threads;
	bool quick;		/* no file is opened: size for content; no extended attributes */
	bool no_owner;		/* policy.h: neither owners nor devices were asked for */
	bool strict;		/* local decisions and times of directories count too */
	bool components;	/* a choice of components is recorded: those in @absent, bits of the descriptor's, are not here */
	uint64_t absent;
	const uint8_t *kept;	/* per entry row: enum inst_local of what upgrades left alone; NULL: nothing */
	void (*progress)(void *ctx, const struct dray_progress *at);	/* bytes hashed; from several threads */
	void *ctx;
	int (*stop)(void);	/* nonzero: a signal was seen, stop with DRAY_E_SIGNAL; may be NULL */
};

struct inst_check {
	uint16_t *diffs;	/* per entry row: INST_DIFF_BIT and INST_CHECK_* */
	uint8_t *why;		/* per entry row: enum inst_local */
	uint32_t rows;
	bool strict;
	size_t entries;		/* of the release, those of absent components left out */
	size_t differ, local, unread;	/* rows: damaged; different by local decision alone; not or not wholly compared */
	size_t of[INST_DIFFS];	/* rows damaged in this way */
	uint64_t absent;	/* bit mask of components that are not here */
	size_t unsized;		/* with quick: files of which the release tells no size, so that their bytes were not compared */
	uint64_t bytes;		/* hashed */
};

/**
 * inst_check_tree - every entry against the tree beneath @rootfd, in parallel; differences are a result, not a failure
 * What it holds in memory is a few bytes for each entry, and 64 for each name of a file with several names.
 */
DRAY_MUST_CHECK int inst_check_tree(int rootfd, const struct dray_index *ix, const struct dray_desc *desc,
    const struct inst_check_opts *o, struct inst_check *out, struct dray_err *e);
void inst_check_free(struct inst_check *c);

/** inst_check_damage, inst_check_decided - bits of a row that count, and those that a local decision explains */
uint16_t inst_check_damage(const struct inst_check *c, uint32_t row);
uint16_t inst_check_decided(const struct inst_check *c, uint32_t row);

/** inst_check_beneath - how many paths beneath a row are missing for its sake */
size_t inst_check_beneath(const struct inst_check *c, const struct dray_index *ix, uint32_t row);

/**
 * inst_check_foreign - call @fn for what lies in the release's directories and is no part of it, in path order
 * Of a directory only its own name. What lies on other mounts, in @state or in dray's own places is left out, and so
 * is what this user cannot list.
 */
typedef int inst_foreign_fn(void *ctx, const char *path, size_t len, bool dir, struct dray_err *e);
DRAY_MUST_CHECK int inst_check_foreign(int rootfd, const struct dray_index *ix, const struct inst_check *c,
    const char *state, inst_foreign_fn *fn, void *ctx, struct dray_err *e);

#endif
