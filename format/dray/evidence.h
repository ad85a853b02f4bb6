/*
 * evidence.h - what stays of each run: records chained by hashes, and lists of paths. Source: spec/apply.md, "Evidence".
 *
 * A record is canonical JSON and names the SHA-256 of the record before it. A list holds every path that a run changed
 * or decided to leave alone, in path order, with what was there before and after.
 */
#ifndef DRAY_EVIDENCE_H
#define DRAY_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/cursor.h"
#include "dray/err.h"
#include "dray/path.h"

struct dray_json;

#define DRAY_EV_RECORD_MAX (256u * 1024u)	/* bytes of one record */
#define DRAY_EV_LIST_MAX ((size_t)1 << 30)	/* bytes of one list */

/* why a path is in a list, as a letter: + added, ~ updated, - removed, t another type, m attributes only, . left alone */
#define DRAY_EV_CHANGES "+~-tm."

enum {
	DRAY_EV_PARKED = 1,	/* a local edit was replaced and kept in the stash */
	DRAY_EV_EDIT = 2,	/* a local edit kept its content */
	DRAY_EV_ATTRS = 4,	/* local owner, mode or extended attributes were replaced */
	DRAY_EV_CONFIG = 8,	/* the release calls it a file that people edit */
	/* these stand in lists of version 2, which is what such a list is */
	DRAY_EV_MERGED = 16,	/* a local edit went into the new content, or what was decided on instead */
	DRAY_EV_OWN_ATTRS = 32,	/* local owner, mode and flags were kept */
};

struct dray_ev_side {		/* one path, before or after */
	uint8_t type;		/* enum dray_type */
	uint8_t has;		/* DRAY_HAS_MODE, _UID, _GID */
	uint32_t mode, uid, gid;
	uint8_t sha256[32];	/* DRAY_FILE: of the content; DRAY_SYMLINK: of the target; else unused */
};

struct dray_ev_row {
	char change;
	uint8_t flags;
	const char *path;	/* not NUL-terminated; from a reader: borrowed until the next row */
	size_t len;
	struct dray_ev_side before, after;
};

struct dray_ev_writer {		/* starts as zero */
	bool dry;		/* only @len and @rows are wanted */
	uint8_t *p;		/* owned */
	size_t len, cap;
	uint32_t rows;
	uint32_t version;
	size_t last;		/* length of the path before, which lies in @path */
	char path[DRAY_PATH_MAX];
};

/** dray_ev_add - one row; paths in ascending release order */
DRAY_MUST_CHECK int dray_ev_add(struct dray_ev_writer *w, const struct dray_ev_row *row, struct dray_err *e);
/** dray_ev_reserve - room for a list of @len bytes, so that it is allocated once */
DRAY_MUST_CHECK int dray_ev_reserve(struct dray_ev_writer *w, size_t len, struct dray_err *e);
/** dray_ev_end - the header is filled in: p, len are the list */
DRAY_MUST_CHECK int dray_ev_end(struct dray_ev_writer *w, struct dray_err *e);
void dray_ev_free(struct dray_ev_writer *w);

struct dray_ev_reader {
	struct dray_cursor c;
	uint32_t version, left;	/* rows to come */
	bool needs_2;		/* a row had a flag of version 2 */
	size_t len;
	char path[DRAY_PATH_MAX];
};

/** dray_ev_open - @p: borrowed while rows are read. DRAY_E_FORMAT, DRAY_E_NEWER */
DRAY_MUST_CHECK int dray_ev_open(struct dray_ev_reader *r, const uint8_t *p, size_t len, struct dray_err *e);
/** dray_ev_next - Return: 1 a row, 0 the end (nothing may follow it), -1 DRAY_E_FORMAT */
DRAY_MUST_CHECK int dray_ev_next(struct dray_ev_reader *r, struct dray_ev_row *row, struct dray_err *e);

struct dray_ev_record {
	uint64_t number;	/* from 1 */
	uint8_t prev[32], sha256[32];	/* of the record before it (zeros for the first); of its own bytes */
	bool has_list;
	uint64_t list_size;	/* bytes */
	uint8_t list_sha256[32];
	const char *ended;	/* borrowed from @doc: "done", "back", ... */
	struct dray_json *doc;	/* owned */
};

/** dray_ev_parse - one record; DRAY_E_FORMAT when it is not one. *out is safe to free on failure, its sha256 is set */
DRAY_MUST_CHECK int dray_ev_parse(const char *text, size_t len, struct dray_ev_record *out, struct dray_err *e);
void dray_ev_record_free(struct dray_ev_record *r);

#endif
