/*
 * media.h - a bundle as it comes on media: one file; any of its volumes, with the others beside it or in other folders;
 * or a folder that holds one bundle in either way. Nothing is joined on a disk. Source: spec/cli.md, "Media".
 */
#ifndef DRAY_MEDIA_H
#define DRAY_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/volume.h"
#include "tool/tool.h"

struct tool_part {			/* a file that is a bundle, or a volume of one, by its own word */
	char *path;
	bool volume;
	struct dray_volume_head head;	/* of a bundle: only id and total, its bytes */
	uint64_t size;			/* of the file */
};

struct tool_media {
	int fd;				/* a bundle in one file; -1: in volumes */
	struct dray_volumes volumes;	/* n 0: in one file. Its names are the parts' paths */
	struct tool_part *parts;	/* all that were found: by id, cut, number, path; none if a file was named and is one */
	size_t n_parts, cap_parts;
	char *shut;			/* the first file that could not be looked at for want of rights; else NULL */
	size_t first, end;		/* parts[first .. end): the volumes that were chosen, with copies of the same */
};

/**
 * tool_media_open - the bundle at @path
 * @path: a bundle file, a volume, or a folder
 * @dirs: folders where more volumes may lie; NULL: none
 * Looks at no file but regular ones, and at none whose name begins with a dot; reads their first bytes only.
 * Errors: DRAY_E_FORMAT names the volumes that are missing or not whole; DRAY_E_USAGE: no bundle in the folder, or two;
 * DRAY_E_MEDIUM. tool_media_close after a failure too: what was found is there until then.
 */
DRAY_MUST_CHECK int tool_media_open(const char *path, const struct tool_list *dirs, struct tool_media *m,
    struct dray_err *e);

/** tool_media_volumes - for dray_bundle_opts; NULL when it is one file */
const struct dray_volumes *tool_media_volumes(const struct tool_media *m);
void tool_media_close(struct tool_media *m);

/**
 * tool_media_check - after a failure that may come from bad copies: compare the volumes with their own headers and list
 * them on stdout. It finds bad copies; it proves nothing about who made them.
 * Errors: DRAY_E_FORMAT: one is damaged; else @e is left as it was, and so is the failure it tells of.
 */
void tool_media_check(const struct tool_media *m, const struct tool_common *c, struct dray_err *e);

#define TOOL_OPT_DIR(LIST) \
	{ .name = "dir", .letter = 'd', .kind = TOOL_LIST, .out = &(LIST), .arg = "DIR", \
	    .help = "where more volumes of the bundle lie; repeats" }

#endif
