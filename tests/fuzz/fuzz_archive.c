/*
 * fuzz_archive.c - the source "archive" on a file of a stranger: what becomes a release has good paths in order, each once, and
 * links that lead to what is before them.
 */
#include <stdio.h>

#include "builder/release.h"
#include "dray/path.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char file[128];
	const char *const paths[] = { file };
	struct build_scan_opts o = { .threads = 1, .spool_dir = fuzz_folder_name };
	struct dray_err e = { .code = DRAY_OK };
	struct build_release *r;

	if (file[0] == '\0') {
		(void)fuzz_folder();
		snprintf(file, sizeof(file), "%s/a.tar", fuzz_folder_name);
	}
	fuzz_put("a.tar", data, size);
	if (build_release_new("archive:a.tar", 1, &r, &e) != 0)
		abort();
	if (build_scan_archives(paths, 1, &o, r, &e) != 0) {
		if (e.text[0] == '\0' || e.code == DRAY_OK)
			abort();
		build_release_free(r);
		return 0;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct build_node *nd = &r->v[i];

		if (!dray_path_ok(nd->path, nd->len, NULL) || nd->path[nd->len] != '\0' || nd->link > r->n ||
		    (i > 0 && dray_path_cmp(r->v[i - 1].path, r->v[i - 1].len, nd->path, nd->len) >= 0))
			abort();
	}
	build_release_free(r);
	return 0;
}
