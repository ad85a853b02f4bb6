/*
 * extract.h - write paths of a release from its bundle beneath a folder. extract.c runs the steps: select, refuse, make,
 * dress, or take everything away again.
 */
#ifndef BUILD_EXTRACT_H
#define BUILD_EXTRACT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/release.h"
#include "dray/bundle.h"
#include "dray/digest.h"
#include "dray/err.h"
#include "dray/frame.h"
#include "dray/gzip.h"
#include "dray/path.h"
#include "tool/tool.h"

struct build_extract_opts {
	const struct tool_common *common;
	const char *dir;		/* made when it is missing; may be reached by a symlink, nothing beneath it is */
	const char *const *paths;	/* these and all beneath them; none: everything */
	size_t n_paths;
	const char *const *bases;	/* sources of base contents */
	size_t n_bases;
	bool preserve;			/* as root: setuid, setgid, capabilities and other privileged xattrs, devices */
	bool no_owner;			/* leave owners alone also as root */
};

struct build_extracted {
	size_t paths, files, dirs, symlinks, links, others;
	uint64_t bytes;
	size_t full, copy, delta;	/* files by how they were made; empty ones are neither */
	size_t left_devices, left_setuid, left_xattrs;	/* not restored, because not asked for */
	bool owners;			/* owners were set */
};

/**
 * build_extract - @b: an open bundle, with what trust its opener asked for
 * Refused before anything is written: DRAY_E_USAGE (a path that the release does not have), DRAY_E_SYSTEM (something
 * is there already), DRAY_E_CONFLICT (bytes that neither the bundle nor the bases have). Later: DRAY_E_FORMAT (damaged),
 * DRAY_E_DRIFT (a base changed), DRAY_E_ROOM, DRAY_E_IO, DRAY_E_SIGNAL; then what was written is removed again.
 */
DRAY_MUST_CHECK int build_extract(const struct dray_bundle *b, const struct build_extract_opts *o,
    struct build_extracted *r, struct dray_err *e);

/* --- the inside, shared by extract*.c ----------------------------------------------------------------------------- */

struct extract_node {			/* one path to write, in path order */
	uint32_t entry;			/* index row; its target is a state */
	uint32_t content;		/* files: row */
	uint32_t link_to;		/* node that holds the inode; DRAY_NONE: this one */
	uint8_t type;
	bool parent;			/* a directory above what was asked for: may be there already */
	bool skip;			/* left out */
	bool made;			/* by us: to be removed on failure */
	uint64_t ino;			/* of what was made */
};

struct extract_source {			/* where a base has a content */
	uint32_t base, node;		/* base DRAY_NONE: nowhere */
};

struct extract_worker {
	struct dray_walk walk;		/* beneath the folder */
	struct dray_decoder *dec;
	struct dray_sha256 *sha;	/* of a whole content, running */
	struct dray_sha256 *once;	/* of a frame's stored bytes */
	uint64_t put;			/* bytes of the content that were written */
	uint8_t *stored, *out, *ref;
	size_t stored_cap, out_cap, ref_cap;
	struct dray_range *ranges;
	size_t ranges_cap;
	uint32_t frame;			/* whose output is in @out; DRAY_NONE: none */
	uint32_t open_content;		/* base content that @reader has; DRAY_NONE: none */
	struct build_reader reader;
	struct dray_gzip_room gzip;
};

struct extract {
	const struct dray_bundle *b;
	const struct dray_index *ix;
	const struct dray_desc *desc;
	const struct build_extract_opts *o;
	struct build_extracted *r;
	int root;			/* handle of the folder */
	bool made_root;
	struct extract_node *nodes;
	size_t n;
	uint64_t *files;		/* nodes whose bytes are to be made, in the order of making: frame << 32 | node */
	size_t n_files;
	struct build_release **bases;
	size_t n_bases;
	struct extract_source *source;	/* per content row */
	struct extract_worker *workers;
	unsigned threads;
	uint64_t total;
	atomic_uint_least64_t done;
	atomic_size_t full, copy, delta;
	struct tool_progress progress;
};

/* ways to make a content, tried in this order; EXTRACT_DELTA + k: by its recipe k */
enum { EXTRACT_FULL, EXTRACT_COPY, EXTRACT_DELTA };
#define EXTRACT_NO_WAY UINT32_MAX

/* extract_select.c */
DRAY_MUST_CHECK int build_extract_select(struct extract *x, struct dray_err *e);

/* extract_base.c */
DRAY_MUST_CHECK int build_extract_bases(struct extract *x, struct dray_err *e);
void build_extract_bases_free(struct extract *x);
/** build_extract_size - bytes of a content; where the bundle does not tell, those of the base file that has it */
uint64_t build_extract_size(const struct extract *x, uint32_t content);
/** build_extract_base_read - @len bytes at @at of a base content; false: it cannot be had, whatever the reason */
bool build_extract_base_read(const struct extract *x, struct extract_worker *w, uint32_t content, uint64_t at,
    uint8_t *p, size_t len);
/** build_extract_base_inside - the @len bytes inside a base content that is a .gz; *here: they can be had */
DRAY_MUST_CHECK int build_extract_base_inside(const struct extract *x, struct extract_worker *w, uint32_t content, uint8_t *p,
    size_t len, bool *here, struct dray_err *e);

/* extract_make.c */
/** build_extract_way - the first way at or after @from in which @content can be made, with *r when it is a recipe */
uint32_t build_extract_way(const struct extract *x, uint32_t content, uint32_t from, struct dray_recipe *r);
/** build_extract_make - the bytes of @content into @fd, an empty file, by the first way that gives its hash */
DRAY_MUST_CHECK int build_extract_make(struct extract *x, struct extract_worker *w, uint32_t content, int fd,
    struct dray_err *e);
DRAY_MUST_CHECK int build_extract_workers(struct extract *x, struct dray_err *e);
void build_extract_workers_free(struct extract *x);

/* extract_guard.c */
DRAY_MUST_CHECK int build_extract_check_free(struct extract *x, struct dray_err *e);	/* nothing is in the way */
/** build_extract_undo - remove what was made; *left: what could not be removed, @first: the first of it, quoted */
void build_extract_undo(struct extract *x, size_t *left, char *first, size_t cap);

/* extract_put.c */
DRAY_MUST_CHECK int build_extract_put(struct extract *x, struct dray_err *e);
/** build_extract_place - the directory that holds @nd, which we made or found; anything else there is somebody's doing */
DRAY_MUST_CHECK int build_extract_place(const struct extract *x, struct dray_walk *w, const struct extract_node *nd,
    int *dir, char leaf[DRAY_NAME_MAX + 1], struct dray_err *e);
int build_extract_blame(const struct extract *x, uint32_t entry, struct dray_err *e);	/* wrap with the path; -1 */

/* subcommand */
int build_cmd_extract(int argc, char **argv, const struct tool_cmd *self);

#endif
