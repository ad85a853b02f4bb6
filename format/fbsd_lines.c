/*
 * fbsd_lines.c - metadata files: from text to checked lines, and what a line says of an object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/fbsd_lines.h"
#include "dray/fflags.h"
#include "dray/num.h"
#include "dray/path.h"

static bool
text_is(const char *p, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(p, text, len) == 0;
}

int
dray_fbsd_parts_add(struct dray_fbsd_parts *p, const char *list, struct dray_err *e)
{
	char quoted[120];

	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ","), good = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-/");
		const char *slash = memchr(at, '/', len);

		if (len == 0 || len >= sizeof(p->v[0]) || good < len || at[0] == '/' || at[len - 1] == '/' ||
		    (slash != NULL && memchr(slash + 1, '/', len - (size_t)(slash + 1 - at)) != NULL))
			return dray_fail(e, DRAY_E_USAGE, "the component \"%s\": one such as world or world/base is wanted",
			    dray_quote(at, len, quoted, sizeof(quoted)));
		if (p->n == DRAY_FBSD_PARTS)
			return dray_fail(e, DRAY_E_USAGE, "more than %d components", DRAY_FBSD_PARTS);
		snprintf(p->v[p->n++], sizeof(p->v[0]), "%.*s", (int)len, at);
		at += len;
		if (*at == '\0')
			return 0;
	}
}

bool
dray_fbsd_part_covers(const char *part, const struct dray_fbsd_line *l)
{
	const char *slash = strchr(part, '/');

	if (slash == NULL)
		return text_is(l->component, l->component_len, part);
	return l->component_len == (size_t)(slash - part) && memcmp(l->component, part, l->component_len) == 0 &&
	    text_is(l->sub, l->sub_len, slash + 1);
}

bool
dray_fbsd_parts_want(const struct dray_fbsd_parts *p, const struct dray_fbsd_line *l)
{
	for (size_t i = 0; i < p->n; i++)
		if (dray_fbsd_part_covers(p->v[i], l))
			return true;
	return p->n == 0;
}

static int
append(struct dray_fbsd_lines *l, const struct dray_fbsd_line *line, struct dray_err *e)
{
	uint64_t cap = l->cap == 0 ? 256 : (uint64_t)l->cap * 2, bytes;
	struct dray_fbsd_line *v;
	size_t len;

	if (l->n == l->cap) {
		if (!dray_mul(cap, sizeof(*v), &bytes) || !dray_fit(bytes, &len) || (v = realloc(l->v, len)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		l->v = v;
		l->cap = (size_t)cap;
	}
	l->v[l->n++] = *line;
	return 0;
}

void
dray_fbsd_lines_free(struct dray_fbsd_lines *l)
{
	free(l->v);
	*l = (struct dray_fbsd_lines){ .v = NULL };
}

static int
text_cmp(const char *a, size_t alen, const char *b, size_t blen)
{
	int c = memcmp(a, b, alen < blen ? alen : blen);

	return c != 0 ? c : (alen > blen) - (alen < blen);
}

static int
path_cmp(const struct dray_fbsd_line *a, const struct dray_fbsd_line *b)
{
	return dray_path_cmp(a->path, a->path_len, b->path, b->path_len);
}

/* equal in all that one object is, whatever its names */
static int
object_cmp(const struct dray_fbsd_line *a, const struct dray_fbsd_line *b)
{
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	if (a->gid != b->gid)
		return a->gid < b->gid ? -1 : 1;
	if (a->mode != b->mode)
		return a->mode < b->mode ? -1 : 1;
	if (a->flags != b->flags)
		return a->flags < b->flags ? -1 : 1;
	return a->type == 'f' ? memcmp(a->sha256, b->sha256, 32) : 0;
}

/* equal in all that a tree shows */
static int
state_cmp(const struct dray_fbsd_line *a, const struct dray_fbsd_line *b)
{
	int c = object_cmp(a, b);

	if (c != 0)
		return c;
	return a->target == NULL || b->target == NULL ? (a->target != NULL) - (b->target != NULL) :
	    text_cmp(a->target, a->target_len, b->target, b->target_len);
}

static int
line_cmp(const void *pa, const void *pb)
{
	const struct dray_fbsd_line *a = pa, *b = pb;
	int c = path_cmp(a, b);

	if (c == 0)
		c = state_cmp(a, b);
	if (c == 0)
		c = text_cmp(a->component, a->component_len, b->component, b->component_len);
	return c != 0 ? c : text_cmp(a->sub, a->sub_len, b->sub, b->sub_len);
}

void
dray_fbsd_lines_sort(struct dray_fbsd_lines *l)
{
	if (l->n > 1)
		qsort(l->v, l->n, sizeof(l->v[0]), line_cmp);
}

static int
bad_line(const struct dray_fbsd_list *t, size_t number, const char *line, size_t len, const char *why, struct dray_err *e)
{
	char quoted[200];

	dray_fail(e, DRAY_E_FORMAT, "%s of %s, line %zu (%s): %s", t->file, t->of, number,
	    dray_quote(line, len, quoted, sizeof(quoted)), why);
	return dray_hint(e, "the server's list is signed but cannot be used; tell its owner");
}

/* the number of the line that @l came from */
static size_t
number_of(const struct dray_fbsd_list *t, const struct dray_fbsd_line *l)
{
	size_t n = 1;

	for (const char *p = t->p; p < l->component; p++)
		n += *p == '\n';
	return n;
}

static int
bad_path(const struct dray_fbsd_list *t, const struct dray_fbsd_line *l, const char *why, struct dray_err *e)
{
	return bad_line(t, number_of(t, l), l->path, l->path_len, why, e);
}

static const struct dray_fbsd_line *
find(const struct dray_fbsd_lines *l, const char *path, size_t len)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = dray_path_cmp(l->v[mid].path, l->v[mid].path_len, path, len);

		if (c == 0)
			return &l->v[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* what is a file or symlink holds nothing: the lines are in order, so it would follow at once */
static int
check_shape(const struct dray_fbsd_list *t, const struct dray_fbsd_lines *l, struct dray_err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct dray_fbsd_line *a = i > 0 ? &l->v[i - 1] : NULL, *b = &l->v[i], *to;

		if (b->type == '-')
			return bad_path(t, b, "the release is told to lack it", e);
		if (a != NULL && path_cmp(a, b) == 0 && (a->type != 'd' || b->type != 'd') && state_cmp(a, b) != 0)
			return bad_path(t, b, "it stands there twice, not alike", e);
		if (a != NULL && path_cmp(a, b) == 0 && a->component_len == b->component_len && a->sub_len == b->sub_len &&
		    memcmp(a->component, b->component, a->component_len) == 0 && memcmp(a->sub, b->sub, a->sub_len) == 0)
			return bad_path(t, b, "it stands there twice", e);
		if (a != NULL && a->type != 'd' && a->path_len < b->path_len &&
		    dray_path_under(b->path, b->path_len, a->path, a->path_len))
			return bad_path(t, b, a->type == 'L' ? "it lies beneath a symlink" : "it lies beneath a file", e);
		if (b->type != 'f' || b->target_len == 0)
			continue;
		to = find(l, b->target, b->target_len);
		if (to == NULL || to->type != 'f' || memcmp(to->sha256, b->sha256, 32) != 0)
			return bad_path(t, b, "the file it is a hard link to is not there, or another", e);
	}
	return 0;
}

static int
read_lines(const struct dray_fbsd_list *t, struct dray_fbsd_lines *all, struct dray_err *e)
{
	size_t at = 0, number = 0;

	while (at < t->len) {
		const char *nl = memchr(t->p + at, '\n', t->len - at), *why;
		size_t len = nl != NULL ? (size_t)(nl - t->p) - at : t->len - at;
		struct dray_fbsd_line l;

		number++;
		if (!dray_fbsd_line_parse(t->p + at, len, &l, &why))
			return bad_line(t, number, t->p + at, len, why, e);
		if (l.path_len > 0 && dray_path_reserved(l.path, l.path_len))
			return bad_line(t, number, t->p + at, len, "a name that the installer keeps for itself", e);
		if (l.path_len > 0 && append(all, &l, e) != 0)
			return -1;
		at += len + 1;
	}
	return 0;
}

/* a component that nobody has is a slip */
static int
check_parts(const struct dray_fbsd_lines *all, const struct dray_fbsd_list *t, const struct dray_fbsd_parts *parts,
    struct dray_err *e)
{
	for (size_t i = 0; i < parts->n; i++) {
		size_t k = 0;

		while (k < all->n && !dray_fbsd_part_covers(parts->v[i], &all->v[k]))
			k++;
		if (k < all->n)
			continue;
		return dray_fail(e, DRAY_E_USAGE, "%s has no component %s", t->of, parts->v[i]);
	}
	return 0;
}

int
dray_fbsd_lines_add(struct dray_fbsd_lines *l, const struct dray_fbsd_list *t, const struct dray_fbsd_parts *parts,
    struct dray_err *e)
{
	struct dray_fbsd_lines all = { .v = NULL };
	int rc = read_lines(t, &all, e);

	dray_fbsd_lines_sort(&all);
	if (rc == 0 && t->tree && ((rc = check_shape(t, &all, e)) == 0))
		rc = check_parts(&all, t, parts, e);
	for (size_t i = 0; rc == 0 && i < all.n; i++)
		if (dray_fbsd_parts_want(parts, &all.v[i]))
			rc = append(l, &all.v[i], e);
	dray_fbsd_lines_free(&all);
	return rc;
}

void
dray_fbsd_attrs(const struct dray_fbsd_line *l, const char *os, struct dray_attrs *out)
{
	*out = (struct dray_attrs){ .has = DRAY_HAS_UID | DRAY_HAS_GID, .uid = l->uid, .gid = l->gid };
	if (l->type == 'L')	/* the mode of a symlink is 0755 there and 0777 elsewhere, and says nothing */
		return;
	out->has |= DRAY_HAS_MODE;
	out->mode = l->mode;
	if (dray_fflags_known(os) == 0)
		return;
	out->has |= DRAY_HAS_FLAGS;
	out->flags = dray_fflags_raw(os, dray_fflags_of("freebsd", l->flags));
}

struct name {			/* a file, and the first name of the hard-link group that the server puts it in */
	const char *first;
	const struct dray_fbsd_line *l;
	size_t i;		/* its place among those that were given */
	uint32_t first_len;
};

/* names of one group and one state beside each other */
static int
name_cmp(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;
	int c = dray_path_cmp(a->first, a->first_len, b->first, b->first_len);

	if (c == 0)
		c = object_cmp(a->l, b->l);
	return c != 0 ? c : (a->i > b->i) - (a->i < b->i);
}

int
dray_fbsd_groups(const struct dray_fbsd_line *const *v, size_t n, uint32_t *group, struct dray_err *e)
{
	struct name *names = calloc(n + 1, sizeof(*names));
	size_t files = 0, first = 0;

	if (names == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++) {
		const struct dray_fbsd_line *l = v[i];

		group[i] = 0;
		if (l->type == 'f' && l->target_len > 0)
			names[files++] = (struct name){ l->target, l, i, l->target_len };
		else if (l->type == 'f')
			names[files++] = (struct name){ l->path, l, i, l->path_len };
	}
	qsort(names, files, sizeof(*names), name_cmp);
	for (size_t i = 1; i < files; i++) {
		const struct name *a = &names[first], *b = &names[i];

		if (dray_path_cmp(a->first, a->first_len, b->first, b->first_len) != 0 || object_cmp(a->l, b->l) != 0)
			first = i;
		else
			group[a->i] = group[b->i] = (uint32_t)a->i + 1;
	}
	free(names);
	return 0;
}
