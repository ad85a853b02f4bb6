/*
 * meta.c - attributes of one object, set in the only safe order (spec/apply.md, "Attributes"): drop setuid and
 * setgid, owner, xattrs with ACLs and capabilities, mode, times. chown(2) clears capabilities and setuid, chmod(2)
 * rewrites an ACL's mask, and everything touches the times: hence this order.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/cursor.h"
#include "dray/os.h"

#include "installer/meta.h"

/* the families a release manages; labels (security.selinux ...) and trusted.* are the site's */
bool
inst_xattr_managed(const char *name)
{
	static const char *const exact[] = { "security.capability", "system.posix_acl_access", "system.posix_acl_default" };
	size_t i;

	if (strncmp(name, "user.", 5) == 0)
		return true;
	for (i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if (strcmp(name, exact[i]) == 0)
			return true;
	return false;
}

static bool
wanted(const struct inst_meta *m, const char *name)
{
	struct dray_cursor c = { .p = m->xattrs, .left = m->xattrs_len };
	size_t len = strlen(name);
	const uint8_t *p, *v;
	uint32_t i, value;
	uint16_t n;

	for (i = 0; i < m->n_xattrs; i++) {
		if (!dray_cursor_u16(&c, &n) || !dray_cursor_u32(&c, &value) || !dray_cursor_bytes(&c, n, &p) ||
		    !dray_cursor_bytes(&c, value, &v))
			return false;
		if (n == len && memcmp(p, name, n) == 0)
			return true;
	}
	return false;
}

static int
remove_unwanted(int fd, const struct inst_meta *m, struct dray_err *e)
{
	char *list = NULL, *p;
	size_t len, cap;
	int rc = -1;

	for (cap = 4096;; cap *= 4) {
		free(list);
		if ((list = malloc(cap)) == NULL)
			return dray_fail_errno(e, "extended attributes");
		len = cap;
		if (os_xattr_list(fd, list, &len) == 0)
			break;
		if (errno == ENOTSUP) {
			rc = 0;	/* none here, none to remove */
			goto out;
		}
		if (errno != ERANGE || cap > (1 << 20)) {
			dray_fail_errno(e, "list extended attributes");
			goto out;
		}
	}
	for (p = list; p < list + len; p += strlen(p) + 1) {
		if (!inst_xattr_managed(p) || wanted(m, p))
			continue;
		if (os_xattr_remove(fd, p) == -1 && errno != ENODATA) {
			dray_fail_errno(e, "remove extended attribute %s", p);
			goto out;
		}
	}
	rc = 0;
out:
	free(list);
	return rc;
}

static int
set_xattrs(int fd, const struct inst_meta *m, struct dray_err *e)
{
	struct dray_cursor c = { .p = m->xattrs, .left = m->xattrs_len };
	char name[256], q[DRAY_QUOTE_CAP(255)];
	const uint8_t *p, *v;
	uint32_t i, len;
	uint16_t n;

	if (remove_unwanted(fd, m, e) != 0)
		return -1;
	for (i = 0; i < m->n_xattrs; i++) {
		if (!dray_cursor_u16(&c, &n) || n > 255 || !dray_cursor_u32(&c, &len) || !dray_cursor_bytes(&c, n, &p) ||
		    !dray_cursor_bytes(&c, len, &v))
			return dray_fail(e, DRAY_E_IO, "extended attributes of the plan are damaged");
		memcpy(name, p, n);
		name[n] = '\0';
		if (os_xattr_set(fd, name, v, len) == -1) {
			dray_fail_errno(e, "set extended attribute %s", dray_quote(name, n, q, sizeof(q)));
			if (errno == ENOTSUP)
				e->code = DRAY_E_SYSTEM;
			return -1;
		}
	}
	return 0;
}

static void
times_of(const struct inst_meta *m, struct timespec ts[2])
{
	ts[0] = (struct timespec){ .tv_nsec = UTIME_OMIT };
	ts[1] = (struct timespec){ .tv_sec = (time_t)m->mtime_sec, .tv_nsec = (long)m->mtime_nsec };
}

/* regular files and directories: through the handle only */
static int
apply_fd(int fd, const struct inst_meta *m, struct dray_err *e)
{
	struct timespec ts[2];
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (fstat(fd, &st) == -1)
		return dray_fail_errno(e, "look at it");
	uid = m->has & DRAY_HAS_UID ? (uid_t)m->uid : st.st_uid;
	gid = m->has & DRAY_HAS_GID ? (gid_t)m->gid : st.st_gid;
	if (uid != st.st_uid || gid != st.st_gid) {
		if ((st.st_mode & 06000) != 0 && S_ISREG(st.st_mode) && fchmod(fd, st.st_mode & 01777) == -1)
			return dray_fail_errno(e, "drop setuid");
		if (fchown(fd, uid, gid) == -1)
			return dray_fail_errno(e, "change owner");
	}
	if ((m->has & DRAY_HAS_XATTRS) && set_xattrs(fd, m, e) != 0)
		return -1;
	if ((m->has & DRAY_HAS_MODE) && fchmod(fd, (mode_t)(m->mode & 07777)) == -1)
		return dray_fail_errno(e, "change mode");
	times_of(m, ts);
	if ((m->has & DRAY_HAS_MTIME) && futimens(fd, ts) == -1)
		return dray_fail_errno(e, "set time");
	return 0;
}

/* symlinks, fifos, devices: by name, never following */
static int
apply_name(int dir, const char *name, uint8_t type, const struct inst_meta *m, struct dray_err *e)
{
	struct timespec ts[2];
	uid_t uid = m->has & DRAY_HAS_UID ? (uid_t)m->uid : (uid_t)-1;
	gid_t gid = m->has & DRAY_HAS_GID ? (gid_t)m->gid : (gid_t)-1;

	if ((m->has & (DRAY_HAS_UID | DRAY_HAS_GID)) && fchownat(dir, name, uid, gid, AT_SYMLINK_NOFOLLOW) == -1)
		return dray_fail_errno(e, "change owner");
	if ((m->has & DRAY_HAS_MODE) && type != DRAY_SYMLINK &&
	    fchmodat(dir, name, (mode_t)(m->mode & 07777), AT_SYMLINK_NOFOLLOW) == -1)
		return dray_fail_errno(e, "change mode");
	times_of(m, ts);
	if ((m->has & DRAY_HAS_MTIME) && utimensat(dir, name, ts, AT_SYMLINK_NOFOLLOW) == -1)
		return dray_fail_errno(e, "set time");
	return 0;
}

int
inst_meta_apply(int dir, const char *name, int fd, uint8_t type, const struct inst_meta *m, struct dray_err *e)
{
	int own = -1, rc;

	if (type != DRAY_FILE && type != DRAY_DIR)
		return apply_name(dir, name, type, m, e);
	if (fd == -1) {
		own = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (type == DRAY_DIR ? O_DIRECTORY : 0));
		if (own == -1)
			return dray_fail_errno(e, "open");
		fd = own;
	}
	rc = apply_fd(fd, m, e);
	if (own != -1)
		close(own);	/* nothing was written through it */
	return rc;
}
