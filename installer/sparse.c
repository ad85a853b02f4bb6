/*
 * sparse.c - runs of zeros are not written: the file system knows them as holes, which read as zeros and take no room.
 *
 * Only runs of 64 KiB and more. A program has pages of zeros here and there, and leaving out each of them would cut it
 * into many extents and many calls and save next to nothing.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "installer/sparse.h"

/* dense data is known by its first byte or the few behind it; @len is not 0 */
static bool
is_zero(const uint8_t *p, size_t len)
{
	return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

size_t
inst_sparse_find(const uint8_t *p, size_t len, uint64_t at, uint64_t size, size_t *hole)
{
	size_t odd = (size_t)(at % INST_SPARSE_BLOCK), i = odd == 0 ? 0 : INST_SPARSE_BLOCK - odd, run = 0;

	*hole = 0;
	for (; i < len && len - i >= INST_SPARSE_BLOCK; i += INST_SPARSE_BLOCK) {
		if (is_zero(p + i, INST_SPARSE_BLOCK)) {
			run += INST_SPARSE_BLOCK;
		} else if (run >= INST_SPARSE_MIN) {
			break;
		} else {
			run = 0;
		}
	}
	/* the last block of the file may be a short one */
	if (i < len && len - i < INST_SPARSE_BLOCK && at + len == size && is_zero(p + i, len - i)) {
		run += len - i;
		i = len;
	}
	if (run < INST_SPARSE_MIN)
		return len;
	*hole = run;
	return i - run;
}

static int
write_at(int fd, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return dray_fail_errno(e, "write");
		p += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

static int
set_length(int fd, uint64_t size, struct dray_err *e)
{
	int r;

	do
		r = ftruncate(fd, (off_t)size);
	while (r == -1 && errno == EINTR);
	return r == -1 ? dray_fail_errno(e, "give it its length") : 0;
}

int
inst_sparse_put(int fd, const uint8_t *p, size_t len, uint64_t at, uint64_t size, struct dray_err *e)
{
	size_t hole = 0;

	while (len > 0) {
		size_t n = inst_sparse_find(p, len, at, size, &hole);

		if (write_at(fd, p, n, at, e) != 0)
			return -1;
		p += n + hole;
		len -= n + hole;
		at += n + hole;
	}
	/* no write has reached the end; nothing lies behind it, so this never takes bytes of another part away */
	return hole > 0 && at == size ? set_length(fd, size, e) : 0;
}
