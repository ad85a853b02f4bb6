/*
 * fuzz_fbsd.c - what a freebsd-update server says, after its hash matched: the first byte says which.
 *
 *   T tag, I index of metadata files, L one line, A lines of a file that describes a tree, H lines of one that does not
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dray/fbsd.h"
#include "dray/fbsd_lines.h"
#include "dray/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
lines(const char *p, size_t len, bool tree)
{
	const struct dray_fbsd_list t = { .file = "INDEX-ALL", .of = "13.2-RELEASE/amd64", .p = p, .len = len, .tree = tree };
	static const struct dray_fbsd_parts all;
	struct dray_fbsd_lines l = { .v = NULL };
	struct dray_err e = { .code = DRAY_OK };

	if (dray_fbsd_lines_add(&l, &t, &all, &e) != 0 && e.text[0] == '\0')
		abort();
	dray_fbsd_lines_sort(&l);
	for (size_t i = 0; i < l.n; i++) {
		struct dray_attrs a;

		if (l.v[i].path < p || l.v[i].path_len > len || (l.v[i].path_len > 0 && !dray_path_ok(l.v[i].path, l.v[i].path_len, NULL)))
			abort();
		if (l.v[i].type != '-')
			dray_fbsd_attrs(&l.v[i], "freebsd", &a);
	}
	dray_fbsd_lines_free(&l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_err e = { .code = DRAY_OK };
	struct dray_fbsd_tag tag;
	struct dray_fbsd_line line;
	const char *p = (const char *)data + 1, *why = NULL;
	uint8_t sha[32];

	if (size == 0)
		return 0;
	size--;
	if ((data[0] == 'T' && dray_fbsd_tag_parse(p, size, NULL, NULL, &tag, &e) != 0 && e.text[0] == '\0') ||
	    (data[0] == 'I' && dray_fbsd_tindex_find(p, size, "INDEX-ALL", sha, &e) != 0 && e.text[0] == '\0') ||
	    (data[0] == 'L' && !dray_fbsd_line_parse(p, size, &line, &why) && why == NULL))
		abort();
	if (data[0] == 'A' || data[0] == 'H')
		lines(p, size, data[0] == 'A');
	return 0;
}
