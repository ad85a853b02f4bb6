/*
 * fbsd_store.h - what was fetched from freebsd-update servers, by the hash it is named by: a folder that may be deleted,
 * copied and shared. Nothing in it is believed: each object is checked against its name whenever it is read.
 *
 *	pub/PRINT	public keys			t/HASH		metadata indexes
 *	tag/PRINT/RELEASE_ARCH	latest.ssl as last seen	m/HASH.gz	metadata files
 *	f/ab/HASH.gz	contents			bp/ab/OLD-NEW	patches between contents (BSDIFF40)
 */
#ifndef BUILD_FBSD_STORE_H
#define BUILD_FBSD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/gunzip.h"
#include "dray/digest.h"
#include "dray/err.h"

struct build_fbsd_store;

/**
 * build_fbsd_store_open - make the folder if it is not there
 * @path: NULL: "freebsd-update" in the folder that build_cache_usual tells
 * Errors: DRAY_E_IO, DRAY_E_USAGE (no usual place).
 */
DRAY_MUST_CHECK int build_fbsd_store_open(const char *path, struct build_fbsd_store **out, struct dray_err *e);
void build_fbsd_store_close(struct build_fbsd_store *s);
const char *build_fbsd_store_path(const struct build_fbsd_store *s);

/** build_fbsd_name - in the store: "t/HASH", "m/HASH.gz", "f/ab/HASH.gz" */
void build_fbsd_name(char kind, const uint8_t sha256[32], char name[100]);

/** build_fbsd_server_name - the same with a server, beneath RELEASE/ARCH: "t/HASH", "m/HASH.gz", "f/HASH.gz" */
void build_fbsd_server_name(char kind, const uint8_t sha256[32], char name[100]);

/** build_fbsd_store_has - does an object of that name stand there? It may be damaged */
bool build_fbsd_store_has(const struct build_fbsd_store *s, const char *name);

/** build_fbsd_store_object - its file, or -1 */
int build_fbsd_store_object(const struct build_fbsd_store *s, const char *name);

/** build_fbsd_store_drop - it was found to be damaged */
void build_fbsd_store_drop(struct build_fbsd_store *s, const char *name);

struct build_fbsd_new { char name[64]; int fd; };	/* an object that has no name yet */

/** build_fbsd_store_new - a file for an object to come, open for writing and reading */
DRAY_MUST_CHECK int build_fbsd_store_new(struct build_fbsd_store *s, struct build_fbsd_new *n, struct dray_err *e);

/** build_fbsd_store_keep - it is right: give it its name. Closes it in any case */
DRAY_MUST_CHECK int build_fbsd_store_keep(struct build_fbsd_store *s, struct build_fbsd_new *n, const char *name,
    struct dray_err *e);
void build_fbsd_store_forget(struct build_fbsd_store *s, struct build_fbsd_new *n);

/** build_fbsd_store_deflate - an object of what @fill puts, as gzip. @name: taken on trust, as every read checks */
DRAY_MUST_CHECK int build_fbsd_store_deflate(struct build_fbsd_store *s, const char *name,
    int (*fill)(void *ctx, struct build_gzip *g, struct dray_err *e), void *ctx, struct dray_err *e);

/** build_fbsd_store_read - a small object as it is into @buf; Return: bytes; -1: not there, or larger than @cap */
long build_fbsd_store_read(const struct build_fbsd_store *s, const char *name, void *buf, size_t cap);

/** build_fbsd_store_write - a small object as it is, in place of what was there */
DRAY_MUST_CHECK int build_fbsd_store_write(struct build_fbsd_store *s, const char *name, const void *p, size_t len,
    struct dray_err *e);

#endif
