/*
 * diff.h - compare two releases, each told by a bundle, a tree or an archive; and two bundles beyond that: how they were
 * made and what they hold. diff.c walks, diff_side.c gives the entries, diff_entry.c and diff_bundle.c compare.
 */
#ifndef BUILD_DIFF_H
#define BUILD_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "dray/bundle.h"
#include "dray/err.h"
#include "tool/look.h"
#include "tool/tool.h"

struct build_diff_opts {
	const struct tool_common *common;
	const char *name[2];		/* operands, as given */
	struct tool_list keyring;	/* bundles must satisfy it; empty: signatures are not checked */
	struct tool_list ignore;	/* fields of entries that are not compared */
	bool all;			/* tell every difference, not only the first */
};

struct diff_side {
	const char *name;
	int fd;				/* bundle */
	struct dray_bundle *b;		/* NULL: a tree */
	const struct dray_index *ix;
	struct build_release *r;	/* tree or archive */
	uint32_t n;			/* entries */
};

struct diff_item {			/* a state of a path, of whatever side; type DRAY_ABSENT: the release has none */
	const char *path;
	size_t len;
	uint8_t type;
	uint16_t has;			/* DRAY_HAS_*, DRAY_HAS_MTIME included */
	uint32_t mode, uid, gid, flags, rdev_major, rdev_minor;
	int64_t mtime_sec;
	uint32_t mtime_nsec;
	uint64_t size;
	const uint8_t *sha256;		/* files */
	const char *target;		/* symlinks */
	size_t target_len;
	const char *link;		/* path of the first name of its hard-link group; NULL: none */
	size_t link_len;
	const struct dray_xattr *xattrs;	/* of a tree; of a bundle rows from xattr_first on */
	const struct dray_index *ix;
	uint32_t xattr_first, n_xattrs;
};

struct diff {
	const struct build_diff_opts *o;
	struct diff_side side[2];
	bool bundles;			/* both sides are */
	bool same_bases;		/* and they have the same bases */
	size_t found;
	bool done;			/* one is enough */
	struct dray_json *list;		/* with --json */
};

/**
 * build_diff - compare and tell on standard output
 * *equal: nothing that is compared differs
 */
DRAY_MUST_CHECK int build_diff(const struct build_diff_opts *o, bool *equal, struct dray_err *e);

/** build_diff_field_ok - is it the name of a field of an entry, for build_diff_opts.ignore? */
bool build_diff_field_ok(const char *name);

/* --- the inside --------------------------------------------------------------------------------------------------- */

/* diff_side.c */
DRAY_MUST_CHECK int build_diff_open(struct diff_side *s, const struct build_diff_opts *o, const char *name,
    struct dray_err *e);
void build_diff_close(struct diff_side *s);
/** build_diff_item - entry @i of a side: its state in the release */
void build_diff_item(const struct diff_side *s, uint32_t i, struct diff_item *out);
/** build_diff_state - state @row of a bundle as an item with @path */
void build_diff_state(const struct dray_index *ix, uint32_t row, const char *path, size_t len, struct diff_item *out);
void build_diff_xattr(const struct diff_item *it, uint32_t i, struct dray_xattr *x);

/* diff_entry.c */
#define DIFF_TEXT 700
struct diff_text { const char *field; char a[DIFF_TEXT], b[DIFF_TEXT]; };
/**
 * build_diff_fields - the next field in which two states of one path differ
 * @at: 0 first; counts through the fields
 * @strict: an attribute that one side does not have is a difference; otherwise it is not compared
 * Return: false when there is no further difference
 */
bool build_diff_fields(const struct diff_item *a, const struct diff_item *b, bool strict, unsigned *at,
    struct diff_text *out);

/* diff_bundle.c */
DRAY_MUST_CHECK int build_diff_head(struct diff *d, struct dray_err *e);	/* encoders first, then the descriptor */
void build_diff_placing(struct diff *d, uint32_t a, uint32_t b);	/* what a bundle says of an entry besides its state */
DRAY_MUST_CHECK int build_diff_making(struct diff *d, struct dray_err *e);	/* recipes and frames */
void build_diff_members(struct diff *d);

/* diff.c: one difference. @path NULL: not of an entry; @a, @b NULL: not there. Texts are printable. */
void build_diff_tell(struct diff *d, const char *path, size_t len, const char *field, const char *a, const char *b);

/* subcommand */
int build_cmd_diff(int argc, char **argv, const struct tool_cmd *self);

#endif
