/*
 * fbsd_compare.c - the paths of a release against the lines of the list it came from: each path has its line, each line of
 * the bundle's components its path, or it stands among what was left out.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/fbsd_proof.h"
#include "dray/num.h"
#include "dray/path.h"

struct pair {			/* a path, in path order */
	const struct dray_fbsd_line *l;	/* NULL: the list does not have it */
	uint64_t comps;		/* of all lines of the path */
	uint32_t row;		/* DRAY_NONE: the release does not have it */
	uint32_t link;		/* of the state that it should have */
};

struct comparing {
	const struct dray_desc *d;
	const struct dray_index *ix;
	struct dray_fbsd_proof *p;
	struct dray_fbsd_lines lines;	/* of the bundle's components */
	uint64_t *comps;		/* per line: the bit of its component */
	struct pair *pairs;
	size_t n_pairs;
	size_t paths_at;		/* in p->left, where paths begin */
	size_t differ;			/* paths so far */
	struct dray_err *e;		/* filled by the first of them */
};

/* --- what is not in the bundle --------------------------------------------------------------------------------- */

static int
add_left(struct dray_fbsd_proof *p, const struct dray_fbsd_left *x, struct dray_err *e)
{
	if (p->n_left == p->cap_left) {
		uint64_t cap = p->cap_left == 0 ? 64 : (uint64_t)p->cap_left * 2, bytes;
		struct dray_fbsd_left *v;
		size_t len;

		if (!dray_mul(cap, sizeof(*v), &bytes) || !dray_fit(bytes, &len) || (v = realloc(p->left, len)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		p->left = v;
		p->cap_left = (size_t)cap;
	}
	p->left[p->n_left++] = *x;
	return 0;
}

/* "component|sub": as it stands at the begin of a line */
static int
count_component(struct dray_fbsd_proof *p, const struct dray_fbsd_line *l, struct dray_err *e)
{
	static const char why[] = "not in this bundle";
	const size_t len = (size_t)(l->sub - l->component) + l->sub_len;

	for (size_t i = 0; i < p->n_left; i++)
		if (p->left[i].len == len && memcmp(p->left[i].name, l->component, len) == 0) {
			p->left[i].lines++;
			return 0;
		}
	if (p->n_left == DRAY_MAX_COMPONENTS)
		return dray_fail(e, DRAY_E_FORMAT, "the list has more than %u components", DRAY_MAX_COMPONENTS);
	return add_left(p, &(struct dray_fbsd_left){ .how = DRAY_LEFT_COMPONENT, .name = l->component, .len = len, .why = why,
	    .why_len = sizeof(why) - 1, .lines = 1 }, e);
}

/* HOW|PATH|WHY */
static bool
parse_left(const char *line, size_t len, struct dray_fbsd_left *x)
{
	const char *bar = memchr(line, '|', len), *path, *end;

	if (bar == NULL)
		return false;
	path = bar + 1;
	if ((end = memchr(path, '|', len - (size_t)(path - line))) == NULL)
		return false;
	*x = (struct dray_fbsd_left){ .name = path, .len = (size_t)(end - path), .why = end + 1,
		.why_len = len - (size_t)(end + 1 - line) };
	if (bar - line == 3 && memcmp(line, "all", 3) == 0)
		x->how = DRAY_LEFT_ALL;
	else if (bar - line == 7 && memcmp(line, "beneath", 7) == 0)
		x->how = DRAY_LEFT_BENEATH;
	else
		return false;
	return dray_path_ok(x->name, x->len, NULL) && x->why_len > 0 && x->why_len <= 200;
}

/* ascending, and none beneath another: so what covers a path is found by one look */
static int
read_left_out(struct dray_fbsd_proof *p, const char *text, size_t len, struct dray_err *e)
{
	const size_t first = p->n_left;
	struct dray_fbsd_left x;

	for (size_t at = 0, n = 1; at < len; n++) {
		const char *nl = memchr(text + at, '\n', len - at);
		const struct dray_fbsd_left *last = p->n_left > first ? &p->left[p->n_left - 1] : NULL;

		if (nl == NULL || !parse_left(text + at, (size_t)(nl - text) - at, &x) || (last != NULL &&
		    (dray_path_cmp(last->name, last->len, x.name, x.len) >= 0 ||
		    dray_path_under(x.name, x.len, last->name, last->len))))
			return dray_fail(e, DRAY_E_FORMAT, "line %zu of notes/" DRAY_UPSTREAM_LEFT_OUT " says nothing", n);
		if (add_left(p, &x, e) != 0)
			return -1;
		at = (size_t)(nl - text) + 1;
	}
	return 0;
}

/* was this path left out on purpose? Counts it, if so */
static bool
left_out(struct comparing *c, size_t end, const struct dray_fbsd_line *l)
{
	size_t low = c->paths_at, high = end;
	struct dray_fbsd_left *x;

	while (low < high) {		/* the first one behind the path */
		size_t mid = low + (high - low) / 2;

		if (dray_path_cmp(c->p->left[mid].name, c->p->left[mid].len, l->path, l->path_len) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == c->paths_at)
		return false;
	x = &c->p->left[low - 1];
	if (!dray_path_under(l->path, l->path_len, x->name, x->len) ||
	    (x->how == DRAY_LEFT_BENEATH && x->len == l->path_len))
		return false;
	x->lines++;
	return true;
}

/* --- pairs ------------------------------------------------------------------------------------------------------ */

static int
select_lines(struct comparing *c, const struct dray_fbsd_list *list, struct dray_err *e)
{
	const struct dray_fbsd_parts all = { .n = 0 };
	struct dray_fbsd_lines *l = &c->lines;
	size_t n = 0;

	if (dray_fbsd_lines_add(l, list, &all, e) != 0)
		return -1;
	c->p->lines = l->n;
	if ((c->comps = calloc(l->n + 1, sizeof(*c->comps))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < l->n; i++) {
		uint64_t bit = 0;

		for (size_t k = 0; bit == 0 && k < c->d->n_components; k++)
			if (dray_fbsd_part_covers(c->d->components[k], &l->v[i]))
				bit = UINT64_C(1) << k;
		if (bit == 0 && count_component(c->p, &l->v[i], e) != 0)
			return -1;
		if (bit == 0)
			continue;
		c->comps[n] = bit;
		l->v[n++] = l->v[i];
	}
	l->n = n;
	return 0;
}

/* a directory of several components has, in a bundle, the attributes of its first line */
static int
take_line(struct comparing *c, struct pair *pr, size_t i, struct dray_err *e)
{
	static const char why[] = "listed twice, with other attributes; the first counts";
	const struct dray_fbsd_line *l = &c->lines.v[i];
	struct dray_attrs a, b;

	pr->comps |= c->comps[i];
	if (pr->l == NULL) {
		pr->l = l;
		return 0;
	}
	dray_fbsd_attrs(pr->l, c->d->os, &a);
	dray_fbsd_attrs(l, c->d->os, &b);
	if (a.uid == b.uid && a.gid == b.gid && a.mode == b.mode && a.flags == b.flags)
		return 0;
	return add_left(c->p, &(struct dray_fbsd_left){ .how = DRAY_LEFT_TWICE, .name = l->path, .len = l->path_len, .why = why,
	    .why_len = sizeof(why) - 1, .lines = 1 }, e);
}

/* both sides are in path order */
static int
join(struct comparing *c, struct dray_err *e)
{
	const uint32_t rows = dray_index_rows(c->ix, DRAY_T_ENTRIES);
	const struct dray_fbsd_lines *l = &c->lines;
	uint32_t row = 0;
	size_t i = 0;

	if ((c->pairs = calloc(l->n + rows + 1, sizeof(*c->pairs))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	while (i < l->n || row < rows) {
		struct pair *pr = &c->pairs[c->n_pairs];
		const char *path = NULL;
		struct dray_entry en = { .target = DRAY_NONE };
		size_t len = 0;
		int cmp = 1;

		*pr = (struct pair){ .row = DRAY_NONE };
		if (row < rows) {
			dray_index_entry(c->ix, row, &en);
			cmp = i == l->n ? -1 : dray_path_cmp(en.path, en.len, l->v[i].path, l->v[i].path_len);
		}
		if (cmp <= 0 && en.target != DRAY_NONE)
			pr->row = row;
		c->p->removed += cmp <= 0 && en.target == DRAY_NONE;
		row += cmp <= 0;
		if (cmp >= 0) {
			path = l->v[i].path;
			len = l->v[i].path_len;
		}
		for (; cmp >= 0 && i < l->n && dray_path_cmp(path, len, l->v[i].path, l->v[i].path_len) == 0; i++)
			if (take_line(c, pr, i, e) != 0)
				return -1;
		c->n_pairs += pr->row != DRAY_NONE || pr->l != NULL;
	}
	return 0;
}

/* of paths that both sides have: which are names of one file */
static int
find_links(struct comparing *c, struct dray_err *e)
{
	const struct dray_fbsd_line **v = calloc(c->n_pairs + 1, sizeof(const struct dray_fbsd_line *));
	uint32_t *group = calloc(c->n_pairs + 1, sizeof(*group)), *rows = calloc(c->n_pairs + 1, sizeof(*rows));
	size_t n = 0, k = 0;
	int rc = -1;

	if (v == NULL || group == NULL || rows == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < c->n_pairs; i++)
		if (c->pairs[i].l != NULL && c->pairs[i].row != DRAY_NONE) {
			rows[n] = c->pairs[i].row;
			v[n++] = c->pairs[i].l;
		}
	if (dray_fbsd_groups(v, n, group, e) != 0)
		goto out;
	for (size_t i = 0; i < c->n_pairs; i++)
		if (c->pairs[i].l != NULL && c->pairs[i].row != DRAY_NONE) {
			c->pairs[i].link = group[k] != 0 ? rows[group[k] - 1] + 1 : 0;
			k++;
		}
	rc = 0;
out:
	free(v);
	free(group);
	free(rows);
	return rc;
}

/* --- differences ------------------------------------------------------------------------------------------------ */

/* a path differs; only the first one is told */
static void DRAY_PRINTF(3, 4)
differs(struct comparing *c, const struct dray_entry *en, const char *fmt, ...)
{
	char quoted[400], what[600];
	va_list ap;

	if (c->differ++ > 0)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	dray_fail(c->e, DRAY_E_TRUST, "%s: %s", dray_quote(en->path, en->len, quoted, sizeof(quoted)), what);
}

static const char *
type_name(uint8_t type)
{
	static const char *const name[] = { "nothing", "file", "directory", "symlink", "fifo", "character device",
		"block device" };

	return name[type];
}

/* an attribute in words */
static const char *
attr_text(const struct dray_attrs *a, uint16_t bit, char out[24])
{
	if ((a->has & bit) == 0)
		return "not told";
	if (bit == DRAY_HAS_UID || bit == DRAY_HAS_GID)
		snprintf(out, 24, "%" PRIu32, bit == DRAY_HAS_UID ? a->uid : a->gid);
	else if (bit == DRAY_HAS_MODE)
		snprintf(out, 24, "%04" PRIo32, a->mode);
	else if (bit == DRAY_HAS_FLAGS)
		snprintf(out, 24, "%#" PRIx32, a->flags);
	else
		return "told";
	return out;
}

/* true: they differ, and that was told */
static bool
attrs_differ(struct comparing *c, const struct pair *pr, const struct dray_entry *en, const struct dray_state *s)
{
	static const struct { uint16_t bit; const char *name; } v[] = { { DRAY_HAS_UID, "owner" }, { DRAY_HAS_GID, "group" },
		{ DRAY_HAS_MODE, "mode" }, { DRAY_HAS_FLAGS, "flags" }, { DRAY_HAS_XATTRS, "extended attributes" } };
	struct dray_attrs a, w;
	char is[24], wanted[24];

	dray_index_attrs(c->ix, s->attrs, &a);
	dray_fbsd_attrs(pr->l, c->d->os, &w);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		const char *x = attr_text(&a, v[i].bit, is), *y = attr_text(&w, v[i].bit, wanted);

		if (strcmp(x, y) == 0)
			continue;
		differs(c, en, "%s: %s in the bundle, %s in the list", v[i].name, x, y);
		return true;
	}
	if (s->has_mtime)
		differs(c, en, "time: told in the bundle, not in the list");
	return s->has_mtime;
}

/* what a state is, besides attributes */
static bool
matter_differs(struct comparing *c, const struct pair *pr, const struct dray_entry *en, const struct dray_state *s)
{
	static const uint8_t type[] = { ['f'] = DRAY_FILE, ['d'] = DRAY_DIR, ['L'] = DRAY_SYMLINK };
	const struct dray_fbsd_line *l = pr->l;
	char is[300], wanted[300];
	struct dray_content ct;

	if (s->type != type[(unsigned char)l->type]) {
		differs(c, en, "type: %s in the bundle, %s in the list", type_name(s->type),
		    type_name(type[(unsigned char)l->type]));
		return true;
	}
	if (s->type == DRAY_FILE) {
		dray_index_content(c->ix, s->content, &ct);
		if (memcmp(ct.sha256, l->sha256, 32) == 0)
			return false;
		differs(c, en, "content: %s in the bundle, %s in the list", dray_hex(ct.sha256, 32, is),
		    dray_hex(l->sha256, 32, wanted));
		return true;
	}
	if (s->type != DRAY_SYMLINK || (s->target_len == l->target_len && memcmp(s->target, l->target, l->target_len) == 0))
		return false;
	differs(c, en, "target: \"%s\" in the bundle, \"%s\" in the list", dray_quote(s->target, s->target_len, is, sizeof(is)),
	    dray_quote(l->target, l->target_len, wanted, sizeof(wanted)));
	return true;
}

/* the first name of a hard-link group */
static const char *
link_text(const struct comparing *c, uint32_t link, char *out, size_t cap)
{
	struct dray_entry en;

	if (link == 0)
		return "none";
	dray_index_entry(c->ix, link - 1, &en);
	return dray_quote(en.path, en.len, out, cap);
}

static void
compare_state(struct comparing *c, const struct pair *pr, const struct dray_entry *en)
{
	uint64_t comps = dray_index_compset(c->ix, en->compset);
	struct dray_state s;
	char is[240], wanted[240];

	dray_index_state(c->ix, en->target, &s);
	if (matter_differs(c, pr, en, &s) || attrs_differ(c, pr, en, &s))
		return;
	if (s.link != pr->link)
		differs(c, en, "hard link: of %s in the bundle, of %s in the list", link_text(c, s.link, is, sizeof(is)),
		    link_text(c, pr->link, wanted, sizeof(wanted)));
	/* a directory also belongs to all components of what lies beneath it */
	else if (s.type == DRAY_DIR ? (pr->comps & ~comps) != 0 : pr->comps != comps)
		differs(c, en, "components: others in the bundle than in the list");
	else
		c->p->paths++;
}

static int
compare_all(struct comparing *c, size_t end)
{
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct pair *pr = &c->pairs[i];
		struct dray_entry en = { .path = NULL };

		if (pr->row != DRAY_NONE)
			dray_index_entry(c->ix, pr->row, &en);
		if (pr->row != DRAY_NONE && pr->l != NULL) {
			compare_state(c, pr, &en);
		} else if (pr->row != DRAY_NONE) {
			differs(c, &en, "it is in the bundle, and not in the list");
		} else if (!left_out(c, end, pr->l)) {
			en.path = pr->l->path;
			en.len = pr->l->path_len;
			differs(c, &en, "it is in the list, and neither in the bundle nor among what was left out");
		}
	}
	if (c->differ == 0)
		return 0;
	if (c->differ > 1)
		dray_wrap(c->e, "%zu paths are not as upstream's list has them; the first", c->differ);
	return dray_hint(c->e, "whoever signed the bundle changed what upstream had signed: ask why before you install it");
}

int
dray_fbsd_compare(const struct dray_desc *d, const struct dray_index *ix, const struct dray_fbsd_list *list,
    const char *left, size_t left_len, struct dray_fbsd_proof *p, struct dray_err *e)
{
	struct comparing c = { .d = d, .ix = ix, .p = p, .e = e };
	size_t end = 0;
	int rc = select_lines(&c, list, e);

	c.paths_at = p->n_left;
	if (rc == 0 && (rc = read_left_out(p, left, left_len, e)) == 0) {
		end = p->n_left;
		rc = join(&c, e);
	}
	if (rc == 0 && (rc = find_links(&c, e)) == 0)
		rc = compare_all(&c, end);
	dray_fbsd_lines_free(&c.lines);
	free(c.comps);
	free(c.pairs);
	return rc;
}
