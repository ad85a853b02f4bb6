/*
 * attrs.h - set the attributes of one object on disk, in the only safe order. Source: spec/apply.md, "Attributes".
 */
#ifndef DRAY_ATTRS_H
#define DRAY_ATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/index.h"

struct dray_attrs_want {	/* what an object shall have; what @has does not name stays as it is */
	uint16_t has;		/* DRAY_HAS_*, DRAY_HAS_MTIME included; DRAY_HAS_FLAGS is not looked at */
	uint32_t mode, uid, gid;
	int64_t mtime_sec;
	uint32_t mtime_nsec;
	bool plain;		/* extended attributes that only root can set stay as they are */
	const struct dray_xattr *xattrs;	/* of DRAY_HAS_XATTRS; borrowed */
	size_t n_xattrs;
};

/** dray_xattr_managed - is it of a family that releases carry: user.*, ACLs, capabilities? Others are the site's. */
bool dray_xattr_managed(const char *name, size_t len);

/** dray_xattr_privileged - can only root set an extended attribute of this name? */
bool dray_xattr_privileged(const char *name, size_t len);

/**
 * dray_attrs_set - @dir, @name: where it is; @type: enum dray_type of it; never follows a symlink
 * @fd: a handle of a file or directory if the caller has one, else -1: it is opened, and changed through the handle
 *
 * Drops setuid and setgid, then sets owner, xattrs (ACLs and capabilities too), mode, times. With DRAY_HAS_XATTRS,
 * managed xattrs that are not in the list are removed; others (labels) are left alone. Xattrs of symlinks, fifos and
 * devices are not set. Errors: DRAY_E_IO; DRAY_E_SYSTEM when the file system has no xattrs.
 */
DRAY_MUST_CHECK int dray_attrs_set(int dir, const char *name, int fd, uint8_t type, const struct dray_attrs_want *a,
    struct dray_err *e);

#endif
