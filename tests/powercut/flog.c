/*
 * flog.c - a file system of one file, `img`, that keeps a log of every write to it and of every flush, in the order in which they came
 *
 *   flog IMAGE LOG MOUNTPOINT       stays until MOUNTPOINT is unmounted; "ready" on standard output when it is mounted
 *
 * A loop device on MOUNTPOINT/img carries a real file system; what the log holds up to some record, less some of what
 * came after the last flush, is what a disk may hold after a power cut there (freplay.c). It speaks the protocol of
 * fuse(4) itself, as much of it as a loop device needs, so that no library is wanted. One request at a time: a write is
 * in the log before it is answered. Direct I/O, so that nothing waits in the page cache of this file.
 * A record: flog.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/powercut/flog.h"

enum { MAX_WRITE = 1 << 20, IMG = 2 };

static int dev, image, wlog;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "flog: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
record(uint32_t kind, uint64_t at, const void *bytes, uint32_t len)
{
	struct flog_record r = { .magic = FLOG_MAGIC, .kind = kind, .at = at, .len = len };
	struct iovec v[2] = { { .iov_base = &r, .iov_len = sizeof r }, { .iov_base = (void *)(uintptr_t)bytes, .iov_len = len } };

	if (writev(wlog, v, len == 0 ? 1 : 2) != (ssize_t)(sizeof r + len))
		die("write the log");
}

static void
answer(const struct fuse_in_header *in, int error, const void *body, size_t len)
{
	struct fuse_out_header out = { .len = (uint32_t)(sizeof out + len), .error = -error, .unique = in->unique };
	struct iovec v[2] = { { .iov_base = &out, .iov_len = sizeof out }, { .iov_base = (void *)(uintptr_t)body, .iov_len = len } };

	if (writev(dev, v, len == 0 ? 1 : 2) == -1 && errno != ENOENT)	/* the caller gave up */
		die("answer");
}

static void
attributes(uint64_t node, struct fuse_attr *a)
{
	struct stat st;

	*a = (struct fuse_attr){ .ino = node, .mode = S_IFDIR | 0700, .nlink = 2, .blksize = 4096 };
	if (node == IMG) {
		if (fstat(image, &st) != 0)
			die("stat the image");
		a->mode = S_IFREG | 0600;
		a->nlink = 1;
		a->size = (uint64_t)st.st_size;
	}
}

static void
init(const struct fuse_in_header *in, const struct fuse_init_in *ask)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
	    .max_readahead = ask->max_readahead, .max_write = MAX_WRITE, .flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES,
	    .max_pages = MAX_WRITE / 4096, .max_background = 16, .congestion_threshold = 12 };

	answer(in, 0, &out, sizeof out);
}

static void
lookup(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = { .nodeid = IMG, .entry_valid = 3600, .attr_valid = 3600 };

	if (in->nodeid != FUSE_ROOT_ID || strcmp(name, "img") != 0) {
		answer(in, ENOENT, NULL, 0);
		return;
	}
	attributes(IMG, &out.attr);
	answer(in, 0, &out, sizeof out);
}

static void
read_image(const struct fuse_in_header *in, const struct fuse_read_in *ask)
{
	static char buf[MAX_WRITE];
	ssize_t n = pread(image, buf, ask->size < sizeof buf ? ask->size : sizeof buf, (off_t)ask->offset);

	if (n == -1)
		answer(in, errno, NULL, 0);
	else
		answer(in, 0, buf, (size_t)n);
}

static void
write_image(const struct fuse_in_header *in, const struct fuse_write_in *ask)
{
	struct fuse_write_out out = { .size = ask->size };

	if (pwrite(image, ask + 1, ask->size, (off_t)ask->offset) != (ssize_t)ask->size) {
		answer(in, EIO, NULL, 0);
		return;
	}
	record(FLOG_WRITE, ask->offset, ask + 1, ask->size);
	answer(in, 0, &out, sizeof out);
}

static void
serve(const struct fuse_in_header *in)
{
	const void *body = in + 1;
	struct fuse_attr_out attr = { .attr_valid = 3600 };
	struct fuse_open_out opened = { .open_flags = FOPEN_DIRECT_IO };
	struct fuse_statfs_out room = { .st = { .bsize = 4096, .frsize = 4096, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT:
		init(in, body);
		break;
	case FUSE_LOOKUP:
		lookup(in, body);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		attributes(in->nodeid, &attr.attr);
		answer(in, 0, &attr, sizeof attr);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(in, 0, &opened, sizeof opened);
		break;
	case FUSE_READ:
		read_image(in, body);
		break;
	case FUSE_WRITE:
		write_image(in, body);
		break;
	case FUSE_FSYNC:
		record(FLOG_FLUSH, 0, NULL, 0);
		answer(in, 0, NULL, 0);
		break;
	case FUSE_STATFS:
		answer(in, 0, &room, sizeof room);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_READDIR:
		answer(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;		/* no answer is wanted */
	default:
		answer(in, ENOSYS, NULL, 0);	/* fallocate among them: so no discard is ever sent here */
	}
}

int
main(int argc, char **argv)
{
	static union {
		struct fuse_in_header header;
		char bytes[MAX_WRITE + 8192];
	} request;
	char options[100];
	ssize_t n;

	if (argc != 4) {
		fprintf(stderr, "usage: flog IMAGE LOG MOUNTPOINT\n");
		return 2;
	}
	if ((image = open(argv[1], O_RDWR | O_CLOEXEC)) == -1)
		die(argv[1]);
	if ((wlog = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)) == -1)
		die(argv[2]);
	if ((dev = open("/dev/fuse", O_RDWR | O_CLOEXEC)) == -1)
		die("/dev/fuse");
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", dev, geteuid(), getegid());
	if (mount("flog", argv[3], "fuse.flog", MS_NOSUID | MS_NODEV, options) != 0)
		die("mount");
	puts("ready");
	fflush(stdout);
	while ((n = read(dev, request.bytes, sizeof request.bytes)) != -1 || errno == EINTR || errno == ENOENT)
		if (n > 0)
			serve(&request.header);
	return errno == ENODEV ? 0 : 1;		/* unmounted */
}
