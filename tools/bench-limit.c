/*
 * bench-limit.c - the lower limit of apply: the same reads, decodes and hashes, then bare writes and renames; no journal, no
 * sync, no attributes but the mode, no way back.
 *
 *   bench-limit MODE BUNDLE TREE [THREADS]
 *
 * apply  what is there is hashed, frames are hashed and decoded against it, what comes out is hashed, written to a file of its own in
 *        TREE/.bench-limit and at the end renamed over the old one
 * write  as many files and bytes are written and renamed; nothing is read, decoded or hashed
 * hash   write, and SHA-256 of what is written
 * fsync  write, each file flushed before its rename
 * TREE is spoiled by it: it is for a copy. Where a type changes or a directory is missing, that is made; what the release
 * removes goes to TREE/.bench-limit as well. Signatures are not asked.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dray/bundle.h"
#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/io.h"
#include "dray/num.h"
#include "dray/path.h"
#include "dray/pool.h"

#include "installer/recipe.h"

enum { BUF = 256 * 1024, THREADS_MAX = 256 };

struct worker {
	struct dray_walk walk;
	struct dray_sha256 *sha;
	struct dray_decoder *dec;
	uint8_t *buf, *out, *ref;
	size_t ref_cap;
	struct dray_range *ranges;
	size_t ranges_cap;
};

struct use { uint32_t frame, content, offset, len; uint64_t at; };
struct job { uint32_t frame; uint8_t *p; };

static struct {
	bool decode, hash, sync;	/* what the mode does */
	const struct dray_bundle *b;
	const struct dray_index *ix;
	int root, tmp;
	unsigned threads;
	struct worker *w;
	uint8_t *touched;		/* per entry: 1 to be made, 2 to go */
	uint32_t *live_of;		/* per content: the entry it lies at */
	uint32_t *entry_of, *next;	/* per content: first entry to be made of it; per entry: the next one */
	struct use *uses;
	size_t n_uses;
	size_t *first_use;		/* per frame */
	atomic_ullong bytes, files;
} l;

static void
need(int rc, const struct dray_err *e)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench-limit: %s\n", e->text);
	exit(1);
}

static void *
some(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (p == NULL)
		abort();
	return p;
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
open_live(struct worker *w, uint32_t row, struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1];
	struct dray_entry en;
	int dir;

	dray_index_entry(l.ix, row, &en);
	if (dray_walk_parent(&w->walk, en.path, en.len, &dir, leaf, e) != 0)
		return -1;
	return openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* a path that the release changes is hashed, as plan does; other files are taken at their word, as bases */
static int
look(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct worker *w = &l.w[worker];
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_entry en;
	struct dray_state s;
	struct dray_content c;
	struct dray_alt alt;
	struct stat st;
	uint64_t size;
	int fd;

	(void)ctx;
	dray_index_entry(l.ix, (uint32_t)i, &en);
	if ((en.flags & DRAY_ENTRY_SAME) != 0)
		return 0;
	l.touched[i] = en.target == DRAY_NONE ? 2 : 1;
	if (!l.decode || (fd = open_live(w, (uint32_t)i, e)) == -1) {
		dray_err_clear(e);
		return 0;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (dray_sha256_begin(w->sha, e) != 0 || dray_sha256_fd(w->sha, fd, w->buf, BUF, &size, sum, e) != 0) {
			close(fd);
			return -1;
		}
		for (uint32_t k = 0; k < en.alt_count; k++) {
			dray_index_alt(l.ix, en.alt_first + k, &alt);
			if (alt.state == DRAY_NONE || (dray_index_state(l.ix, alt.state, &s), s.content == DRAY_NONE))
				continue;
			dray_index_content(l.ix, s.content, &c);
			if (memcmp(c.sha256, sum, sizeof(sum)) == 0)
				l.live_of[s.content] = (uint32_t)i;	/* whichever thread comes last: any will do */
		}
	}
	close(fd);
	return 0;
}

static int
by_frame(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return (x->frame > y->frame) - (x->frame < y->frame);
}

static void
list_uses(uint32_t contents)
{
	struct dray_recipe r;
	struct dray_piece pc;
	size_t cap = 0;

	for (uint32_t c = 0; c < contents; c++) {
		uint64_t at = 0;

		if (l.entry_of[c] == DRAY_NONE || inst_recipe_next(l.ix, c, 0, l.live_of, &r) == INST_RECIPE_NONE)
			continue;
		if (l.n_uses + r.piece_count > cap) {
			cap = (l.n_uses + r.piece_count) * 2;
			if ((l.uses = realloc(l.uses, cap * sizeof(*l.uses))) == NULL)
				abort();
		}
		for (uint32_t k = 0; k < r.piece_count; k++) {
			dray_index_piece(l.ix, r.piece_first + k, &pc);
			l.uses[l.n_uses++] = (struct use){ pc.frame, c, pc.offset, pc.len, at };
			at += pc.len;
		}
	}
	if (l.n_uses > 0)
		qsort(l.uses, l.n_uses, sizeof(*l.uses), by_frame);
	l.first_use = some(dray_index_rows(l.ix, DRAY_T_FRAMES), sizeof(*l.first_use));
	for (size_t i = l.n_uses; i-- > 0;)
		l.first_use[l.uses[i].frame] = i;
}

static int
put(uint32_t row, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e)
{
	struct dray_entry en;
	struct dray_state s;
	struct dray_attrs a;
	char name[16];
	size_t done = 0;
	ssize_t n = 0;
	int fd;

	dray_index_entry(l.ix, row, &en);
	dray_index_state(l.ix, en.target, &s);
	dray_index_attrs(l.ix, s.attrs, &a);
	snprintf(name, sizeof(name), "%" PRIu32, row);
	if ((fd = openat(l.tmp, name, O_WRONLY | O_CREAT | O_CLOEXEC, (mode_t)(a.mode & 0777))) == -1)
		return dray_fail_errno(e, "new file");
	while (done < len && (n = pwrite(fd, p + done, len - done, (off_t)(at + done))) > 0)
		done += (size_t)n;
	if (done < len || (l.sync && fsync(fd) != 0)) {
		dray_fail_errno(e, "write");
		close(fd);
		return -1;
	}
	atomic_fetch_add(&l.bytes, len);
	return close(fd) == 0 ? 0 : dray_fail_errno(e, "close");
}

static int
reference(struct worker *w, const struct dray_frame *f, struct dray_ref *ref, struct dray_err *e)
{
	size_t total = 0, at = 0;
	int fd;

	if (f->range_count > w->ranges_cap) {
		w->ranges_cap = f->range_count;
		free(w->ranges);
		w->ranges = some(w->ranges_cap, sizeof(*w->ranges));
	}
	for (uint32_t i = 0; i < f->range_count; i++) {
		dray_index_range(l.ix, f->range_first + i, &w->ranges[i]);
		total += (size_t)w->ranges[i].len;
	}
	if (total > w->ref_cap) {
		free(w->ref);
		w->ref = some(w->ref_cap = total, 1);
	}
	for (uint32_t i = 0; i < f->range_count; i++) {
		const struct dray_range *r = &w->ranges[i];

		if ((fd = open_live(w, l.live_of[r->content], e)) == -1)
			return dray_fail(e, DRAY_E_IO, "a base is not there any more");
		if (!dray_pread_whole(fd, w->ref + at, (size_t)r->len, r->offset)) {
			close(fd);
			return dray_fail(e, DRAY_E_IO, "a base is too short");
		}
		close(fd);
		at += (size_t)r->len;
	}
	*ref = (struct dray_ref){ .p = w->ref, .len = total, .ranges = w->ranges, .n = f->range_count };
	return 0;
}

static int
run_frame(void *ctx, unsigned worker, void *job, struct dray_err *e)
{
	struct job *j = job;
	struct worker *w = &l.w[worker];
	const struct use *u = &l.uses[l.first_use[j->frame]];
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_content c;
	struct dray_frame f;
	struct dray_ref ref;
	int rc = -1;

	(void)ctx;
	dray_index_frame(l.ix, j->frame, &f);
	if (dray_sha256_once(w->sha, j->p, f.stored, sum, e) != 0 || reference(w, &f, &ref, e) != 0)
		goto out;
	if (memcmp(sum, f.sha256, sizeof(sum)) != 0) {
		dray_fail(e, DRAY_E_FORMAT, "a frame is damaged");
		goto out;
	}
	if (dray_decode_frame(w->dec, &f, j->p, &ref, u->at, dray_bundle_desc(l.b), w->out, e) != 0)
		goto out;
	for (; u < l.uses + l.n_uses && u->frame == j->frame; u++) {
		dray_index_content(l.ix, u->content, &c);
		if (dray_sha256_once(w->sha, w->out + u->offset, u->len, sum, e) != 0)
			goto out;
		/* a piece of a larger content is hashed as much, but by itself */
		if (u->len == c.size && memcmp(sum, c.sha256, sizeof(sum)) != 0) {
			dray_fail(e, DRAY_E_FORMAT, "a content has not its hash");
			goto out;
		}
		for (uint32_t row = l.entry_of[u->content]; row != DRAY_NONE; row = l.next[row])
			if (put(row, w->out + u->offset, u->len, u->at, e) != 0)
				goto out;
	}
	rc = 0;
out:
	free(j->p);
	free(j);
	return rc;
}

static void
stage_frames(void)
{
	struct dray_pool *pool;
	struct dray_err e = { 0 };
	struct dray_frame f;

	need(dray_pool_start(l.threads, l.threads + 1, run_frame, NULL, NULL, &pool, &e), &e);
	for (size_t i = 0; i < l.n_uses; i++) {
		struct job *j;

		if (i > 0 && l.uses[i].frame == l.uses[i - 1].frame)
			continue;
		j = some(1, sizeof(*j));
		dray_index_frame(l.ix, j->frame = l.uses[i].frame, &f);
		j->p = some(f.stored, 1);
		need(dray_bundle_read(l.b, f.at, j->p, f.stored, &e), &e);
		if (dray_pool_push(pool, j) != 0)
			break;
	}
	need(dray_pool_finish(pool, &e), &e);
}

/* bytes that are already there, and symlinks, which have none; of the bare modes everything */
static int
make_other(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct worker *w = &l.w[worker];
	uint8_t sum[DRAY_SHA256_LEN];
	char name[16], text[DRAY_PATH_MAX];
	struct dray_content c;
	struct dray_recipe r;
	struct dray_entry en;
	struct dray_state s;
	int fd;

	(void)ctx;
	if (l.touched[i] != 1)
		return 0;
	dray_index_entry(l.ix, (uint32_t)i, &en);
	dray_index_state(l.ix, en.target, &s);
	snprintf(name, sizeof(name), "%zu", i);
	if (s.type == DRAY_SYMLINK) {
		snprintf(text, sizeof(text), "%.*s", (int)s.target_len, s.target);
		return symlinkat(text, l.tmp, name) == 0 ? 0 : dray_fail_errno(e, "new symlink");
	}
	if (s.type != DRAY_FILE)
		return 0;
	dray_index_content(l.ix, s.content, &c);
	if (c.size == 0)
		return put((uint32_t)i, w->buf, 0, 0, e);
	if (l.decode && inst_recipe_next(l.ix, s.content, 0, l.live_of, &r) != INST_RECIPE_NONE && r.kind != DRAY_RECIPE_COPY)
		return 0;
	if (l.decode && l.live_of[s.content] == DRAY_NONE)
		return dray_fail(e, DRAY_E_IO, "%.*s cannot be made", (int)en.len, en.path);
	fd = l.decode ? open_live(w, l.live_of[s.content], e) : -1;
	if (l.hash && dray_sha256_begin(w->sha, e) != 0)
		return -1;
	for (uint64_t at = 0; at < c.size; at += BUF) {
		size_t n = c.size - at < BUF ? (size_t)(c.size - at) : BUF;

		if (fd != -1 && !dray_pread_whole(fd, w->buf, n, at))
			return dray_fail(e, DRAY_E_IO, "a base is too short");
		if ((l.hash && dray_sha256_add(w->sha, w->buf, n, e) != 0) || put((uint32_t)i, w->buf, n, at, e) != 0)
			return -1;
	}
	if (fd != -1)
		close(fd);
	return l.hash ? dray_sha256_end(w->sha, sum, e) : 0;
}

static void
rename_all(void)
{
	uint32_t n = dray_index_rows(l.ix, DRAY_T_ENTRIES);
	char leaf[DRAY_NAME_MAX + 1], name[16], gone[20];
	struct dray_err e = { 0 };
	struct dray_entry en;
	struct dray_state s;
	int dir;

	for (uint32_t i = 0; i < n; i++) {
		if (l.touched[i] == 0)
			continue;
		dray_index_entry(l.ix, i, &en);
		if (dray_walk_parent(&l.w[0].walk, en.path, en.len, &dir, leaf, &e) != 0)
			continue;
		snprintf(name, sizeof(name), "%" PRIu32, i);
		snprintf(gone, sizeof(gone), "%" PRIu32 ".old", i);
		if (l.touched[i] == 2) {
			if (renameat(dir, leaf, l.tmp, gone) == 0)
				l.files++;
			continue;
		}
		dray_index_state(l.ix, en.target, &s);
		if (s.type == DRAY_DIR)
			(void)!mkdirat(dir, leaf, 0755);
		if (s.type == DRAY_DIR || faccessat(l.tmp, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (renameat(l.tmp, name, dir, leaf) != 0) {
			/* a directory is in the way */
			dray_walk_forget(&l.w[0].walk);
			if (renameat(dir, leaf, l.tmp, gone) != 0 || renameat(l.tmp, name, dir, leaf) != 0)
				fprintf(stderr, "bench-limit: %.*s: %s\n", (int)en.len, en.path, strerror(errno));
		}
		l.files++;
	}
}

static void
chain(uint32_t entries)
{
	struct dray_entry en;
	struct dray_state s;

	for (uint32_t i = entries; i-- > 0;) {
		dray_index_entry(l.ix, i, &en);
		l.next[i] = DRAY_NONE;
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(l.ix, en.target, &s);
		if (s.type != DRAY_FILE)
			continue;
		if (l.touched[i] == 0) {
			if (l.live_of[s.content] == DRAY_NONE)
				l.live_of[s.content] = i;
			continue;
		}
		l.next[i] = l.entry_of[s.content];
		l.entry_of[s.content] = i;
	}
}

static void
begin(struct dray_err *e)
{
	size_t frame = (size_t)dray_bundle_desc(l.b)->limit_frame;
	uint32_t entries = dray_index_rows(l.ix, DRAY_T_ENTRIES), contents = dray_index_rows(l.ix, DRAY_T_CONTENTS);

	l.touched = some(entries, 1);
	l.next = some(entries, sizeof(*l.next));
	l.live_of = some(contents, sizeof(*l.live_of));
	l.entry_of = some(contents, sizeof(*l.entry_of));
	for (uint32_t i = 0; i < contents; i++)
		l.live_of[i] = l.entry_of[i] = DRAY_NONE;
	l.w = some(l.threads, sizeof(*l.w));
	for (unsigned i = 0; i < l.threads; i++) {
		dray_walk_init(&l.w[i].walk, l.root);
		need(dray_sha256_new(&l.w[i].sha, e), e);
		need(dray_decoder_new(&l.w[i].dec, e), e);
		l.w[i].buf = some(BUF, 1);
		l.w[i].out = some(frame, 1);
		/* no run of zeros, which some file systems do not store */
		for (size_t k = 0; k < BUF; k++)
			l.w[i].buf[k] = (uint8_t)(k * 2654435761u >> 13);
	}
}

int
main(int argc, char **argv)
{
	struct dray_bundle_opts o = { .unsigned_ok = true };
	struct dray_bundle *b;
	struct dray_err e = { 0 };
	double at[5];
	uint64_t threads = 1;
	uint32_t entries;
	int fd;

	if (argc < 4 || argc > 5 || (argc == 5 && !dray_parse_u64(argv[4], 1, THREADS_MAX, &threads))) {
		fputs("usage: bench-limit apply|write|hash|fsync BUNDLE TREE [THREADS]\n", stderr);
		return 2;
	}
	l.decode = strcmp(argv[1], "apply") == 0;
	l.hash = l.decode || strcmp(argv[1], "hash") == 0;
	l.sync = strcmp(argv[1], "fsync") == 0;
	if (!l.hash && !l.sync && strcmp(argv[1], "write") != 0)
		return 2;
	o.threads = l.threads = (unsigned)threads;
	at[0] = now_ms();
	if ((fd = open(argv[2], O_RDONLY | O_CLOEXEC)) == -1 || (l.root = open(argv[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    mkdirat(l.root, ".bench-limit", 0700) != 0 ||
	    (l.tmp = openat(l.root, ".bench-limit", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		perror("bench-limit");
		return 1;
	}
	need(dray_bundle_open(fd, &o, &b, &e), &e);
	l.b = b;
	l.ix = dray_bundle_index(b);
	entries = dray_index_rows(l.ix, DRAY_T_ENTRIES);
	begin(&e);
	at[1] = now_ms();
	need(dray_parallel(l.threads, entries, 16, look, NULL, &e), &e);
	chain(entries);
	at[2] = now_ms();
	if (l.decode) {
		list_uses(dray_index_rows(l.ix, DRAY_T_CONTENTS));
		stage_frames();
	}
	need(dray_parallel(l.threads, entries, 16, make_other, NULL, &e), &e);
	at[3] = now_ms();
	rename_all();
	at[4] = now_ms();
	printf("{\"bytes\":%llu,\"ms_look\":%.1f,\"ms_open\":%.1f,\"ms_rename\":%.1f,\"ms_stage\":%.1f,\"renamed\":%llu}\n",
	    atomic_load(&l.bytes), at[2] - at[1], at[1] - at[0], at[4] - at[3], at[3] - at[2], atomic_load(&l.files));
	dray_bundle_close(b);	/* the rest goes with the process */
	return 0;
}
