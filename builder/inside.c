/*
 * inside.c - which contents are a .gz that is packed as what is inside it: a line that changes changes nearly all of a .gz,
 * but only a line of its inside.
 */
#include <stdlib.h>

#include "builder/apply_cost.h"
#include "builder/inside.h"
#include "dray/gzip.h"
#include "dray/pool.h"

enum { LEAST = 18 };		/* bytes of the smallest .gz */

struct inside_worker {
	struct dray_gunzip *g;
	struct dray_deflater *d;
	struct dray_sha256 *h;
	uint8_t *gz, *raw;		/* room for the largest */
};

struct finder {
	struct build_resolved *rs;
	struct pack_reader *r;
	struct build_work *o;
	struct inside_worker *workers;
	bool bases;			/* this round: of the bases, else of the release */
	uint32_t *list;			/* contents to look into */
	bool *is;			/* by content: it begins like one */
	size_t n;
};

/* may it be looked into, in this round? */
static bool
is_asked(const struct finder *f, const struct build_content *c)
{
	if (c->size == DRAY_SIZE_UNKNOWN || c->size < LEAST || c->size > DRAY_GZIP_BOUND(PACK_REF_MAX) || c->config || c->former)
		return false;
	return f->bases ? !c->wanted && c->solid != 0 : c->wanted;
}

static int
sniff(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct finder *f = ctx;
	uint8_t head[LEAST];

	(void)worker;
	if (!is_asked(f, &f->rs->contents[i]))
		return 0;
	if (build_pack_head(f->r, (uint32_t)i, f->bases, head, sizeof(head), e) != 0)
		return -1;
	f->is[i] = dray_gzip_is(head, sizeof(head));
	return 0;
}

static int
need(struct inside_worker *w, struct dray_err *e)
{
	if (w->g != NULL)
		return 0;
	w->gz = malloc((size_t)DRAY_GZIP_BOUND(PACK_REF_MAX));
	w->raw = malloc(PACK_REF_MAX);
	if (w->gz == NULL || w->raw == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return dray_sha256_new(&w->h, e) != 0 || dray_deflater_new(&w->d, e) != 0 || dray_gunzip_new(&w->g, e) != 0 ? -1 : 0;
}

static int
look(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct finder *f = ctx;
	struct inside_worker *w = &f->workers[worker];
	struct build_content *c = &f->rs->contents[f->list[i]];
	size_t len = (size_t)c->size, got;

	/* one under way counts half */
	if (build_work_spend(f->o, 0, len / 2, e) != 0 || need(w, e) != 0 || build_pack_read(f->r, w->h, f->list[i], f->bases, 0, len, w->gz, e) != 0)
		return -1;
	if (dray_gunzip(w->g, w->gz, len, w->raw, PACK_REF_MAX, &got) && c->size <= DRAY_GZIP_BOUND(got)) {
		if (!f->bases && (c->wrap = (uint8_t)dray_gzip_prove(w->d, w->raw, got, w->gz, len)) != DRAY_DEFLATE_NONE)
			c->make_ns = build_cost_deflate(got, dray_deflate_steps(w->d));
		if (f->bases || c->wrap != DRAY_DEFLATE_NONE)
			c->inside = (uint32_t)got;
	}
	return build_work_spend(f->o, len, len - len / 2, e);
}

/* one round; *any: there is something to look into */
static int
search(struct finder *f, bool bases, bool *any, struct dray_err *e)
{
	uint64_t bytes = 0;

	f->bases = bases;
	f->n = 0;
	for (size_t i = 0; i < f->rs->n_contents; i++)
		f->is[i] = false;
	if (dray_parallel(f->o->threads, f->rs->n_contents, 16, sniff, f, e) != 0)
		return -1;
	for (uint32_t i = 0; i < f->rs->n_contents; i++)
		if (f->is[i]) {
			f->list[f->n++] = i;
			bytes += f->rs->contents[i].size;
		}
	*any = f->n > 0;
	if (f->n == 0)
		return 0;
	build_work_begin(f->o, "gzip", bytes);
	build_work_costs(f->o, bytes);
	return build_work_end(f->o, dray_parallel(f->o->threads, f->n, 1, look, f, e));
}

struct price { uint32_t content; uint64_t rate; };	/* picoseconds for a byte of the .gz */

static int
price_cmp(const void *pa, const void *pb)
{
	const struct price *a = pa, *b = pb;

	if (a->rate != b->rate)
		return a->rate < b->rate ? -1 : 1;
	return (a->content > b->content) - (a->content < b->content);
}

/* what is beyond the budget is taken as it is */
static int
keep_within(struct finder *f, uint64_t budget, struct dray_err *e)
{
	struct price *v = calloc(f->n + 1, sizeof(*v));
	uint64_t sum = 0;
	size_t n = 0;

	if (v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < f->n; i++) {
		const struct build_content *c = &f->rs->contents[f->list[i]];

		if (c->inside != 0)
			v[n++] = (struct price){ f->list[i], c->make_ns * 1000 / c->size };
	}
	qsort(v, n, sizeof(*v), price_cmp);
	for (size_t i = 0; i < n; i++) {
		struct build_content *c = &f->rs->contents[v[i].content];

		if (c->make_ns <= budget - sum) {
			sum += c->make_ns;
		} else {
			c->inside = 0;
			c->wrap = DRAY_DEFLATE_NONE;
			c->make_ns = 0;
		}
	}
	free(v);
	return 0;
}

int
build_insides_find(struct build_resolved *rs, struct pack_reader *r, struct build_work *o, uint64_t budget_ns,
    struct dray_err *e)
{
	struct finder f = { .rs = rs, .r = r, .o = o };
	bool any;
	int rc = -1;

	f.workers = calloc(o->threads, sizeof(*f.workers));
	f.list = calloc(rs->n_contents + 1, sizeof(*f.list));
	f.is = calloc(rs->n_contents + 1, sizeof(*f.is));
	if (f.workers == NULL || f.list == NULL || f.is == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if ((rc = search(&f, false, &any, e)) == 0 && any && (rc = keep_within(&f, budget_ns, e)) == 0)
		rc = search(&f, true, &any, e);
	for (unsigned t = 0; f.workers != NULL && t < o->threads; t++) {
		struct inside_worker *w = &f.workers[t];

		dray_gunzip_free(w->g);
		dray_deflater_free(w->d);
		dray_sha256_free(w->h);
		free(w->gz);
		free(w->raw);
	}
	free(f.workers);
	free(f.list);
	free(f.is);
	return rc;
}

bool
build_insides_forget(struct build_resolved *rs)
{
	bool any = false;

	for (size_t i = 0; i < rs->n_contents; i++) {
		struct build_content *c = &rs->contents[i];

		any |= c->wrap != DRAY_DEFLATE_NONE;
		c->inside = 0;
		c->wrap = DRAY_DEFLATE_NONE;
		c->make_ns = 0;
	}
	return any;
}
