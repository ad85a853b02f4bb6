/*
 * test_history_plan.c - which contents are made from which former states, what may share a frame, what slim may promise
 */
#include "builder/layout.h"
#include "history_scene.h"
#include "test.h"

static void
each_former_state_of_the_path_is_a_base(void)
{
	struct scene s;

	begin(&s);
	for (size_t i = 0; i < 3; i++)
		file(s.old[i], "a", 1, (int)i);
	file(s.to, "a", 1, 9);
	plan(&s, 3, true);
	CHECK_EQ(choices(&s, "a", 1), 3);
	CHECK(!has_full(&s, "a"));
	CHECK_EQ(s.rs->contents[content_of(&s, "a")].sure, 0);
	end(&s);
}

static void
slim_keeps_a_full_copy_where_a_state_leads_nowhere(void)
{
	struct scene s;

	begin(&s);
	file(s.old[0], "absent", 1, 1);
	file(s.old[0], "other", 2, 1);
	file(s.old[1], "other", 77, 1);		/* nothing in common */
	file(s.old[0], "type", 3, 1);
	node(s.old[1], "type", DRAY_DIR);
	file(s.to, "absent", 1, 9);
	file(s.to, "other", 2, 9);
	file(s.to, "type", 3, 9);
	plan(&s, 2, true);
	CHECK_EQ(choices(&s, "absent", 1), 1);
	CHECK_EQ(choices(&s, "other", 1), 1);
	CHECK_EQ(choices(&s, "type", 1), 1);
	CHECK(has_full(&s, "absent"));
	CHECK(has_full(&s, "other"));
	CHECK(has_full(&s, "type"));
	end(&s);
}

static void
another_path_serves_with_all_its_states(void)
{
	struct scene s;

	begin(&s);
	for (size_t i = 0; i < 2; i++) {
		file(s.old[i], "lib/x.so.1", 1, (int)i);	/* a version in the name */
		file(s.old[i], "old/place", 2, (int)i);		/* another name: what is in it decides */
		file(s.old[i], "still", 3, 1);
	}
	file(s.to, "lib/x.so.2", 1, 9);
	file(s.to, "new/home", 2, 9);
	file(s.to, "copy-of-still", 3, 1);
	plan(&s, 2, true);
	CHECK_EQ(choices(&s, "lib/x.so.2", 1), 2);
	CHECK_EQ(choices(&s, "new/home", 1), 2);
	CHECK(!has_full(&s, "lib/x.so.2"));
	CHECK(!has_full(&s, "new/home"));
	/* every machine has it: a copy */
	CHECK_EQ(choices(&s, "copy-of-still", 1), 0);
	CHECK(!has_full(&s, "copy-of-still"));
	CHECK_EQ(s.rs->contents[content_of(&s, "copy-of-still")].sure, 1);
	end(&s);
}

static void
a_content_that_was_there_at_times_is_no_sure_copy(void)
{
	struct scene s;

	begin(&s);
	file(s.old[0], "a", 1, 1);
	file(s.old[1], "a", 50, 1);
	file(s.to, "b", 1, 1);
	plan(&s, 2, true);
	CHECK_EQ(s.rs->contents[content_of(&s, "b")].bases, 1);
	CHECK_EQ(s.rs->contents[content_of(&s, "b")].sure, 0);
	CHECK(has_full(&s, "b"));
	end(&s);
}

static void
what_people_edit_has_deltas_from_its_own_states_and_a_full_copy(void)
{
	struct build_layout layout = { .n_components = 0 };
	struct scene s;
	struct dray_err e;

	begin(&s);
	CHECK_EQ(build_patterns_add(&layout.config, "etc/**", &e), 0);
	s.to->layout = &layout;
	for (size_t i = 0; i < 2; i++)
		file(s.old[i], "etc/conf", 1, (int)i);
	file(s.old[0], "usr/else", 2, 1);
	file(s.to, "etc/conf", 1, 9);
	file(s.to, "usr/conf", 1, 8);
	plan(&s, 2, true);
	CHECK_EQ(choices(&s, "etc/conf", 1), 2);
	CHECK_EQ(choices(&s, "usr/conf", 1), 0);
	CHECK(has_full(&s, "etc/conf"));
	CHECK(has_full(&s, "usr/conf"));
	end(&s);
	build_layout_free(&layout);
}

static void
a_state_in_a_component_that_may_be_absent_covers_nobody(void)
{
	struct build_layout layout = { .n_components = 2 };
	struct scene s;
	struct dray_err e;

	begin(&s);
	snprintf(layout.components[0].name, sizeof(layout.components[0].name), "base");
	layout.components[0].rest = true;
	snprintf(layout.components[1].name, sizeof(layout.components[1].name), "src");
	CHECK_EQ(build_patterns_add(&layout.components[1].paths, "src", &e), 0);
	s.to->layout = &layout;
	for (size_t i = 0; i < 2; i++)
		file(s.old[i], "src/a", 1, (int)i);
	file(s.to, "bin/a", 1, 9);	/* its like is in src alone */
	file(s.to, "src/a", 1, 9);
	plan(&s, 2, true);
	CHECK(has_full(&s, "bin/a"));
	end(&s);
	build_layout_free(&layout);
}

static size_t
in_frame_of(const struct scene *s, const char *path)
{
	for (size_t i = 0; i < s->plan.n_uses; i++)
		if (s->plan.uses[i].content == content_of(s, path) && s->plan.uses[i].bases != 0)
			return s->plan.frames[s->plan.parts[s->plan.uses[i].first].frame].n;
	return 0;
}

static void
what_builds_on_states_that_may_not_meet_shares_no_frame(void)
{
	static const char *const mixed[] = { "m0", "m1", "m2" }, *const steady[] = { "s0", "s1", "s2" };
	struct scene s;

	begin(&s);
	for (uint64_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < 2; i++)
			file(s.old[i], mixed[k], k, (int)i);
		file(s.to, mixed[k], k, 9);
	}
	for (uint64_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < 2; i++)
			file(s.old[i], steady[k], 10 + k, 0);
		file(s.to, steady[k], 10 + k, 9);
	}
	plan(&s, 2, true);
	CHECK_EQ(in_frame_of(&s, "m1"), 1);
	CHECK_EQ(in_frame_of(&s, "m2"), 1);
	CHECK_EQ(in_frame_of(&s, "m0"), 1);
	CHECK_EQ(in_frame_of(&s, "s0"), 3);
	CHECK_EQ(in_frame_of(&s, "s2"), 3);
	for (size_t i = 0; i < s.plan.n_frames; i++)
		CHECK(s.plan.frames[i].ranges <= (s.plan.frames[i].n == 3 ? 3 : 1));
	end(&s);
}

static void
an_exact_base_beside_it_shares_its_deltas(void)
{
	struct scene s;

	begin(&s);
	s.exact = release("exact");
	file(s.exact, "a", 1, 0);
	file(s.exact, "b", 2, 7);
	for (size_t i = 0; i < 2; i++) {
		file(s.old[i], "a", 1, (int)i);
		file(s.old[i], "b", 2, 0);
	}
	file(s.to, "a", 1, 9);
	file(s.to, "b", 2, 9);
	plan(&s, 2, true);
	CHECK_EQ(s.rs->history, 2);
	CHECK_EQ(choices(&s, "a", 1), 1);
	CHECK_EQ(choices(&s, "a", 2), 2);
	CHECK_EQ(choices(&s, "a", 3), 2);	/* one of them for both */
	CHECK_EQ(choices(&s, "b", 3), 2);
	CHECK(!has_full(&s, "a"));
	CHECK(!has_full(&s, "b"));
	end(&s);
}

static void
more_states_than_recipes_leave_the_full_copy(void)
{
	struct scene s;

	begin(&s);
	s.history = release("index");
	s.history->history = true;
	len = 200;		/* so that no feature is needed to find them */
	for (int i = 0; i < 256; i++)
		file(s.history, "a", 1, i);
	file(s.to, "a", 2, 9);
	plan(&s, 0, true);
	len = 20000;
	CHECK_EQ(choices(&s, "a", 1), 254);
	CHECK(has_full(&s, "a"));
	end(&s);
}

int
main(void)
{
	if (mkdtemp(scratch) == NULL)
		return 1;
	RUN(each_former_state_of_the_path_is_a_base);
	RUN(slim_keeps_a_full_copy_where_a_state_leads_nowhere);
	RUN(another_path_serves_with_all_its_states);
	RUN(a_content_that_was_there_at_times_is_no_sure_copy);
	RUN(what_people_edit_has_deltas_from_its_own_states_and_a_full_copy);
	RUN(a_state_in_a_component_that_may_be_absent_covers_nobody);
	RUN(what_builds_on_states_that_may_not_meet_shares_no_frame);
	RUN(an_exact_base_beside_it_shares_its_deltas);
	RUN(more_states_than_recipes_leave_the_full_copy);
	rmdir(scratch);
	return test_done();
}
