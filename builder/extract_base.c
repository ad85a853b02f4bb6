/*
 * extract_base.c - contents that the bundle builds on, looked up in the sources given with --base. What they hold is
 * untrusted: nothing is checked here, because only the signed hash of what is made from it counts.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/extract.h"
#include "builder/source.h"
#include "dray/io.h"

/* rows of CONTENTS by hash */
struct by_hash {
	const uint8_t *sha256;
	uint32_t row;
};

static int
hash_cmp(const void *pa, const void *pb)
{
	const struct by_hash *a = pa, *b = pb;

	return memcmp(a->sha256, b->sha256, DRAY_SHA256_LEN);
}

static int
load(struct extract *x, const char *spec, struct build_release **out, struct dray_err *e)
{
	struct tool_progress p;
	struct build_scan_opts so = { .threads = x->threads, .spool_dir = x->o->dir, .progress = tool_progress_tell,
		.ctx = &p };
	int rc;

	tool_progress_begin(&p, x->o->common, "read", 0);
	rc = build_source_load(spec, &so, out, e);
	tool_progress_end(&p, rc == 0);
	return rc == 0 ? 0 : dray_wrap(e, "--base");
}

static void
find_contents(struct extract *x, uint32_t base, const struct by_hash *v, size_t n)
{
	const struct build_release *r = x->bases[base];

	for (size_t i = 0; i < r->n; i++) {
		const struct build_node *nd = &r->v[i];
		const struct by_hash key = { .sha256 = nd->sha256 };
		const struct by_hash *hit;
		struct dray_content c;

		if (nd->type != DRAY_FILE || n == 0 || (hit = bsearch(&key, v, n, sizeof(*v), hash_cmp)) == NULL)
			continue;
		dray_index_content(x->ix, hit->row, &c);
		if (dray_content_fits(&c, nd->size) && x->source[hit->row].base == DRAY_NONE)
			x->source[hit->row] = (struct extract_source){ base, (uint32_t)i };
	}
}

int
build_extract_bases(struct extract *x, struct dray_err *e)
{
	uint32_t n = dray_index_rows(x->ix, DRAY_T_CONTENTS);
	struct by_hash *v = calloc((size_t)n + 1, sizeof(*v));
	int rc = -1;

	x->source = calloc((size_t)n + 1, sizeof(*x->source));
	x->bases = calloc(x->o->n_bases + 1, sizeof(struct build_release *));
	if (v == NULL || x->source == NULL || x->bases == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct dray_content c;

		dray_index_content(x->ix, i, &c);
		v[i] = (struct by_hash){ c.sha256, i };
		x->source[i].base = DRAY_NONE;
	}
	qsort(v, n, sizeof(*v), hash_cmp);
	for (size_t i = 0; i < x->o->n_bases; i++) {
		if (load(x, x->o->bases[i], &x->bases[i], e) != 0)
			goto out;
		x->n_bases = i + 1;
		find_contents(x, (uint32_t)i, v, n);
	}
	rc = 0;
out:
	free(v);
	return rc;
}

void
build_extract_bases_free(struct extract *x)
{
	for (size_t i = 0; i < x->n_bases; i++)
		build_release_free(x->bases[i]);
	free(x->bases);
	free(x->source);
}

uint64_t
build_extract_size(const struct extract *x, uint32_t content)
{
	const struct extract_source *s = &x->source[content];
	struct dray_content c;

	dray_index_content(x->ix, content, &c);
	if (c.size == DRAY_SIZE_UNKNOWN && s->base != DRAY_NONE)
		return x->bases[s->base]->v[s->node].size;
	return dray_content_bytes(&c);
}

/* w->reader at a base content; false: it cannot be had */
static bool
open_base(const struct extract *x, struct extract_worker *w, uint32_t content)
{
	struct extract_source s = x->source[content];
	struct dray_err ignored = { 0 };	/* the next way is taken, and the last one tells */

	if (s.base == DRAY_NONE)
		return false;
	if (w->open_content == content)
		return true;
	if (w->reader.owned)
		close(w->reader.fd);	/* read only */
	w->reader = (struct build_reader){ .fd = -1 };
	w->open_content = DRAY_NONE;
	if (x->bases[s.base]->open(x->bases[s.base], &x->bases[s.base]->v[s.node], &w->reader, &ignored) != 0) {
		w->reader = (struct build_reader){ .fd = -1 };
		return false;
	}
	w->open_content = content;
	return true;
}

bool
build_extract_base_read(const struct extract *x, struct extract_worker *w, uint32_t content, uint64_t at, uint8_t *p,
    size_t len)
{
	return open_base(x, w, content) && at <= w->reader.len && len <= w->reader.len - at &&
	    dray_pread_whole(w->reader.fd, p, len, w->reader.at + at);
}

int
build_extract_base_inside(const struct extract *x, struct extract_worker *w, uint32_t content, uint8_t *p, size_t len,
    bool *here, struct dray_err *e)
{
	*here = open_base(x, w, content);
	return *here ? dray_gzip_base(&w->gzip, w->reader.fd, w->reader.at, w->reader.len, p, len, here, e) : 0;
}
