/*
 * state.h - the state folder: lock, anchor, transactions. Source: spec/apply.md, "Places".
 *
 *   lock             flock(2): one run at a time
 *   anchor.json      floor per product, what is installed; deleting it = trust anew
 *   release/ID.head  head of the installed bundle (descriptor, index), for check
 *   evidence/        what every run did, as a chain of records
 *   decisions/       what was decided about conflicts
 *   triggers.json    triggers that wait for being run (due.h)
 *   dray-install     copy of the program that made the last commit, for recovery
 *   tx/NNNNNN/       one transaction: plan, log, slots 00..3f/N, manifest, head, ballast
 */
#ifndef INST_STATE_H
#define INST_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "dray/bundle.h"
#include "dray/err.h"

struct inst_run;	/* evidence.h */
struct inst_listener;	/* work.h */

struct inst_state {
	int root;		/* handle of the root directory; owned */
	int dir;		/* handle of the state folder; -1 when it does not exist and need not */
	int lock;		/* -1: not held */
	char rel[4096];		/* its path beneath the root, no leading '/' */
	bool is_default;
	bool no_sync;		/* a throw-away tree: nothing is flushed */
	const char *root_path;	/* for messages; borrowed */
	struct inst_run *run;	/* the run this is, for its evidence; borrowed; NULL: unknown */
	const struct inst_listener *listener;	/* hears how far long work is; borrowed; NULL: nobody */
};

/**
 * inst_state_open - open root and state folder
 * @state: path beneath the root (a leading '/' is dropped) or NULL for os_state_dir()
 * @write: create what is missing (0700) and take the lock (DRAY_E_BUSY with the owner's pid); else read-only, no lock
 * Refused with DRAY_E_SYSTEM: a symlink or foreign owner on the way, group or world writable, another mount than the
 * root's, ROOT/.dray-pending that names another place.
 */
DRAY_MUST_CHECK int inst_state_open(const char *root, const char *state, bool write, struct inst_state *s,
    struct dray_err *e);
void inst_state_close(struct inst_state *s);

/**
 * inst_private_dir - open @name in @parent, a folder of ours: 0700, owned by the caller, no symlink, not in a directory
 * that everybody may change; else DRAY_E_SYSTEM. @make: create it, the time of @parent put back. 1: it does not exist.
 */
DRAY_MUST_CHECK int inst_private_dir(int parent, const char *name, bool make, int *fd, struct dray_err *e);

/** inst_restore_time - put the modification time of an open directory back to what it was */
struct dray_stat;
DRAY_MUST_CHECK int inst_restore_time(int fd, const struct dray_stat *was, struct dray_err *e);
/** inst_make_dir - a directory, unless the name is taken; the time of @parent stays as it was */
DRAY_MUST_CHECK int inst_make_dir(int parent, const char *name, unsigned mode, struct dray_err *e);

struct inst_installed {		/* what the anchor says of the tree */
	bool known;
	char product[65], version[65];
	uint64_t counter;
	uint8_t id[32];		/* bundle id */
	uint8_t release[32];	/* release.h; all zero: not known */
	bool no_owner;		/* installed with --no-owner, so compared without owners too */
	size_t n_components;	/* 0: the bundle had one only, or it is not known */
	struct { char name[65]; bool present; } components[DRAY_MAX_COMPONENTS];
};

struct inst_floor {		/* the highest counter that a product had here, and which release that was */
	char product[65];
	uint64_t counter;
	uint8_t release[32];	/* all zero: not known */
};

struct inst_anchor {
	bool lost;		/* upgrades were made here, but the file is gone */
	struct inst_installed installed;
	uint64_t records;	/* of the evidence; 0: none is known */
	uint8_t last[32];	/* SHA-256 of the newest */
	size_t n_floors;
	struct inst_floor floors[64];
};

DRAY_MUST_CHECK int inst_anchor_load(const struct inst_state *s, struct inst_anchor *a, struct dray_err *e);
DRAY_MUST_CHECK int inst_anchor_save(const struct inst_state *s, const struct inst_anchor *a, struct dray_err *e);
/** inst_anchor_json - its document into the empty object @doc */
struct dray_json;
void inst_anchor_json(const struct inst_anchor *a, struct dray_json *doc);
/** inst_installed_of - what the anchor will say once @b is installed */
void inst_installed_of(const struct dray_bundle *b, struct inst_installed *in);
/** inst_installed_json - as an object "key"; nothing when it is not known */
void inst_installed_json(struct dray_json *o, const char *key, const struct inst_installed *in);
/** inst_anchor_floor - NULL: none */
const struct inst_floor *inst_anchor_floor(const struct inst_anchor *a, const char *product);
/** inst_anchor_raise - to what is installed now; never lowers; fails when too many products are recorded */
DRAY_MUST_CHECK int inst_anchor_raise(struct inst_anchor *a, const struct inst_installed *now, struct dray_err *e);

/** inst_head_open - the stored head of an installed bundle as a bundle without blocks; its id is the trust */
DRAY_MUST_CHECK int inst_head_open(const struct inst_state *s, const uint8_t id[32], int *fd,
    struct dray_bundle **b, struct dray_err *e);

/**
 * inst_state_mark - before barrier A and after the end, when the state is not at its default place: ROOT/.dray-pending
 * names it while @on. The root directory's own times are put back. No-op at the default place.
 */
DRAY_MUST_CHECK int inst_state_mark(const struct inst_state *s, bool on, struct dray_err *e);

/** inst_state_keep_self - copy the running program beside the journal (state/dray-install) unless it is there already */
DRAY_MUST_CHECK int inst_state_keep_self(const struct inst_state *s, struct dray_err *e);

#endif
