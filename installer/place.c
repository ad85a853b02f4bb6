/* place.c - from a slot and a path inside it to a directory handle and a name */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "installer/place.h"

void
inst_place_init(struct inst_place *pl, const struct inst_tx *tx)
{
	pl->tx = tx;
	pl->slot_fd = -1;
	pl->slot = DRAY_NONE;
	pl->site = 0;
	dray_walk_init(&pl->top, tx->slots[0].dir);
}

static void
leave_slot(struct inst_place *pl)
{
	if (pl->slot_fd == -1)
		return;
	dray_walk_close(&pl->inside);
	close(pl->slot_fd);
	pl->slot_fd = -1;
	pl->slot = DRAY_NONE;
}

void
inst_place_close(struct inst_place *pl)
{
	leave_slot(pl);
	dray_walk_close(&pl->top);
}

int
inst_place_at(struct inst_place *pl, uint8_t site, uint32_t slot, const char *rel, size_t rel_len, int *dir,
    char leaf[DRAY_NAME_MAX + 1], struct dray_err *e)
{
	char name[24];
	int r;

	if (site != pl->site) {
		inst_place_close(pl);
		dray_walk_init(&pl->top, pl->tx->slots[site].dir);
		pl->site = site;
	}
	inst_tx_slot(slot, name);
	if (rel_len == 0 || pl->slot != slot || pl->slot_fd == -1) {
		r = dray_walk_parent(&pl->top, name, strlen(name), dir, leaf, e);
		if (r != 0)
			return r > 0 ? dray_fail(e, DRAY_E_IO, "slot folder of %s is missing", name) : dray_wrap(e, "slot %s", name);
		if (rel_len == 0)
			return 0;
		leave_slot(pl);
		pl->slot_fd = openat(*dir, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (pl->slot_fd == -1)
			return dray_fail_errno(e, "open slot %s", name);
		pl->slot = slot;
		dray_walk_init(&pl->inside, pl->slot_fd);
	}
	r = dray_walk_parent(&pl->inside, rel, rel_len, dir, leaf, e);
	if (r > 0)
		return dray_fail(e, DRAY_E_IO, "slot %s: the directory above is missing", name);
	return r == 0 ? 0 : dray_wrap(e, "slot %s", name);
}
