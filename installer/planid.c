/*
 * planid.c - one number for all that apply would do here, so that what was looked at is what is done. It holds what
 * decides the result and nothing of the machine: no inode, time, room, root path or number of threads.
 * Source: spec/apply.md, "Plan id".
 */
#include <string.h>

#include "dray/attrs.h"
#include "dray/num.h"

#include "installer/fields.h"
#include "installer/planning.h"

/* owner, mode and those extended attributes that belong to the release; labels are the machine's */
static void
put_meta(struct inst_fields *l, const struct inst_meta *m, bool plain)
{
	uint16_t has = m->has & (plain ? DRAY_HAS_MODE | DRAY_HAS_XATTRS :
	    DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_XATTRS);

	inst_field_u32(l, has);
	inst_field_u32(l, (has & DRAY_HAS_MODE) != 0 ? m->mode & (plain ? 01777 : 07777) : 0);
	inst_field_u32(l, (has & DRAY_HAS_UID) != 0 ? m->uid : 0);
	inst_field_u32(l, (has & DRAY_HAS_GID) != 0 ? m->gid : 0);
	for (size_t at = 0; at < m->xattrs_len; ) {
		size_t name = dray_get_u16(m->xattrs + at), value = dray_get_u32(m->xattrs + at + 2);

		const char *x = (const char *)m->xattrs + at + 6;

		if (dray_xattr_managed(x, name) && !(plain && dray_xattr_privileged(x, name))) {
			inst_field(l, m->xattrs + at + 6, name);
			inst_field(l, m->xattrs + at + 6 + name, value);
		}
		at += 6 + name + value;
	}
	inst_field(l, "", 0);
}

static void
put_old(const struct inst_planning *pl, struct inst_fields *l, const struct inst_item *it, bool plain)
{
	const struct inst_rare *r = inst_rare(it);
	struct inst_meta m = inst_item_meta(it);
	uint8_t known;

	inst_field_u32(l, it->id.type);
	if (it->id.type == DRAY_ABSENT)
		return;
	switch (it->id.type) {
	case DRAY_FILE:
		inst_field(l, inst_item_sum(pl->ix, it), 32);
		break;
	case DRAY_SYMLINK:
		inst_field(l, r->link, r->link_len);
		break;
	case DRAY_CHARDEV:
	case DRAY_BLOCKDEV:
		inst_field_u32(l, r->rdev_major);
		inst_field_u32(l, r->rdev_minor);
		break;
	default:
		break;
	}
	put_meta(l, &m, plain);
	if (inst_fflags_after(pl, it, &known), known != 0) {
		inst_field_text(l, "flags");
		inst_field_u32(l, m.fflags & known);
	}
}

static void
put_new(const struct inst_planning *pl, struct inst_fields *l, const struct inst_item *it)
{
	struct dray_content c;
	struct dray_state s;

	if (!inst_item_target(pl, it, &s)) {
		inst_field_u32(l, DRAY_ABSENT);
		return;
	}
	inst_field_u32(l, s.type);
	if (it->merged) {
		inst_field_text(l, "merged");
		inst_field(l, inst_merge_of(pl->plan, it)->sha256, 32);
	} else if (s.type == DRAY_FILE) {
		dray_index_content(pl->ix, s.content, &c);
		inst_field(l, c.sha256, 32);
	} else if (s.type == DRAY_SYMLINK) {
		inst_field(l, s.target, s.target_len);
	}
}

static void
put_policy(struct inst_fields *l, const struct inst_policy *p, const struct dray_desc *d)
{
	inst_field_text(l, p->repair != NULL ? "policy=repair" : p->strict ? "policy=strict" : "policy=preserve");
	if (p->park)
		inst_field_text(l, "park");
	if (p->no_owner)
		inst_field_text(l, "no-owner");
	if (p->no_sync)
		inst_field_text(l, "no-sync");
	for (size_t i = 0; i < d->n_components; i++)
		if ((p->absent >> i & 1) != 0) {
			inst_field_text(l, "without");
			inst_field_text(l, d->components[i]);
		}
	for (size_t i = 0; i < p->rules.n - p->n_bundle; i++) {	/* those of the bundle are in its id */
		inst_field_text(l, "rule");
		inst_field(l, p->rules.v[i].pattern, p->rules.v[i].len);
		inst_field_u32(l, (uint32_t)p->rules.v[i].action);
		inst_field_u32(l, p->rules.v[i].when);
		if (p->rules.v[i].keep_metadata)
			inst_field_text(l, "keep-metadata");
		if (p->rules.v[i].action == DRAY_ACT_USE)
			inst_field(l, p->rules.v[i].sha256, sizeof(p->rules.v[i].sha256));
		if (p->rules.v[i].bound)
			inst_field(l, p->rules.v[i].release, sizeof(p->rules.v[i].release));
		if (p->rules.v[i].validate != NULL)
			inst_field(l, p->rules.v[i].validate, p->rules.v[i].validate_len);
	}
	for (size_t i = 0; i < p->n_links; i++) {
		inst_field_text(l, "symlink");
		inst_field(l, p->links[i].path, p->links[i].len);
		inst_field_u32(l, (uint32_t)p->links[i].how);
	}
}

int
inst_policy_id(const struct inst_policy *p, const struct dray_desc *d, uint8_t id[32], struct dray_err *e)
{
	struct inst_fields l;

	inst_fields_begin(&l, e);
	put_policy(&l, p, d);
	return inst_fields_end(&l, id);
}

int
inst_plan_id(struct inst_planning *pl, struct dray_err *e)
{
	struct inst_plan *p = pl->plan;
	struct inst_fields l;
	struct dray_entry en;

	if (inst_policy_id(pl->policy, pl->desc, p->policy_id, e) != 0)
		return -1;
	if (p->partial)
		return 0;
	inst_fields_begin(&l, e);
	inst_field_text(&l, "dray-plan-v1");
	inst_field(&l, dray_bundle_id(pl->b), 32);
	put_policy(&l, pl->policy, pl->desc);
	for (size_t i = 0; i < pl->n; i++) {
		const struct inst_item *it = &pl->items[i];

		if (it->untouched && (it->decision == INST_D_SAME || it->decision == INST_D_KEEP))
			continue;
		dray_index_entry(pl->ix, it->row, &en);
		inst_field(&l, en.path, en.len);
		put_old(pl, &l, it, pl->policy->no_owner);
		/* the time of a directory moves whenever anything is made in it: no decision hangs on it */
		inst_field_u32(&l, it->times_only ? INST_D_SAME : it->decision);
		inst_field_u32(&l, it->park ? 1 : 0);
		put_new(pl, &l, it);
		if (it->own_attrs)
			inst_field_text(&l, "own-attributes");
	}
	for (size_t i = 0; i < p->n_outputs; i++) {
		inst_field_text(&l, "output");
		inst_field(&l, p->outputs[i].p, p->outputs[i].len);
	}
	inst_field_text(&l, "notes");
	for (size_t i = 0; i < p->n_notes; i++) {
		inst_field_u32(&l, p->notes[i].kind);
		inst_field(&l, p->notes[i].path, p->notes[i].len);
	}
	return inst_fields_end(&l, p->id);
}
