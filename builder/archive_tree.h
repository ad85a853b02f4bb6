/*
 * archive_tree.h - private to the source "archive": names and objects. A name stands for an object; a member makes a
 * new object and binds its name to it; a hard link binds one more name to an object.
 */
#ifndef BUILD_ARCHIVE_TREE_H
#define BUILD_ARCHIVE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "builder/spool.h"
#include "dray/err.h"
#include "dray/path.h"

#define BUILD_NO_OBJECT UINT32_MAX

struct build_name {
	const char *path;
	size_t len;
	uint32_t object;		/* BUILD_NO_OBJECT: a hard link to what has not come yet */
	const char *link;		/* its target then */
	size_t link_len;
	const char *archive;		/* that it stands in, quoted */
};

struct build_tree {
	const struct build_scan_opts *o;
	struct build_release *r;
	struct build_spool *spool;
	struct build_node *objects;	/* without a path; nlink counts names */
	size_t n_objects, cap_objects;
	struct build_name **names;	/* in order of first appearance */
	size_t n_names, cap_names;
	void *by_path;			/* of struct build_name; a balanced tree: hostile names cost no more than others */
	const char *archive;		/* now, quoted */
	uint64_t done, total;		/* bytes of all archives */
	char clear[DRAY_PATH_MAX];	/* the directory above the last name: neither it nor one above it is left out */
	size_t clear_len;
};

struct build_name *build_tree_find(struct build_tree *t, const char *path, size_t len);

/** build_tree_object - a new one, zeroed; its number */
DRAY_MUST_CHECK int build_tree_object(struct build_tree *t, uint32_t *number, struct dray_err *e);

/** build_tree_bind - @path stands for @object from now on, whatever it stood for before */
DRAY_MUST_CHECK int build_tree_bind(struct build_tree *t, const char *path, size_t len, uint32_t object,
    struct dray_err *e);

/** build_tree_promise - @path will stand for what @target stands for at the end of the archive */
DRAY_MUST_CHECK int build_tree_promise(struct build_tree *t, const char *path, size_t len, const char *target,
    size_t target_len, struct dray_err *e);

/** build_tree_keep - keep the promises; DRAY_E_FORMAT names a link whose target never came */
DRAY_MUST_CHECK int build_tree_keep(struct build_tree *t, struct dray_err *e);

/** build_tree_finish - the directory above each name: made where no archive has it, refused where it is none; then all
 * names become nodes of the release */
DRAY_MUST_CHECK int build_tree_finish(struct build_tree *t, struct dray_err *e);

/** build_tree_note - a notice of the release */
DRAY_MUST_CHECK int build_tree_note(struct build_tree *t, const char *path, size_t len, const char *why, bool quiet,
    struct dray_err *e);

void build_tree_free(struct build_tree *t);

#endif
