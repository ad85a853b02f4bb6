/*
 * index_intern.h - the growing tables of a writer, and rows that are found again when they are equal.
 */
#ifndef DRAY_INDEX_INTERN_H
#define DRAY_INDEX_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#include "index_priv.h"

struct index_vec { uint8_t *p; size_t len, cap; };	/* bytes of a table */
struct index_set { uint32_t *slot; size_t cap; uint32_t n; };	/* open addressing; a slot holds row + 1 */

/* kinds of rows that stand once */
enum index_kind { INDEX_ATTRS, INDEX_COMPSET, INDEX_STATE, INDEX_CONTENT, INDEX_XSET, INDEX_KINDS };

struct index_tables {
	struct index_vec t[DRAY_TABLES];
	struct dray_index view;		/* of the same bytes, for accessors and checks */
	struct index_set set[INDEX_KINDS];
	uint32_t *xset_first;		/* first row of each xattr set, and one more */
	size_t xset_cap;
};

/** dray_index_tables_init - from all zero; afterwards no table is NULL, so that the address of row 0 is always one */
DRAY_MUST_CHECK int dray_index_tables_init(struct index_tables *w, struct dray_err *e);
void dray_index_tables_free(struct index_tables *w);

/** dray_index_append - whole rows to the end of a table */
DRAY_MUST_CHECK int dray_index_append(struct index_tables *w, enum dray_table t, const void *rows, size_t len,
    struct dray_err *e);

/** dray_index_cut - back to @len bytes */
void dray_index_cut(struct index_tables *w, enum dray_table t, size_t len);

/**
 * dray_index_intern - @row (of the kind's width) becomes a row of its table unless an equal one is there
 * The kind's own check runs first; on failure the table is as it was. dray_index_intern_xset: the rows stand at the
 * end of XATTRS from @first_xattr on already, and leave it again when an equal set is known.
 */
DRAY_MUST_CHECK int dray_index_intern(struct index_tables *w, enum index_kind kind, const uint8_t *row, uint32_t *out,
    struct dray_err *e);
DRAY_MUST_CHECK int dray_index_intern_xset(struct index_tables *w, uint32_t first_xattr, uint32_t *out,
    struct dray_err *e);

#endif
