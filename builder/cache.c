/*
 * cache.c - DIR/ab/cdef...: magic, key, kind, codec, raw, length, the bytes, and the hash of all of that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/cache.h"
#include "dray/io.h"
#include "dray/num.h"

#define MAGIC "draycch1"
#define HEAD 52u		/* 8 magic, 32 key, 1 kind, 1 codec, 2 zero, 4 raw, 4 length */
#define MOST (256u * 1024u * 1024u)

struct build_cache {
	int dir;
	char *path;
	bool read_only;
	_Atomic uint64_t hits, misses, damaged, number;
};

int
build_make_dirs(char *path)
{
	for (char *p = path + 1; *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) {
			*p = '/';
			return -1;
		}
		*p = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

char *
build_cache_usual(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *rest = "/dray";
	char *path = NULL;

	/* a relative one is to be ignored: XDG Base Directory Specification */
	if (base == NULL || base[0] != '/') {
		base = getenv("HOME");
		rest = "/.cache/dray";
	}
	if (base == NULL || base[0] != '/' || asprintf(&path, "%s%s", base, rest) == -1)
		return NULL;
	return path;
}

int
build_cache_open(const char *path, struct build_cache **out, struct dray_err *e)
{
	struct build_cache *c = calloc(1, sizeof(*c));
	char quoted[300];

	*out = NULL;
	if (c == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	c->dir = -1;
	c->path = path != NULL ? strdup(path) : build_cache_usual();
	if (c->path != NULL && build_make_dirs(c->path) == 0)
		c->dir = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->dir != -1 && faccessat(c->dir, ".", R_OK | X_OK, AT_EACCESS) == 0) {
		/* one that others fill, or on a medium: what it holds is as good as ever */
		c->read_only = faccessat(c->dir, ".", W_OK, AT_EACCESS) != 0;
		*out = c;
		return 0;
	}
	if (path != NULL)
		dray_fail_errno(e, "the cache %s cannot be used", dray_quote(path, strlen(path), quoted, sizeof(quoted)));
	build_cache_close(c);
	return path != NULL ? -1 : 0;
}

void
build_cache_close(struct build_cache *c)
{
	if (c == NULL)
		return;
	if (c->dir != -1)
		close(c->dir);
	free(c->path);
	free(c);
}

const char *
build_cache_path(const struct build_cache *c)
{
	return c->path;
}

bool
build_cache_read_only(const struct build_cache *c)
{
	return c->read_only;
}

struct build_cache_counts
build_cache_counts(const struct build_cache *c)
{
	return (struct build_cache_counts){ c->hits, c->misses, c->damaged };
}

static void
name_of(const uint8_t key[32], char name[68])
{
	char hex[65];

	dray_hex(key, 32, hex);
	snprintf(name, 68, "%.2s/%s", hex, hex + 2);
}

/* is it whole, and what was asked for? Then the frame stands at the beginning of v->p */
static bool
parse(struct dray_sha256 *h, const uint8_t key[32], size_t size, struct build_cached *v)
{
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_err e;
	size_t len = size - HEAD - sizeof(sum);

	if (memcmp(v->p, MAGIC, 8) != 0 || memcmp(v->p + 8, key, 32) != 0 || dray_get_u32(v->p + 48) != len)
		return false;
	dray_err_clear(&e);
	if (dray_sha256_once(h, v->p, size - sizeof(sum), sum, &e) != 0 ||
	    memcmp(sum, v->p + size - sizeof(sum), sizeof(sum)) != 0)
		return false;
	v->kind = v->p[40];
	v->codec = v->p[41];
	v->raw = dray_get_u32(v->p + 44);
	v->len = len;
	memmove(v->p, v->p + HEAD, len);
	return true;
}

static bool
load(int fd, struct dray_sha256 *h, const uint8_t key[32], struct build_cached *v)
{
	struct stat st;
	size_t size;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= (off_t)(HEAD + DRAY_SHA256_LEN) ||
	    st.st_size > (off_t)MOST)
		return false;
	size = (size_t)st.st_size;
	if (size > v->cap) {
		uint8_t *p = realloc(v->p, size);

		if (p == NULL)
			return false;
		v->p = p;
		v->cap = size;
	}
	return dray_read_whole(fd, v->p, size) && parse(h, key, size, v);
}

bool
build_cache_get(struct build_cache *c, struct dray_sha256 *h, const uint8_t key[32], struct build_cached *v)
{
	char name[68];
	bool good;
	int fd;

	if (c == NULL)
		return false;
	name_of(key, name);
	if ((fd = openat(c->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) == -1) {
		c->misses++;
		return false;
	}
	good = load(fd, h, key, v);
	close(fd);
	if (good)
		c->hits++;
	else
		build_cache_drop(c, key);
	return good;
}

void
build_cache_drop(struct build_cache *c, const uint8_t key[32])
{
	char name[68];

	name_of(key, name);
	(void)unlinkat(c->dir, name, 0);	/* it may be gone already */
	c->damaged++;
}

static bool
write_all(int fd, const uint8_t *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

void
build_cache_put(struct build_cache *c, struct dray_sha256 *h, const uint8_t key[32], uint8_t kind, uint8_t codec, uint32_t raw,
    const uint8_t *p, size_t len)
{
	char name[68], temp[96];
	uint8_t head[HEAD] = { 0 }, sum[DRAY_SHA256_LEN];
	struct dray_err e;
	bool good;
	int fd;

	if (c == NULL || c->read_only || len > UINT32_MAX)
		return;
	name_of(key, name);
	memcpy(head, MAGIC, 8);
	memcpy(head + 8, key, 32);
	head[40] = kind;
	head[41] = codec;
	dray_put_u32(head + 44, raw);
	dray_put_u32(head + 48, (uint32_t)len);
	dray_err_clear(&e);
	if (dray_sha256_begin(h, &e) != 0 || dray_sha256_add(h, head, sizeof(head), &e) != 0 ||
	    dray_sha256_add(h, p, len, &e) != 0 || dray_sha256_end(h, sum, &e) != 0)
		return;
	snprintf(temp, sizeof(temp), "%.2s", name);
	(void)mkdirat(c->dir, temp, 0777);
	snprintf(temp, sizeof(temp), "%.2s/tmp-%ld-%ju", name, (long)getpid(), (uintmax_t)c->number++);
	if ((fd = openat(c->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666)) == -1)
		return;
	good = write_all(fd, head, sizeof(head)) && write_all(fd, p, len) && write_all(fd, sum, sizeof(sum));
	good = close(fd) == 0 && good;
	if (!good || renameat(c->dir, temp, c->dir, name) != 0)
		(void)unlinkat(c->dir, temp, 0);
}
