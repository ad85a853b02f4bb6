/*
 * folder.h - for targets of what reads files by their names: a folder in memory, where there is such a place, gone at the end.
 */
#ifndef FUZZ_FOLDER_H
#define FUZZ_FOLDER_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/scratch.h"

static char fuzz_folder_name[64];

static inline void
fuzz_folder_end(void)
{
	(void)!scratch_remove(fuzz_folder_name);
}

/* its handle; made at the first call */
static inline int
fuzz_folder(void)
{
	static int dir = -1;

	if (dir != -1)
		return dir;
	strcpy(fuzz_folder_name, "/dev/shm/dray-fuzz-XXXXXX");
	if (mkdtemp(fuzz_folder_name) == NULL) {
		strcpy(fuzz_folder_name, "/tmp/dray-fuzz-XXXXXX");
		if (mkdtemp(fuzz_folder_name) == NULL)
			abort();
	}
	if (atexit(fuzz_folder_end) != 0 || (dir = open(fuzz_folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		abort();
	return dir;
}

/* a file in it that holds these bytes and nothing else */
static inline void
fuzz_put(const char *file, const uint8_t *p, size_t len)
{
	int fd = openat(fuzz_folder(), file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, p, len) != (ssize_t)len || close(fd) != 0)
		abort();
}

/* its bytes up to the first NUL, which is skipped; all that is left without one */
static inline size_t
fuzz_cut(const uint8_t **p, size_t *left, const uint8_t **part)
{
	const uint8_t *end = *left > 0 ? memchr(*p, '\0', *left) : NULL;
	size_t len = end == NULL ? *left : (size_t)(end - *p);

	*part = *p;
	*p += len + (end != NULL);
	*left -= len + (end != NULL);
	return len;
}

#endif
