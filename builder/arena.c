/*
 * arena.c - a chain of blocks, filled front to back. A piece too large for what is left gets a new block; the rest
 * of the old one is lost, which costs little with texts of some dozen bytes.
 */
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "builder/arena.h"

#define BLOCK_BYTES (256u * 1024u)

struct build_arena_block {
	struct build_arena_block *next;
	size_t used, cap;
	alignas(max_align_t) unsigned char bytes[];
};

void *
build_arena_take(struct build_arena *a, size_t len)
{
	struct build_arena_block *b = a->top;
	size_t step = alignof(max_align_t), cap = BLOCK_BYTES;
	void *p;

	if (len > SIZE_MAX / 2)
		return NULL;
	len = (len + step - 1) / step * step;
	if (b == NULL || len > b->cap - b->used) {
		if (len > cap)
			cap = len;
		if ((b = malloc(sizeof(*b) + cap)) == NULL)
			return NULL;
		b->next = a->top;
		b->used = 0;
		b->cap = cap;
		a->top = b;
	}
	p = b->bytes + b->used;
	b->used += len;
	return p;
}

char *
build_arena_copy(struct build_arena *a, const void *p, size_t len)
{
	char *to = len < SIZE_MAX / 2 ? build_arena_take(a, len + 1) : NULL;

	if (to == NULL)
		return NULL;
	if (len > 0)
		memcpy(to, p, len);
	to[len] = '\0';
	return to;
}

void
build_arena_free(struct build_arena *a)
{
	struct build_arena_block *b, *next;

	for (b = a->top; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	a->top = NULL;
}

void *
build_grow(void *v, size_t n, size_t *cap, size_t item)
{
	size_t more = *cap == 0 ? 256 : *cap * 2;

	if (n < *cap)
		return v;
	if (more > SIZE_MAX / item || (v = realloc(v, more * item)) == NULL)
		return NULL;
	*cap = more;
	return v;
}
