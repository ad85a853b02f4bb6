/*
 * files.h - small things done with files of our own folders: write one durably, read one whole, delete a tree.
 */
#ifndef INST_FILES_H
#define INST_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

/** inst_write_file - name beneath @dir: temporary, write, fsync, read back, rename, fsync the directory */
DRAY_MUST_CHECK int inst_write_file(int dir, const char *name, const void *p, size_t len, unsigned mode,
    struct dray_err *e);

/** inst_reads_back - do @len bytes at @at of the file come back from the disk, past the page cache, as they are in @p? */
bool inst_reads_back(int fd, const void *p, size_t len, uint64_t at);

/** inst_sweep_file - what inst_write_file of @name leaves in @dir when it is cut goes; where it cannot go, the next one tells */
void inst_sweep_file(int dir, const char *name);

/** inst_write_all - all of @len bytes at the handle's position */
DRAY_MUST_CHECK int inst_write_all(int fd, const void *p, size_t len, struct dray_err *e);

/** inst_no_file - does this errno of an open with O_NOFOLLOW say that a symlink or a socket is there? */
bool inst_no_file(int err);

/** inst_read_file - whole regular file of at most @max bytes, malloc'ed with a NUL after it; 1 when it does not exist */
DRAY_MUST_CHECK int inst_read_file(int dir, const char *name, size_t max, uint8_t **p, size_t *len,
    struct dray_err *e);

/**
 * inst_rmtree - delete @name in @dir and all beneath it; absent is fine
 * Never follows a symlink, never crosses a mount (DRAY_E_SYSTEM), holds at most 64 handles whatever the depth.
 */
DRAY_MUST_CHECK int inst_rmtree(int dir, const char *name, struct dray_err *e);

#endif
