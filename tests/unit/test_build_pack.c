/*
 * test_build_pack.c - frames in the order of the plan whatever the threads do; contents that changed since the scan
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "builder/pack.h"
#include "dray/digest.h"
#include "test.h"

/* a source of three contents in memory files: what the scan saw, and what is there now */
struct fake {
	int fd[8];
	size_t n;
	int refuse;		/* number of the node whose open fails, -1: none */
};

static char scratch[] = "/tmp/dray-test-XXXXXX";
static size_t closed;

static int
open_fake(const struct build_release *r, const struct build_node *nd, struct build_reader *out, struct dray_err *e)
{
	const struct fake *f = r->source;
	size_t i = (size_t)(nd - r->v);

	if (f->refuse == (int)i)
		return dray_fail(e, DRAY_E_IO, "vanished while the tree was read");
	*out = (struct build_reader){ .fd = f->fd[i], .at = 0, .len = nd->size };
	return 0;
}

static void
close_fake(struct build_release *r)
{
	struct fake *f = r->source;

	for (size_t i = 0; i < f->n; i++)
		close(f->fd[i]);
	free(f);
	closed++;
}

static struct build_release *
release(void)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct build_release *r;
	struct dray_err e;

	if (f == NULL || build_release_new("dir:new", 1, &r, &e) != 0)
		abort();
	f->refuse = -1;
	r->source = f;
	r->open = open_fake;
	r->close = close_fake;
	return r;
}

static void
fill(uint8_t *p, size_t len, uint32_t seed)
{
	uint32_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < len; i++) {
		if (i % 7 == 0)
			x = x * 1103515245u + 12345u;
		p[i] = (uint8_t)(x >> 20);
	}
}

/* the bytes that are there now, @now long, and the hash of the @size bytes that the scan saw */
static void
add(struct build_release *r, const char *path, size_t size, size_t now, uint32_t seed, uint32_t seed_now)
{
	struct fake *f = r->source;
	struct build_node *nd = build_release_append(r);
	char name[64];
	uint8_t *p = malloc(size + now + 1);
	struct dray_sha256 *h;
	struct dray_err e;

	if (nd == NULL || p == NULL || dray_sha256_new(&h, &e) != 0)
		abort();
	nd->path = path;
	nd->len = (uint32_t)strlen(path);
	nd->type = DRAY_FILE;
	nd->has = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_XATTRS | DRAY_HAS_MTIME;
	nd->size = size;
	fill(p, size, seed);
	if (dray_sha256_once(h, p, size, nd->sha256, &e) != 0)
		abort();
	fill(p, now, seed_now);
	snprintf(name, sizeof(name), "%s/content", scratch);
	f->fd[f->n] = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (f->fd[f->n] == -1 || unlink(name) != 0 || write(f->fd[f->n], p, now) != (ssize_t)now)
		abort();
	f->n++;
	dray_sha256_free(h);
	free(p);
}

static int
pack(struct build_release *r, unsigned threads, struct build_packed **p, struct dray_err *e)
{
	struct build_pack_opts o = { .level = 1, .threads = threads, .dir = scratch };
	struct build_resolved *rs;
	int rc;

	dray_err_clear(e);
	if (build_resolve(r, NULL, 0, &rs, e) != 0)
		abort();
	rc = build_pack(rs, &o, p, e);
	build_resolved_free(rs);
	return rc;
}

/* in the order of the bundle */
static void
read_all(const struct build_packed *p, uint8_t *to)
{
	for (size_t i = 0; i < p->n_frames; to += p->frames[i++].len)
		CHECK_EQ(pread(p->fd, to, p->frames[i].len, (off_t)p->frames[i].at), p->frames[i].len);
}

static void
any_number_of_threads_gives_the_same_frames(void)
{
	struct build_release *r = release();
	struct build_packed *one, *more;
	struct dray_err e;
	uint8_t *x, *y;

	add(r, "a", 100, 100, 1, 1);
	add(r, "b", 9 * 1024 * 1024 + 5, 9 * 1024 * 1024 + 5, 2, 2);
	add(r, "c", 700000, 700000, 3, 3);
	add(r, "d", 0, 0, 4, 4);
	add(r, "e", 700000, 700000, 5, 5);
	add(r, "f", 3000000, 3000000, 6, 6);
	CHECK_EQ(pack(r, 1, &one, &e), 0);
	/* a | 4 MiB, 4 MiB, rest of b | c | e | f */
	CHECK_EQ(one->n_frames, 7);
	CHECK_EQ(one->out, 100 + 9 * 1024 * 1024 + 5 + 700000 + 700000 + 3000000);
	CHECK_EQ(one->max_out, 4 * 1024 * 1024);
	CHECK_EQ(pack(r, 4, &more, &e), 0);
	CHECK_EQ(more->stored, one->stored);
	CHECK_EQ(more->n_blocks, one->n_blocks);
	x = malloc((size_t)one->stored);
	y = malloc((size_t)one->stored);
	read_all(one, x);
	read_all(more, y);
	CHECK(memcmp(x, y, (size_t)one->stored) == 0);
	free(x);
	free(y);
	build_packed_free(one);
	build_packed_free(more);
	build_release_free(r);
}

static void
a_content_that_changed_since_the_scan_is_named(void)
{
	struct build_release *r = release();
	struct build_packed *p;
	struct dray_err e;

	add(r, "a", 1000, 1000, 1, 1);
	add(r, "etc/b\n", 1000, 1000, 2, 3);
	CHECK_EQ(pack(r, 2, &p, &e), -1);
	CHECK(p == NULL);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_STR(e.text, "dir:new: etc/b\\x0a: changed since the tree was read");
	CHECK_HAS(e.hint, "nothing was written");
	build_release_free(r);
}

static void
a_large_content_that_changed_in_its_last_piece_is_named(void)
{
	struct build_release *r = release();
	struct build_packed *p;
	struct dray_err e;
	struct fake *f;

	add(r, "big", 9000000, 9000000, 1, 1);
	f = r->source;
	CHECK_EQ(pwrite(f->fd[0], "?!", 2, 8999990), 2);
	CHECK_EQ(pack(r, 2, &p, &e), -1);
	CHECK_STR(e.text, "dir:new: big: changed since the tree was read");
	build_release_free(r);
}

static void
a_content_that_became_shorter_is_named(void)
{
	struct build_release *r = release();
	struct build_packed *p;
	struct dray_err e;

	add(r, "a", 1000, 999, 1, 1);
	CHECK_EQ(pack(r, 1, &p, &e), -1);
	CHECK_STR(e.text, "dir:new: a: changed since the tree was read (it is shorter now)");
	build_release_free(r);
}

static void
a_content_that_cannot_be_opened_is_named(void)
{
	struct build_release *r = release();
	struct build_packed *p;
	struct dray_err e;

	for (int i = 0; i < 8; i++)
		add(r, (const char *[]){ "a", "b", "c", "d", "e", "f", "g", "h" }[i], 900000, 900000, (uint32_t)i, (uint32_t)i);
	((struct fake *)r->source)->refuse = 6;
	CHECK_EQ(pack(r, 2, &p, &e), -1);
	CHECK_STR(e.text, "dir:new: g: vanished while the tree was read");
	build_release_free(r);
}

static void
a_folder_that_is_not_there_is_named(void)
{
	struct build_pack_opts o = { .level = 1, .threads = 1, .dir = "/nonexistent/folder" };
	struct build_release *r = release();
	struct build_resolved *rs;
	struct build_packed *p;
	struct dray_err e;

	add(r, "a", 10, 10, 1, 1);
	CHECK_EQ(build_resolve(r, NULL, 0, &rs, &e), 0);
	CHECK_EQ(build_pack(rs, &o, &p, &e), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_HAS(e.text, "/nonexistent/folder: cannot be opened");
	build_resolved_free(rs);
	build_release_free(r);
}

static void
nothing_wanted_gives_no_frame(void)
{
	struct build_release *r = release();
	struct build_packed *p;
	struct dray_err e;

	CHECK_EQ(pack(r, 2, &p, &e), 0);
	CHECK_EQ(p->n_frames, 0);
	CHECK_EQ(p->n_blocks, 0);
	build_packed_free(p);
	build_release_free(r);
}

int
main(void)
{
	if (mkdtemp(scratch) == NULL)
		return 1;
	RUN(any_number_of_threads_gives_the_same_frames);
	RUN(a_content_that_changed_since_the_scan_is_named);
	RUN(a_large_content_that_changed_in_its_last_piece_is_named);
	RUN(a_content_that_became_shorter_is_named);
	RUN(a_content_that_cannot_be_opened_is_named);
	RUN(a_folder_that_is_not_there_is_named);
	RUN(nothing_wanted_gives_no_frame);
	rmdir(scratch);
	return test_done();
}
