/*
 * tool_in.h - what the files of format/tool share among themselves.
 */
#ifndef TOOL_IN_H
#define TOOL_IN_H

#include "tool.h"

/** tool_nearest - the one of @words (NULL-terminated) that @typed was meant to be, NULL if none is near */
const char *tool_nearest(const char *typed, const char *const *words);

/** tool_usage - tell a mistake of usage; Return: 2 */
int tool_usage(const struct tool_common *c, const char *hint, const char *fmt, ...) DRAY_PRINTF(3, 4);

/** tool_wrap_text - print @text on stdout in lines of at most 76 columns, each @indent blanks in; begins at column @at */
void tool_wrap_text(const char *text, unsigned indent, unsigned at);

/** tool_help - the page of one subcommand on stdout */
void tool_help(const struct tool_cmd *cmd, const struct tool_opt *opts);

/** tool_lists_free - the arrays behind TOOL_LIST options */
void tool_lists_free(void);

/** tool_live_clear - take the live progress line away before other words go to stderr */
void tool_live_clear(void);

#endif
