/*
 * media_in.h - between media.c and media_find.c.
 */
#ifndef DRAY_MEDIA_IN_H
#define DRAY_MEDIA_IN_H

#include "media.h"

/**
 * tool_media_look - keep the open file @fd as a part if it is a bundle or a volume
 * @named: the user did: a volume with a damaged header is an error then
 */
DRAY_MUST_CHECK int tool_media_look(struct tool_media *m, int fd, const char *path, bool named, struct dray_err *e);
/** tool_media_folder - look at all files directly in @dir */
DRAY_MUST_CHECK int tool_media_folder(struct tool_media *m, const char *dir, struct dray_err *e);
/** tool_media_sort - the parts in order, each path once */
void tool_media_sort(struct tool_media *m);

#endif
