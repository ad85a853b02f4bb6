/*
 * archive_names.c - which name stands for which object, and what comes of it in the end.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "builder/archive.h"
#include "builder/archive_tree.h"
#include "dray/path.h"

static int
name_cmp(const void *pa, const void *pb)
{
	const struct build_name *a = pa, *b = pb;

	return dray_path_cmp(a->path, a->len, b->path, b->len);
}

struct build_name *
build_tree_find(struct build_tree *t, const char *path, size_t len)
{
	struct build_name key = { .path = path, .len = len };
	struct build_name *const *p = tfind(&key, &t->by_path, name_cmp);

	return p == NULL ? NULL : *p;
}

static void *
grow(void *v, size_t *cap, size_t item)
{
	size_t n = *cap == 0 ? 256 : *cap * 2;

	/* rows are 32 bits wide */
	if (n > UINT32_MAX || n > SIZE_MAX / item || (v = realloc(v, n * item)) == NULL)
		return NULL;
	*cap = n;
	return v;
}

/* the name @path, new or known */
static struct build_name *
take_name(struct build_tree *t, const char *path, size_t len)
{
	struct build_name *n = build_tree_find(t, path, len), **v;

	if (n != NULL)
		return n;
	if (t->n_names == t->cap_names) {
		if ((v = grow(t->names, &t->cap_names, sizeof(struct build_name *))) == NULL)
			return NULL;
		t->names = v;
	}
	if ((n = build_arena_take(&t->r->arenas[0], sizeof(*n))) == NULL)
		return NULL;
	*n = (struct build_name){ .path = build_arena_copy(&t->r->arenas[0], path, len), .len = len,
		.object = BUILD_NO_OBJECT };
	if (n->path == NULL || tsearch(n, &t->by_path, name_cmp) == NULL)
		return NULL;
	return t->names[t->n_names++] = n;
}

int
build_tree_bind(struct build_tree *t, const char *path, size_t len, uint32_t object, struct dray_err *e)
{
	struct build_name *n = take_name(t, path, len);

	if (n == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (n->object != BUILD_NO_OBJECT)
		t->objects[n->object].nlink--;	/* the last one counts */
	n->object = object;
	n->link = NULL;
	n->archive = t->archive;
	t->objects[object].nlink++;
	return 0;
}

int
build_tree_object(struct build_tree *t, uint32_t *number, struct dray_err *e)
{
	if (t->n_objects == t->cap_objects) {
		struct build_node *v = grow(t->objects, &t->cap_objects, sizeof(*v));

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		t->objects = v;
	}
	memset(&t->objects[t->n_objects], 0, sizeof(t->objects[0]));
	*number = (uint32_t)t->n_objects++;
	return 0;
}

int
build_tree_note(struct build_tree *t, const char *path, size_t len, const char *why, bool quiet, struct dray_err *e)
{
	struct build_notice n = { build_arena_copy(&t->r->arenas[0], path, len), len, why, quiet };

	if (n.path == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return build_release_note(t->r, &n, e);
}

static int
no_target(const struct build_name *n, const char *what, struct dray_err *e)
{
	char quoted[300];

	dray_fail(e, DRAY_E_FORMAT, "a hard link to %s, %s", dray_quote(n->link, n->link_len, quoted, sizeof(quoted)),
	    what);
	return build_archive_name_err(n->path, e);
}

int
build_tree_promise(struct build_tree *t, const char *path, size_t len, const char *target, size_t target_len,
    struct dray_err *e)
{
	struct build_name *n = take_name(t, path, len);

	if (n == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (n->object != BUILD_NO_OBJECT)
		t->objects[n->object].nlink--;
	n->object = BUILD_NO_OBJECT;
	n->archive = t->archive;
	n->link_len = target_len;
	if ((n->link = build_arena_copy(&t->r->arenas[0], target, target_len)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	return 0;
}

int
build_tree_keep(struct build_tree *t, struct dray_err *e)
{
	for (size_t i = 0; i < t->n_names; i++) {
		struct build_name *n = t->names[i], *end = n, *next;
		size_t steps = 0;

		/* a link may lead to a link; all of a chain are bound at once, so that none is walked twice */
		while (end->link != NULL) {
			if ((next = build_tree_find(t, end->link, end->link_len)) == NULL)
				return no_target(end, "which is not there", e);
			if (++steps > t->n_names)
				return no_target(end, "in a circle of links", e);
			end = next;
		}
		if (n->link != NULL && t->objects[end->object].type == DRAY_DIR)
			return no_target(n, "which is a directory", e);
		for (; n->link != NULL; n = next) {
			next = build_tree_find(t, n->link, n->link_len);
			if (build_tree_bind(t, n->path, n->len, end->object, e) != 0)
				return -1;
		}
	}
	return 0;
}

/* the directory above each name: made where no archive has it, refused where it is none */
static int
check_parents(struct build_tree *t, struct dray_err *e)
{
	for (size_t i = 0; i < t->n_names; i++) {	/* grows: those made here come to their turn as well */
		const struct build_name *n = t->names[i], *above;
		size_t len = n->len;
		uint32_t number = 0;
		char quoted[300];

		while (len > 0 && n->path[len - 1] != '/')
			len--;
		if (len == 0)
			continue;
		len--;
		if ((above = build_tree_find(t, n->path, len)) != NULL) {
			uint8_t type = t->objects[above->object].type;

			if (type == DRAY_DIR)
				continue;
			dray_fail(e, DRAY_E_FORMAT, "it lies beneath %s, which is a %s",
			    dray_quote(above->path, above->len, quoted, sizeof(quoted)),
			    type == DRAY_SYMLINK ? "symlink" : type == DRAY_FILE ? "file" : "special file");
			build_archive_name_err(n->path, e);
			return n->archive == NULL ? -1 : dray_wrap(e, "%s", n->archive);
		}
		if (build_tree_object(t, &number, e) != 0)
			return -1;
		t->objects[number] = (struct build_node){ .type = DRAY_DIR, .mode = 0755,
			.has = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID };
		t->archive = n->archive;
		if (build_tree_bind(t, n->path, len, number, e) != 0 || build_tree_note(t, n->path, len,
		    "a directory that the archive lacks: taken as mode 0755 of root", false, e) != 0)
			return -1;
	}
	return 0;
}

static int
make_nodes(struct build_tree *t, struct dray_err *e)
{
	for (size_t i = 0; i < t->n_names; i++) {
		const struct build_name *n = t->names[i];
		const struct build_node *object = &t->objects[n->object];
		struct build_node *nd = build_release_append(t->r);

		if (nd == NULL)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		*nd = *object;
		nd->path = n->path;
		nd->len = (uint32_t)n->len;
		nd->ino = (uint64_t)n->object + 1;
		if (nd->type != DRAY_FILE && nd->nlink > 1 && build_tree_note(t, n->path, n->len,
		    "a hard link to something that is no file: packed as an object of its own", false, e) != 0)
			return -1;
	}
	if (build_release_sort(t->r, e) != 0)
		return -1;
	return build_release_group(t->r, e);
}

int
build_tree_finish(struct build_tree *t, struct dray_err *e)
{
	return check_parents(t, e) == 0 ? make_nodes(t, e) : -1;
}

void
build_tree_free(struct build_tree *t)
{
	for (size_t i = 0; i < t->n_names; i++)
		tdelete(t->names[i], &t->by_path, name_cmp);
	free(t->names);
	free(t->objects);
}
