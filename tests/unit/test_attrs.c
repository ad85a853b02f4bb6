/*
 * test_attrs.c - attributes of one object: what is asked for is there afterwards, what is not stays, and each step that fails says which.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/attrs.h"
#include "dray/os.h"
#include "dray/path.h"

#include "scratch.h"
#include "test.h"

static char dir_name[] = "/tmp/dray-attrs-XXXXXX";
static int dir = -1;
static struct dray_err e;

static struct stat
put(const char *name, mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat st;

	CHECK(fd != -1 && fchmod(fd, mode) == 0 && fstat(fd, &st) == 0 && close(fd) == 0);
	return st;
}

static struct stat
look(const char *name)
{
	struct stat st = { .st_mode = 0 };

	CHECK_EQ(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st;
}

static int
set(const char *name, int fd, uint8_t type, const struct dray_attrs_want *a)
{
	dray_err_clear(&e);
	return dray_attrs_set(dir, name, fd, type, a, &e);
}

static void
mode_and_time_are_set_on_every_type(void)
{
	const struct dray_attrs_want a = { .has = DRAY_HAS_MODE | DRAY_HAS_MTIME, .mode = 0751, .mtime_sec = 1234567890, .mtime_nsec = 987 };
	static const struct { const char *name; uint8_t type; } v[] = { { "file", DRAY_FILE }, { "dir", DRAY_DIR }, { "fifo", DRAY_FIFO },
		{ "link", DRAY_SYMLINK } };
	struct stat to;

	put("file", 0600);
	to = put("pointed-to", 0640);
	CHECK_EQ(mkdirat(dir, "dir", 0700), 0);
	CHECK_EQ(mkfifoat(dir, "fifo", 0600), 0);
	CHECK_EQ(symlinkat("pointed-to", dir, "link"), 0);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct stat st;

		CHECK_EQ(set(v[i].name, -1, v[i].type, &a), 0);
		CHECK_STR(e.text, "");
		st = look(v[i].name);
		if (v[i].type != DRAY_SYMLINK)
			CHECK_EQ(st.st_mode & 07777, 0751);
		CHECK_EQ(st.st_mtim.tv_sec, 1234567890);
		CHECK_EQ(st.st_mtim.tv_nsec, 987);
	}
	/* not through the symlink */
	CHECK_EQ(look("pointed-to").st_mode & 07777, 0640);
	CHECK_EQ(look("pointed-to").st_mtim.tv_sec, to.st_mtim.tv_sec);
}

static void
what_is_not_asked_for_stays(void)
{
	const struct dray_attrs_want none = { .has = 0, .mode = 0777, .uid = 7, .gid = 7, .mtime_sec = 7 };
	struct stat was = put("kept", 04711), is;

	CHECK_EQ(set("kept", -1, DRAY_FILE, &none), 0);
	is = look("kept");
	CHECK_EQ(is.st_mode, was.st_mode);
	CHECK_EQ(is.st_uid, was.st_uid);
	CHECK_EQ(is.st_mtim.tv_nsec, was.st_mtim.tv_nsec);
	/* the owner that it has already is no change: setuid is not dropped for it */
	CHECK_EQ(set("kept", -1, DRAY_FILE, &(struct dray_attrs_want){ .has = DRAY_HAS_UID, .uid = was.st_uid }), 0);
	CHECK_EQ(look("kept").st_mode & 07777, 04711);
}

static void
another_owner_never_gets_setuid_that_was_not_meant_for_it(void)
{
	const struct dray_attrs_want owner = { .has = DRAY_HAS_UID | DRAY_HAS_GID, .uid = 12, .gid = 13 };
	const struct dray_attrs_want all = { .has = DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_MODE, .uid = 14, .gid = 15, .mode = 06755 };

	put("suid", 06755);
	CHECK_EQ(mkfifoat(dir, "owned", 0600), 0);
	if (geteuid() != 0) {
		CHECK_EQ(set("suid", -1, DRAY_FILE, &owner), -1);
		CHECK_STR(e.text, "change owner: operation not permitted");
		CHECK_EQ(look("suid").st_mode & 06000, 0);
		return;
	}
	CHECK_EQ(set("suid", -1, DRAY_FILE, &owner), 0);
	CHECK_EQ(look("suid").st_uid, 12);
	CHECK_EQ(look("suid").st_gid, 13);
	CHECK_EQ(look("suid").st_mode & 07777, 0755);
	CHECK_EQ(set("suid", -1, DRAY_FILE, &all), 0);
	CHECK_EQ(look("suid").st_uid, 14);
	CHECK_EQ(look("suid").st_mode & 07777, 06755);
	/* by name, one half alone */
	CHECK_EQ(set("owned", -1, DRAY_FIFO, &(struct dray_attrs_want){ .has = DRAY_HAS_GID, .gid = 16 }), 0);
	CHECK_EQ(look("owned").st_uid, 0);
	CHECK_EQ(look("owned").st_gid, 16);
}

static bool
has_xattr(int fd, const char *name, const char *value)
{
	char buf[64];
	size_t len = sizeof(buf);

	return os_xattr_get(fd, name, buf, &len) == 0 && len == strlen(value) && memcmp(buf, value, len) == 0;
}

#define X(name, value) { (name), sizeof(name) - 1, (const uint8_t *)(value), sizeof(value) - 1 }

static void
managed_xattrs_are_those_of_the_list_and_others_stay(void)
{
	static const struct dray_xattr x[] = { X("user.new", "n"), X("user.same", "s2") };
	const struct dray_attrs_want a = { .has = DRAY_HAS_XATTRS, .xattrs = x, .n_xattrs = 2 };
	bool site;
	int fd;

	put("xa", 0644);
	fd = openat(dir, "xa", O_RDONLY | O_CLOEXEC);
	if (os_xattr_set(fd, "user.old", "o", 1) != 0) {
		CHECK(errno == ENOTSUP);
		printf("# no xattrs on /tmp\n");
		close(fd);
		return;
	}
	CHECK_EQ(os_xattr_set(fd, "user.same", "s1", 2), 0);
	site = os_xattr_set(fd, "trusted.site", "t", 1) == 0;	/* root's alone */
	CHECK_EQ(set("xa", fd, DRAY_FILE, &a), 0);
	CHECK_STR(e.text, "");
	CHECK(has_xattr(fd, "user.new", "n"));
	CHECK(has_xattr(fd, "user.same", "s2"));
	CHECK(!has_xattr(fd, "user.old", "o"));
	CHECK_EQ(has_xattr(fd, "trusted.site", "t"), site);
	/* an empty list takes all that are managed away */
	CHECK_EQ(set("xa", -1, DRAY_FILE, &(struct dray_attrs_want){ .has = DRAY_HAS_XATTRS }), 0);
	CHECK(!has_xattr(fd, "user.new", "n"));
	CHECK_EQ(has_xattr(fd, "trusted.site", "t"), site);
	close(fd);
}

/* CAP_CHOWN, permitted; Source: linux/capability.h, struct vfs_cap_data of version 2 */
static const uint8_t capability[20] = { 0, 0, 0, 2, 1 };

static void
a_plain_run_leaves_capabilities_alone(void)
{
	const struct dray_attrs_want plain = { .has = DRAY_HAS_XATTRS, .plain = true }, full = { .has = DRAY_HAS_XATTRS };
	size_t len = 0;
	int fd;

	put("cap", 0755);
	fd = openat(dir, "cap", O_RDONLY | O_CLOEXEC);
	if (os_xattr_set(fd, "security.capability", capability, sizeof(capability)) != 0) {
		CHECK(errno == EPERM || errno == ENOTSUP);
		printf("# not this user's to set\n");
		close(fd);
		return;
	}
	CHECK_EQ(set("cap", fd, DRAY_FILE, &plain), 0);
	CHECK_EQ(os_xattr_get(fd, "security.capability", NULL, &len), 0);
	CHECK_EQ(set("cap", fd, DRAY_FILE, &full), 0);
	CHECK_EQ(os_xattr_get(fd, "security.capability", NULL, &len), -1);
	CHECK_EQ(errno, ENODATA);
	close(fd);
}

/* more bytes of names than the first look has room for */
static void
a_long_list_of_names_is_read_whole(void)
{
	char name[220], list[32768];
	size_t len = sizeof(list);
	int fd = memfd_create("attrs", MFD_CLOEXEC);

	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "user.%0*d", 200, i);
		if (os_xattr_set(fd, name, "v", 1) != 0) {
			CHECK(errno == ENOTSUP || errno == ENOSPC);
			printf("# no room for them\n");
			close(fd);
			return;
		}
	}
	CHECK_EQ(set("", fd, DRAY_FILE, &(struct dray_attrs_want){ .has = DRAY_HAS_XATTRS }), 0);
	CHECK_STR(e.text, "");
	CHECK_EQ(os_xattr_list(fd, list, &len), 0);
	for (const char *p = list; p < list + len; p += strlen(p) + 1)
		CHECK(!dray_xattr_managed(p, strlen(p)));
	close(fd);
}

/* a handle that is for looking only lets nothing be changed */
static void
each_step_that_fails_is_named(void)
{
	static const struct dray_xattr odd[] = { X("odd.family", "v") };
	static const struct dray_xattr too_long[] = { { "user.x", DRAY_NAME_MAX + 1, (const uint8_t *)"v", 1 } };
	const struct { struct dray_attrs_want a; const char *says; } v[] = {
		{ { .has = DRAY_HAS_UID, .uid = 99 }, "drop setuid: bad file descriptor" },
		{ { .has = DRAY_HAS_XATTRS }, "list extended attributes: bad file descriptor" },
		{ { .has = DRAY_HAS_MODE, .mode = 0600 }, "change mode: bad file descriptor" },
		{ { .has = DRAY_HAS_MTIME }, "set time: bad file descriptor" },
	};
	struct stat was = put("looked-at", 04755);
	int fd = openat(dir, "looked-at", O_PATH | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		CHECK_EQ(set("looked-at", fd, DRAY_FILE, &v[i].a), -1);
		CHECK_EQ(e.code, DRAY_E_IO);
		CHECK_STR(e.text, v[i].says);
	}
	CHECK_EQ(look("looked-at").st_mode, was.st_mode);
	CHECK_EQ(fchmodat(dir, "looked-at", 0644, 0), 0);
	CHECK_EQ(set("looked-at", fd, DRAY_FILE, &v[0].a), -1);
	CHECK_STR(e.text, "change owner: bad file descriptor");
	close(fd);
	CHECK_EQ(set("looked-at", fd, DRAY_FILE, &v[2].a), -1);
	CHECK_STR(e.text, "look at it: bad file descriptor");
	/* no file system has this family, and none has the room for that name */
	CHECK_EQ(set("looked-at", -1, DRAY_FILE, &(struct dray_attrs_want){ .has = DRAY_HAS_XATTRS, .xattrs = odd, .n_xattrs = 1 }), -1);
	CHECK_EQ(e.code, DRAY_E_SYSTEM);
	CHECK_HAS(e.text, "set extended attribute odd.family: ");
	CHECK_EQ(set("looked-at", -1, DRAY_FILE, &(struct dray_attrs_want){ .has = DRAY_HAS_XATTRS, .xattrs = too_long, .n_xattrs = 1 }), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_STR(e.text, "the name of an extended attribute is too long");
}

static void
an_xattr_that_cannot_be_removed_is_named(void)
{
	struct dray_fs fs;
	int fd;

	CHECK_EQ(os_fs(dir, &fs), 0);
	if (!os_fflags_mine() || fs.kind != DRAY_FS_SAFE)
		return;	/* not this user's to set, or nowhere to keep them */
	put("locked", 0644);
	fd = openat(dir, "locked", O_RDONLY | O_CLOEXEC);
	CHECK_EQ(os_xattr_set(fd, "user.stays", "s", 1), 0);
	CHECK_EQ(os_fflags_set(dir, "locked", DRAY_FF_LOCKS, DRAY_FF_IMMUTABLE), 0);
	CHECK_EQ(set("locked", fd, DRAY_FILE, &(struct dray_attrs_want){ .has = DRAY_HAS_XATTRS }), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_STR(e.text, "remove extended attribute user.stays: operation not permitted");
	CHECK(has_xattr(fd, "user.stays", "s"));
	CHECK_EQ(os_fflags_set(dir, "locked", DRAY_FF_LOCKS, 0), 0);
	close(fd);
}

static void
what_is_not_there_or_is_another_type_is_not_touched(void)
{
	const struct dray_attrs_want mode = { .has = DRAY_HAS_MODE, .mode = 0600 };
	static const struct { struct dray_attrs_want a; const char *says; } v[] = {
		{ { .has = DRAY_HAS_GID, .gid = 5 }, "change owner: no such file or directory" },
		{ { .has = DRAY_HAS_MODE, .mode = 0600 }, "change mode: no such file or directory" },
		{ { .has = DRAY_HAS_MTIME }, "set time: no such file or directory" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		CHECK_EQ(set("missing", -1, DRAY_FIFO, &v[i].a), -1);
		CHECK_EQ(e.code, DRAY_E_IO);
		CHECK_STR(e.text, v[i].says);
	}
	CHECK_EQ(set("missing", -1, DRAY_FILE, &mode), -1);
	CHECK_STR(e.text, "open: no such file or directory");
	CHECK_EQ(set("link", -1, DRAY_FILE, &mode), -1);
	CHECK_HAS(e.text, "open: ");
	CHECK_EQ(set("pointed-to", -1, DRAY_DIR, &mode), -1);
	CHECK_STR(e.text, "open: not a directory");
	CHECK_EQ(look("pointed-to").st_mode & 07777, 0640);
}

static void
families_of_xattrs(void)
{
	CHECK(dray_xattr_managed("user.a", 6));
	CHECK(!dray_xattr_managed("user.", 5));
	CHECK(dray_xattr_managed("system.posix_acl_access", 23));
	CHECK(dray_xattr_managed("security.capability", 19));
	CHECK(!dray_xattr_managed("security.selinux", 16));
	CHECK(!dray_xattr_managed("trusted.a", 9));
	CHECK(dray_xattr_privileged("trusted.a", 9));
	CHECK(dray_xattr_privileged("security.capability", 19));
	CHECK(!dray_xattr_privileged("user.a", 6));
	CHECK(!dray_xattr_privileged("trusted", 7));
}

int
main(void)
{
	if (mkdtemp(dir_name) == NULL || (dir = open(dir_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return 1;
	umask(022);
	RUN(mode_and_time_are_set_on_every_type);
	RUN(what_is_not_asked_for_stays);
	RUN(another_owner_never_gets_setuid_that_was_not_meant_for_it);
	RUN(managed_xattrs_are_those_of_the_list_and_others_stay);
	RUN(a_plain_run_leaves_capabilities_alone);
	RUN(a_long_list_of_names_is_read_whole);
	RUN(each_step_that_fails_is_named);
	RUN(an_xattr_that_cannot_be_removed_is_named);
	RUN(what_is_not_there_or_is_another_type_is_not_touched);
	RUN(families_of_xattrs);
	close(dir);
	if (scratch_remove(dir_name) != 0)
		return 1;
	return test_done();
}
