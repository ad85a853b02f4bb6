/*
 * media.c - which of the bundles and volumes that were found are the one that is meant, and whether all of it is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/io.h"
#include "dray/trust.h"
#include "look.h"
#include "media_in.h"

#define CHECK_BYTES (size_t)(1 << 20)
#define OTHER_FILES 1024u
#define NAME_CAP DRAY_QUOTE_CAP(255)

static const char *
name_of(const struct tool_part *p, char out[NAME_CAP])
{
	return dray_quote(p->path, strlen(p->path), out, NAME_CAP);
}

static bool
whole(const struct tool_part *p)
{
	return p->size == DRAY_VOLUME_HEAD + p->head.len;
}

static int
find_all(struct tool_media *m, const char *folder, const struct tool_list *dirs, struct dray_err *e)
{
	if (tool_media_folder(m, folder, e) != 0)
		return -1;
	for (size_t i = 0; dirs != NULL && i < dirs->n; i++)
		if (tool_media_folder(m, dirs->v[i], e) != 0)
			return -1;
	tool_media_sort(m);
	return 0;
}

/* of a folder: there must be one bundle, in whatever form */
static int
the_only_id(const struct tool_media *m, uint8_t id[32], struct dray_err *e)
{
	char a[NAME_CAP], b[NAME_CAP];

	if (m->n_parts == 0) {
		dray_fail(e, DRAY_E_USAGE, "not a file, and no bundle or volume of one is in it");
		return dray_hint(e, "name the file; names that begin with a dot are not looked at in a folder");
	}
	for (size_t i = 1; i < m->n_parts; i++)
		if (memcmp(m->parts[i - 1].head.id, m->parts[i].head.id, 32) != 0) {
			dray_fail(e, DRAY_E_USAGE, "holds two different bundles: %s and %s", name_of(&m->parts[0], a),
			    name_of(&m->parts[i], b));
			return dray_hint(e, "name the one that you mean");
		}
	memcpy(id, m->parts[0].head.id, 32);
	return 0;
}

/* parts[first .. end) are one cut of the bundle: does each number occur, and is whole? */
static size_t
have(const struct tool_media *m, size_t first, size_t end)
{
	uint32_t last = 0;
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		if (whole(&m->parts[i]) && m->parts[i].head.number != last) {
			last = m->parts[i].head.number;
			n++;
		}
	return n;
}

/* the cut that is most complete, of those of the bundle @id; whole bundles stand before them. *one: one of those, or n_parts */
static void
choose(struct tool_media *m, const uint8_t id[32], size_t *one)
{
	size_t end, best = 0, n;

	*one = m->n_parts;
	for (size_t i = 0; i < m->n_parts; i = end) {
		end = i + 1;
		if (memcmp(m->parts[i].head.id, id, 32) != 0)
			continue;
		if (!m->parts[i].volume) {
			if (*one == m->n_parts)
				*one = i;
			continue;
		}
		while (end < m->n_parts && m->parts[end].volume && dray_volume_same_cut(&m->parts[i].head, &m->parts[end].head))
			end++;
		n = have(m, i, end);
		if (m->end == 0 || (uint64_t)n * m->parts[m->first].head.count > (uint64_t)best * m->parts[i].head.count) {
			best = n;
			m->first = i;
			m->end = end;
		}
	}
}

/* "2, 5-7 of 9": the numbers of which no whole volume was found */
static void
missing_text(const struct tool_media *m, char *out, size_t cap)
{
	const uint32_t count = m->parts[m->first].head.count;
	size_t at = m->first, n = 0;
	uint32_t from = 0;
	bool here;

	out[0] = '\0';
	for (uint32_t k = 1; k <= count + 1; k++) {
		here = k > count;
		for (; at < m->end && m->parts[at].head.number <= k; at++)
			here |= m->parts[at].head.number == k && whole(&m->parts[at]);
		if (!here && from == 0)
			from = k;
		if (!here || from == 0)
			continue;
		if (n < cap)
			n += (size_t)snprintf(out + n, cap - n, "%s%" PRIu32, n == 0 ? "" : ", ", from);
		if (k - 1 > from && n < cap)
			n += (size_t)snprintf(out + n, cap - n, "-%" PRIu32, k - 1);
		from = 0;
	}
	if (n < cap)
		snprintf(out + n, cap - n, " of %" PRIu32, count);
}

static int
incomplete(const struct tool_media *m, struct dray_err *e)
{
	char numbers[200], print[40], name[NAME_CAP];
	size_t i;

	missing_text(m, numbers, sizeof(numbers));
	dray_fail(e, DRAY_E_FORMAT, "volume %s of bundle %s is not here", numbers,
	    dray_fingerprint(m->parts[m->first].head.id, print));
	for (i = m->first; i < m->end; i++)
		if (!whole(&m->parts[i]))
			return dray_hint(e, "%s has %" PRIu64 " of %" PRIu64 " bytes: copy it again", name_of(&m->parts[i], name),
			    m->parts[i].size, DRAY_VOLUME_HEAD + m->parts[i].head.len);
	if (m->shut != NULL)
		return dray_hint(e, "%s cannot be opened: permission denied; it may be the one",
		    dray_quote(m->shut, strlen(m->shut), name, sizeof(name)));
	for (i = 0; i < m->n_parts; i++)
		if ((i < m->first || i >= m->end) && m->parts[i].volume)
			return dray_hint(e, "%s is of another %s; name the folder where the right one is: --dir DIR",
			    name_of(&m->parts[i], name),
			    memcmp(m->parts[i].head.id, m->parts[m->first].head.id, 32) == 0 ? "splitting of it" : "bundle");
	return dray_hint(e, "name the folder where it is: --dir DIR");
}

/* each volume stays open; the usual limit is for less than there may be, and may be raised up to another one */
static void
raise_limit(uint32_t count)
{
	const rlim_t want = (rlim_t)count + OTHER_FILES;
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= want)
		return;
	r.rlim_cur = r.rlim_max == RLIM_INFINITY || r.rlim_max > want ? want : r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);	/* refused: too many open files is told where it happens */
}

static int
open_volumes(struct tool_media *m, struct dray_err *e)
{
	const uint32_t count = m->parts[m->first].head.count;
	struct dray_volume *v;
	char name[NAME_CAP];

	if (count < 2 || have(m, m->first, m->end) != count)
		return incomplete(m, e);
	if ((v = calloc(count, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	raise_limit(count);
	m->volumes = (struct dray_volumes){ .v = v, .total = m->parts[m->first].head.total };
	for (size_t i = m->first; i < m->end; i++) {
		const struct tool_part *p = &m->parts[i];

		if (!whole(p) || p->head.number != m->volumes.n + 1)
			continue;
		*v = (struct dray_volume){ .at = p->head.at, .len = p->head.len, .name = p->path };
		if ((v->fd = open(p->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) == -1)
			return dray_fail_errno(e, "%s: cannot be opened", name_of(p, name));
		m->volumes.n++;
		v++;
	}
	return 0;
}

static int
open_chosen(struct tool_media *m, const uint8_t id[32], struct dray_err *e)
{
	size_t one;

	choose(m, id, &one);
	return one < m->n_parts ? tool_bundle_fd(m->parts[one].path, &m->fd, e) : open_volumes(m, e);
}

static int
open_folder(struct tool_media *m, const char *path, const struct tool_list *dirs, struct dray_err *e)
{
	uint8_t id[32];

	if (find_all(m, path, dirs, e) != 0 || the_only_id(m, id, e) != 0)
		return -1;
	return open_chosen(m, id, e);
}

/* the file that was named is a volume: the others are looked for where it lies, and in @dirs */
static int
open_rest(struct tool_media *m, const char *path, const struct tool_list *dirs, struct dray_err *e)
{
	char *folder = tool_folder_of(path);
	uint8_t id[32];
	int rc;

	memcpy(id, m->parts[0].head.id, 32);
	close(m->fd);
	m->fd = -1;
	if (folder == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rc = find_all(m, folder, dirs, e);
	free(folder);
	return rc == 0 ? open_chosen(m, id, e) : -1;
}

int
tool_media_open(const char *path, const struct tool_list *dirs, struct tool_media *m, struct dray_err *e)
{
	struct stat st;

	*m = (struct tool_media){ .fd = -1 };
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return open_folder(m, path, dirs, e);
	if (tool_bundle_fd(path, &m->fd, e) != 0 || tool_media_look(m, m->fd, path, true, e) != 0)
		return -1;
	return m->n_parts == 1 && m->parts[0].volume ? open_rest(m, path, dirs, e) : 0;
}

const struct dray_volumes *
tool_media_volumes(const struct tool_media *m)
{
	return m->volumes.n > 0 ? &m->volumes : NULL;
}

/* *good: are the bytes those that its header speaks of? */
static int
compare(const struct tool_part *p, bool *good, struct dray_err *e)
{
	uint8_t sum[32], head[DRAY_VOLUME_HEAD], *buf = NULL;
	struct dray_sha256 *h = NULL;
	uint64_t at = 0;
	size_t n;
	int fd = -1, rc = -1;

	*good = false;
	if (!whole(p))
		return 0;
	if ((buf = malloc(CHECK_BYTES)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
	} else if (dray_sha256_new(&h, e) == 0 && dray_sha256_begin(h, e) == 0 && tool_bundle_fd(p->path, &fd, e) == 0) {
		rc = dray_pread_whole(fd, head, sizeof(head), 0) ? 0 : dray_fail(e, DRAY_E_MEDIUM, "the medium stopped answering");
		for (; rc == 0 && at < p->head.len; at += n) {
			n = p->head.len - at < CHECK_BYTES ? (size_t)(p->head.len - at) : CHECK_BYTES;
			if (tool_signal_seen() != 0)
				rc = dray_fail(e, DRAY_E_SIGNAL, "stopped by a signal");
			else if (!dray_pread_whole(fd, buf, n, DRAY_VOLUME_HEAD + at))
				rc = dray_fail(e, DRAY_E_MEDIUM, "the medium stopped answering");
			else
				rc = dray_sha256_add(h, buf, n, e);
		}
		if (rc == 0 && (rc = dray_sha256_end(h, sum, e)) == 0)
			*good = memcmp(sum, p->head.sha256, 32) == 0;
	}
	if (fd != -1)
		close(fd);
	dray_sha256_free(h);
	free(buf);
	return rc;
}

void
tool_media_check(const struct tool_media *m, const struct tool_common *c, struct dray_err *e)
{
	struct dray_err own = { 0 };
	char name[NAME_CAP];
	bool good;

	for (size_t i = m->first; i < m->end; i++) {
		const struct tool_part *p = &m->parts[i];

		if (compare(p, &good, &own) != 0) {
			*e = own;
			dray_wrap(e, "%s", name_of(p, name));
			return;
		}
		if (!c->json && !c->quiet)
			printf("volume %" PRIu32 " of %" PRIu32 ": %s: %s\n", p->head.number, p->head.count, name_of(p, name),
			    good ? "as it was cut" : whole(p) ? "damaged" : "not whole");
		if (good || !whole(p))
			continue;
		dray_err_clear(e);
		dray_fail(e, DRAY_E_FORMAT, "%s is damaged", name_of(p, name));
		dray_hint(e, "copy it again");
		return;
	}
}

void
tool_media_close(struct tool_media *m)
{
	if (m->fd != -1)
		close(m->fd);	/* read only, as all of them */
	m->fd = -1;
	for (uint32_t i = 0; i < m->volumes.n; i++)
		close(m->volumes.v[i].fd);
	free(m->volumes.v);
	for (size_t i = 0; i < m->n_parts; i++)
		free(m->parts[i].path);
	free(m->parts);
	free(m->shut);
	*m = (struct tool_media){ .fd = -1 };
}
