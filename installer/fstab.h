/*
 * fstab.h - mounts that the tree expects and does not have now: what would be written below them would vanish beneath the
 * mount at the next boot. Source: fstab(5).
 */
#ifndef INST_FSTAB_H
#define INST_FSTAB_H

#include <stddef.h>

#include "dray/err.h"

struct inst_fstab {
	struct inst_fstab_row { char *path, *why; size_t len; } *v;	/* below the root; @why: for a note; owned */
	size_t n;
};

/**
 * inst_fstab_load - those lines of etc/fstab beneath @rootfd that are mounted at boot and are not mounted now
 * No such file, or one that is no regular file: none. noauto, swap, and file systems without a disk do not count.
 */
DRAY_MUST_CHECK int inst_fstab_load(int rootfd, struct inst_fstab *out, struct dray_err *e);
void inst_fstab_free(struct inst_fstab *f);

/** inst_fstab_below - why nothing can be changed at @path: it lies below one of them; NULL: it does not */
const char *inst_fstab_below(const struct inst_fstab *f, const char *path, size_t len);

#endif
