/*
 * notes.c - attachments: release notes, bills of material, upstream's signed metadata.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/write.h"
#include "dray/policy.h"

static bool
name_ok(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	return n > 0 && s[n] == '\0' && n < sizeof(((struct build_note *)NULL)->name) - 1 && strcmp(s, ".") != 0 &&
	    strcmp(s, "..") != 0;
}

static int
open_note(const char *path, int *fd, size_t *len, struct dray_err *e)
{
	struct stat st;

	*fd = -1;
	if (!name_ok(tool_leaf_of(path)))
		return dray_fail(e, DRAY_E_USAGE, "the name of an attachment is 1 to 94 of A-Z a-z 0-9 . _ -");
	if ((*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1 || fstat(*fd, &st) != 0)
		return dray_fail_errno(e, "cannot be read");
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)BUILD_NOTE_MAX)
		return dray_fail(e, DRAY_E_USAGE, "an attachment is a regular file of at most 64 MiB");
	*len = (size_t)st.st_size;
	return 0;
}

static int
named(const char *path, struct dray_err *e)
{
	char quoted[400];

	return dray_wrap(e, "%s", dray_quote(path, strlen(path), quoted, sizeof(quoted)));
}

int
build_note_check(const char *path, struct dray_err *e)
{
	size_t len;
	int fd, rc = open_note(path, &fd, &len, e);

	if (fd != -1)
		close(fd);
	return rc == 0 ? 0 : named(path, e);
}

/* rules that travel with the bundle must be rules */
static int
check_policy(const struct build_note *n, struct dray_err *e)
{
	struct dray_policy p;

	if (strcmp(n->name, &DRAY_POLICY_NOTE[strlen("notes/")]) != 0)
		return 0;
	if (dray_policy_parse((const char *)n->bytes, n->len, &p, e) != 0)
		return -1;
	for (size_t i = 0; i < p.n; i++)
		if (!dray_policy_bundled(p.v[i].action)) {
			dray_fail(e, DRAY_E_USAGE, "%s is nothing that a bundle can say", dray_action_name(p.v[i].action));
			dray_policy_free(&p);
			return -1;
		}
	dray_policy_free(&p);
	return 0;
}

static int
read_note(const char *path, struct build_note *to, struct dray_err *e)
{
	int fd = -1, rc = -1;

	if (open_note(path, &fd, &to->len, e) != 0)
		goto out;
	snprintf(to->name, sizeof(to->name), "%s", tool_leaf_of(path));	/* open_note bounds it */
	if ((to->bytes = malloc(to->len + 1)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (size_t got = 0; got < to->len;) {
		ssize_t n = read(fd, to->bytes + got, to->len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			dray_fail_errno(e, "cannot be read");
			goto out;
		}
		if (n == 0) {
			dray_fail(e, DRAY_E_IO, "changed while it was read");
			goto out;
		}
		got += (size_t)n;
	}
	rc = check_policy(to, e);
out:
	if (fd != -1)
		close(fd);
	return rc;
}

static int
by_name(const void *pa, const void *pb)
{
	const struct build_note *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

int
build_notes_add(struct build_notes *to, const char *name, const void *p, size_t len, struct dray_err *e)
{
	struct build_note *v, x = { .len = len };

	for (size_t i = 0; i < to->n; i++)
		if (strcmp(to->v[i].name, name) == 0)
			return dray_fail(e, DRAY_E_USAGE, "two attachments are named %s", name);
	snprintf(x.name, sizeof(x.name), "%s", name);
	if ((v = realloc(to->v, (to->n + 1) * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	to->v = v;
	if ((x.bytes = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (len > 0)
		memcpy(x.bytes, p, len);
	v[to->n++] = x;
	qsort(v, to->n, sizeof(*v), by_name);
	return 0;
}

int
build_notes_load(const char *const *paths, size_t n, struct build_notes *out, struct dray_err *e)
{
	*out = (struct build_notes){ .v = calloc(n + 1, sizeof(*out->v)) };
	if (out->v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++, out->n++)
		if (read_note(paths[i], &out->v[i], e) != 0) {
			free(out->v[i].bytes);
			return named(paths[i], e);
		}
	qsort(out->v, n, sizeof(*out->v), by_name);
	for (size_t i = 1; i < n; i++)
		if (strcmp(out->v[i - 1].name, out->v[i].name) == 0)
			return dray_fail(e, DRAY_E_USAGE, "two attachments are named %s", out->v[i].name);
	return 0;
}

void
build_notes_free(struct build_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->v[i].bytes);
	free(notes->v);
	*notes = (struct build_notes){ .v = NULL };
}
