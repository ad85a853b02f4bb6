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
#include "dray/pool.h"

#include "installer/place.h"
#include "installer/stage.h"

#define READ_BYTES (256u * 1024u)

struct reread {
	const struct dray_index *ix;
	const struct inst_plan *p;
	const struct inst_tx *tx;
	int (*stop)(void);
};

static int
compare(int fd, const struct dray_content *c, struct dray_err *e)
{
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
		r = dray_sha256_fd(h, fd, buf, READ_BYTES, &size, sum, e);
	if (r == 0 && (size != c->size || memcmp(sum, c->sha256, sizeof(sum)) != 0)) {
		dray_fail(e, DRAY_E_IO, "what the disk gives back is not what was written");
		r = dray_hint(e, "the disk or its cable is failing: replace it before you try again");
	}
out:
	dray_sha256_free(h);
	free(buf);
	return r;
}

static int
reread_node(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	const struct reread *r = ctx;
	const struct inst_node *n = &r->p->nodes[i];
	char leaf[DRAY_NAME_MAX + 1], q[512];
	struct inst_place place;
	struct dray_content c;
	struct dray_entry en;
	struct dray_state s;
	int dir, fd, rc;

	(void)worker;
	if (r->stop != NULL && r->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	dray_index_entry(r->ix, n->entry, &en);
	dray_index_state(r->ix, en.target, &s);
	if (s.type != DRAY_FILE)
		return 0;
	dray_index_content(r->ix, s.content, &c);
	inst_place_init(&place, r->tx);
	rc = inst_place_at(&place, r->p->ops[n->op].site, r->p->ops[n->op].slot, en.path + n->rel, en.len - n->rel, &dir,
	    leaf, e);
	if (rc == 0 && (fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1)
		rc = dray_fail_errno(e, "open what was written");
	if (rc == 0) {
		rc = compare(fd, &c, e);
		close(fd);	/* read only */
	}
	inst_place_close(&place);
	return rc == 0 ? 0 : dray_wrap(e, "%s", dray_quote(en.path, en.len, q, sizeof(q)));
}

int
inst_stage_reread(const struct dray_bundle *b, const struct inst_plan *p, const struct inst_tx *tx, unsigned threads,
    int (*stop)(void), struct dray_err *e)
{
	struct reread r = { .ix = dray_bundle_index(b), .p = p, .tx = tx, .stop = stop };

	return dray_parallel(threads, p->n_nodes, 16, reread_node, &r, e);
}
