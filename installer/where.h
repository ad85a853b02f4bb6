/*
 * where.h - where a path of the release lies here: at its own place, or beneath the place to which a symlink leads that
 * stands for a directory of the release (--symlink PATH=redirect).
 */
#ifndef INST_WHERE_H
#define INST_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct inst_redirect {
	const char *from;	/* in the index, not NUL-terminated */
	size_t from_len;
	char *to;		/* owned; a directory without a symlink on the way */
	size_t to_len;
	bool only_read;		/* the directory comes back: what the symlink leads to only serves as a base */
};

struct inst_plan;
struct dray_walk;
struct dray_entry;

/**
 * inst_where - *path of the release as the path where it lies
 * @read: to read base bytes; else to look at or to change
 * @buf: 4096 bytes that hold it when it is another one
 * Return: false when it would be too long.
 */
bool inst_where(const struct inst_plan *p, bool read, const char **path, size_t *len, char *buf);

/** inst_where_keep - the place of an entry as a text that lives as long as the plan */
DRAY_MUST_CHECK int inst_where_keep(struct inst_plan *p, const struct dray_entry *en, const char **path, size_t *len,
    struct dray_err *e);

/** inst_where_parent - dray_walk_parent for the place of a path of the release; 1 too when that is too long */
DRAY_MUST_CHECK int inst_where_parent(const struct inst_plan *p, bool read, struct dray_walk *w,
    const struct dray_entry *en, int *dir, char leaf[256], struct dray_err *e);

/** inst_where_row - the directory of the release that lies at @path here; DRAY_NONE: none */
uint32_t inst_where_row(const struct inst_plan *p, const char *path, size_t len);

void inst_where_free(struct inst_plan *p);

#endif
