/*
 * plan.h - what apply would do here: look at every touched path, decide, order, and give it an id.
 * Reads the tree only; the plan is the contract between plan, stage and commit. Source: spec/apply.md, "Plan".
 */
#ifndef INST_PLAN_H
#define INST_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/bundle.h"
#include "dray/err.h"
#include "dray/evidence.h"
#include "dray/os.h"
#include "dray/trigger.h"

#include "installer/policy.h"
#include "installer/where.h"

/*
 * An object on the target. type DRAY_ABSENT: nothing there. Two objects are the same when all fields are equal; a birth
 * time of 0 is one that is not known (file systems without it, overlayfs where it does not stay) and equals any.
 */
struct inst_ident {
	uint64_t ino;
	int64_t btime_sec, mtime_sec;
	uint64_t size;		/* files and symlinks; 0 for others */
	uint32_t btime_nsec, mtime_nsec;
	uint8_t type;		/* enum dray_type; a socket counts as 255 */
};

/* Attributes of an object, as they are or shall be; `has` as in dray_attrs plus DRAY_HAS_MTIME. */
struct inst_meta {
	int64_t mtime_sec;
	uint32_t mtime_nsec;
	uint32_t mode, uid, gid;
	uint8_t *xattrs;	/* n times: u16 name length, u32 value length, name, value (little-endian); names ascending; owned */
	uint32_t n_xattrs, xattrs_len;
	uint16_t has;
	uint8_t fflags, fflags_known;	/* DRAY_HAS_FLAGS: DRAY_FF_*, and which of them count; set by ops' fflags_after, not by META */
};

#define INST_HAS_PLAIN 0x4000u	/* in `has`: owners, setuid and setgid bits, and xattrs that only root can set are left alone */

enum inst_op_kind { INST_OP_SWAP = 1, INST_OP_META = 2 };

/* order of the swaps: every prefix must boot and run */
enum inst_rank { INST_RANK_ADD = 0, INST_RANK_LIB = 1, INST_RANK_PROG = 2, INST_RANK_REST = 3, INST_RANK_BOOT = 4,
	INST_RANK_REMOVE = 5, INST_RANK_META = 6 };

enum { INST_OP_PARK = 1,	/* the replaced object is a local edit: named, kept by forget */
	INST_OP_SUBTREE = 2,	/* the new side, old side or both are a directory moved as a whole */
	INST_OP_FFLAGS = 4,	/* the object has file flags, before or after: fflags_* are in the journal */
	INST_OP_OUTPUT = 8,	/* a trigger makes or changes it: what is there on the way back is nobody's edit */
	INST_OP_OUTPUT_INSIDE = 16,	/* ... of the new side, something inside; the tree digest leaves it out */
};

struct inst_text { const char *p; size_t len; };

/*
 * A file system of the tree on which something happens. Each has slots of its own, because no rename leaves it: a mount,
 * a subvolume, a bind mount. Number 0 is the root's, where the journal lies too.
 */
enum { INST_SITES_MAX = 250 };
struct inst_site {
	char *path;		/* its topmost directory beneath the root; "" for number 0; owned */
	size_t len;
	uint64_t mnt, dev;	/* what it is told by: statx(2) */
	struct dray_fs fs;
	uint8_t fflags;		/* DRAY_FF_* that it keeps */
	uint64_t need_bytes, need_inodes;	/* rounded to its blocks; journal and ballast included */
	uint64_t names_added;	/* sizes the ballast */
	uint32_t shares;	/* a lower number whose room this one uses too, else its own */
};

/* what a META changes */
struct inst_op_attrs {
	struct inst_meta before, after;
	uint64_t nlink;		/* of a file: links it had when plan looked */
};

/* digests of all inside a directory (tree.h), filled by stage; zero when that side is no directory. They tell whether
 * anybody touched it since: such an object is kept, not freed */
struct inst_op_trees { uint8_t old[32], now[32]; };

/* there may be a hundred thousand of them: what few need hangs on a pointer */
struct inst_op {
	uint8_t kind, rank, flags;
	uint8_t step;		/* 1 and up: the phase of the bundle it belongs to */
	uint8_t site;		/* SWAP: where slot and target lie; META: where the object lies */
	uint8_t fflags_before, fflags_after;	/* DRAY_FF_*: locks cleared before the first swap, all set after the last META */
	uint16_t times;		/* META of a directory: bit N - 1 for each step after which its time has to be set again */
	uint16_t len;		/* of @path */
	const char *path;	/* in the plan's arena or the index; not NUL-terminated */
	uint32_t slot;		/* SWAP: its number, dense from 0 in op order; META: DRAY_NONE */
	uint32_t entry;		/* index row; DRAY_NONE for a directory whose times are only put back */
	uint32_t item;		/* while the plan is made; not in the journal */
	struct inst_ident old;	/* as seen by plan; absent for an addition */
	struct inst_ident now;	/* SWAP: the staged object: plan sets the type (absent for a removal), stage the rest. META: = old */
	union {
		struct inst_op_attrs *attrs;	/* META; owned */
		struct inst_op_trees *trees;	/* SWAP with SUBTREE, else NULL; owned */
	};
};
/** inst_op_copies - is the new side a copy of the old one, for a trigger to work on? */
bool inst_op_copies(const struct inst_op *op);
/** inst_ops_free - the list and what its ops own; @ops may be NULL, whatever @n */
void inst_ops_free(struct inst_op *ops, size_t n);

/* an object that goes along with a directory moved as a whole: looked at again before the commit */
struct inst_inside { const char *path; size_t len; struct inst_ident id; };

/* one object to create in a slot: the slot itself (rel_len 0) or something inside it */
struct inst_node {
	uint32_t op, entry;	/* rows of plan->ops and of the index; the state is the entry's target */
	uint32_t group;		/* one inode: nodes with the same number, 0 none; the first node of a group is the inode */
	uint32_t live;		/* with from_live: index row whose live path holds it; mostly = entry, else another name of the group */
	uint16_t rel;		/* offset in the entry's path of the part below the slot; = path length for the slot itself */
	uint32_t merge, owned;	/* 1 + row of plan->merges that has its text, of plan->owned; 0: none */
	bool from_live;		/* content unchanged: copy it from a live path (hash checked), no frame is read */
};

/* one path of the list that stays, before and after; what the index tells is not kept twice */
struct inst_fact {
	uint32_t row;		/* index */
	uint32_t content;	/* DRAY_FILE before: index row; DRAY_NONE: the next of plan->sums */
	uint32_t merge;		/* 1 + row of plan->merges that it becomes; 0: none */
	uint32_t uid, gid;
	uint16_t mode;
	uint8_t type, has;	/* as in dray_ev_side */
	uint8_t flags;
	char change;
};
struct inst_sum { uint8_t sha256[32]; };

/* what becomes of a file that was edited here and that the release changes */
enum inst_merged {
	INST_MERGED,		/* a new text, of both */
	INST_MERGED_THEIRS,	/* all that was edited here is in the release's */
	INST_MERGED_MINE,	/* nothing of the release is new here */
	INST_MERGED_CONFLICT,
	INST_MERGED_USED,	/* a text that was decided on */
};
/* what the program of a rule says to it */
enum inst_check_result {
	INST_CHECK_NONE,	/* none is asked */
	INST_CHECK_PASSED, INST_CHECK_FAILED,
	INST_CHECK_NO_PROGRAM,	/* it is not there */
	INST_CHECK_NO_CHROOT,	/* the tree is not the running system's, and --allow-chroot was not given */
};
struct inst_merge {
	uint32_t row;			/* index */
	uint32_t base, theirs;		/* content rows; base DRAY_NONE: no former text, or none that the bundle carries */
	enum inst_merged result;
	bool keep;			/* CONFLICT: the text with its markers is wanted */
	uint8_t *text;			/* INST_MERGED, INST_MERGED_USED: what it becomes; owned */
	size_t len;
	uint8_t sha256[32];		/* of @text */
	size_t places;			/* CONFLICT: where both changed it; 0: it cannot be merged at all */
	const char *why;		/* CONFLICT: static text; with @places it may be NULL, and tells of one of them */
	enum inst_check_result check;
	const struct dray_rule *rule;	/* that decides, or NULL; borrowed from the policy */
	bool bundled;			/* the rule is the bundle's own */
};
enum { INST_MERGE_WHY = 160 };
/** inst_merge_why - of a conflict, in words (merges.c) */
const char *inst_merge_why(const struct inst_merge *m, char text[INST_MERGE_WHY]);
struct inst_owned { uint32_t uid, gid; uint16_t mode; };	/* what a new object keeps of the one it replaces */

enum inst_note_kind {	/* told to the user, in the plan id, in --json */
	INST_NOTE_PARKED,	/* local edit replaced, old copy kept */
	INST_NOTE_KEPT_DELETED,	/* deleted here, stays deleted */
	INST_NOTE_KEPT_DIR,	/* removed directory that holds local files: stays */
	INST_NOTE_KEPT_META,	/* content is a local edit, only metadata changes: applied to the edit */
	INST_NOTE_META_LOST,	/* local owner, mode or xattrs differed from every base and are replaced */
	INST_NOTE_OUTSIDE_LINK,	/* other hard links to the old file are not in the release */
	INST_NOTE_CONFLICT,	/* exit 20 */
	INST_NOTE_BLOCKED,	/* exit 22: another mount, socket ... */
	INST_NOTE_UNREADABLE,	/* partial plan: cannot be read without more rights */
	INST_NOTE_KEPT_LOCAL,	/* a local object where neither the old nor the new release has one: stays */
	INST_NOTE_SPLIT_LINK,	/* names of one file on several file systems: one file on each */
	INST_NOTE_LINK_IGNORED,	/* a symlink for a directory: nothing beneath it is changed */
	INST_NOTE_LINK_REDIRECTED,	/* ...: what is beneath it goes where it leads */
	INST_NOTE_NO_SYMLINK,	/* decided by --symlink, but there is none */
	INST_NOTE_IGNORED,	/* a policy says so */
	INST_NOTE_NOT_ADDED,	/* ... and it is not there */
	INST_NOTE_MINE,		/* edited here, and a policy keeps it */
	INST_NOTE_LEFT_OUT,	/* a device, with --no-owner */
	INST_NOTE_NO_FLAGS,	/* file flags that its file system does not keep */
	INST_NOTE_MERGED,	/* edited here and changed by the release: both are in what it becomes */
	INST_NOTE_MERGED_THEIRS,	/* ...: all of the edit is in the release */
	INST_NOTE_MERGED_MINE,	/* ...: nothing of the release is new in it, so it stays */
	INST_NOTE_USED,		/* ...: becomes the text that was decided on */
	INST_NOTE_KEPT_ATTRS,	/* owner, mode or flags set here stay, as a policy says */
	INST_NOTE_OUTPUT,	/* an output of a trigger that cannot be kept for the way back */
	INST_NOTE_KEPT_DB,	/* a database of a local text stays until it is built again */
};
struct inst_note { enum inst_note_kind kind; const char *path; size_t len; char why[160]; };

struct inst_plan {
	const struct dray_index *ix;	/* borrowed from the bundle */
	struct inst_op *ops;		/* in commit order */
	size_t n_ops, n_swaps;		/* swaps come first */
	struct inst_inside *inside;
	size_t n_inside;
	struct inst_node *nodes;	/* in entry order, so a directory comes before what it holds */
	size_t n_nodes;
	struct inst_note *notes;	/* in path order */
	size_t n_notes;
	struct inst_redirect *redirects;	/* where.h */
	size_t n_redirects;
	char **along;			/* local objects inside directories that go into the stash as a whole; owned paths */
	size_t n_along;
	size_t in_step[DRAY_MAX_PHASES];	/* operations of each step */
	size_t frees, keeps;		/* generations that have to be freed to make room, oldest first, and those that stay */
	uint8_t id[32];
	uint8_t policy_id[32];		/* of what was decided beforehand alone */
	const struct dray_desc *desc;	/* borrowed from the bundle */
	bool no_owner;			/* policy.h */
	uint64_t absent;		/* policy.h */
	bool partial;			/* not everything was readable: no id */
	/* counts of touched paths, for the report */
	size_t touched, already, added, updated, removed, type_changed, meta_only, left_alone, parked, conflicts, blocked;
	struct inst_merge *merges;	/* in path order */
	size_t n_merges;
	struct inst_owned *owned;
	size_t n_owned;
	size_t merged, unmerged;	/* of touched paths: updated by a merge or a text decided on; in conflict for want of a merge */
	size_t holding, asking, naming;	/* conflicts that --park, --symlink, a repair of that very path would settle */
	size_t lacking;			/* conflicts because the bundle does not hold the bytes */
	size_t matched[DRAY_MAX_BASES];	/* touched paths that match each base; a path may match several */
	size_t unmatched;
	struct inst_site *sites;
	size_t n_sites;			/* at least 1 */
	uint64_t payload;		/* stored bytes of the frames that will be read */
	uint8_t *decides;		/* one per entry row: 1 = the plan decides about it, else it is only looked at, or not at all */
	uint8_t *frames;		/* one per frame row: 1 = needed */
	uint32_t *live_of;		/* per content row: entry row whose live object holds it, DRAY_NONE: none known */
	uint32_t *recipe_of;		/* per content row: ordinal of the recipe chosen, or INST_RECIPE_* (recipe.h) */
	uint8_t *rules_used;		/* one per rule of the policy: 1 = it decides about a path; NULL without rules */
	char **texts;			/* owned: paths of ops that lie elsewhere */
	size_t n_texts;
	struct inst_fact *facts;	/* every path it changes or leaves alone: what stays as evidence */
	size_t n_facts;
	struct inst_sum *sums;		/* hashes of what was there, for facts whose hash the index does not have */
	size_t n_sums;
	uint64_t list_len;		/* bytes of the list that inst_facts_list makes of them */
	struct inst_text *outputs;	/* of triggers that it calls: those that come back with it; owned, the paths are in @texts */
	size_t n_outputs;
	bool undone[DRAY_MAX_TRIGGERS];	/* all outputs of the trigger do, and it has some */
	uint16_t due[DRAY_MAX_TRIGGERS];	/* triggers of the descriptor whose paths it changes: bit N - 1 for each step N that does */
};

struct dray_progress;	/* meter.h */

struct inst_plan_opts {
	unsigned threads;
	const char *state;		/* path of the state folder beneath the root: left out of everything */
	bool component_walk;		/* tests: no openat2 */
	uint64_t max_links;		/* tests: names of one file; 0: what the file system can */
	const struct inst_policy *policy;	/* NULL: the usual */
	bool conflict_texts;		/* with their markers, in plan->merges */
	const struct inst_installed *installed;	/* what is recorded; NULL: nothing */
	void (*progress)(void *ctx, const struct dray_progress *at);	/* bytes hashed; from several threads */
	int (*stop)(void);	/* nonzero: a signal was seen, stop with DRAY_E_SIGNAL; may be NULL */
	void *ctx;
};

/**
 * inst_plan_make - look at the tree beneath @rootfd and decide
 * Fails only when looking fails (I/O). Conflicts, blocked paths and missing room are in the plan: inst_plan_verdict.
 */
DRAY_MUST_CHECK int inst_plan_make(int rootfd, const struct dray_bundle *b, const struct inst_plan_opts *o,
    struct inst_plan **out, struct dray_err *e);
/** inst_plan_let_go - free what only staging needs (operations, nodes, tables), once the plan is written; counts, notes,
 * sites stay */
void inst_plan_let_go(struct inst_plan *p);
void inst_plan_free(struct inst_plan *p);
/** inst_ballast - bytes kept free on a file system for directories that grow during the switch */
uint64_t inst_ballast(uint64_t names_added);
/** inst_site_short - does the site, with all that share its room, lack bytes or inodes? *bytes, *inodes: what they need */
bool inst_site_short(const struct inst_plan *p, size_t site, uint64_t *bytes, uint64_t *inodes);

/** inst_merge_json - one of p->merges as an object of a document (merges.c) */
struct dray_json;
void inst_merge_json(struct dray_json *o, const struct inst_plan *p, const struct inst_merge *m);

/** inst_plan_verdict - 0, or the refusal: 20, 21, 22, all reasons counted, the first ones named */
DRAY_MUST_CHECK int inst_plan_verdict(const struct inst_plan *p, struct dray_err *e);

/** inst_facts_list - the list of paths that stays; dray_ev_free */
DRAY_MUST_CHECK int inst_facts_list(const struct inst_plan *p, struct dray_ev_writer *w, struct dray_err *e);

/* recheck.c */
/** inst_plan_recheck - right before commit: is every op's old identity still there? DRAY_E_DRIFT names the first. */
DRAY_MUST_CHECK int inst_plan_recheck(int rootfd, const struct inst_plan *p, unsigned threads, struct dray_err *e);
/** inst_ops_recheck - the same of those ops whose step is in (@after, @upto], with what directories that go hold */
DRAY_MUST_CHECK int inst_ops_recheck(int rootfd, const struct inst_op *ops, size_t n, uint8_t after, uint8_t upto,
    unsigned threads, struct dray_err *e);

/** inst_policy_id - of what is decided beforehand about a bundle with these components (planid.c) */
DRAY_MUST_CHECK int inst_policy_id(const struct inst_policy *p, const struct dray_desc *d, uint8_t id[32],
    struct dray_err *e);

static inline bool
inst_is_device(uint8_t type)
{
	return type == DRAY_CHARDEV || type == DRAY_BLOCKDEV;
}

/* look.c: shared with commit, check and rollback */
void inst_ident_from(const struct dray_stat *st, struct inst_ident *id);
bool inst_ident_same(const struct inst_ident *a, const struct inst_ident *b);
/** inst_ident_object - the same object, whatever was done to it since: type, inode, birth time */
bool inst_ident_object(const struct inst_ident *a, const struct inst_ident *b);
/** inst_look - identity of @path; absent when it or a directory above it does not exist or is no directory */
struct dray_walk;
DRAY_MUST_CHECK int inst_look(struct dray_walk *w, const char *path, size_t len, struct inst_ident *id,
    struct dray_stat *st, struct dray_err *e);
/** inst_meta_of_state - the attributes a release state asks for; owned xattrs */
DRAY_MUST_CHECK int inst_meta_of_state(const struct dray_index *ix, const struct dray_state *s, struct inst_meta *m,
    struct dray_err *e);
/** inst_meta_read - attributes of a live object: those in @has. @fd: open file or directory, -1 for other types (no xattrs then) */
DRAY_MUST_CHECK int inst_meta_read(int fd, const struct dray_stat *st, uint16_t has, struct inst_meta *m,
    struct dray_err *e);
/** inst_meta_managed - without extended attributes that no release manages */
void inst_meta_managed(struct inst_meta *m);
/** inst_meta_plain - without owner and what only root can set (--no-owner) */
void inst_meta_plain(struct inst_meta *m);
bool inst_meta_same(const struct inst_meta *want, const struct inst_meta *have);	/* what @want holds */
void inst_meta_free(struct inst_meta *m);

#endif
