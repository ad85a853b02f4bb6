/*
 * media.h - bundles on their way: cut into volumes, joined again, copied to a medium and read back from it.
 */
#ifndef BUILD_MEDIA_H
#define BUILD_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/bundle.h"
#include "dray/err.h"
#include "tool/tool.h"

/* subcommands */
int build_cmd_split(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_join(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_copy(int argc, char **argv, const struct tool_cmd *self);
int build_cmd_quickstart(int argc, char **argv, const struct tool_cmd *self);

/** build_media_stem - bytes of a bundle's name without ".dray" */
size_t build_media_stem(const char *name);

/**
 * build_media_bytes - write @len bytes of the bundle from @from on into @fd at @to
 * @sum: their SHA-256, or NULL
 * Errors: DRAY_E_MEDIUM, DRAY_E_FORMAT (the bundle ends too early), DRAY_E_ROOM, DRAY_E_SIGNAL.
 */
DRAY_MUST_CHECK int build_media_bytes(const struct dray_bundle *b, uint64_t from, uint64_t len, int fd, uint64_t to,
    struct tool_progress *p, uint8_t sum[32], struct dray_err *e);

#endif
