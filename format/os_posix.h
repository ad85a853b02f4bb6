/*
 * os_posix.h - what os_linux.c and os_freebsd.c share. Not for others.
 */
#ifndef DRAY_OS_POSIX_H
#define DRAY_OS_POSIX_H

#include "dray/os.h"

/** os_rename_by_link - os_rename_noreplace where the system has none: a link fails if the name is taken; a directory
 * has to be looked for */
int os_rename_by_link(int dir_a, const char *a, int dir_b, const char *b);

/** os_fs_room - block size, room and read_only of the file system @fd lies on */
int os_fs_room(int fd, struct dray_fs *fs);

#endif
