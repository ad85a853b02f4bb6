/*
 * meta.c - the attributes of the plan, given to the one place that sets them.
 */
#include <stdlib.h>

#include "dray/attrs.h"
#include "dray/cursor.h"

#include "installer/meta.h"

/* the packed form of the plan as a list; malloc'ed, names and values are borrowed */
static int
unpack_xattrs(const struct inst_meta *m, struct dray_xattr **out, struct dray_err *e)
{
	struct dray_cursor c = { .p = m->xattrs, .left = m->xattrs_len };
	struct dray_xattr *v;
	const uint8_t *name;
	uint32_t i, len;
	uint16_t n;

	*out = NULL;
	if (m->n_xattrs == 0)
		return 0;
	if ((v = calloc(m->n_xattrs, sizeof(*v))) == NULL)
		return dray_fail_errno(e, "extended attributes");
	for (i = 0; i < m->n_xattrs; i++) {
		if (!dray_cursor_u16(&c, &n) || !dray_cursor_u32(&c, &len) || !dray_cursor_bytes(&c, n, &name) ||
		    !dray_cursor_bytes(&c, len, &v[i].value)) {
			free(v);
			return dray_fail(e, DRAY_E_IO, "extended attributes of the plan are damaged");
		}
		v[i].name = (const char *)name;
		v[i].name_len = n;
		v[i].len = len;
	}
	*out = v;
	return 0;
}

int
inst_meta_apply(int dir, const char *name, int fd, uint8_t type, const struct inst_meta *m, struct dray_err *e)
{
	struct dray_attrs_want want = { .has = m->has, .plain = (m->has & INST_HAS_PLAIN) != 0, .mode = m->mode, .uid = m->uid, .gid = m->gid,
		.mtime_sec = m->mtime_sec, .mtime_nsec = m->mtime_nsec, .n_xattrs = m->n_xattrs };
	struct dray_xattr *xattrs;
	int rc;

	if (unpack_xattrs(m, &xattrs, e) != 0)
		return -1;
	want.xattrs = xattrs;
	rc = dray_attrs_set(dir, name, fd, type, &want, e);
	free(xattrs);
	return rc;
}
