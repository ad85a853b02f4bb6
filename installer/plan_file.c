/*
 * plan_file.c - the plan on disk: every op with old and new identity. Source: spec/apply.md, "Plan file".
 *
 * Little-endian: magic "DRAYPLAN", u32 version 1, u32 ops, u32 swaps, u32 file systems beside the root's own and, unless
 * that is 0, the SHA-256 of the list of them; two releases (from, to), then the ops.
 * release: u8 bits (1 known, 2 without owners), u8 length and product, u8 length and version, u64 counter, 32 bundle id, 32 digest of the release,
 *     u8 components, for each u8 present, u8 length and name
 * op: u8 kind, u8 rank, u8 flags, u8 file system, u8 step, u16 times, u32 slot, u32 entry, u16 length and path, two idents (old, now);
 *     LOCKED: two u8 (before, after); SUBTREE: two 32-byte tree digests (old, new); META: u64 links, two attribute sets
 *     (before, after)
 * ident: u8 type, u64 inode, u64 btime, u32 ns, u64 mtime, u32 ns, u64 size
 * at the end: u32 count, then for each local object inside a directory that is moved as a whole: u16 length and path
 * then the phases: u8 count, for each u8 length and name; 32 plan id; 32 id of what was decided beforehand
 * then the outputs of triggers that come back with it, as the local objects above
 * attributes: u16 has, u32 mode, uid, gid, u64 mtime, u32 ns, u32 xattrs, u32 length and xattr bytes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dray/cursor.h"
#include "dray/num.h"
#include "dray/path.h"

#include "installer/journal.h"

static const char magic[8] = "DRAYPLAN";

enum { VERSION = 1, IDENT_BYTES = 41 };

struct out {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

static uint8_t *
room(struct out *o, size_t n)
{
	uint8_t *grown;
	size_t cap;

	if (o->failed)
		return NULL;
	if (n > o->cap - o->len) {
		cap = o->cap == 0 ? 65536 : o->cap;
		while (cap - o->len < n) {
			if (cap > SIZE_MAX / 2) {
				o->failed = true;
				return NULL;
			}
			cap *= 2;
		}
		if ((grown = realloc(o->p, cap)) == NULL) {
			o->failed = true;
			return NULL;
		}
		o->p = grown;
		o->cap = cap;
	}
	o->len += n;
	return o->p + o->len - n;
}

static void
put_bytes(struct out *o, const void *p, size_t n)
{
	uint8_t *at = n > 0 ? room(o, n) : NULL;

	if (at != NULL)
		memcpy(at, p, n);
}

static void
put8(struct out *o, uint8_t v)
{
	put_bytes(o, &v, 1);
}

static void
put16(struct out *o, uint16_t v)
{
	uint8_t b[2];

	dray_put_u16(b, v);
	put_bytes(o, b, sizeof(b));
}

static void
put32(struct out *o, uint32_t v)
{
	uint8_t b[4];

	dray_put_u32(b, v);
	put_bytes(o, b, sizeof(b));
}

static void
put64(struct out *o, uint64_t v)
{
	uint8_t b[8];

	dray_put_u64(b, v);
	put_bytes(o, b, sizeof(b));
}

static void
put_text(struct out *o, const char *s)
{
	size_t n = strlen(s);

	put8(o, (uint8_t)n);
	put_bytes(o, s, n);
}

static void
put_release(struct out *o, const struct inst_installed *r)
{
	put8(o, (uint8_t)((r->known ? 1 : 0) | (r->no_owner ? 2 : 0)));
	put_text(o, r->known ? r->product : "");
	put_text(o, r->known ? r->version : "");
	put64(o, r->counter);
	put_bytes(o, r->id, sizeof(r->id));
	put_bytes(o, r->release, sizeof(r->release));
	put8(o, (uint8_t)r->n_components);
	for (size_t i = 0; i < r->n_components; i++) {
		put8(o, r->components[i].present);
		put_text(o, r->components[i].name);
	}
}

static void
put_ident(struct out *o, const struct inst_ident *id)
{
	put8(o, id->type);
	put64(o, id->ino);
	put64(o, (uint64_t)id->btime_sec);
	put32(o, id->btime_nsec);
	put64(o, (uint64_t)id->mtime_sec);
	put32(o, id->mtime_nsec);
	put64(o, id->size);
}

static void
put_meta(struct out *o, const struct inst_meta *m)
{
	put16(o, m->has);
	put32(o, m->mode);
	put32(o, m->uid);
	put32(o, m->gid);
	put64(o, (uint64_t)m->mtime_sec);
	put32(o, m->mtime_nsec);
	put32(o, m->n_xattrs);
	put32(o, m->xattrs_len);
	put_bytes(o, m->xattrs, m->xattrs_len);
}

int
inst_plan_encode(const struct inst_plan *p, const struct inst_tx *tx, const struct inst_installed *from,
    const struct inst_installed *to, uint8_t **bytes, size_t *len, struct dray_err *e)
{
	struct out o = { 0 };
	size_t i;

	if (p->n_ops >= UINT32_MAX)
		return dray_fail(e, DRAY_E_IO, "too many operations");
	put_bytes(&o, magic, sizeof(magic));
	put32(&o, VERSION);
	put32(&o, (uint32_t)p->n_ops);
	put32(&o, (uint32_t)p->n_swaps);
	put32(&o, (uint32_t)(tx->n_slots - 1));
	if (tx->n_slots > 1)
		put_bytes(&o, tx->slots_sha256, sizeof(tx->slots_sha256));
	put_release(&o, from);
	put_release(&o, to);
	for (i = 0; i < p->n_ops; i++) {
		const struct inst_op *op = &p->ops[i];

		put8(&o, op->kind);
		put8(&o, op->rank);
		put8(&o, op->flags);
		put8(&o, op->site);
		put8(&o, op->step);
		put16(&o, op->times);
		put32(&o, op->slot);
		put32(&o, op->entry);
		put16(&o, (uint16_t)op->len);
		put_bytes(&o, op->path, op->len);
		put_ident(&o, &op->old);
		put_ident(&o, &op->now);
		if (op->flags & INST_OP_FFLAGS) {
			put8(&o, op->fflags_before);
			put8(&o, op->fflags_after);
		}
		if (op->flags & INST_OP_SUBTREE) {
			put_bytes(&o, op->trees->old, 32);
			put_bytes(&o, op->trees->now, 32);
		}
		if (op->kind == INST_OP_META) {
			put64(&o, op->attrs->nlink);
			put_meta(&o, &op->attrs->before);
			put_meta(&o, &op->attrs->after);
		}
	}
	put32(&o, (uint32_t)p->n_along);
	for (i = 0; i < p->n_along; i++) {
		size_t n = strlen(p->along[i]);

		put16(&o, (uint16_t)n);
		put_bytes(&o, p->along[i], n);
	}
	put8(&o, (uint8_t)(p->desc == NULL ? 0 : p->desc->n_phases));
	for (i = 0; p->desc != NULL && i < p->desc->n_phases; i++)
		put_text(&o, p->desc->phases[i]);
	put_bytes(&o, p->id, sizeof(p->id));
	put_bytes(&o, p->policy_id, sizeof(p->policy_id));
	put32(&o, (uint32_t)p->n_outputs);
	for (i = 0; i < p->n_outputs; i++) {
		put16(&o, (uint16_t)p->outputs[i].len);
		put_bytes(&o, p->outputs[i].p, p->outputs[i].len);
	}
	if (o.failed) {
		free(o.p);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*bytes = o.p;
	*len = o.len;
	return 0;
}

static bool
get_text(struct dray_cursor *c, char out[65])
{
	const uint8_t *p;
	uint8_t n;

	if (!dray_cursor_u8(c, &n) || n > 64 || !dray_cursor_bytes(c, n, &p))
		return false;
	memcpy(out, p, n);
	out[n] = '\0';
	return true;
}

static bool
get_release(struct dray_cursor *c, struct inst_installed *r)
{
	const uint8_t *id, *release;
	uint8_t bits, n;

	if (!dray_cursor_u8(c, &bits) || bits > 3 || !get_text(c, r->product) || !get_text(c, r->version) ||
	    !dray_cursor_u64(c, &r->counter) || !dray_cursor_bytes(c, 32, &id) || !dray_cursor_bytes(c, 32, &release))
		return false;
	r->known = (bits & 1) != 0;
	r->no_owner = (bits & 2) != 0;
	memcpy(r->id, id, 32);
	memcpy(r->release, release, 32);
	if (!dray_cursor_u8(c, &n) || n > DRAY_MAX_COMPONENTS)
		return false;
	for (; r->n_components < n; r->n_components++) {
		if (!dray_cursor_u8(c, &bits) || bits > 1 || !get_text(c, r->components[r->n_components].name))
			return false;
		r->components[r->n_components].present = bits == 1;
	}
	return true;
}

static bool
get_ident(struct dray_cursor *c, struct inst_ident *id)
{
	uint64_t btime, mtime;

	if (!dray_cursor_u8(c, &id->type) || !dray_cursor_u64(c, &id->ino) || !dray_cursor_u64(c, &btime) ||
	    !dray_cursor_u32(c, &id->btime_nsec) || !dray_cursor_u64(c, &mtime) ||
	    !dray_cursor_u32(c, &id->mtime_nsec) || !dray_cursor_u64(c, &id->size))
		return false;
	id->btime_sec = (int64_t)btime;
	id->mtime_sec = (int64_t)mtime;
	return true;
}

static bool
get_meta(struct dray_cursor *c, struct inst_meta *m)
{
	const uint8_t *x;
	uint64_t mtime;
	uint32_t len;

	if (!dray_cursor_u16(c, &m->has) || !dray_cursor_u32(c, &m->mode) || !dray_cursor_u32(c, &m->uid) ||
	    !dray_cursor_u32(c, &m->gid) || !dray_cursor_u64(c, &mtime) || !dray_cursor_u32(c, &m->mtime_nsec) ||
	    !dray_cursor_u32(c, &m->n_xattrs) || !dray_cursor_u32(c, &len) || !dray_cursor_bytes(c, len, &x))
		return false;
	m->mtime_sec = (int64_t)mtime;
	if (len > 0) {
		if ((m->xattrs = malloc(len)) == NULL)
			return false;
		memcpy(m->xattrs, x, len);
		m->xattrs_len = len;
	}
	return true;
}

static bool
get_op(struct dray_cursor *c, size_t sites, struct inst_op *op)
{
	const uint8_t *path, *tree;
	uint16_t len;

	if (!dray_cursor_u8(c, &op->kind) || !dray_cursor_u8(c, &op->rank) || !dray_cursor_u8(c, &op->flags) ||
	    !dray_cursor_u8(c, &op->site) || op->site >= sites ||
	    !dray_cursor_u8(c, &op->step) || op->step == 0 || op->step > DRAY_MAX_PHASES ||
	    !dray_cursor_u16(c, &op->times) || !dray_cursor_u32(c, &op->slot) ||
	    !dray_cursor_u32(c, &op->entry) || !dray_cursor_u16(c, &len) || !dray_cursor_bytes(c, len, &path) ||
	    !get_ident(c, &op->old) || !get_ident(c, &op->now))
		return false;
	op->path = (const char *)path;
	op->len = len;
	if (op->kind != INST_OP_SWAP && op->kind != INST_OP_META)
		return false;
	/* only the root directory's times have an empty path */
	if (!(len == 0 && op->kind == INST_OP_META) && !dray_path_ok(op->path, op->len, NULL))
		return false;
	if ((op->flags & INST_OP_FFLAGS) &&
	    (!dray_cursor_u8(c, &op->fflags_before) || !dray_cursor_u8(c, &op->fflags_after)))
		return false;
	if (op->kind == INST_OP_META)
		return (op->flags & INST_OP_SUBTREE) == 0 && (op->attrs = calloc(1, sizeof(*op->attrs))) != NULL &&
		    dray_cursor_u64(c, &op->attrs->nlink) && get_meta(c, &op->attrs->before) && get_meta(c, &op->attrs->after);
	if ((op->flags & INST_OP_SUBTREE) == 0)
		return true;
	if (!dray_cursor_bytes(c, 64, &tree) || (op->trees = malloc(sizeof(*op->trees))) == NULL)
		return false;
	memcpy(op->trees->old, tree, 32);
	memcpy(op->trees->now, tree + 32, 32);
	return true;
}

static int
get_paths(struct dray_cursor *c, struct inst_text **v, size_t *count, struct dray_err *e)
{
	const uint8_t *path;
	uint32_t n;
	uint16_t len;

	if (!dray_cursor_u32(c, &n) || n > c->left / 3)
		return dray_fail(e, DRAY_E_IO, "the plan is damaged at byte %ju", (uintmax_t)c->at);
	if ((*v = calloc((size_t)n + 1, sizeof(**v))) == NULL)
		return dray_fail_errno(e, "plan");
	for (; *count < n; (*count)++) {
		if (!dray_cursor_u16(c, &len) || !dray_cursor_bytes(c, len, &path) ||
		    !dray_path_ok((const char *)path, len, NULL))
			return dray_fail(e, DRAY_E_IO, "the plan is damaged at byte %ju", (uintmax_t)c->at);
		(*v)[*count] = (struct inst_text){ (const char *)path, len };
	}
	return 0;
}

static int
get_phases(struct dray_cursor *c, struct inst_tx *tx, struct dray_err *e)
{
	const uint8_t *id;
	uint8_t n;

	if (!dray_cursor_u8(c, &n) || n > DRAY_MAX_PHASES)
		return dray_fail(e, DRAY_E_IO, "the plan is damaged at byte %ju", (uintmax_t)c->at);
	if ((tx->phases = calloc((size_t)n + 1, sizeof(*tx->phases))) == NULL)
		return dray_fail_errno(e, "plan");
	for (; tx->n_phases < n; tx->n_phases++)
		if (!get_text(c, tx->phases[tx->n_phases]))
			return dray_fail(e, DRAY_E_IO, "the plan is damaged at byte %ju", (uintmax_t)c->at);
	if (!dray_cursor_bytes(c, 64, &id))
		return dray_fail(e, DRAY_E_IO, "the plan is damaged at byte %ju", (uintmax_t)c->at);
	memcpy(tx->plan_id, id, sizeof(tx->plan_id));
	memcpy(tx->policy_id, id + 32, sizeof(tx->policy_id));
	return 0;
}

/* the list of file systems is a file of its own; the plan says which one it was made with */
static bool
get_sites(struct dray_cursor *c, const struct inst_tx *tx, uint32_t *sites)
{
	const uint8_t *sum;

	if (!dray_cursor_u32(c, sites) || *sites != tx->n_slots - 1)
		return false;
	return *sites == 0 || (dray_cursor_bytes(c, 32, &sum) && memcmp(sum, tx->slots_sha256, 32) == 0);
}

int
inst_plan_decode(struct inst_tx *tx, size_t len, struct dray_err *e)
{
	struct dray_cursor c = { .p = tx->arena, .left = len };
	const uint8_t *m;
	uint32_t version, ops, swaps, sites, i;

	if (!dray_cursor_bytes(&c, sizeof(magic), &m) || memcmp(m, magic, sizeof(magic)) != 0 ||
	    !dray_cursor_u32(&c, &version))
		return dray_fail(e, DRAY_E_IO, "the plan is damaged at byte 0");
	if (version != VERSION)
		return dray_fail(e, DRAY_E_NEWER, "the plan was written by a newer dray-install");
	if (!dray_cursor_u32(&c, &ops) || !dray_cursor_u32(&c, &swaps) || swaps > ops || !get_sites(&c, tx, &sites) ||
	    !get_release(&c, &tx->from) || !get_release(&c, &tx->to) || ops > c.left / (17 + 2 * IDENT_BYTES))
		return dray_fail(e, DRAY_E_IO, "the plan is damaged at byte %ju", (uintmax_t)c.at);
	if ((tx->ops = calloc(ops == 0 ? 1 : ops, sizeof(*tx->ops))) == NULL)
		return dray_fail_errno(e, "plan");
	tx->n_ops = ops;
	tx->n_swaps = swaps;
	for (i = 0, errno = 0; i < ops; i++)
		if (!get_op(&c, (size_t)sites + 1, &tx->ops[i]))
			return errno == ENOMEM ? dray_fail_errno(e, "plan") : dray_fail(e, DRAY_E_IO, "the plan is damaged at byte %ju, operation %u", (uintmax_t)c.at,
			    (unsigned)i);
	for (i = 0; i < ops; i++)
		if (tx->ops[i].step > tx->last)
			tx->last = tx->ops[i].step;
	if (get_paths(&c, &tx->along, &tx->n_along, e) != 0 || get_phases(&c, tx, e) != 0 ||
	    get_paths(&c, &tx->outputs, &tx->n_outputs, e) != 0)
		return -1;
	if (c.left != 0)
		return dray_fail(e, DRAY_E_IO, "the plan has %zu bytes too many", c.left);
	return 0;
}
