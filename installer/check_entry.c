/*
 * check_entry.c - one entry of the release against what is there, or one path that the release has removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/num.h"
#include "dray/os.h"

#include "installer/checking.h"
#include "installer/planning.h"

#define LINK_MAX_BYTES 4096u

/* what is there: opened if it is a file or directory that has to be */
struct found { struct dray_stat st; struct inst_ident id; int dir, fd; char leaf[DRAY_NAME_MAX + 1]; };

static bool
denied(int err)
{
	return err == EACCES || err == EPERM;
}

/* a system call did not do: is that an answer? *diffs says which. 0, or -1 with @e */
static int
answer(uint16_t *diffs, const char *what, struct dray_err *e)
{
	switch (errno) {
	case ENOENT:
		*diffs |= INST_DIFF_BIT(INST_DIFF_MISSING);
		return 0;
	case ENOTDIR:
	case ELOOP:
	case EMLINK:
	case ENXIO:	/* exchanged for something else since we looked */
		*diffs |= INST_DIFF_BIT(INST_DIFF_TYPE);
		return 0;
	case EIO:
		*diffs |= INST_DIFF_BIT(INST_DIFF_READ);
		return 0;
	case EACCES:
	case EPERM:
		*diffs |= INST_CHECK_UNREAD;
		return 0;
	default:
		return dray_fail_errno(e, "%s", what);
	}
}

/* *there: look on; else *diffs has the answer */
static int
find(struct inst_checker *w, const struct dray_entry *en, struct found *f, bool *there, uint16_t *diffs,
    struct dray_err *e)
{
	struct dray_err why = { .code = DRAY_OK };
	int r;

	*there = false;
	errno = 0;
	r = dray_walk_parent(&w->walk, en->path, en->len, &f->dir, f->leaf, &why);
	if (r > 0) {
		*diffs = INST_DIFF_BIT(INST_DIFF_MISSING) | INST_CHECK_BENEATH;
		return 0;
	}
	if (r == -1) {
		if (!denied(errno) && errno != EIO) {
			*e = why;
			return -1;
		}
		return answer(diffs, "open the directory", e);
	}
	if (os_stat_at(f->dir, f->leaf, &f->st) != 0)
		return answer(diffs, "look at", e);
	inst_ident_from(&f->st, &f->id);
	*there = true;
	return 0;
}

/* the handle counts from here on, not the name. *diffs when it cannot be had */
static int
take_handle(struct found *f, uint16_t *diffs, struct dray_err *e)
{
	uint8_t type = f->id.type;

	f->fd = openat(f->dir, f->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
	    (type == DRAY_DIR ? O_DIRECTORY : 0));
	if (f->fd == -1)
		return answer(diffs, "open", e);
	if (os_stat_at(f->fd, "", &f->st) != 0)
		return dray_fail_errno(e, "look at");
	inst_ident_from(&f->st, &f->id);
	if (f->id.type != type)
		*diffs |= INST_DIFF_BIT(INST_DIFF_TYPE);
	return 0;
}

struct watched { struct inst_checking *ck; struct inst_checker *w; };

/* a large file is neither silent nor deaf to signals while it is read */
static int
watch(void *ctx, size_t len, struct dray_err *e)
{
	const struct watched *x = ctx;
	struct inst_checking *ck = x->ck;

	if (ck->o->stop != NULL && ck->o->stop() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	x->w->hashed += len;
	dray_meter_add(&ck->meter, len, len * DRAY_COST_HASH);
	return 0;
}

/* hash of an open file of the size that is wanted; *same only when it is the wanted one */
static int
hash_is(struct inst_checking *ck, struct inst_checker *w, int fd, const struct dray_content *ct, uint16_t *diffs,
    bool *same, struct dray_err *e)
{
	struct watched x = { ck, w };
	const struct dray_watch each = { watch, &x };
	struct dray_err why = { .code = DRAY_OK };
	uint64_t size = 0;
	uint8_t sha[DRAY_SHA256_LEN];

	*same = false;
	errno = 0;
	if (dray_sha256_fd_watch(w->hash, fd, w->buf, INST_CHECK_BUF, &each, &size, sha, &why) != 0) {
		if (why.code == DRAY_E_IO && errno == EIO)
			return answer(diffs, "read", e);
		*e = why;
		return -1;
	}
	*same = dray_content_is(ct, size, sha);
	return 0;
}

static int
compare_file(struct inst_checking *ck, struct inst_checker *w, const struct dray_state *s, const struct found *f,
    uint16_t *diffs, struct dray_err *e)
{
	struct dray_content ct;
	bool same;

	dray_index_content(ck->ix, s->content, &ct);
	if (!dray_content_fits(&ct, f->st.size)) {
		*diffs |= INST_DIFF_BIT(INST_DIFF_CONTENT);
		return 0;
	}
	if (f->fd == -1)	/* quick, or this user may not: the size has to do */
		return 0;
	if (hash_is(ck, w, f->fd, &ct, diffs, &same, e) != 0)
		return -1;
	if (!same && (*diffs & INST_DIFF_BIT(INST_DIFF_READ)) == 0)
		*diffs |= INST_DIFF_BIT(INST_DIFF_CONTENT);
	return 0;
}

static int
link_is(const struct dray_state *s, const struct found *f, uint16_t *diffs, bool *same, struct dray_err *e)
{
	char buf[LINK_MAX_BYTES + 1];
	ssize_t n = readlinkat(f->dir, f->leaf, buf, sizeof(buf));

	*same = false;
	if (n == -1) {
		if (errno == EINVAL)	/* no symlink any more */
			errno = ENOTDIR;
		return answer(diffs, "read link", e);
	}
	*same = (size_t)n == s->target_len && memcmp(buf, s->target, s->target_len) == 0;
	return 0;
}

/* type is right: link target or device number, what needs no handle */
static int
compare_special(const struct dray_state *s, const struct found *f, uint16_t *diffs, struct dray_err *e)
{
	bool same = true;

	if (s->type == DRAY_SYMLINK && link_is(s, f, diffs, &same, e) != 0)
		return -1;
	if (s->type == DRAY_CHARDEV || s->type == DRAY_BLOCKDEV)
		same = s->rdev_major == f->st.rdev_major && s->rdev_minor == f->st.rdev_minor;
	if (!same && (*diffs & ~INST_CHECK_UNREAD) == 0)
		*diffs |= INST_DIFF_BIT(INST_DIFF_CONTENT);
	return 0;
}

static void
compare_meta(const struct inst_meta *want, const struct inst_meta *have, uint16_t *diffs)
{
	static const struct { uint16_t has; enum inst_diff diff; } part[] = {
		{ DRAY_HAS_UID | DRAY_HAS_GID, INST_DIFF_OWNER }, { DRAY_HAS_MODE | INST_HAS_PLAIN, INST_DIFF_MODE },
		{ DRAY_HAS_FLAGS, INST_DIFF_FLAGS }, { DRAY_HAS_MTIME, INST_DIFF_MTIME },
		{ DRAY_HAS_XATTRS | INST_HAS_PLAIN, INST_DIFF_XATTRS },
	};
	struct inst_meta one = *want;

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		one.has = want->has & part[i].has;
		if (!inst_meta_same(&one, have))
			*diffs |= INST_DIFF_BIT(part[i].diff);
	}
}

static int
compare_attrs(const struct inst_checking *ck, const struct dray_state *s, const struct found *f, uint16_t *diffs,
    struct dray_err *e)
{
	struct inst_meta want = { .has = 0 }, have = { .has = 0 };
	int rc = -1;

	if (inst_meta_of_state(ck->ix, s, &want, e) != 0)
		return -1;
	if (ck->o->no_owner)
		inst_meta_plain(&want);
	/* what has no handle tells no extended attributes: not compared rather than taken for none */
	if (f->fd == -1)
		want.has &= (uint16_t)~DRAY_HAS_XATTRS;
	if (inst_meta_read(f->fd, &f->st, want.has, &have, e) != 0)
		goto out;
	want.fflags_known &= have.fflags_known;	/* what its file system cannot keep is no damage, plan told of it */
	compare_meta(&want, &have, diffs);
	rc = 0;
out:
	inst_meta_free(&want);
	inst_meta_free(&have);
	return rc;
}

static bool
wants_handle(const struct inst_checking *ck, const struct dray_state *s)
{
	struct dray_attrs a;

	if (ck->o->quick)
		return false;
	dray_index_attrs(ck->ix, s->attrs, &a);
	return s->type == DRAY_FILE || (s->type == DRAY_DIR && (a.has & DRAY_HAS_XATTRS) != 0);
}

static int
add_name(struct inst_checker *w, const struct dray_stat *st, uint32_t row, uint32_t group, struct dray_err *e)
{
	struct inst_name *v;
	size_t cap;

	if (w->n == w->cap) {
		cap = w->cap == 0 ? 64 : w->cap * 2;
		if ((v = realloc(w->names, cap * sizeof(*v))) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		w->names = v;
		w->cap = cap;
	}
	w->names[w->n++] = (struct inst_name){ .mnt = st->mnt_id, .dev = st->dev, .ino = st->ino, .row = row, .group = group };
	return 0;
}

static int
check_target(struct inst_checking *ck, struct inst_checker *w, uint32_t row, const struct dray_entry *en,
    struct dray_err *e)
{
	uint16_t *diffs = &ck->c->diffs[row];
	struct found f = { .dir = -1, .fd = -1 };
	struct dray_state s;
	bool there;
	int rc = -1;

	dray_index_state(ck->ix, en->target, &s);
	if (ck->o->no_owner && inst_is_device(s.type))
		return 0;	/* was left out */
	if (find(w, en, &f, &there, diffs, e) != 0)
		return -1;
	if (!there)
		return 0;
	if (f.id.type != s.type) {
		*diffs = INST_DIFF_BIT(INST_DIFF_TYPE);
		return 0;
	}
	if (wants_handle(ck, &s) && take_handle(&f, diffs, e) != 0)
		goto out;
	rc = 0;
	if ((*diffs & ~INST_CHECK_UNREAD) != 0)
		goto out;
	if (s.type == DRAY_FILE) {
		if (s.link != 0 || f.st.nlink > 1)
			rc = add_name(w, &f.st, row, s.link, e);
		if (rc == 0)
			rc = compare_file(ck, w, &s, &f, diffs, e);
	} else {
		rc = compare_special(&s, &f, diffs, e);
	}
	if (rc == 0)
		rc = compare_attrs(ck, &s, &f, diffs, e);
out:
	if (f.fd != -1)
		close(f.fd);
	return rc;
}

/* is what is there the file of @s? Opened for the first state that asks for its hash */
static int
file_was(struct inst_checking *ck, struct inst_checker *w, const struct dray_state *s, struct found *f, bool *same,
    struct dray_err *e)
{
	uint16_t cannot = 0;
	struct dray_content ct;

	dray_index_content(ck->ix, s->content, &ct);
	*same = dray_content_fits(&ct, f->id.size);
	/* a size that is unknown tells nothing, so the content has to */
	if (!*same || (ck->o->quick && ct.size != DRAY_SIZE_UNKNOWN))
		return 0;
	*same = false;
	/* what cannot be read is not known to be a left-over */
	if (f->fd == -1 && (take_handle(f, &cannot, e) != 0 || cannot != 0))
		return cannot != 0 ? 0 : -1;
	return hash_is(ck, w, f->fd, &ct, &cannot, same, e);
}

/* a path that the release removed: left over is what is there as some base had it; all else is local */
static int
check_removed(struct inst_checking *ck, struct inst_checker *w, uint32_t row, const struct dray_entry *en,
    struct dray_err *e)
{
	struct found f = { .dir = -1, .fd = -1 };
	uint16_t cannot = 0;
	struct dray_state s;
	struct dray_alt alt;
	bool there, same = false;
	int rc = 0;

	if (find(w, en, &f, &there, &cannot, e) != 0)
		return -1;
	for (uint32_t i = 0; there && rc == 0 && !same && i < en->alt_count; i++) {
		dray_index_alt(ck->ix, en->alt_first + i, &alt);
		if (alt.state == DRAY_NONE)
			continue;
		dray_index_state(ck->ix, alt.state, &s);
		if (s.type != f.id.type)
			continue;
		same = true;
		if (s.type == DRAY_FILE)
			rc = file_was(ck, w, &s, &f, &same, e);
		else if (s.type == DRAY_SYMLINK)
			rc = link_is(&s, &f, &cannot, &same, e);
		else if (s.type == DRAY_CHARDEV || s.type == DRAY_BLOCKDEV)
			same = s.rdev_major == f.st.rdev_major && s.rdev_minor == f.st.rdev_minor;
	}
	if (rc == 0 && same)
		ck->c->diffs[row] = INST_DIFF_BIT(INST_DIFF_EXTRA);
	if (f.fd != -1)
		close(f.fd);
	return rc;
}

int
inst_check_entry(struct inst_checking *ck, struct inst_checker *w, uint32_t row, struct dray_err *e)
{
	struct dray_entry en;

	dray_index_entry(ck->ix, row, &en);
	return en.target == DRAY_NONE ? check_removed(ck, w, row, &en, e) : check_target(ck, w, row, &en, e);
}
