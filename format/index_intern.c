/*
 * index_intern.c - rows that stand once: attribute sets, component sets, states, contents, xattr sets.
 *
 * A candidate is appended first and compared in place, so that one pair of functions (hash, equal) serves candidates
 * and old rows alike; when an equal row is found the candidate is cut off again.
 */
#include <stdlib.h>
#include <string.h>

#include "index_intern.h"

static uint64_t
hash_bytes(uint64_t h, const void *src, size_t len)
{
	const uint8_t *p = src;

	for (; len >= 8; len -= 8, p += 8) {
		h = (h ^ dray_get_u64(p)) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	for (; len != 0; len--)
		h = (h ^ *p++) * 0x100000001b3u;
	return h ^ h >> 32;
}

static uint64_t
hash_attrs(const struct index_tables *w, uint32_t i)
{
	return hash_bytes(1, ix_row(&w->view, DRAY_T_ATTRS, i), A_WIDTH);
}

static bool
equal_attrs(const struct index_tables *w, uint32_t i, uint32_t k)
{
	return memcmp(ix_row(&w->view, DRAY_T_ATTRS, i), ix_row(&w->view, DRAY_T_ATTRS, k), A_WIDTH) == 0;
}

static uint64_t
hash_compset(const struct index_tables *w, uint32_t i)
{
	return hash_bytes(2, ix_row(&w->view, DRAY_T_COMPSETS, i), C_WIDTH);
}

static bool
equal_compset(const struct index_tables *w, uint32_t i, uint32_t k)
{
	return dray_index_compset(&w->view, i) == dray_index_compset(&w->view, k);
}

/* a symlink's target is compared as text: the row only says where it stands */
static uint64_t
hash_state(const struct index_tables *w, uint32_t i)
{
	const uint8_t *p = ix_row(&w->view, DRAY_T_STATES, i);
	uint64_t h = hash_bytes(hash_bytes(3, p, S_A), p + S_B, S_WIDTH - S_B);

	if (p[S_TYPE] == DRAY_SYMLINK)
		return hash_bytes(h, w->view.t[DRAY_T_STRINGS] + dray_get_u32(p + S_A), dray_get_u32(p + S_B));
	return hash_bytes(h, p + S_A, 4);
}

static bool
equal_state(const struct index_tables *w, uint32_t i, uint32_t k)
{
	const uint8_t *a = ix_row(&w->view, DRAY_T_STATES, i), *b = ix_row(&w->view, DRAY_T_STATES, k);
	const uint8_t *strings = w->view.t[DRAY_T_STRINGS];

	if (memcmp(a, b, S_A) != 0 || memcmp(a + S_B, b + S_B, S_WIDTH - S_B) != 0)
		return false;
	if (a[S_TYPE] == DRAY_SYMLINK)
		return memcmp(strings + dray_get_u32(a + S_A), strings + dray_get_u32(b + S_A), dray_get_u32(a + S_B)) == 0;
	return dray_get_u32(a + S_A) == dray_get_u32(b + S_A);
}

static uint64_t
hash_content(const struct index_tables *w, uint32_t i)
{
	return dray_get_u64(ix_row(&w->view, DRAY_T_CONTENTS, i) + N_SHA);
}

static bool
equal_content(const struct index_tables *w, uint32_t i, uint32_t k)
{
	return memcmp(ix_row(&w->view, DRAY_T_CONTENTS, i) + N_SHA, ix_row(&w->view, DRAY_T_CONTENTS, k) + N_SHA, 32) == 0;
}

static uint64_t
hash_xset(const struct index_tables *w, uint32_t i)
{
	uint64_t h = 4;

	for (uint32_t k = w->xset_first[i]; k < w->xset_first[i + 1]; k++) {
		struct dray_xattr x;

		dray_index_xattr(&w->view, k, &x);
		h = hash_bytes(hash_bytes(h + x.name_len, x.name, x.name_len), x.value, x.len);
	}
	return h;
}

static bool
equal_xset(const struct index_tables *w, uint32_t i, uint32_t k)
{
	uint32_t a = w->xset_first[i], b = w->xset_first[k], n = w->xset_first[i + 1] - a;

	if (w->xset_first[k + 1] - b != n)
		return false;
	for (uint32_t r = 0; r < n; r++) {
		struct dray_xattr x, y;

		dray_index_xattr(&w->view, a + r, &x);
		dray_index_xattr(&w->view, b + r, &y);
		if (x.name_len != y.name_len || x.len != y.len || memcmp(x.name, y.name, x.name_len) != 0 ||
		    memcmp(x.value, y.value, x.len) != 0)
			return false;
	}
	return true;
}

static const struct kind {
	enum dray_table t;
	uint64_t (*hash)(const struct index_tables *, uint32_t);
	bool (*equal)(const struct index_tables *, uint32_t, uint32_t);
	int (*check)(const struct dray_index *, uint32_t, struct dray_err *);	/* NULL: nothing to check in a row alone */
} kinds[INDEX_KINDS] = {
	[INDEX_ATTRS] = { DRAY_T_ATTRS, hash_attrs, equal_attrs, dray_index_check_attrs },
	[INDEX_COMPSET] = { DRAY_T_COMPSETS, hash_compset, equal_compset, NULL },
	[INDEX_STATE] = { DRAY_T_STATES, hash_state, equal_state, dray_index_check_state },
	[INDEX_CONTENT] = { DRAY_T_CONTENTS, hash_content, equal_content, NULL },
	[INDEX_XSET] = { DRAY_T_XATTRS, hash_xset, equal_xset, NULL },
};

/* make the view tell what the vector holds */
static void
look(struct index_tables *w, enum dray_table t)
{
	w->view.t[t] = w->t[t].p;
	w->view.rows[t] = (uint32_t)(w->t[t].len / dray_index_width[t]);
}

int
dray_index_append(struct index_tables *w, enum dray_table t, const void *rows, size_t len, struct dray_err *e)
{
	struct index_vec *v = &w->t[t];

	if (len / dray_index_width[t] >= DRAY_NONE - w->view.rows[t])
		return dray_fail(e, DRAY_E_FORMAT, "table %s is full", dray_index_name[t]);
	if (len > v->cap - v->len || v->p == NULL) {
		size_t cap = v->cap * 2 > v->len + len ? v->cap * 2 : v->len + len + 4096;
		uint8_t *p = realloc(v->p, cap);

		if (p == NULL)
			return dray_fail_errno(e, "table %s", dray_index_name[t]);
		v->p = p;
		v->cap = cap;
	}
	if (len != 0)
		memcpy(v->p + v->len, rows, len);
	v->len += len;
	look(w, t);
	return 0;
}

void
dray_index_cut(struct index_tables *w, enum dray_table t, size_t len)
{
	w->t[t].len = len;
	look(w, t);
}

/* room for one more, at most half full; slots move when the set grows */
static int
grow(struct index_tables *w, enum index_kind kind, struct dray_err *e)
{
	struct index_set *s = &w->set[kind];
	size_t cap = s->cap != 0 ? s->cap * 2 : 64;
	uint32_t *slot;

	if (((size_t)s->n + 1) * 2 <= s->cap)
		return 0;
	if ((slot = calloc(cap, sizeof *slot)) == NULL)
		return dray_fail_errno(e, "index writer");
	for (uint32_t i = 0; i < s->n; i++) {
		size_t h = (size_t)kinds[kind].hash(w, i) & (cap - 1);

		while (slot[h] != 0)
			h = (h + 1) & (cap - 1);
		slot[h] = i + 1;
	}
	free(s->slot);
	s->slot = slot;
	s->cap = cap;
	return 0;
}

/* the candidate has number s->n; the number of the row that is equal, or its own, which then belongs to the set */
static uint32_t
find_or_add(struct index_tables *w, enum index_kind kind)
{
	struct index_set *s = &w->set[kind];
	size_t h = (size_t)kinds[kind].hash(w, s->n) & (s->cap - 1);

	for (; s->slot[h] != 0; h = (h + 1) & (s->cap - 1))
		if (kinds[kind].equal(w, s->slot[h] - 1, s->n))
			return s->slot[h] - 1;
	s->slot[h] = ++s->n;
	return s->n - 1;
}

int
dray_index_intern(struct index_tables *w, enum index_kind kind, const uint8_t *row, uint32_t *out, struct dray_err *e)
{
	const struct kind *k = &kinds[kind];
	size_t len = w->t[k->t].len;
	uint32_t n = w->set[kind].n;

	if (grow(w, kind, e) != 0 || dray_index_append(w, k->t, row, dray_index_width[k->t], e) != 0)
		return -1;
	if (k->check != NULL && k->check(&w->view, n, e) != 0) {
		dray_index_cut(w, k->t, len);
		return -1;
	}
	*out = find_or_add(w, kind);
	if (*out != n)
		dray_index_cut(w, k->t, len);
	return 0;
}

int
dray_index_intern_xset(struct index_tables *w, uint32_t first_xattr, uint32_t *out, struct dray_err *e)
{
	uint32_t n = w->set[INDEX_XSET].n;

	if (grow(w, INDEX_XSET, e) != 0)
		return -1;
	if ((size_t)n + 2 > w->xset_cap) {
		size_t cap = w->xset_cap * 2 + 64;
		uint32_t *p = realloc(w->xset_first, cap * sizeof *p);

		if (p == NULL)
			return dray_fail_errno(e, "xattr sets");
		w->xset_first = p;
		w->xset_cap = cap;
	}
	w->xset_first[n] = first_xattr;
	w->xset_first[n + 1] = w->view.rows[DRAY_T_XATTRS];
	*out = find_or_add(w, INDEX_XSET);
	if (*out != n)
		dray_index_cut(w, DRAY_T_XATTRS, (size_t)first_xattr * X_WIDTH);
	return 0;
}

int
dray_index_tables_init(struct index_tables *w, struct dray_err *e)
{
	for (unsigned t = 0; t < DRAY_TABLES; t++)
		if (dray_index_append(w, (enum dray_table)t, "", 0, e) != 0)
			return -1;
	return 0;
}

void
dray_index_tables_free(struct index_tables *w)
{
	for (unsigned t = 0; t < DRAY_TABLES; t++)
		free(w->t[t].p);
	for (unsigned k = 0; k < INDEX_KINDS; k++)
		free(w->set[k].slot);
	free(w->xset_first);
	free(w->view.xset);
}
