/*
 * test_sparse.c - which zeros become holes, and that a file put in parts has its bytes, its length and no more blocks
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installer/sparse.h"
#include "noise.h"
#include "test.h"

#define BLOCK INST_SPARSE_BLOCK
#define MIN INST_SPARSE_MIN
#define MIB ((size_t)1024 * 1024)

static struct dray_err e;

static int
scratch_file(void)
{
	char path[] = "/tmp/dray-test-XXXXXX";
	int fd = mkstemp(path);

	if (fd == -1 || unlink(path) == -1)
		abort();
	return fd;
}

static uint64_t
taken(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		abort();
	return (uint64_t)st.st_blocks * 512;
}

/* is the file these bytes and no others? */
static bool
holds(int fd, const uint8_t *p, size_t len)
{
	uint8_t *back = malloc(len + 1);
	bool same;

	if (back == NULL)
		abort();
	same = pread(fd, back, len + 1, 0) == (ssize_t)len && memcmp(back, p, len) == 0;
	free(back);
	return same;
}

/* where the first hole of these bytes is, told in one number: begin and length in blocks; all of it: no hole */
static void
want_hole(const uint8_t *p, size_t len, uint64_t at, uint64_t size, size_t begin, size_t hole, const char *what)
{
	size_t got_hole, got = inst_sparse_find(p, len, at, size, &got_hole);

	if (got != begin || got_hole != hole) {
		test_bad++;
		printf("# %s: %zu and %zu, wanted %zu and %zu\n", what, got, got_hole, begin, hole);
	}
}

static void
one_byte_anywhere_keeps_its_block(void)
{
	const size_t len = MIN + 2 * BLOCK;
	uint8_t *p = calloc(1, len);

	if (p == NULL)
		abort();
	want_hole(p, len, 0, len, 0, len, "all zero");
	want_hole(p, len, 0, 2 * len, 0, len, "all zero, not the end");
	/* the run behind or in front of it counts, whichever is long enough */
	for (size_t i = 0; i < len; i++) {
		size_t before = i / BLOCK * BLOCK, behind = len - before - BLOCK;

		p[i] = 1;
		if (before >= MIN)
			want_hole(p, len, 0, len, 0, before, "hole in front");
		else if (behind >= MIN)
			want_hole(p, len, 0, len, before + BLOCK, behind, "hole behind");
		else
			want_hole(p, len, 0, len, len, 0, "no run is long enough");
		p[i] = 0;
	}
	free(p);
}

static void
short_runs_and_dense_bytes_are_written(void)
{
	const size_t len = 4 * MIN;
	uint8_t *p = noise(len, 1), *zeros = calloc(1, len);

	if (zeros == NULL)
		abort();
	for (size_t i = 0; i < len; i++)
		p[i] |= 1;
	want_hole(p, len, 0, len, len, 0, "no zeros");
	memset(p + BLOCK, 0, MIN - 1);
	want_hole(p, len, 0, len, len, 0, "one byte less than a hole");
	memset(p + BLOCK, 0, MIN);
	want_hole(p, len, 0, len, BLOCK, MIN, "just a hole");
	/* the same zeros, but not at the file's blocks: a part that begins in the middle of one */
	want_hole(p, len, 1, len + 1, len, 0, "a run that holds one block less");
	want_hole(p, len, BLOCK - 1, len + BLOCK - 1, len, 0, "a run that holds one block less");
	want_hole(zeros, MIN - 1, 0, MIN - 1, MIN - 1, 0, "a small file of zeros");
	want_hole(zeros, MIN, 0, MIN, 0, MIN, "the smallest file of zeros that is a hole");
	want_hole(zeros, 1, 0, 1, 1, 0, "one byte");
	want_hole(zeros, 0, 0, 0, 0, 0, "nothing");
	want_hole(zeros, 5, BLOCK - 9, 2 * BLOCK, 5, 0, "ends before its first block begins");
	free(p);
	free(zeros);
}

static void
the_last_block_may_be_short(void)
{
	const size_t len = MIN + 777;
	uint8_t *p = calloc(1, len);

	if (p == NULL)
		abort();
	want_hole(p, len, 0, len, 0, len, "up to the end");
	want_hole(p, len, 0, len + 1, 0, MIN, "more follows, in the same block");
	p[len - 1] = 1;
	want_hole(p, len, 0, len, 0, MIN, "the last byte is none");
	p[MIN] = p[0] = 1;
	want_hole(p, len, 0, len, len, 0, "neither the first nor the last block");
	/* a part that ends the file and begins in the middle of a block */
	memset(p, 0, len);
	want_hole(p, len, 8 * BLOCK - 777, 8 * BLOCK + MIN, 777, MIN, "odd begin, even end");
	want_hole(p, len, 8 * BLOCK - 7, 8 * BLOCK - 7 + len, 7, len - 7, "odd begin, odd end");
	free(p);
}

/* parts of @step bytes, every second one first */
static void
put_in_parts(int fd, const uint8_t *p, size_t len, size_t step)
{
	for (size_t first = 0; first < 2; first++)
		for (size_t at = first * step; at < len; at += 2 * step)
			CHECK_EQ(inst_sparse_put(fd, p + at, len - at < step ? len - at : step, at, len, &e), 0);
}

static void
a_file_in_parts_has_its_bytes_and_its_holes(void)
{
	static const size_t islands[] = { 0, 1, 4095, 4096, 300000, 655359, 655360, 1048575, 1048576, 2000001 };
	static const size_t steps[] = { 70001, MIN, 3 * BLOCK, 256 * 1024, 1048576, 4 * MIB };
	static const size_t lengths[] = { 3 * MIB, 3 * MIB + 1, 3 * MIB + 4095, 2000002 };
	uint8_t *p = calloc(1, 4 * MIB);

	if (p == NULL)
		abort();
	for (size_t i = 0; i < sizeof(islands) / sizeof(islands[0]); i++)
		p[islands[i]] = (uint8_t)(i + 1);
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
		for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
			int fd = scratch_file();

			put_in_parts(fd, p, lengths[l], steps[s]);
			CHECK(holds(fd, p, lengths[l]));
			/* a block for each byte that is none, and some for the file system's own use; a run that the
			 * parts cut may be too short then */
			if (steps[s] >= 256 * 1024)
				CHECK(taken(fd) <= 16 * BLOCK + (steps[s] < MIB ? 4 * MIN : 0));
			close(fd);
		}
	free(p);
}

static void
zeros_alone_take_no_room(void)
{
	static const size_t lengths[] = { MIN, MIN + 1, 5 * MIB, 5 * MIB + 1 };
	uint8_t *p = calloc(1, 6 * MIB);

	if (p == NULL)
		abort();
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		int fd = scratch_file();

		put_in_parts(fd, p, lengths[l], 1048576);
		CHECK(holds(fd, p, lengths[l]));
		/* with the one byte of the last part as its own block, which is too small for a hole */
		CHECK(taken(fd) <= BLOCK);
		close(fd);
	}
	free(p);
}

static void
random_runs_come_back_as_they_were(void)
{
	uint8_t *r = noise(64 * 1024, 7);
	size_t at = 0, len = 0;
	uint8_t *p = calloc(1, 4 * MIB);

	if (p == NULL)
		abort();
	for (unsigned round = 0; round < 200; round++) {
		int fd = scratch_file();
		size_t step = ((size_t)r[at] << 12) + r[at + 1] + 1;

		len = 0;
		while (len < 2 * MIB) {	/* data and zeros by turns, of up to 64 and up to 256 KiB, a few of them whole blocks */
			size_t data = ((size_t)r[at] << 8) + r[at + 1], gap = ((size_t)r[at + 2] << 10) + r[at + 3];

			if ((r[at + 4] & 3) == 0)
				data &= ~(BLOCK - 1), gap &= ~(BLOCK - 1);
			memcpy(p + len, r, data);
			memset(p + len + data, 0, gap);
			len += data + gap;
			at = (at + 5) % (64 * 1024 - 8);
		}
		put_in_parts(fd, p, len, step);
		CHECK(holds(fd, p, len));
		close(fd);
	}
	free(p);
	free(r);
}

static void
a_failure_is_told(void)
{
	uint8_t *p = calloc(1, MIB);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (p == NULL || fd == -1)
		abort();
	CHECK_EQ(inst_sparse_put(fd, p, MIB, 0, MIB, &e), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_HAS(e.text, "give it its length");
	p[0] = 1;
	dray_err_clear(&e);
	CHECK_EQ(inst_sparse_put(fd, p, MIB, 0, MIB, &e), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_HAS(e.text, "write");
	close(fd);
	free(p);
}

int
main(void)
{
	RUN(one_byte_anywhere_keeps_its_block);
	RUN(short_runs_and_dense_bytes_are_written);
	RUN(the_last_block_may_be_short);
	RUN(a_file_in_parts_has_its_bytes_and_its_holes);
	RUN(zeros_alone_take_no_room);
	RUN(random_runs_come_back_as_they_were);
	RUN(a_failure_is_told);
	return test_done();
}
