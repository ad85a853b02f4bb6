/*
 * fbsd_upstream.c - the server's signed metadata as attachments: what --with-upstream puts into a bundle, so that a reader
 * can hold each path against upstream's own list.
 */
#include <stdlib.h>

#include "builder/fbsd_contents.h"
#include "builder/fbsd_upstream.h"
#include "dray/fbsd_proof.h"
#include "dray/frame.h"

/*
 * The list as one zstd frame, of the text and not of what the server sent: that depends on the way it came, by a patch or
 * whole, and the text alone has a signed hash. The installer unpacks no gzip.
 */
static int
add_list(struct build_notes *to, const struct build_fbsd_text *list, int level, struct dray_err *e)
{
	size_t cap = dray_encode_bound(list->len), len;
	struct dray_encoder *c = NULL;
	uint8_t *p = malloc(cap);
	int rc = -1;

	if (p == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else if (dray_encoder_new(level, &c, e) == 0 && dray_encode(c, list->p, list->len, p, cap, &len, e) == 0)
		rc = build_notes_add(to, DRAY_UPSTREAM_LIST, p, len, e);
	dray_encoder_free(c);
	free(p);
	return rc;
}

int
build_fbsd_notes(const struct build_release *r, int level, struct build_notes *to, struct dray_err *e)
{
	const struct build_fbsd_source *s = r->source;
	const struct build_fbsd_meta *m = s->meta;
	const struct build_fbsd_text *list = &m->file[BUILD_FBSD_ALL];

	if (list->len > DRAY_UPSTREAM_LIST_MAX)
		return dray_fail(e, DRAY_E_USAGE, "INDEX-ALL of %s has more than %u bytes: too much for --with-upstream", m->dir,
		    DRAY_UPSTREAM_LIST_MAX);
	if (build_notes_add(to, DRAY_UPSTREAM_KEY, m->key.p, m->key.len, e) != 0 ||
	    build_notes_add(to, DRAY_UPSTREAM_TAG, m->sig.p, m->sig.len, e) != 0 ||
	    build_notes_add(to, DRAY_UPSTREAM_TINDEX, m->tindex.p, m->tindex.len, e) != 0 ||
	    build_notes_add(to, DRAY_UPSTREAM_LEFT_OUT, s->left_out.p, s->left_out.len, e) != 0)
		return -1;
	return add_list(to, list, level, e);
}
