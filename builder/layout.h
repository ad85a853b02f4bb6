/*
 * layout.h - where a path belongs: its components, its phase, and whether a person may have edited it.
 */
#ifndef BUILD_LAYOUT_H
#define BUILD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/descriptor.h"
#include "dray/err.h"

struct build_patterns {		/* dray_glob_ok has accepted each; matched with dray_glob_covers */
	const char **v;		/* texts are borrowed */
	size_t n, cap;
};

struct build_part {		/* a component or a phase */
	char name[65];
	struct build_patterns paths;
	bool rest;		/* takes what no other one names */
};

struct build_place {
	uint64_t components;	/* bit mask, never 0 */
	uint8_t phase;
	bool config;
};

struct build_above {		/* private to layout.c */
	const char *path;
	uint32_t len, row;
	bool closed;		/* no directory in the new release */
};

struct build_fact {		/* what the releases say of a path */
	uint64_t parts;		/* its components, in the layout's numbers; 0: the patterns tell */
	bool gone;		/* not in the new release */
	bool dir;		/* a directory: in the new release, or if gone in one of the old */
};

struct build_layout {
	struct build_part components[DRAY_MAX_COMPONENTS], phases[DRAY_MAX_PHASES];
	size_t n_components, n_phases;		/* 0: one of each, called "main" */
	bool freebsd;				/* build_layout_freebsd */
	struct build_patterns config;		/* config files */
	struct build_patterns not_config;	/* ... but not these */

	struct build_place *places;		/* by entry row, filled by build_layout_add */
	size_t n_places, cap_places;
	struct build_above *above;		/* the last path and the directories above it, outermost first */
	size_t n_above, cap_above;
};

/** build_patterns_add - append; DRAY_E_USAGE for what is no pattern, naming it; @text is borrowed */
DRAY_MUST_CHECK int build_patterns_add(struct build_patterns *p, const char *text, struct dray_err *e);

/** build_patterns_cover - the first that covers @path (see dray_glob_covers), or NULL */
const char *build_patterns_cover(const struct build_patterns *p, const char *path, size_t len);

/** build_layout_freebsd - the phases "kernel", "world" and "cleanup", and by what a path is which it falls to */
void build_layout_freebsd(struct build_layout *l);

/**
 * build_layout_add - decide for the next path, in path order
 * @path: borrowed until the last call
 * @fact: what is known of it
 *
 * The first component or phase that covers the path takes it; else the one for the rest; else all components, or the
 * last phase. A directory belongs to all components of what lies beneath it, so that none of them hangs in the air.
 */
DRAY_MUST_CHECK int build_layout_add(struct build_layout *l, const char *path, size_t len, const struct build_fact *fact,
    struct dray_err *e);

/** build_layout_forget - drop the places, keep the rules */
void build_layout_forget(struct build_layout *l);
void build_layout_free(struct build_layout *l);

#endif
