/*
 * build_places.c - output, sources and cache of a build lie apart: a bundle or a cache inside a tree would change the tree while
 * it is read.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/build.h"
#include "builder/cache.h"
#include "builder/source.h"

/* is folder @path, of which the last parts may be missing, @tree or beneath it? */
static bool
lies_in(const char *tree, const char *path)
{
	char *t = realpath(tree, NULL), *real = NULL, *p = strdup(path), *slash;
	size_t n = t != NULL ? strlen(t) : 0;
	bool in;

	while (t != NULL && p != NULL && (real = realpath(p, NULL)) == NULL) {
		if ((slash = strrchr(p, '/')) == NULL) {
			real = realpath(".", NULL);
			break;
		}
		slash[slash == p] = '\0';
		if (slash == p && (real = realpath("/", NULL)) != NULL)
			break;
	}
	in = real != NULL && strncmp(real, t, n) == 0 && (real[n] == '/' || real[n] == '\0' || t[n - 1] == '/');
	free(t);
	free(p);
	free(real);
	return in;
}

/* a bundle inside one of its own trees would change the tree it describes; one in the place of an archive, destroy it */
static int
check_apart(const struct build_source *s, const char *name, const char *output, struct dray_err *e)
{
	struct stat a, b;
	char *dir;
	int rc = 0;

	if (s->kind == BUILD_SOURCE_FBSD)
		return 0;
	if (s->kind == BUILD_SOURCE_ARCHIVE) {
		for (size_t i = 0; i < s->n; i++)
			if (stat(s->paths[i], &a) == 0 && stat(output, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
				return dray_fail(e, DRAY_E_USAGE, "the output would replace the source %s", name);
		return 0;
	}
	if ((dir = tool_folder_of(output)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	/* what cannot be resolved is told by whoever opens it */
	if (lies_in(s->paths[0], dir))
		rc = dray_fail(e, DRAY_E_USAGE, "the output lies inside the source %s", name);
	free(dir);
	return rc;
}

int
build_check_apart(const char *spec, const char *output, struct dray_err *e)
{
	struct build_source s;
	char quoted[400];
	int rc = build_source_parse(spec, &s, e);

	if (rc == 0)
		rc = check_apart(&s, dray_quote(spec, strlen(spec), quoted, sizeof(quoted)), output, e);
	build_source_free(&s);
	return rc;
}

/* 1: the cache @dir lies inside the source; what is kept there would be packed, and grow while the tree is read */
static int
cache_in_source(const char *spec, const char *dir, struct dray_err *e)
{
	struct build_source s;
	int rc = build_source_parse(spec, &s, e);

	if (rc == 0 && s.kind == BUILD_SOURCE_DIR)
		rc = lies_in(s.paths[0], dir) ? 1 : 0;
	build_source_free(&s);
	return rc;
}

/* the usual cache gives way to a source that holds it; one that was asked for is a mistake */
int
build_places_cache(const struct build_opts *o, struct build_cache **out, struct dray_err *e)
{
	char *usual = o->cache_dir == NULL ? build_cache_usual() : NULL, quoted[400];
	const char *dir = o->cache_dir != NULL ? o->cache_dir : usual;
	int in = 0;

	if (dir == NULL)
		return 0;
	for (size_t i = 0; in == 0 && i < o->n_inputs; i++) {
		const char *spec = o->inputs[i].spec;

		if ((in = cache_in_source(spec, dir, e)) == 1 && o->cache_dir != NULL)
			in = dray_fail(e, DRAY_E_USAGE, "the cache lies inside the source %s",
			    dray_quote(spec, strlen(spec), quoted, sizeof(quoted)));
	}
	if (in == 0)
		in = build_cache_open(o->cache_dir, out, e);
	free(usual);
	return in < 0 ? -1 : 0;
}
