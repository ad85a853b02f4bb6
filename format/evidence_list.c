/*
 * evidence_list.c - the list of paths of one run, written and read. Each path shares its beginning with the one before.
 *
 *    0 8 "DRAYLIST"   8 4 version 1, or 2 where a row has a flag above 8   12 4 number of rows, then for each row
 *    1 change   1 flags   2 bytes shared with the path before   2 bytes that follow   these bytes   before   after
 * A side: 1 type; unless absent 1 has, then 4 mode, 4 uid, 4 gid as far as had; of files and symlinks 32 SHA-256.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/evidence.h"
#include "dray/index.h"
#include "dray/num.h"

#define HEADER 16u
#define FLAGS_2 (DRAY_EV_MERGED | DRAY_EV_OWN_ATTRS)
#define FLAGS (DRAY_EV_PARKED | DRAY_EV_EDIT | DRAY_EV_ATTRS | DRAY_EV_CONFIG)
#define HAS (DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID)

static const char magic[8] = { 'D', 'R', 'A', 'Y', 'L', 'I', 'S', 'T' };

static int
grow(struct dray_ev_writer *w, size_t more, struct dray_err *e)
{
	uint8_t *p;
	size_t cap = w->cap == 0 ? 4096 : w->cap;

	if (w->len + more > DRAY_EV_LIST_MAX)
		return dray_fail(e, DRAY_E_IO, "the list of paths is longer than %zu bytes", (size_t)DRAY_EV_LIST_MAX);
	while (cap < w->len + more)
		cap *= 2;
	if (cap == w->cap || w->dry)
		return 0;
	if ((p = realloc(w->p, cap)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	w->p = p;
	w->cap = cap;
	return 0;
}

int
dray_ev_reserve(struct dray_ev_writer *w, size_t len, struct dray_err *e)
{
	if (len > DRAY_EV_LIST_MAX || (w->p = malloc(len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "no memory for a list of %zu bytes", len);
	w->cap = len + 1;
	return 0;
}

static size_t
side_len(const struct dray_ev_side *s)
{
	if (s->type == DRAY_ABSENT)
		return 1;
	return 2 + ((s->has & DRAY_HAS_MODE) != 0 ? 4u : 0) + ((s->has & DRAY_HAS_UID) != 0 ? 4u : 0) +
	    ((s->has & DRAY_HAS_GID) != 0 ? 4u : 0) + (s->type == DRAY_FILE || s->type == DRAY_SYMLINK ? 32u : 0);
}

static uint8_t *
put_side(uint8_t *p, const struct dray_ev_side *s)
{
	*p++ = s->type;
	if (s->type == DRAY_ABSENT)
		return p;
	*p++ = s->has & HAS;
	if ((s->has & DRAY_HAS_MODE) != 0) {
		dray_put_u32(p, s->mode);
		p += 4;
	}
	if ((s->has & DRAY_HAS_UID) != 0) {
		dray_put_u32(p, s->uid);
		p += 4;
	}
	if ((s->has & DRAY_HAS_GID) != 0) {
		dray_put_u32(p, s->gid);
		p += 4;
	}
	if (s->type == DRAY_FILE || s->type == DRAY_SYMLINK) {
		memcpy(p, s->sha256, 32);
		p += 32;
	}
	return p;
}

int
dray_ev_add(struct dray_ev_writer *w, const struct dray_ev_row *row, struct dray_err *e)
{
	size_t shared = 0, rest, n;
	uint8_t *p;

	if (w->len == 0) {
		if (grow(w, HEADER, e) != 0)
			return -1;
		w->len = HEADER;
	}
	while (shared < w->last && shared < row->len && w->path[shared] == row->path[shared])
		shared++;
	rest = row->len - shared;
	if (row->len >= sizeof(w->path) || w->rows == UINT32_MAX)
		return dray_fail(e, DRAY_E_IO, "the list of paths has no room for such a path");
	n = 6 + rest + side_len(&row->before) + side_len(&row->after);
	if (grow(w, n, e) != 0)
		return -1;
	if (!w->dry) {
		p = w->p + w->len;
		p[0] = (uint8_t)row->change;
		p[1] = row->flags;
		dray_put_u16(p + 2, (uint16_t)shared);
		dray_put_u16(p + 4, (uint16_t)rest);
		memcpy(p + 6, row->path + shared, rest);
		put_side(put_side(p + 6 + rest, &row->before), &row->after);
	}
	if ((row->flags & FLAGS_2) != 0)
		w->version = 2;
	w->len += n;
	memcpy(w->path, row->path, row->len);
	w->last = row->len;
	w->rows++;
	return 0;
}

int
dray_ev_end(struct dray_ev_writer *w, struct dray_err *e)
{
	if (w->len == 0) {
		if (grow(w, HEADER, e) != 0)
			return -1;
		w->len = HEADER;
	}
	if (w->dry)
		return 0;
	memcpy(w->p, magic, sizeof(magic));
	dray_put_u32(w->p + 8, w->version == 2 ? 2 : 1);
	dray_put_u32(w->p + 12, w->rows);
	return 0;
}

void
dray_ev_free(struct dray_ev_writer *w)
{
	free(w->p);
	*w = (struct dray_ev_writer){ .p = NULL };
}

static int
damaged(const struct dray_ev_reader *r, struct dray_err *e)
{
	return dray_fail(e, DRAY_E_FORMAT, "the list of paths is damaged at byte %llu", (unsigned long long)r->c.at);
}

int
dray_ev_open(struct dray_ev_reader *r, const uint8_t *p, size_t len, struct dray_err *e)
{
	const uint8_t *m;

	*r = (struct dray_ev_reader){ .c = { .p = p, .left = len } };
	if (!dray_cursor_bytes(&r->c, sizeof(magic), &m) || memcmp(m, magic, sizeof(magic)) != 0 ||
	    !dray_cursor_u32(&r->c, &r->version) || !dray_cursor_u32(&r->c, &r->left))
		return dray_fail(e, DRAY_E_FORMAT, "not a list of paths");
	return r->version == 1 || r->version == 2 ? 0 :
	    dray_fail(e, DRAY_E_NEWER, "a list of paths of version %u", (unsigned)r->version);
}

static bool
get_side(struct dray_cursor *c, struct dray_ev_side *s)
{
	const uint8_t *h;

	*s = (struct dray_ev_side){ .type = DRAY_ABSENT };
	if (!dray_cursor_u8(c, &s->type))
		return false;
	if (s->type == DRAY_ABSENT)
		return true;
	if (!dray_cursor_u8(c, &s->has) || (s->has & ~HAS) != 0 ||
	    ((s->has & DRAY_HAS_MODE) != 0 && !dray_cursor_u32(c, &s->mode)) ||
	    ((s->has & DRAY_HAS_UID) != 0 && !dray_cursor_u32(c, &s->uid)) ||
	    ((s->has & DRAY_HAS_GID) != 0 && !dray_cursor_u32(c, &s->gid)))
		return false;
	if (s->type != DRAY_FILE && s->type != DRAY_SYMLINK)
		return true;
	if (!dray_cursor_bytes(c, 32, &h))
		return false;
	memcpy(s->sha256, h, 32);
	return true;
}

int
dray_ev_next(struct dray_ev_reader *r, struct dray_ev_row *row, struct dray_err *e)
{
	uint16_t shared, rest;
	const uint8_t *tail;
	uint8_t change;
	size_t was = r->len;
	bool after;

	if (r->left == 0)	/* a list has one form: version 2 only where it is needed */
		return r->c.left == 0 && r->needs_2 == (r->version == 2) ? 0 : damaged(r, e);
	if (!dray_cursor_u8(&r->c, &change) || change == 0 || strchr(DRAY_EV_CHANGES, change) == NULL ||
	    !dray_cursor_u8(&r->c, &row->flags) || (row->flags & ~(r->version == 2 ? FLAGS | FLAGS_2 : FLAGS)) != 0 || !dray_cursor_u16(&r->c, &shared) ||
	    !dray_cursor_u16(&r->c, &rest) || shared > was || (size_t)shared + rest >= sizeof(r->path) ||
	    !dray_cursor_bytes(&r->c, rest, &tail))
		return damaged(r, e);
	/* ascending: the first byte that differs comes later in release order, or the path before is a beginning of this */
	after = was == 0 || (rest > 0 && (shared == was ||
	    dray_path_cmp((const char *)tail, 1, r->path + shared, 1) > 0));
	memcpy(r->path + shared, tail, rest);
	r->len = (size_t)shared + rest;
	if (!after || !dray_path_ok(r->path, r->len, NULL) || !get_side(&r->c, &row->before) || !get_side(&r->c, &row->after))
		return damaged(r, e);
	r->needs_2 = r->needs_2 || (row->flags & FLAGS_2) != 0;
	row->change = (char)change;
	row->path = r->path;
	row->len = r->len;
	r->left--;
	return 1;
}
