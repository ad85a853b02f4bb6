/*
 * path.c - the only place where a name becomes a path: grammar, order, and the walk beneath a root handle.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"
#include "dray/path.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
#define AGAIN_TRIES 8	/* openat2: EAGAIN while somebody renames on the way */

static const char *
grammar_flaw(const char *path, size_t len)
{
	size_t begin = 0, i, n;

	if (len == 0)
		return "it is empty";
	if (len >= DRAY_PATH_MAX)
		return "it is longer than 4095 bytes";
	if (memchr(path, '\0', len) != NULL)
		return "it holds a NUL byte";
	if (path[0] == '/')
		return "it is absolute";
	for (i = 0; i <= len; i++) {
		if (i < len && path[i] != '/')
			continue;
		n = i - begin;
		if (n == 0)
			return "it has an empty part";
		if (n > DRAY_NAME_MAX)
			return "it has a part longer than 255 bytes";
		if (path[begin] == '.' && (n == 1 || (n == 2 && path[begin + 1] == '.')))
			return "it has a part \".\" or \"..\"";
		begin = i + 1;
	}
	return NULL;
}

bool
dray_path_ok(const char *path, size_t len, const char **why)
{
	const char *flaw = grammar_flaw(path, len);

	if (why != NULL)
		*why = flaw;
	return flaw == NULL;
}

int
dray_path_cmp(const char *a, size_t alen, const char *b, size_t blen)
{
	const size_t n = alen < blen ? alen : blen;
	size_t i;

	for (i = 0; i < n && a[i] == b[i]; i++)
		;
	if (i < n) {
		/* no path holds a NUL, so 0 is free to stand for the slash */
		const unsigned x = a[i] == '/' ? 0 : (unsigned char)a[i];
		const unsigned y = b[i] == '/' ? 0 : (unsigned char)b[i];

		return x < y ? -1 : 1;
	}
	return alen == blen ? 0 : alen < blen ? -1 : 1;
}

bool
dray_path_under(const char *path, size_t len, const char *dir, size_t dlen)
{
	if (dlen == 0)
		return true;
	return len >= dlen && memcmp(path, dir, dlen) == 0 && (len == dlen || path[dlen] == '/');
}

bool
dray_path_reserved(const char *path, size_t len)
{
	static const char *const names[] = { ".dray-pending", "var/lib/dray", "var/db/dray" };
	size_t i;

	/* any directory may be the top of a mount */
	for (i = 0; i + 5 <= len; i++) {
		if ((i == 0 || path[i - 1] == '/') && memcmp(path + i, ".dray", 5) == 0 && (i + 5 == len || path[i + 5] == '/'))
			return true;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (dray_path_under(path, len, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

void
dray_walk_init(struct dray_walk *w, int root)
{
	w->root = root;
	w->dir = -1;
	w->len = 0;
	w->component_walk = false;
	w->path[0] = '\0';
}

void
dray_walk_forget(struct dray_walk *w)
{
	if (w->dir != -1)
		close(w->dir);	/* read-only, nothing to lose */
	w->dir = -1;
	w->len = 0;
}

void
dray_walk_close(struct dray_walk *w)
{
	dray_walk_forget(w);
	w->root = -1;
}

/* one openat per part, each with O_NOFOLLOW; a handle or -1 with errno */
static int
walk_parts(int root, const char *path)
{
	char part[DRAY_NAME_MAX + 1];
	int dir = root, next, err;
	const char *slash;
	size_t n;

	for (;;) {
		slash = strchr(path, '/');
		n = slash == NULL ? strlen(path) : (size_t)(slash - path);
		assert(n > 0 && n <= DRAY_NAME_MAX);	/* the grammar was checked */
		memcpy(part, path, n);
		part[n] = '\0';
		next = slash == NULL ? openat(dir, part, OPEN_DIR) : os_open_walk(dir, part);
		err = errno;
		if (dir != root)
			close(dir);
		errno = err;
		if (next == -1 || slash == NULL)
			return next;
		dir = next;
		path = slash + 1;
	}
}

/* the kernel does it in one go where it can; what it cannot answer, the walk by parts answers */
static int
open_dir(struct dray_walk *w, const char *path)
{
	int fd, i;

	if (w->component_walk)
		return walk_parts(w->root, path);
	for (i = 0; i < AGAIN_TRIES; i++) {
		fd = os_open_beneath(w->root, path, OPEN_DIR);
		if (fd != -1 || errno != EAGAIN)
			break;
	}
	if (fd != -1 || errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return fd;
	if (errno == ENOSYS)
		w->component_walk = true;
	return walk_parts(w->root, path);
}

int
dray_walk_parent(struct dray_walk *w, const char *path, size_t len, int *dirfd,
    char leaf_buf[DRAY_NAME_MAX + 1], struct dray_err *e)
{
	char parent[DRAY_PATH_MAX], name[512];
	const char *why = NULL;
	size_t plen = len;
	int fd;

	*dirfd = -1;
	leaf_buf[0] = '\0';
	if (!dray_path_ok(path, len, &why))
		return dray_fail(e, DRAY_E_FORMAT, "%s is no valid path: %s",
		    dray_quote(path, len, name, sizeof(name)), why);
	while (plen > 0 && path[plen - 1] != '/')
		plen--;
	memcpy(leaf_buf, path + plen, len - plen);
	leaf_buf[len - plen] = '\0';
	if (plen == 0) {
		*dirfd = w->root;
		return 0;
	}
	plen--;	/* the slash */
	if (w->dir != -1 && w->len == plen && memcmp(w->path, path, plen) == 0) {
		*dirfd = w->dir;
		return 0;
	}
	memcpy(parent, path, plen);
	parent[plen] = '\0';
	if ((fd = open_dir(w, parent)) == -1) {
		/* FreeBSD says EMLINK where others say ELOOP */
		if (errno == ENOENT)
			return 1;
		if (errno == ENOTDIR || errno == ELOOP || errno == EMLINK)
			return 2;
		return dray_fail_errno(e, "cannot open the directory %s",
		    dray_quote(parent, plen, name, sizeof(name)));
	}
	dray_walk_forget(w);
	w->dir = fd;
	w->len = plen;
	memcpy(w->path, parent, plen + 1);
	*dirfd = fd;
	return 0;
}
