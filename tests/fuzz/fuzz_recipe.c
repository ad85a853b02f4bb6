/*
 * fuzz_recipe.c - a recipe of a build that somebody else has written: a refusal has its place in the file, what is accepted is
 * within the limits of a bundle. Nothing that it names is read; sources are looked at.
 */
#include <stdio.h>

#include "builder/recipe.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct build_layout l;
	static char path[128];
	struct build_args a = { .recipe = path };
	struct dray_err e = { .code = DRAY_OK };
	struct build_recipe *r;

	if (path[0] == '\0') {
		(void)fuzz_folder();
		snprintf(path, sizeof(path), "%s/recipe", fuzz_folder_name);
	}
	fuzz_put("recipe", data, size);
	memset(&l, 0, sizeof(l));
	if (build_recipe_load(&a, &l, &r, &e) != 0) {
		if (strncmp(e.text, path, strlen(path)) != 0 || (e.code != DRAY_E_USAGE && e.code != DRAY_E_IO))
			abort();
	} else if (l.n_components > DRAY_MAX_COMPONENTS || l.n_phases > DRAY_MAX_PHASES || a.from.n > DRAY_MAX_BASES ||
	    a.compatible.n > BUILD_COMPATIBLE_MAX) {
		abort();
	}
	build_recipe_free(r);
	return 0;
}
