/*
 * planning.h - what the files that make a plan share: look (facts), decide (per path), links (hard-link groups),
 * order (ops and nodes), facts (the list that stays), planid. Private to them.
 */
#ifndef INST_PLANNING_H
#define INST_PLANNING_H

#include "dray/bundle.h"
#include "dray/path.h"

#include "installer/fstab.h"
#include "installer/plan.h"

#define INST_SOCKET 255u	/* inst_ident.type of a socket, or of anything else a release cannot hold */

/* attributes of an inst_meta */
#define INST_HAS_KNOWN (DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_FLAGS | DRAY_HAS_XATTRS | \
    DRAY_HAS_MTIME)

enum inst_decision {
	INST_D_SAME,		/* nothing to do */
	INST_D_ADD,
	INST_D_UPDATE,		/* same type, another object swapped in */
	INST_D_TYPE,		/* another type swapped in */
	INST_D_REMOVE,
	INST_D_META,		/* attributes set in place */
	INST_D_KEEP,		/* left alone, and a note says why */
	INST_D_CONFLICT,
	INST_D_BLOCKED,
	INST_D_UNREAD,
	INST_D_UNDER,		/* beneath a conflict, which covers it */
};

enum inst_way { INST_WAY_THERE, INST_WAY_MISSING, INST_WAY_NO_DIR };	/* the parent: as dray_walk_parent says */

/* what few paths have; see inst_rare */
struct inst_rare {
	uint8_t sha256[32];	/* of a file whose content is none of those that the index has for its path */
	char *link;		/* symlinks: target, NUL-terminated; owned */
	size_t link_len;
	uint32_t rdev_major, rdev_minor;	/* devices */
	uint8_t *xattrs;	/* as in inst_meta; owned */
	uint32_t n_xattrs, xattrs_len;
	char *foreign;		/* a directory that shall go: first name in it that no release knows; owned */
	char **locals;		/* ... and, when they may go along, all of them as paths, in path order; owned */
	size_t n_locals;
	uint32_t merge;		/* 1 + row of plan->merges; 0: none */
	char *broke;		/* owned: a text of its own, e.g. which file a slim bundle builds on is not here */
};

/* one path that is looked at: facts first, then what is decided. There may be a hundred thousand, so it is kept small */
struct inst_item {
	struct inst_ident id;
	struct inst_rare *rare;	/* owned; NULL: all of it is zero */
	const char *why;	/* CONFLICT, BLOCKED: static text, or rare->broke */
	uint64_t bases;		/* bit mask of bases it matches */
	uint32_t row;		/* of the index */
	uint32_t up;		/* nearest item above it, or DRAY_NONE */
	uint32_t top;		/* the item whose op carries this one along (a directory moved as a whole), or DRAY_NONE */
	uint32_t content;	/* files: row of the index, or DRAY_NONE; see inst_item_sum */
	uint32_t nlink;		/* UINT32_MAX: so many or more */
	uint32_t uid, gid;	/* live attributes, with @has, @mode, the times in @id and rare->xattrs: inst_item_meta */
	uint32_t live_row;
	uint32_t stays_for;
	uint32_t made;		/* order.c: its op before sorting, or DRAY_NONE */
	uint16_t has, mode;
	uint8_t way;
	uint8_t up_site, site;	/* of the directory it lies in, and its own: rows of planning.sites */
	uint8_t up_fflags, fflags;	/* DRAY_FF_* of both */
	uint8_t decision;
	uint8_t note;		/* KEEP: enum inst_note_kind + 1, else 0 */
	bool untouched : 1;	/* the release does not change it; looked at for the sake of others, not looked after */
	bool unreadable : 1;
	bool is_target : 1;	/* type and content are the target's already */
	bool park : 1, edited : 1;	/* a local edit is replaced / keeps its content */
	bool park_inside : 1;	/* something beneath it is a local edit */
	bool stays : 1;		/* a directory that shall go holds something that does not: stays_for, or foreign */
	bool held : 1;		/* a rule keeps it, or something beneath it: not even a strict directory takes that along */
	bool fixed : 1;		/* ... and that cannot be taken along: on another mount, not readable */
	bool asks : 1;		/* CONFLICT: a symlink for a directory, to be decided by --symlink; of a repair: by naming it */
	bool covers : 1;	/* KEEP: a symlink for a directory; nothing beneath it is done */
	bool takes : 1;		/* a directory that goes with all that is local in it, or such a thing itself */
	bool forced : 1;	/* deleted here, made again because something new goes into it */
	bool lost : 1;		/* local attributes are replaced */
	bool outside : 1;	/* the old file has other names */
	bool split : 1;		/* first name of its group on this file system, others lie on another one */
	bool silent : 1;	/* META: another name of the same object has the op */
	bool from_live : 1;
	bool times_only : 1;	/* META: a directory, and only its time differs: the release set another one */
	bool merges : 1;	/* UPDATE: to be merged with what is here, when that can be done */
	bool merged : 1;	/* UPDATE: to a text of plan->merges, no name of a group */
	bool unmerged : 1;	/* CONFLICT: both changed it */
	bool own_attrs : 1;	/* UPDATE: owner, mode and flags set here stay */
	bool follow : 1;	/* its time differs, but by local doing: set along with other changes, never alone */
};

enum { INST_MARK_DECIDED = 1,	/* --symlink names it */
	INST_MARK_WANTED = 2,	/* beneath a directory that comes back: wanted although deleted or not changed */
};

struct inst_decided {		/* one of policy->links */
	uint32_t row;
	char *why;		/* owned: why it cannot be done; NULL */
};

struct inst_planning {
	int root;
	const struct dray_bundle *b;
	const struct dray_desc *desc;
	const struct dray_index *ix;
	const struct inst_plan_opts *o;
	const struct inst_policy *policy;	/* never NULL */
	struct inst_sites *sites;
	bool unlocks;			/* this process may set and clear immutable flags */
	struct inst_fstab fstab;
	struct inst_item *items;	/* in path order */
	size_t n;
	uint32_t *at;			/* per index row: its item, or DRAY_NONE */
	uint8_t *mark;			/* per index row: INST_MARK_*; NULL: none */
	uint16_t *rule;			/* per index row: 1 + number of the rule that decides, 0: none; NULL: there are no rules */
	struct inst_decided *decided;	/* one for each of policy->links; NULL: none */
	uint8_t *sure;			/* per content: plan->live_of was looked at, not taken at the index's word */
	struct inst_output *outputs;	/* outputs.h; NULL: none */
	struct inst_output_ref *output_refs;
	size_t n_outputs, n_output_refs;
	struct inst_plan *plan;
	size_t cap_ops, cap_nodes, cap_notes;
};

/*
 * sites.c - which file system each path lies on. Found while looking, by many threads; settled before anything is decided.
 */
struct inst_sites;
DRAY_MUST_CHECK int inst_sites_new(int rootfd, bool component_walk, struct inst_sites **out, struct dray_err *e);
void inst_sites_free(struct inst_sites *s);
/** inst_sites_find - number of the site @st lies on; @path is an object there, the first one names it. Thread-safe. */
DRAY_MUST_CHECK int inst_sites_find(struct inst_sites *s, const struct dray_stat *st, const char *path, size_t len,
    uint8_t *site, struct dray_err *e);
/** inst_sites_settle - topmost directory, room and kind of each; @any_fs: those that lose files with the power will do */
DRAY_MUST_CHECK int inst_sites_settle(struct inst_sites *s, bool any_fs, struct dray_err *e);
/** inst_sites_refuse - static text: why nothing can be changed there; NULL: it can */
const char *inst_sites_refuse(const struct inst_sites *s, uint8_t site);
uint8_t inst_sites_fflags(const struct inst_sites *s, uint8_t site);	/* DRAY_FF_* that are kept there */
bool inst_sites_overlay(const struct inst_sites *s, uint8_t site);	/* birth times do not stay */
uint64_t inst_sites_max_links(const struct inst_sites *s, uint8_t site);
bool inst_sites_moves_dirs(const struct inst_sites *s, uint8_t site);	/* can directories be renamed? */
/** inst_sites_plan - those that the plan's ops use, numbered densely; op->site is changed to that */
DRAY_MUST_CHECK int inst_sites_plan(const struct inst_sites *s, struct inst_plan *p, struct dray_err *e);

/* look.c */
size_t inst_parent_len(const char *path, size_t len);	/* 0: directly in the root */
DRAY_MUST_CHECK int inst_meta_pick(const struct inst_meta *live, const struct inst_meta *want, struct inst_meta *out,
    struct dray_err *e);
bool inst_state_is(const struct dray_index *ix, const struct dray_state *s, const struct inst_item *it);

/* look_items.c */
DRAY_MUST_CHECK int inst_look_items(struct inst_planning *pl, size_t first, struct dray_err *e);

/* item.c */
void inst_item_init(struct inst_item *it, uint32_t row, bool untouched);
void inst_item_free(struct inst_item *it);
/** inst_rare - to read: never NULL */
const struct inst_rare *inst_rare(const struct inst_item *it);
/** inst_rare_new - to fill: made if there is none; NULL: out of memory, @e tells */
struct inst_rare *inst_rare_new(struct inst_item *it, struct dray_err *e);
/** inst_item_sum - SHA-256 of a live file, 32 bytes; all zero when it could not be read */
const uint8_t *inst_item_sum(const struct dray_index *ix, const struct inst_item *it);
/** inst_item_set_sum - keeps @sum as a row of @en's contents if it is one of them */
DRAY_MUST_CHECK int inst_item_set_sum(const struct dray_index *ix, const struct dray_entry *en, struct inst_item *it,
    const uint8_t sum[32], struct dray_err *e);
/** inst_item_meta - its attributes, a view: xattrs stay the item's */
struct inst_meta inst_item_meta(const struct inst_item *it);
/** inst_item_set_meta - takes @m, whose time must be that of it->id */
DRAY_MUST_CHECK int inst_item_set_meta(struct inst_item *it, struct inst_meta *m, struct dray_err *e);
/** inst_item_broke - a reason of its own, copied */
DRAY_MUST_CHECK int inst_item_broke(struct inst_item *it, const char *text, struct dray_err *e);

/* decide.c */
DRAY_MUST_CHECK int inst_decide(struct inst_planning *pl, struct dray_err *e);
void inst_keep(struct inst_item *it, enum inst_note_kind note);	/* left alone, and why */
/* *same: are the live attributes those of @s? @times: the modification time too */
DRAY_MUST_CHECK int inst_attrs_are(const struct inst_planning *pl, const struct inst_item *it, const struct dray_state *s,
    bool times, bool *same, struct dray_err *e);
/* DRAY_FF_* that the path has afterwards; *known: those that the release speaks of, kept there or not */
uint8_t inst_fflags_after(const struct inst_planning *pl, const struct inst_item *it, uint8_t *known);
/* after an edit was kept: its attributes are set, unless they are right */
DRAY_MUST_CHECK int inst_keep_edit(const struct inst_planning *pl, struct inst_item *it, enum inst_note_kind note,
    struct dray_err *e);
bool inst_has_children(const struct inst_planning *pl, const struct inst_item *it);	/* in the release */

/* rules.c */
DRAY_MUST_CHECK int inst_rules_begin(struct inst_planning *pl, struct dray_err *e);	/* before anything is looked at */
/* what a rule says about the path; the rule, or NULL */
enum dray_action inst_rule(const struct inst_planning *pl, uint32_t row);
const struct dray_rule *inst_rule_of(const struct inst_planning *pl, uint32_t row);
/* shall it be as the release has it, whatever was done here? */
bool inst_wants_strict(const struct inst_planning *pl, uint32_t row);
/* what was decided about it gives way to a rule */
void inst_rules_apply(const struct inst_planning *pl, struct inst_item *it);

/* decide_own.c: a rule keeps what was set here: an object that goes on, alone or with a new content. Not of hard links, whose
 * names share it */
void inst_decide_own(const struct inst_planning *pl, struct inst_item *it);

/* merges.c: what was edited here and is changed by the release; databases of such texts */
DRAY_MUST_CHECK int inst_merges(struct inst_planning *pl, struct dray_err *e);
const struct inst_merge *inst_merge_of(const struct inst_plan *p, const struct inst_item *it);	/* NULL: none */
void inst_merges_let_go(struct inst_plan *p);	/* their texts, when all are staged */

/* databases.c */
/* what the path is built from, as a path of the release; NULL: it is no such database */
const char *inst_database_text(const char *path, size_t len);
void inst_databases(struct inst_planning *pl);

/* bases_here.c */
enum { INST_BASES_MOST = 64 };
/* how many paths of the tree match each base */
void inst_bases_count(const struct inst_planning *pl, size_t of[DRAY_MAX_BASES]);
/* the former contents that the file which is there may have been made from; @tree: as counted */
size_t inst_bases_here(const struct inst_planning *pl, const struct inst_item *it, const size_t tree[DRAY_MAX_BASES],
    uint32_t v[INST_BASES_MOST]);

/* decide_repair.c: the decision of a repair about one path, from its facts */
DRAY_MUST_CHECK int inst_decide_repair(const struct inst_planning *pl, struct inst_item *it, struct dray_err *e);
/* shall it get a file of its own, or one with the names of its group, though its bytes are right? */
bool inst_repair_links(const struct inst_planning *pl, const struct inst_item *it);

bool inst_item_target(const struct inst_planning *pl, const struct inst_item *it, struct dray_state *s);
void inst_conflict(struct inst_item *it, const char *why);

/* decide_dirs.c */
DRAY_MUST_CHECK int inst_decide_dirs(struct inst_planning *pl, struct dray_err *e);

/* symlinks.c */
DRAY_MUST_CHECK int inst_links_begin(struct inst_planning *pl, struct dray_err *e);	/* before anything is looked at */
void inst_links_end(struct inst_planning *pl);
/* does --symlink name it? */
bool inst_link_decided(const struct inst_planning *pl, const struct inst_item *it);
/* a symlink where the release has a directory */
DRAY_MUST_CHECK int inst_link_decide(const struct inst_planning *pl, struct inst_item *it, struct dray_err *e);
/* a directory that lies, by a redirect, at the place of another one of the release, which alone is looked after */
bool inst_link_shadowed(const struct inst_planning *pl, const struct inst_item *it);

/* park.c: fill @locals; a mount among them stands in @broke */
DRAY_MUST_CHECK int inst_park_list(const struct inst_planning *pl, struct inst_item *it, struct dray_err *e);
void inst_park_sort(char **paths, size_t n);
void inst_park_free(char **paths, size_t n);

/* decide_links.c */
DRAY_MUST_CHECK int inst_decide_links(struct inst_planning *pl, struct dray_err *e);

/* nodes.c: @op_of: per item its op, DRAY_NONE: none */
DRAY_MUST_CHECK int inst_nodes(struct inst_planning *pl, const uint32_t *op_of, struct dray_err *e);

/* steps.c */
void inst_steps(struct inst_planning *pl, const uint32_t *op_of);

/* order.c */
DRAY_MUST_CHECK int inst_order(struct inst_planning *pl, struct dray_err *e);

/* plan_live.c */
DRAY_MUST_CHECK int inst_live(struct inst_planning *pl, struct dray_err *e);
/* hash the live files of all contents marked in @needed that are not sure; *changed: some are not there */
/* bytes of the file that lies at an index row now; 0: none is there any more, which staging finds out */
uint64_t inst_live_size(struct inst_planning *pl, uint32_t row);
DRAY_MUST_CHECK int inst_live_prove(struct inst_planning *pl, const uint8_t *needed, bool *changed, struct dray_err *e);
/* nodes whose content the bundle never sends are copied from a live file, which is proved first */
DRAY_MUST_CHECK int inst_live_adopt(struct inst_planning *pl, struct dray_err *e);

/* plan_need.c */
DRAY_MUST_CHECK int inst_need(struct inst_planning *pl, struct dray_err *e);

/* plan_notes.c */
DRAY_MUST_CHECK int inst_notes(struct inst_planning *pl, struct dray_err *e);

/* facts.c */
/* what happens to it, as in the list of paths; 0: nothing does, and nobody chose so either */
char inst_fact_letter(const struct inst_item *it);
DRAY_MUST_CHECK int inst_facts(struct inst_planning *pl, struct dray_err *e);

/* planid.c */
DRAY_MUST_CHECK int inst_plan_id(struct inst_planning *pl, struct dray_err *e);

#endif
