/*
 * work.h - what takes long tells how far it is, and does not know whom.
 */
#ifndef INST_WORK_H
#define INST_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct inst_state;

/* a listener; one piece of work at a time, and a new one ends the one before */
struct inst_listener {
	void (*begin)(void *ctx, const char *what, uint64_t paths);
	void (*at)(void *ctx, uint64_t done, uint64_t total);
	void (*end)(void *ctx, bool whole);
	void *ctx;
};

/** inst_work_begin - @what: one word or two for the user; @paths: how many there are to do, 0: not known */
void inst_work_begin(const struct inst_state *s, const char *what, uint64_t paths);
/** inst_work_at - so many of them are done */
void inst_work_at(const struct inst_state *s, uint64_t paths);
/** inst_work_end - @rc: 0 when all of it was done; Return: @rc */
int inst_work_end(const struct inst_state *s, int rc);

#endif
