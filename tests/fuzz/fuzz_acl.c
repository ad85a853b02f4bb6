/*
 * fuzz_acl.c - ACLs as an archive or a tree brings them: read, written again, sorted, and the mode that they show.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/acl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p, *again;
	size_t n;

	if (!build_acl_ok(data, size))
		return 0;
	n = (size - BUILD_ACL_HEAD) / BUILD_ACL_ENTRY;
	if ((p = malloc(size)) == NULL || (again = malloc(size)) == NULL)
		abort();
	memcpy(p, data, size);
	memcpy(again, data, BUILD_ACL_HEAD);
	for (size_t i = 0; i < n; i++) {
		struct build_acl_entry en = build_acl_get(p, i);

		build_acl_put(again, i, &en);
	}
	if (memcmp(p, again, size) != 0 || build_acl_mode(p, size, 04777) > 07777)
		abort();
	build_acl_sort(p, size);
	for (size_t i = 1; i < n; i++) {
		struct build_acl_entry a = build_acl_get(p, i - 1), b = build_acl_get(p, i);

		if (a.tag > b.tag || (a.tag == b.tag && a.id > b.id))
			abort();
	}
	free(p);
	free(again);
	return 0;
}
