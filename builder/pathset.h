/*
 * pathset.h - what is left out of a release: ignore rules, and named sets of paths that belong to a machine and not
 * to what it runs.
 */
#ifndef BUILD_PATHSET_H
#define BUILD_PATHSET_H

#include <stdbool.h>
#include <stddef.h>

#include "builder/layout.h"
#include "builder/release.h"
#include "dray/err.h"

enum build_fate {
	BUILD_PACK,
	BUILD_HOLLOW,		/* the directory is packed, what it holds is not */
	BUILD_LEAVE_OUT,	/* neither it nor what it holds */
};

struct build_filter {
	struct build_patterns ignore;	/* the user's own rules */
	unsigned sets;			/* bit i: set i of pathset.c is on */
};

/** build_pathset_add - switch the set @name on; DRAY_E_USAGE lists the names there are */
DRAY_MUST_CHECK int build_pathset_add(struct build_filter *f, const char *name, struct dray_err *e);

/**
 * build_filter_path - what becomes of @path, which is a directory or not; what lies above it is packed
 * @n: filled unless BUILD_PACK: why (path and length excepted)
 */
enum build_fate build_filter_path(const struct build_filter *f, const char *path, size_t len, bool dir,
    struct build_notice *n);

/** build_pathset_config - the sets' config files into the rules of @l */
DRAY_MUST_CHECK int build_pathset_config(const struct build_filter *f, struct build_layout *l, struct dray_err *e);

/**
 * build_pathset_missed - a notice when a set that is off would leave out something of @r
 * One set is named: that of the system that the tree seems to hold.
 */
DRAY_MUST_CHECK int build_pathset_missed(const struct build_filter *f, struct build_release *r, struct dray_err *e);

#endif
