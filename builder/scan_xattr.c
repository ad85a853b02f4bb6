/*
 * scan_xattr.c - the extended attributes a bundle carries: user.*, ACLs, capabilities. Labels of a security module
 * belong to the machine and are left out unless asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "builder/layout.h"
#include "builder/scan.h"
#include "dray/attrs.h"
#include "dray/glob.h"

bool
build_xattr_wanted(const struct build_scan_opts *o, const char *name)
{
	size_t len = strlen(name);

	if (dray_xattr_managed(name, len))
		return true;
	for (size_t i = 0; o->xattrs != NULL && i < o->xattrs->n; i++)
		if (dray_glob_match(o->xattrs->v[i], strlen(o->xattrs->v[i]), name, len))
			return true;
	return false;
}

static int
by_name(const void *pa, const void *pb)
{
	const struct dray_xattr *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

static int
read_value(struct build_scan_worker *w, int fd, const char *name, struct dray_xattr *x, struct dray_err *e)
{
	size_t len = BUILD_SCAN_BUF;
	char quoted[DRAY_QUOTE_CAP(DRAY_NAME_MAX)];

	dray_quote(name, strlen(name), quoted, sizeof(quoted));
	if (os_xattr_get(fd, name, w->buf, &len) != 0)
		return dray_fail_errno(e, "attribute %s cannot be read", quoted);
	if (len > BUILD_XATTR_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "attribute %s is longer than %u bytes", quoted, BUILD_XATTR_MAX);
	x->name_len = strlen(name);
	x->name = build_arena_copy(w->arena, name, x->name_len);
	x->value = (const uint8_t *)build_arena_copy(w->arena, w->buf, len);
	x->len = len;
	if (x->name == NULL || x->value == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

int
build_scan_xattrs(const struct build_scan_opts *o, struct build_scan_worker *w, int fd, struct build_node *nd,
    struct dray_err *e)
{
	size_t len = BUILD_SCAN_BUF, n = 0, k = 0;
	struct dray_xattr *v;
	char *names;

	if (os_xattr_list(fd, (char *)w->buf, &len) != 0) {
		if (errno == ENOTSUP)
			return 0;
		return dray_fail_errno(e, "attributes cannot be read");
	}
	for (size_t at = 0; at < len; at += strlen((char *)w->buf + at) + 1)
		n += build_xattr_wanted(o, (char *)w->buf + at);
	if (n == 0)
		return 0;
	/* the buffer is needed for the values */
	if ((names = build_arena_copy(w->arena, w->buf, len)) == NULL ||
	    (v = build_arena_take(w->arena, n * sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t at = 0; at < len; at += strlen(names + at) + 1)
		if (build_xattr_wanted(o, names + at) && read_value(w, fd, names + at, &v[k++], e) != 0)
			return -1;
	qsort(v, n, sizeof(*v), by_name);
	nd->xattrs = v;
	nd->n_xattrs = (uint32_t)n;
	return 0;
}
