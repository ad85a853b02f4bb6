/*
 * help.h - pages of the manual inside the program. Source: tools/help.sh.
 */
#ifndef INST_HELP_H
#define INST_HELP_H

struct inst_topic { const char *name, *words; const char *const *lines; };	/* lines: ends with NULL */
extern const struct inst_topic inst_topics[];	/* ends with a name that is NULL */

#endif
