/*
 * scratch.h - a scratch folder taken away at the end, without a shell.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <sys/stat.h>

#include <ftw.h>
#include <stdio.h>

static int
scratch_remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st, (void)kind, (void)where;
	return remove(path);
}

/* the folder and all beneath it, no symlink followed; 0 or -1 */
static int
scratch_remove(const char *dir)
{
	return nftw(dir, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
