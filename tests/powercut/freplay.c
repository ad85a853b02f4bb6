/*
 * freplay.c - from the log of flog and the image as it was before: the image as of one record, as a disk may hold it after a power cut
 *
 *   freplay LOG IMAGE K [SEED]      IMAGE, a copy of the first one, gets the first K records. With SEED a random half of
 *                                   what was written after the last flush is lost, each block of 4 KiB for itself
 *   freplay LOG find BYTES...       prints the number of the first record that holds BYTES (hexadecimal), for each of them, 0 for
 *                                   none, and last the number of all records
 *   freplay LOG flushes             prints the number of each flush
 *
 * Equal seeds lose equal blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/powercut/flog.h"

enum { BLOCK = 4096, MAX_BYTES = 64 };

static const unsigned char *text;
static size_t size;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "freplay: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* the record at @at, and @at behind it; false at the end, where a record may be cut short */
static bool
next(size_t *at, struct flog_record *r, const unsigned char **bytes)
{
	if (size - *at < sizeof *r)
		return false;
	memcpy(r, text + *at, sizeof *r);
	if (r->magic != FLOG_MAGIC || size - *at - sizeof *r < r->len)
		return false;
	*bytes = text + *at + sizeof *r;
	*at += sizeof *r + r->len;
	return true;
}

static uint64_t
noise(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;	/* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void
put(int image, const struct flog_record *r, const unsigned char *bytes, bool lossy, uint64_t *seed)
{
	for (uint32_t done = 0; done < r->len; ) {
		uint32_t n = r->len - done;

		if (lossy && n > BLOCK - (uint32_t)((r->at + done) % BLOCK))
			n = BLOCK - (uint32_t)((r->at + done) % BLOCK);
		if ((!lossy || (noise(seed) & 1) != 0) &&
		    pwrite(image, bytes + done, n, (off_t)(r->at + done)) != (ssize_t)n)
			die("write the image");
		done += n;
	}
}

static void
replay(const char *name, unsigned long k, uint64_t seed)
{
	unsigned long i, flushed = 0;
	const unsigned char *bytes;
	struct flog_record r;
	size_t at = 0;
	int image;

	if ((image = open(name, O_RDWR | O_CLOEXEC)) == -1)
		die(name);
	for (i = 1; i <= k && next(&at, &r, &bytes); i++)
		if (r.kind == FLOG_FLUSH)
			flushed = i;
	for (i = 1, at = 0; i <= k && next(&at, &r, &bytes); i++)
		if (r.kind == FLOG_WRITE)
			put(image, &r, bytes, seed != 0 && i > flushed, &seed);
	if (close(image) != 0)
		die(name);
}

static void
find(const char *hex)
{
	unsigned char want[MAX_BYTES];
	const unsigned char *bytes;
	struct flog_record r;
	unsigned int byte;
	unsigned long i;
	size_t n = 0, at = 0;

	for (; n < MAX_BYTES && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		want[n] = (unsigned char)byte;
	for (i = 1; next(&at, &r, &bytes); i++)
		if (r.kind == FLOG_WRITE && memmem(bytes, r.len, want, n) != NULL)
			break;
	printf("%lu\n", at < size ? i : 0);
}

int
main(int argc, char **argv)
{
	const unsigned char *bytes;
	struct flog_record r;
	struct stat st;
	unsigned long i;
	size_t at = 0;
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: freplay LOG IMAGE K [SEED] | LOG find BYTES... | LOG flushes\n");
		return 2;
	}
	if ((fd = open(argv[1], O_RDONLY | O_CLOEXEC)) == -1 || fstat(fd, &st) != 0)
		die(argv[1]);
	size = (size_t)st.st_size;
	if (size != 0 && (text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		die("map the log");
	if (strcmp(argv[2], "find") == 0) {
		for (int a = 3; a < argc; a++)
			find(argv[a]);
		for (i = 0; next(&at, &r, &bytes); i++)
			;
		printf("%lu\n", i);
	} else if (strcmp(argv[2], "flushes") == 0) {
		for (i = 1; next(&at, &r, &bytes); i++)
			if (r.kind == FLOG_FLUSH)
				printf("%lu\n", i);
	} else if (argc > 3) {
		replay(argv[2], strtoul(argv[3], NULL, 10), argc > 4 ? strtoull(argv[4], NULL, 10) : 0);
	}
	return 0;
}
