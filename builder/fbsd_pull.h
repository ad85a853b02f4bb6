/*
 * fbsd_pull.h - objects of a freebsd-update server by their hashes, from the store or else from the server, many at once.
 */
#ifndef BUILD_FBSD_PULL_H
#define BUILD_FBSD_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/fbsd_store.h"
#include "builder/fetch.h"
#include "builder/gunzip.h"
#include "dray/digest.h"
#include "dray/err.h"

struct build_fbsd_server {
	struct build_fetch *fetch;
	struct build_fbsd_store *store;
	uint8_t keyprint[32];
	struct dray_sha256 *h;
};

#define BUILD_FBSD_CONTENT_MAX (UINT64_C(4) << 30)	/* bytes of one content, inflated */

struct build_fbsd_want {
	const char *dir;		/* "13.2-RELEASE/amd64" */
	char kind;			/* 't', 'm', 'f': what the name promises, see fbsd_store.h */
	uint8_t sha256[32];
	const char *path;		/* @path_len bytes: one that has this content, for messages; NULL: a metadata file */
	size_t path_len;
};

enum build_fbsd_state {		/* of a want */
	BUILD_FBSD_ASK,
	BUILD_FBSD_LATER,		/* not to be asked for */
	BUILD_FBSD_LACKING,		/* the server has none */
};

/**
 * build_fbsd_pull - bring all of @v into the store; what stands there under its name is left as it is
 * @state: NULL: what is not there is an error. Else one for each, and none of it is asked for but BUILD_FBSD_ASK
 * @n_fetched: how many came from the server, counted on
 * Errors: DRAY_E_FORMAT: what the server sends does not hash to its name, twice; with URL, release and path.
 * DRAY_E_IO: not there, or no answer, with URL; DRAY_E_SIGNAL.
 */
DRAY_MUST_CHECK int build_fbsd_pull(struct build_fbsd_server *s, const struct build_fbsd_want *v, size_t n,
    enum build_fbsd_state *state, size_t *n_fetched, struct dray_err *e);

/** build_fbsd_lacks - fail: the server has no @w; @patches: nor a patch for it */
int build_fbsd_lacks(const struct build_fbsd_server *s, const struct build_fbsd_want *w, bool patches, struct dray_err *e);

/**
 * build_fbsd_object - one of them, inflated, checked, and put; fetched if the store has none or a damaged one
 * @o: its max is set here
 */
DRAY_MUST_CHECK int build_fbsd_object(struct build_fbsd_server *s, const struct build_fbsd_want *w,
    const struct build_gunzip *o, uint64_t *size, struct dray_err *e);

/**
 * build_fbsd_plain - an object whose name tells no hash: pub.ssl, latest.ssl, a patch
 * @fd: an empty file that takes it; *there: false when the server says that there is none
 */
DRAY_MUST_CHECK int build_fbsd_plain(struct build_fbsd_server *s, const char *path, uint64_t max, int fd, bool *there,
    struct dray_err *e);

#endif
