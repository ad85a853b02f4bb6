/*
 * acl.c - the bytes of ACLs.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/acl.h"
#include "dray/num.h"

bool
build_acl_ok(const uint8_t *p, size_t len)
{
	return len >= BUILD_ACL_HEAD && (len - BUILD_ACL_HEAD) % BUILD_ACL_ENTRY == 0 && dray_get_u32(p) == 2;
}

struct build_acl_entry
build_acl_get(const uint8_t *p, size_t i)
{
	p += BUILD_ACL_HEAD + i * BUILD_ACL_ENTRY;
	return (struct build_acl_entry){ dray_get_u16(p), dray_get_u16(p + 2), dray_get_u32(p + 4) };
}

void
build_acl_put(uint8_t *p, size_t i, const struct build_acl_entry *en)
{
	dray_put_u32(p, 2);
	p += BUILD_ACL_HEAD + i * BUILD_ACL_ENTRY;
	dray_put_u16(p, en->tag);
	dray_put_u16(p + 2, en->perm);
	dray_put_u32(p + 4, en->id);
}

static int
entry_cmp(const void *pa, const void *pb)
{
	const uint8_t *a = pa, *b = pb;
	uint16_t x = dray_get_u16(a), y = dray_get_u16(b);
	uint32_t m = dray_get_u32(a + 4), n = dray_get_u32(b + 4);

	return x != y ? (x > y) - (x < y) : (m > n) - (m < n);
}

void
build_acl_sort(uint8_t *p, size_t len)
{
	qsort(p + BUILD_ACL_HEAD, (len - BUILD_ACL_HEAD) / BUILD_ACL_ENTRY, BUILD_ACL_ENTRY, entry_cmp);
}

uint32_t
build_acl_mode(const uint8_t *p, size_t len, uint32_t mode)
{
	bool masked = false;

	for (size_t i = 0; i < (len - BUILD_ACL_HEAD) / BUILD_ACL_ENTRY; i++) {
		struct build_acl_entry en = build_acl_get(p, i);
		uint32_t perm = en.perm & 7u;

		if (en.tag == BUILD_ACL_USER_OBJ)
			mode = (mode & ~0700u) | perm << 6;
		else if (en.tag == BUILD_ACL_OTHER)
			mode = (mode & ~07u) | perm;
		else if (en.tag == BUILD_ACL_MASK || (en.tag == BUILD_ACL_GROUP_OBJ && !masked))
			mode = (mode & ~070u) | perm << 3;
		masked |= en.tag == BUILD_ACL_MASK;
	}
	return mode;
}
