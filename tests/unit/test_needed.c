/*
 * test_needed.c - which contents a build needs, on releases made by hand: those of paths that differ in bytes or links, and
 * never more; what resolve wants is among them
 */
#include <stdlib.h>

#include "builder/needed.h"
#include "builder/resolve.h"
#include "test.h"

static struct build_release *
release(const char *name)
{
	struct build_release *r;
	struct dray_err e;

	if (build_release_new(name, 1, &r, &e) != 0)
		abort();
	return r;
}

/* a file whose content is told by one byte of its hash; no size is known */
static struct build_node *
far(struct build_release *r, const char *path, uint8_t content)
{
	struct build_node *nd = build_release_append(r);

	if (nd == NULL)
		abort();
	nd->path = path;
	nd->len = (uint32_t)strlen(path);
	nd->type = DRAY_FILE;
	nd->has = DRAY_HAS_MODE;
	nd->mode = 0644;
	nd->size = DRAY_SIZE_UNKNOWN;
	nd->sha256[0] = content;
	return nd;
}

static void
marks(struct build_release *a, struct build_release *b, struct build_release *c)
{
	struct build_release *all[3] = { a, b, c };
	struct dray_err e = { 0 };

	CHECK_EQ(build_needed(all, (size_t)1 + (b != NULL) + (c != NULL), &e), 0);
}

static void
what_is_alike_everywhere_is_not_needed(void)
{
	struct build_release *to = release("to"), *old = release("old"), *older = release("older");

	far(to, "added", 1);
	far(to, "changed", 2);
	far(to, "mode", 3)->mode = 0600;
	far(to, "same", 4);
	far(old, "changed", 5);
	far(old, "gone", 6);
	far(old, "mode", 3);
	far(old, "same", 4);
	far(older, "changed", 2);
	far(older, "gone", 6);
	far(older, "mode", 3);
	far(older, "same", 4);
	marks(to, old, older);
	CHECK(to->v[0].needed && to->v[1].needed && !to->v[2].needed && !to->v[3].needed);
	CHECK(old->v[0].needed && old->v[1].needed && !old->v[2].needed && !old->v[3].needed);
	CHECK(older->v[0].needed && older->v[1].needed && !older->v[2].needed && !older->v[3].needed);
	build_release_free(to);
	build_release_free(old);
	build_release_free(older);
}

static void
a_content_that_is_needed_once_is_needed_at_each_path(void)
{
	struct build_release *to = release("to"), *old = release("old");

	far(to, "a", 1);
	far(to, "copy-of-a", 1);
	far(old, "a", 1);
	marks(to, old, NULL);
	CHECK(to->v[0].needed && to->v[1].needed && old->v[0].needed);
	build_release_free(to);
	build_release_free(old);
}

static void
without_a_base_all_are_needed(void)
{
	struct build_release *to = release("to");

	far(to, "a", 1);
	far(to, "b", 2);
	marks(to, NULL, NULL);
	CHECK(to->v[0].needed && to->v[1].needed);
	build_release_free(to);
}

/* one of several former states is enough, and so is that there was nothing */
static void
each_state_of_a_history_counts(void)
{
	struct build_release *to = release("to"), *old = release("old");

	old->history = true;
	far(to, "a", 1);
	far(to, "b", 2);
	far(to, "c", 3);
	far(old, "a", 1);
	far(old, "a", 4);
	far(old, "b", 2);
	far(old, "b", 2)->mode = 0600;
	far(old, "c", 3);
	far(old, "c", 0)->type = DRAY_ABSENT;
	marks(to, old, NULL);
	CHECK(to->v[0].needed && !to->v[1].needed && to->v[2].needed);
	CHECK(old->v[1].needed && !old->v[2].needed && !old->v[3].needed && old->v[4].needed);
	build_release_free(to);
	build_release_free(old);
}

/* equal bytes, but another set of names for one file: it has to be made anew, as resolve sees it too */
static void
a_change_of_links_needs_the_bytes(void)
{
	struct build_release *to = release("to"), *old = release("old"), *bases[1] = { old };
	struct build_resolved *rs;
	struct dray_err e = { 0 };

	far(to, "a", 1)->link = 1;
	far(to, "b", 1)->link = 1;
	far(to, "x", 2)->link = 3;
	far(to, "y", 2)->link = 3;
	far(old, "0", 9);
	far(old, "a", 1);
	far(old, "b", 1);
	far(old, "x", 2)->link = 4;
	far(old, "y", 2)->link = 4;
	marks(to, old, NULL);
	CHECK(to->v[0].needed && to->v[1].needed && !to->v[2].needed && !to->v[3].needed);
	for (size_t i = 0; i < to->n; i++)
		to->v[i].size = to->v[i].needed ? 10 : to->v[i].size;
	for (size_t i = 0; i < old->n; i++)
		old->v[i].size = old->v[i].needed ? 10 : old->v[i].size;
	CHECK_EQ(build_resolve(to, bases, 1, &rs, &e), 0);
	CHECK_EQ(rs->n_wanted, 1);
	CHECK(rs->unsized);
	build_resolved_free(rs);
	build_release_free(to);
	build_release_free(old);
}

static void
a_size_that_one_knows_all_know(void)
{
	struct build_release *to = release("to"), *old = release("old");

	far(to, "a", 1);
	far(to, "b", 2);
	far(old, "a", 1)->size = 77;
	far(old, "b", 2);
	marks(to, old, NULL);
	CHECK_EQ(to->v[0].size, 77);
	CHECK(!to->v[0].needed);
	CHECK_EQ(to->v[1].size, DRAY_SIZE_UNKNOWN);
	build_release_free(to);
	build_release_free(old);
}

int
main(void)
{
	RUN(what_is_alike_everywhere_is_not_needed);
	RUN(a_content_that_is_needed_once_is_needed_at_each_path);
	RUN(without_a_base_all_are_needed);
	RUN(each_state_of_a_history_counts);
	RUN(a_change_of_links_needs_the_bytes);
	RUN(a_size_that_one_knows_all_know);
	return test_done();
}
