/*
 * check.c - is the tree what the release says? Every target entry, in parallel; differences are the result.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/num.h"
#include "dray/os.h"
#include "dray/path.h"
#include "dray/pool.h"

#include "installer/cmd.h"
#include "installer/planning.h"

#define READ_BYTES (256u * 1024u)

const char *const inst_diff_name[INST_DIFFS] = {
	[INST_DIFF_MISSING] = "missing", [INST_DIFF_TYPE] = "type", [INST_DIFF_CONTENT] = "content",
	[INST_DIFF_OWNER] = "owner", [INST_DIFF_MODE] = "mode", [INST_DIFF_XATTRS] = "xattrs", [INST_DIFF_MTIME] = "mtime",
	[INST_DIFF_LINKS] = "links", [INST_DIFF_UNREADABLE] = "unreadable",
};

struct checker { struct dray_walk walk; struct dray_sha256 *hash; uint8_t *buf; };

struct checking {
	int root;
	const struct dray_index *ix;
	const struct inst_check_opts *o;
	uint16_t *diffs;	/* per entry */
	uint64_t *inodes;	/* per entry: of hard-link members, else 0 */
	struct checker *checkers;
	atomic_uint_fast64_t done;
	uint64_t total;
};

#define BIT(d) ((uint16_t)(1u << (d)))

static void
compare_meta(const struct inst_meta *want, const struct inst_meta *have, uint16_t *diffs)
{
	uint16_t plain = want->has & INST_HAS_PLAIN;
	struct inst_meta one = *want;

	one.has = want->has & (DRAY_HAS_UID | DRAY_HAS_GID);
	if (!inst_meta_same(&one, have))
		*diffs |= BIT(INST_DIFF_OWNER);
	one.has = (want->has & DRAY_HAS_MODE) | plain;
	if (!inst_meta_same(&one, have))
		*diffs |= BIT(INST_DIFF_MODE);
	one.has = want->has & DRAY_HAS_MTIME;
	if (!inst_meta_same(&one, have))
		*diffs |= BIT(INST_DIFF_MTIME);
	one.has = (want->has & DRAY_HAS_XATTRS & have->has) | plain;
	if (!inst_meta_same(&one, have))
		*diffs |= BIT(INST_DIFF_XATTRS);
}

/* a large file is neither silent nor deaf to signals while it is read */
static int
watch(void *ctx, size_t len, struct dray_err *e)
{
	struct checking *ck = ctx;
	uint64_t done = atomic_fetch_add(&ck->done, len) + len;

	if (ck->o->stop != NULL && ck->o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	if (ck->o->progress != NULL)
		ck->o->progress(ck->o->ctx, done, ck->total);
	return 0;
}

/* content of a file by its hash; *fd stays open for the attributes, -1 when it cannot be opened */
static int
compare_file(struct checking *ck, struct checker *c, const struct dray_state *s, int dir, const char *leaf,
    const struct dray_stat *st, int *fd, uint16_t *diffs, struct dray_err *e)
{
	const struct dray_watch each = { watch, ck };
	struct dray_content ct;
	uint64_t size;
	uint8_t sha[32];

	dray_index_content(ck->ix, s->content, &ct);
	if (st->size != ct.size)
		*diffs |= BIT(INST_DIFF_CONTENT);
	*fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd == -1) {
		if (errno != EACCES && errno != EPERM)
			return dray_fail_errno(e, "open");
		*diffs |= BIT(INST_DIFF_UNREADABLE);
		return 0;
	}
	if (st->size != ct.size || ck->o->quick)
		return 0;
	if (dray_sha256_fd_watch(c->hash, *fd, c->buf, READ_BYTES, &each, &size, sha, e) != 0)
		return -1;
	if (size != ct.size || memcmp(sha, ct.sha256, 32) != 0)
		*diffs |= BIT(INST_DIFF_CONTENT);
	return 0;
}

static int
compare_link(const struct dray_state *s, int dir, const char *leaf, uint16_t *diffs, struct dray_err *e)
{
	char buf[4097];
	ssize_t n = readlinkat(dir, leaf, buf, sizeof(buf));

	if (n == -1)
		return dray_fail_errno(e, "read link");
	if ((size_t)n != s->target_len || memcmp(buf, s->target, s->target_len) != 0)
		*diffs |= BIT(INST_DIFF_CONTENT);
	return 0;
}

static int
check_entry(struct checking *ck, struct checker *c, uint32_t row, const struct dray_entry *en, struct dray_err *e)
{
	struct inst_meta want = { .has = 0 }, have = { .has = 0 };
	uint16_t *diffs = &ck->diffs[row];
	char leaf[DRAY_NAME_MAX + 1];
	struct inst_ident id;
	struct dray_state s;
	struct dray_stat st;
	int dir, fd = -1, r, rc = -1;

	dray_index_state(ck->ix, en->target, &s);
	if (ck->o->no_owner && inst_is_device(s.type))
		return 0;	/* was left out */
	errno = 0;
	r = dray_walk_parent(&c->walk, en->path, en->len, &dir, leaf, e);
	if (r == -1 && (errno == EACCES || errno == EPERM)) {
		dray_err_clear(e);
		*diffs = BIT(INST_DIFF_UNREADABLE);
		return 0;
	}
	if (r == -1)
		return -1;
	if (r != 0 || os_stat_at(dir, leaf, &st) != 0) {
		if (r == 0 && errno != ENOENT)
			return dray_fail_errno(e, "look at");
		*diffs = BIT(INST_DIFF_MISSING);
		return 0;
	}
	inst_ident_from(&st, &id);
	if (id.type != s.type) {
		*diffs = BIT(INST_DIFF_TYPE);
		return 0;
	}
	if (s.link != 0)
		ck->inodes[row] = id.ino;
	if (inst_meta_of_state(ck->ix, &s, &want, e) != 0)
		return -1;
	if (ck->o->no_owner)
		inst_meta_plain(&want);
	if (s.type == DRAY_FILE) {
		if (compare_file(ck, c, &s, dir, leaf, &st, &fd, diffs, e) != 0)
			goto out;
	} else if (s.type == DRAY_SYMLINK) {
		if (compare_link(&s, dir, leaf, diffs, e) != 0)
			goto out;
	} else if (s.type == DRAY_DIR && (want.has & DRAY_HAS_XATTRS) != 0) {
		fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
		if (fd == -1 && errno != EACCES && errno != EPERM) {
			dray_fail_errno(e, "open");
			goto out;
		}
		if (fd == -1)
			*diffs |= BIT(INST_DIFF_UNREADABLE);
	} else if ((s.type == DRAY_CHARDEV || s.type == DRAY_BLOCKDEV) &&
	    (s.rdev_major != st.rdev_major || s.rdev_minor != st.rdev_minor)) {
		*diffs |= BIT(INST_DIFF_CONTENT);
	}
	/* what has no handle tells no extended attributes: not compared rather than taken for none */
	if (fd == -1)
		want.has &= (uint16_t)~DRAY_HAS_XATTRS;
	if (inst_meta_read(fd, &st, want.has, &have, e) != 0)
		goto out;
	compare_meta(&want, &have, diffs);
	rc = 0;
out:
	if (fd != -1)
		close(fd);
	inst_meta_free(&want);
	inst_meta_free(&have);
	return rc;
}

static int
check_nth(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct checking *ck = ctx;
	char quoted[DRAY_QUOTE_CAP(255)];
	struct dray_entry en;

	if (ck->o->stop != NULL && ck->o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	dray_index_entry(ck->ix, (uint32_t)i, &en);
	if (en.target == DRAY_NONE)
		return 0;
	if (check_entry(ck, &ck->checkers[worker], (uint32_t)i, &en, e) == 0)
		return 0;
	return e->code == DRAY_E_SIGNAL ? -1 : dray_wrap(e, "%s", dray_quote(en.path, en.len, quoted, sizeof(quoted)));
}

/* all names of a group are one object; the first name stands for it */
static void
check_links(struct checking *ck, uint32_t rows)
{
	struct dray_entry en;
	struct dray_state s;

	for (uint32_t i = 0; i < rows; i++) {
		dray_index_entry(ck->ix, i, &en);
		if (en.target == DRAY_NONE || ck->inodes[i] == 0)
			continue;
		dray_index_state(ck->ix, en.target, &s);
		if (ck->inodes[s.link - 1] != 0 && ck->inodes[s.link - 1] != ck->inodes[i])
			ck->diffs[i] |= BIT(INST_DIFF_LINKS);
	}
}

static int
collect(const struct checking *ck, uint32_t rows, struct inst_check *out, struct dray_err *e)
{
	struct dray_entry en;
	size_t n = 0;

	for (uint32_t i = 0; i < rows; i++)
		n += ck->diffs[i] != 0;
	if ((out->v = calloc(n + 1, sizeof(*out->v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (uint32_t i = 0; i < rows; i++) {
		dray_index_entry(ck->ix, i, &en);
		out->entries += en.target != DRAY_NONE;
		if (ck->diffs[i] != 0)
			out->v[out->n++] = (struct inst_checked){ .row = i, .diffs = ck->diffs[i] };
	}
	out->bytes = ck->done;
	return 0;
}

static uint64_t
total_bytes(const struct dray_index *ix, uint32_t rows)
{
	struct dray_content ct;
	struct dray_entry en;
	struct dray_state s;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rows; i++) {
		dray_index_entry(ix, i, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &s);
		if (s.type != DRAY_FILE)
			continue;
		dray_index_content(ix, s.content, &ct);
		if (!dray_add(sum, ct.size, &sum))
			return UINT64_MAX;	/* for the progress line only */
	}
	return sum;
}

void
inst_check_free(struct inst_check *c)
{
	free(c->v);
	memset(c, 0, sizeof(*c));
}

int
inst_check_tree(int rootfd, const struct dray_index *ix, const struct inst_check_opts *o, struct inst_check *out,
    struct dray_err *e)
{
	struct checking ck = { .root = rootfd, .ix = ix, .o = o };
	unsigned threads = o->threads < 8 ? 8 : o->threads > 64 ? 64 : o->threads;
	uint32_t rows = dray_index_rows(ix, DRAY_T_ENTRIES);
	int rc = -1;

	memset(out, 0, sizeof(*out));
	ck.diffs = calloc((size_t)rows + 1, sizeof(*ck.diffs));
	ck.inodes = calloc((size_t)rows + 1, sizeof(*ck.inodes));
	ck.checkers = calloc(threads, sizeof(*ck.checkers));
	if (ck.diffs == NULL || ck.inodes == NULL || ck.checkers == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	ck.total = total_bytes(ix, rows);
	for (unsigned t = 0; t < threads; t++)
		dray_walk_init(&ck.checkers[t].walk, rootfd);
	for (unsigned t = 0; t < threads; t++) {
		if (dray_sha256_new(&ck.checkers[t].hash, e) != 0)
			goto out;
		if ((ck.checkers[t].buf = malloc(READ_BYTES)) == NULL) {
			dray_fail(e, DRAY_E_IO, "out of memory");
			goto out;
		}
	}
	if (dray_parallel(threads, rows, 32, check_nth, &ck, e) != 0)
		goto out;
	check_links(&ck, rows);
	rc = collect(&ck, rows, out, e);
out:
	for (unsigned t = 0; ck.checkers != NULL && t < threads; t++) {
		dray_walk_close(&ck.checkers[t].walk);
		dray_sha256_free(ck.checkers[t].hash);
		free(ck.checkers[t].buf);
	}
	free(ck.checkers);
	free(ck.inodes);
	free(ck.diffs);
	return rc;
}
