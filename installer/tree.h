/*
 * tree.h - a digest of everything inside a directory, to tell later whether anybody touched it.
 * Not a content hash: names, types, inodes, sizes and times. Source: spec/apply.md, "Tree digest".
 */
#ifndef INST_TREE_H
#define INST_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/os.h"

/**
 * inst_tree_digest - of what is inside @name in @dir (the directory's own attributes are left out: a rename changes them)
 * @out: 32 zero bytes when @name is no directory or absent
 * For an object with several links the change time is left out, since it also moves with the other names.
 */
DRAY_MUST_CHECK int inst_tree_digest(int dir, const char *name, uint8_t out[32], struct dray_err *e);

/* what is left out of a digest: @v and all beneath them, and of the directories above them sizes and times. The directory
 * whose digest is taken is @path beneath the root, as those are */
struct inst_text;
struct inst_but { const char *path; size_t len; const struct inst_text *v; size_t n; };
DRAY_MUST_CHECK int inst_tree_digest_but(int dir, const char *name, const struct inst_but *but, uint8_t out[32],
    struct dray_err *e);

/**
 * inst_tree_each - call @fn for @name in @dir and for everything beneath it
 * A directory comes before what it holds; no symlink is followed; depth costs no handles.
 */
typedef int inst_tree_fn(void *ctx, int dir, const char *name, const struct dray_stat *st, struct dray_err *e);
DRAY_MUST_CHECK int inst_tree_each(int dir, const char *name, inst_tree_fn *fn, void *ctx, struct dray_err *e);

/** inst_tree_no_mount - fails with DRAY_E_SYSTEM when something is mounted on @name in @dir or beneath it */
DRAY_MUST_CHECK int inst_tree_no_mount(int dir, const char *name, struct dray_err *e);

/* names in a directory, in byte order; owned */
struct inst_names { char **v; size_t n, cap; };
/** inst_names_list - all but "." and ".." of the open directory @fd, whose position does not move; @l starts as zero and
 * is freed by the caller even after a failure */
DRAY_MUST_CHECK int inst_names_list(int fd, struct inst_names *l, struct dray_err *e);
void inst_names_free(struct inst_names *l);

#endif
