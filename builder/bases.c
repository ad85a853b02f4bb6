/*
 * bases.c - two walks: the first over all old contents fills the index of features, the second over the new ones asks
 * it. A choice is made for each base by itself, and equal choices become one; bases that hold the same need one recipe.
 * A machine of a history has one of several states at each path, so there each state of the chosen path is a choice.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/bases.h"
#include "builder/bases_cost.h"
#include "builder/match_index.h"
#include "dray/descriptor.h"
#include "dray/meter.h"
#include "dray/pool.h"

#define INDEX_FEATURES (24u * 1024u * 1024u)	/* of all bases, about: 8 bytes each */
#define CHOICES_MAX 254u	/* of one content: it has at most 256 recipes, and one may be a copy, one full */
#define TELLING 32u		/* features that a content must have before sharing none of them counts against a base */

struct worker {
	struct pack_walk walk;
	struct match_roll roll;
	struct match_list list;
	struct match_query query;
	struct chooser *k;
	struct build_choice *v;
	size_t n, cap;
	uint64_t rate;		/* what a byte that is walked costs */
	uint8_t *kind;		/* of the content that is walked; NULL: not asked */
	bool features;
};

struct chooser {
	struct pack_reader *r;
	const struct build_resolved *rs;
	struct build_work *o;
	struct worker *workers;
	struct match_index *ix;
	struct build_names *names;
	struct build_bases *out;
	unsigned least;		/* shift */
	uint64_t find;		/* what a byte costs whose features are looked up */
};

static int
take(void *ctx, const uint8_t *p, size_t len, uint64_t at, struct dray_err *e)
{
	struct worker *w = ctx;

	if (build_work_spend(w->k->o, len, len * w->rate, e) != 0)
		return -1;
	if (at == 0 && w->kind != NULL)
		*w->kind = (uint8_t)build_kind_of(p, len);
	return w->features ? build_match_roll_add(&w->roll, p, len, UINT64_MAX, &w->list, e) : 0;
}

static uint64_t
rate_of(const struct worker *w)
{
	return !w->features ? DRAY_COST_HASH : w->kind == NULL ? DRAY_COST_LEARN : w->k->find;
}

static int
walk(struct chooser *k, struct worker *w, uint32_t i, bool old, struct dray_err *e)
{
	const struct build_content *c = &k->rs->contents[i];

	w->list.n = 0;
	w->rate = rate_of(w);
	w->roll = (struct match_roll){ .shift = build_match_shift(build_content_len(c), MATCH_FEATURES_MAX, k->least) };
	return build_pack_walk(k->r, &w->walk, i, old, e);
}

static int
learn(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct chooser *k = ctx;
	struct worker *w = &k->workers[worker];

	if (!build_bases_usable(k->rs, i))
		return 0;
	if (build_work_spend(k->o, 0, DRAY_COST_FILE, e) != 0)
		return -1;
	w->kind = NULL;
	w->features = true;
	w->walk.sums = false;
	if (walk(k, w, (uint32_t)i, true, e) != 0)
		return -1;
	return build_match_index_add(k->ix, worker, (uint32_t)i, w->roll.shift, &w->list, e);
}

/* --- the choice ---------------------------------------------------------------------------------------------------- */

struct candidate { uint32_t base; uint32_t shared; };

static uint32_t
shared_with(const struct worker *w, uint32_t base)
{
	for (size_t i = 0; i < w->query.n; i++)
		if (w->query.v[i].content == base)
			return w->query.v[i].shared;
	return 0;
}

/* may @base make @c where @bit is the state? Whoever has the paths of @c must have one of those of @base */
static bool
fits(const struct build_content *c, const struct build_content *base, uint64_t bit, uint64_t most)
{
	/* an inside is one piece, and so is what it is made from */
	if (c->inside != 0 && most > PACK_REF_MAX)
		most = PACK_REF_MAX;
	return (base->solid & bit) != 0 && (c->comps & ~base->old_comps) == 0 && build_content_len(base) <= most &&
	    base->size > 0;
}

/* a base that is chosen for what is in it should not be much larger */
static uint64_t
size_for(const struct build_content *c)
{
	uint64_t len = build_content_len(c);

	return len > UINT64_MAX / 16 ? UINT64_MAX / 4 : len * 4 + 65536;
}

/* so little in common that chance explains it */
static bool
is_hopeless(const struct worker *w, uint32_t shared)
{
	return w->list.n >= TELLING && shared < w->list.n / 64;
}

/* the content at the same path in base @b, which is no history */
static uint32_t
same_path(const struct build_resolved *rs, const struct build_content *c, unsigned b)
{
	const struct build_old *o;
	size_t n;

	o = build_resolved_olds(rs, rs->releases[0]->v[c->node].row, &n);
	for (size_t i = 0; i < n; i++)
		if ((o[i].bases >> b & 1) != 0)
			return o[i].content;
	return DRAY_NONE;
}

/* a later candidate must be clearly better: names know things that samples do not; is it the best now? */
static bool
prefer(struct candidate *best, uint32_t base, uint32_t shared)
{
	if (best->base != DRAY_NONE && shared <= best->shared + best->shared / 8 + 2)
		return false;
	*best = (struct candidate){ base, shared };
	return true;
}

static void
offer(struct candidate *best, const struct worker *w, uint32_t base)
{
	(void)prefer(best, base, shared_with(w, base));
}

static uint32_t
choose_for(const struct chooser *k, const struct worker *w, const struct build_content *c, unsigned b)
{
	const struct build_resolved *rs = k->rs;
	const struct build_node *nd = &rs->releases[0]->v[c->node];
	struct candidate best = { DRAY_NONE, 0 };
	uint64_t bit = UINT64_C(1) << b, most = size_for(c);
	uint32_t x = same_path(rs, c, b), o;

	/* a file that people edit is made from its own former state or not at all */
	if (c->config)
		return x != DRAY_NONE && rs->contents[x].size > 0 && rs->contents[x].size <= most ? x : DRAY_NONE;
	if (x != DRAY_NONE && fits(c, &rs->contents[x], bit, most * 4))
		offer(&best, w, x);
	o = build_names_find(k->names, nd->path, nd->len, b);
	if (o != DRAY_NONE && fits(c, &rs->contents[rs->olds[o].content], bit, most))
		offer(&best, w, rs->olds[o].content);
	for (size_t i = 0; i < w->query.n; i++)
		if (fits(c, &rs->contents[w->query.v[i].content], bit, most)) {
			offer(&best, w, w->query.v[i].content);
			break;
		}
	return is_hopeless(w, best.shared) ? DRAY_NONE : best.base;
}

/* @base is a choice for content @i and the bases of @bit; w->v[first ..] are the choices for this content */
static int
add_choice(struct worker *w, size_t first, uint32_t i, uint32_t base, uint64_t bit, struct dray_err *e)
{
	size_t j;

	for (j = first; j < w->n && w->v[j].base != base; j++)
		;
	if (j == w->n) {
		if (j - first == CHOICES_MAX)	/* who has this base takes the full copy */
			return 0;
		if (w->n == w->cap) {
			size_t cap = w->cap == 0 ? 1024 : w->cap * 2;
			struct build_choice *v = realloc(w->v, cap * sizeof(*v));

			if (v == NULL)
				return dray_fail(e, DRAY_E_IO, "out of memory");
			w->v = v;
			w->cap = cap;
		}
		w->v[w->n++] = (struct build_choice){ .content = i, .base = base };
	}
	w->v[j].bases |= bit;
	return 0;
}

/* --- the choice among former states -------------------------------------------------------------------------------- */

struct wish {			/* a content that is to be made from a history */
	uint32_t content;
	const struct build_content *c;
	uint64_t bit;		/* of the history */
	size_t first;		/* in w->v */
};

/* the states at @row that may be used: what the best of them shares; *gap: at times there was none */
static uint32_t
best_at(const struct chooser *k, const struct worker *w, const struct wish *h, uint32_t row, bool *gap)
{
	size_t n;
	const struct build_old *o = build_resolved_olds(k->rs, row, &n);
	uint32_t best = 0;
	bool any = false;

	*gap = false;
	for (size_t i = 0; i < n; i++) {
		uint32_t shared = o[i].content == h->content ? UINT32_MAX / 2 : shared_with(w, o[i].content);

		if ((o[i].bases & h->bit) == 0)
			continue;
		any = true;
		*gap |= (o[i].gaps & h->bit) != 0;
		best = shared > best ? shared : best;
	}
	*gap |= !any;
	return best;
}

static int
add_states(const struct chooser *k, struct worker *w, const struct wish *h, uint32_t row, uint64_t most,
    struct dray_err *e)
{
	size_t n;
	const struct build_old *o = build_resolved_olds(k->rs, row, &n);

	for (size_t i = 0; i < n; i++) {
		const struct build_content *x = &k->rs->contents[o[i].content];

		if ((o[i].bases & h->bit) == 0 || o[i].content == h->content)
			continue;
		/* a file that people edit is made from its own former states or not at all */
		if (h->c->config ? x->size == 0 || x->size > most : !fits(h->c, x, h->bit, most))
			continue;
		if (!h->c->config && is_hopeless(w, shared_with(w, o[i].content)))
			continue;
		if (add_choice(w, h->first, h->content, o[i].content, h->bit, e) != 0)
			return -1;
	}
	return 0;
}

/* the row of the first path that holds @content */
static uint32_t
row_of(const struct build_resolved *rs, uint32_t content)
{
	const struct build_content *c = &rs->contents[content];

	return rs->releases[c->old_base + 1u]->v[c->old_node].row;
}

/* its own path first; another one as well where that is better, or where its own one was not always there */
static int
choose_states(const struct chooser *k, struct worker *w, const struct wish *h, unsigned b, struct dray_err *e)
{
	const struct build_resolved *rs = k->rs;
	const struct build_node *nd = &rs->releases[0]->v[h->c->node];
	uint64_t most = size_for(h->c);
	uint32_t old, found = DRAY_NONE, shared;
	struct candidate best;			/* a row */
	bool gap, ignored;

	if (add_states(k, w, h, nd->row, h->c->config ? most : most * 4, e) != 0)
		return -1;
	if (h->c->config)
		return 0;
	shared = best_at(k, w, h, nd->row, &gap);
	best = gap ? (struct candidate){ DRAY_NONE, 0 } : (struct candidate){ nd->row, shared };
	if ((old = build_names_find(k->names, nd->path, nd->len, b)) != DRAY_NONE)
		prefer(&best, rs->olds[old].row, best_at(k, w, h, rs->olds[old].row, &ignored));
	for (size_t i = 0; i < w->query.n && found == DRAY_NONE; i++)
		if (w->query.v[i].content != h->content && fits(h->c, &rs->contents[w->query.v[i].content], h->bit, most))
			found = w->query.v[i].content;
	if (found != DRAY_NONE && prefer(&best, row_of(rs, found), shared_with(w, found)) &&
	    !is_hopeless(w, shared_with(w, found)) && add_choice(w, h->first, h->content, found, h->bit, e) != 0)
		return -1;
	return best.base == DRAY_NONE || best.base == nd->row ? 0 : add_states(k, w, h, best.base, most, e);
}

static int
choose(struct chooser *k, struct worker *w, uint32_t i, struct dray_err *e)
{
	const struct build_content *c = &k->rs->contents[i];
	struct wish h = { .content = i, .c = c, .first = w->n };
	uint64_t need = build_resolved_all(k->rs) & ~c->sure;

	for (unsigned b = 0; b < k->rs->n_bases; b++) {
		uint32_t x;

		h.bit = UINT64_C(1) << b;
		if ((need & h.bit) == 0)
			continue;
		if ((k->rs->history & h.bit) != 0) {
			if (choose_states(k, w, &h, b, e) != 0)
				return -1;
		} else if ((x = choose_for(k, w, c, b)) != DRAY_NONE && add_choice(w, h.first, i, x, h.bit, e) != 0) {
			return -1;
		}
	}
	return 0;
}

static int
look(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct chooser *k = ctx;
	struct worker *w = &k->workers[worker];
	const struct build_content *c = &k->rs->contents[i];

	if (!build_bases_looked_at(c))
		return 0;
	if (build_work_spend(k->o, 0, DRAY_COST_FILE, e) != 0)
		return -1;
	w->kind = &k->out->kind[i];
	if (!c->wanted) {	/* only its kind is asked for */
		w->features = w->walk.sums = false;
		return walk(k, w, (uint32_t)i, true, e);
	}
	w->features = k->ix != NULL && build_bases_asked(k->rs, c);
	w->walk.sums = c->inside == 0 && c->size > DRAY_FRAME_DEFAULT;
	if (walk(k, w, (uint32_t)i, false, e) != 0)
		return -1;
	if (!w->features)
		return 0;
	if (build_match_index_find(k->ix, &w->query, w->roll.shift, &w->list, e) != 0)
		return -1;
	return choose(k, w, (uint32_t)i, e);
}

static int
choice_cmp(const void *pa, const void *pb)
{
	const struct build_choice *a = pa, *b = pb;
	uint64_t x = a->bases & ~(a->bases - 1), y = b->bases & ~(b->bases - 1);

	if (a->content != b->content)
		return a->content < b->content ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return (a->base > b->base) - (a->base < b->base);
}

static int
collect(struct chooser *k, struct dray_err *e)
{
	struct build_bases *out = k->out;

	for (unsigned t = 0; t < k->o->threads; t++)
		out->n += k->workers[t].n;
	if ((out->v = calloc(out->n + 1, sizeof(*out->v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	out->n = 0;
	for (unsigned t = 0; t < k->o->threads; t++) {
		if (k->workers[t].n > 0)
			memcpy(out->v + out->n, k->workers[t].v, k->workers[t].n * sizeof(*out->v));
		out->n += k->workers[t].n;
	}
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(out->v[0]), choice_cmp);
	return 0;
}

static int
make_workers(struct chooser *k, struct dray_err *e)
{
	if ((k->workers = calloc(k->o->threads, sizeof(*k->workers))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (unsigned t = 0; t < k->o->threads; t++) {
		struct worker *w = &k->workers[t];

		w->walk.take = take;
		w->walk.ctx = w;
		w->k = k;
		if ((w->walk.buf = malloc(PACK_WALK_BYTES)) == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (dray_sha256_new(&w->walk.block, e) != 0 || dray_sha256_new(&w->walk.whole, e) != 0)
			return -1;
	}
	return 0;
}

static void
free_workers(struct chooser *k)
{
	for (unsigned t = 0; k->workers != NULL && t < k->o->threads; t++) {
		struct worker *w = &k->workers[t];

		free(w->walk.buf);
		dray_sha256_free(w->walk.block);
		dray_sha256_free(w->walk.whole);
		free(w->list.v);
		free(w->v);
		build_match_query_free(&w->query);
	}
	free(k->workers);
}

int
build_bases_choose(struct pack_reader *r, struct build_work *o, struct build_bases *out, struct dray_err *e)
{
	struct chooser k = { .r = r, .rs = r->rs, .o = o, .out = out, .least = MATCH_SHIFT_MIN };
	uint64_t bytes = 0, total = 0;
	bool need = false;
	int rc = -1;

	*out = (struct build_bases){ .n = 0 };
	for (size_t i = 0; i < r->rs->n_contents; i++) {
		const struct build_content *c = &r->rs->contents[i];

		bytes += build_bases_usable(r->rs, i) ? build_content_len(c) : 0;
		total += c->wanted || c->former ? build_content_len(c) : 0;
		need |= c->wanted && c->size > 0 && (build_resolved_all(r->rs) & ~c->sure) != 0;
	}
	k.least = build_match_shift(bytes, INDEX_FEATURES, MATCH_SHIFT_MIN);
	need = need && bytes > 0;
	build_work_begin(o, "compare", need ? total + bytes : total);
	k.find = build_bases_find_cost(bytes);
	build_work_costs(o, build_bases_cost(r->rs, bytes, need));
	if ((out->kind = calloc(r->rs->n_contents + 1, 1)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (make_workers(&k, e) != 0)
		goto out;
	if (need) {
		if (build_names_new(r->rs, &k.names, e) != 0 ||
		    build_match_index_new(r->rs->n_contents, o->threads, &k.ix, e) != 0 ||
		    dray_parallel(o->threads, r->rs->n_contents, 4, learn, &k, e) != 0 ||
		    build_work_spend(o, 0, bytes * DRAY_COST_SORT / 2, e) != 0 ||
		    build_match_index_finish(k.ix, o->threads, e) != 0 ||
		    build_work_spend(o, 0, bytes * DRAY_COST_SORT - bytes * DRAY_COST_SORT / 2, e) != 0)
			goto out;
	}
	if (dray_parallel(o->threads, r->rs->n_contents, 4, look, &k, e) != 0 || collect(&k, e) != 0)
		goto out;
	rc = 0;
out:
	free_workers(&k);
	build_match_index_free(k.ix);
	build_names_free(k.names);
	if (rc != 0)
		build_bases_free(out);
	return build_work_end(o, rc);
}

void
build_bases_free(struct build_bases *b)
{
	free(b->kind);
	free(b->v);
	*b = (struct build_bases){ .n = 0 };
}
