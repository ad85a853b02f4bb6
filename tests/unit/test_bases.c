/*
 * test_bases.c - which old content a new one is made from: by path, by name with versions folded, by what is in it; what
 * people edit serves nobody else
 */
#include <stdlib.h>
#include <unistd.h>

#include "builder/layout.h"
#include "builder/pack.h"
#include "builder/pack_plan.h"
#include "dray/descriptor.h"
#include "dray/frame.h"
#include "bases_scene.h"
#include "noise.h"
#include "test.h"

static uint8_t *
changed(size_t len, uint64_t seed)
{
	uint8_t *p = noise(len, seed);

	memcpy(p + len / 2, "changed!", 8);
	return p;
}

static void
the_same_path_comes_first(void)
{
	struct scene s;

	begin(&s, 1);
	add(s.from[0], "bin/a", noise(20000, 1), 20000);
	add(s.from[0], "bin/b", noise(20000, 1), 20000 - 1);	/* as good */
	add(s.to, "bin/a", changed(20000, 1), 20000);
	choose(&s, 2);
	CHECK_STR(base_of(&s, "bin/a", 0), "bin/a");
	end(&s);
}

static void
a_version_in_the_path_does_not_hide_the_base(void)
{
	struct scene s;

	begin(&s, 1);
	/* too small for features: the name decides */
	add(s.from[0], "lib/modules/6.1.0-50/kernel/x.conf", noise(100, 1), 100);
	add(s.from[0], "lib/modules/6.1.0-50/other/x.conf", noise(100, 2), 100);
	add(s.to, "lib/modules/6.12.3-7/kernel/x.conf", changed(100, 1), 100);
	choose(&s, 1);
	CHECK_STR(base_of(&s, "lib/modules/6.12.3-7/kernel/x.conf", 0), "lib/modules/6.1.0-50/kernel/x.conf");
	end(&s);
}

static void
what_is_in_it_finds_a_base_under_another_name(void)
{
	struct scene s;

	begin(&s, 1);
	add(s.from[0], "old/place", noise(50000, 1), 50000);
	add(s.from[0], "old/thing", noise(50000, 2), 50000);
	add(s.from[0], "new/name", noise(50000, 3), 50000);	/* the same path, with nothing in common */
	add(s.to, "new/name", changed(50000, 2), 50000);
	choose(&s, 2);
	CHECK_STR(base_of(&s, "new/name", 0), "old/thing");
	end(&s);
}

static void
nothing_in_common_is_no_base(void)
{
	struct scene s;

	begin(&s, 1);
	add(s.from[0], "a", noise(50000, 1), 50000);
	add(s.to, "a", noise(50000, 2), 50000);
	choose(&s, 1);
	CHECK_STR(base_of(&s, "a", 0), "");
	CHECK_EQ(s.b.n, 0);
	end(&s);
}

static void
a_base_far_larger_than_the_content_is_not_taken_for_its_features(void)
{
	struct scene s;
	uint8_t *big = noise(2000000, 1), *part = noise(2000000, 1);

	begin(&s, 1);
	add(s.from[0], "big", big, 2000000);
	add(s.to, "small", part, 20000);
	choose(&s, 1);
	CHECK_STR(base_of(&s, "small", 0), "");
	end(&s);
}

static void
what_people_edit_is_nobodys_base_but_its_own(void)
{
	struct build_layout layout = { .n_components = 0 };
	struct scene s;
	struct dray_err e;

	begin(&s, 1);
	CHECK_EQ(build_patterns_add(&layout.config, "etc/**", &e), 0);
	s.to->layout = &layout;
	add(s.from[0], "etc/conf", noise(50000, 1), 50000);
	add(s.from[0], "usr/x", noise(50000, 5), 50000);
	add(s.to, "usr/copy", changed(50000, 1), 50000);
	add(s.to, "etc/conf", noise(50001, 1), 50001);
	choose(&s, 1);
	CHECK_STR(base_of(&s, "usr/copy", 0), "");
	CHECK_STR(base_of(&s, "etc/conf", 0), "etc/conf");
	end(&s);
	build_layout_free(&layout);
}

static void
a_base_in_a_component_that_may_be_absent_is_not_taken(void)
{
	struct build_layout layout = { .n_components = 2 };
	struct scene s;
	struct dray_err e;

	begin(&s, 1);
	snprintf(layout.components[0].name, sizeof(layout.components[0].name), "base");
	layout.components[0].rest = true;
	snprintf(layout.components[1].name, sizeof(layout.components[1].name), "src");
	CHECK_EQ(build_patterns_add(&layout.components[1].paths, "src", &e), 0);
	s.to->layout = &layout;
	add(s.from[0], "src/a", noise(50000, 1), 50000);
	add(s.to, "bin/a", changed(50000, 1), 50000);
	choose(&s, 1);
	CHECK_STR(base_of(&s, "bin/a", 0), "");
	end(&s);
	build_layout_free(&layout);
}

static void
bases_that_hold_the_same_share_a_choice_and_others_have_their_own(void)
{
	struct scene s;

	begin(&s, 3);
	add(s.from[0], "a", noise(50000, 1), 50000);
	add(s.from[1], "a", noise(49000, 1), 49000);
	add(s.from[2], "a", noise(50000, 1), 50000);
	add(s.to, "a", changed(50000, 1), 50000);
	choose(&s, 2);
	CHECK_EQ(s.b.n, 2);
	CHECK_EQ(s.b.v[0].bases, 5);
	CHECK_EQ(s.b.v[1].bases, 2);
	CHECK_EQ(s.rs->contents[s.b.v[0].base].size, 50000);
	CHECK_EQ(s.rs->contents[s.b.v[1].base].size, 49000);
	end(&s);
}

static void
a_base_that_has_the_very_bytes_needs_no_delta(void)
{
	struct scene s;

	begin(&s, 2);
	add(s.from[0], "old", noise(50000, 1), 50000);
	add(s.from[1], "old", changed(50000, 1), 50000);
	add(s.to, "new", noise(50000, 1), 50000);
	choose(&s, 1);
	CHECK_EQ(s.b.n, 1);
	CHECK_EQ(s.b.v[0].bases, 2);
	end(&s);
}

static void
threads_do_not_change_a_choice(void)
{
	static const char *const old[] = { "a1", "b1", "c1", "d1", "e1" }, *const new[] = { "a2", "b2", "c2", "d2", "e2" };
	struct scene one, four;

	for (int i = 0; i < 2; i++) {
		struct scene *s = i == 0 ? &one : &four;

		begin(s, 1);
		for (size_t k = 0; k < 5; k++) {
			add(s->from[0], old[k], noise(30000, k), 30000);
			add(s->to, new[k], changed(30000, (k + 2) % 5), 30000);
		}
		choose(s, i == 0 ? 1 : 4);
	}
	CHECK_EQ(one.b.n, 5);
	CHECK_EQ(four.b.n, 5);
	CHECK(memcmp(one.b.v, four.b.v, 5 * sizeof(one.b.v[0])) == 0);
	CHECK_STR(base_of(&one, "a2", 0), "c1");
	end(&one);
	end(&four);
}

static struct build_packed *
pack(struct scene *s, bool slim)
{
	struct build_pack_opts o = { .level = 3, .slim = slim, .threads = 2, .dir = scratch };
	struct build_packed *p;
	struct dray_err e;

	dray_err_clear(&e);
	if (build_resolve(s->to, s->from, s->n, &s->rs, &e) != 0 || build_pack(s->rs, &o, &p, &e) != 0) {
		printf("# %s\n", e.text);
		abort();
	}
	return p;
}

static void
end_pack(struct scene *s)
{
	build_resolved_free(s->rs);
	for (size_t i = 0; i < s->n; i++)
		build_release_free(s->from[i]);
	build_release_free(s->to);
}

static void
a_delta_that_saves_next_to_nothing_is_none(void)
{
	for (int slim = 0; slim < 2; slim++) {
		struct build_packed *p;
		struct scene s;
		uint8_t *new = noise(100000, 2), *old = noise(100000, 1);

		memcpy(new, old, 3000);		/* 3 per cent: a base, and not worth it */
		begin(&s, 1);
		add(s.from[0], "a", old, 100000);
		add(s.to, "a", new, 100000);
		p = pack(&s, slim != 0);
		CHECK_EQ(p->n_frames, 1);
		CHECK_EQ(p->kind[DRAY_FRAME_PLAIN].n, 1);
		CHECK_EQ(p->n_full, 1);
		CHECK_EQ(p->n_delta, 0);
		CHECK(!p->delta);
		CHECK_EQ(p->kind[DRAY_FRAME_PLAIN].stored, p->stored);
		build_packed_free(p);
		end_pack(&s);
	}
}

static void
slim_leaves_out_full_copies_and_complete_does_not(void)
{
	for (int slim = 0; slim < 2; slim++) {
		struct build_packed *p;
		struct scene s;

		begin(&s, 1);
		add(s.from[0], "a", noise(100000, 1), 100000);
		add(s.from[0], "b", noise(90000, 2), 90000);
		add(s.to, "a", changed(100000, 1), 100000);	/* a delta */
		add(s.to, "c", noise(90000, 2), 90000);		/* a copy */
		add(s.to, "d", noise(80000, 3), 80000);		/* new */
		p = pack(&s, slim != 0);
		CHECK_EQ(p->n_full, slim != 0 ? 1 : 3);
		CHECK_EQ(p->n_only, slim != 0 ? 2 : 0);
		CHECK_EQ(p->n_delta, 2);
		CHECK_EQ(p->copy.n, 1);
		CHECK_EQ(p->kind[DRAY_FRAME_PREFIX].n + p->kind[DRAY_FRAME_ADDCOPY].n, 1);
		CHECK(p->delta);
		/* the delta, and what is new: in slim there is nothing else */
		CHECK(p->kind[DRAY_FRAME_PREFIX].stored + p->kind[DRAY_FRAME_ADDCOPY].stored < 1000);
		CHECK(slim == 0 || (p->stored > 80000 && p->stored < 81000));
		build_packed_free(p);
		end_pack(&s);
	}
}

static void
a_copy_of_what_people_edit_does_not_count_in_slim(void)
{
	struct build_layout layout = { .n_components = 0 };
	struct build_packed *p;
	struct scene s;
	struct dray_err e;

	begin(&s, 1);
	CHECK_EQ(build_patterns_add(&layout.config, "etc/**", &e), 0);
	s.to->layout = &layout;
	add(s.from[0], "etc/a", noise(50000, 1), 50000);
	add(s.to, "usr/a", noise(50000, 1), 50000);
	p = pack(&s, true);
	CHECK_EQ(p->n_full, 1);
	CHECK_EQ(p->copy.n, 1);		/* tried first all the same */
	build_packed_free(p);
	end_pack(&s);
	build_layout_free(&layout);
}

static void
what_choosing_costs_is_what_was_thought_before(void)
{
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct scene s;

		begin(&s, 2);
		add(s.from[0], "usr/a", noise(50000, 1), 50000);
		add(s.from[0], "usr/b", noise(700, 2), 700);
		add(s.from[1], "usr/a", noise(5000000, 3), 5000000);
		add(s.to, "usr/a", noise(50000, 4), 50000);
		add(s.to, "usr/b", noise(700, 2), 700);
		add(s.to, "usr/c", noise(5000000, 5), 5000000);
		add(s.to, "usr/d", noise(1, 6), 1);
		choose(&s, threads);
		CHECK(s.costs > 0);
		CHECK_EQ(s.cost, s.costs);
		end(&s);
	}
}

int
main(void)
{
	if (mkdtemp(scratch) == NULL)
		return 1;
	RUN(the_same_path_comes_first);
	RUN(a_version_in_the_path_does_not_hide_the_base);
	RUN(what_is_in_it_finds_a_base_under_another_name);
	RUN(nothing_in_common_is_no_base);
	RUN(a_base_far_larger_than_the_content_is_not_taken_for_its_features);
	RUN(what_people_edit_is_nobodys_base_but_its_own);
	RUN(a_base_in_a_component_that_may_be_absent_is_not_taken);
	RUN(bases_that_hold_the_same_share_a_choice_and_others_have_their_own);
	RUN(a_base_that_has_the_very_bytes_needs_no_delta);
	RUN(threads_do_not_change_a_choice);
	RUN(a_delta_that_saves_next_to_nothing_is_none);
	RUN(slim_leaves_out_full_copies_and_complete_does_not);
	RUN(a_copy_of_what_people_edit_does_not_count_in_slim);
	RUN(what_choosing_costs_is_what_was_thought_before);
	rmdir(scratch);
	return test_done();
}
