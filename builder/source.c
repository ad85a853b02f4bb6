/*
 * source.c - which kind of source a text names, and loading it.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/fbsd_source.h"
#include "builder/owner.h"
#include "builder/source.h"

static int
add_path(struct build_source *s, const char *path, size_t len, struct dray_err *e)
{
	char **v = realloc(s->paths, (s->n + 1) * sizeof(char *)), *to = malloc(len + 1);

	if (v != NULL)
		s->paths = v;
	if (v == NULL || to == NULL) {
		free(to);
		dray_fail(e, DRAY_E_IO, "out of memory");
		return -1;
	}
	memcpy(to, path, len);
	to[len] = '\0';
	s->paths[s->n++] = to;
	return 0;
}

/* A[,B...], where a backslash takes the meaning of what follows */
static int
split(struct build_source *s, const char *list, struct dray_err *e)
{
	char *part = malloc(strlen(list) + 1);
	size_t n = 0;
	int rc = 0;

	if (part == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (const char *p = list; rc == 0; p++) {
		if (*p == ',' || *p == '\0') {
			rc = add_path(s, part, n, e);
			n = 0;
			if (*p == '\0')
				break;
			continue;
		}
		if (*p == '\\' && (p[1] == ',' || p[1] == '\\'))
			p++;
		part[n++] = *p;
	}
	free(part);
	return rc;
}

static int
look(const char *path, struct stat *st, const char *missing, struct dray_err *e)
{
	if (*path != '\0' && stat(path, st) == 0)
		return 0;
	if (*path == '\0')
		dray_fail(e, DRAY_E_USAGE, "the path is empty");
	else if (errno == ENOENT || errno == ENOTDIR)
		dray_fail(e, DRAY_E_USAGE, "%s", missing);
	else
		dray_fail_errno(e, "cannot be looked at");
	return -1;
}

static int
parse(const char *spec, struct build_source *s, struct dray_err *e)
{
	size_t n = strcspn(spec, ":/");
	char quoted[300];
	struct stat st;

	if (strncmp(spec, "dir:", 4) == 0) {
		if (add_path(s, spec + 4, strlen(spec + 4), e) != 0 || look(s->paths[0], &st, "no such directory", e) != 0)
			return -1;
		return S_ISDIR(st.st_mode) ? 0 : dray_fail(e, DRAY_E_USAGE, "not a directory");
	}
	if (strncmp(spec, "archive:", 8) == 0) {
		s->kind = BUILD_SOURCE_ARCHIVE;
		if (split(s, spec + 8, e) != 0)
			return -1;
		for (size_t i = 0; i < s->n; i++) {
			if (look(s->paths[i], &st, "no such file", e) == 0 && !S_ISREG(st.st_mode))
				dray_fail(e, DRAY_E_USAGE, "not a regular file");
			if (e->code == DRAY_OK)
				continue;
			if (s->n > 1)	/* else the source is named by the caller */
				dray_wrap(e, "%s", dray_quote(s->paths[i], strlen(s->paths[i]), quoted, sizeof(quoted)));
			return -1;
		}
		return 0;
	}
	if (build_fbsd_is(spec)) {
		char release[65], arch[33];

		s->kind = BUILD_SOURCE_FBSD;
		return build_fbsd_spec(spec, release, arch, e);
	}
	/* "word:..." is a kind; a path with a colon in its first part is given as ./name */
	if (spec[n] == ':') {
		dray_fail(e, DRAY_E_USAGE, "unknown kind of source");
		return dray_hint(e, "write dir:PATH, archive:FILE or freebsd-update:RELEASE/ARCH");
	}
	if (add_path(s, spec, strlen(spec), e) != 0 || look(spec, &st, "no such directory or archive", e) != 0)
		return -1;
	if (S_ISREG(st.st_mode))
		s->kind = BUILD_SOURCE_ARCHIVE;
	else if (!S_ISDIR(st.st_mode))
		return dray_fail(e, DRAY_E_USAGE, "neither a directory nor a regular file");
	return 0;
}

int
build_source_parse(const char *spec, struct build_source *out, struct dray_err *e)
{
	char quoted[400];

	*out = (struct build_source){ .kind = BUILD_SOURCE_DIR };
	dray_err_clear(e);
	if (parse(spec, out, e) == 0)
		return 0;
	dray_wrap(e, "%s", dray_quote(spec, strlen(spec), quoted, sizeof(quoted)));
	return -1;
}

void
build_source_free(struct build_source *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->paths[i]);
	free(s->paths);
	*s = (struct build_source){ .kind = BUILD_SOURCE_DIR };
}

char *
build_source_rebase(const char *spec, const char *folder)
{
	size_t kind = 0, n = 0, parts = 1, flen = strlen(folder);
	bool list = strncmp(spec, "archive:", 8) == 0, begin = true;
	char *to;

	if (list)
		kind = 8;
	else if (strncmp(spec, "dir:", 4) != 0 && spec[strcspn(spec, ":/")] == ':')
		return strdup(spec);	/* a kind that there is not, told by whoever parses it */
	else if (strncmp(spec, "dir:", 4) == 0)
		kind = 4;
	for (const char *p = spec; *p != '\0'; p++)
		parts += *p == ',';
	/* a folder has at most each byte escaped */
	if ((to = malloc(strlen(spec) + parts * (2 * flen + 1) + 1)) == NULL)
		return NULL;
	memcpy(to, spec, kind);
	n = kind;
	for (const char *p = spec + kind;; p++) {
		if (begin && *p != '/' && *p != '\0' && !(list && *p == ',')) {
			for (size_t i = 0; i < flen; i++) {
				if (list && (folder[i] == ',' || folder[i] == '\\'))
					to[n++] = '\\';
				to[n++] = folder[i];
			}
			to[n++] = '/';
		}
		begin = list && *p == ',';
		if (list && *p == '\\' && p[1] != '\0')
			to[n++] = *p++;
		if ((to[n++] = *p) == '\0')
			return to;
	}
}

/* layers of container images mark what they remove: aufs and image files by a name, overlays by a device 0:0 */
static bool
is_whiteout(const struct build_node *nd)
{
	size_t leaf = nd->len;

	while (leaf > 0 && nd->path[leaf - 1] != '/')
		leaf--;
	return (nd->len - leaf > 4 && memcmp(nd->path + leaf, ".wh.", 4) == 0) ||
	    (nd->type == DRAY_CHARDEV && nd->rdev_major == 0 && nd->rdev_minor == 0);
}

static int
note_whiteouts(struct build_release *r, struct dray_err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		struct build_notice n = { r->v[i].path, r->v[i].len, "as layers of container images mark what they remove: "
			"packed as it stands, nothing is removed", false };

		if (is_whiteout(&r->v[i]) && build_release_note(r, &n, e) != 0)
			return -1;
	}
	return 0;
}

/* no server was named: contents have to be compared, or taken, and those are far away */
static int
not_here(struct dray_err *e)
{
	dray_fail(e, DRAY_E_USAGE, "a release of a server is a source of dray build and dray fetch alone");
	return dray_hint(e, "build a bundle of it and name that, or name a folder or archive that holds the files");
}

int
build_source_load(const char *spec, const struct build_scan_opts *o, struct build_release **out,
    struct dray_err *e)
{
	struct build_release *r = NULL;
	struct build_source s;
	char quoted[400];
	int rc = -1;

	*out = NULL;
	if (build_source_parse(spec, &s, e) != 0)
		goto out;
	dray_quote(spec, strlen(spec), quoted, sizeof(quoted));
	if (build_release_new(quoted, s.kind == BUILD_SOURCE_DIR ? o->threads : 1, &r, e) != 0)
		goto out;
	assert(s.paths != NULL || s.kind == BUILD_SOURCE_FBSD);
	if (s.kind == BUILD_SOURCE_DIR)
		rc = build_scan_dir(s.paths[0], o, r, e);
	else if (s.kind == BUILD_SOURCE_FBSD)
		rc = o->fbsd != NULL ? build_fbsd_load(spec, o->fbsd, o->history, o, r, e) : not_here(e);
	else
		rc = build_scan_archives((const char *const *)s.paths, s.n, o, r, e);
	if (rc == 0 && o->owner != NULL)
		rc = build_owner_apply(o->owner, r, e);
	if (rc == 0)
		rc = note_whiteouts(r, e);
	if (rc != 0)
		goto out;
	build_notices_sort(r);
	*out = r;
	r = NULL;
out:
	build_release_free(r);
	build_source_free(&s);
	return rc;
}
