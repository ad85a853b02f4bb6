/*
 * planid.c - one number for all that apply would do here, so that what was looked at is what is done. It holds what
 * decides the result and nothing of the machine: no inode, time, room, root path or number of threads.
 * Source: spec/apply.md, "Plan id".
 */
#include <string.h>

#include "dray/attrs.h"
#include "dray/digest.h"
#include "dray/num.h"

#include "installer/planning.h"

struct line { struct dray_sha256 *h; struct dray_err *e; bool bad; };

/* one field: 4 bytes length, little-endian, then the bytes; nothing can be read as something else */
static void
put(struct line *l, const void *p, size_t len)
{
	uint8_t n[4];

	if (l->bad)
		return;
	dray_put_u32(n, (uint32_t)len);
	l->bad = dray_sha256_add(l->h, n, sizeof(n), l->e) != 0 || (len > 0 && dray_sha256_add(l->h, p, len, l->e) != 0);
}

static void
put_u32(struct line *l, uint32_t v)
{
	uint8_t n[4];

	dray_put_u32(n, v);
	put(l, n, sizeof(n));
}

/* owner, mode and those extended attributes that belong to the release; labels are the machine's */
static void
put_meta(struct line *l, const struct inst_meta *m)
{
	put_u32(l, m->has & (DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_XATTRS));
	put_u32(l, (m->has & DRAY_HAS_MODE) != 0 ? m->mode : 0);
	put_u32(l, (m->has & DRAY_HAS_UID) != 0 ? m->uid : 0);
	put_u32(l, (m->has & DRAY_HAS_GID) != 0 ? m->gid : 0);
	for (size_t at = 0; at < m->xattrs_len; ) {
		size_t name = dray_get_u16(m->xattrs + at), value = dray_get_u32(m->xattrs + at + 2);

		if (dray_xattr_managed((const char *)m->xattrs + at + 6, name)) {
			put(l, m->xattrs + at + 6, name);
			put(l, m->xattrs + at + 6 + name, value);
		}
		at += 6 + name + value;
	}
	put(l, "", 0);
}

static void
put_old(struct line *l, const struct inst_item *it)
{
	put_u32(l, it->id.type);
	if (it->id.type == DRAY_ABSENT)
		return;
	switch (it->id.type) {
	case DRAY_FILE:
		put(l, it->sha256, sizeof(it->sha256));
		break;
	case DRAY_SYMLINK:
		put(l, it->link, it->link_len);
		break;
	case DRAY_CHARDEV:
	case DRAY_BLOCKDEV:
		put_u32(l, it->rdev_major);
		put_u32(l, it->rdev_minor);
		break;
	default:
		break;
	}
	put_meta(l, &it->meta);
}

static void
put_new(const struct inst_planning *pl, struct line *l, const struct inst_item *it)
{
	struct dray_content c;
	struct dray_state s;

	if (!inst_item_target(pl, it, &s)) {
		put_u32(l, DRAY_ABSENT);
		return;
	}
	put_u32(l, s.type);
	if (s.type == DRAY_FILE) {
		dray_index_content(pl->ix, s.content, &c);
		put(l, c.sha256, 32);
	} else if (s.type == DRAY_SYMLINK) {
		put(l, s.target, s.target_len);
	}
}

static void
put_text(struct line *l, const char *s)
{
	put(l, s, strlen(s));
}

static void
put_policy(struct line *l, const struct inst_policy *p)
{
	put_text(l, p->strict ? "policy=strict" : "policy=preserve");
	if (p->park)
		put_text(l, "park");
	if (p->no_sync)
		put_text(l, "no-sync");
	for (size_t i = 0; i < p->n_links; i++) {
		put_text(l, "symlink");
		put(l, p->links[i].path, p->links[i].len);
		put_u32(l, (uint32_t)p->links[i].how);
	}
}

int
inst_plan_id(struct inst_planning *pl, struct dray_err *e)
{
	static const char magic[] = "dray-plan-v1";
	struct inst_plan *p = pl->plan;
	struct line l = { .e = e };
	struct dray_entry en;
	int rc = -1;

	if (p->partial)
		return 0;
	if (dray_sha256_new(&l.h, e) != 0 || dray_sha256_begin(l.h, e) != 0)
		goto out;
	put(&l, magic, sizeof(magic) - 1);
	put(&l, dray_bundle_id(pl->b), 32);
	put_policy(&l, pl->policy);
	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];

		if (it->untouched && (it->decision == INST_D_SAME || it->decision == INST_D_KEEP))
			continue;
		dray_index_entry(pl->ix, it->row, &en);
		put(&l, en.path, en.len);
		put_old(&l, it);
		/* the time of a directory moves whenever anything is made in it: no decision hangs on it */
		put_u32(&l, it->times_only ? INST_D_SAME : it->decision);
		put_u32(&l, it->park ? 1 : 0);
		put_new(pl, &l, it);
	}
	put_text(&l, "notes");
	for (size_t i = 0; i < p->n_notes; i++) {
		put_u32(&l, p->notes[i].kind);
		put(&l, p->notes[i].path, p->notes[i].len);
	}
	if (l.bad)
		goto out;
	rc = dray_sha256_end(l.h, p->id, e);
out:
	dray_sha256_free(l.h);
	return rc;
}
