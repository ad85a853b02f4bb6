/*
 * index_write.c - rows in, tables out. What is added goes through the reader's own checks at once, so that a
 * builder's mistake is told with the path at hand; the whole is checked again before it is packed.
 *
 * Row numbers of contents are the writer's own until dray_iw_finish numbers them as states first name them: a builder
 * may add contents in any order. Source: spec/bundle-format.md 5.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dray/index_write.h"
#include "dray/num.h"
#include "dray/path.h"

#include "index_intern.h"

struct had { uint32_t first, n; bool set; };	/* recipes of a content, in the order in which they were added */

struct dray_index_writer {
	struct index_tables tables;
	struct had *had;		/* per content */
	size_t had_cap;
	bool finished;
};

int
dray_iw_new(struct dray_index_writer **out, struct dray_err *e)
{
	if ((*out = calloc(1, sizeof **out)) == NULL)
		return dray_fail_errno(e, "index writer");
	if (dray_index_tables_init(&(*out)->tables, e) != 0) {
		dray_iw_free(*out);
		*out = NULL;
		return -1;
	}
	return 0;
}

void
dray_iw_free(struct dray_index_writer *w)
{
	if (w == NULL)
		return;
	dray_index_tables_free(&w->tables);
	free(w->had);
	free(w);
}

/* text to STRINGS; *at: where it stands */
static int
add_string(struct index_tables *t, const void *p, size_t len, uint32_t *at, struct dray_err *e)
{
	*at = (uint32_t)t->t[DRAY_T_STRINGS].len;
	return dray_index_append(t, DRAY_T_STRINGS, p, len, e);
}

static int
add_xattr(struct index_tables *t, const struct dray_xattr *x, struct dray_err *e)
{
	uint32_t row = t->view.rows[DRAY_T_XATTRS], name, value;
	uint8_t p[X_WIDTH] = { 0 };

	if (x->name_len > IX_XNAME_MAX || x->len > IX_XVALUE_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "name or value is too long");
	if (add_string(t, x->name, x->name_len, &name, e) != 0 || add_string(t, x->value, x->len, &value, e) != 0)
		return -1;
	dray_put_u32(p + X_SET, t->set[INDEX_XSET].n);
	dray_put_u32(p + X_NAME, name);
	dray_put_u16(p + X_NAME_LEN, (uint16_t)x->name_len);
	dray_put_u32(p + X_VALUE, value);
	dray_put_u32(p + X_LEN, (uint32_t)x->len);
	if (dray_index_append(t, DRAY_T_XATTRS, p, sizeof p, e) != 0)
		return -1;
	return dray_index_check_xattr(&t->view, row, e);
}

static int
add_xset(struct index_tables *t, const struct dray_xattr *x, size_t n, uint32_t *set, struct dray_err *e)
{
	uint32_t first = t->view.rows[DRAY_T_XATTRS];
	size_t strings = t->t[DRAY_T_STRINGS].len;

	for (size_t i = 0; i < n; i++)
		if (add_xattr(t, &x[i], e) != 0) {
			char q[DRAY_QUOTE_CAP(64)];

			dray_wrap(e, "xattr %s", dray_quote(x[i].name, x[i].name_len, q, sizeof q));
			goto undo;
		}
	if (dray_index_intern_xset(t, first, set, e) != 0)
		goto undo;
	if (t->view.rows[DRAY_T_XATTRS] == first)
		dray_index_cut(t, DRAY_T_STRINGS, strings);
	return 0;
undo:
	dray_index_cut(t, DRAY_T_XATTRS, (size_t)first * X_WIDTH);
	dray_index_cut(t, DRAY_T_STRINGS, strings);
	return -1;
}

int
dray_iw_attrs(struct dray_index_writer *w, const struct dray_attrs *a, const struct dray_xattr *x, size_t n_x,
    uint32_t *row, struct dray_err *e)
{
	uint8_t p[A_WIDTH] = { 0 };
	uint32_t set = DRAY_NONE;

	if (n_x != 0 && (a->has & DRAY_HAS_XATTRS) == 0)
		return dray_fail(e, DRAY_E_FORMAT, "xattrs are given and said to be absent");
	if (n_x != 0 && add_xset(&w->tables, x, n_x, &set, e) != 0)
		return -1;
	dray_put_u16(p + A_HAS, a->has);
	dray_put_u32(p + A_MODE, a->mode);
	dray_put_u32(p + A_UID, a->uid);
	dray_put_u32(p + A_GID, a->gid);
	dray_put_u32(p + A_FLAGS, a->flags);
	dray_put_u32(p + A_XSET, set);
	return dray_index_intern(&w->tables, INDEX_ATTRS, p, row, e);
}

int
dray_iw_compset(struct dray_index_writer *w, uint64_t mask, uint32_t *row, struct dray_err *e)
{
	uint8_t p[C_WIDTH];

	if (mask == 0)
		return dray_fail(e, DRAY_E_FORMAT, "an empty component set");
	dray_put_u64(p + C_MASK, mask);
	if (dray_index_intern(&w->tables, INDEX_COMPSET, p, row, e) != 0)
		return -1;
	if (*row > UINT16_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "more than 65536 different component sets");
	return 0;
}

int
dray_iw_state(struct dray_index_writer *w, const struct dray_state *s, uint32_t *row, struct dray_err *e)
{
	struct index_tables *t = &w->tables;
	size_t strings = t->t[DRAY_T_STRINGS].len;
	uint32_t a = 0, b = 0, before = t->view.rows[DRAY_T_STATES];
	uint8_t p[S_WIDTH] = { 0 };

	if (s->type == DRAY_FILE) {
		a = s->content;
	} else if (s->type == DRAY_SYMLINK) {
		if (s->target_len > IX_LINK_MAX)
			return dray_fail(e, DRAY_E_FORMAT, "its symlink target has %zu bytes, not 1 to %u", s->target_len, IX_LINK_MAX);
		if (add_string(t, s->target, s->target_len, &a, e) != 0)
			return -1;
		b = (uint32_t)s->target_len;
	} else if (s->type == DRAY_CHARDEV || s->type == DRAY_BLOCKDEV) {
		a = s->rdev_major;
		b = s->rdev_minor;
	}
	p[S_TYPE] = s->type;
	p[S_FLAGS] = s->has_mtime ? S_HAS_MTIME : 0;
	dray_put_u32(p + S_ATTRS, s->attrs);
	dray_put_u32(p + S_A, a);
	dray_put_u32(p + S_B, b);
	dray_put_u32(p + S_LINK, s->link);
	dray_put_u64(p + S_SEC, s->has_mtime ? (uint64_t)s->mtime_sec : 0);
	dray_put_u32(p + S_NSEC, s->has_mtime ? s->mtime_nsec : 0);
	if (dray_index_intern(t, INDEX_STATE, p, row, e) != 0) {
		dray_index_cut(t, DRAY_T_STRINGS, strings);
		return -1;
	}
	if (t->view.rows[DRAY_T_STATES] == before)
		dray_index_cut(t, DRAY_T_STRINGS, strings);
	return 0;
}

int
dray_iw_content(struct dray_index_writer *w, uint64_t size, const uint8_t sha256[32], uint32_t *row,
    struct dray_err *e)
{
	struct index_tables *t = &w->tables;
	uint8_t p[N_WIDTH] = { 0 };

	dray_put_u64(p + N_SIZE, size);
	memcpy(p + N_SHA, sha256, 32);
	if (t->set[INDEX_CONTENT].n >= w->had_cap) {
		size_t cap = w->had_cap * 2 + 1024;
		struct had *had = realloc(w->had, cap * sizeof *had);

		if (had == NULL)
			return dray_fail_errno(e, "contents");
		w->had = had;
		w->had_cap = cap;
	}
	w->had[t->set[INDEX_CONTENT].n] = (struct had){ 0 };
	if (dray_index_intern(t, INDEX_CONTENT, p, row, e) != 0)
		return -1;
	if (dray_get_u64(ix_row(&t->view, DRAY_T_CONTENTS, *row) + N_SIZE) != size)
		return dray_fail(e, DRAY_E_FORMAT, "one hash with two sizes, %" PRIu64 " and %" PRIu64, size,
		    dray_get_u64(ix_row(&t->view, DRAY_T_CONTENTS, *row) + N_SIZE));
	return 0;
}

static int
by_state(const void *a, const void *b)
{
	const struct dray_alt *x = a, *y = b;

	return (x->state > y->state) - (x->state < y->state);
}

/* alternatives in order of their states, those of one state as one */
static int
add_alts(struct index_tables *t, const struct dray_alt *alts, size_t n, uint16_t *count, struct dray_err *e)
{
	struct dray_alt *sorted;
	size_t k = 0;
	int rc = 0;

	*count = 0;
	if (n == 0)
		return 0;
	if (n > IX_ALTS_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%zu alternatives are above %u", n, IX_ALTS_MAX);
	if ((sorted = malloc(n * sizeof *sorted)) == NULL)
		return dray_fail_errno(e, "alternatives");
	memcpy(sorted, alts, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_state);
	for (size_t i = 1; i < n; i++) {
		if (sorted[i].state == sorted[k].state)
			sorted[k].bases |= sorted[i].bases;
		else
			sorted[++k] = sorted[i];
	}
	for (size_t i = 0; i <= k && rc == 0; i++) {
		uint8_t p[L_WIDTH];

		dray_put_u32(p + L_STATE, sorted[i].state);
		dray_put_u64(p + L_BASES, sorted[i].bases);
		rc = dray_index_append(t, DRAY_T_ALTS, p, sizeof p, e);
	}
	free(sorted);
	*count = (uint16_t)(k + 1);
	return rc;
}

int
dray_iw_entry(struct dray_index_writer *w, const struct dray_entry *en, const struct dray_alt *alts, size_t n_alts,
    struct dray_err *e)
{
	struct index_tables *t = &w->tables;
	size_t strings = t->t[DRAY_T_STRINGS].len, entries = t->t[DRAY_T_ENTRIES].len, n = t->t[DRAY_T_ALTS].len;
	uint32_t at, first = t->view.rows[DRAY_T_ALTS], row = t->view.rows[DRAY_T_ENTRIES];
	uint8_t p[E_WIDTH] = { 0 };
	char q[DRAY_QUOTE_CAP(160)];
	const char *why;
	uint16_t count;

	if (!dray_path_ok(en->path, en->len, &why))
		return dray_fail(e, DRAY_E_FORMAT, "entry %" PRIu32 " (%s): not a path: %s", row,
		    dray_quote(en->path, en->len, q, sizeof q), why);
	if (add_string(t, en->path, en->len, &at, e) != 0 || add_alts(t, alts, n_alts, &count, e) != 0) {
		dray_wrap(e, "entry %" PRIu32 " (%s)", row, dray_quote(en->path, en->len, q, sizeof q));
		goto undo;
	}
	dray_put_u32(p + E_PATH, at);
	dray_put_u16(p + E_LEN, (uint16_t)en->len);
	p[E_FLAGS] = en->flags;
	p[E_PHASE] = en->phase;
	dray_put_u16(p + E_COMPSET, en->compset);
	dray_put_u16(p + E_ALTS, count);
	dray_put_u32(p + E_TARGET, en->target);
	dray_put_u32(p + E_ALT, first);
	if (dray_index_append(t, DRAY_T_ENTRIES, p, sizeof p, e) != 0 ||
	    dray_index_check_entry(&t->view, NULL, row, e) != 0)
		goto undo;
	return 0;
undo:
	dray_index_cut(t, DRAY_T_STRINGS, strings);
	dray_index_cut(t, DRAY_T_ENTRIES, entries);
	dray_index_cut(t, DRAY_T_ALTS, n);
	return -1;
}

int
dray_iw_frame(struct dray_index_writer *w, const struct dray_frame *f, const struct dray_range *r, size_t n_r,
    uint32_t *row, struct dray_err *e)
{
	struct index_tables *t = &w->tables;
	size_t len = t->t[DRAY_T_FRAMES].len, ranges = t->t[DRAY_T_RANGES].len;
	uint8_t p[F_WIDTH] = { 0 };

	*row = t->view.rows[DRAY_T_FRAMES];
	p[F_KIND] = f->kind;
	p[F_FILTER] = f->filter;
	p[F_CODEC] = f->codec;
	dray_put_u32(p + F_BLOCK, f->block);
	dray_put_u32(p + F_STORED, f->stored);
	dray_put_u32(p + F_OUT, f->out);
	dray_put_u32(p + F_RAW, f->raw != 0 ? f->raw : f->out);
	dray_put_u32(p + F_RANGE, t->view.rows[DRAY_T_RANGES]);
	dray_put_u32(p + F_RANGES, n_r < DRAY_NONE ? (uint32_t)n_r : DRAY_NONE);
	memcpy(p + F_SHA, f->sha256, 32);
	for (size_t i = 0; i < n_r; i++) {
		uint8_t q[G_WIDTH];

		dray_put_u32(q + G_CONTENT, r[i].content);
		dray_put_u64(q + G_OFFSET, r[i].offset | (r[i].inside ? IX_INSIDE : 0));
		dray_put_u64(q + G_LEN, r[i].len);
		if (dray_index_append(t, DRAY_T_RANGES, q, sizeof q, e) != 0)
			goto undo;
	}
	if (dray_index_append(t, DRAY_T_FRAMES, p, sizeof p, e) != 0 ||
	    dray_index_check_frame(&t->view, NULL, *row, e) != 0)
		goto undo;
	return 0;
undo:
	dray_index_cut(t, DRAY_T_FRAMES, len);
	dray_index_cut(t, DRAY_T_RANGES, ranges);
	return dray_wrap(e, "frame %" PRIu32, *row);
}

int
dray_iw_recipes(struct dray_index_writer *w, uint32_t content, const struct dray_recipe *recipes, size_t n,
    const struct dray_piece *const *pieces, struct dray_err *e)
{
	struct index_tables *t = &w->tables;
	struct had had = { .first = t->view.rows[DRAY_T_RECIPES], .n = (uint32_t)n, .set = true };

	if (content >= t->set[INDEX_CONTENT].n)
		return dray_fail(e, DRAY_E_FORMAT, "recipes of content %" PRIu32 ", there are %" PRIu32, content,
		    t->set[INDEX_CONTENT].n);
	if (w->had[content].set)
		return dray_fail(e, DRAY_E_FORMAT, "content %" PRIu32 ": recipes are given twice", content);
	if (n > IX_RECIPES_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "content %" PRIu32 ": %zu recipes are above %u", content, n, IX_RECIPES_MAX);
	for (size_t i = 0; i < n; i++) {
		uint8_t p[R_WIDTH] = { 0 };

		p[R_KIND] = recipes[i].kind;
		p[R_WRAP] = recipes[i].wrap;
		dray_put_u32(p + R_PIECE, t->view.rows[DRAY_T_PIECES]);
		dray_put_u32(p + R_PIECES, recipes[i].piece_count);
		if (dray_index_append(t, DRAY_T_RECIPES, p, sizeof p, e) != 0)
			return -1;
		for (uint32_t k = 0; k < recipes[i].piece_count; k++) {
			uint8_t q[P_WIDTH];

			dray_put_u32(q + P_FRAME, pieces[i][k].frame);
			dray_put_u32(q + P_OFFSET, pieces[i][k].offset);
			dray_put_u32(q + P_LEN, pieces[i][k].len);
			if (dray_index_append(t, DRAY_T_PIECES, q, sizeof q, e) != 0)
				return -1;
		}
	}
	w->had[content] = had;
	return 0;
}

/* contents as states first name them; *number: the new number of each, *order: the old ones in new order */
static int
number_contents(struct index_tables *t, uint32_t *number, uint32_t *order, struct dray_err *e)
{
	uint32_t n = t->set[INDEX_CONTENT].n, next = 0;

	memset(number, 0xff, (size_t)n * sizeof *number);
	for (uint32_t i = 0; i < t->view.rows[DRAY_T_STATES]; i++) {
		uint8_t *p = t->t[DRAY_T_STATES].p + (size_t)i * S_WIDTH;
		uint32_t old = dray_get_u32(p + S_A);

		if (p[S_TYPE] != DRAY_FILE)
			continue;
		if (number[old] == DRAY_NONE) {
			order[next] = old;
			number[old] = next++;
		}
		dray_put_u32(p + S_A, number[old]);
	}
	for (uint32_t i = 0; i < n; i++)
		if (number[i] == DRAY_NONE)
			return dray_fail(e, DRAY_E_FORMAT, "content %" PRIu32 ": no state names it", i);
	for (uint32_t i = 0; i < t->view.rows[DRAY_T_RANGES]; i++) {
		uint8_t *p = t->t[DRAY_T_RANGES].p + (size_t)i * G_WIDTH;

		dray_put_u32(p + G_CONTENT, number[dray_get_u32(p + G_CONTENT)]);
	}
	return 0;
}

/* contents, recipes and pieces again, in their final order */
static int
order_contents(const struct dray_index_writer *w, const uint32_t *order, struct index_tables *out, struct dray_err *e)
{
	const struct index_tables *t = &w->tables;

	for (uint32_t i = 0; i < t->set[INDEX_CONTENT].n; i++) {
		const struct had *had = &w->had[order[i]];
		uint8_t p[N_WIDTH];

		memcpy(p, ix_row(&t->view, DRAY_T_CONTENTS, order[i]), sizeof p);
		dray_put_u32(p + N_RECIPE, out->view.rows[DRAY_T_RECIPES]);
		dray_put_u32(p + N_RECIPES, had->n);
		if (dray_index_append(out, DRAY_T_CONTENTS, p, sizeof p, e) != 0)
			return -1;
		for (uint32_t k = 0; k < had->n; k++) {
			const uint8_t *old = ix_row(&t->view, DRAY_T_RECIPES, had->first + k);
			uint8_t r[R_WIDTH];

			memcpy(r, old, sizeof r);
			dray_put_u32(r + R_PIECE, out->view.rows[DRAY_T_PIECES]);
			if (dray_index_append(out, DRAY_T_RECIPES, r, sizeof r, e) != 0 ||
			    dray_index_append(out, DRAY_T_PIECES, ix_row(&t->view, DRAY_T_PIECES, dray_get_u32(old + R_PIECE)),
			    (size_t)dray_get_u32(old + R_PIECES) * P_WIDTH, e) != 0)
				return -1;
		}
	}
	return 0;
}

int
dray_iw_finish(struct dray_index_writer *w, int level, unsigned threads, uint8_t **dir, size_t *dir_len,
    uint8_t **chunks, size_t *chunks_len, struct dray_err *e)
{
	static const enum dray_table moved[] = { DRAY_T_CONTENTS, DRAY_T_RECIPES, DRAY_T_PIECES };
	size_t n = (size_t)w->tables.set[INDEX_CONTENT].n + 1;
	struct index_tables sorted = { 0 };
	uint32_t *number = NULL, *order = NULL;
	int rc = -1;

	*dir = *chunks = NULL;
	*dir_len = *chunks_len = 0;
	if (w->finished)
		return dray_fail(e, DRAY_E_IO, "the index is finished twice");
	w->finished = true;
	if ((number = malloc(n * sizeof *number)) == NULL || (order = calloc(n, sizeof *order)) == NULL) {
		dray_fail_errno(e, "contents");
		goto out;
	}
	if (dray_index_tables_init(&sorted, e) != 0 ||
	    number_contents(&w->tables, number, order, e) != 0 || order_contents(w, order, &sorted, e) != 0)
		goto out;
	for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++) {
		w->tables.view.t[moved[i]] = sorted.view.t[moved[i]];
		w->tables.view.rows[moved[i]] = sorted.view.rows[moved[i]];
	}
	if (dray_index_check(&w->tables.view, NULL, threads, e) != 0)
		goto out;
	rc = dray_index_pack(&w->tables.view, level, threads, dir, dir_len, chunks, chunks_len, e);
out:
	dray_index_tables_free(&sorted);
	free(number);
	free(order);
	return rc;
}
