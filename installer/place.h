/*
 * place.h - where a node of the plan lies: its slot, or a directory inside its slot. One per thread.
 */
#ifndef INST_PLACE_H
#define INST_PLACE_H

#include "dray/path.h"

#include "installer/journal.h"

struct inst_place {
	const struct inst_tx *tx;	/* borrowed */
	struct dray_walk top, inside;	/* beneath the folder of slots; beneath the slot that is a directory */
	int slot_fd;
	uint32_t slot;
	uint8_t site;			/* of @top and @slot */
};

void inst_place_init(struct inst_place *pl, const struct inst_tx *tx);
void inst_place_close(struct inst_place *pl);

/** inst_place_at - handle and name for an object in @slot; @rel empty: the slot itself. Borrowed until the next call.
 * @site: a row of tx->slots that is mounted */
DRAY_MUST_CHECK int inst_place_at(struct inst_place *pl, uint8_t site, uint32_t slot, const char *rel, size_t rel_len, int *dir,
    char leaf[DRAY_NAME_MAX + 1], struct dray_err *e);

#endif
