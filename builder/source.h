/*
 * source.h - what the user names as a source: "dir:PATH", "archive:PATH[,PATH...]",
 * "freebsd-update:RELEASE/ARCH", or a bare path that is a directory or a file. A comma or backslash within the path of an archive is written with a backslash before it.
 */
#ifndef BUILD_SOURCE_H
#define BUILD_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "builder/release.h"
#include "dray/err.h"

enum build_source_kind { BUILD_SOURCE_DIR, BUILD_SOURCE_ARCHIVE, BUILD_SOURCE_FBSD };

struct build_source {
	enum build_source_kind kind;
	char **paths;			/* one for a directory, at least one for archives, none for a server */
	size_t n;
};

/**
 * build_source_parse - what does @spec name? Paths are looked at.
 * @out: build_source_free in any case
 * Return: 0, or -1: DRAY_E_USAGE (unknown kind, nothing there, of another type).
 */
DRAY_MUST_CHECK int build_source_parse(const char *spec, struct build_source *out, struct dray_err *e);
void build_source_free(struct build_source *s);

/** build_source_rebase - @spec as seen from @folder: relative paths get it in front; malloc'ed, NULL: out of memory */
char *build_source_rebase(const char *spec, const char *folder);

/**
 * build_source_load - read the source that @spec names
 * Return: 0, or -1: DRAY_E_USAGE as above, DRAY_E_IO naming the path that cannot be read or changed meanwhile,
 * DRAY_E_FORMAT (a path the bundle cannot hold, a damaged archive), DRAY_E_ROOM (spool), DRAY_E_SIGNAL.
 */
DRAY_MUST_CHECK int build_source_load(const char *spec, const struct build_scan_opts *o,
    struct build_release **out, struct dray_err *e);

#endif
