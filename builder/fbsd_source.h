/*
 * fbsd_source.h - the source "freebsd-update:RELEASE/ARCH": what a freebsd-update server says of a release, as a release
 * of ours.
 */
#ifndef BUILD_FBSD_SOURCE_H
#define BUILD_FBSD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "builder/fbsd_pull.h"
#include "builder/release.h"
#include "dray/err.h"
#include "dray/fbsd_lines.h"
#include "tool/tool.h"

struct build_fbsd_opts {
	const char *server;		/* NULL: update.FreeBSD.org */
	const char *keyprint;		/* 64 hex digits; NULL: the FreeBSD project's */
	const char *store;		/* folder for what is fetched; NULL: the usual one */
	const char *os;			/* of the bundle: what file flags are written for; NULL: freebsd */
	uint64_t parallel;		/* connections; 0: the usual number */
	struct tool_list have;		/* sources whose contents need not be fetched */
	struct dray_fbsd_parts parts;	/* components */
};

/** build_fbsd_is - does @spec name such a source, rightly or not? */
bool build_fbsd_is(const char *spec);

/** build_fbsd_spec - cut "freebsd-update:13.2-RELEASE/amd64" up; DRAY_E_USAGE for what is none */
DRAY_MUST_CHECK int build_fbsd_spec(const char *spec, char release[65], char arch[33], struct dray_err *e);

/** build_fbsd_server_open - @progress as in build_fetch_opts; build_fbsd_server_close in any case */
DRAY_MUST_CHECK int build_fbsd_server_open(const struct build_fbsd_opts *o, void (*progress)(void *, uint64_t), void *ctx,
    struct build_fbsd_server *s, struct dray_err *e);
void build_fbsd_server_close(struct build_fbsd_server *s);

/**
 * build_fbsd_load - fill @r from the server's lists. No content is fetched, and no size known but that of no bytes:
 * build_release.fetch brings those that are needed
 * @fo: borrowed as long as @r stands
 * @history: all states that the paths had at any patch level (INDEX-ALL and INDEX-OLD); else the newest (INDEX-ALL)
 *
 * Owner, group and mode are those of the lines, of symlinks no mode; there are no times. File flags as
 * the system of the bundle has them.
 * Errors: those of build_fbsd_meta_get, dray_fbsd_lines_add.
 */
DRAY_MUST_CHECK int build_fbsd_load(const char *spec, const struct build_fbsd_opts *fo, bool history,
    const struct build_scan_opts *o, struct build_release *r, struct dray_err *e);

/** build_fbsd_counter - (major * 1000 + minor) * 100000 + patch; 0: the name does not begin with MAJOR.MINOR */
uint64_t build_fbsd_counter(const char *release, uint32_t patch);

#endif
