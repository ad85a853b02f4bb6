/*
 * extract.c - runs the steps, and keeps the promise that a failed extraction leaves nothing half.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/extract.h"

/* the one time the folder is looked up by name */
static int
open_folder(struct extract *x, struct dray_err *e)
{
	const char *dir = x->o->dir;
	char quoted[400];

	dray_quote(dir, strlen(dir), quoted, sizeof(quoted));
	if (mkdir(dir, 0777) == 0)
		x->made_root = true;
	else if (errno != EEXIST) {
		dray_fail_errno(e, "cannot be created");
		return dray_wrap(e, "folder %s", quoted);
	}
	if ((x->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) != -1)
		return 0;
	if (errno == ENOTDIR)
		dray_fail(e, DRAY_E_USAGE, "not a folder");
	else
		dray_fail_errno(e, "cannot be opened");
	return dray_wrap(e, "%s", quoted);
}

/* where the bytes of each file come from; all that cannot be had are counted before anything is written */
static int
choose_ways(struct extract *x, struct dray_err *e)
{
	struct dray_content c;
	struct dray_recipe r;
	struct dray_piece p;
	uint32_t first = DRAY_NONE;
	size_t lacking = 0;

	if ((x->files = calloc(x->n + 1, sizeof(*x->files))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < x->n; i++) {
		const struct extract_node *nd = &x->nodes[i];
		uint64_t frame = DRAY_NONE;
		uint32_t way;

		if (nd->type != DRAY_FILE || nd->link_to != DRAY_NONE)
			continue;
		dray_index_content(x->ix, nd->content, &c);
		x->total += build_extract_size(x, nd->content);
		way = c.size == 0 ? EXTRACT_COPY : build_extract_way(x, nd->content, 0, &r);
		if (way == EXTRACT_NO_WAY) {
			first = lacking++ == 0 ? nd->entry : first;
		} else if (way != EXTRACT_COPY) {
			dray_index_piece(x->ix, r.piece_first, &p);
			frame = p.frame;
		}
		x->files[x->n_files++] = frame << 32 | i;
	}
	if (lacking == 0)
		return 0;
	dray_fail(e, DRAY_E_CONFLICT, "its bytes are neither in the bundle nor in a base");
	build_extract_blame(x, first, e);
	if (lacking > 1)
		dray_wrap(e, "%zu files cannot be made; the first is", lacking);
	return dray_hint(e, "a bundle holds what changed: name the old tree with --base dir:PATH, or the paths you want; "
	    "nothing was written");
}

static int
by_frame(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static int
run(struct extract *x, struct dray_err *e)
{
	size_t left;
	char first[600];

	if (build_extract_select(x, e) != 0 || open_folder(x, e) != 0 || build_extract_workers(x, e) != 0 ||
	    build_extract_check_free(x, e) != 0 || build_extract_bases(x, e) != 0 || choose_ways(x, e) != 0)
		return -1;
	qsort(x->files, x->n_files, sizeof(*x->files), by_frame);
	if (build_extract_put(x, e) == 0)
		return 0;
	build_extract_undo(x, &left, first, sizeof(first));
	if (left == 0)
		return dray_hint(e, "what had been written was removed again");
	return dray_hint(e, "%zu paths that had been written could not be removed again, among them %.200s", left, first);
}

int
build_extract(const struct dray_bundle *b, const struct build_extract_opts *o, struct build_extracted *r,
    struct dray_err *e)
{
	struct extract x = { .b = b, .ix = dray_bundle_index(b), .desc = dray_bundle_desc(b), .o = o, .r = r, .root = -1,
		.threads = (unsigned)o->common->jobs };
	int rc;

	*r = (struct build_extracted){ .owners = geteuid() == 0 && !o->no_owner };
	rc = run(&x, e);
	build_extract_workers_free(&x);
	build_extract_bases_free(&x);
	free(x.files);
	free(x.nodes);
	if (x.root != -1)
		close(x.root);
	if (rc != 0 && x.made_root)
		(void)rmdir(o->dir);	/* empty unless something could not be removed, and that was told */
	return rc;
}
