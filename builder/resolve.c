/*
 * resolve.c - one walk over all releases side by side in path order gives every path its row; a second one fills
 * the tables. Two walks, because the state of a hard link names the row of the first member of its group.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/layout.h"
#include "builder/resolve.h"
#include "dray/num.h"
#include "dray/path.h"

/* the releases side by side: the target is number 0, base i is i + 1 */
struct merge {
	struct build_release *const *rel;
	size_t n;
	size_t *at;			/* next node of each */
	struct build_node **here;	/* nodes of the path that stands now, NULL where a release lacks it */
};

static int
merge_begin(struct merge *m, struct build_release *const *rel, size_t n, struct dray_err *e)
{
	*m = (struct merge){ .rel = rel, .n = n };
	m->at = calloc(n, sizeof(*m->at));
	m->here = calloc(n, sizeof(*m->here));
	if (m->at == NULL || m->here == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

static void
merge_end(struct merge *m)
{
	free(m->at);
	free(m->here);
}

/* the next path in m->here; its first holder, or NULL at the end */
static struct build_node *
merge_next(struct merge *m)
{
	struct build_node *low = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct build_node *nd = m->at[i] < m->rel[i]->n ? &m->rel[i]->v[m->at[i]] : NULL;
		int c;

		m->here[i] = NULL;
		if (nd == NULL)
			continue;
		c = low == NULL ? -1 : dray_path_cmp(nd->path, nd->len, low->path, low->len);
		if (c > 0)
			continue;
		if (c < 0)
			for (size_t k = 0; k < i; k++)
				m->here[k] = NULL;
		low = c < 0 ? nd : low;
		m->here[i] = nd;
	}
	for (size_t i = 0; low != NULL && i < m->n; i++)
		m->at[i] += m->here[i] != NULL;
	return low;
}

static int
give_rows(struct build_release *const *rel, size_t n, size_t *rows, struct dray_err *e)
{
	struct build_layout *layout = rel[0]->layout;
	const struct build_node *first;
	struct merge m;
	uint64_t row = 0;

	if (merge_begin(&m, rel, n, e) != 0) {
		merge_end(&m);
		return -1;
	}
	if (layout != NULL)
		build_layout_forget(layout);
	for (; (first = merge_next(&m)) != NULL; row++) {
		for (size_t i = 0; i < n; i++)
			if (m.here[i] != NULL)
				m.here[i]->row = (uint32_t)row;
		if (layout != NULL && build_layout_add(layout, first->path, first->len, e) != 0) {
			merge_end(&m);
			return -1;
		}
	}
	merge_end(&m);
	/* a link group is told as row + 1, and all ones mean none */
	if (row >= UINT32_MAX - 1)
		return dray_fail(e, DRAY_E_FORMAT, "more paths than a bundle can hold");
	*rows = (size_t)row;
	return 0;
}

/* room for one more; NULL when memory is out */
static void *
grow(void *v, size_t n, size_t *cap, size_t item)
{
	size_t more = *cap == 0 ? 1024 : *cap * 2;

	if (n < *cap)
		return v;
	if (more > SIZE_MAX / item || (v = realloc(v, more * item)) == NULL)
		return NULL;
	*cap = more;
	return v;
}

static int
content_row(struct build_resolved *rs, const struct build_node *nd, uint32_t *row, struct dray_err *e)
{
	struct build_content *v;

	if (dray_iw_content(rs->tables, nd->size, nd->sha256, row, e) != 0)
		return -1;
	if (*row < rs->n_contents)
		return 0;
	if ((v = grow(rs->contents, rs->n_contents, &rs->cap_contents, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rs->contents = v;
	rs->contents[rs->n_contents++] =
	    (struct build_content){ .size = nd->size, .sha256 = nd->sha256, .node = DRAY_NONE };
	return 0;
}

/* who holds a content: release @i of the merge, at a path of this @place */
static int
note_holder(struct build_resolved *rs, size_t i, const struct build_node *nd, uint32_t row,
    const struct build_place *place, struct dray_err *e)
{
	struct build_content *c = &rs->contents[row];
	uint32_t node = (uint32_t)(nd - rs->releases[i]->v);
	uint64_t bit = i == 0 ? 0 : UINT64_C(1) << (i - 1);
	struct build_old *v;

	if (i == 0) {
		if (c->node == DRAY_NONE)
			c->node = node;
		c->config |= place->config;
		c->comps |= place->components;
		return 0;
	}
	if (c->bases == 0) {
		c->old_base = (uint8_t)(i - 1);
		c->old_node = node;
	}
	c->bases |= bit;
	if (!place->config) {
		c->solid |= bit;
		c->old_comps |= place->components;
	}
	for (size_t k = rs->n_olds; k-- > 0 && rs->olds[k].row == nd->row;)
		if (rs->olds[k].content == row) {
			rs->olds[k].bases |= bit;
			return 0;
		}
	if ((v = grow(rs->olds, rs->n_olds, &rs->cap_olds, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rs->olds = v;
	rs->olds[rs->n_olds++] = (struct build_old){ .row = nd->row, .content = row, .bases = bit, .path = nd->path,
		.len = nd->len, .config = place->config };
	return 0;
}

/* release @i of the merge has @nd here */
static int
state_row(struct build_resolved *rs, size_t i, const struct build_node *nd, const struct build_place *place,
    uint32_t *row, struct dray_err *e)
{
	struct dray_attrs a = { .has = nd->has & (uint16_t)~DRAY_HAS_MTIME, .mode = nd->mode, .uid = nd->uid,
		.gid = nd->gid };
	struct dray_state s = { .type = nd->type, .has_mtime = (nd->has & DRAY_HAS_MTIME) != 0, .content = DRAY_NONE,
		.target = nd->target, .target_len = nd->target_len, .rdev_major = nd->rdev_major,
		.rdev_minor = nd->rdev_minor, .mtime_sec = nd->mtime_sec, .mtime_nsec = nd->mtime_nsec };

	if (nd->link != 0)
		s.link = rs->releases[i]->v[nd->link - 1].row + 1;
	if (dray_iw_attrs(rs->tables, &a, nd->xattrs, nd->n_xattrs, &s.attrs, e) != 0)
		return -1;
	if (nd->type == DRAY_FILE && (content_row(rs, nd, &s.content, e) != 0 ||
	    note_holder(rs, i, nd, s.content, place, e) != 0))
		return -1;
	return dray_iw_state(rs->tables, &s, row, e);
}

static uint32_t
group_of(const struct build_release *r, const struct build_node *nd)
{
	return nd->link == 0 ? 0 : r->v[nd->link - 1].row + 1;
}

/* does every base hold the same bytes here, in the same hard-link group? */
static bool
only_attributes(const struct merge *m)
{
	const struct build_node *to = m->here[0];

	for (size_t i = 1; i < m->n; i++) {
		const struct build_node *nd = m->here[i];

		if (nd == NULL || nd->type != DRAY_FILE || nd->size != to->size ||
		    memcmp(nd->sha256, to->sha256, sizeof(nd->sha256)) != 0 ||
		    group_of(m->rel[i], nd) != group_of(m->rel[0], to))
			return false;
	}
	return m->n > 1;
}

static int
take_path(struct build_resolved *rs, const struct merge *m, const struct build_node *first, struct dray_alt *alts,
    struct dray_err *e)
{
	struct dray_entry en = { .path = first->path, .len = first->len, .target = DRAY_NONE };
	const struct build_layout *layout = m->rel[0]->layout;
	struct build_place place =
	    layout != NULL ? layout->places[rs->n_entries] : (struct build_place){ .components = 1 };
	const struct build_node *to = m->here[0];
	size_t n_alts = 0;
	uint32_t compset;
	bool same;

	if (dray_iw_compset(rs->tables, place.components, &compset, e) != 0)
		return -1;
	en.compset = (uint16_t)compset;
	en.phase = place.phase;
	/* what is never edited by hand needs no merging */
	place.config = place.config && (to != NULL ? to : first)->type != DRAY_DIR;
	if (place.config)
		en.flags |= DRAY_ENTRY_CONFIG;
	if (to != NULL && state_row(rs, 0, to, &place, &en.target, e) != 0)
		return -1;
	for (size_t i = 1; i < m->n; i++) {
		uint32_t row = DRAY_NONE;
		size_t k;

		if (m->here[i] != NULL && state_row(rs, i, m->here[i], &place, &row, e) != 0)
			return -1;
		for (k = 0; k < n_alts && alts[k].state != row; k++)
			;
		if (k == n_alts)
			alts[n_alts++] = (struct dray_alt){ .state = row };
		alts[k].bases |= UINT64_C(1) << (i - 1);
	}
	same = n_alts == 1 && alts[0].state == en.target;
	if (same) {
		en.flags |= DRAY_ENTRY_SAME;
		n_alts = 0;
	} else if (to != NULL && to->type == DRAY_FILE && !only_attributes(m)) {
		uint32_t row;

		if (content_row(rs, to, &row, e) != 0)
			return -1;
		rs->n_wanted += !rs->contents[row].wanted;
		if (!rs->contents[row].wanted && !dray_add(rs->wanted_bytes, to->size, &rs->wanted_bytes))
			return dray_fail(e, DRAY_E_FORMAT, "more bytes than a bundle can hold");
		rs->contents[row].wanted = true;
	}
	rs->n_entries++;
	rs->n_same += same;
	return dray_iw_entry(rs->tables, &en, alts, n_alts, e);
}

static int
fill_tables(struct build_resolved *rs, struct build_release *const *rel, size_t n, struct dray_err *e)
{
	struct dray_alt *alts = calloc(n, sizeof(*alts));
	struct build_node *first;
	struct merge m;
	int rc = -1;

	if (merge_begin(&m, rel, n, e) != 0)
		goto out;
	if (alts == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	while ((first = merge_next(&m)) != NULL) {
		memset(alts, 0, n * sizeof(*alts));
		if (take_path(rs, &m, first, alts, e) != 0) {
			build_path_err(e, rel[0], first->path, first->len);
			goto out;
		}
	}
	rc = 0;
out:
	merge_end(&m);
	free(alts);
	return rc;
}

int
build_resolve(struct build_release *target, struct build_release *const *bases, size_t n_bases,
    struct build_resolved **out, struct dray_err *e)
{
	struct build_resolved *rs = calloc(1, sizeof(*rs));
	struct build_release **rel;
	size_t rows;
	int rc = -1;

	*out = NULL;
	if (rs == NULL || (rel = rs->releases = calloc(n_bases + 1, sizeof(struct build_release *))) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (n_bases > 64) {	/* bits of an alternative's mask */
		dray_fail(e, DRAY_E_USAGE, "more than 64 bases");
		goto out;
	}
	rel[0] = target;
	for (size_t i = 0; i < n_bases; i++)
		rel[i + 1] = bases[i];
	rs->n_bases = n_bases;
	if (dray_iw_new(&rs->tables, e) != 0 || give_rows(rel, n_bases + 1, &rows, e) != 0 ||
	    fill_tables(rs, rel, n_bases + 1, e) != 0)
		goto out;
	*out = rs;
	rs = NULL;
	rc = 0;
out:
	build_resolved_free(rs);
	return rc;
}

void
build_resolved_free(struct build_resolved *rs)
{
	if (rs == NULL)
		return;
	dray_iw_free(rs->tables);
	free(rs->contents);
	free(rs->olds);
	free(rs->releases);
	free(rs);
}

uint64_t
build_resolved_all(const struct build_resolved *rs)
{
	return rs->n_bases == 0 ? 0 : UINT64_MAX >> (64 - rs->n_bases);
}
