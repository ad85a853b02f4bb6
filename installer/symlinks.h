/*
 * symlinks.h - directories of the release that are symlinks here. Private to planning.
 * Source: spec/apply.md, "Symlinks for directories".
 */
#ifndef INST_SYMLINKS_H
#define INST_SYMLINKS_H

#include "installer/planning.h"

enum inst_lead_kind { INST_LEAD_DIR, INST_LEAD_GONE, INST_LEAD_NO_DIR, INST_LEAD_LINK, INST_LEAD_LOOP, INST_LEAD_OUT,
	INST_LEAD_ROOT, INST_LEAD_TWISTED };

struct inst_lead {
	enum inst_lead_kind kind;
	bool absolute;
	char path[DRAY_PATH_MAX];	/* DIR: where it leads; GONE, NO_DIR, LINK: what is in the way */
	size_t len;
};

#define INST_LEAD_TEXT 130u

/** inst_link_text - the text of the symlink at @path; not NUL-terminated. Return: 0; 1 it is no symlink; -1 */
DRAY_MUST_CHECK int inst_link_text(struct dray_walk *w, const char *path, size_t len, char text[DRAY_PATH_MAX + 1],
    size_t *n, struct dray_err *e);

/** inst_lead_find - where the symlink at @at with this text leads */
DRAY_MUST_CHECK int inst_lead_find(struct dray_walk *w, const char *at, size_t at_len, const char *text,
    size_t text_len, struct inst_lead *l, struct dray_err *e);

/** inst_lead_text - the same in words, such as "leads to data/log" */
const char *inst_lead_text(const struct inst_lead *l, const char *text, size_t text_len, char out[INST_LEAD_TEXT]);

#endif
