/*
 * content.c - from a frame's output to the files that hold it.
 *
 * A content of one piece is hashed and then written. Pieces of a larger one are written where they belong in any
 * order, and hashed in theirs: a worker waits for its turn. The frames of a content ascend and the queue is first
 * in, first out, so the piece waited for is always with another worker already, never behind in the queue.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "installer/sparse.h"
#include "installer/staging.h"

/* of a full recipe: the bundle itself is wrong. Of a delta: what it was built on is, and there may be another way */
static int
wrong_hash(struct stage *s, struct want *w, struct dray_err *e)
{
	if (w->kind != DRAY_RECIPE_FULL) {
		atomic_store(&w->failed, true);
		return 0;
	}
	dray_fail(e, DRAY_E_FORMAT, "the content does not have the signed hash");
	inst_stage_blame(s, w->first_node, e);
	return dray_hint(e, "the bundle was built wrong; nothing on this machine was changed");
}

static int
write_whole(struct stage *s, struct stage_worker *w, uint32_t node, const uint8_t *p, size_t len, struct dray_err *e)
{
	int fd, rc;

	rc = inst_stage_create(s, &w->place, node, &fd, e);
	if (rc == 0)
		rc = inst_sparse_put(fd, p, len, 0, len, e);
	if (rc == 0)
		rc = inst_stage_dress(s, &w->place, node, fd, e);
	if (fd != -1 && close(fd) == -1 && rc == 0)
		rc = dray_fail_errno(e, "close");
	return rc == 0 ? 0 : inst_stage_blame(s, node, e);
}

static int
use_single(struct stage *s, struct stage_worker *w, struct want *want, const uint8_t *p, size_t len, struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_content c;
	uint32_t node;

	dray_index_content(s->ix, want->content, &c);
	if (want->wrap != DRAY_DEFLATE_NONE) {
		if (dray_gzip_content(&w->gzip, want->wrap, p, len, (size_t)c.size, &p, e) != 0)
			return -1;
		len = (size_t)c.size;
	}
	if (dray_sha256_once(w->sha, p, len, sum, e) != 0)
		return -1;
	if (memcmp(sum, c.sha256, sizeof(sum)) != 0)
		return wrong_hash(s, want, e);
	want->made = true;
	for (node = want->first_node; node != DRAY_NONE; node = s->next_node[node])
		if (write_whole(s, w, node, p, len, e) != 0)
			return -1;
	return 0;
}

static int
make_files(struct stage *s, struct stage_worker *w, struct want *want, struct dray_err *e)
{
	uint32_t node;
	int fd;

	for (node = want->first_node; node != DRAY_NONE; node = s->next_node[node]) {
		if (inst_stage_create(s, &w->place, node, &fd, e) != 0)
			return inst_stage_blame(s, node, e);
		close(fd);	/* empty yet */
	}
	want->made = true;
	return 0;
}

static int
write_piece(struct stage *s, struct stage_worker *w, uint32_t node, const struct use *u, const uint8_t *p,
    uint64_t size, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	int dir, fd, rc;

	if (inst_stage_node_at(s, &w->place, node, &dir, leaf, e) != 0)
		return inst_stage_blame(s, node, e);
	if ((fd = openat(dir, leaf, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) == -1) {
		dray_fail_errno(e, "open");
		return inst_stage_blame(s, node, e);
	}
	rc = inst_sparse_put(fd, p, u->len, u->at, size, e);
	if (close(fd) == -1 && rc == 0)
		rc = dray_fail_errno(e, "close");
	return rc == 0 ? 0 : inst_stage_blame(s, node, e);
}

/* after the last piece: the whole hash is right, so the files get their attributes */
static int
dress_all(struct stage *s, struct stage_worker *w, struct want *want, struct dray_err *e)
{
	uint32_t node;

	for (node = want->first_node; node != DRAY_NONE; node = s->next_node[node])
		if (inst_stage_dress(s, &w->place, node, -1, e) != 0)
			return inst_stage_blame(s, node, e);
	return 0;
}

/* with pieces->lock held: wait until it is this piece's turn */
static int
wait_turn(struct stage *s, struct want *want, uint32_t piece, struct dray_err *e)
{
	struct timespec ts;

	while (want->pieces->next != piece) {
		if (dray_pool_stopped(s->pool)) {
			dray_err_clear(e);	/* another job's failure is the one to tell (pool.h) */
			return -1;
		}
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += 50 * 1000 * 1000;
		if (ts.tv_nsec >= 1000 * 1000 * 1000) {
			ts.tv_nsec -= 1000 * 1000 * 1000;
			ts.tv_sec++;
		}
		pthread_cond_timedwait(&want->pieces->turn, &want->pieces->lock, &ts);
	}
	return 0;
}

static int
use_piece(struct stage *s, struct stage_worker *w, struct want *want, const struct use *u, const uint8_t *p, bool good,
    struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_content c;
	bool last = false;
	uint32_t node;
	int rc;

	if (!good)
		atomic_store(&want->failed, true);
	pthread_mutex_lock(&want->pieces->lock);
	rc = want->made ? 0 : make_files(s, w, want, e);
	pthread_mutex_unlock(&want->pieces->lock);
	dray_index_content(s->ix, want->content, &c);
	for (node = want->first_node; good && rc == 0 && node != DRAY_NONE; node = s->next_node[node])
		rc = write_piece(s, w, node, u, p, c.size, e);
	if (rc != 0)
		return -1;
	pthread_mutex_lock(&want->pieces->lock);
	rc = wait_turn(s, want, u->piece, e);
	if (rc == 0 && good)
		rc = dray_sha256_add(want->pieces->hash, p, u->len, e);
	if (rc == 0) {
		want->pieces->next++;
		last = want->pieces->next == want->n_pieces;
		pthread_cond_broadcast(&want->pieces->turn);
	}
	pthread_mutex_unlock(&want->pieces->lock);
	if (rc != 0 || !last || atomic_load(&want->failed))
		return rc;
	if (dray_sha256_end(want->pieces->hash, sum, e) != 0)
		return -1;
	if (memcmp(sum, c.sha256, sizeof(sum)) != 0)
		return wrong_hash(s, want, e);
	return dress_all(s, w, want, e);
}

int
inst_stage_use(struct stage *s, struct stage_worker *w, const struct use *u, bool good, struct dray_err *e)
{
	struct want *want = &s->wants[u->want];
	const uint8_t *p = w->out + u->offset;
	int rc = 0;

	if (want->n_pieces > 1)
		rc = use_piece(s, w, want, u, p, good, e);
	else if (good)
		rc = use_single(s, w, want, p, u->len, e);
	else
		atomic_store(&want->failed, true);
	if (rc == 0 && !atomic_load(&want->failed))
		dray_meter_add(&s->meter, u->len, inst_stage_cost_use(want, u->piece, u->len));
	return rc;
}

int
inst_stage_unmake(struct stage *s, struct want *want, struct dray_err *e)
{
	struct inst_place *pl = &s->workers[0].place;
	char leaf[DRAY_NAME_MAX + 1];
	uint32_t node;
	int dir;

	if (!want->made)
		return 0;
	for (node = want->first_node; node != DRAY_NONE; node = s->next_node[node]) {
		if (inst_stage_node_at(s, pl, node, &dir, leaf, e) != 0)
			return inst_stage_blame(s, node, e);
		if (unlinkat(dir, leaf, 0) == -1 && errno != ENOENT) {
			dray_fail_errno(e, "delete what could not be made");
			return inst_stage_blame(s, node, e);
		}
	}
	want->made = false;
	return 0;
}
