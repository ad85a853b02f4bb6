/*
 * arena.h - memory that is taken piece by piece and given back as a whole: the texts and xattrs of a release.
 * One arena belongs to one thread at a time.
 */
#ifndef BUILD_ARENA_H
#define BUILD_ARENA_H

#include <stddef.h>

struct build_arena {
	struct build_arena_block *top;
};

/** build_arena_take - @len bytes, aligned for any object; NULL when memory is out */
void *build_arena_take(struct build_arena *a, size_t len);

/** build_arena_copy - a copy of @len bytes with a NUL behind it; NULL when memory is out */
char *build_arena_copy(struct build_arena *a, const void *p, size_t len);

void build_arena_free(struct build_arena *a);

/**
 * build_grow - room for one more item in an array that grows by doubling
 * @v, @n, @cap: malloc'ed or NULL; items in it, and those there is room for, which changes
 * Return: the array, or NULL when memory is out; @v is then still the caller's.
 */
void *build_grow(void *v, size_t n, size_t *cap, size_t item);

#endif
