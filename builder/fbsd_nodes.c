/*
 * fbsd_nodes.c - lines become the nodes of a release: components, attributes, contents, hard links.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/fbsd_nodes.h"
#include "dray/descriptor.h"
#include "dray/digest.h"
#include "dray/path.h"

struct making {
	struct build_release *r;
	const char *os;
	uint8_t of_nothing[DRAY_SHA256_LEN];	/* hash of no bytes */
};

/* the bit of the component of @l */
static uint64_t
part_of(const struct build_release *r, const struct dray_fbsd_line *l)
{
	for (size_t i = 0; i < r->n_parts; i++)
		if (dray_fbsd_part_covers(r->part_names[i], l))
			return UINT64_C(1) << i;
	return 0;
}

static int
add_node(struct making *m, const struct dray_fbsd_line *from, struct dray_err *e)
{
	static const uint8_t type[] = { ['f'] = DRAY_FILE, ['d'] = DRAY_DIR, ['L'] = DRAY_SYMLINK, ['-'] = DRAY_ABSENT };
	struct build_node *nd = build_release_append(m->r);
	struct dray_attrs a;

	if (nd == NULL || (nd->path = build_arena_copy(&m->r->arenas[0], from->path, from->path_len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	nd->len = from->path_len;
	nd->parts = part_of(m->r, from);
	nd->type = type[(unsigned char)from->type];
	if (from->type == '-')
		return 0;
	dray_fbsd_attrs(from, m->os, &a);
	nd->has = a.has;
	nd->mode = a.mode;
	nd->uid = a.uid;
	nd->gid = a.gid;
	nd->flags = a.flags;
	if (from->type == 'L') {
		nd->target = from->target;
		nd->target_len = from->target_len;
	}
	if (from->type != 'f')
		return 0;
	memcpy(nd->sha256, from->sha256, 32);
	nd->size = memcmp(nd->sha256, m->of_nothing, 32) == 0 ? 0 : DRAY_SIZE_UNKNOWN;
	return 0;
}

static int
name_cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* the names of all components, ascending */
static int
name_parts(struct build_release *r, const struct dray_fbsd_lines *l, struct dray_err *e)
{
	if ((r->part_names = calloc(DRAY_MAX_COMPONENTS, sizeof(r->part_names[0]))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	assert(l->n == 0 || l->v != NULL);
	for (size_t i = 0; i < l->n; i++) {
		const struct dray_fbsd_line *at = &l->v[i];

		if (part_of(r, at) != 0)
			continue;
		if (r->n_parts == DRAY_MAX_COMPONENTS || at->component_len + at->sub_len > 63)
			return dray_fail(e, DRAY_E_FORMAT, "more than %u components, or one with a name of more than 64 bytes",
			    DRAY_MAX_COMPONENTS);
		snprintf(r->part_names[r->n_parts++], sizeof(r->part_names[0]), "%.*s/%.*s", (int)at->component_len,
		    at->component, (int)at->sub_len, at->sub);
	}
	qsort(r->part_names, r->n_parts, sizeof(r->part_names[0]), name_cmp);
	return 0;
}

static bool
same_node(const struct build_node *a, const struct build_node *b)
{
	return a->type == b->type && a->has == b->has && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
	    a->flags == b->flags &&
	    memcmp(a->sha256, b->sha256, 32) == 0 && a->target_len == b->target_len &&
	    (a->target_len == 0 || memcmp(a->target, b->target, a->target_len) == 0);
}

static bool
same_path(const struct build_node *a, const struct build_node *b)
{
	return dray_path_cmp(a->path, a->len, b->path, b->len) == 0;
}

/* @from: by node, its line */
static int
link_names(struct build_release *r, const struct dray_fbsd_line *const *from, struct dray_err *e)
{
	uint32_t *group = calloc(r->n + 1, sizeof(*group));
	int rc = -1;

	if (group == NULL)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else
		rc = dray_fbsd_groups(from, r->n, group, e);
	for (size_t i = 0; rc == 0 && i < r->n; i++)
		r->v[i].link = group[i];
	free(group);
	return rc;
}

/*
 * Lines in order become nodes in order. A directory that several components have, with other attributes in each, has
 * those of the first; in a history each is a state.
 */
static int
make_nodes(struct making *m, const struct dray_fbsd_lines *l, bool history, struct dray_err *e)
{
	const struct dray_fbsd_line **from = calloc(l->n + 1, sizeof(struct dray_fbsd_line *));
	struct build_release *r = m->r;
	int rc = 0;

	if (from == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; rc == 0 && i < l->n; i++) {
		struct build_node *nd;

		if ((rc = add_node(m, &l->v[i], e)) != 0)
			break;
		nd = &r->v[r->n - 1];
		if (r->n > 1 && same_path(nd - 1, nd) && (!history || same_node(nd - 1, nd))) {
			nd[-1].parts |= nd->parts;
			r->n--;
		} else {
			from[r->n - 1] = &l->v[i];
		}
	}
	if (rc == 0)
		rc = link_names(r, from, e);
	free(from);
	return rc;
}

int
build_fbsd_nodes(struct build_release *r, const struct dray_fbsd_lines *l, const char *os, bool history, struct dray_err *e)
{
	struct making m = { .r = r, .os = os };

	if (dray_sha256_bytes("", 0, m.of_nothing, e) != 0 || name_parts(r, l, e) != 0)
		return -1;
	return make_nodes(&m, l, history, e);
}
