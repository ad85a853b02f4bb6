/*
 * recheck.c - the last look before the commit record: is everything that will give way still what plan saw?
 */
#include <stdlib.h>
#include <string.h>

#include "dray/os.h"
#include "dray/path.h"
#include "dray/pool.h"

#include "installer/planning.h"
#include "installer/tree.h"

struct recheck {
	const struct inst_op *ops;
	const struct inst_inside *inside;
	uint8_t after, upto;
	bool trees;		/* compare what directories hold with the digest that was taken when staging */
	struct dray_walk *walks;
};

static int
drifted(const char *path, size_t len, struct dray_err *e)
{
	char quoted[DRAY_QUOTE_CAP(255)];

	dray_fail(e, DRAY_E_DRIFT, "%s changed since the plan was made",
	    len == 0 ? "the root directory" : dray_quote(path, len, quoted, sizeof(quoted)));
	return dray_hint(e, "nothing was changed; make sure nothing else writes there and run it again");
}

/* what a directory that goes as a whole holds, as it was when its digest was taken */
static int
recheck_tree(struct dray_walk *w, const struct inst_op *op, bool *same, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	uint8_t now[32] = { 0 };
	int dir, r;

	if ((op->flags & INST_OP_SUBTREE) == 0 || op->old.type != DRAY_DIR)
		return 0;
	if ((r = dray_walk_parent(w, op->path, op->len, &dir, leaf, e)) == 0)
		r = inst_tree_digest(dir, leaf, now, e);
	*same = r == 0 && memcmp(now, op->trees->old, sizeof(now)) == 0;
	return r < 0 ? -1 : 0;
}

static int
recheck_op(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct recheck *r = ctx;
	const struct inst_op *op = &r->ops[i];
	struct inst_ident now;
	struct dray_stat st;
	bool same;

	if (op->step <= r->after || op->step > r->upto)
		return 0;
	if (inst_look(&r->walks[worker], op->path, op->len, &now, &st, e) != 0)
		return -1;
	/* the time of a directory that only gets attributes moves whenever something is made in it: not a drift */
	if (op->kind == INST_OP_META && op->old.type == DRAY_DIR)
		same = inst_ident_object(&now, &op->old);
	else
		same = inst_ident_same(&now, &op->old);
	/* a new link would get the attributes too, wherever it is */
	if (same && op->kind == INST_OP_META && op->old.type == DRAY_FILE)
		same = st.nlink == op->attrs->nlink;
	if (same)
		same = st.fflags == op->fflags_before;
	if (same && (r->trees || (op->kind == INST_OP_SWAP && (op->flags & INST_OP_OUTPUT) != 0)) && recheck_tree(&r->walks[worker], op, &same, e) != 0)
		return -1;
	return same ? 0 : drifted(op->path, op->len, e);
}

static int
recheck_inside(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct recheck *r = ctx;
	const struct inst_inside *in = &r->inside[i];
	struct inst_ident now;

	if (inst_look(&r->walks[worker], in->path, in->len, &now, NULL, e) != 0)
		return -1;
	return inst_ident_same(&now, &in->id) ? 0 : drifted(in->path, in->len, e);
}

static int
recheck(struct recheck *r, int rootfd, size_t n_ops, size_t n_inside, unsigned threads, struct dray_err *e)
{
	int rc;

	if (threads < 8)
		threads = 8;
	if (threads > 64)
		threads = 64;
	if ((r->walks = calloc(threads, sizeof(*r->walks))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned t = 0; t < threads; t++)
		dray_walk_init(&r->walks[t], rootfd);
	rc = dray_parallel(threads, n_ops, 64, recheck_op, r, e);
	if (rc == 0)
		rc = dray_parallel(threads, n_inside, 64, recheck_inside, r, e);
	for (unsigned t = 0; t < threads; t++)
		dray_walk_close(&r->walks[t]);
	free(r->walks);
	return rc;
}

int
inst_plan_recheck(int rootfd, const struct inst_plan *p, unsigned threads, struct dray_err *e)
{
	struct recheck r = { .ops = p->ops, .inside = p->inside, .upto = UINT8_MAX };

	return recheck(&r, rootfd, p->n_ops, p->n_inside, threads, e);
}

int
inst_ops_recheck(int rootfd, const struct inst_op *ops, size_t n, uint8_t after, uint8_t upto, unsigned threads,
    struct dray_err *e)
{
	struct recheck r = { .ops = ops, .after = after, .upto = upto, .trees = true };

	return recheck(&r, rootfd, n, 0, threads, e);
}
