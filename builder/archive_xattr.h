/*
 * archive_xattr.h - private to archive.c: extended attributes and ACLs of a member.
 */
#ifndef BUILD_ARCHIVE_XATTR_H
#define BUILD_ARCHIVE_XATTR_H

#include <stddef.h>
#include <stdint.h>

#include <archive_entry.h>

#include "builder/archive.h"
#include "dray/err.h"

struct build_member_xattrs {		/* zeroed before the first member; used again for each */
	struct dray_xattr *v;
	size_t cap;
	uint8_t *acl[2];		/* access, default: made from what libarchive parsed */
};

/** build_member_xattrs - those of @en into @m, where they are valid until the next call; its mode as the ACL has it */
DRAY_MUST_CHECK int build_member_xattrs(struct build_member_xattrs *x, struct archive_entry *en, struct build_member *m,
    struct dray_err *e);

void build_member_xattrs_free(struct build_member_xattrs *x);

#endif
