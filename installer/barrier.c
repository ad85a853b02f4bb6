/*
 * barrier.c - everything written so far is on the disk, or an error: one syncfs(2) where there is one, else fsync(2)
 * of every object that matters, by many threads, because each call waits for the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dray/os.h"
#include "dray/pool.h"

#include "installer/switch.h"
#include "installer/tree.h"
#include "installer/work.h"

enum { THREADS = 16 };

struct flush {
	const struct inst_state *s;
	struct inst_tx *tx;
};

/* files and directories; the rest has nothing but its name, which the directory holds */
static int
flush_object(void *ctx, int dir, const char *name, const struct dray_stat *st, struct dray_err *e)
{
	int fd, rc;

	(void)ctx;
	if ((st->mode & 0170000) != 0100000 && (st->mode & 0170000) != 0040000)
		return 0;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return dray_fail_errno(e, "open for flushing");
	rc = fsync(fd) == 0 ? 0 : dray_fail_errno(e, "flush");
	close(fd);
	return rc;
}

/* before the switch: what is in the slot. After it: the directory whose names moved, and what got attributes */
static int
flush_slot(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct flush *f = ctx;
	char slot[24];

	(void)worker;
	return inst_tree_each(f->tx->slots[f->tx->ops[i].site].dir, inst_tx_slot(f->tx->ops[i].slot, slot), flush_object, f, e);
}

static int
flush_target(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct flush *f = ctx;
	const struct inst_op *op = &f->tx->ops[i];
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_walk w;
	struct dray_stat st;
	int dir, r;

	(void)worker;
	dray_walk_init(&w, f->s->root);
	r = op->len == 0 ? 1 : dray_walk_parent(&w, op->path, op->len, &dir, leaf, e);
	if (r == 0 && fsync(dir) == -1)
		r = dray_fail_errno(e, "flush a directory");
	if (r == 0 && op->kind == INST_OP_META && os_stat_at(dir, leaf, &st) == 0)
		r = flush_object(f, dir, leaf, &st, e);
	dray_walk_close(&w);
	return r < 0 ? -1 : 0;	/* a directory that went away has nothing to flush */
}

static int
flush_folders(struct flush *f, int dir, struct dray_err *e)
{
	char name[8];
	struct dray_stat st;

	for (unsigned i = 0; i < INST_SLOT_FOLDERS; i++) {
		snprintf(name, sizeof(name), "%02x", i);
		if (os_stat_at(dir, name, &st) == 0 && flush_object(f, dir, name, &st, e) != 0)
			return -1;
	}
	return fsync(dir) == 0 ? 0 : dray_fail_errno(e, "flush a folder of slots");
}

static int
flush_all(struct flush *f, bool switched, struct dray_err *e)
{
	if (dray_parallel(THREADS, switched ? f->tx->n_ops : f->tx->n_swaps, 8, switched ? flush_target : flush_slot, f, e) != 0)
		return -1;
	for (size_t i = 0; i < f->tx->n_slots; i++)
		if (flush_folders(f, f->tx->slots[i].dir, e) != 0)
			return -1;
	if (fsync(f->s->dir) == -1 || fsync(f->s->root) == -1)
		return dray_fail_errno(e, "flush the state folder");
	return 0;
}

static int
flush(struct flush *f, bool switched, struct dray_err *e)
{
	size_t i = 0;

	/* one call for each file system; two of one device cost a second look at nothing */
	while (i < f->tx->n_slots && os_syncfs(f->tx->slots[i].dir) == 0)
		i++;
	if (i == f->tx->n_slots)
		return 0;
	if (errno != ENOSYS)
		return dray_fail_errno(e, "write everything to the disk");
	return flush_all(f, switched, e) == 0 ? 0 : dray_wrap(e, "write everything to the disk");
}

int
inst_barrier(const struct inst_state *s, struct inst_tx *tx, bool switched, struct dray_err *e)
{
	struct flush f = { .s = s, .tx = tx };

	if (s->no_sync)
		return 0;
	inst_work_begin(s, "writing to the disk", 0);
	return inst_work_end(s, flush(&f, switched, e));
}
