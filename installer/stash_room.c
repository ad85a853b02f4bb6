/*
 * stash_room.c - when room is short: how many of the oldest ways back have to be freed for it, and will that do?
 */
#include <stdlib.h>
#include <string.h>

#include "dray/num.h"

#include "installer/stash_room.h"
#include "installer/swap.h"
#include "installer/tree.h"

struct use { uint64_t bytes, inodes; };

/* what has names elsewhere too would not become free: counted low, never high */
static int
add_use(void *ctx, int dir, const char *name, const struct dray_stat *st, struct dray_err *e)
{
	struct use *u = ctx;

	(void)dir, (void)name, (void)e;
	if ((st->mode & 0170000) == 0040000 || st->nlink == 1) {
		u->bytes += st->blocks512 * 512;
		u->inodes++;
	}
	return 0;
}

static void
give(uint64_t *to, uint64_t more)
{
	uint64_t sum;

	if (*to != UINT64_MAX && dray_add(*to, more, &sum))
		*to = sum;
}

/* the plan's file system with room of its own that @dir lies on; SIZE_MAX: none */
static size_t
site_of(const struct inst_plan *p, int dir)
{
	struct dray_stat st;

	if (os_stat_at(dir, "", &st) != 0)
		return SIZE_MAX;
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].dev == st.dev)
			return p->sites[i].shares;
	return SIZE_MAX;
}

static bool
any_short(const struct inst_plan *p)
{
	uint64_t bytes, inodes;

	for (size_t i = 0; i < p->n_sites; i++)
		if (inst_site_short(p, i, &bytes, &inodes))
			return true;
	return false;
}

/* what freeing the op's slot would give; nothing if forget would keep it */
static int
count_slot(struct inst_swapper *w, const struct inst_op *op, struct inst_plan *p, struct dray_err *e)
{
	struct use u = { 0, 0 };
	bool untouched;
	char slot[24];
	size_t site;
	int dir, r;

	if ((op->flags & INST_OP_PARK) != 0)
		return 0;
	if ((r = inst_slots_of(w->tx, op, &dir, e)) != 0) {
		if (r < 0 && e->code != DRAY_E_SYSTEM)
			return -1;
		dray_err_clear(e);	/* not mounted, so not room for this plan either */
		return 0;
	}
	if ((site = site_of(p, dir)) == SIZE_MAX)
		return 0;
	if (inst_slot_holds_untouched(w, op, true, &untouched, e) != 0)
		return -1;
	if (!untouched)
		return 0;
	if (inst_tree_each(dir, inst_tx_slot(op->slot, slot), add_use, &u, e) != 0)
		return -1;
	give(&p->sites[site].fs.free_bytes, u.bytes);
	give(&p->sites[site].fs.free_inodes, u.inodes);
	return 0;
}

/* as if the generation was freed: what it holds but for local edits is room on its file systems */
static int
count_free(const struct inst_state *s, struct inst_tx *tx, struct inst_plan *p, struct dray_err *e)
{
	struct inst_swapper w;
	int rc = 0;

	inst_swapper_init(&w, s->root, tx, false);
	for (size_t i = 0; rc == 0 && i < tx->n_swaps; i++)
		rc = count_slot(&w, &tx->ops[i], p, e);
	inst_swapper_close(&w);
	return rc;
}

/*
 * The oldest ways back, as many as it takes, but never the newest: that is the way back of the release that runs now,
 * and until the next upgrade is switched there is no other.
 */
static int
count_oldest(const struct inst_state *s, const uint32_t *list, size_t n, struct inst_plan *p, size_t *ways,
    struct dray_err *e)
{
	struct inst_tx *tx, *older = NULL;
	int rc = 0;

	*ways = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if ((rc = inst_tx_open(s, list[i], false, &tx, e)) != 0)
			break;
		if (tx->state != INST_TX_FINISHED) {
			inst_tx_close(tx);
			continue;
		}
		(*ways)++;
		if (older != NULL && any_short(p)) {
			p->frees++;
			rc = count_free(s, older, p, e);
		}
		inst_tx_close(older);
		older = tx;
	}
	inst_tx_close(older);
	return rc;
}

/* free room of all sites, to or from @v */
static void
swap_free(struct inst_plan *p, struct use *v, bool restore)
{
	for (size_t i = 0; i < p->n_sites; i++) {
		struct dray_fs *fs = &p->sites[i].fs;

		if (restore) {
			fs->free_bytes = v[i].bytes;
			fs->free_inodes = v[i].inodes;
		} else {
			v[i] = (struct use){ fs->free_bytes, fs->free_inodes };
		}
	}
}

int
inst_stash_room(const struct inst_state *s, struct inst_plan *p, struct dray_err *e)
{
	struct use *before = NULL;
	uint32_t *list = NULL;
	size_t n = 0, ways;
	int rc = -1;

	if (s->dir == -1 || !any_short(p))
		return 0;
	if (inst_tx_list(s, &list, &n, e) != 0)
		goto out;
	if ((before = calloc(p->n_sites + 1, sizeof(*before))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	swap_free(p, before, false);
	if (count_oldest(s, list, n, p, &ways, e) != 0)
		goto out;
	if (any_short(p)) {
		/* it would not do: nothing is freed for nothing */
		p->frees = 0;
		swap_free(p, before, true);
	}
	p->keeps = ways - p->frees;
	rc = 0;
out:
	free(before);
	free(list);
	return rc;
}
