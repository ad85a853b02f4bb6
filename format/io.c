/* io.c - reads that are whole or fail */
#include <errno.h>
#include <unistd.h>

#include "dray/io.h"

bool
dray_pread_whole(int fd, void *p, size_t len, uint64_t at)
{
	uint8_t *b = p;

	while (len > 0) {
		ssize_t n = pread(fd, b, len, (off_t)at);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		b += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return true;
}

bool
dray_read_whole(int fd, void *p, size_t len)
{
	uint8_t *b = p;

	while (len > 0) {
		ssize_t n = read(fd, b, len);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		b += n;
		len -= (size_t)n;
	}
	return true;
}
