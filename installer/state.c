/*
 * state.c - find, check, create and lock the state folder.
 *
 * Creating it must not show in a comparison of the tree: times of the directories above are put back.
 */
#include <sys/file.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/os.h"
#include "dray/path.h"

#include "installer/files.h"
#include "installer/state.h"

#define PENDING ".dray-pending"
#define SELF "dray-install"
#define PENDING_NEW "..dray-pending.new"	/* the name under which inst_write_file begins it */

int
inst_restore_time(int fd, const struct dray_stat *was, struct dray_err *e)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = (time_t)was->mtime_sec, .tv_nsec = (long)was->mtime_nsec } };

	if (futimens(fd, ts) == -1)
		return dray_fail_errno(e, "put back the time of a directory");
	return 0;
}

int
inst_make_dir(int parent, const char *name, unsigned mode, struct dray_err *e)
{
	struct dray_stat was;

	if (os_stat_at(parent, "", &was) == -1)
		return dray_fail_errno(e, "look at the folder above %s", name);
	if (mkdirat(parent, name, (mode_t)mode) == -1) {
		if (errno == EEXIST)
			return 0;
		return dray_fail_errno(e, "create %s", name);
	}
	return inst_restore_time(parent, &was, e);
}

/* one step down; 1: it does not exist and is not to be made */
static int
step_down(int parent, const char *name, bool last, bool write, int *fd, struct dray_err *e)
{
	struct dray_stat st;

	*fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd == -1 && errno == ENOENT) {
		if (!write)
			return 1;
		if (inst_make_dir(parent, name, last ? 0700 : 0755, e) != 0)
			return -1;
		*fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (*fd == -1) {
		if (errno == ELOOP || errno == ENOTDIR) {
			dray_fail(e, DRAY_E_SYSTEM, "%s is not a directory (a symlink is not followed)", name);
			return dray_hint(e, "name another place beneath the root with --state DIR");
		}
		dray_fail_errno(e, "open %s", name);
		if (errno == EACCES) {
			e->code = DRAY_E_SYSTEM;
			dray_hint(e, "run it as the user that installs here, mostly root");
		}
		return -1;
	}
	if (os_stat_at(*fd, "", &st) == -1)
		return dray_fail_errno(e, "look at %s", name);
	if (last && (st.uid != (uint32_t)geteuid() || (st.mode & 077) != 0)) {
		dray_fail(e, DRAY_E_SYSTEM, "%s belongs to uid %u with mode %04o; it must be yours with mode 0700", name,
		    (unsigned)st.uid, (unsigned)(st.mode & 07777));
		return dray_hint(e, "look who else uses it; then chown and chmod 0700 it, or name another with --state DIR");
	}
	if (!last && (st.mode & 0002) != 0 && (st.mode & 01000) == 0) {
		dray_fail(e, DRAY_E_SYSTEM, "%s may be changed by everybody (mode %04o)", name, (unsigned)(st.mode & 07777));
		return dray_hint(e, "name another place beneath the root with --state DIR");
	}
	return 0;
}

int
inst_private_dir(int parent, const char *name, bool make, int *fd, struct dray_err *e)
{
	struct dray_stat st;
	int r;

	*fd = -1;
	if (os_stat_at(parent, "", &st) == -1)
		return dray_fail_errno(e, "look at the directory of %s", name);
	if ((st.mode & 0002) != 0 && (st.mode & 01000) == 0)
		return dray_fail(e, DRAY_E_SYSTEM, "the directory of %s may be changed by everybody (mode %04o)", name,
		    (unsigned)(st.mode & 07777));
	r = step_down(parent, name, true, make, fd, e);
	if (r < 0 && *fd != -1) {
		close(*fd);
		*fd = -1;
	}
	return r;
}

/* paths of ours go through these: a symlink in their place would lead anywhere */
static int
look_inside(const struct inst_state *s, struct dray_err *e)
{
	static const char *const folder[] = { "tx", "release", "evidence" };
	struct stat st;

	for (size_t i = 0; i < sizeof(folder) / sizeof(folder[0]); i++) {
		if (fstatat(s->dir, folder[i], &st, AT_SYMLINK_NOFOLLOW) == -1) {
			if (errno != ENOENT)
				return dray_fail_errno(e, "look at %s/%s", s->rel, folder[i]);
		} else if (!S_ISDIR(st.st_mode)) {
			dray_fail(e, DRAY_E_SYSTEM, "%s/%s is not a directory (a symlink is not followed)", s->rel, folder[i]);
			return dray_hint(e, "nothing was changed; put the folder back, or move away what is in its place");
		}
	}
	return 0;
}

static int
walk_down(struct inst_state *s, bool write, struct dray_err *e)
{
	char part[DRAY_NAME_MAX + 1];
	const char *p = s->rel;
	struct dray_stat root, st;
	int at = s->root, next, r;

	for (;;) {
		size_t n = strcspn(p, "/");
		bool last = p[n] == '\0';

		memcpy(part, p, n);
		part[n] = '\0';
		r = step_down(at, part, last, write, &next, e);
		if (at != s->root)
			close(at);
		if (r != 0) {
			if (next != -1)
				close(next);
			return r == 1 ? 0 : dray_wrap(e, "state folder %s", s->rel);
		}
		at = next;
		if (last)
			break;
		p += n + 1;
	}
	s->dir = at;
	if (os_stat_at(s->root, "", &root) == -1 || os_stat_at(at, "", &st) == -1)
		return dray_fail_errno(e, "look at state folder %s", s->rel);
	if (st.mnt_id != root.mnt_id || st.dev != root.dev) {
		dray_fail(e, DRAY_E_SYSTEM, "state folder %s lies on another mount than the root directory", s->rel);
		return dray_hint(e, "name a place on the root's own mount with --state DIR");
	}
	return look_inside(s, e);
}

/* a file of its own and nothing else: it is about to be cut short and written */
static int
open_lock(struct inst_state *s, struct dray_err *e)
{
	struct stat st;
	bool odd, fixed;

	s->lock = openat(s->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (s->lock != -1 && fstat(s->lock, &st) == -1)
		return dray_fail_errno(e, "look at the lock in %s", s->rel);
	odd = s->lock == -1 ? errno == EISDIR || inst_no_file(errno) : !S_ISREG(st.st_mode) || st.st_nlink != 1;
	if (odd) {
		dray_fail(e, DRAY_E_SYSTEM, "the lock in %s is not a regular file of one name", s->rel);
		return dray_hint(e, "nothing was changed; move it away and run it again");
	}
	if (s->lock != -1)
		return 0;
	fixed = errno == EROFS;
	dray_fail_errno(e, "open the lock in %s", s->rel);
	if (!fixed)
		return -1;
	e->code = DRAY_E_SYSTEM;
	return dray_hint(e, "nothing was changed; make that file system writable and run it again");
}

static int
take_lock(struct inst_state *s, struct dray_err *e)
{
	char pid[32];
	uint8_t *who = NULL;
	size_t len;
	int n;

	if (open_lock(s, e) != 0)
		return -1;
	if (flock(s->lock, LOCK_EX | LOCK_NB) == -1) {
		if (errno != EWOULDBLOCK)
			return dray_fail_errno(e, "take the lock");
		if (inst_read_file(s->dir, "lock", 31, &who, &len, e) == 0)
			who[strcspn((char *)who, "\n")] = '\0';
		dray_fail(e, DRAY_E_BUSY, "another run is active on %s (process %s)", s->root_path,
		    who != NULL && who[0] != '\0' ? (const char *)who : "unknown");
		free(who);
		return dray_hint(e, "wait for it to end; its lock goes away with it");
	}
	n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (ftruncate(s->lock, 0) == -1 || pwrite(s->lock, pid, (size_t)n, 0) != n) {
		dray_fail_errno(e, "write the lock");
		return dray_hint(e, "nothing was changed");
	}
	inst_sweep_file(s->dir, SELF);	/* megabytes; the other files are written again by the run that ends what was cut */
	return 0;
}

/* the mark names a place that this run was not told: nothing may be done before that one is finished */
static int
check_mark(const struct inst_state *s, struct dray_err *e)
{
	char q[400];
	uint8_t *p = NULL;
	size_t len;
	int r = inst_read_file(s->root, PENDING, DRAY_PATH_MAX, &p, &len, e);

	if (r == 1)
		return 0;
	if (r != 0)
		return dray_wrap(e, "%s/%s", s->root_path, PENDING);
	if (len == strlen(s->rel) && memcmp(p, s->rel, len) == 0) {
		free(p);
		return 0;
	}
	dray_quote(p, len, q, sizeof(q));
	free(p);
	dray_fail(e, DRAY_E_SYSTEM, "an unfinished upgrade of %s keeps its journal in %s, not in %s", s->root_path, q, s->rel);
	return dray_hint(e, "dray-install resume --root %s --state %s", s->root_path, q);
}

int
inst_state_open(const char *root, const char *state, bool write, struct inst_state *s, struct dray_err *e)
{
	const char *why;
	size_t len;

	*s = (struct inst_state){ .root = -1, .dir = -1, .lock = -1, .root_path = root };
	if (state == NULL)
		state = os_state_dir();
	while (*state == '/')
		state++;
	len = strlen(state);
	while (len > 0 && state[len - 1] == '/')
		len--;
	if (!dray_path_ok(state, len, &why)) {
		dray_fail(e, DRAY_E_USAGE, "--state %.*s: %s", (int)(len > 200 ? 200 : len), state, why);
		return dray_hint(e, "give a path beneath the root, such as %s", os_state_dir());
	}
	memcpy(s->rel, state, len);
	s->rel[len] = '\0';
	s->is_default = strcmp(s->rel, os_state_dir()) == 0;
	s->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->root == -1) {
		int why_not = errno;

		dray_fail_errno(e, "open root %s", root);
		if (why_not == EIO || why_not == EINTR || why_not == EMFILE || why_not == ENFILE || why_not == ENOMEM)
			goto fail;	/* it is there, but cannot be opened now */
		e->code = DRAY_E_SYSTEM;
		dray_hint(e, "name the tree to work on: --root DIR");
		goto fail;
	}
	if (check_mark(s, e) != 0 || walk_down(s, write, e) != 0)
		goto fail;
	if (write && take_lock(s, e) != 0)
		goto fail;
	return 0;
fail:
	inst_state_close(s);
	return -1;
}

void
inst_state_close(struct inst_state *s)
{
	if (s->lock != -1)
		close(s->lock);
	if (s->dir != -1)
		close(s->dir);
	if (s->root != -1)
		close(s->root);
	s->lock = s->dir = s->root = -1;
}

int
inst_state_mark(const struct inst_state *s, bool on, struct dray_err *e)
{
	static const char *const names[2] = { PENDING, PENDING_NEW };
	struct dray_stat was;
	bool gone = false;

	if (s->is_default)
		return 0;
	if (os_stat_at(s->root, "", &was) == -1)
		return dray_fail_errno(e, "look at %s", s->root_path);
	if (on) {
		if (inst_write_file(s->root, PENDING, s->rel, strlen(s->rel), 0600, e) != 0)
			return -1;
		return inst_restore_time(s->root, &was, e);
	}
	for (size_t i = 0; i < 2; i++) {
		if (unlinkat(s->root, names[i], 0) == 0)
			gone = true;
		else if (errno != ENOENT)
			return dray_fail_errno(e, "remove %s/%s", s->root_path, names[i]);
	}
	return gone ? inst_restore_time(s->root, &was, e) : 0;
}

/* do two handles hold the same bytes? */
static int
same_file(int a, int b, bool *same, struct dray_err *e)
{
	uint8_t ha[DRAY_SHA256_LEN], hb[DRAY_SHA256_LEN], *buf = NULL;
	struct dray_sha256 *h = NULL;
	uint64_t na, nb;
	int rc = -1;

	if ((buf = malloc(1 << 18)) == NULL) {
		dray_fail_errno(e, "copy of the installer");
		goto out;
	}
	if (dray_sha256_new(&h, e) != 0 || dray_sha256_fd(h, a, buf, 1 << 18, &na, ha, e) != 0 ||
	    dray_sha256_fd(h, b, buf, 1 << 18, &nb, hb, e) != 0)
		goto out;
	*same = na == nb && memcmp(ha, hb, sizeof(ha)) == 0;
	rc = 0;
out:
	dray_sha256_free(h);
	free(buf);
	return rc;
}

/* does the state folder hold this program, for its owner to run? */
static int
is_copy(const struct inst_state *s, int self, bool *same, struct dray_err *e)
{
	struct stat st;
	int rc = 0, have = openat(s->dir, SELF, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	*same = false;
	if (have == -1)
		return 0;
	if (fstat(have, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0700 && st.st_uid == geteuid())
		rc = same_file(self, have, same, e);
	close(have);
	return rc;
}

int
inst_state_keep_self(const struct inst_state *s, struct dray_err *e)
{
	uint8_t *p = NULL;
	size_t cap, len = 0;
	struct stat st;
	bool same = false;
	int self = -1, rc = -1;

	if ((self = os_self_exe()) == -1) {
		dray_fail_errno(e, "open the running program");
		/* a chroot or a rescue shell: on Linux the program is found there */
		dray_hint(e, "nothing live was changed; if /proc is not mounted: mount -t proc proc /proc, and the same command again");
		goto out;
	}
	if (is_copy(s, self, &same, e) != 0)
		goto out;
	if (same) {
		rc = 0;
		goto out;
	}
	if (fstat(self, &st) == -1 || st.st_size <= 0) {
		dray_fail_errno(e, "look at the running program");
		goto out;
	}
	cap = (size_t)st.st_size;
	if ((p = malloc(cap)) == NULL) {
		dray_fail_errno(e, "copy of the installer");
		goto out;
	}
	while (len < cap) {
		ssize_t r = pread(self, p + len, cap - len, (off_t)len);

		if (r == -1 && errno == EINTR)
			continue;
		if (r <= 0) {
			dray_fail_errno(e, "read the running program");
			goto out;
		}
		len += (size_t)r;
	}
	if (inst_write_file(s->dir, SELF, p, len, 0700, e) != 0 || is_copy(s, self, &same, e) != 0)
		goto out;
	if (!same)
		dray_fail(e, DRAY_E_IO, "what was written is not what is read back");
	else
		rc = 0;
out:
	free(p);
	if (self != -1)
		close(self);
	return rc == 0 ? 0 : dray_wrap(e, "copy of the installer in %s", s->rel);
}
