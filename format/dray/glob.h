/*
 * glob.h - patterns over paths of a release. One grammar for recipes, options and installer; never a shell's.
 *
 * A pattern is matched against a whole path, part by part:
 *	*	any bytes within one part, also none	?	one byte, not '/'
 *	[a-z]	one byte of a set; [!a-z] not of it	**	as a whole part: any number of parts, also none
 *	\x	x itself
 * Bytes are compared as they are: no locale, no case folding; a leading dot is nothing special.
 * Source: spec/cli.md, "Patterns".
 */
#ifndef DRAY_GLOB_H
#define DRAY_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "dray/err.h"

/** dray_glob_ok - is it a pattern? *why: a static text when it is not (may be NULL) */
DRAY_MUST_CHECK bool dray_glob_ok(const char *pattern, size_t plen, const char **why);

/**
 * dray_glob_match - does @pattern, which dray_glob_ok has accepted, match the whole of @path?
 * Time is bounded by the product of the lengths, whatever the pattern.
 */
bool dray_glob_match(const char *pattern, size_t plen, const char *path, size_t len);

/** dray_glob_covers - does it match @path or a directory above it? In the same time */
bool dray_glob_covers(const char *pattern, size_t plen, const char *path, size_t len);

#endif
