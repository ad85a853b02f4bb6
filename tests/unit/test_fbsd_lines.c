/*
 * test_fbsd_lines.c - lists of a freebsd-update server: one that is no tree is refused with its line, and components that are asked
 * for are kept.
 */
#include <string.h>

#include "dray/fbsd_lines.h"

#include "fbsd_release.h"
#include "test.h"

static int
add(const char *text, const char *asked, struct dray_fbsd_lines *l, struct dray_err *e)
{
	const struct dray_fbsd_list t = { .file = "INDEX-ALL", .of = "14.0-RELEASE/amd64", .p = text, .len = strlen(text), .tree = true };
	struct dray_fbsd_parts parts = { .n = 0 };

	*l = (struct dray_fbsd_lines){ .v = NULL };
	dray_err_clear(e);
	if (asked != NULL && dray_fbsd_parts_add(&parts, asked, e) != 0)
		return -1;
	return dray_fbsd_lines_add(l, &t, &parts, e);
}

static void
a_list_that_is_no_tree_is_refused_with_its_line(void)
{
#define HEAD "world|base|/|d|0|0|0755|0||\n"
#define FILE_A "world|base|/a|f|0|0|0444|0|" A "|\n"
	static const struct { const char *text, *says; } v[] = {
		{ HEAD "world|base|/a|d|0|0\n", ", line 2 (world|base|/a|d|0|0): not ten fields" },
		{ HEAD "world|base|/var/lib/dray|d|0|0|0755|0||\nworld|base|/.dray|d|0|0|0755|0||\n", "a name that the installer keeps for itself" },
		{ HEAD FILE_A "world|base|/b|-||||||\n", "line 3 (b): the release is told to lack it" },
		{ FILE_A HEAD FILE_A, "(a): it stands there twice" },
		{ FILE_A "world|lib32|/a|f|0|0|0444|0|" B "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|f|0|1|0444|0|" A "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|f|1|0|0444|0|" A "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|f|0|0|0444|400000|" A "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|d|0|0|0755|0||\n", "(a): it stands there twice, not alike" },
		{ "world|base|/l|L|0|0|0755|0|x|\nworld|lib32|/l|L|0|0|0755|0|xy|\n", "line 2 (l): it stands there twice, not alike" },
		{ FILE_A "world|base|/a/b|d|0|0|0755|0||\n", "line 2 (a/b): it lies beneath a file" },
		{ "world|base|/l|L|0|0|0755|0|x|\nworld|base|/l/b|d|0|0|0755|0||\n", "line 2 (l/b): it lies beneath a symlink" },
		{ FILE_A "world|base|/b|f|0|0|0444|0|" A "|/c\n", "line 2 (b): the file it is a hard link to is not there, or another" },
		{ FILE_A "world|base|/b|f|0|0|0444|0|" B "|/a\n", "line 2 (b): the file it is a hard link to is not there, or another" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_lines l;
		struct dray_err e;

		CHECK_EQ(add(v[i].text, NULL, &l, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_HAS(e.text, "INDEX-ALL of 14.0-RELEASE/amd64, line ");
		CHECK_HAS(e.text, v[i].says);
		CHECK_HAS(e.hint, "signed but cannot be used");
		dray_fbsd_lines_free(&l);
	}
}

static void
components_that_are_asked_for_are_kept(void)
{
	static const struct { const char *asked; size_t n; } v[] = { { NULL, 12 }, { "world/lib32", 2 }, { "kernel", 2 }, { "world", 10 },
		{ "kernel/generic,world/base", 10 } };
	static const struct { const char *asked, *says; } bad[] = { { "", "the component \"\": one such as world" },
		{ "world,", "the component \"\"" }, { "World", "the component \"World\"" }, { "/world", "the component \"/world\"" },
		{ "world/", "the component \"world/\"" }, { "a/b/c", "the component \"a/b/c\"" },
		{ "world,doc", "14.0-RELEASE/amd64 has no component doc" },
		{ "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a", "more than 32 components" } };
	struct dray_fbsd_lines l;
	struct dray_err e;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		CHECK_EQ(add(list, v[i].asked, &l, &e), 0);
		CHECK_EQ(l.n, v[i].n);
		dray_fbsd_lines_free(&l);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(add(list, bad[i].asked, &l, &e), -1);
		CHECK_EQ(e.code, DRAY_E_USAGE);
		CHECK_HAS(e.text, bad[i].says);
		dray_fbsd_lines_free(&l);
	}
}

int
main(void)
{
	RUN(a_list_that_is_no_tree_is_refused_with_its_line);
	RUN(components_that_are_asked_for_are_kept);
	return test_done();
}
