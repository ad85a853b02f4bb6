/*
 * cmd.h - what the subcommands of dray-install share. Not used outside cmd_*.c, front.c, report.c, check.c, main.c.
 */
#ifndef INST_CMD_H
#define INST_CMD_H

#include "tool/media.h"
#include "tool/tool.h"

#include "installer/commit.h"
#include "installer/evidence.h"
#include "installer/work.h"

/* a component that no record tells of: of the paths that a base has of it, how many are here; counted up to more than half */
struct inst_counted { uint32_t here, of; };

enum inst_hook_point {
	INST_HOOK_BEFORE_PLAN, INST_HOOK_BEFORE_COMMIT, INST_HOOK_AFTER_COMMIT, INST_HOOK_AFTER_ROLLBACK, INST_HOOK_POINTS
};

struct inst_site_hooks {	/* all of it hooksd.c's */
	const char *dir;	/* --hooks, or NULL */
	bool none;		/* --no-hooks */
	struct dray_err unusable;	/* resume: why there are none, though they are there */
	bool refused;		/* one of them did, and why it failed is told */
	bool begun;		/* before-commit was reached, and nothing is told of the end yet */
	struct inst_hook_file { enum inst_hook_point at; char *path; } *v;	/* as they run */
	size_t n;
	struct dray_json *recorded, *told;	/* those that ran; @recorded: up to the switch. NULL: none */
	size_t bad;		/* behind the switch */
	struct dray_err why;	/* of the first of them */
};

/* options and open things of one run */
struct inst_front {
	struct tool_common common;
	const char *root, *state;	/* as given; state may be NULL */
	struct tool_list keyring;
	struct inst_policy policy;	/* plan, apply */
	const char *profile, *policy_file;	/* ... and what it is read from: --profile, --policy */
	bool conflict_texts;		/* conflicts: what cannot be merged is wanted with markers */
	bool decided;			/* plan, apply: decisions of the state count, and are not read yet */
	struct tool_list symlinks;
	bool no_owner, owner;		/* --no-owner, --owner; policy.no_owner is what comes of them and of the record */
	const char *components, *without;	/* --components, --without; policy.absent and fresh come of them and of the record */
	struct inst_counted counted[DRAY_MAX_COMPONENTS];	/* of 0: not counted */
	const char *phase;		/* --phase, or NULL */
	uint8_t step;			/* ... as a step; INST_STEP_ALL */
	uint64_t allow_downgrade;	/* the one counter that may be older; 0: none */
	const char *bundle;		/* path as given; NULL: none */
	const char *const *paths;	/* repair: those named, as given; borrowed */
	size_t n_paths;
	struct inst_state st;
	struct inst_listener listener;	/* of @st: the progress below */
	struct tool_progress work;
	struct inst_anchor anchor;
	struct dray_keyring *keys;
	struct dray_bundle *b;
	struct inst_run run;
	struct tool_media media;
	struct tool_list dirs;		/* --dir */
	bool allow_chroot;		/* programs of a tree that is not the running system's may be run in it */
	struct inst_site_hooks hooks;
	bool no_triggers;		/* what has to be run waits */
	bool listing;			/* stdout is a list for other programs: words go to stderr */
	bool told;			/* the failure is in the JSON document that was printed already */
};

/* command.c */
/** inst_command - "dray-install VERB BUNDLE --root R --state S --keyring K", quoted for a shell; malloc'ed, NULL: no memory */
char *inst_command(const struct inst_front *f, const char *verb, const char *more);
/** inst_command_of - what a trigger runs, "chroot ROOT PROGRAM ARG..."; quoted for a shell; malloc'ed, NULL: no memory */
char *inst_command_of(const struct inst_front *f, const struct dray_json *trigger);
/** inst_say_command - "LABEL: command", as inst_say */
void inst_say_command(const struct inst_front *f, const char *label, const char *verb, const char *more);

/* front.c */
void inst_front_init(struct inst_front *f, const char *verb);
void inst_front_close(struct inst_front *f);
/** inst_front_bundle - keyring (the running system's unless named), bundle, signature, index */
DRAY_MUST_CHECK int inst_front_bundle(struct inst_front *f, struct dray_err *e);
/** inst_front_state - root, state folder, anchor; @write: for a run that changes something */
DRAY_MUST_CHECK int inst_front_state(struct inst_front *f, bool write, struct dray_err *e);
/** inst_front_look - read-only; when the state folder is root's and we are not, do without it and say so */
DRAY_MUST_CHECK int inst_front_look(struct inst_front *f, struct dray_err *e);
/** inst_front_existing - for writing, but only if there is one: a tree that never had an upgrade gets no state folder */
DRAY_MUST_CHECK int inst_front_existing(struct inst_front *f, bool *there, struct dray_err *e);
/** inst_pending_text - what an interrupted run left, in words; NULL: nothing that matters */
const char *inst_pending_text(enum inst_pending what);
/** inst_front_idle - an unfinished run comes first: what is planned now would not be what is there afterwards. 22 */
DRAY_MUST_CHECK int inst_front_idle(const struct inst_front *f, struct dray_err *e);
DRAY_MUST_CHECK int inst_front_plan(struct inst_front *f, struct inst_plan **p, struct dray_err *e);
/** inst_front_rights - without root rights: does the plan need what this user cannot do? 22 */
DRAY_MUST_CHECK int inst_front_rights(const struct inst_front *f, const struct inst_plan *p, struct dray_err *e);
/** inst_print_paths - paths under a heading, the first ten unless -v */
void inst_print_paths(const struct inst_front *f, const char *heading, const struct inst_foreign *list);
/** inst_say - one line of narration: stdout, or stderr with --json or @listing; nothing with -q */
void inst_say(const struct inst_front *f, const char *fmt, ...) DRAY_PRINTF(2, 3);

/** inst_json_error - the same object that tool_error prints, inside a document that has more to say */
void inst_json_error(struct inst_front *f, struct dray_json *o, const struct dray_err *e);
/** inst_front_error - tool_error, once. Return: the exit status */
int inst_front_error(const struct inst_front *f, const struct dray_err *e);

/**
 * inst_front_record - a run that had begun to write has failed: that is recorded; where it cannot be, that is said
 * @tx: what it worked on, or NULL
 */
void inst_front_record(const struct inst_front *f, const struct inst_tx *tx, const struct dray_err *e);
/** inst_say_torn - before the end of a run that wrote: the evidence was not what it should have been */
void inst_say_torn(const struct inst_front *f);

/* options every subcommand with a root has; the table ends after them */
#define INST_OPTS_ROOT(f) \
	{ .name = "root", .kind = TOOL_TEXT, .out = &(f).root, .arg = "DIR", .help = "the tree to work on (default: /)" }, \
	{ .name = "state", .kind = TOOL_TEXT, .out = &(f).state, .arg = "DIR", \
	    .help = "state folder beneath the root" }
#define INST_OPTS_TRIGGERS(f) \
	{ .name = "hooks", .kind = TOOL_TEXT, .out = &(f).hooks.dir, .arg = "DIR", \
	    .help = "the site's own programs (default: /etc/dray/hooks.d)" }, \
	{ .name = "no-hooks", .kind = TOOL_FLAG, .out = &(f).hooks.none, .help = "run none of them" }, \
	{ .name = "allow-chroot", .kind = TOOL_FLAG, .out = &(f).allow_chroot, \
	    .help = "with --root: programs of that tree may be run, as root, in a chroot" }, \
	{ .name = "no-triggers", .kind = TOOL_FLAG, .out = &(f).no_triggers, \
	    .help = "run no triggers: those that are called wait" }
#define INST_OPT_KEYRING(f) \
	{ .name = "keyring", .kind = TOOL_LIST, .out = &(f).keyring, .arg = "FILE", \
	    .help = "trusted keys; repeats (default: /etc/dray/keyring.json or /etc/dray/keyring.d)" }

/* fit.c */
/** inst_front_fits - is the bundle for this system, and not older than what it had? 22, 23 */
DRAY_MUST_CHECK int inst_front_fits(const struct inst_front *f, struct dray_err *e);
/** inst_front_floor - the same without a record: a base that is newer than the bundle and that the tree matches */
DRAY_MUST_CHECK int inst_front_floor(const struct inst_front *f, const struct inst_plan *p, struct dray_err *e);

/* phase.c */
/** inst_phase_read - f->phase to f->step; the bundle is open. DRAY_E_USAGE names its phases */
DRAY_MUST_CHECK int inst_phase_read(struct inst_front *f, struct dray_err *e);
/** inst_phase_in_order - does f->phase come next after @done, as far as these ops go? 22 */
DRAY_MUST_CHECK int inst_phase_in_order(const struct inst_front *f, const struct inst_op *ops, size_t n, uint8_t done,
    struct dray_err *e);
/** inst_phase_refuse - something else than going on or back, between two phases: 22 */
int inst_phase_refuse(const struct inst_front *f, const struct inst_tx *tx, struct dray_err *e);
/** inst_phase_say, inst_phase_json - which phases are done, which are to come */
void inst_phase_say(const struct inst_front *f, const struct inst_tx *tx);
void inst_phase_json(const struct inst_tx *tx, struct dray_json *o);

/* policy.c */
/** inst_policy_read - what plan and apply let the operator decide beforehand, from the options; DRAY_E_USAGE */
DRAY_MUST_CHECK int inst_policy_read(struct inst_front *f, struct dray_err *e);
/** inst_policy_settle - with what the last upgrade recorded; the state is open. @changes: for a plan, not just to look */
DRAY_MUST_CHECK int inst_policy_settle(struct inst_front *f, bool changes, struct dray_err *e);
/** inst_is_running_system - is the root /, by whatever name it was given? */
bool inst_is_running_system(const struct inst_front *f);
/* components.c */
/**
 * inst_components_settle - which components of the bundle this tree lacks: policy.absent and policy.fresh
 * By the options, else the record, else by what is there. DRAY_E_USAGE names those that there are.
 */
DRAY_MUST_CHECK int inst_components_settle(struct inst_front *f, struct dray_err *e);
/** inst_components_absent - the bundle's components that are recorded as absent; *recorded: is there a record of any? */
uint64_t inst_components_absent(const struct dray_desc *d, const struct inst_installed *in, bool *recorded);
/** inst_components_record - the choice, for the record; nothing where the bundle has one component only */
void inst_components_record(const struct dray_desc *d, uint64_t absent, struct inst_installed *to);
#define INST_OPTS_OWNER(f) \
	{ .name = "no-owner", .kind = TOOL_FLAG, .out = &(f).no_owner, \
	    .help = "leave owners, setuid, devices and what only root can set alone; recorded" }, \
	{ .name = "owner", .kind = TOOL_FLAG, .out = &(f).owner, .help = "not any more, although it is recorded" }
#define INST_OPTS_POLICY(f) \
	{ .name = "components", .kind = TOOL_TEXT, .out = &(f).components, .arg = "A,B", \
	    .help = "the tree has these components of the bundle and no others; recorded" }, \
	{ .name = "without", .kind = TOOL_TEXT, .out = &(f).without, .arg = "A,B", \
	    .help = "the tree lacks these components: nothing of them is touched; recorded" }, \
	{ .name = "phase", .kind = TOOL_TEXT, .out = &(f).phase, .arg = "NAME", \
	    .help = "switch only this phase of the bundle; the next apply goes on" }, \
	INST_OPTS_OWNER(f), \
	{ .name = "allow-downgrade", .kind = TOOL_NUMBER, .out = &(f).allow_downgrade, .min = 1, .max = INT64_MAX, \
	    .arg = "N", .help = "accept this bundle, whose release counter is N, although it is older" }, \
	{ .name = "profile", .kind = TOOL_TEXT, .out = &(f).profile, .arg = "NAME", \
	    .help = "preserve (default): local edits as told there; strict: the tree equals the release" }, \
	{ .name = "policy", .kind = TOOL_TEXT, .out = &(f).policy_file, .arg = "FILE", \
	    .help = "what this site has decided about paths: a file of rules" }, \
	{ .name = "symlink", .kind = TOOL_LIST, .out = &(f).symlinks, .arg = "PATH=HOW", \
	    .help = "a directory that is a symlink here: ignore, restore or redirect; repeats" }, \
	{ .name = "park", .kind = TOOL_FLAG, .out = &(f).policy.park, \
	    .help = "local files in a directory that has to give way go into the stash" }, \
	{ .name = "no-sync", .kind = TOOL_FLAG, .out = &(f).policy.no_sync, \
	    .help = "flush nothing: only for a tree that may be lost" }

/* report.c */
const char *inst_note_name(enum inst_note_kind kind);
void inst_report_text(const struct inst_front *f, const struct inst_plan *p);
/** inst_report_counts - the numbers of paths, into the empty object @c */
void inst_report_counts(const struct inst_plan *p, struct dray_json *c);
void inst_report_json(const struct inst_front *f, const struct inst_plan *p, struct dray_json *o);
/** inst_report_notes - what was left alone, parked or refused, and why */
void inst_report_notes(const struct inst_front *f, const struct inst_plan *p);

/* run_due.c: triggers that wait are run */
struct inst_run_due {
	const char *const *ids;		/* only these; n_ids 0: all that wait */
	size_t n_ids;
	bool again;			/* those too that have failed before */
	struct dray_json *told;		/* out: "triggers" of a document, or NULL; owned */
	bool back;			/* out: a failure asked for the way back, and that was begun */
	size_t ran, bad, warned;	/* @bad: but for those whose failure is only told */
	struct dray_err why;		/* of the first of @bad */
};
/** inst_run_due_why - static text: why no program of the tree may be run now; NULL: one may */
const char *inst_run_due_why(const struct inst_front *f);
/**
 * inst_run_due - run them in order; nothing if none may be run. Each is recorded at its end
 * Return: 0, with failures in @r; -1: interrupted, I/O, or DRAY_E_WENT_BACK because one asks for the way back by failing
 */
DRAY_MUST_CHECK int inst_run_due(struct inst_front *f, struct inst_run_due *r, struct dray_err *e);
/** inst_run_due_stopped - after -1 of it behind a switch: *e tells that the files are the new ones, unless going back was begun */
void inst_run_due_stopped(const struct inst_front *f, const struct inst_run_due *r, struct dray_err *e);
/** inst_run_due_end - 0, or DRAY_E_TRIGGER when one failed */
DRAY_MUST_CHECK int inst_run_due_end(const struct inst_front *f, const struct inst_run_due *r, struct dray_err *e);
/** inst_run_due_json - "triggers", "triggers_due" (those that wait now) and, when one failed, "error". Return: as
 * inst_run_due_end */
DRAY_MUST_CHECK int inst_run_due_json(struct inst_front *f, const struct inst_run_due *r, struct dray_json *o,
    struct dray_err *e);
/** inst_run_due_told - the end of a command: @o, which may be NULL without --json, printed with the above. Return: as
 * inst_run_due_end */
DRAY_MUST_CHECK int inst_run_due_told(struct inst_front *f, const struct inst_run_due *r, struct dray_json *o,
    struct dray_err *e);
void inst_run_due_free(struct inst_run_due *r);

/* cmd_recover.c */
/** inst_back_ready - may @tx be taken back? @drift: what was changed since. DRAY_E_SYSTEM: nothing was changed */
DRAY_MUST_CHECK int inst_back_ready(const struct inst_front *f, struct inst_tx *tx, struct inst_foreign *drift,
    struct dray_err *e);

/* due_say.c: triggers for people and for scripts; any of a descriptor, or an entry of inst_due_load */
/** inst_say_output - what a program said, indented */
void inst_say_output(const struct inst_front *f, const char *text);
void inst_due_line(const struct inst_front *f, const struct dray_json *t);
void inst_due_json(struct dray_json *list, const struct dray_json *t);
/** inst_due_say - after a run: those that wait on this root, and what then. Where that cannot be read, why */
void inst_due_say(const struct inst_front *f);
/** inst_due_planned - those that a plan calls */
void inst_due_planned(const struct inst_front *f, const struct inst_plan *p);
void inst_due_planned_json(const struct inst_plan *p, struct dray_json *o);

/* cmd_status.c: words of its JSON */
const char *inst_state_name(const struct inst_tx *tx);
const char *inst_pending_word(enum inst_pending p);

/* cmd_log.c: status --log, --paths N, --export FILE. The state is open. */
struct tool_runs;
/** inst_log_check - every record held against the one before; @lists: their lists too. Problems are in @r, no failure */
DRAY_MUST_CHECK int inst_log_check(const struct inst_front *f, bool lists, struct tool_runs *r, struct dray_err *e);
DRAY_MUST_CHECK int inst_log(struct inst_front *f, struct dray_err *e);
DRAY_MUST_CHECK int inst_log_paths(struct inst_front *f, uint64_t number, struct dray_err *e);

/* export.c: status --export FILE: one file that goes out of the gap. DRAY_E_FORMAT when the evidence is not whole */
DRAY_MUST_CHECK int inst_export(struct inst_front *f, const char *path, struct dray_err *e);

/* restart.c: status --needs-restart */
DRAY_MUST_CHECK int inst_restart(struct inst_front *f, bool *advised, struct dray_err *e);

/* cmd_*.c */
int inst_cmd_plan(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_conflicts(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_apply(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_resume(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_rollback(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_status(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_repair(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_check(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_forget(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_triggers(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_hook_install(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_hook_remove(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_hook_status(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_trust_init(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_trust_show(int argc, char **argv, const struct tool_cmd *self);
int inst_cmd_help(int argc, char **argv, const struct tool_cmd *self);

#endif
