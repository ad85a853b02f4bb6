/*
 * resolve.c - one walk over all releases side by side in path order gives every path its row; a second one fills
 * the tables. Two walks, because the state of a hard link names the row of the first member of its group.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/arena.h"
#include "builder/layout.h"
#include "builder/merge.h"
#include "builder/resolve.h"
#include "dray/num.h"

/* the release decides; of what it lacks, the bases */
static void
fact_of(const struct build_merge *m, struct build_fact *f)
{
	const struct build_node *to = m->here[0];

	*f = (struct build_fact){ .gone = to == NULL, .dir = to != NULL && to->type == DRAY_DIR,
		.parts = to != NULL ? to->parts : 0 };
	for (size_t i = 1; to == NULL && i < m->n; i++)
		for (size_t k = 0; k < m->count[i]; k++) {
			f->parts |= m->here[i][k].parts;
			f->dir = f->dir || m->here[i][k].type == DRAY_DIR;
		}
}

/* *most: no path has more states in all bases together */
static int
give_rows(struct build_release *const *rel, size_t n, size_t *most, struct dray_err *e)
{
	struct build_layout *layout = rel[0]->layout;
	const struct build_node *first;
	struct build_fact fact;
	struct build_merge m;
	uint64_t row = 0;

	if (build_merge_begin(&m, rel, n, e) != 0) {
		build_merge_end(&m);
		return -1;
	}
	if (layout != NULL)
		build_layout_forget(layout);
	for (; (first = build_merge_next(&m)) != NULL; row++) {
		size_t states = n;	/* one of each, or nothing */

		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < m.count[i]; k++)
				m.here[i][k].row = (uint32_t)row;
			states += m.count[i];
		}
		*most = states > *most ? states : *most;
		fact_of(&m, &fact);
		if (layout != NULL && build_layout_add(layout, first->path, first->len, &fact, e) != 0) {
			build_merge_end(&m);
			return -1;
		}
	}
	build_merge_end(&m);
	/* a link group is told as row + 1, and all ones mean none */
	if (row >= UINT32_MAX - 1)
		return dray_fail(e, DRAY_E_FORMAT, "more paths than a bundle can hold");
	return 0;
}

static int
content_row(struct build_resolved *rs, const struct build_node *nd, uint32_t *row, struct dray_err *e)
{
	struct build_content *v;

	if (dray_iw_content(rs->tables, nd->size, nd->sha256, row, e) != 0)
		return -1;
	if (*row < rs->n_contents)
		return 0;
	if ((v = build_grow(rs->contents, rs->n_contents, &rs->cap_contents, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rs->contents = v;
	rs->unsized |= nd->size == DRAY_SIZE_UNKNOWN;
	rs->contents[rs->n_contents++] =
	    (struct build_content){ .size = nd->size, .sha256 = nd->sha256, .node = DRAY_NONE };
	return 0;
}

/* what one release of the merge has at the path that stands now */
struct spot {
	const struct build_place *place;
	size_t rel;
	bool sure;		/* one content, whenever it was */
	bool gap;		/* there was a time without a file */
};

static struct spot
spot_of(const struct build_merge *m, size_t i, const struct build_place *place)
{
	struct spot s = { .place = place, .rel = i, .sure = true };
	const struct build_node *first = m->here[i];

	for (size_t k = 0; k < m->count[i]; k++) {
		s.gap |= first[k].type != DRAY_FILE;
		s.sure &= first[k].size == first->size && memcmp(first[k].sha256, first->sha256, sizeof(first->sha256)) == 0;
	}
	s.sure &= !s.gap;
	return s;
}

/* who holds a content */
static int
note_holder(struct build_resolved *rs, const struct spot *s, const struct build_node *nd, uint32_t row,
    struct dray_err *e)
{
	struct build_content *c = &rs->contents[row];
	uint32_t node = (uint32_t)(nd - rs->releases[s->rel]->v);
	uint64_t bit = s->rel == 0 ? 0 : UINT64_C(1) << (s->rel - 1);
	struct build_old *v;

	if (s->rel == 0) {
		if (c->node == DRAY_NONE)
			c->node = node;
		c->config |= s->place->config;
		c->comps |= s->place->components;
		return 0;
	}
	if (c->bases == 0) {
		c->old_base = (uint8_t)(s->rel - 1);
		c->old_node = node;
	}
	c->bases |= bit;
	if (!s->place->config) {
		c->solid |= bit;
		c->old_comps |= s->place->components;
	}
	if (!s->place->config && s->sure) {
		c->sure |= bit;
		c->sure_comps |= s->place->components;
	}
	for (size_t k = rs->n_olds; k-- > 0 && rs->olds[k].row == nd->row;)
		if (rs->olds[k].content == row) {
			rs->olds[k].bases |= bit;
			rs->olds[k].gaps |= s->gap ? bit : 0;
			return 0;
		}
	if ((v = build_grow(rs->olds, rs->n_olds, &rs->cap_olds, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rs->olds = v;
	rs->olds[rs->n_olds++] = (struct build_old){ .row = nd->row, .content = row, .bases = bit,
		.gaps = s->gap ? bit : 0, .comps = s->place->components, .path = nd->path, .len = nd->len,
		.config = s->place->config };
	return 0;
}

static int
state_row(struct build_resolved *rs, const struct spot *at, const struct build_node *nd, uint32_t *row,
    struct dray_err *e)
{
	struct dray_attrs a = { .has = nd->has & (uint16_t)~DRAY_HAS_MTIME, .mode = nd->mode, .uid = nd->uid,
		.gid = nd->gid, .flags = nd->flags };
	struct dray_state s = { .type = nd->type, .has_mtime = (nd->has & DRAY_HAS_MTIME) != 0, .content = DRAY_NONE,
		.target = nd->target, .target_len = nd->target_len, .rdev_major = nd->rdev_major,
		.rdev_minor = nd->rdev_minor, .mtime_sec = nd->mtime_sec, .mtime_nsec = nd->mtime_nsec };

	if (nd->link != 0)
		s.link = rs->releases[at->rel]->v[nd->link - 1].row + 1;
	if (dray_iw_attrs(rs->tables, &a, nd->xattrs, nd->n_xattrs, &s.attrs, e) != 0)
		return -1;
	if (nd->type == DRAY_FILE && (content_row(rs, nd, &s.content, e) != 0 ||
	    note_holder(rs, at, nd, s.content, e) != 0))
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
only_attributes(const struct build_merge *m)
{
	const struct build_node *to = m->here[0];

	for (size_t i = 1; i < m->n; i++) {
		if (m->here[i] == NULL)
			return false;
		for (size_t k = 0; k < m->count[i]; k++) {
			const struct build_node *nd = &m->here[i][k];

			if (nd->type != DRAY_FILE || nd->size != to->size ||
			    memcmp(nd->sha256, to->sha256, sizeof(nd->sha256)) != 0 ||
			    group_of(m->rel[i], nd) != group_of(m->rel[0], to))
				return false;
		}
	}
	return m->n > 1;
}

/* the states that base @i - 1 has or had here, each once; @n_alts of them are known from other bases */
static int
add_alts(struct build_resolved *rs, const struct build_merge *m, size_t i, const struct build_place *place,
    struct dray_alt *alts, size_t *n_alts, struct dray_err *e)
{
	const struct spot at = spot_of(m, i, place);

	for (size_t s = 0; s < m->count[i] || s == 0; s++) {
		uint32_t row = DRAY_NONE;
		size_t k;

		if (m->here[i] != NULL && m->here[i][s].type != DRAY_ABSENT &&
		    state_row(rs, &at, &m->here[i][s], &row, e) != 0)
			return -1;
		for (k = 0; k < *n_alts && alts[k].state != row; k++)
			;
		if (k == *n_alts)
			alts[(*n_alts)++] = (struct dray_alt){ .state = row };
		alts[k].bases |= UINT64_C(1) << (i - 1);
	}
	return 0;
}

#define FORMER_MAX (UINT64_C(4) * 1024u * 1024u)	/* a larger file is no text that anybody edits line by line */

/* what the config path had before travels too, so that an edited file can be merged */
static void
note_formers(struct build_resolved *rs, const struct build_node *to, uint64_t components)
{
	for (size_t k = rs->n_olds; k-- > 0 && rs->olds[k].row == to->row;) {
		struct build_content *c = &rs->contents[rs->olds[k].content];

		if (c->size == 0 || c->size > FORMER_MAX || memcmp(c->sha256, to->sha256, sizeof(to->sha256)) == 0)
			continue;
		c->former = true;
		if (c->node == DRAY_NONE)
			c->comps |= components;
	}
}

static int
take_path(struct build_resolved *rs, const struct build_merge *m, const struct build_node *first, struct dray_alt *alts,
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
	if (to != NULL && state_row(rs, &(struct spot){ .place = &place }, to, &en.target, e) != 0)
		return -1;
	for (size_t i = 1; i < m->n; i++)
		if (add_alts(rs, m, i, &place, alts, &n_alts, e) != 0)
			return -1;
	same = n_alts == 1 && alts[0].state == en.target;
	if (same) {
		en.flags |= DRAY_ENTRY_SAME;
		n_alts = 0;
	} else if (to != NULL && to->type == DRAY_FILE && !only_attributes(m)) {
		uint32_t row;

		if (content_row(rs, to, &row, e) != 0)
			return -1;
		/* needed.c decides alike, or else the bundle could not be made */
		if (to->size == DRAY_SIZE_UNKNOWN)
			return dray_fail(e, DRAY_E_IO, "its content was not fetched");
		rs->n_wanted += !rs->contents[row].wanted;
		if (!rs->contents[row].wanted && !dray_add(rs->wanted_bytes, to->size, &rs->wanted_bytes))
			return dray_fail(e, DRAY_E_FORMAT, "more bytes than a bundle can hold");
		rs->contents[row].wanted = true;
		if (place.config)
			note_formers(rs, to, place.components);
	}
	rs->n_entries++;
	rs->n_same += same;
	return dray_iw_entry(rs->tables, &en, alts, n_alts, e);
}

static int
fill_tables(struct build_resolved *rs, struct build_release *const *rel, size_t n, size_t most, struct dray_err *e)
{
	struct dray_alt *alts = calloc(most + 1, sizeof(*alts));
	struct build_node *first;
	struct build_merge m;
	int rc = -1;

	if (build_merge_begin(&m, rel, n, e) != 0)
		goto out;
	if (alts == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	while ((first = build_merge_next(&m)) != NULL) {
		if (take_path(rs, &m, first, alts, e) != 0) {
			build_path_err(e, rel[0], first->path, first->len);
			goto out;
		}
	}
	rc = 0;
out:
	build_merge_end(&m);
	free(alts);
	return rc;
}

int
build_resolve(struct build_release *target, struct build_release *const *bases, size_t n_bases,
    struct build_resolved **out, struct dray_err *e)
{
	struct build_resolved *rs = calloc(1, sizeof(*rs));
	struct build_release **rel;
	size_t most = 0;
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
	for (size_t i = 0; i < n_bases; i++) {
		rel[i + 1] = bases[i];
		rs->history |= bases[i]->history ? UINT64_C(1) << i : 0;
	}
	rs->n_bases = n_bases;
	if (dray_iw_new(&rs->tables, e) != 0 || give_rows(rel, n_bases + 1, &most, e) != 0 ||
	    fill_tables(rs, rel, n_bases + 1, most, e) != 0)
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

const struct build_old *
build_resolved_olds(const struct build_resolved *rs, uint32_t row, size_t *n)
{
	size_t low = 0, high = rs->n_olds;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (rs->olds[mid].row < row)
			low = mid + 1;
		else
			high = mid;
	}
	for (*n = 0; low + *n < rs->n_olds && rs->olds[low + *n].row == row; ++*n)
		;
	return *n == 0 ? NULL : &rs->olds[low];
}
