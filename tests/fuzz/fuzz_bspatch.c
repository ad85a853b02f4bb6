/*
 * fuzz_bspatch.c - binary patches of a server. Two bytes: length of the old content; the old content; the patch. What is put
 * never exceeds the bound, and a second run puts the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/bspatch.h"

#define MOST 20000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct made { size_t len; uint64_t sum; };

static int
put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct made *m = ctx;

	(void)e;
	m->len += len;
	for (size_t i = 0; i < len; i++)
		m->sum = m->sum * 31 + p[i];
	if (m->len > MOST)
		abort();
	return 0;
}

/* a file that holds it and nothing else */
static int
file_of(FILE **f, const uint8_t *p, size_t len)
{
	if (*f == NULL && (*f = tmpfile()) == NULL)
		abort();
	if (ftruncate(fileno(*f), 0) != 0 || pwrite(fileno(*f), p, len, 0) != (ssize_t)len)
		abort();
	return fileno(*f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *old, *patch;
	struct made once = { .len = 0 }, again = { .len = 0 };
	struct build_bspatch b = { .max = MOST, .put = put, .ctx = &once };
	struct dray_err e = { .code = DRAY_OK };
	size_t n;
	int rc;

	if (size < 2)
		return 0;
	n = data[0] | (size_t)data[1] << 8;
	if (n > size - 2)
		n = size - 2;
	b.old = (struct build_reader){ .fd = file_of(&old, data + 2, n), .len = n };
	b.fd = file_of(&patch, data + 2 + n, size - 2 - n);
	rc = build_bspatch(&b, &e);
	if (rc != 0 && e.code != DRAY_E_FORMAT)
		abort();
	dray_err_clear(&e);
	b.ctx = &again;
	if (build_bspatch(&b, &e) != rc || once.len != again.len || once.sum != again.sum)
		abort();
	return 0;
}
