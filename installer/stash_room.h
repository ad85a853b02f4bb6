/*
 * stash_room.h - room for a plan from the oldest ways back. Source: spec/apply.md, "Room".
 */
#ifndef INST_STASH_ROOM_H
#define INST_STASH_ROOM_H

#include "installer/journal.h"

/**
 * inst_stash_room - when the plan's room is short: p->frees, the number of oldest generations whose objects would make it
 * fit, and p->keeps, those that stay, the newest always; its free room is then what there will be. 0 frees when it fits,
 * or not even then.
 */
DRAY_MUST_CHECK int inst_stash_room(const struct inst_state *s, struct inst_plan *p, struct dray_err *e);

#endif
