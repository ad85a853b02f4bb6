/*
 * hook.h - what has a boot finish an interrupted upgrade before anything else runs: a systemd unit, or a script of
 * FreeBSD's rc. It calls the copy of this program that lies beside the journal. Source: spec/apply.md, "Boot hook".
 */
#ifndef INST_HOOK_H
#define INST_HOOK_H

#include "installer/state.h"

enum inst_hook_kind { INST_HOOK_NONE, INST_HOOK_SYSTEMD, INST_HOOK_RC };

enum inst_hook_file_state {
	INST_HOOK_ABSENT,
	INST_HOOK_OURS,		/* exactly what would be written now */
	INST_HOOK_OLDER,	/* exactly what we wrote there, by what the state folder says; another version did */
	INST_HOOK_FOREIGN,	/* anything else: never touched */
};

#define INST_HOOK_FILES 2
struct inst_hook {
	enum inst_hook_kind kind;
	size_t n;
	struct {
		const char *path;	/* beneath the root */
		const char *target;	/* a symlink's; NULL: a file that holds @text */
		unsigned mode;
		enum inst_hook_file_state state;
	} files[INST_HOOK_FILES];
	char text[9000];
};

const char *inst_hook_name(enum inst_hook_kind kind);	/* "systemd", "rc", "none" */
/** inst_hook_named - false: @name is none of ours */
bool inst_hook_named(const char *name, enum inst_hook_kind *kind);

/**
 * inst_hook_look - which init the tree has and what lies at the hook's places; reads only
 * @kind: INST_HOOK_NONE: the one that was installed, else by what is in the tree
 * Return: 0, with kind NONE when the tree has no init that we know; DRAY_E_SYSTEM when the state folder's path cannot stand
 * in such a file.
 */
DRAY_MUST_CHECK int inst_hook_look(const struct inst_state *s, enum inst_hook_kind kind, struct inst_hook *h,
    struct dray_err *e);
/** inst_hook_whole - all of it is there */
bool inst_hook_whole(const struct inst_hook *h);

/** inst_hook_refuse - DRAY_E_SYSTEM when something that is not ours lies at one of the places */
DRAY_MUST_CHECK int inst_hook_refuse(const struct inst_hook *h, struct dray_err *e);

struct dray_json;
/** inst_hook_missing - the directories above @path that are not there, top first, added to the array @made */
DRAY_MUST_CHECK int inst_hook_missing(const struct inst_state *s, const char *path, struct dray_json *made,
    struct dray_err *e);

/**
 * inst_hook_install - the copy of this program, then the files; repeatable. DRAY_E_SYSTEM, and nothing written, when
 * something else is in the way
 * @made: array of directories that were made for this already, and are to go with it
 */
DRAY_MUST_CHECK int inst_hook_install(const struct inst_state *s, struct inst_hook *h, const struct dray_json *made,
    struct dray_err *e);

/** inst_hook_remove - the files, and what was made for them; a state folder that never held an upgrade goes too */
DRAY_MUST_CHECK int inst_hook_remove(const struct inst_state *s, struct inst_hook *h, struct dray_err *e);

/* hook_text.c */
DRAY_MUST_CHECK int inst_hook_fill(const struct inst_state *s, enum inst_hook_kind kind, struct inst_hook *h,
    struct dray_err *e);

#endif
