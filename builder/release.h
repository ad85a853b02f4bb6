/*
 * release.h - one complete state of a tree, as every kind of source yields it: nodes in path order, and a way to
 * open the content of each file. A new kind of source is one new file that fills this.
 */
#ifndef BUILD_RELEASE_H
#define BUILD_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/arena.h"
#include "dray/err.h"
#include "dray/index.h"

struct build_node {
	const char *path;		/* NUL-terminated, in an arena of the release */
	uint32_t len;
	uint8_t type;			/* enum dray_type; DRAY_ABSENT only in a history */
	uint16_t has;			/* DRAY_HAS_*, DRAY_HAS_MTIME included */
	uint32_t mode, uid, gid;
	uint32_t flags;			/* as they stand in the bundle */
	int64_t mtime_sec;
	uint32_t mtime_nsec;
	uint32_t rdev_major, rdev_minor;
	const char *target;		/* symlinks */
	uint32_t target_len;
	uint32_t n_xattrs;
	const struct dray_xattr *xattrs;	/* names ascending */
	uint64_t size;			/* files: bytes of the content, DRAY_SIZE_UNKNOWN before fetch, and its hash */
	uint8_t sha256[32];
	uint32_t link;			/* 1 + number of the first node of its hard-link group; 0: none */
	uint32_t row;			/* entry row in the bundle, given by build_resolve */
	uint64_t dev, ino, nlink;	/* how the source tells hard links; of no meaning once grouped */
	uint64_t at;			/* archives: where the content stands in the spool */
	uint32_t of;			/* in a history: number in its sources, whose content it is */
	bool hollow;			/* a directory whose contents are left out on purpose */
	bool needed;			/* a file whose bytes have to be here: needed.h */
	uint64_t parts;			/* bit mask of the release's own components; 0: the layout tells */
};

struct build_fbsd_opts;
struct build_filter;
struct build_layout;
struct build_owner;
struct build_patterns;
struct build_scan_opts;

/* something left out, or otherwise worth a word */
struct build_notice {
	const char *path;		/* NUL-terminated, unquoted */
	size_t len;
	const char *why;		/* static text, or in an arena of the release */
	bool quiet;			/* asked for: counted, and named only with -v */
};

struct build_facts {			/* what a source knows of the release as a whole */
	char product[65], version[65];
	uint64_t counter;		/* 0: not known */
	uint64_t eol;			/* end of life, seconds since 1970; 0: not known */
};

struct build_came {			/* what was fetched for a release */
	uint64_t bytes;			/* lists included */
	size_t whole, patched;		/* contents: as they are, and by patches */
	uint64_t patch_bytes;
};

/* where the bytes of a content stand: @len bytes at @at of @fd */
struct build_reader {
	int fd;
	uint64_t at, len;
	bool owned;			/* close @fd when done */
};

struct build_release {
	char *name;			/* as the user gave it, for messages: "dir:old" */
	struct build_node *v;		/* in path order (dray_path_cmp), the root itself is none of them; a path once */
	size_t n, cap;
	struct build_notice *notices;	/* in path order */
	size_t n_notices, cap_notices;
	struct build_arena *arenas;
	size_t n_arenas;
	struct build_layout *layout;	/* of the target: components, phases, config files; borrowed; NULL: one of each */
	bool history;			/* former states: a path stands once for each that it had (history.h) */
	char (*part_names)[65];		/* its own components, ascending; malloc'ed */
	size_t n_parts;
	const struct build_facts *facts;	/* in an arena; NULL: the source knows nothing */
	struct build_came came;
	struct build_release **sources;	/* of a history that was joined: borrowed releases that hold the contents; else NULL */

	/* set by the source; open may be called from several threads at once, and what it gives stays as it was read */
	int (*open)(const struct build_release *r, const struct build_node *nd, struct build_reader *out,
	    struct dray_err *e);
	/* NULL: all contents are here. Else brings those of nodes that are needed, and tells their sizes */
	int (*fetch)(struct build_release *r, const struct build_scan_opts *o, struct dray_err *e);
	void (*close)(struct build_release *r);
	void *source;
};

struct dray_progress;	/* meter.h */

struct build_scan_opts {
	unsigned threads;
	const char *spool_dir;		/* folder for the unnamed file that holds the contents of archives */
	const struct build_filter *filter;	/* what is left out; NULL: nothing */
	const struct build_owner *owner;	/* other owners; NULL: as they are */
	const struct build_patterns *xattrs;	/* names of attributes taken besides the usual ones; may be NULL */
	const struct build_fbsd_opts *fbsd;	/* freebsd-update: server, key, store, components */
	bool history;			/* freebsd-update: all states at all patch levels instead of the newest */
	struct build_release *const *beside;	/* fetch: all releases of the build, @n_beside of them */
	size_t n_beside;
	const struct build_patterns *mounts;	/* dir: other file systems that are entered; may be NULL */
	void (*progress)(void *ctx, const struct dray_progress *at);	/* bytes; may be NULL */
	void *ctx;
};

/** build_xattr_wanted - does a bundle carry the attribute @name? user.*, ACLs, capabilities and what @o adds */
bool build_xattr_wanted(const struct build_scan_opts *o, const char *name);
#define BUILD_XATTR_MAX 65536u		/* bytes of a value: bundle-format.md 5.2, XATTRS */

/** build_scan_dir - the source "dir": read the tree beneath @path */
DRAY_MUST_CHECK int build_scan_dir(const char *path, const struct build_scan_opts *o, struct build_release *r,
    struct dray_err *e);

/**
 * build_scan_archives - the source "archive": @n archives, each laid over those before it; the last of several members
 * of one name counts
 * Errors: DRAY_E_FORMAT (damaged, or a member that a tree cannot hold, named), DRAY_E_USAGE (no archive at all), ...
 */
DRAY_MUST_CHECK int build_scan_archives(const char *const *paths, size_t n, const struct build_scan_opts *o,
    struct build_release *r, struct dray_err *e);

/** build_release_new - empty, with one arena per thread */
DRAY_MUST_CHECK int build_release_new(const char *name, size_t arenas, struct build_release **out,
    struct dray_err *e);
void build_release_free(struct build_release *r);

/** build_release_append - room for one more node, zeroed; NULL when memory is out. May move all nodes. */
struct build_node *build_release_append(struct build_release *r);

/** build_release_drop_nodes - free them; contents of nodes that were copied stay readable */
void build_release_drop_nodes(struct build_release *r);

/** build_release_sort - into path order; a path that stands twice is DRAY_E_FORMAT */
DRAY_MUST_CHECK int build_release_sort(struct build_release *r, struct dray_err *e);

/** build_release_group - find the hard-link groups by (dev, ino) among files; after the sort */
DRAY_MUST_CHECK int build_release_group(struct build_release *r, struct dray_err *e);

/**
 * build_release_cmp - a total order over what two releases hold, so that the order of arguments never shows
 * Return: < 0, 0 (equal in everything that a bundle records), > 0
 */
int build_release_cmp(const struct build_release *a, const struct build_release *b);

/** build_xattrs_cmp - the same over two xattr sets */
int build_xattrs_cmp(const struct build_node *a, const struct build_node *b);

/** build_release_newest - the newest mtime, seconds, at least 0 */
uint64_t build_release_newest(const struct build_release *r);

/** build_release_note - remember what was left out; the same twice in a row is one */
DRAY_MUST_CHECK int build_release_note(struct build_release *r, const struct build_notice *n, struct dray_err *e);

/** build_notices_sort - by path; the same twice is one */
void build_notices_sort(struct build_release *r);

/**
 * build_release_cases - notices for names that differ from one beside them only by case (ASCII letters)
 * @all: one for each; else one in all, which tells how many there are
 */
DRAY_MUST_CHECK int build_release_cases(struct build_release *r, bool all, size_t *found, struct dray_err *e);

/** build_path_err - a failure that names a path: "PATH: TEXT" with the path quoted; always -1 */
int build_path_err(struct dray_err *e, const struct build_release *r, const char *path, size_t len);

#endif
