/*
 * fuzz_conf.c - a freebsd-update.conf: what comes of it is a policy, and the same each time.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/conf_policy.h"
#include "dray/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NULL: refused, with a reason */
static char *
convert(const uint8_t *p, size_t len, size_t *out_len)
{
	struct dray_err e = { .code = DRAY_OK };
	char copy[4096], *text;
	FILE *in;

	memcpy(copy, p, len);
	if ((in = fmemopen(copy, len, "r")) == NULL)
		abort();
	if (build_conf_policy(in, &text, out_len, &e) != 0 && (text != NULL || e.code != DRAY_E_USAGE || e.text[0] == '\0'))
		abort();
	fclose(in);
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_err e = { .code = DRAY_OK };
	struct dray_policy p;
	size_t len, len2;
	char *one, *two;

	if (size == 0 || size > 4096)
		return 0;
	one = convert(data, size, &len);
	two = convert(data, size, &len2);
	if ((one == NULL) != (two == NULL))
		abort();
	if (one != NULL) {
		if (len != len2 || memcmp(one, two, len) != 0 || dray_policy_parse(one, len, &p, &e) != 0)
			abort();
		dray_policy_free(&p);
	}
	free(one);
	free(two);
	return 0;
}
