/*
 * reread.c - what was written is read back from the disk, past the page cache, before anything is decided: a card or a
 * stick that loses bytes is found while nothing live has changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/meter.h"
#include "dray/pool.h"

#include "installer/place.h"
#include "installer/stage.h"

#define READ_BYTES (256u * 1024u)

struct reread {
	const struct dray_index *ix;
	const struct inst_plan *p;
	const struct inst_tx *tx;
	const struct inst_stage_opts *o;
	struct dray_meter meter;
};

static int
each(void *ctx, size_t len, struct dray_err *e)
{
	struct reread *r = ctx;

	dray_meter_add(&r->meter, len, len * DRAY_COST_HASH);
	if (r->o->stop != NULL && r->o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	return 0;
}

static int
compare(struct reread *reread, int fd, const struct dray_content *c, struct dray_err *e)
{
	const struct dray_watch w = { each, reread };
	uint8_t sum[DRAY_SHA256_LEN], *buf = malloc(READ_BYTES);
	struct dray_sha256 *h = NULL;
	uint64_t size = 0;
	int r = -1;

	if (buf == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	/* all of it is on the disk, so its pages may go; a file system that keeps them is read from memory */
	r = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (r != 0) {
		errno = r;
		r = dray_fail_errno(e, "drop it from memory");
		goto out;
	}
	if ((r = dray_sha256_new(&h, e)) == 0)
		r = dray_sha256_fd_watch(h, fd, buf, READ_BYTES, &w, &size, sum, e);
	if (r == 0 && !dray_content_is(c, size, sum)) {
		dray_fail(e, DRAY_E_IO, "what the disk gives back is not what was written");
		r = dray_hint(e, "the disk or its cable is failing: replace it before you try again");
	}
out:
	dray_sha256_free(h);
	free(buf);
	return r;
}

/* false: it is no file */
static bool
content_of(const struct reread *r, const struct inst_node *n, struct dray_content *c)
{
	struct dray_entry en;
	struct dray_state s;

	dray_index_entry(r->ix, n->entry, &en);
	dray_index_state(r->ix, en.target, &s);
	if (n->merge != 0)
		*c = (struct dray_content){ .size = r->p->merges[n->merge - 1].len, .sha256 = r->p->merges[n->merge - 1].sha256 };
	else if (s.type == DRAY_FILE)
		dray_index_content(r->ix, s.content, c);
	return s.type == DRAY_FILE;
}

static int
reread_node(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct reread *r = ctx;
	const struct inst_node *n = &r->p->nodes[i];
	char leaf[DRAY_NAME_MAX + 1], q[512];
	struct inst_place place;
	struct dray_content c;
	struct dray_entry en;
	int dir, fd, rc;

	(void)worker;
	dray_index_entry(r->ix, n->entry, &en);
	if (!content_of(r, n, &c))
		return 0;
	dray_meter_add(&r->meter, 0, DRAY_COST_FILE);
	inst_place_init(&place, r->tx);
	rc = inst_place_at(&place, r->p->ops[n->op].site, r->p->ops[n->op].slot, en.path + n->rel, en.len - n->rel, &dir,
	    leaf, e);
	if (rc == 0 && (fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1)
		rc = dray_fail_errno(e, "open what was written");
	if (rc == 0) {
		rc = compare(r, fd, &c, e);
		close(fd);	/* read only */
	}
	inst_place_close(&place);
	if (rc == 0 || e->code == DRAY_E_SIGNAL)	/* where it was interrupted tells nothing */
		return rc;
	return dray_wrap(e, "%s", dray_quote(en.path, en.len, q, sizeof(q)));
}

int
inst_stage_reread(const struct dray_bundle *b, const struct inst_plan *p, const struct inst_tx *tx,
    const struct inst_stage_opts *o, struct dray_err *e)
{
	struct reread r = { .ix = dray_bundle_index(b), .p = p, .tx = tx, .o = o,
		.meter = { .tell = o->progress, .ctx = o->ctx } };
	struct dray_content c;

	/* for the progress alone: it need not be right */
	for (size_t i = 0; i < p->n_nodes; i++)
		if (content_of(&r, &p->nodes[i], &c)) {
			r.meter.total += dray_content_bytes(&c);
			r.meter.costs += dray_cost_file(dray_content_bytes(&c));
		}
	return dray_parallel(o->threads, p->n_nodes, 16, reread_node, &r, e);
}
