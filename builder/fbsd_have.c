/*
 * fbsd_have.c - from a source that is here into the store of what was fetched.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/fbsd_have.h"
#include "builder/source.h"
#include "tool/tool.h"

static int
node_cmp(const void *pa, const void *pb)
{
	const struct build_node *const *a = pa, *const *b = pb;

	return memcmp((*a)->sha256, (*b)->sha256, 32);
}

/* the files of @r in the order of hashes; malloc'ed */
static const struct build_node **
by_hash(const struct build_release *r, size_t *n)
{
	const struct build_node **v = calloc(r->n + 1, sizeof(const struct build_node *));

	*n = 0;
	if (v == NULL)
		return NULL;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].type == DRAY_FILE)
			v[(*n)++] = &r->v[i];
	qsort(v, *n, sizeof(const struct build_node *), node_cmp);
	return v;
}

static int
fill_content(void *ctx, struct build_gzip *g, struct dray_err *e)
{
	const struct build_reader *in = ctx;
	uint8_t buf[65536];
	uint64_t at = 0;

	while (at < in->len) {
		size_t want = in->len - at < sizeof(buf) ? (size_t)(in->len - at) : sizeof(buf);
		ssize_t n = pread(in->fd, buf, want, (off_t)(in->at + at));

		if (n <= 0)
			return n < 0 ? dray_fail_errno(e, "cannot be read") : dray_fail(e, DRAY_E_IO, "changed while it was read");
		if (build_gzip_put(g, buf, (size_t)n, e) != 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

/* the store checks what it gives, so a content that changed meanwhile is found out there */
static int
take(struct build_fbsd_server *s, const struct build_release *r, const struct build_node *nd, const char *name,
    struct dray_err *e)
{
	struct build_reader in;
	int rc;

	if (r->open(r, nd, &in, e) != 0)
		return -1;
	rc = build_fbsd_store_deflate(s->store, name, fill_content, &in, e);
	if (in.owned)
		close(in.fd);
	return rc == 0 ? 0 : build_path_err(e, r, nd->path, nd->len);
}

int
build_fbsd_have(struct build_fbsd_server *s, const char *spec, const struct build_fbsd_want *v, size_t n,
    const struct build_scan_opts *o, struct dray_err *e)
{
	const struct build_node **nodes = NULL, *key, **hit;
	struct build_release *r;
	struct build_node wanted;
	size_t n_nodes;
	char name[100];
	int rc = 0;

	if (build_source_load(spec, o, &r, e) != 0)
		return -1;
	if ((nodes = by_hash(r, &n_nodes)) == NULL)
		rc = dray_fail(e, DRAY_E_IO, "out of memory");
	key = &wanted;
	assert(rc != 0 || nodes != NULL);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		build_fbsd_name(v[i].kind, v[i].sha256, name);
		if (build_fbsd_store_has(s->store, name))
			continue;
		memcpy(wanted.sha256, v[i].sha256, 32);
		hit = bsearch(&key, nodes, n_nodes, sizeof(const struct build_node *), node_cmp);
		if (hit != NULL)
			rc = take(s, r, *hit, name, e);
		if (rc == 0 && tool_signal_seen() != 0)
			rc = dray_fail(e, DRAY_E_SIGNAL, "interrupted by a signal");
	}
	free(nodes);
	build_release_free(r);
	return rc;
}
