/*
 * source.c - which kind of source a text names, and loading it.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/release.h"

const char *
build_source_dir(const char *spec)
{
	size_t n = strcspn(spec, ":/");

	if (strncmp(spec, "dir:", 4) == 0)
		return spec + 4;
	/* "word:..." is a kind; a path with a colon in its first part is given as ./name */
	return spec[n] == ':' ? NULL : spec;
}

static int
check_dir(const char *path, struct dray_err *e)
{
	struct stat st;

	if (*path == '\0')
		return dray_fail(e, DRAY_E_USAGE, "the path is empty");
	if (stat(path, &st) != 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		dray_fail_errno(e, "look");
		if (missing)
			dray_fail(e, DRAY_E_USAGE, "no such directory");
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return dray_fail(e, DRAY_E_USAGE, "not a directory");
	return 0;
}

int
build_source_load(const char *spec, const struct build_scan_opts *o, struct build_release **out,
    struct dray_err *e)
{
	const char *path = build_source_dir(spec);
	struct build_release *r = NULL;
	char quoted[400];

	*out = NULL;
	dray_quote(spec, strlen(spec), quoted, sizeof(quoted));
	if (path == NULL) {
		dray_fail(e, DRAY_E_USAGE, "%s: unknown kind of source", quoted);
		return dray_hint(e, "write dir:PATH; a path with a colon in its name is written dir:./NAME");
	}
	if (check_dir(path, e) != 0)
		return dray_wrap(e, "%s", quoted);
	if (build_release_new(quoted, o->threads, &r, e) != 0)
		return -1;
	if (build_scan_dir(path, o, r, e) != 0) {
		build_release_free(r);
		return -1;
	}
	*out = r;
	return 0;
}
