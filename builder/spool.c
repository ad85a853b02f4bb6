/*
 * spool.c - contents back to back. One that is there already is cut off again.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/arena.h"
#include "builder/spool.h"
#include "builder/temp.h"
#include "dray/digest.h"
#include "tool/tool.h"

#define ZERO_BYTES (64u * 1024u)

struct held {
	uint8_t sha256[32];
	uint64_t size, at;
	struct held *next;
};

struct build_spool {
	int fd;
	char *dir;
	uint64_t begin;		/* of the content that is being put */
	uint64_t fill;		/* bytes of it so far, hashed */
	void *tree;		/* of struct held, by hash and size: balanced, whatever the archive holds */
	struct held *all;
	struct build_arena arena;
	struct dray_sha256 *sha;
};

static int
held_cmp(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;
	int c = memcmp(a->sha256, b->sha256, sizeof(a->sha256));

	return c != 0 ? c : (a->size > b->size) - (a->size < b->size);
}

int
build_spool_new(const char *dir, struct build_spool **out, struct dray_err *e)
{
	struct build_spool *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	s->fd = -1;
	if ((s->dir = strdup(dir)) == NULL) {
		build_spool_free(s);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	if (build_temp_unnamed(dir, &s->fd, e) != 0 || dray_sha256_new(&s->sha, e) != 0) {
		build_spool_free(s);
		return build_temp_failed(dir, e);
	}
	*out = s;
	return 0;
}

void
build_spool_free(struct build_spool *s)
{
	if (s == NULL)
		return;
	for (const struct held *h = s->all; h != NULL; h = h->next)
		tdelete(h, &s->tree, held_cmp);
	build_arena_free(&s->arena);
	dray_sha256_free(s->sha);
	if (s->fd != -1)
		close(s->fd);
	free(s->dir);
	free(s);
}

int
build_spool_begin(struct build_spool *s, struct dray_err *e)
{
	s->fill = 0;
	return dray_sha256_begin(s->sha, e);
}

/* the hash goes over zeros up to @at; the file gets a hole */
static int
skip(struct build_spool *s, uint64_t at, struct dray_err *e)
{
	static const uint8_t zeros[ZERO_BYTES];

	while (s->fill < at) {
		uint64_t left = at - s->fill;
		size_t n = left > ZERO_BYTES ? ZERO_BYTES : (size_t)left;

		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
		if (dray_sha256_add(s->sha, zeros, n, e) != 0)
			return -1;
		s->fill += n;
	}
	return 0;
}

static int
check_size(uint64_t size, struct dray_err *e)
{
	if (size > BUILD_CONTENT_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "larger than 1 TiB");
	return 0;
}

int
build_spool_put(struct build_spool *s, uint64_t at, const void *p, size_t len, struct dray_err *e)
{
	if (at < s->fill)
		return dray_fail(e, DRAY_E_FORMAT, "the archive is damaged: its contents overlap");
	if (check_size(at, e) != 0 || check_size(at + len, e) != 0 || skip(s, at, e) != 0 ||
	    dray_sha256_add(s->sha, p, len, e) != 0)
		return -1;
	s->fill += len;
	if (build_temp_write(s->fd, s->begin + at, p, len, e) != 0)
		return build_temp_failed(s->dir, e);
	return 0;
}

int
build_spool_end(struct build_spool *s, uint64_t size, uint8_t sha256[32], uint64_t *at, struct dray_err *e)
{
	struct held key = { .size = size < s->fill ? s->fill : size }, *mine;
	struct held *const *found;

	if (check_size(key.size, e) != 0 || skip(s, key.size, e) != 0 || dray_sha256_end(s->sha, key.sha256, e) != 0)
		return -1;
	memcpy(sha256, key.sha256, sizeof(key.sha256));
	key.at = s->begin;
	if ((mine = build_arena_take(&s->arena, sizeof(*mine))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*mine = key;
	if ((found = tsearch(mine, &s->tree, held_cmp)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*at = (*found)->at;
	if (*found == mine) {
		mine->next = s->all;
		s->all = mine;
		s->begin += key.size;
	}
	/* a hole at the end, or a content that was there before: what follows must find neither bytes nor a shorter file */
	if (ftruncate(s->fd, (off_t)s->begin) != 0) {
		dray_fail_errno(e, "cannot be written");
		return build_temp_failed(s->dir, e);
	}
	return 0;
}

int
build_spool_fd(const struct build_spool *s)
{
	return s->fd;
}
