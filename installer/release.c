/*
 * release.c - one number for all that a release consists of: two releases of a product must not share a counter, and by
 * this they are told apart.
 */
#include "dray/index.h"
#include "dray/num.h"

#include "installer/fields.h"
#include "installer/release.h"

static void
put_attrs(const struct dray_index *ix, struct inst_fields *f, uint32_t row)
{
	struct dray_xattr x;
	struct dray_attrs a;

	dray_index_attrs(ix, row, &a);
	inst_field_u32(f, a.has);
	inst_field_u32(f, a.mode);
	inst_field_u32(f, a.uid);
	inst_field_u32(f, a.gid);
	inst_field_u32(f, a.flags);
	for (uint32_t i = 0; i < a.xattr_count; i++) {
		dray_index_xattr(ix, a.xattr_first + i, &x);
		inst_field(f, x.name, x.name_len);
		inst_field(f, x.value, x.len);
	}
	inst_field(f, "", 0);
}

static void
put_state(const struct dray_index *ix, struct inst_fields *f, const struct dray_state *s)
{
	struct dray_content c;
	struct dray_entry first;
	uint8_t time[8];

	inst_field_u32(f, s->type);
	switch (s->type) {
	case DRAY_FILE:
		dray_index_content(ix, s->content, &c);
		inst_field(f, c.sha256, 32);
		break;
	case DRAY_SYMLINK:
		inst_field(f, s->target, s->target_len);
		break;
	case DRAY_CHARDEV:
	case DRAY_BLOCKDEV:
		inst_field_u32(f, s->rdev_major);
		inst_field_u32(f, s->rdev_minor);
		break;
	default:
		break;
	}
	put_attrs(ix, f, s->attrs);
	inst_field_u32(f, s->has_mtime);
	dray_put_u64(time, (uint64_t)s->mtime_sec);
	inst_field(f, time, sizeof(time));
	inst_field_u32(f, s->mtime_nsec);
	/* a group by the name of its first member: rows differ from bundle to bundle */
	if (s->link != 0) {
		dray_index_entry(ix, s->link - 1, &first);
		inst_field(f, first.path, first.len);
	} else {
		inst_field(f, "", 0);
	}
}

int
inst_release_digest(const struct dray_index *ix, uint8_t out[32], struct dray_err *e)
{
	uint32_t rows = dray_index_rows(ix, DRAY_T_ENTRIES);
	struct inst_fields f;
	struct dray_entry en;
	struct dray_state s;

	inst_fields_begin(&f, e);
	inst_field_text(&f, "dray-release-v1");
	for (uint32_t i = 0; i < rows; i++) {
		dray_index_entry(ix, i, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &s);
		inst_field(&f, en.path, en.len);
		put_state(ix, &f, &s);
	}
	return inst_fields_end(&f, out);
}
