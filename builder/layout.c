/*
 * layout.c - patterns, and which of them a path falls to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/arena.h"
#include "builder/layout.h"
#include "dray/glob.h"
#include "dray/path.h"

int
build_patterns_add(struct build_patterns *p, const char *text, struct dray_err *e)
{
	char quoted[300];
	const char *why, **v;

	if (!dray_glob_ok(text, strlen(text), &why))
		return dray_fail(e, DRAY_E_USAGE, "the pattern \"%s\" will not do: %s",
		    dray_quote(text, strlen(text), quoted, sizeof(quoted)), why);
	if ((v = build_grow(p->v, p->n, &p->cap, sizeof(*v))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	p->v = v;
	p->v[p->n++] = text;
	return 0;
}

const char *
build_patterns_cover(const struct build_patterns *p, const char *path, size_t len)
{
	for (size_t i = 0; i < p->n; i++)
		if (dray_glob_covers(p->v[i], strlen(p->v[i]), path, len))
			return p->v[i];
	return NULL;
}

/* number of the part that takes the path, or @n: none does */
static size_t
pick(const struct build_part *v, size_t n, const char *path, size_t len)
{
	size_t rest = n;

	for (size_t i = 0; i < n; i++) {
		if (build_patterns_cover(&v[i].paths, path, len) != NULL)
			return i;
		if (v[i].rest)
			rest = i;
	}
	return rest;
}

enum { KERNEL, WORLD, CLEANUP, PHASES };	/* of FreeBSD */

void
build_layout_freebsd(struct build_layout *l)
{
	static const char *const names[PHASES] = { [KERNEL] = "kernel", [WORLD] = "world", [CLEANUP] = "cleanup" };

	l->freebsd = true;
	for (l->n_phases = 0; l->n_phases < PHASES; l->n_phases++)
		snprintf(l->phases[l->n_phases].name, sizeof(l->phases[0].name), "%s", names[l->n_phases]);
}

/* "libfoo.so.5", wherever it lies */
static bool
is_library(const char *path, size_t len)
{
	size_t leaf = len, i;

	while (leaf > 0 && path[leaf - 1] != '/')
		leaf--;
	for (i = leaf; i + 4 < len; i++)
		if (memcmp(path + i, ".so.", 4) == 0)
			return path[i + 4] >= '0' && path[i + 4] <= '9';
	return false;
}

/*
 * Of FreeBSD: what is gone from boot, old libraries and old directories wait for the end, as programs of before and the
 * running kernel may still want them; but nothing waits that lies where a file or symlink comes.
 */
static uint8_t
freebsd_phase(const struct build_layout *l, const char *path, size_t len, const struct build_fact *fact)
{
	const bool boot = dray_path_under(path, len, "boot", 4);

	if (!fact->gone)
		return boot ? KERNEL : WORLD;
	for (size_t i = l->n_above; i-- > 0;)
		if (l->above[i].closed)
			return l->places[l->above[i].row].phase;
	return boot || fact->dir || is_library(path, len) ? CLEANUP : WORLD;
}

int
build_layout_add(struct build_layout *l, const char *path, size_t len, const struct build_fact *fact, struct dray_err *e)
{
	size_t i = pick(l->components, l->n_components, path, len), k = pick(l->phases, l->n_phases, path, len);
	struct build_place p = { .components = 1 };
	void *v;

	if (fact->parts != 0)
		p.components = fact->parts;
	else if (i < l->n_components)
		p.components = UINT64_C(1) << i;
	else if (l->n_components > 0)
		p.components = UINT64_MAX >> (64 - l->n_components);
	if (l->n_phases > 0)
		p.phase = (uint8_t)(k < l->n_phases ? k : l->n_phases - 1);
	p.config = build_patterns_cover(&l->config, path, len) != NULL &&
	    build_patterns_cover(&l->not_config, path, len) == NULL;
	if ((v = build_grow(l->places, l->n_places, &l->cap_places, sizeof(*l->places))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	l->places = v;
	/* paths come in order, so those above this one are a prefix of those above the last one, and the last one */
	while (l->n_above > 0 && !dray_path_under(path, len, l->above[l->n_above - 1].path, l->above[l->n_above - 1].len))
		l->n_above--;
	if (l->freebsd)
		p.phase = freebsd_phase(l, path, len, fact);
	for (size_t a = 0; a < l->n_above; a++)
		l->places[l->above[a].row].components |= p.components;
	if ((v = build_grow(l->above, l->n_above, &l->cap_above, sizeof(*l->above))) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	l->above = v;
	l->above[l->n_above++] = (struct build_above){ path, (uint32_t)len, (uint32_t)l->n_places, !fact->gone && !fact->dir };
	l->places[l->n_places++] = p;
	return 0;
}

void
build_layout_forget(struct build_layout *l)
{
	free(l->places);
	free(l->above);
	l->places = NULL;
	l->above = NULL;
	l->n_places = l->cap_places = l->n_above = l->cap_above = 0;
}

void
build_layout_free(struct build_layout *l)
{
	if (l == NULL)
		return;
	build_layout_forget(l);
	for (size_t i = 0; i < l->n_components; i++)
		free(l->components[i].paths.v);
	for (size_t i = 0; i < l->n_phases; i++)
		free(l->phases[i].paths.v);
	free(l->config.v);
	free(l->not_config.v);
}
