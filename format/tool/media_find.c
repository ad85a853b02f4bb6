/*
 * media_find.c - which files of a folder are bundles or volumes, by their first bytes; sorted, so that what belongs together
 * stands together.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dray/descriptor.h"
#include "dray/digest.h"
#include "dray/io.h"
#include "dray/tar.h"
#include "media_in.h"

static int
keep(struct tool_media *m, const char *path, const struct tool_part *p, struct dray_err *e)
{
	struct tool_part *v;
	size_t cap;

	if (m->n_parts == m->cap_parts) {
		cap = m->cap_parts == 0 ? 16 : m->cap_parts * 2;
		if ((v = realloc(m->parts, cap * sizeof(*v))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		m->parts = v;
		m->cap_parts = cap;
	}
	v = &m->parts[m->n_parts];
	*v = *p;
	if ((v->path = strdup(path)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	m->n_parts++;
	return 0;
}

/* the id of a bundle file: the hash of a member that nobody has parsed. *is: false when it does not reach that far */
static int
bundle_id(int fd, const uint8_t head[DRAY_TAR_BLOCK], uint8_t id[32], bool *is, struct dray_err *e)
{
	struct dray_err no = { 0 };
	uint64_t size;
	uint8_t *json;
	int rc = 0;

	*is = false;
	if (dray_tar_check(head, "dray.json", DRAY_DESC_MAX_BYTES, &size, &no) != 0)
		return 0;
	if ((json = malloc((size_t)size + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (dray_pread_whole(fd, json, (size_t)size, DRAY_TAR_BLOCK)) {
		*is = true;
		rc = dray_sha256_bytes(json, (size_t)size, id, e);
	}
	free(json);
	return rc;
}

int
tool_media_look(struct tool_media *m, int fd, const char *path, bool named, struct dray_err *e)
{
	uint8_t head[DRAY_VOLUME_HEAD];
	struct tool_part p = { .path = NULL };
	struct stat st;
	bool is;

	_Static_assert(DRAY_VOLUME_HEAD == DRAY_TAR_BLOCK, "one read serves both");
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	errno = 0;
	if (!dray_pread_whole(fd, head, sizeof(head), 0)) {
		if (errno != EIO && errno != ENXIO && errno != ENODEV && errno != ESTALE)
			return 0;
		return dray_fail(e, DRAY_E_MEDIUM, "the medium stopped answering");
	}
	p.size = (uint64_t)st.st_size;
	p.volume = dray_volume_get(head, &p.head);
	if (!p.volume) {
		p.head = (struct dray_volume_head){ .total = p.size };
		if (bundle_id(fd, head, p.head.id, &is, e) != 0)
			return -1;
		if (!is && named && dray_volume_begins(head)) {
			dray_fail(e, DRAY_E_FORMAT, "a volume whose first bytes are damaged");
			return dray_hint(e, "copy it again");
		}
		if (!is)
			return 0;
	}
	return keep(m, path, &p, e);
}

/* by id, whole bundles first, then by cut, number, path */
static int
cmp_part(const void *x, const void *y)
{
	const struct tool_part *a = x, *b = y;
	int d = memcmp(a->head.id, b->head.id, 32);

	if (d != 0)
		return d;
	if (a->volume != b->volume)
		return a->volume ? 1 : -1;
	if (a->volume && !dray_volume_same_cut(&a->head, &b->head)) {
		if (a->head.count != b->head.count)
			return a->head.count < b->head.count ? -1 : 1;
		if (a->head.total != b->head.total)
			return a->head.total < b->head.total ? -1 : 1;
		return dray_volume_cut(&a->head) < dray_volume_cut(&b->head) ? -1 : 1;
	}
	if (a->head.number != b->head.number)
		return a->head.number < b->head.number ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int
each_name(struct tool_media *m, DIR *d, const char *dir, struct dray_err *e)
{
	const size_t n = strlen(dir);
	const char *slash = n > 0 && dir[n - 1] == '/' ? "" : "/";
	struct dirent *de;
	struct stat st;
	char *path;
	int fd, rc;

	while (errno = 0, (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.' || fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (asprintf(&path, "%s%s%s", dir, slash, de->d_name) == -1)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		/* what cannot be opened is no part that could be used: if it is one, it will be missed by its number */
		if ((fd = openat(dirfd(d), de->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1) {
			if (m->shut == NULL && errno == EACCES)
				m->shut = path;
			else
				free(path);
			continue;
		}
		rc = tool_media_look(m, fd, path, false, e);
		close(fd);
		free(path);
		if (rc != 0)
			return -1;
	}
	return errno == 0 ? 0 : dray_fail_errno(e, "read the folder");
}

int
tool_media_folder(struct tool_media *m, const char *dir, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(255)];
	DIR *d = opendir(dir);
	int rc;

	if (d == NULL)
		rc = dray_fail_errno(e, "cannot be read");
	else {
		rc = each_name(m, d, dir, e);
		closedir(d);
	}
	return rc == 0 ? 0 : dray_wrap(e, "folder %s", dray_quote(dir, strlen(dir), q, sizeof(q)));
}

void
tool_media_sort(struct tool_media *m)
{
	size_t n = 0;

	if (m->n_parts > 1)
		qsort(m->parts, m->n_parts, sizeof(*m->parts), cmp_part);
	/* the same file found twice is one */
	for (size_t i = 0; i < m->n_parts; i++) {
		if (n > 0 && strcmp(m->parts[n - 1].path, m->parts[i].path) == 0)
			free(m->parts[i].path);
		else
			m->parts[n++] = m->parts[i];
	}
	m->n_parts = n;
}
