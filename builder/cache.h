/*
 * cache.h - compressed frames of earlier builds, by the hash of all that went into them. A folder that may be deleted,
 * copied, or used by several builds at any time: each frame is one file, written beside and renamed, and proves itself.
 */
#ifndef BUILD_CACHE_H
#define BUILD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/digest.h"
#include "dray/err.h"

struct build_cache;

struct build_cached {			/* owned by the caller; reusable, all zero at first */
	uint8_t kind, codec;
	uint32_t raw;
	uint8_t *p;			/* stored bytes of the frame */
	size_t len, cap;
};

struct build_cache_counts { uint64_t hits, misses, damaged; };

/**
 * build_cache_open - make the folder if it is not there
 * @path: NULL: $XDG_CACHE_HOME/dray, else $HOME/.cache/dray; without both, or when that one cannot be used, *out is NULL
 *     and all goes on without
 * One that can be read and not written is used as it is; see build_cache_read_only.
 * Errors, only for a path that was given: DRAY_E_IO.
 */
DRAY_MUST_CHECK int build_cache_open(const char *path, struct build_cache **out, struct dray_err *e);
/** build_cache_usual - $XDG_CACHE_HOME/dray, else $HOME/.cache/dray; malloc'ed; NULL without both or without memory */
char *build_cache_usual(void);

/** build_make_dirs - the folder @path and those above it; @path is changed meanwhile; -1 with errno */
int build_make_dirs(char *path);

void build_cache_close(struct build_cache *c);
const char *build_cache_path(const struct build_cache *c);
bool build_cache_read_only(const struct build_cache *c);

/** build_cache_get - true: @v holds it. A damaged file is removed. Any thread, each with its own @h; @c may be NULL */
bool build_cache_get(struct build_cache *c, struct dray_sha256 *h, const uint8_t key[32], struct build_cached *v);

/** build_cache_put - keep it if that can be done; nothing depends on it */
void build_cache_put(struct build_cache *c, struct dray_sha256 *h, const uint8_t key[32], uint8_t kind, uint8_t codec, uint32_t raw,
    const uint8_t *p, size_t len);

/** build_cache_drop - what was got turned out to be wrong */
void build_cache_drop(struct build_cache *c, const uint8_t key[32]);

struct build_cache_counts build_cache_counts(const struct build_cache *c);

#endif
