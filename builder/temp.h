/*
 * temp.h - files that get their name only when they are right.
 */
#ifndef BUILD_TEMP_H
#define BUILD_TEMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define BUILD_TEMP_NAME ".dray-tmp-"	/* PID-N follows */

struct build_temp {
	int fd;			/* open for reading and writing, -1: none */
	int dir;		/* folder of the final name */
	const char *final;	/* borrowed; as the user gave it */
	char name[64];		/* beneath dir */
	const char *leaf;	/* last part of final */
	bool runs;		/* a program: set it before the commit */
	size_t removed;		/* files that killed builds had left in the folder */
};

/** build_temp_unnamed - a file in @dir that is gone when closed */
DRAY_MUST_CHECK int build_temp_unnamed(const char *dir, int *fd, struct dray_err *e);

/** build_temp_make - a file of a temporary name in the folder @dir, open for reading and writing, and locked (flock) */
DRAY_MUST_CHECK int build_temp_make(int dir, char name[64], int *fd, struct dray_err *e);

/** build_temp_failed - what went wrong with an unnamed file in @dir, and what to do when there is no room; always -1 */
int build_temp_failed(const char *dir, struct dray_err *e);

/**
 * build_temp_open - a file beside @path under a temporary name; @path must not be a folder or a special file
 * Holds a lock (flock) on it as long as the name is temporary, and first removes what killed runs have left there.
 */
DRAY_MUST_CHECK int build_temp_open(const char *path, struct build_temp *t, struct dray_err *e);

/** build_temp_commit - mode by the umask where modes are ours to set, synced, renamed to its final name, folder synced; closes */
DRAY_MUST_CHECK int build_temp_commit(struct build_temp *t, struct dray_err *e);

/** build_temp_drop - close and remove; harmless after a commit */
void build_temp_drop(struct build_temp *t);

/** build_temp_clean - remove the temporary files in @dir that nobody works on any more. Return: how many were removed */
size_t build_temp_clean(int dir);

/** build_temp_is - is @name in @dir, not followed, the file that @fd is a handle of? */
bool build_temp_is(int dir, const char *name, int fd);

/** build_temp_write - all of @len bytes at @at */
DRAY_MUST_CHECK int build_temp_write(int fd, uint64_t at, const void *p, size_t len, struct dray_err *e);

#endif
