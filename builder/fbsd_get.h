/*
 * fbsd_get.h - from a server's name to its signed metadata: key, tag, metadata index, metadata files, each checked before
 * it is read, and kept in the store.
 */
#ifndef BUILD_FBSD_GET_H
#define BUILD_FBSD_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_pull.h"
#include "dray/err.h"
#include "dray/fbsd.h"
#include "dray/fbsd_lines.h"

enum build_fbsd_file { BUILD_FBSD_ALL, BUILD_FBSD_NEW, BUILD_FBSD_OLD, BUILD_FBSD_FILES };
extern const char *const build_fbsd_file_name[BUILD_FBSD_FILES];	/* "INDEX-ALL", ... */

struct build_fbsd_text {
	char *p;			/* malloc'ed; NULL: not asked for */
	size_t len, cap;
};

struct build_fbsd_meta {		/* of one release and architecture at its newest patch level */
	char release[65], arch[33], dir[100];	/* dir: "13.2-RELEASE/amd64" */
	struct dray_fbsd_tag tag;
	struct build_fbsd_text key, sig, tindex;	/* as they came: pub.ssl, latest.ssl, t/HASH */
	struct build_fbsd_text file[BUILD_FBSD_FILES];
	uint8_t sha256[BUILD_FBSD_FILES][32];
};

/**
 * build_fbsd_meta_get - all of it for @release and @arch
 * @wanted: which metadata files
 * Errors: DRAY_E_TRUST: wrong key or signature; DRAY_E_FLOOR: the server is older than what the store has seen;
 * DRAY_E_FORMAT: an object is not what its name says, with URL; DRAY_E_IO: no answer, with URL; DRAY_E_USAGE: no such
 * release there; DRAY_E_SIGNAL.
 */
DRAY_MUST_CHECK int build_fbsd_meta_get(struct build_fbsd_server *s, const char *release, const char *arch,
    const bool wanted[BUILD_FBSD_FILES], struct build_fbsd_meta **out, struct dray_err *e);
void build_fbsd_meta_free(struct build_fbsd_meta *m);

/** build_fbsd_list - one of its metadata files, as long as @m stands */
struct dray_fbsd_list build_fbsd_list(const struct build_fbsd_meta *m, enum build_fbsd_file which);

/* texts grow as they come; free with free(t->p) */
int build_fbsd_text_begin(void *t, struct dray_err *e);
int build_fbsd_text_put(void *t, const uint8_t *p, size_t len, struct dray_err *e);

#endif
