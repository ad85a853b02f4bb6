/*
 * parts.c - the components of several releases, numbered alike.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/parts.h"

static int
name_cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}

struct names {
	char (*v)[65];
	size_t n;
};

/* all names once, in order */
static int
collect(struct build_release *const *v, size_t n, struct names *out, struct dray_err *e)
{
	size_t all = 1, at = 0;

	for (size_t i = 0; i < n; i++)
		all += v[i]->n_parts;
	*out = (struct names){ .v = calloc(all, sizeof(*out->v)) };
	if (out->v == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i]->n_parts; k++)
			memcpy(out->v[at++], v[i]->part_names[k], sizeof(out->v[0]));
	qsort(out->v, at, sizeof(out->v[0]), name_cmp);
	for (size_t i = 0; i < at; i++)
		if (out->n == 0 || strcmp(out->v[out->n - 1], out->v[i]) != 0)
			memmove(out->v[out->n++], out->v[i], sizeof(out->v[0]));
	return 0;
}

static void
renumber(struct build_release *r, const struct names *names)
{
	uint64_t to[DRAY_MAX_COMPONENTS] = { 0 };

	for (size_t k = 0; k < r->n_parts; k++)
		for (size_t i = 0; i < names->n; i++)
			if (strcmp(names->v[i], r->part_names[k]) == 0)
				to[k] = UINT64_C(1) << i;
	for (size_t i = 0; i < r->n; i++) {
		uint64_t from = r->v[i].parts;

		r->v[i].parts = 0;
		for (size_t k = 0; k < r->n_parts; k++)
			if ((from >> k & 1) != 0)
				r->v[i].parts |= to[k];
	}
}

int
build_parts_join(struct build_release *const *v, size_t n, struct build_layout *l, struct dray_err *e)
{
	struct names names;

	if (collect(v, n, &names, e) != 0)
		return -1;
	if (l->n_components > 0)
		names.n = 0;
	if (names.n > DRAY_MAX_COMPONENTS) {
		free(names.v);
		return dray_fail(e, DRAY_E_USAGE, "the sources have more than %u components together", DRAY_MAX_COMPONENTS);
	}
	for (size_t i = 0; i < n; i++)
		renumber(v[i], &names);
	for (size_t i = 0; i < names.n; i++)
		memcpy(l->components[i].name, names.v[i], sizeof(names.v[i]));
	if (names.n > 0)
		l->n_components = names.n;
	free(names.v);
	return 0;
}
