/*
 * diff.c - walks two releases side by side in path order and tells what differs; of two bundles first how they were
 * made, because other encoders explain everything that follows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/diff.h"
#include "dray/path.h"

static const char *
short_name(const struct diff *d, int side, char out[200])
{
	return dray_quote(d->o->name[side], strlen(d->o->name[side]), out, 200);
}

void
build_diff_tell(struct diff *d, const char *path, size_t len, const char *field, const char *a, const char *b)
{
	char quoted[DRAY_QUOTE_CAP(DRAY_PATH_MAX)], name[200];

	d->found++;
	d->done = !d->o->all;
	if (d->list != NULL) {
		struct dray_json *x = dray_json_push_obj(d->list);

		if (path != NULL)
			dray_json_set_path(x, "path", path, len);
		dray_json_set_str(x, "field", field);
		if (a != NULL)
			dray_json_set_str(x, "a", a);
		if (b != NULL)
			dray_json_set_str(x, "b", b);
		return;
	}
	if (path != NULL)
		printf("%s: ", dray_quote(path, len, quoted, sizeof(quoted)));
	if (strcmp(field, "path") == 0)
		printf("only in %s\n", short_name(d, a != NULL ? 0 : 1, name));
	else
		printf("%s: %s | %s\n", field, a != NULL ? a : "none", b != NULL ? b : "none");
}

static bool
ignored(const struct diff *d, const char *field)
{
	for (size_t i = 0; i < d->o->ignore.n; i++)
		if (strcmp(d->o->ignore.v[i], field) == 0)
			return true;
	return false;
}

static void
compare_items(struct diff *d, const struct diff_item *a, const struct diff_item *b)
{
	struct diff_text text;
	unsigned at = 0;

	if (a->type == DRAY_ABSENT && b->type == DRAY_ABSENT)
		return;
	if (a->type == DRAY_ABSENT || b->type == DRAY_ABSENT) {
		build_diff_tell(d, a->path, a->len, "path", a->type != DRAY_ABSENT ? "there" : NULL,
		    b->type != DRAY_ABSENT ? "there" : NULL);
		return;
	}
	/* a bundle may leave an attribute open; a tree never does */
	while (!d->done && build_diff_fields(a, b, d->bundles, &at, &text))
		if (!ignored(d, text.field))
			build_diff_tell(d, a->path, a->len, text.field, text.a, text.b);
}

/* a path that one side does not even mention; entries that a release removes count between bundles only */
static void
one_sided(struct diff *d, const struct diff_item *it, int side)
{
	if (it->type == DRAY_ABSENT && !d->bundles)
		return;
	build_diff_tell(d, it->path, it->len, "path", side == 0 ? "there" : NULL, side == 1 ? "there" : NULL);
}

static int
walk(struct diff *d, struct dray_err *e)
{
	const struct diff_side *s = &d->side[0], *t = &d->side[1];
	uint32_t i = 0, k = 0;

	while ((i < s->n || k < t->n) && !d->done) {
		struct diff_item a = { 0 }, b = { 0 };
		int c;

		if (tool_signal_seen() != 0)
			return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
		if (i < s->n)
			build_diff_item(s, i, &a);
		if (k < t->n)
			build_diff_item(t, k, &b);
		c = i == s->n ? 1 : k == t->n ? -1 : dray_path_cmp(a.path, a.len, b.path, b.len);
		if (c < 0)
			one_sided(d, &a, 0);
		else if (c > 0)
			one_sided(d, &b, 1);
		else
			compare_items(d, &a, &b);
		if (c == 0 && d->bundles && !d->done)
			build_diff_placing(d, i, k);
		i += c <= 0;
		k += c >= 0;
	}
	return 0;
}

static int
compare(struct diff *d, struct dray_err *e)
{
	bool same_id = d->bundles &&
	    memcmp(dray_bundle_id(d->side[0].b), dray_bundle_id(d->side[1].b), 32) == 0;

	/* the id covers every byte outside the slot */
	if (same_id)
		return 0;
	if (d->bundles && build_diff_head(d, e) != 0)
		return -1;
	if (walk(d, e) != 0)
		return -1;
	if (!d->bundles)
		return 0;
	if (!d->done && build_diff_making(d, e) != 0)
		return -1;
	if (!d->done)
		build_diff_members(d);
	if (d->found == 0)
		build_diff_tell(d, NULL, 0, "layout", "equal in all that was compared", "but not the same bytes");
	return 0;
}

/* what a source left out was not compared, so it is told */
static void
warn(const struct diff *d)
{
	char name[200], path[400];

	for (int i = 0; i < 2; i++) {
		const struct build_release *r = d->side[i].r;

		if (r == NULL || r->n_notices == 0 || d->o->common->quiet)
			continue;
		fprintf(stderr, "%s: %s: %zu object%s left out, first %s: %s\n", tool_prog, short_name(d, i, name),
		    r->n_notices, r->n_notices == 1 ? " was" : "s were", dray_quote(r->notices[0].path, r->notices[0].len, path, sizeof(path)), r->notices[0].why);
	}
}

static int
report(struct diff *d, struct dray_json *j, struct dray_err *e)
{
	char a[200], b[200];

	warn(d);
	if (j != NULL) {
		dray_json_set_bool(j, "equal", d->found == 0);
		dray_json_set_bool(j, "complete", !d->done);
		return tool_json(j, e) == 0 ? 0 : -1;
	}
	if (d->o->common->quiet)
		return 0;
	short_name(d, 0, a);
	short_name(d, 1, b);
	if (d->found == 0)
		printf("%s and %s are the same%s\n", a, b, d->bundles ? "; signatures are not compared" : "");
	else if (d->done)
		printf("%s and %s differ; the first difference is told\nnext: %s diff -a %s %s\n", a, b, tool_prog, a, b);
	else
		printf("%s and %s differ: %zu differences\n", a, b, d->found);
	return 0;
}

int
build_diff(const struct build_diff_opts *o, bool *equal, struct dray_err *e)
{
	struct dray_json *j = o->common->json ? dray_json_new_obj() : NULL;
	struct diff d = { .o = o, .same_bases = true };
	int rc = -1;

	d.side[0].fd = d.side[1].fd = -1;
	if (build_diff_open(&d.side[0], o, o->name[0], e) != 0 || build_diff_open(&d.side[1], o, o->name[1], e) != 0)
		goto out;
	d.bundles = d.side[0].b != NULL && d.side[1].b != NULL;
	if (j != NULL)
		d.list = dray_json_set_arr(j, "differences");
	if (compare(&d, e) != 0)
		goto out;
	*equal = d.found == 0;
	rc = report(&d, j, e);
	j = NULL;	/* printed and freed */
out:
	dray_json_free(j);
	build_diff_close(&d.side[0]);
	build_diff_close(&d.side[1]);
	return rc;
}
