/*
 * fuzz_tar.c - the one parser that sees bytes before the signature: a header that passes is the one that would be written.
 * What is not given is zero; the sum is put right when the last byte of the input is even.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t head[DRAY_TAR_BLOCK] = { 0 }, again[DRAY_TAR_BLOCK];
	struct dray_err e = { .code = DRAY_OK };
	char name[101] = "", octal[8];
	unsigned sum = 8 * ' ';
	uint64_t len;

	memcpy(head, data, size < sizeof(head) ? size : sizeof(head));
	memcpy(name, head, 100);
	if (size > 0 && (data[size - 1] & 1) == 0) {
		for (size_t i = 0; i < sizeof(head); i++)
			sum += i >= 148 && i < 156 ? 0 : head[i];
		snprintf(octal, sizeof(octal), "%06o", sum & 0777777u);
		memcpy(head + 148, octal, 7);
		head[155] = ' ';
	}
	if (dray_tar_check(head, name, DRAY_TAR_MEMBER_MAX, &len, &e) != 0) {
		if (e.code != DRAY_E_FORMAT || e.text[0] == '\0')
			abort();
		return 0;
	}
	if (len > DRAY_TAR_MEMBER_MAX || dray_tar_header(name, len, again, &e) != 0 || memcmp(head, again, sizeof(head)) != 0)
		abort();
	return 0;
}
