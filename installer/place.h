/*
 * place.h - where a node of the plan lies: its slot, or a directory inside its slot. One per thread.
 */
#ifndef INST_PLACE_H
#define INST_PLACE_H

#include "dray/path.h"

#include "installer/journal.h"

struct inst_place {
	struct dray_walk top, inside;	/* beneath the transaction's folder; beneath the slot that is a directory */
	int slot_fd;
	uint32_t slot;
};

void inst_place_init(struct inst_place *pl, int tx_dir);
void inst_place_close(struct inst_place *pl);

/** inst_place_at - handle and name for an object in @slot; @rel empty: the slot itself. Borrowed until the next call. */
DRAY_MUST_CHECK int inst_place_at(struct inst_place *pl, uint32_t slot, const char *rel, size_t rel_len, int *dir,
    char leaf[DRAY_NAME_MAX + 1], struct dray_err *e);

#endif
