/*
 * archive_xattr.c - extended attributes and ACLs of a member of an archive, as the kernel keeps them.
 */
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "builder/acl.h"
#include "builder/archive_xattr.h"
#include "dray/num.h"

/* replaces one of the same name: bsdtar writes each twice, in two spellings */
static int
add_xattr(struct build_member_xattrs *x, struct build_member *m, const char *name, const void *value, size_t len,
    struct dray_err *e)
{
	size_t i;

	for (i = 0; i < m->n_xattrs && strcmp(x->v[i].name, name) != 0; i++)
		;
	if (i == x->cap) {
		size_t cap = x->cap == 0 ? 16 : x->cap * 2;
		struct dray_xattr *v = realloc(x->v, cap * sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		x->v = v;
		x->cap = cap;
	}
	x->v[i] = (struct dray_xattr){ name, strlen(name), value, len };
	m->n_xattrs += i == m->n_xattrs;
	return 0;
}

/* the number of a user or group of an ACL; GNU tar writes it where the name would be */
static bool
acl_id(int id, const char *name, uint32_t *out)
{
	uint64_t n;

	if (id >= 0) {
		*out = (uint32_t)id;
		return true;
	}
	if (name == NULL || !dray_parse_u64(name, 0, UINT32_MAX - 1, &n))
		return false;
	*out = (uint32_t)n;
	return true;
}

/* the ACL of @type as the kernel keeps it; *len 0: none that says more than the mode */
static int
make_acl(struct archive_entry *en, int type, uint8_t **buf, size_t *len, struct dray_err *e)
{
	static const struct { int from; uint16_t to; bool id; } tags[] = {
		{ ARCHIVE_ENTRY_ACL_USER_OBJ, BUILD_ACL_USER_OBJ, false }, { ARCHIVE_ENTRY_ACL_USER, BUILD_ACL_USER, true },
		{ ARCHIVE_ENTRY_ACL_GROUP_OBJ, BUILD_ACL_GROUP_OBJ, false }, { ARCHIVE_ENTRY_ACL_GROUP, BUILD_ACL_GROUP, true },
		{ ARCHIVE_ENTRY_ACL_MASK, BUILD_ACL_MASK, false }, { ARCHIVE_ENTRY_ACL_OTHER, BUILD_ACL_OTHER, false },
	};
	int n = archive_entry_acl_reset(en, type), t, perm, tag, id;
	const char *name;
	char quoted[100];
	size_t count = 0, i;
	uint8_t *p;

	*len = 0;
	/* an access ACL of three entries is the mode */
	if (n <= 0 || (type == ARCHIVE_ENTRY_ACL_TYPE_ACCESS && n <= 3))
		return 0;
	if ((unsigned)n > BUILD_ACL_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "its ACL has more than %u entries", BUILD_ACL_MAX);
	if ((p = realloc(*buf, BUILD_ACL_HEAD + (size_t)n * BUILD_ACL_ENTRY)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	*buf = p;
	while (archive_entry_acl_next(en, type, &t, &perm, &tag, &id, &name) == ARCHIVE_OK) {
		struct build_acl_entry x = { .id = UINT32_MAX, .perm = (uint16_t)(perm & 7) };

		for (i = 0; i < sizeof(tags) / sizeof(tags[0]) && tags[i].from != tag; i++)
			;
		if (i == sizeof(tags) / sizeof(tags[0]) || (t & type) == 0 || count == (size_t)n)
			return dray_fail(e, DRAY_E_FORMAT, "its ACL is of a kind that is not read here");
		x.tag = tags[i].to;
		if (tags[i].id && !acl_id(id, name, &x.id)) {
			dray_fail(e, DRAY_E_FORMAT, "its ACL names \"%s\" without a number", name == NULL ? "" :
			    dray_quote(name, strlen(name), quoted, sizeof(quoted)));
			return dray_hint(e, "make the archive with --numeric-owner");
		}
		build_acl_put(p, count++, &x);
	}
	*len = BUILD_ACL_HEAD + count * BUILD_ACL_ENTRY;
	build_acl_sort(p, *len);
	return 0;
}

static int
by_name(const void *pa, const void *pb)
{
	const struct dray_xattr *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

int
build_member_xattrs(struct build_member_xattrs *x, struct archive_entry *en, struct build_member *m,
    struct dray_err *e)
{
	static const struct { const char *name; int type; } acls[] = {
		{ BUILD_ACL_ACCESS, ARCHIVE_ENTRY_ACL_TYPE_ACCESS }, { BUILD_ACL_DEFAULT, ARCHIVE_ENTRY_ACL_TYPE_DEFAULT },
	};
	const char *name;
	const void *value;
	size_t len;

	/* first what was made from text; where the archive has the kernel's own bytes as well, those replace it */
	for (size_t i = 0; i < 2; i++) {
		if (make_acl(en, acls[i].type, &x->acl[i], &len, e) != 0)
			return -1;
		if (len > 0 && add_xattr(x, m, acls[i].name, x->acl[i], len, e) != 0)
			return -1;
	}
	if ((archive_entry_acl_types(en) & ARCHIVE_ENTRY_ACL_TYPE_NFS4) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "it has an NFSv4 ACL, which is not read here");
	for (archive_entry_xattr_reset(en); archive_entry_xattr_next(en, &name, &value, &len) == ARCHIVE_OK;)
		if (add_xattr(x, m, name, value, len, e) != 0)
			return -1;
	if (m->n_xattrs > 1)
		qsort(x->v, m->n_xattrs, sizeof(*x->v), by_name);
	m->xattrs = x->v;
	/* libarchive lays the ACL over the mode, but with an ACL the mode shows the mask where the group stands */
	for (size_t i = 0; i < m->n_xattrs; i++)
		if (strcmp(m->xattrs[i].name, BUILD_ACL_ACCESS) == 0 && build_acl_ok(m->xattrs[i].value, m->xattrs[i].len))
			m->mode = build_acl_mode(m->xattrs[i].value, m->xattrs[i].len, m->mode);
	return 0;
}

void
build_member_xattrs_free(struct build_member_xattrs *x)
{
	free(x->v);
	free(x->acl[0]);
	free(x->acl[1]);
}
