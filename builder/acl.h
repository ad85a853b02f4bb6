/*
 * acl.h - POSIX.1e ACLs as the kernel keeps them in system.posix_acl_access and system.posix_acl_default:
 * 4 bytes version (2), then per entry 2 tag, 2 permissions, 4 number (0xffffffff where the tag has none).
 * Source: Linux include/uapi/linux/posix_acl_xattr.h.
 */
#ifndef BUILD_ACL_H
#define BUILD_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ACL_ACCESS "system.posix_acl_access"
#define BUILD_ACL_DEFAULT "system.posix_acl_default"
#define BUILD_ACL_HEAD 4u
#define BUILD_ACL_ENTRY 8u
#define BUILD_ACL_MAX 4096u		/* entries we make at most */

enum { BUILD_ACL_USER_OBJ = 1, BUILD_ACL_USER = 2, BUILD_ACL_GROUP_OBJ = 4, BUILD_ACL_GROUP = 8, BUILD_ACL_MASK = 16,
	BUILD_ACL_OTHER = 32 };

struct build_acl_entry {
	uint16_t tag, perm;
	uint32_t id;		/* UINT32_MAX: none */
};

/** build_acl_ok - is it of this shape? */
bool build_acl_ok(const uint8_t *p, size_t len);

/** build_acl_get - entry @i of an ACL that is */
struct build_acl_entry build_acl_get(const uint8_t *p, size_t i);
void build_acl_put(uint8_t *p, size_t i, const struct build_acl_entry *en);

/** build_acl_sort - into the kernel's order: by tag, then by number */
void build_acl_sort(uint8_t *p, size_t len);

/** build_acl_mode - the permission bits that stat shows beside this access ACL, over those of @mode */
uint32_t build_acl_mode(const uint8_t *p, size_t len, uint32_t mode);

#endif
