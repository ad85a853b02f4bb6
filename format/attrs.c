/*
 * attrs.c - attributes of one object, set in the only safe order (spec/apply.md, "Attributes"): drop setuid and
 * setgid, owner, xattrs with ACLs and capabilities, mode, times. chown(2) clears capabilities and setuid, chmod(2)
 * rewrites an ACL's mask, and everything touches the times: hence this order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dray/attrs.h"
#include "dray/os.h"
#include "dray/path.h"

#define LIST_MAX_BYTES (1u << 20)	/* of names of xattrs; Linux gives 64 KiB at most */

bool
dray_xattr_managed(const char *name, size_t len)
{
	static const char *const exact[] = { "security.capability", "system.posix_acl_access",
		"system.posix_acl_default" };

	if (len > 5 && memcmp(name, "user.", 5) == 0)
		return true;
	for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++)
		if (strlen(exact[i]) == len && memcmp(exact[i], name, len) == 0)
			return true;
	return false;
}

bool
dray_xattr_privileged(const char *name, size_t len)
{
	static const char *const family[] = { "security.", "trusted." };

	for (size_t i = 0; i < sizeof family / sizeof family[0]; i++)
		if (len >= strlen(family[i]) && memcmp(name, family[i], strlen(family[i])) == 0)
			return true;
	return false;
}

static bool
wanted(const struct dray_attrs_want *a, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < a->n_xattrs; i++)
		if (a->xattrs[i].name_len == len && memcmp(a->xattrs[i].name, name, len) == 0)
			return true;
	return false;
}

static int
remove_unwanted(int fd, const struct dray_attrs_want *a, struct dray_err *e)
{
	char *list = NULL, *p, q[DRAY_QUOTE_CAP(DRAY_NAME_MAX)];
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
		if (errno != ERANGE || cap > LIST_MAX_BYTES) {
			dray_fail_errno(e, "list extended attributes");
			goto out;
		}
	}
	for (p = list; p < list + len; p += strlen(p) + 1) {
		if (!dray_xattr_managed(p, strlen(p)) || wanted(a, p) ||
		    (a->plain && dray_xattr_privileged(p, strlen(p))))
			continue;
		if (os_xattr_remove(fd, p) == -1 && errno != ENODATA) {
			dray_fail_errno(e, "remove extended attribute %s", dray_quote(p, strlen(p), q, sizeof q));
			goto out;
		}
	}
	rc = 0;
out:
	free(list);
	return rc;
}

static int
set_xattrs(int fd, const struct dray_attrs_want *a, struct dray_err *e)
{
	char name[DRAY_NAME_MAX + 1], q[DRAY_QUOTE_CAP(DRAY_NAME_MAX)];

	if (remove_unwanted(fd, a, e) != 0)
		return -1;
	for (size_t i = 0; i < a->n_xattrs; i++) {
		const struct dray_xattr *x = &a->xattrs[i];

		if (x->name_len > DRAY_NAME_MAX)
			return dray_fail(e, DRAY_E_IO, "the name of an extended attribute is too long");
		memcpy(name, x->name, x->name_len);
		name[x->name_len] = '\0';
		if (os_xattr_set(fd, name, x->value, x->len) == -1) {
			int why = errno;

			dray_fail_errno(e, "set extended attribute %s", dray_quote(name, x->name_len, q, sizeof q));
			if (why == ENOTSUP)
				e->code = DRAY_E_SYSTEM;
			return -1;
		}
	}
	return 0;
}

static void
times_of(const struct dray_attrs_want *a, struct timespec ts[2])
{
	ts[0] = (struct timespec){ .tv_nsec = UTIME_OMIT };
	ts[1] = (struct timespec){ .tv_sec = (time_t)a->mtime_sec, .tv_nsec = (long)a->mtime_nsec };
}

/* regular files and directories: through the handle only */
static int
set_by_fd(int fd, const struct dray_attrs_want *a, struct dray_err *e)
{
	struct timespec ts[2];
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (fstat(fd, &st) == -1)
		return dray_fail_errno(e, "look at it");
	uid = a->has & DRAY_HAS_UID ? (uid_t)a->uid : st.st_uid;
	gid = a->has & DRAY_HAS_GID ? (gid_t)a->gid : st.st_gid;
	if (uid != st.st_uid || gid != st.st_gid) {
		if ((st.st_mode & 06000) != 0 && S_ISREG(st.st_mode) && fchmod(fd, st.st_mode & 01777) == -1)
			return dray_fail_errno(e, "drop setuid");
		if (fchown(fd, uid, gid) == -1)
			return dray_fail_errno(e, "change owner");
	}
	if ((a->has & DRAY_HAS_XATTRS) && set_xattrs(fd, a, e) != 0)
		return -1;
	if ((a->has & DRAY_HAS_MODE) && fchmod(fd, (mode_t)(a->mode & 07777)) == -1)
		return dray_fail_errno(e, "change mode");
	times_of(a, ts);
	if ((a->has & DRAY_HAS_MTIME) && futimens(fd, ts) == -1)
		return dray_fail_errno(e, "set time");
	return 0;
}

/* symlinks, fifos, devices: by name, never following */
static int
set_by_name(int dir, const char *name, uint8_t type, const struct dray_attrs_want *a, struct dray_err *e)
{
	struct timespec ts[2];
	uid_t uid = a->has & DRAY_HAS_UID ? (uid_t)a->uid : (uid_t)-1;
	gid_t gid = a->has & DRAY_HAS_GID ? (gid_t)a->gid : (gid_t)-1;

	if ((a->has & (DRAY_HAS_UID | DRAY_HAS_GID)) && fchownat(dir, name, uid, gid, AT_SYMLINK_NOFOLLOW) == -1)
		return dray_fail_errno(e, "change owner");
	if ((a->has & DRAY_HAS_MODE) && type != DRAY_SYMLINK &&
	    fchmodat(dir, name, (mode_t)(a->mode & 07777), AT_SYMLINK_NOFOLLOW) == -1)
		return dray_fail_errno(e, "change mode");
	times_of(a, ts);
	if ((a->has & DRAY_HAS_MTIME) && utimensat(dir, name, ts, AT_SYMLINK_NOFOLLOW) == -1)
		return dray_fail_errno(e, "set time");
	return 0;
}

int
dray_attrs_set(int dir, const char *name, int fd, uint8_t type, const struct dray_attrs_want *a, struct dray_err *e)
{
	int own = -1, rc;

	if (type != DRAY_FILE && type != DRAY_DIR)
		return set_by_name(dir, name, type, a, e);
	if (fd == -1) {
		own = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (type == DRAY_DIR ? O_DIRECTORY : 0));
		if (own == -1)
			return dray_fail_errno(e, "open");
		fd = own;
	}
	rc = set_by_fd(fd, a, e);
	if (own != -1)
		close(own);	/* nothing was written through it */
	return rc;
}
