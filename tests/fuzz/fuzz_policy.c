/*
 * fuzz_policy.c - policy files, as lines and as JSON, of a site or of a bundle. What is accepted is asked about paths, and
 * joined with itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "etc", "etc/rc.conf", "usr/local/lib/a.so.1", "a\\ [b]*", "\xff" };
	static const uint8_t sha[32] = { 0xe3, 0xb0 };
	struct dray_err e = { .code = DRAY_OK };
	struct dray_policy p, q;

	if (dray_policy_parse((const char *)data, size, &p, &e) != 0) {
		if (e.text[0] == '\0' || (e.code != DRAY_E_USAGE && e.code != DRAY_E_IO))
			abort();
		return 0;
	}
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		for (uint8_t when = 1; when <= 4; when = (uint8_t)(when << 1)) {
			const struct dray_rule *r = dray_policy_find(&p, paths[i], strlen(paths[i]), when, (i & 1) != 0 ? sha : NULL);

			if (r != NULL && dray_action_name(r->action) == NULL)
				abort();
		}
	if (dray_policy_parse((const char *)data, size, &q, &e) != 0)
		abort();	/* it was one a moment ago */
	if (dray_policy_join(&p, &q, &e) != 0)
		dray_policy_free(&q);
	dray_policy_free(&p);
	return 0;
}
