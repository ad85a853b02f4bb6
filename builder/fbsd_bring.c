/*
 * fbsd_bring.c - first what no patch can make, among it what patches start from; then patches; then the rest whole; and for
 * what the server does not have whole, any patch there may be.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/fbsd_bring.h"

struct bringing {
	struct build_fbsd_server *s;
	const struct build_fbsd_meta *m;
	const struct build_fbsd_want *v;
	size_t n;
	enum build_fbsd_state *state;
	struct build_fbsd_pairs pairs;	/* that lead to what is missing */
	struct build_fbsd_patch_opts o;
	struct build_fbsd_brought *out;
};

static int
want_cmp(const void *sha256, const void *pw)
{
	const struct build_fbsd_want *w = pw;

	return memcmp(sha256, w->sha256, 32);
}

static bool
missing(const struct bringing *b, const struct build_fbsd_want *w)
{
	char name[100];

	build_fbsd_name(w->kind, w->sha256, name);
	return !build_fbsd_store_has(b->s->store, name);
}

/* the pairs of what is missing; what a patch will likely make is left for later */
static int
choose(struct bringing *b, const struct build_fbsd_pairs *all, struct dray_err *e)
{
	if ((b->pairs.v = calloc(all->n + 1, sizeof(*b->pairs.v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < all->n; i++) {
		const struct build_fbsd_want *w = bsearch(all->v[i].to, b->v, b->n, sizeof(*w), want_cmp);

		if (w == NULL || !missing(b, w))
			continue;
		b->pairs.v[b->pairs.n++] = all->v[i];
		if (all->v[i].chance == BUILD_FBSD_LIKELY)
			b->state[w - b->v] = BUILD_FBSD_LATER;
	}
	return 0;
}

static bool
any_lacking(const struct bringing *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->state[i] == BUILD_FBSD_LACKING && missing(b, &b->v[i]))
			return true;
	return false;
}

/* one patch may make what the next one starts from */
static int
by_any_patch(struct bringing *b, struct dray_err *e)
{
	size_t before;

	b->o.sparing = b->o.limited = false;
	do {
		if (!any_lacking(b))
			return 0;
		before = b->out->patched.n;
		if (build_fbsd_patch(b->s, b->m, &b->pairs, &b->o, &b->out->patched, e) != 0)
			return -1;
	} while (b->out->patched.n > before);
	return 0;
}

static int
bring(struct bringing *b, struct dray_err *e)
{
	if (build_fbsd_pull(b->s, b->v, b->n, b->state, &b->out->fetched, e) != 0)
		return -1;
	b->o.sparing = b->o.limited = true;
	if (b->pairs.n > 0 && build_fbsd_patch(b->s, b->m, &b->pairs, &b->o, &b->out->patched, e) != 0)
		return -1;
	for (size_t i = 0; i < b->n; i++)
		if (b->state[i] == BUILD_FBSD_LATER)
			b->state[i] = BUILD_FBSD_ASK;
	if (build_fbsd_pull(b->s, b->v, b->n, b->state, &b->out->fetched, e) != 0 || by_any_patch(b, e) != 0)
		return -1;
	for (size_t i = 0; i < b->n; i++)
		if (b->state[i] == BUILD_FBSD_LACKING && missing(b, &b->v[i]))
			return build_fbsd_lacks(b->s, &b->v[i], b->pairs.n > 0, e);
	return 0;
}

int
build_fbsd_bring(struct build_fbsd_server *s, const struct build_fbsd_meta *m, const struct build_fbsd_want *v, size_t n,
    const struct build_fbsd_pairs *pairs, const struct build_fbsd_patch_opts *wrong, struct build_fbsd_brought *out,
    struct dray_err *e)
{
	struct bringing b = { .s = s, .m = m, .v = v, .n = n, .o = { .wrong = wrong->wrong, .ctx = wrong->ctx }, .out = out };
	int rc = -1;

	if ((b.state = calloc(n + 1, sizeof(*b.state))) == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (choose(&b, pairs, e) == 0)
		rc = bring(&b, e);
	build_fbsd_pairs_free(&b.pairs);
	free(b.state);
	return rc;
}
