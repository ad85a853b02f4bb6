/*
 * look.c - what is there: identity and attributes of one object, always beneath the root handle and never through a
 * symlink. Shared by plan, commit, check and rollback.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dray/attrs.h"
#include "dray/num.h"
#include "dray/os.h"
#include "dray/path.h"

#include "installer/planning.h"

#define XATTR_LIST_MAX (64u * 1024u)	/* Linux: XATTR_LIST_MAX */
#define XATTR_VALUE_MAX (64u * 1024u)	/* Linux: XATTR_SIZE_MAX; bundle-format.md 5.2 */

void
inst_ident_from(const struct dray_stat *st, struct inst_ident *id)
{
	memset(id, 0, sizeof(*id));
	switch (st->mode & S_IFMT) {
	case S_IFREG: id->type = DRAY_FILE; break;
	case S_IFDIR: id->type = DRAY_DIR; break;
	case S_IFLNK: id->type = DRAY_SYMLINK; break;
	case S_IFIFO: id->type = DRAY_FIFO; break;
	case S_IFCHR: id->type = DRAY_CHARDEV; break;
	case S_IFBLK: id->type = DRAY_BLOCKDEV; break;
	default: id->type = INST_SOCKET; break;
	}
	id->ino = st->ino;
	id->btime_sec = st->btime_sec;
	id->btime_nsec = st->btime_nsec;
	id->mtime_sec = st->mtime_sec;
	id->mtime_nsec = st->mtime_nsec;
	if (id->type == DRAY_FILE || id->type == DRAY_SYMLINK)
		id->size = st->size;
}

static bool
born(const struct inst_ident *id)
{
	return id->btime_sec != 0 || id->btime_nsec != 0;
}

bool
inst_ident_object(const struct inst_ident *a, const struct inst_ident *b)
{
	return a->type != DRAY_ABSENT && a->type == b->type && a->ino == b->ino && (!born(a) || !born(b) ||
	    (a->btime_sec == b->btime_sec && a->btime_nsec == b->btime_nsec));
}

bool
inst_ident_same(const struct inst_ident *a, const struct inst_ident *b)
{
	if (a->type == DRAY_ABSENT && b->type == DRAY_ABSENT)
		return true;
	return inst_ident_object(a, b) && a->mtime_sec == b->mtime_sec && a->mtime_nsec == b->mtime_nsec &&
	    a->size == b->size;
}

int
inst_look(struct dray_walk *w, const char *path, size_t len, struct inst_ident *id, struct dray_stat *st,
    struct dray_err *e)
{
	char leaf[DRAY_NAME_MAX + 1], quoted[200];
	struct dray_stat mine;
	int dir, r;

	memset(id, 0, sizeof(*id));
	if (st == NULL)
		st = &mine;
	memset(st, 0, sizeof(*st));
	if (len == 0) {
		dir = w->root;
		leaf[0] = '\0';
	} else if ((r = dray_walk_parent(w, path, len, &dir, leaf, e)) != 0) {
		return r == -1 ? -1 : 0;
	}
	if (os_stat_at(dir, leaf, st) != 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		return dray_fail_errno(e, "look at %s", dray_quote(path, len, quoted, sizeof(quoted)));
	}
	inst_ident_from(st, id);
	return 0;
}

size_t
inst_parent_len(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len > 0 ? len - 1 : 0;
}

void
inst_meta_free(struct inst_meta *m)
{
	free(m->xattrs);
	memset(m, 0, sizeof(*m));
}

void
inst_ops_free(struct inst_op *ops, size_t n)
{
	for (size_t i = 0; ops != NULL && i < n; i++) {
		if (ops[i].kind == INST_OP_META && ops[i].attrs != NULL) {
			inst_meta_free(&ops[i].attrs->before);
			inst_meta_free(&ops[i].attrs->after);
			free(ops[i].attrs);
		} else {
			free(ops[i].trees);
		}
	}
	free(ops);
}

/* append one xattr to the packed form */
static int
pack(struct inst_meta *m, const char *name, size_t name_len, const void *value, size_t len, struct dray_err *e)
{
	size_t more = 6 + name_len + len;
	uint8_t *p;

	if (name_len > UINT16_MAX || len > UINT32_MAX / 2 || more > UINT32_MAX - m->xattrs_len)
		return dray_fail(e, DRAY_E_IO, "extended attribute is too large");
	if ((p = realloc(m->xattrs, m->xattrs_len + more)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	m->xattrs = p;
	p += m->xattrs_len;
	dray_put_u16(p, (uint16_t)name_len);
	dray_put_u32(p + 2, (uint32_t)len);
	memcpy(p + 6, name, name_len);
	if (len > 0)
		memcpy(p + 6 + name_len, value, len);
	m->xattrs_len += (uint32_t)more;
	m->n_xattrs++;
	return 0;
}

/* one of the packed form; it is our own memory, so its lengths are good */
struct packed { const char *name; size_t name_len; const uint8_t *value; size_t len; };

static size_t
unpack(const uint8_t *p, struct packed *x)
{
	x->name_len = dray_get_u16(p);
	x->len = dray_get_u32(p + 2);
	x->name = (const char *)p + 6;
	x->value = p + 6 + x->name_len;
	return 6 + x->name_len + x->len;
}

static int
name_cmp(const char *a, size_t alen, const char *b, size_t blen)
{
	int c = memcmp(a, b, alen < blen ? alen : blen);

	return c != 0 ? c : (alen > blen) - (alen < blen);
}

/* is @name in @m, and with which value? */
static bool
find(const struct inst_meta *m, const char *name, size_t len, struct packed *x)
{
	for (size_t at = 0; at < m->xattrs_len; ) {
		at += unpack(m->xattrs + at, x);
		if (name_cmp(x->name, x->name_len, name, len) == 0)
			return true;
	}
	return false;
}

int
inst_meta_of_state(const struct dray_index *ix, const struct dray_state *s, struct inst_meta *m, struct dray_err *e)
{
	struct dray_attrs a;
	struct dray_xattr x;

	memset(m, 0, sizeof(*m));
	dray_index_attrs(ix, s->attrs, &a);
	m->has = a.has & INST_HAS_KNOWN & ~DRAY_HAS_MTIME;
	m->fflags = dray_index_fflags(ix, s, os_name(), &m->fflags_known);
	if (m->fflags_known == 0)
		m->has &= (uint16_t)~DRAY_HAS_FLAGS;
	/* neither system can change the mode of a symlink, and no symlink has attributes we could reach by a handle */
	if (s->type == DRAY_SYMLINK)
		m->has &= (uint16_t)~(DRAY_HAS_MODE | DRAY_HAS_XATTRS);
	m->mode = a.mode & 07777;
	m->uid = a.uid;
	m->gid = a.gid;
	if (s->has_mtime) {
		m->has |= DRAY_HAS_MTIME;
		m->mtime_sec = s->mtime_sec;
		m->mtime_nsec = s->mtime_nsec;
	}
	if ((m->has & DRAY_HAS_XATTRS) == 0)
		return 0;
	for (uint32_t i = 0; i < a.xattr_count; i++) {
		dray_index_xattr(ix, a.xattr_first + i, &x);
		if (pack(m, x.name, x.name_len, x.value, x.len, e) != 0) {
			inst_meta_free(m);
			return -1;
		}
	}
	return 0;
}

static int
ptr_cmp(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* all xattrs of an open object, names ascending; a file system without any has none */
static int
read_xattrs(int fd, struct inst_meta *m, struct dray_err *e)
{
	char *list = NULL, **names = NULL;
	uint8_t *value = NULL;
	size_t len = XATTR_LIST_MAX, n = 0;
	int rc = -1;

	if ((list = malloc(XATTR_LIST_MAX + 1)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (os_xattr_list(fd, list, &len) != 0) {
		if (errno == ENOTSUP || errno == ENOSYS)
			rc = 0;
		else
			dray_fail_errno(e, "list extended attributes");
		goto out;
	}
	if (len == 0) {
		rc = 0;
		goto out;
	}
	list[len] = '\0';
	for (size_t at = 0; at < len; at += strlen(list + at) + 1)
		n++;
	if ((names = calloc(n, sizeof(*names))) == NULL || (value = malloc(XATTR_VALUE_MAX)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	n = 0;
	for (size_t at = 0; at < len; at += strlen(list + at) + 1)
		names[n++] = list + at;
	qsort(names, n, sizeof(*names), ptr_cmp);
	for (size_t i = 0; i < n; i++) {
		size_t vlen = XATTR_VALUE_MAX;

		if (os_xattr_get(fd, names[i], value, &vlen) != 0) {
			/* gone since it was listed, or a label that is not ours to read: neither can be compared */
			if (errno == EIO || errno == ERANGE ||
			    ((errno == EPERM || errno == EACCES) && dray_xattr_managed(names[i], strlen(names[i])))) {
				dray_fail_errno(e, "read an extended attribute");
				goto out;
			}
			continue;
		}
		if (pack(m, names[i], strlen(names[i]), value, vlen, e) != 0)
			goto out;
	}
	rc = 0;
out:
	free(value);
	free(names);
	free(list);
	return rc;
}

int
inst_meta_read(int fd, const struct dray_stat *st, uint16_t has, struct inst_meta *m, struct dray_err *e)
{
	memset(m, 0, sizeof(*m));
	m->has = has & INST_HAS_KNOWN;
	m->mode = st->mode & 07777;
	m->uid = st->uid;
	m->gid = st->gid;
	m->mtime_sec = st->mtime_sec;
	m->mtime_nsec = st->mtime_nsec;
	m->fflags = st->fflags;
	m->fflags_known = st->fflags_here;
	if ((has & DRAY_HAS_XATTRS) != 0 && fd != -1 && read_xattrs(fd, m, e) != 0) {
		inst_meta_free(m);
		return -1;
	}
	return 0;
}

/* leave out those that @out tells */
static void
drop_xattrs(struct inst_meta *m, bool (*out)(const char *name, size_t len))
{
	struct packed x;
	size_t at = 0, n;

	while (at < m->xattrs_len) {
		n = unpack(m->xattrs + at, &x);
		if (!out(x.name, x.name_len)) {
			at += n;
			continue;
		}
		memmove(m->xattrs + at, m->xattrs + at + n, m->xattrs_len - at - n);
		m->xattrs_len -= (uint32_t)n;
		m->n_xattrs--;
	}
}

static bool
unmanaged(const char *name, size_t len)
{
	return !dray_xattr_managed(name, len);
}

void
inst_meta_managed(struct inst_meta *m)
{
	drop_xattrs(m, unmanaged);
}

void
inst_meta_plain(struct inst_meta *m)
{
	m->has &= (uint16_t)~(DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_FLAGS);
	m->has |= INST_HAS_PLAIN;
	m->mode &= 01777;
	drop_xattrs(m, dray_xattr_privileged);
}

/* is it compared and set at all? */
static bool
ours(const struct inst_meta *want, const struct packed *x)
{
	return dray_xattr_managed(x->name, x->name_len) &&
	    ((want->has & INST_HAS_PLAIN) == 0 || !dray_xattr_privileged(x->name, x->name_len));
}

bool
inst_meta_same(const struct inst_meta *want, const struct inst_meta *have)
{
	uint32_t bits = (want->has & INST_HAS_PLAIN) != 0 ? 01777 : 07777;
	struct packed x, y;

	if ((want->has & DRAY_HAS_MODE) != 0 && ((want->mode ^ have->mode) & bits) != 0)
		return false;
	if ((want->has & DRAY_HAS_UID) != 0 && want->uid != have->uid)
		return false;
	if ((want->has & DRAY_HAS_GID) != 0 && want->gid != have->gid)
		return false;
	if ((want->has & DRAY_HAS_FLAGS) != 0 && ((want->fflags ^ have->fflags) & want->fflags_known) != 0)
		return false;
	if ((want->has & DRAY_HAS_MTIME) != 0 &&
	    (want->mtime_sec != have->mtime_sec || want->mtime_nsec != have->mtime_nsec))
		return false;
	if ((want->has & DRAY_HAS_XATTRS) == 0)
		return true;
	for (size_t at = 0; at < want->xattrs_len; ) {
		at += unpack(want->xattrs + at, &x);
		if (!find(have, x.name, x.name_len, &y) || y.len != x.len || memcmp(x.value, y.value, x.len) != 0)
			return false;
	}
	for (size_t at = 0; at < have->xattrs_len; ) {
		at += unpack(have->xattrs + at, &x);
		if (ours(want, &x) && !find(want, x.name, x.name_len, &y))
			return false;
	}
	return true;
}

/* of the live attributes those that setting @want would change: what undo has to put back */
int
inst_meta_pick(const struct inst_meta *live, const struct inst_meta *want, struct inst_meta *out, struct dray_err *e)
{
	struct packed x, y;

	*out = *live;
	out->has = want->has;
	out->xattrs = NULL;
	out->xattrs_len = 0;
	out->n_xattrs = 0;
	if ((want->has & DRAY_HAS_XATTRS) == 0)
		return 0;
	for (size_t at = 0; at < live->xattrs_len; ) {
		at += unpack(live->xattrs + at, &x);
		if (!ours(want, &x) && !find(want, x.name, x.name_len, &y))
			continue;
		if (pack(out, x.name, x.name_len, x.value, x.len, e) != 0) {
			inst_meta_free(out);
			return -1;
		}
	}
	return 0;
}

/* is the object what @s describes, in type and content? Attributes are another question. */
bool
inst_state_is(const struct dray_index *ix, const struct dray_state *s, const struct inst_item *it)
{
	const struct inst_rare *r = inst_rare(it);
	struct dray_content c;

	if (s->type != it->id.type)
		return false;
	switch (s->type) {
	case DRAY_FILE:
		dray_index_content(ix, s->content, &c);
		return dray_content_is(&c, it->id.size, inst_item_sum(ix, it));
	case DRAY_SYMLINK:
		return s->target_len == r->link_len && memcmp(s->target, r->link, r->link_len) == 0;
	case DRAY_CHARDEV:
	case DRAY_BLOCKDEV:
		return s->rdev_major == r->rdev_major && s->rdev_minor == r->rdev_minor;
	default:
		return true;
	}
}
