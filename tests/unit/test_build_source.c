/* what sources are called, where values of a recipe stand, and where a path belongs */
#include <stdlib.h>
#include <string.h>

#include "builder/acl.h"
#include "builder/json_place.h"
#include "builder/layout.h"
#include "builder/owner.h"
#include "builder/source.h"
#include "test.h"

static void
a_source_is_rebased_part_by_part(void)
{
	static const struct { const char *spec, *want; } cases[] = {
		{ "new", "rel/new" }, { "/new", "/new" }, { "./a:b", "rel/./a:b" }, { "dir:new", "dir:rel/new" },
		{ "dir:/new", "dir:/new" }, { "dir:", "dir:" }, { "", "" }, { "archive:a.tar", "archive:rel/a.tar" },
		{ "archive:a.tar,/b.tar,c.tar", "archive:rel/a.tar,/b.tar,rel/c.tar" },
		{ "archive:a\\,b,c", "archive:rel/a\\,b,rel/c" }, { "archive:,a", "archive:,rel/a" },
		{ "archive:a\\", "archive:rel/a\\" }, { "a,b", "rel/a,b" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *s = build_source_rebase(cases[i].spec, "rel");

		CHECK_STR(s, cases[i].want);
		free(s);
	}
	char *s = build_source_rebase("archive:x,y", "a,b\\c");

	CHECK_STR(s, "archive:a\\,b\\\\c/x,a\\,b\\\\c/y");
	free(s);
}

static size_t line, column;

static bool
place(const char *text, const struct build_step *steps, size_t n)
{
	char *copy = malloc(strlen(text));	/* exactly as long, for the sanitizers */
	bool ok;

	memcpy(copy, text, strlen(text));
	ok = build_json_place(copy, strlen(text), steps, n, &line, &column);
	free(copy);
	return ok;
}

static void
values_are_found_by_line_and_column(void)
{
	static const char text[] = "{ \"a\": [1, {\"}\\\"\": \"]\"},\n  {\"b\": {\"c\": true}}],\n\t\"d\" : -1.5 }\n";
	const struct build_step c[] = { { "a", 0 }, { NULL, 2 }, { "b", 0 }, { "c", 0 } };
	const struct build_step d[] = { { "d", 0 } };
	const struct build_step none[] = { { "a", 0 }, { NULL, 3 } };
	const struct build_step wrong[] = { { NULL, 0 } };

	CHECK(place(text, c, 4));
	CHECK_EQ(line, 2);
	CHECK_EQ(column, 10);
	CHECK(place(text, c, 2));
	CHECK_EQ(line, 2);
	CHECK_EQ(column, 3);
	CHECK(place(text, d, 1));
	CHECK_EQ(line, 3);
	CHECK_EQ(column, 2);
	CHECK(place(text, d, 0));
	CHECK_EQ(line, 1);
	CHECK_EQ(column, 1);
	/* what is not there: the last that was */
	CHECK(!place(text, none, 2));
	CHECK_EQ(line, 1);
	CHECK_EQ(column, 3);
	CHECK(!place(text, wrong, 1));
	CHECK_EQ(column, 1);
}

/* the walk ends on anything, and reads nothing behind the text */
static void
rubbish_is_walked_to_its_end(void)
{
	static const char bytes[] = "{}[],:\"\\a1 \n";
	const struct build_step steps[] = { { "a", 0 }, { NULL, 1 }, { "a", 0 } };
	unsigned x = 1;

	for (int i = 0; i < 100000; i++) {
		char text[12];
		size_t n = 1 + (size_t)i % (sizeof(text) - 1);

		for (size_t k = 0; k < n; k++)
			text[k] = bytes[(x = x * 1103515245u + 12345u) / 65536 % (sizeof(bytes) - 1)];
		text[n] = '\0';
		(void)place(text, steps, 3);
	}
	CHECK(true);
}

static struct build_layout *
layout(void)
{
	struct build_layout *l = calloc(1, sizeof(*l));
	struct dray_err e;

	l->n_components = 3;
	l->n_phases = 2;
	CHECK_EQ(build_patterns_add(&l->components[0].paths, "usr/src", &e), 0);
	CHECK_EQ(build_patterns_add(&l->components[1].paths, "usr/share/**", &e), 0);
	l->components[2].rest = true;
	CHECK_EQ(build_patterns_add(&l->phases[0].paths, "boot", &e), 0);
	CHECK_EQ(build_patterns_add(&l->config, "etc", &e), 0);
	CHECK_EQ(build_patterns_add(&l->not_config, "etc/cache", &e), 0);
	return l;
}

static void
add_paths(struct build_layout *l)
{
	static const char *const paths[] = { "abc", "abd", "abd/x", "boot", "boot/kernel", "etc", "etc/cache", "etc/f", "usr",
		"usr/bin", "usr/share", "usr/share/doc", "usr/share/doc/a", "usr/src", "usr/src/a.c", "usr/src.txt" };
	struct dray_err e;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		CHECK_EQ(build_layout_add(l, paths[i], strlen(paths[i]), &(struct build_fact){ .parts = 0 }, &e), 0);
}

static void
a_directory_belongs_to_all_beneath_it(void)
{
	static const uint64_t want[] = { 4, 4, 4, 4, 4, 4, 4, 4, 7, 4, 2, 2, 2, 1, 1, 4 };
	struct build_layout *l = layout();

	add_paths(l);
	CHECK_EQ(l->n_places, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < l->n_places; i++)
		CHECK_EQ(l->places[i].components, want[i]);
	CHECK_EQ(l->places[3].phase, 0);
	CHECK_EQ(l->places[4].phase, 0);
	CHECK_EQ(l->places[5].phase, 1);
	CHECK(l->places[7].config);
	CHECK(!l->places[6].config);
	CHECK(!l->places[8].config);
	/* again, from the beginning */
	build_layout_forget(l);
	add_paths(l);
	CHECK_EQ(l->places[8].components, 7);
	build_layout_free(l);
	free(l);
}

static void
of_freebsd_what_may_still_be_wanted_goes_last(void)
{
	static const struct { const char *path; bool gone, dir; uint64_t parts; uint8_t phase; } v[] = {
		{ "boot", false, true, 1, 0 },
		{ "boot/kernel", false, true, 1, 0 },
		{ "boot/kernel/kernel", false, false, 1, 0 },
		{ "boot/kernel/old.ko", true, false, 1, 2 },
		{ "bootstrap", false, false, 2, 1 },
		{ "lib", false, true, 2, 1 },
		{ "lib/libc.so.7", false, false, 2, 1 },
		{ "lib/libold.so.5", true, false, 2, 2 },
		{ "lib/libold.so.x", true, false, 2, 1 },
		{ "lib/libplain.so", true, false, 2, 1 },
		{ "now-a-file", false, false, 2, 1 },		/* was a directory */
		{ "now-a-file/libx.so.1", true, false, 2, 1 },	/* must make room for it */
		{ "now-a-file/sub", true, true, 2, 1 },
		{ "old", true, true, 4, 2 },
		{ "old/file", true, false, 4, 1 },
	};
	struct build_layout *l = calloc(1, sizeof(*l));
	struct dray_err e;

	l->freebsd = true;
	l->n_components = 3;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		const struct build_fact fact = { v[i].parts, v[i].gone, v[i].dir };

		CHECK_EQ(build_layout_add(l, v[i].path, strlen(v[i].path), &fact, &e), 0);
		CHECK_EQ(l->places[i].phase, v[i].phase);
		CHECK_EQ(l->places[i].components, v[i].parts);
	}
	build_layout_free(l);
	free(l);
}

static void
without_a_rest_it_belongs_to_all_and_to_the_last_phase(void)
{
	struct build_layout *l = layout();
	struct dray_err e;

	l->components[2].rest = false;
	CHECK_EQ(build_layout_add(l, "a", 1, &(struct build_fact){ .parts = 0 }, &e), 0);
	CHECK_EQ(l->places[0].components, 7);
	CHECK_EQ(l->places[0].phase, 1);
	l->n_components = 0;
	l->n_phases = 0;
	CHECK_EQ(build_layout_add(l, "b", 1, &(struct build_fact){ .parts = 0 }, &e), 0);
	CHECK_EQ(l->places[1].components, 1);
	CHECK_EQ(l->places[1].phase, 0);
	l->n_components = 3;
	build_layout_free(l);
	free(l->phases[0].paths.v);
	free(l);
}

static void
what_is_no_pattern_is_refused_by_name(void)
{
	struct build_patterns p = { .n = 0 };
	struct dray_err e;

	CHECK_EQ(build_patterns_add(&p, "a//b", &e), -1);
	CHECK_EQ(e.code, DRAY_E_USAGE);
	CHECK_HAS(e.text, "the pattern \"a//b\" will not do: it has an empty part");
	CHECK_EQ(p.n, 0);
	free(p.v);
}

static void
an_acl_shows_its_mask_in_the_mode(void)
{
	uint8_t p[BUILD_ACL_HEAD + 5 * BUILD_ACL_ENTRY];
	const struct build_acl_entry v[] = { { BUILD_ACL_OTHER, 1, UINT32_MAX }, { BUILD_ACL_MASK, 5, UINT32_MAX },
		{ BUILD_ACL_USER, 7, 10 }, { BUILD_ACL_GROUP_OBJ, 6, UINT32_MAX }, { BUILD_ACL_USER_OBJ, 6, UINT32_MAX } };

	for (size_t i = 0; i < 5; i++)
		build_acl_put(p, i, &v[i]);
	CHECK(build_acl_ok(p, sizeof(p)));
	CHECK(!build_acl_ok(p, sizeof(p) - 1));
	CHECK(!build_acl_ok(p, 3));
	CHECK_EQ(build_acl_mode(p, sizeof(p), 04777), 04651);
	build_acl_sort(p, sizeof(p));
	CHECK_EQ(build_acl_get(p, 0).tag, BUILD_ACL_USER_OBJ);
	CHECK_EQ(build_acl_get(p, 1).id, 10);
	CHECK_EQ(build_acl_get(p, 4).tag, BUILD_ACL_OTHER);
	CHECK_EQ(build_acl_mode(p, sizeof(p), 04777), 04651);
	p[0] = 3;
	CHECK(!build_acl_ok(p, sizeof(p)));
}

int
main(void)
{
	RUN(a_source_is_rebased_part_by_part);
	RUN(values_are_found_by_line_and_column);
	RUN(rubbish_is_walked_to_its_end);
	RUN(a_directory_belongs_to_all_beneath_it);
	RUN(without_a_rest_it_belongs_to_all_and_to_the_last_phase);
	RUN(of_freebsd_what_may_still_be_wanted_goes_last);
	RUN(what_is_no_pattern_is_refused_by_name);
	RUN(an_acl_shows_its_mask_in_the_mode);
	return test_done();
}
