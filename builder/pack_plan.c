/*
 * pack_plan.c - contents in path order of first use: small ones share a frame of about 1 MiB, large ones are cut
 * into pieces of 4 MiB with a frame each.
 */
#include <stdlib.h>

#include "builder/pack.h"
#include "builder/pack_plan.h"
#include "dray/descriptor.h"

static void *
grow(void *v, size_t *cap, size_t item)
{
	size_t n = *cap == 0 ? 256 : *cap * 2;

	if (n > UINT32_MAX || n > SIZE_MAX / item || (v = realloc(v, n * item)) == NULL)
		return NULL;
	*cap = n;
	return v;
}

static int
new_frame(struct pack_plan *p, struct dray_err *e)
{
	if (p->n_frames == p->cap_frames) {
		struct pack_frame *v = grow(p->frames, &p->cap_frames, sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		p->frames = v;
	}
	p->frames[p->n_frames++] = (struct pack_frame){ .first = p->n_parts };
	return 0;
}

/* to the frame that was begun last */
static int
add_part(struct pack_plan *p, uint32_t content, uint64_t at, uint32_t len, struct dray_err *e)
{
	struct pack_frame *f = &p->frames[p->n_frames - 1];

	if (p->n_parts == p->cap_parts) {
		struct pack_part *v = grow(p->parts, &p->cap_parts, sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		p->parts = v;
	}
	p->parts[p->n_parts++] = (struct pack_part){ .content = content, .at = at, .len = len };
	f->n++;
	f->out += len;
	return 0;
}

int
build_pack_plan_make(const struct build_resolved *rs, struct pack_plan *p, struct dray_err *e)
{
	bool open = false;	/* may the last frame take more? */

	for (size_t i = 0; i < rs->n_contents; i++) {
		const struct build_content *c = &rs->contents[i];

		if (!c->wanted || c->size == 0)
			continue;
		if (open && p->frames[p->n_frames - 1].out + c->size > BUILD_GROUP_BYTES)
			open = false;
		for (uint64_t at = 0; at < c->size;) {
			uint64_t left = c->size - at;
			uint32_t len = left > DRAY_FRAME_DEFAULT ? DRAY_FRAME_DEFAULT : (uint32_t)left;

			if (!open && new_frame(p, e) != 0)
				return -1;
			if (add_part(p, (uint32_t)i, at, len, e) != 0)
				return -1;
			at += len;
			/* a frame is full at 1 MiB, and the pieces of a large content stay alone */
			open = c->size <= DRAY_FRAME_DEFAULT && p->frames[p->n_frames - 1].out < BUILD_GROUP_BYTES;
		}
	}
	return 0;
}

int
build_pack_plan_recipes(const struct build_resolved *rs, const struct pack_plan *p, struct dray_err *e)
{
	const struct dray_recipe empty = { .kind = DRAY_RECIPE_FULL };
	struct dray_piece *pieces = NULL;
	size_t cap = 0, frame = 0, part = 0;
	uint32_t offset = 0;
	int rc = -1;

	for (size_t i = 0; i < rs->n_contents; i++) {
		struct dray_recipe recipe = empty;
		const struct dray_piece *list;
		size_t n = 0;

		if (!rs->contents[i].wanted)
			continue;
		/* the parts of a content follow each other, and they come in the order of the contents */
		for (; part < p->n_parts && p->parts[part].content == i; part++) {
			if (part >= p->frames[frame].first + p->frames[frame].n) {
				frame++;
				offset = 0;
			}
			if (n == cap) {
				struct dray_piece *v = grow(pieces, &cap, sizeof(*v));

				if (v == NULL) {
					dray_fail(e, DRAY_E_IO, "out of memory");
					goto out;
				}
				pieces = v;
			}
			pieces[n++] = (struct dray_piece){ (uint32_t)frame, offset, p->parts[part].len };
			offset += p->parts[part].len;
		}
		recipe.piece_count = (uint32_t)n;
		list = pieces;
		if (dray_iw_recipes(rs->tables, (uint32_t)i, &recipe, 1, &list, e) != 0)
			goto out;
	}
	rc = 0;
out:
	free(pieces);
	return rc;
}

void
build_pack_plan_free(struct pack_plan *p)
{
	free(p->parts);
	free(p->frames);
}
