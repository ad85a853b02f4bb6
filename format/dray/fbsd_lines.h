/*
 * fbsd_lines.h - the lines of a metadata file, all of them checked, the wanted components' kept in path order.
 */
#ifndef DRAY_FBSD_LINES_H
#define DRAY_FBSD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/fbsd.h"
#include "dray/index.h"

struct dray_fbsd_lines {
	struct dray_fbsd_line *v;	/* by path, then as in the file; all texts point into the file. The root is none of them */
	size_t n, cap;
};

#define DRAY_FBSD_PARTS 32		/* components that can be asked for; a bundle holds more */

struct dray_fbsd_parts {		/* which components: "world" for all beneath it, "world/base" for one */
	char v[DRAY_FBSD_PARTS][132];	/* n = 0: all there are */
	size_t n;
};

/** dray_fbsd_parts_add - from a list "world/base,kernel"; DRAY_E_USAGE for what is none */
DRAY_MUST_CHECK int dray_fbsd_parts_add(struct dray_fbsd_parts *p, const char *list, struct dray_err *e);

/** dray_fbsd_part_covers - is @l of the component @part, "world/base", or beneath it, "world"? */
bool dray_fbsd_part_covers(const char *part, const struct dray_fbsd_line *l);

/** dray_fbsd_parts_want - is the component of @l asked for? */
bool dray_fbsd_parts_want(const struct dray_fbsd_parts *p, const struct dray_fbsd_line *l);

struct dray_fbsd_list {			/* a metadata file, as it hashed to its name */
	const char *file, *of;		/* for messages: "INDEX-ALL", "13.2-RELEASE/amd64" */
	const char *p;
	size_t len;
	bool tree;			/* it describes one (INDEX-ALL); else what there ever was */
};

/**
 * dray_fbsd_lines_add - the lines of @t
 * Of one that describes a tree also the shape is checked: no path twice, but for directories that several
 * components have; nothing beneath what is no directory; a hard link leads to a file with the same content.
 * Errors: DRAY_E_FORMAT with the file, the number of the line, the path, and what is wrong; DRAY_E_USAGE: a component that is
 * asked for is not there; DRAY_E_IO: memory.
 */
DRAY_MUST_CHECK int dray_fbsd_lines_add(struct dray_fbsd_lines *l, const struct dray_fbsd_list *t,
    const struct dray_fbsd_parts *parts, struct dray_err *e);
void dray_fbsd_lines_free(struct dray_fbsd_lines *l);

/** dray_fbsd_lines_sort - by path, then by all else, so that nothing depends on the order of the files */
void dray_fbsd_lines_sort(struct dray_fbsd_lines *l);

/** dray_fbsd_attrs - what a line that is not '-' tells, as a bundle for the system @os has it; no extended attributes */
void dray_fbsd_attrs(const struct dray_fbsd_line *l, const char *os, struct dray_attrs *out);

/**
 * dray_fbsd_groups - which lines are names of one file: those of one hard-link group that are alike. The first name of the
 * group need not be among them: it may be left out, or belong to another component
 * @v, @n: in the order of paths
 * @group: @n numbers: 1 + that of the first name, 0: it is the only one
 */
DRAY_MUST_CHECK int dray_fbsd_groups(const struct dray_fbsd_line *const *v, size_t n, uint32_t *group, struct dray_err *e);

#endif
