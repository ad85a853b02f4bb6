/*
 * archive.h - members of an archive one after the other, as they stand there. What they
 * mean as a tree is archive_tree.c's business.
 */
#ifndef BUILD_ARCHIVE_H
#define BUILD_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/index.h"

struct build_member {		/* texts and values are valid until the next member */
	const char *path;		/* as it stands there */
	const char *hard_link;		/* other name, or NULL */
	const char *target;		/* of a symlink, or NULL */
	uint32_t mode;			/* with the type; 0 type: none is told */
	uint32_t uid, gid;
	bool has_mtime, has_size;
	bool has_xattrs;		/* the format can hold them, so having none says something */
	bool has_flags;			/* file flags, which are not taken */
	int64_t mtime_sec;
	uint32_t mtime_nsec;
	uint64_t size;
	uint32_t rdev_major, rdev_minor;
	struct dray_xattr *xattrs;	/* names ascending, each once; ACLs as the kernel keeps them */
	size_t n_xattrs;
};

struct build_archive;

/**
 * build_archive_open - tar (ustar, pax, GNU), cpio, zip, Debian package (its data); plain or by gzip, xz, zstd, bzip2
 * Return: 0, or -1: DRAY_E_USAGE (none of these), DRAY_E_FORMAT (damaged), DRAY_E_IO.
 */
DRAY_MUST_CHECK int build_archive_open(const char *path, struct build_archive **out, struct dray_err *e);
void build_archive_close(struct build_archive *a);

/** build_archive_next - Return: 1 with the next member, 0 at the end, -1 with DRAY_E_FORMAT or DRAY_E_IO */
DRAY_MUST_CHECK int build_archive_next(struct build_archive *a, struct build_member *m, struct dray_err *e);

/**
 * build_archive_data - the next piece of the member's contents; what lies between pieces is zeros
 * Return: 1 with @len bytes at @at of the contents (borrowed until the next call), 0 at the end, -1
 */
DRAY_MUST_CHECK int build_archive_data(struct build_archive *a, const void **p, size_t *len, uint64_t *at,
    struct dray_err *e);

/** build_archive_name_err - put the name of a member before the text of @e, quoted; always -1 */
int build_archive_name_err(const char *path, struct dray_err *e);

/** build_archive_time_flaw - does libarchive misread times before 1970? See archive_time.c */
bool build_archive_time_flaw(void);

/** build_archive_done - bytes of the file read so far; build_archive_bytes - of all */
uint64_t build_archive_done(const struct build_archive *a);
uint64_t build_archive_bytes(const struct build_archive *a);

#endif
