/*
 * look_why.c - list --why: how the bytes of a path get to a machine, each way with what it builds on and what it costs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dray/deflate.h"
#include "dray/frame.h"
#include "dray/num.h"
#include "dray/path.h"
#include "tool/look.h"

struct place { uint32_t entry; uint64_t bases; };	/* a path, and the bases in which it has a content */
struct places { size_t first, n; };		/* of one content: part of all places */

struct why {
	const struct dray_index *ix;
	const struct dray_desc *desc;
	uint32_t *moves;
	struct tool_held *held;
	struct places *of;		/* by content row */
	struct place *places;
	uint32_t *used;			/* by content row: 1 + number in the way that is added up now */
	struct dray_json *list;		/* --json */
};

static const char *const recipe_name[] = { "?", "full", "delta", "copy" };
static const char *const frame_name[] = { "plain", "prefix", "addcopy" };

struct from { uint32_t content; uint64_t reads; bool inside; };	/* a base content, how much of it is read, and whether it is looked into */

struct way {				/* one recipe, added up */
	uint64_t stored, share;		/* of its frames; of the parts that are this content's */
	uint32_t frames;
	bool kinds[DRAY_FRAME_ADDCOPY + 1], filtered, pooled;
	uint64_t bases;
	struct from *from;		/* in order of use, each content once */
	size_t n_from, cap_from;
};

static int
add_from(const struct why *y, struct way *w, uint32_t content, uint64_t reads, bool inside, struct dray_err *e)
{
	if (y->used[content] == 0) {
		if (w->n_from == w->cap_from) {
			size_t cap = w->cap_from == 0 ? 16 : w->cap_from * 2;
			struct from *v = reallocarray(w->from, cap, sizeof(*v));

			if (v == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			w->from = v;
			w->cap_from = cap;
		}
		w->from[w->n_from++] = (struct from){ .content = content };
		y->used[content] = (uint32_t)w->n_from;
	}
	w->from[y->used[content] - 1].inside |= inside;
	w->from[y->used[content] - 1].reads += reads;	/* below 2^32 ranges of at most 64 MiB */
	return 0;
}

static void
free_way(const struct why *y, struct way *w)
{
	for (size_t i = 0; i < w->n_from; i++)
		y->used[w->from[i].content] = 0;
	free(w->from);
}

static int
add_up(const struct why *y, uint32_t content, const struct dray_recipe *r, struct way *w, struct dray_err *e)
{
	uint32_t last = DRAY_NONE;
	struct dray_content c;

	w->bases = tool_recipe_bases(y->ix, y->held, content, r);
	dray_index_content(y->ix, content, &c);
	if (r->kind == DRAY_RECIPE_COPY)
		return add_from(y, w, content, c.size, false, e);
	for (uint32_t i = 0; i < r->piece_count; i++) {
		struct dray_piece p;
		struct dray_frame f;

		dray_index_piece(y->ix, r->piece_first + i, &p);
		dray_index_frame(y->ix, p.frame, &f);
		/* of a frame that several contents use, as much as the output it gets; rounded up, so nothing is free */
		w->share += ((uint64_t)f.stored * p.len + f.out - 1) / f.out;
		w->pooled |= p.len != f.out;
		if (p.frame == last)
			continue;
		last = p.frame;
		w->frames++;
		w->stored += f.stored;
		w->kinds[f.kind] = true;
		w->filtered |= f.filter != DRAY_FILTER_NONE;
		for (uint32_t k = 0; k < f.range_count; k++) {
			struct dray_range g;

			dray_index_range(y->ix, f.range_first + k, &g);
			if (add_from(y, w, g.content, g.len, g.inside, e) != 0)
				return -1;
		}
	}
	return 0;
}

static void
print_bases(const struct why *y, uint64_t bases)
{
	const char *between = "";

	for (size_t i = 0; i < y->desc->n_bases; i++) {
		if ((bases >> i & 1) == 0)
			continue;
		printf("%s%s", between, y->desc->bases[i].version);
		between = ", ";
	}
}

static void
json_bases(const struct why *y, struct dray_json *o, uint64_t bases)
{
	struct dray_json *a = dray_json_set_arr(o, "bases");

	for (size_t i = 0; i < y->desc->n_bases; i++)
		if ((bases >> i & 1) != 0)
			dray_json_push_str(a, y->desc->bases[i].version);
}

/* each path that has it will do: the first one is as good as the others */
static void
print_from(const struct why *y, const struct from *f)
{
	char path[DRAY_QUOTE_CAP(DRAY_PATH_MAX)], h[32], hex[65];
	const struct places *of = &y->of[f->content];
	struct dray_content c;

	dray_index_content(y->ix, f->content, &c);
	for (size_t i = 0; i < of->n; i++) {
		const struct place *p = &y->places[of->first + i];
		struct dray_entry en;

		dray_index_entry(y->ix, p->entry, &en);
		printf("    %-8s%s (", i == 0 ? "from" : "or", dray_quote(en.path, en.len, path, sizeof(path)));
		print_bases(y, p->bases);
		if (i == 0)
			printf("), %s read%s, sha256 %.16s...\n", tool_human(f->reads, h), f->inside ? " inside" : "",
			    dray_hex(c.sha256, 32, hex));
		else
			printf(")\n");
	}
}

static void
json_from(const struct why *y, struct dray_json *list, const struct from *f)
{
	struct dray_json *o = dray_json_push_obj(list), *a;
	const struct places *of = &y->of[f->content];
	struct dray_content c;
	struct dray_entry en;
	char hex[65];

	dray_index_content(y->ix, f->content, &c);
	dray_json_set_str(o, "sha256", dray_hex(c.sha256, 32, hex));
	dray_json_set_int(o, "size", (int64_t)c.size);
	dray_json_set_int(o, "reads", (int64_t)f->reads);
	if (f->inside)
		dray_json_set_bool(o, "inside", true);
	a = dray_json_set_arr(o, "paths");
	for (size_t i = 0; i < of->n; i++) {
		const struct place *p = &y->places[of->first + i];
		struct dray_json *x = dray_json_push_obj(a);

		dray_index_entry(y->ix, p->entry, &en);
		if (i == 0)
			dray_json_set_path(o, "path", en.path, en.len);
		dray_json_set_path(x, "path", en.path, en.len);
		json_bases(y, x, p->bases);
	}
}

static void
print_way(const struct why *y, const struct dray_recipe *r, const struct way *w)
{
	char h[32], h2[32];

	printf("  %-10s", recipe_name[r->kind]);
	if (r->kind != DRAY_RECIPE_COPY) {
		printf(" %s", tool_human(w->share, h));
		if (w->pooled)
			printf(" of the %s in its frames", tool_human(w->stored, h2));
		printf("; %" PRIu32 " pieces in %" PRIu32 " frames", r->piece_count, w->frames);
		for (int k = 0; k <= DRAY_FRAME_ADDCOPY; k++)
			if (w->kinds[k])
				printf(", %s", frame_name[k]);
		printf("%s\n", w->filtered ? ", x86 filter" : "");
	} else {
		printf(" costs nothing: a base has these bytes\n");
	}
	if (r->wrap != DRAY_DEFLATE_NONE)
		printf("    made again as the .gz of %s\n", dray_deflate_name(r->wrap));
	if (r->kind == DRAY_RECIPE_FULL)
		return;
	printf("    in base ");
	print_bases(y, w->bases);
	printf("\n");
	for (size_t i = 0; i < w->n_from; i++)
		print_from(y, &w->from[i]);
}

static void
json_way(const struct why *y, struct dray_json *list, const struct dray_recipe *r, const struct way *w)
{
	struct dray_json *x = dray_json_push_obj(list), *a;

	dray_json_set_str(x, "kind", recipe_name[r->kind]);
	dray_json_set_int(x, "bytes", (int64_t)w->share);
	dray_json_set_int(x, "frames_bytes", (int64_t)w->stored);
	dray_json_set_int(x, "frames", w->frames);
	dray_json_set_int(x, "pieces", r->piece_count);
	dray_json_set_bool(x, "x86", w->filtered);
	if (r->wrap != DRAY_DEFLATE_NONE)
		dray_json_set_str(x, "gzip", dray_deflate_name(r->wrap));
	a = dray_json_set_arr(x, "frame_kinds");
	for (int k = 0; k <= DRAY_FRAME_ADDCOPY; k++)
		if (w->kinds[k])
			dray_json_push_str(a, frame_name[k]);
	if (r->kind == DRAY_RECIPE_FULL)
		return;
	json_bases(y, x, w->bases);
	a = dray_json_set_arr(x, "from");
	for (size_t i = 0; i < w->n_from; i++)
		json_from(y, a, &w->from[i]);
}

static int
tell_recipes(const struct why *y, uint32_t content, struct dray_json *list, struct dray_err *e)
{
	struct dray_content c;
	struct dray_recipe r;
	int rc = 0;

	dray_index_content(y->ix, content, &c);
	for (uint32_t i = 0; i < c.recipe_count && rc == 0; i++) {
		struct way w = { .stored = 0 };

		dray_index_recipe(y->ix, c.recipe_first + i, &r);
		if ((rc = add_up(y, content, &r, &w, e)) == 0) {
			if (list != NULL)
				json_way(y, list, &r, &w);
			else
				print_way(y, &r, &w);
		}
		free_way(y, &w);
	}
	return rc;
}

static int
tell_path(const struct why *y, uint32_t row, struct dray_err *e)
{
	char path[DRAY_QUOTE_CAP(DRAY_PATH_MAX)], hex[65], size[32] = "?";
	struct dray_json *x = NULL;
	enum tool_change change;
	struct dray_content c;
	struct dray_entry en;
	struct dray_state s;

	dray_index_entry(y->ix, row, &en);
	change = tool_change_of(y->ix, y->moves, row, &en);
	if (y->list != NULL) {
		x = dray_json_push_obj(y->list);
		dray_json_set_path(x, "path", en.path, en.len);
		dray_json_set_str(x, "change", tool_change_name[change]);
		tool_move_json(x, y->ix, y->moves, row, change);
	} else {
		printf("%c %s", tool_change_letter[change], dray_quote(en.path, en.len, path, sizeof(path)));
		tool_move_print(y->ix, y->moves, row, change);
		printf("\n");
	}
	if (en.target != DRAY_NONE)
		dray_index_state(y->ix, en.target, &s);
	if (en.target == DRAY_NONE || s.type != DRAY_FILE) {
		if (x == NULL)
			printf("  no bytes   %s\n", en.target == DRAY_NONE ? "the release has removed it" :
			    "it is no file: the index holds all of it");
		return 0;
	}
	dray_index_content(y->ix, s.content, &c);
	dray_hex(c.sha256, 32, hex);
	if (x != NULL) {
		dray_json_set_str(x, "sha256", hex);
		if (c.size != DRAY_SIZE_UNKNOWN)
			dray_json_set_int(x, "size", (int64_t)c.size);
		return tell_recipes(y, s.content, dray_json_set_arr(x, "recipes"), e);
	}
	if (c.size != DRAY_SIZE_UNKNOWN)
		snprintf(size, sizeof(size), "%" PRIu64, c.size);
	printf("  content    %s bytes, sha256 %.16s...\n", size, hex);
	if (c.recipe_count == 0)
		printf("  no bytes   every base has these bytes here\n");
	return tell_recipes(y, s.content, NULL, e);
}

static void
count_place(void *ctx, uint32_t entry, uint32_t content, uint64_t bases, uint64_t sure)
{
	struct why *y = ctx;

	(void)entry, (void)bases, (void)sure;
	y->of[content].n++;
}

static void
put_place(void *ctx, uint32_t entry, uint32_t content, uint64_t bases, uint64_t sure)
{
	struct why *y = ctx;
	struct places *of = &y->of[content];

	(void)sure;
	y->places[of->first + of->n++] = (struct place){ entry, bases };
}

static int
find_places(struct why *y, struct dray_err *e)
{
	size_t n = (size_t)dray_index_rows(y->ix, DRAY_T_CONTENTS) + 1, all = 0;

	y->moves = tool_moves_of(y->ix);
	y->held = tool_held_of(y->ix, y->desc);
	y->used = calloc(n, sizeof(*y->used));
	if ((y->of = calloc(n, sizeof(*y->of))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (tool_each_old(y->ix, y->desc, count_place, y) != 0)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++) {
		y->of[i].first = all;
		all += y->of[i].n;
		y->of[i].n = 0;
	}
	y->places = calloc(all + 1, sizeof(*y->places));
	if (y->moves == NULL || y->held == NULL || y->used == NULL || y->places == NULL ||
	    tool_each_old(y->ix, y->desc, put_place, y) != 0)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

int
tool_why(const struct dray_index *ix, const struct dray_desc *desc, const struct tool_list *paths,
    struct dray_json *list, struct dray_err *e)
{
	struct why y = { .ix = ix, .desc = desc, .list = list };
	char quoted[600];
	int rc = find_places(&y, e);

	for (size_t i = 0; i < paths->n && rc == 0; i++) {
		size_t len = strlen(paths->v[i]);
		uint32_t row = len < DRAY_PATH_MAX ? dray_index_find(ix, paths->v[i], len) : DRAY_NONE;

		if (row == DRAY_NONE) {
			dray_fail(e, DRAY_E_USAGE, "--why %s: the bundle has no such path",
			    dray_quote(paths->v[i], len, quoted, sizeof(quoted)));
			rc = dray_hint(e, "paths are those that %s list shows", tool_prog);
		} else {
			rc = tell_path(&y, row, e);
		}
	}
	free(y.moves);
	free(y.held);
	free(y.used);
	free(y.of);
	free(y.places);
	return rc;
}
