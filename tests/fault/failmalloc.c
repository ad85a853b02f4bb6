/*
 * failmalloc.c - linked into a dray-install for tests: the Nth allocation fails, N from DRAY_FAIL_ALLOC; 0 or none: all succeed
 *
 * The linker's --wrap sends malloc, calloc and realloc of the objects that are linked statically: our own ones. Those of
 * OpenSSL, zstd and json-c stay as they are: the start of the first dies of it, and the last has no word for it.
 * DRAY_COUNT_ALLOC names a file that gets their number at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static atomic_ulong count;
static unsigned long fails;
static int told = -1;		/* opened at the beginning: later the program has given up the right to */

static __attribute__((constructor)) void
begin(void)
{
	const char *n = getenv("DRAY_FAIL_ALLOC"), *name = getenv("DRAY_COUNT_ALLOC");

	if (n != NULL)
		fails = strtoul(n, NULL, 10);
	if (name != NULL)
		told = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static __attribute__((destructor)) void
end(void)
{
	if (told != -1)
		dprintf(told, "%lu\n", atomic_load(&count));
}

static int
refused(void)
{
	if (atomic_fetch_add(&count, 1) + 1 != fails)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *
__wrap_malloc(size_t n)
{
	return refused() ? NULL : __real_malloc(n);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return refused() ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t n)
{
	return refused() ? NULL : __real_realloc(p, n);
}
