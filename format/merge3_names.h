/*
 * merge3_names.h - the entries of three files of accounts, by name. Private to the merge of those.
 */
#ifndef DRAY_MERGE3_NAMES_H
#define DRAY_MERGE3_NAMES_H

#include "merge3_in.h"

#define NONE UINT32_MAX

struct dray_names {
	uint8_t *text[3];		/* a name for each line: "n" and the name, or "l" and the line, if it is no entry */
	struct dray_lines lines[3];	/* ... as lines, numbered: one number for each name, the second equal comment has its own */
	uint32_t *where[3];		/* per number the line of the side, or NONE */
	uint32_t ids;
	uint32_t *next;			/* per number the one behind it in the result; [ids] is in front of the first */
	uint32_t *clash;		/* per number of a new name: the other side's new name that got the same user id; or NONE */
	bool doubles;			/* a name has two entries in one of the files */
	bool clashes;
};

/** dray_names_load - @a all zero; dray_names_free, also after a failure. @numbers: look at the third field */
DRAY_MUST_CHECK int dray_names_load(const struct dray_lines v[3], bool numbers, struct dray_names *a, struct dray_err *e);
void dray_names_free(struct dray_names *a);
/** dray_names_bare - a line of the side without its newline */
const uint8_t *dray_names_bare(const struct dray_lines *v, uint32_t line, size_t *len);

#endif
