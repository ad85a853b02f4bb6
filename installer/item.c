/*
 * item.c - what is kept of one path while a plan is made. Most are files whose content the index knows and that have
 * no extended attributes; what others have hangs on a pointer.
 */
#include <stdlib.h>
#include <string.h>

#include "installer/planning.h"

void
inst_item_init(struct inst_item *it, uint32_t row, bool untouched)
{
	*it = (struct inst_item){ .row = row, .up = DRAY_NONE, .top = DRAY_NONE, .content = DRAY_NONE, .made = DRAY_NONE,
		.untouched = untouched };
}

void
inst_item_free(struct inst_item *it)
{
	struct inst_rare *r = it->rare;

	if (r == NULL)
		return;
	free(r->link);
	free(r->xattrs);
	free(r->foreign);
	free(r->broke);
	inst_park_free(r->locals, r->n_locals);
	free(r);
	it->rare = NULL;
}

const struct inst_rare *
inst_rare(const struct inst_item *it)
{
	static const struct inst_rare none;

	return it->rare != NULL ? it->rare : &none;
}

struct inst_rare *
inst_rare_new(struct inst_item *it, struct dray_err *e)
{
	if (it->rare == NULL && (it->rare = calloc(1, sizeof(*it->rare))) == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	return it->rare;
}

const uint8_t *
inst_item_sum(const struct dray_index *ix, const struct inst_item *it)
{
	struct dray_content c;

	if (it->content == DRAY_NONE)
		return inst_rare(it)->sha256;
	dray_index_content(ix, it->content, &c);
	return c.sha256;
}

int
inst_item_set_sum(const struct dray_index *ix, const struct dray_entry *en, struct inst_item *it, const uint8_t sum[32],
    struct dray_err *e)
{
	struct inst_rare *r;
	struct dray_content c;
	struct dray_state s;
	struct dray_alt alt;

	for (uint32_t k = 0; k <= en->alt_count; k++) {
		uint32_t row = en->target;

		if (k < en->alt_count) {
			dray_index_alt(ix, en->alt_first + k, &alt);
			row = alt.state;
		}
		if (row == DRAY_NONE)
			continue;
		dray_index_state(ix, row, &s);
		if (s.type != DRAY_FILE)
			continue;
		dray_index_content(ix, s.content, &c);
		if (dray_content_is(&c, it->id.size, sum)) {
			it->content = s.content;
			return 0;
		}
	}
	if ((r = inst_rare_new(it, e)) == NULL)
		return -1;
	memcpy(r->sha256, sum, 32);
	return 0;
}

struct inst_meta
inst_item_meta(const struct inst_item *it)
{
	const struct inst_rare *r = inst_rare(it);

	return (struct inst_meta){ .mtime_sec = it->id.mtime_sec, .mtime_nsec = it->id.mtime_nsec, .mode = it->mode,
		.uid = it->uid, .gid = it->gid, .xattrs = r->xattrs, .n_xattrs = r->n_xattrs, .xattrs_len = r->xattrs_len,
		.has = it->has, .fflags = it->fflags };
}

int
inst_item_set_meta(struct inst_item *it, struct inst_meta *m, struct dray_err *e)
{
	struct inst_rare *r;

	it->has = m->has;
	it->mode = (uint16_t)(m->mode & 07777);
	it->uid = m->uid;
	it->gid = m->gid;
	if (m->n_xattrs == 0)
		return 0;
	if ((r = inst_rare_new(it, e)) == NULL) {
		inst_meta_free(m);
		return -1;
	}
	r->xattrs = m->xattrs;
	r->n_xattrs = m->n_xattrs;
	r->xattrs_len = m->xattrs_len;
	return 0;
}

int
inst_item_broke(struct inst_item *it, const char *text, struct dray_err *e)
{
	struct inst_rare *r = inst_rare_new(it, e);

	if (r == NULL)
		return -1;
	return (r->broke = strdup(text)) != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}
