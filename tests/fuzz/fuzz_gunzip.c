/*
 * fuzz_gunzip.c - what a server or a store gives as .gz: what comes out never exceeds the bound, is what the hash is of, and
 * comes out again the same.
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/gunzip.h"

#define MOST 200000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct made { uint64_t len, sum; };

static int
put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct made *m = ctx;

	(void)e;
	if ((m->len += len) > MOST)
		abort();
	for (size_t i = 0; i < len; i++)
		m->sum = m->sum * 31 + p[i];
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dray_sha256 *h;
	static int fd = -1;
	struct made once = { .len = 0 }, again = { .len = 0 };
	struct build_gunzip o = { .max = MOST, .put = put, .ctx = &once };
	uint8_t sum[DRAY_SHA256_LEN], sum2[DRAY_SHA256_LEN];
	struct dray_err e = { .code = DRAY_OK };
	uint64_t len, len2;
	int rc;

	if (fd == -1 && ((fd = memfd_create("fuzz", MFD_CLOEXEC)) == -1 || dray_sha256_new(&h, &e) != 0))
		abort();
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if ((rc = build_gunzip_fd(fd, &o, h, sum, &len, &e)) != 0) {
		if (e.code != DRAY_E_FORMAT || e.text[0] == '\0')
			abort();
		return 0;
	}
	o.ctx = &again;
	if (len != once.len || build_gunzip_fd(fd, &o, h, sum2, &len2, &e) != 0 || len2 != len || again.sum != once.sum ||
	    memcmp(sum, sum2, sizeof(sum)) != 0)
		abort();
	return 0;
}
