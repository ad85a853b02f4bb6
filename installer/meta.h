/*
 * meta.h - set the attributes of one object, in the only safe order: drop setuid/setgid, owner, xattrs (ACLs and
 * capabilities too), mode, times. Source: spec/apply.md, "Attributes".
 */
#ifndef INST_META_H
#define INST_META_H

#include "installer/plan.h"

/** inst_xattr_managed - is it of a family that releases carry: user.*, ACLs, capabilities? Others are the site's. */
bool inst_xattr_managed(const char *name);

/**
 * inst_meta_apply - @dir, @name: where it is; @type: enum dray_type of it; never follows a symlink
 * Files and directories are opened (O_NOFOLLOW) and changed through the handle; @fd: a handle if the caller has one, else -1.
 * Xattrs of the "user.", "security.capability", "system.posix_acl_*" families that @m does not list are removed when
 * DRAY_HAS_XATTRS is set; others (labels) are left alone.
 */
DRAY_MUST_CHECK int inst_meta_apply(int dir, const char *name, int fd, uint8_t type, const struct inst_meta *m,
    struct dray_err *e);

#endif
