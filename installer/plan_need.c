/*
 * plan_need.c - what the plan costs: frames to read, room and inodes on the target.
 * Source: spec/apply.md, "Plan".
 */
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <stdlib.h>
#include <unistd.h>

#include "dray/num.h"

#include "installer/planning.h"

#define JOURNAL_OP 256u			/* bytes of one op in the plan file, its path excepted */
#define STATE_BYTES (64u * 1024u)	/* log, anchor, bundle.json, folders */
#define BALLAST (1024u * 1024u)		/* kept free for directories that grow during the switch */
#define BALLAST_DIR 4096u
#define STATE_INODES 200u		/* 64 slot folders, log, plan, installer, release head, and what we forgot */

/* sums that cannot wrap: a size nobody has room for stays one */
static uint64_t
plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return dray_add(a, b, &sum) ? sum : UINT64_MAX;
}

static bool
full_recipe(const struct dray_index *ix, const struct dray_content *c, struct dray_recipe *r)
{
	for (uint32_t i = 0; i < c->recipe_count; i++) {
		dray_index_recipe(ix, c->recipe_first + i, r);
		if (r->kind == DRAY_RECIPE_FULL)
			return true;
	}
	return false;
}

/* mark the frames of one content */
static void
mark(struct inst_planning *pl, const struct dray_recipe *r)
{
	struct inst_plan *p = pl->plan;
	struct dray_piece piece;
	struct dray_frame f;

	for (uint32_t i = 0; i < r->piece_count; i++) {
		dray_index_piece(pl->ix, r->piece_first + i, &piece);
		if (p->frames[piece.frame] != 0)
			continue;
		p->frames[piece.frame] = 1;
		dray_index_frame(pl->ix, piece.frame, &f);
		p->payload = plus(p->payload, f.stored);
	}
}

static uint64_t
rounded(uint64_t size, uint64_t block)
{
	uint64_t out;

	return dray_round_up(size, block, &out) ? out : UINT64_MAX;
}

static uint64_t
block_size(int root)
{
	struct stat st;
	uint64_t size = 4096;

	/* powers of two only: a file system may say anything */
	if (fstat(root, &st) == 0 && st.st_blksize >= 512 && st.st_blksize <= 1024 * 1024 &&
	    ((uint64_t)st.st_blksize & ((uint64_t)st.st_blksize - 1)) == 0)
		size = (uint64_t)st.st_blksize;
	return size;
}

/* the copy of the installer that is kept beside the journal */
static uint64_t
own_size(void)
{
	struct stat st;
	uint64_t size = 0;
	int fd = os_self_exe();

	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		size = (uint64_t)st.st_size;
	close(fd);
	return size;
}

static void
need_room(struct inst_planning *pl, uint64_t data, uint64_t block)
{
	struct inst_plan *p = pl->plan;
	struct statvfs vfs;
	uint64_t need = data;

	p->have_bytes = p->have_inodes = UINT64_MAX;
	if (fstatvfs(pl->root, &vfs) == 0) {
		uint64_t unit = vfs.f_frsize != 0 ? vfs.f_frsize : vfs.f_bsize;

		if (!dray_mul(vfs.f_bavail, unit, &p->have_bytes))
			p->have_bytes = UINT64_MAX;
		if (vfs.f_files != 0)	/* 0: the file system makes inodes as it needs them */
			p->have_inodes = vfs.f_favail;
	}
	if (p->n_ops == 0)
		return;
	for (size_t i = 0; i < p->n_ops; i++) {
		need = plus(need, JOURNAL_OP + p->ops[i].len + p->ops[i].before.xattrs_len + p->ops[i].after.xattrs_len);
		/* an upper bound: as if no two additions shared a directory */
		if (p->ops[i].kind == INST_OP_SWAP && p->ops[i].old.type == DRAY_ABSENT)
			need = plus(need, BALLAST_DIR);
	}
	need = plus(need, STATE_BYTES + BALLAST);
	need = plus(need, rounded(dray_bundle_head_len(pl->b), block));
	p->room_bytes = plus(need, rounded(own_size(), block));
	p->room_inodes = plus(p->n_nodes, STATE_INODES);
}

int
inst_need(struct inst_planning *pl, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	uint32_t n_frames = dray_index_rows(pl->ix, DRAY_T_FRAMES), n_rows = dray_index_rows(pl->ix, DRAY_T_ENTRIES);
	uint64_t data = 0, block = block_size(pl->root);
	uint8_t *seen;		/* hard-link groups whose object has its content already */

	p->frames = calloc((size_t)n_frames + 1, 1);
	seen = calloc((size_t)n_rows + 2, 1);
	if (p->frames == NULL || seen == NULL) {
		free(seen);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	for (size_t i = 0; i < p->n_nodes; i++) {
		const struct inst_node *node = &p->nodes[i];
		struct inst_item *it = &pl->items[pl->at[node->entry]];
		struct dray_content c;
		struct dray_recipe r;
		struct dray_state s;

		if (!inst_item_target(pl, it, &s))
			continue;
		if (node->group != 0) {
			if (seen[node->group] != 0)
				continue;
			seen[node->group] = 1;
		}
		if (s.type != DRAY_FILE) {
			data = plus(data, block);
			continue;
		}
		dray_index_content(pl->ix, s.content, &c);
		data = plus(data, plus(rounded(c.size, block), block));
		if (node->from_live || c.size == 0)
			continue;
		if (full_recipe(pl->ix, &c, &r)) {
			mark(pl, &r);
		} else {
			it->decision = INST_D_CONFLICT;
			it->why = "the bundle holds no full copy of it, and what it builds on is not here";
		}
	}
	free(seen);
	need_room(pl, data, block);
	return 0;
}
