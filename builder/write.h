/*
 * write.h - the container: descriptor, slot, members, blocks. Source: spec/bundle-format.md, "Container".
 */
#ifndef BUILD_WRITE_H
#define BUILD_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "builder/pack.h"
#include "builder/resolve.h"
#include "builder/work.h"
#include "dray/descriptor.h"
#include "dray/err.h"

struct build_note {		/* an attachment: member notes/NAME */
	char name[96];		/* [A-Za-z0-9._-] */
	uint8_t *bytes;		/* owned */
	size_t len;
};

#define BUILD_NOTE_MAX (64u * 1024u * 1024u)

struct build_notes {		/* in order of their names */
	struct build_note *v;
	size_t n;
};

struct build_sizes {		/* of the finished bundle, bytes; headers and padding are in `container` */
	uint64_t frames, index, descriptor, readme, notes, slot, container, total;
};

/** build_note_check - could this file be attached? DRAY_E_USAGE, DRAY_E_IO, with its path */
DRAY_MUST_CHECK int build_note_check(const char *path, struct dray_err *e);

/**
 * build_notes_load - read the attachments; a name that stands twice is DRAY_E_USAGE
 * @out: owned by the caller (build_notes_free), also on failure
 */
DRAY_MUST_CHECK int build_notes_load(const char *const *paths, size_t n, struct build_notes *out,
    struct dray_err *e);

/** build_notes_add - one more: a copy of @len bytes under a name that is fit for one; DRAY_E_USAGE when that stands already */
DRAY_MUST_CHECK int build_notes_add(struct build_notes *to, const char *name, const void *p, size_t len, struct dray_err *e);
void build_notes_free(struct build_notes *notes);

/**
 * build_write - write a whole bundle without signatures into @fd, an empty file; the phase "write"
 * @d: product, version, counter, os, built, compatible, bases, slot, slim are set, components and phases may be (else
 *     one of each, "main"); the rest is filled here
 * @rs: its tables are finished here
 * @level: zstd level of the index
 */
DRAY_MUST_CHECK int build_write(int fd, struct dray_desc *d, struct build_resolved *rs,
    const struct build_packed *packed, const struct build_notes *notes, int level, struct build_work *work,
    struct build_sizes *sizes, struct dray_err *e);

#endif
