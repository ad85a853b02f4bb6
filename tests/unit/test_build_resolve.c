/*
 * test_build_resolve.c - what must travel, hard-link groups, and the order of releases, on releases made by hand
 */
#include <stdlib.h>

#include "builder/release.h"
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

/* a file whose content is told by one byte of its hash */
static struct build_node *
file(struct build_release *r, const char *path, uint8_t content, uint64_t size)
{
	struct build_node *nd = build_release_append(r);

	if (nd == NULL)
		abort();
	nd->path = path;
	nd->len = (uint32_t)strlen(path);
	nd->type = DRAY_FILE;
	nd->has = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_XATTRS | DRAY_HAS_MTIME;
	nd->mode = 0644;
	nd->size = size;
	nd->sha256[0] = content;
	return nd;
}

static struct build_resolved *
resolve(struct build_release *to, struct build_release *a, struct build_release *b)
{
	struct build_release *bases[2] = { a, b };
	struct build_resolved *rs;
	struct dray_err e;

	if (build_resolve(to, bases, (size_t)(a != NULL) + (b != NULL), &rs, &e) != 0) {
		printf("# %s\n", e.text);
		abort();
	}
	return rs;
}

static void
without_a_base_every_file_travels(void)
{
	struct build_release *to = release("to");
	struct build_resolved *rs;

	file(to, "a", 1, 10);
	file(to, "b", 1, 10);
	file(to, "c", 2, 5);
	rs = resolve(to, NULL, NULL);
	CHECK_EQ(rs->n_entries, 3);
	CHECK_EQ(rs->n_same, 0);
	CHECK_EQ(rs->n_contents, 2);
	CHECK_EQ(rs->n_wanted, 2);
	CHECK_EQ(rs->wanted_bytes, 15);
	CHECK_EQ(rs->contents[0].node, 0);
	build_resolved_free(rs);
	build_release_free(to);
}

static void
metadata_alone_sends_nothing(void)
{
	struct build_release *to = release("to"), *a = release("a");
	struct build_resolved *rs;

	file(to, "a", 1, 10)->mode = 0600;
	file(a, "a", 1, 10);
	rs = resolve(to, a, NULL);
	CHECK_EQ(rs->n_same, 0);
	CHECK_EQ(rs->n_contents, 1);
	CHECK_EQ(rs->n_wanted, 0);
	build_resolved_free(rs);
	build_release_free(to);
	build_release_free(a);
}

static void
one_base_that_differs_is_enough_to_send(void)
{
	struct build_release *to = release("to"), *a = release("a"), *b = release("b");
	struct build_resolved *rs;

	file(to, "x", 1, 10)->mode = 0600;
	file(a, "x", 1, 10);	/* attributes only */
	rs = resolve(to, a, b);	/* and b lacks the path */
	CHECK_EQ(rs->n_wanted, 1);
	build_resolved_free(rs);

	file(b, "x", 2, 10);
	rs = resolve(to, a, b);
	CHECK_EQ(rs->n_wanted, 1);
	CHECK_EQ(rs->n_contents, 2);
	CHECK(!rs->contents[1].wanted);
	CHECK_EQ(rs->contents[1].node, DRAY_NONE);
	build_resolved_free(rs);
	build_release_free(to);
	build_release_free(a);
	build_release_free(b);
}

static void
a_removed_path_sends_nothing(void)
{
	struct build_release *to = release("to"), *a = release("a");
	struct build_resolved *rs;

	file(a, "gone", 1, 10);
	rs = resolve(to, a, NULL);
	CHECK_EQ(rs->n_entries, 1);
	CHECK_EQ(rs->n_wanted, 0);
	build_resolved_free(rs);
	build_release_free(to);
	build_release_free(a);
}

static void
a_content_first_seen_in_a_base_is_read_from_the_target(void)
{
	struct build_release *to = release("to"), *a = release("a");
	struct build_resolved *rs;

	file(a, "a", 7, 10);	/* removed; its content comes back at z */
	file(to, "z", 7, 10);
	rs = resolve(to, a, NULL);
	CHECK_EQ(rs->n_contents, 1);
	CHECK(rs->contents[0].wanted);
	CHECK_EQ(rs->contents[0].node, 0);
	build_resolved_free(rs);
	build_release_free(to);
	build_release_free(a);
}

static void
group(struct build_node *nd, uint64_t ino, uint64_t nlink)
{
	nd->dev = 1;
	nd->ino = ino;
	nd->nlink = nlink;
}

static void
hard_links_are_grouped_and_a_new_member_touches_none_but_itself(void)
{
	struct build_release *to = release("to"), *a = release("a");
	struct build_resolved *rs;
	struct dray_err e;

	group(file(a, "b", 1, 10), 5, 2);
	group(file(a, "a", 1, 10), 5, 2);
	group(file(to, "a", 1, 10), 9, 4);	/* one name lies outside */
	group(file(to, "b", 1, 10), 9, 4);
	group(file(to, "c", 1, 10), 9, 4);
	group(file(to, "d", 1, 10), 8, 2);	/* the other name lies outside: no group */
	CHECK_EQ(build_release_sort(a, &e), 0);
	CHECK_EQ(build_release_sort(to, &e), 0);
	CHECK_EQ(build_release_group(a, &e), 0);
	CHECK_EQ(build_release_group(to, &e), 0);
	CHECK_EQ(to->v[0].link, 1);
	CHECK_EQ(to->v[1].link, 1);
	CHECK_EQ(to->v[2].link, 1);
	CHECK_EQ(to->v[3].link, 0);
	CHECK_EQ(a->v[1].link, 1);
	rs = resolve(to, a, NULL);
	CHECK_EQ(rs->n_same, 2);
	CHECK_EQ(rs->n_wanted, 1);
	build_resolved_free(rs);
	build_release_free(to);
	build_release_free(a);
}

static void
another_group_is_no_metadata_change(void)
{
	struct build_release *to = release("to"), *a = release("a");
	struct build_resolved *rs;
	struct dray_err e;

	file(a, "a", 1, 10);
	file(a, "b", 1, 10);
	group(file(to, "a", 1, 10), 9, 2);
	group(file(to, "b", 1, 10), 9, 2);
	CHECK_EQ(build_release_group(to, &e), 0);
	rs = resolve(to, a, NULL);
	CHECK_EQ(rs->n_same, 0);
	CHECK_EQ(rs->n_wanted, 1);
	build_resolved_free(rs);
	build_release_free(to);
	build_release_free(a);
}

static void
a_path_that_stands_twice_is_refused(void)
{
	struct build_release *r = release("dir:x");
	struct dray_err e;

	file(r, "p", 1, 1);
	file(r, "a", 1, 1);
	file(r, "p", 2, 1);
	CHECK_EQ(build_release_sort(r, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "dir:x: p: stands twice");
	build_release_free(r);
}

static void
a_directory_comes_before_what_it_holds(void)
{
	struct build_release *r = release("r");
	struct dray_err e;

	file(r, "a-b", 1, 1);
	file(r, "a/b", 1, 1);
	file(r, "a", 1, 1);
	file(r, "a.b", 1, 1);
	CHECK_EQ(build_release_sort(r, &e), 0);
	CHECK_STR(r->v[0].path, "a");
	CHECK_STR(r->v[1].path, "a/b");
	CHECK_STR(r->v[2].path, "a-b");
	CHECK_STR(r->v[3].path, "a.b");
	build_release_free(r);
}

static void
every_recorded_field_orders_releases(void)
{
	static const char t1[] = "x", t2[] = "y";
	const struct dray_xattr x1 = { "user.a", 6, (const uint8_t *)t1, 1 }, x2 = { "user.a", 6, (const uint8_t *)t2, 1 };

	for (int i = 0; i < 12; i++) {
		struct build_release *a = release("a"), *b = release("b");
		struct build_node *x, *y;
		int want = -1;

		file(a, "same", 1, 1);
		file(b, "same", 1, 1);
		x = file(a, "p", 1, 1);
		y = file(b, "p", 1, 1);
		CHECK_EQ(build_release_cmp(a, b), 0);
		switch (i) {
		case 0: y->mode++; break;
		case 1: y->uid++; break;
		case 2: y->gid++; break;
		case 3: y->mtime_sec++; break;
		case 4: y->mtime_nsec++; break;
		case 5: y->size++; break;
		case 6: y->sha256[31]++; break;
		case 7: y->link = 1; break;
		case 8: x->target = t1; x->target_len = 1; y->target = t2; y->target_len = 1; break;
		case 9: y->n_xattrs = 1; y->xattrs = &x1; break;
		case 10: x->n_xattrs = y->n_xattrs = 1; x->xattrs = &x1; y->xattrs = &x2; break;
		case 11: file(b, "q", 1, 1); break;
		default: break;
		}
		CHECK(build_release_cmp(a, b) < 0);
		want = build_release_cmp(b, a);
		CHECK(want > 0);
		build_release_free(a);
		build_release_free(b);
	}
}

int
main(void)
{
	RUN(without_a_base_every_file_travels);
	RUN(metadata_alone_sends_nothing);
	RUN(one_base_that_differs_is_enough_to_send);
	RUN(a_removed_path_sends_nothing);
	RUN(a_content_first_seen_in_a_base_is_read_from_the_target);
	RUN(hard_links_are_grouped_and_a_new_member_touches_none_but_itself);
	RUN(another_group_is_no_metadata_change);
	RUN(a_path_that_stands_twice_is_refused);
	RUN(a_directory_comes_before_what_it_holds);
	RUN(every_recorded_field_orders_releases);
	return test_done();
}
