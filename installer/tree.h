/*
 * tree.h - a digest of everything inside a directory, to tell later whether anybody touched it.
 * Not a content hash: names, types, inodes, sizes and times. Source: spec/apply.md, "Tree digest".
 */
#ifndef INST_TREE_H
#define INST_TREE_H

#include <stdint.h>

#include "dray/err.h"

/**
 * inst_tree_digest - of what is inside @name in @dir (the directory's own attributes are left out: a rename changes them)
 * @out: 32 zero bytes when @name is no directory or absent
 * For an object with several links the change time is left out, since it also moves with the other names.
 */
DRAY_MUST_CHECK int inst_tree_digest(int dir, const char *name, uint8_t out[32], struct dray_err *e);

#endif
