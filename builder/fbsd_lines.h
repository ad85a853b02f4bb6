/*
 * fbsd_lines.h - the lines of a metadata file, all of them checked, the wanted components' kept in path order.
 */
#ifndef BUILD_FBSD_LINES_H
#define BUILD_FBSD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_get.h"
#include "dray/err.h"
#include "dray/fbsd.h"

struct build_fbsd_lines {
	struct dray_fbsd_line *v;	/* by path, then as in the file; all texts point into the file. The root is none of them */
	size_t n, cap;
};

#define BUILD_FBSD_PARTS 32		/* components that can be asked for; a bundle holds more */

struct build_fbsd_parts {		/* which components: "world" for all beneath it, "world/base" for one */
	char v[BUILD_FBSD_PARTS][132];	/* n = 0: all there are */
	size_t n;
};

/** build_fbsd_parts_add - from a list "world/base,kernel"; DRAY_E_USAGE for what is none */
DRAY_MUST_CHECK int build_fbsd_parts_add(struct build_fbsd_parts *p, const char *list, struct dray_err *e);

/** build_fbsd_part_covers - is @l of the component @part, "world/base", or beneath it, "world"? */
bool build_fbsd_part_covers(const char *part, const struct dray_fbsd_line *l);

/** build_fbsd_parts_want - is the component of @l asked for? */
bool build_fbsd_parts_want(const struct build_fbsd_parts *p, const struct dray_fbsd_line *l);

/**
 * build_fbsd_lines_add - the lines of m->file[@which]
 * Of INDEX-ALL, which describes a tree, also the shape is checked: no path twice, but for directories that several
 * components have; nothing beneath what is no directory; a hard link leads to a file with the same content.
 * Errors: DRAY_E_FORMAT with the file, the number of the line, the path, and what is wrong; DRAY_E_USAGE: a component that is
 * asked for is not there; DRAY_E_IO: memory.
 */
DRAY_MUST_CHECK int build_fbsd_lines_add(struct build_fbsd_lines *l, const struct build_fbsd_meta *m,
    enum build_fbsd_file which, const struct build_fbsd_parts *parts, struct dray_err *e);
void build_fbsd_lines_free(struct build_fbsd_lines *l);

/** build_fbsd_lines_sort - by path, then by all else, so that nothing depends on the order of the files */
void build_fbsd_lines_sort(struct build_fbsd_lines *l);

#endif
