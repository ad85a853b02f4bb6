/*
 * test_build_history.c - former states as one base: joined from trees or given as data, and what they say of each path
 */
#include "history_scene.h"
#include "test.h"

/* "f d -": types of the states at @path in node order */
static const char *
states(const struct build_release *r, const char *path)
{
	static char text[100];
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->v[i].path, path) == 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c", n > 0 ? " " : "", "-fdlpcb"[r->v[i].type]);
	text[n] = '\0';
	return text;
}

static void
joined_states_stand_side_by_side_and_absent_where_a_tree_lacks_the_path(void)
{
	struct build_release *old[2] = { release("b"), release("a") }, *r;
	struct dray_err e;

	node(old[1], "a", DRAY_FILE)->sha256[0] = 1;
	node(old[1], "dir", DRAY_DIR);
	node(old[1], "only-a", DRAY_SYMLINK)->target = "x";
	old[1]->v[2].target_len = 1;
	node(old[0], "a", DRAY_FILE)->sha256[0] = 2;
	node(old[0], "dir", DRAY_FIFO);
	node(old[0], "only-b", DRAY_FILE);
	CHECK_EQ(build_history_join(old, 2, &r, &e), 0);
	CHECK(r->history);
	CHECK_STR(states(r, "a"), "f f");
	CHECK_STR(states(r, "dir"), "d p");
	CHECK_STR(states(r, "only-a"), "l -");
	CHECK_STR(states(r, "only-b"), "f -");
	CHECK_EQ(r->n, 8);
	/* contents are read from where they stand */
	CHECK(r->sources[r->v[0].of] == old[1]);
	CHECK(r->sources[r->v[1].of] == old[0]);
	CHECK_EQ(old[0]->n, 0);
	build_release_free(r);
	build_release_free(old[0]);
	build_release_free(old[1]);
}

static void
group(struct build_node *nd, uint64_t ino, uint64_t nlink)
{
	nd->dev = 1;
	nd->ino = ino;
	nd->nlink = nlink;
}

static void
hard_link_groups_stay_those_of_each_tree(void)
{
	struct build_release *old[2] = { release("a"), release("b") }, *to = release("to"), *r;
	struct build_resolved *rs;
	struct dray_err e;

	node(old[0], "a", DRAY_FILE);
	group(node(old[0], "b", DRAY_FILE), 5, 2);
	group(node(old[0], "c", DRAY_FILE), 5, 2);
	group(node(old[1], "a", DRAY_FILE), 7, 2);
	group(node(old[1], "c", DRAY_FILE), 7, 2);
	node(to, "a", DRAY_FILE);
	CHECK_EQ(build_release_group(old[0], &e), 0);
	CHECK_EQ(build_release_group(old[1], &e), 0);
	CHECK_EQ(build_history_join(old, 2, &r, &e), 0);
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].link != 0) {
			CHECK_EQ(r->v[r->v[i].link - 1].of, r->v[i].of);
			CHECK(r->v[i].type == DRAY_FILE && r->v[r->v[i].link - 1].link == r->v[i].link);
		}
	CHECK_EQ(build_resolve(to, &r, 1, &rs, &e), 0);
	CHECK_EQ(rs->n_entries, 3);
	build_resolved_free(rs);
	build_release_free(r);
	build_release_free(old[0]);
	build_release_free(old[1]);
	build_release_free(to);
}

static void
the_order_of_trees_does_not_show(void)
{
	struct build_release *one, *two, *old[2];
	struct dray_err e;

	for (int i = 0; i < 2; i++) {
		struct build_release *a = release("a"), *b = release("b");

		node(a, "x", DRAY_FILE)->sha256[0] = 1;
		node(b, "x", DRAY_FILE)->sha256[0] = 2;
		node(b, "y", DRAY_FILE);
		old[0] = i == 0 ? a : b;
		old[1] = i == 0 ? b : a;
		CHECK_EQ(build_history_join(old, 2, i == 0 ? &one : &two, &e), 0);
		if (i == 1)
			CHECK_EQ(build_release_cmp(one, two), 0);
		build_release_free(old[0]);
		build_release_free(old[1]);
	}
	CHECK_EQ(one->v[0].of, two->v[0].of);
	build_release_free(one);
	build_release_free(two);
}

static void
a_history_may_be_given_as_data(void)
{
	struct scene s;

	begin(&s);
	s.history = release("index");
	s.history->history = true;
	file(s.history, "lib", 1, 1);
	file(s.history, "lib", 1, 2);
	file(s.history, "lib", 1, 2);	/* the same state twice is one */
	node(s.history, "lib", DRAY_ABSENT);
	file(s.history, "old", 2, 1);
	file(s.to, "lib", 1, 3);
	plan(&s, 0, true);
	CHECK_EQ(s.rs->history, 1);
	CHECK_EQ(s.rs->n_entries, 2);
	CHECK_EQ(s.rs->n_contents, 4);
	CHECK_EQ(choices(&s, "lib", 1), 2);
	CHECK(has_full(&s, "lib"));	/* some machines have none of it */
	end(&s);
}

static void
a_path_is_the_same_when_it_never_was_anything_else(void)
{
	struct scene s;

	begin(&s);
	for (size_t i = 0; i < 2; i++) {
		file(s.old[i], "a", 1, 1);
		file(s.old[i], "b", 2, 1);
		file(s.old[i], "c", 3, (int)i);
	}
	file(s.to, "a", 1, 1);
	file(s.to, "b", 2, 1)->mode = 0600;	/* only attributes: nothing travels */
	file(s.to, "c", 3, 1);			/* as in the second one */
	plan(&s, 2, true);
	CHECK_EQ(s.rs->n_same, 1);
	CHECK_EQ(s.rs->n_wanted, 1);
	CHECK_EQ(choices(&s, "c", 1), 1);
	CHECK(!has_full(&s, "c"));
	end(&s);
}

int
main(void)
{
	if (mkdtemp(scratch) == NULL)
		return 1;
	RUN(joined_states_stand_side_by_side_and_absent_where_a_tree_lacks_the_path);
	RUN(hard_link_groups_stay_those_of_each_tree);
	RUN(the_order_of_trees_does_not_show);
	RUN(a_history_may_be_given_as_data);
	RUN(a_path_is_the_same_when_it_never_was_anything_else);
	rmdir(scratch);
	return test_done();
}
