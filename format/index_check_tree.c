/*
 * index_check_tree.c - the rules for entries: paths and their order, a directory above each, alternatives, hard links.
 *
 * Names are checked first and on all threads, each entry against the one before it; what needs the entries' order
 * (parents, sums, links) is one pass over entries whose names and row numbers are then known to be good. Source: spec/bundle-format.md 5.4.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dray/path.h"
#include "dray/pool.h"

#include "index_priv.h"

#define GRAIN 4096u			/* entries per job */
#define DEPTH_MAX (DRAY_PATH_MAX / 2)	/* most parts a path can have */

struct tree {
	const struct dray_index *ix;
	const struct dray_desc *desc;
	uint64_t all, exact;		/* bits of all bases, of the exact ones */
	uint32_t next_alt;
	uint32_t depth, dir[DEPTH_MAX];	/* the target's directories above the entry at hand, outermost first */
};

static int
wrap_entry(const struct dray_index *ix, uint32_t i, struct dray_err *e)
{
	char q[DRAY_QUOTE_CAP(160)];
	struct dray_entry en;

	dray_index_entry(ix, i, &en);
	return dray_wrap(e, "entry %" PRIu32 " (%s)", i, dray_quote(en.path, en.len, q, sizeof q));
}

int
dray_index_check_entry(const struct dray_index *ix, const struct dray_desc *desc, uint32_t i, struct dray_err *e)
{
	const uint8_t *p = ix_row(ix, DRAY_T_ENTRIES, i);
	uint32_t at = dray_get_u32(p + E_PATH), have = ix->rows[DRAY_T_STRINGS];
	struct dray_entry en, prev;
	const char *why = NULL;

	if (at > have || dray_get_u16(p + E_LEN) > have - at)
		return dray_fail(e, DRAY_E_FORMAT, "entry %" PRIu32 ": its path lies outside the strings", i);
	dray_index_entry(ix, i, &en);
	if (!dray_path_ok(en.path, en.len, &why)) {
		dray_fail(e, DRAY_E_FORMAT, "not a path: %s", why);
	} else if (dray_path_reserved(en.path, en.len)) {
		dray_fail(e, DRAY_E_FORMAT, "the path is reserved for dray itself");
	} else if ((en.flags & ~(DRAY_ENTRY_SAME | DRAY_ENTRY_CONFIG)) != 0) {
		dray_fail(e, DRAY_E_FORMAT, "unknown flags %#x", en.flags);
	} else if (desc != NULL && en.phase >= desc->n_phases) {
		dray_fail(e, DRAY_E_FORMAT, "phase %u of %zu", en.phase, desc->n_phases);
	} else if (en.compset >= ix->rows[DRAY_T_COMPSETS]) {
		dray_fail(e, DRAY_E_FORMAT, "names component set %u of %" PRIu32, en.compset, ix->rows[DRAY_T_COMPSETS]);
	} else if (en.target != DRAY_NONE && en.target >= ix->rows[DRAY_T_STATES]) {
		dray_fail(e, DRAY_E_FORMAT, "names state %" PRIu32 " of %" PRIu32, en.target, ix->rows[DRAY_T_STATES]);
	} else {
		if (i == 0)
			return 0;
		/* whether the path before lies inside the strings is its own check's to tell; here it must only not be read */
		if (dray_get_u32(p - E_WIDTH + E_PATH) > have || dray_get_u16(p - E_WIDTH + E_LEN) > have - dray_get_u32(p - E_WIDTH + E_PATH))
			return 0;
		dray_index_entry(ix, i - 1, &prev);
		if (dray_path_cmp(prev.path, prev.len, en.path, en.len) < 0)
			return 0;
		dray_fail(e, DRAY_E_FORMAT, "the path does not follow the one before it");
	}
	return wrap_entry(ix, i, e);
}

static int
check_name(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	const struct tree *t = ctx;

	(void)worker;
	return dray_index_check_entry(t->ix, t->desc, (uint32_t)i, e);
}

/* does the target hold a directory right above @en? Directories that end before it leave the stack. */
static int
check_parent(struct tree *t, uint32_t i, const struct dray_entry *en, struct dray_err *e)
{
	const char *slash = memrchr(en->path, '/', en->len);
	size_t need = slash != NULL ? (size_t)(slash - en->path) : 0, have = 0;

	while (t->depth != 0) {
		struct dray_entry d;

		dray_index_entry(t->ix, t->dir[t->depth - 1], &d);
		have = d.len;
		if (dray_path_under(en->path, en->len, d.path, d.len))
			break;
		have = 0;
		t->depth--;
	}
	if (en->target == DRAY_NONE)
		return 0;
	if (have != need)
		return dray_fail(e, DRAY_E_FORMAT, "the release has no directory for it");
	if (ix_row(t->ix, DRAY_T_STATES, en->target)[S_TYPE] == DRAY_DIR)
		t->dir[t->depth++] = i;		/* each holds at least two bytes of the path: DEPTH_MAX is enough */
	return 0;
}

/* is @state what the entry had in all of @bases? */
static bool
had_state(const struct dray_index *ix, const struct dray_entry *en, uint32_t state, uint64_t bases)
{
	if ((en->flags & DRAY_ENTRY_SAME) != 0)
		return en->target == state;
	for (uint32_t k = 0; k < en->alt_count; k++) {
		struct dray_alt a;

		dray_index_alt(ix, en->alt_first + k, &a);
		if (a.state == state)
			return (bases & ~a.bases) == 0;
	}
	return false;
}

/* a hard-link group is named by its first member, and that member has the very same state there */
static int
check_link(const struct tree *t, uint32_t i, uint32_t state, bool target, uint64_t bases, struct dray_err *e)
{
	uint32_t link = dray_get_u32(ix_row(t->ix, DRAY_T_STATES, state) + S_LINK);
	struct dray_entry first;

	if (link == 0)
		return 0;
	if (link - 1 > i)
		return dray_fail(e, DRAY_E_FORMAT, "its hard-link group is not named by the first member");
	dray_index_entry(t->ix, link - 1, &first);
	if (target ? first.target != state : !had_state(t->ix, &first, state, bases))
		return dray_fail(e, DRAY_E_FORMAT, "the first member of its hard-link group has another state");
	return 0;
}

static int
check_alts(struct tree *t, const struct dray_entry *en, struct dray_err *e)
{
	uint64_t seen = 0;
	uint32_t last = 0;
	bool any = en->target != DRAY_NONE;

	if (en->alt_first != t->next_alt || en->alt_count > t->ix->rows[DRAY_T_ALTS] - t->next_alt)
		return dray_fail(e, DRAY_E_FORMAT, "its alternatives do not follow those before them");
	t->next_alt += en->alt_count;
	if (en->alt_count > IX_ALTS_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " alternatives are above %u", en->alt_count, IX_ALTS_MAX);
	for (uint32_t k = 0; k < en->alt_count; k++) {
		struct dray_alt a;

		dray_index_alt(t->ix, en->alt_first + k, &a);
		if (a.state != DRAY_NONE && a.state >= t->ix->rows[DRAY_T_STATES])
			return dray_fail(e, DRAY_E_FORMAT, "alternative %" PRIu32 ": names state %" PRIu32 " of %" PRIu32, k,
			    a.state, t->ix->rows[DRAY_T_STATES]);
		if (a.bases == 0)
			return dray_fail(e, DRAY_E_FORMAT, "alternative %" PRIu32 ": belongs to no base", k);
		if ((a.bases & ~t->all) != 0)
			return dray_fail(e, DRAY_E_FORMAT, "alternative %" PRIu32 ": names a base that is not declared", k);
		if ((a.bases & seen & t->exact) != 0)
			return dray_fail(e, DRAY_E_FORMAT, "alternative %" PRIu32 ": an exact base has two states", k);
		if (k != 0 && a.state <= last)
			return dray_fail(e, DRAY_E_FORMAT, "alternative %" PRIu32 ": states do not ascend", k);
		seen |= a.bases;
		last = a.state;
		any = any || a.state != DRAY_NONE;
	}
	if (!any)
		return dray_fail(e, DRAY_E_FORMAT, "neither the release nor a base has it");
	if ((en->flags & DRAY_ENTRY_SAME) != 0) {
		if (en->alt_count != 0 || en->target == DRAY_NONE)
			return dray_fail(e, DRAY_E_FORMAT, "flag same with alternatives or without a state in the release");
		if (t->desc != NULL && t->all == 0)
			return dray_fail(e, DRAY_E_FORMAT, "flag same in a bundle without bases");
	} else if (t->desc != NULL && seen != t->all) {
		return dray_fail(e, DRAY_E_FORMAT, "not every base is told of");
	}
	return 0;
}

static int
check_links(const struct tree *t, uint32_t i, const struct dray_entry *en, struct dray_err *e)
{
	if (en->target != DRAY_NONE && check_link(t, i, en->target, true, 0, e) != 0)
		return -1;
	if ((en->flags & DRAY_ENTRY_SAME) != 0)
		return check_link(t, i, en->target, false, t->desc != NULL ? t->all : 0, e);
	for (uint32_t k = 0; k < en->alt_count; k++) {
		struct dray_alt a;

		dray_index_alt(t->ix, en->alt_first + k, &a);
		if (a.state != DRAY_NONE && check_link(t, i, a.state, false, a.bases, e) != 0)
			return -1;
	}
	return 0;
}

/* does every base have here what the target state has: the same content, and the same hard-link group? */
static bool
same_everywhere(const struct dray_index *ix, const struct dray_entry *en, const struct dray_state *to)
{
	if ((en->flags & DRAY_ENTRY_SAME) != 0)
		return true;
	for (uint32_t k = 0; k < en->alt_count; k++) {
		struct dray_state s;
		struct dray_alt a;

		dray_index_alt(ix, en->alt_first + k, &a);
		if (a.state == DRAY_NONE)
			return false;
		dray_index_state(ix, a.state, &s);
		if (s.type != DRAY_FILE || s.content != to->content || s.link != to->link)
			return false;
	}
	return en->alt_count != 0;
}

int
dray_index_check_sizes(const struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e)
{
	uint32_t first = 0, n = ix->rows[DRAY_T_CONTENTS];
	struct dray_content c;
	struct dray_entry en;
	struct dray_state s;

	while (first < n && dray_get_u64(ix_row(ix, DRAY_T_CONTENTS, first) + N_SIZE) != DRAY_SIZE_UNKNOWN)
		first++;
	if (first == n)
		return 0;
	if (!dray_index_may(desc, "history"))
		return dray_fail(e, DRAY_E_FORMAT, "content %" PRIu32 ": of unknown size without the feature \"history\"", first);
	for (uint32_t i = 0; i < ix->rows[DRAY_T_ENTRIES]; i++) {
		dray_index_entry(ix, i, &en);
		if (en.target == DRAY_NONE)
			continue;
		dray_index_state(ix, en.target, &s);
		if (s.type != DRAY_FILE)
			continue;
		dray_index_content(ix, s.content, &c);
		if (c.size == DRAY_SIZE_UNKNOWN && !same_everywhere(ix, &en, &s)) {
			dray_fail(e, DRAY_E_FORMAT, "a content of unknown size that not every base has here");
			return wrap_entry(ix, i, e);
		}
	}
	return 0;
}

int
dray_index_check_names(const struct dray_index *ix, const struct dray_desc *desc, unsigned threads, struct dray_err *e)
{
	struct tree t = { .ix = ix, .desc = desc };

	return dray_parallel(threads < 256 ? threads : 256, ix->rows[DRAY_T_ENTRIES], GRAIN, check_name, &t, e);
}

int
dray_index_check_tree(const struct dray_index *ix, const struct dray_desc *desc, struct dray_err *e)
{
	struct tree t = { .ix = ix, .desc = desc, .all = UINT64_MAX };

	if (desc != NULL) {
		t.all = desc->n_bases >= 64 ? UINT64_MAX : ((uint64_t)1 << desc->n_bases) - 1;
		for (size_t i = 0; i < desc->n_bases && i < 64; i++)
			if (!desc->bases[i].history)
				t.exact |= (uint64_t)1 << i;
	}
	for (uint32_t i = 0; i < ix->rows[DRAY_T_ENTRIES]; i++) {
		struct dray_entry en;

		dray_index_entry(ix, i, &en);
		if (check_parent(&t, i, &en, e) != 0 || check_alts(&t, &en, e) != 0 || check_links(&t, i, &en, e) != 0)
			return wrap_entry(ix, i, e);
	}
	if (t.next_alt != ix->rows[DRAY_T_ALTS])
		return dray_fail(e, DRAY_E_FORMAT, "alternative row %" PRIu32 ": belongs to no entry", t.next_alt);
	return 0;
}
