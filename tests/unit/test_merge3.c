/* the three-way merge by hand-made examples; test_merge3_oracle compares it with diff3 */
#include <stdlib.h>

#include "dray/merge3.h"
#include "test.h"

static struct dray_merge3 last;
static char text[4096];

/* merged, as text; the parts are in last */
static const char *
merge_of(enum dray_merge3_kind kind, const char *mine, const char *base, const char *theirs)
{
	struct dray_merge3_in in = { .kind = kind, .no_base = base == NULL };
	struct dray_err e = { 0 };

	dray_merge3_free(&last);
	in.side[DRAY_MERGE3_MINE] = (struct dray_merge3_text){ (const uint8_t *)mine, strlen(mine), NULL };
	in.side[DRAY_MERGE3_THEIRS] = (struct dray_merge3_text){ (const uint8_t *)theirs, strlen(theirs), "released 2" };
	if (base != NULL)
		in.side[DRAY_MERGE3_BASE] = (struct dray_merge3_text){ (const uint8_t *)base, strlen(base), "released 1" };
	if (dray_merge3(&in, &last, &e) != 0)
		return "failed";
	if (last.why != NULL)
		return last.why;
	snprintf(text, sizeof(text), "%.*s", (int)last.len, (const char *)last.text);
	return text;
}

static const char *
merge(const char *mine, const char *base, const char *theirs)
{
	return merge_of(DRAY_MERGE3_TEXT, mine, base, theirs);
}

static const char *
accounts(const char *mine, const char *base, const char *theirs)
{
	return merge_of(DRAY_MERGE3_ACCOUNTS, mine, base, theirs);
}

static void
changes_in_different_places_are_both_made(void)
{
	CHECK_STR(merge("A\nb\nc\nd\n", "a\nb\nc\nd\n", "a\nb\nc\nd\ne\n"), "A\nb\nc\nd\ne\n");
	CHECK_EQ(last.conflicts, 0);
	CHECK_EQ(last.n, 3);
	CHECK_EQ(last.part[0].take, DRAY_MERGE3_FROM_MINE);
	CHECK_EQ(last.part[1].take, DRAY_MERGE3_SAME);
	CHECK_EQ(last.part[1].side[DRAY_MERGE3_THEIRS].n, 3);
	CHECK_EQ(last.part[2].take, DRAY_MERGE3_FROM_THEIRS);
	CHECK_EQ(last.part[2].side[DRAY_MERGE3_THEIRS].at, 4);
	CHECK_STR(merge("b\nc\nd\n", "a\nb\nc\nd\n", "a\nb\nc\n"), "b\nc\n");
	CHECK_EQ(last.conflicts, 0);
}

static void
equal_changes_are_no_conflict(void)
{
	CHECK_STR(merge("a\nX\nc\nd\n", "a\nb\nc\nd\n", "a\nX\nc\ne\n"), "a\nX\nc\ne\n");
	CHECK_EQ(last.conflicts, 0);
	CHECK_EQ(last.part[1].take, DRAY_MERGE3_FROM_BOTH);
	CHECK_STR(merge("x\n", "a\n", "x\n"), "x\n");
	CHECK_EQ(last.conflicts, 0);
}

static void
a_conflict_shows_all_three(void)
{
	CHECK_STR(merge("a\nmine\nc\n", "a\nb\nc\n", "a\ntheirs\nc\n"), "a\n<<<<<<< mine\nmine\n||||||| released 1\nb\n=======\n"
	    "theirs\n>>>>>>> released 2\nc\n");
	CHECK_EQ(last.conflicts, 1);
	CHECK_STR(last.part[1].why, "changed here and in the release");
	CHECK_EQ(last.part[1].side[DRAY_MERGE3_BASE].at, 1);
	CHECK_EQ(last.part[1].side[DRAY_MERGE3_BASE].n, 1);
	CHECK_EQ(dray_merge3_marker(last.text, last.len), 2);
	merge("a\nc\n", "a\nb\nc\n", "a\nB\nc\n");
	CHECK_STR(last.part[1].why, "removed here, changed in the release");
	merge("a\nB\nc\n", "a\nb\nc\n", "a\nc\n");
	CHECK_STR(last.part[1].why, "changed here, removed in the release");
	merge("a\nB\n", "a\n", "a\nb\n");
	CHECK_STR(last.part[1].why, "added here and in the release");
}

static void
ends_of_lines_are_kept(void)
{
	CHECK_STR(merge("A\r\nb\r\nc\r\n", "a\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n"), "A\r\nb\r\nC\r\n");
	CHECK_STR(merge("A\r\n", "a\r\n", "B\r\n"), "<<<<<<< mine\r\nA\r\n||||||| released 1\r\na\r\n=======\r\nB\r\n"
	    ">>>>>>> released 2\r\n");
	CHECK_STR(merge("A\nb\nc", "a\nb\nc", "a\nb\nc\n"), "A\nb\nc\n");
	CHECK_STR(merge("A\nb\nc", "a\nb\nc\n", "a\nb\nc\n"), "A\nb\nc");
	CHECK_STR(merge("x", "a", "y"), "<<<<<<< mine\nx\n||||||| released 1\na\n=======\ny\n>>>>>>> released 2\n");
	CHECK_STR(merge("", "a\n", "a\nb\n"), "<<<<<<< mine\n||||||| released 1\na\n=======\na\nb\n>>>>>>> released 2\n");
	CHECK_STR(merge("\xff\xfe\nb\nc\n", "a\nb\nc\n", "a\nb\n\xc3\n"), "\xff\xfe\nb\n\xc3\n");
}

static void
without_a_base_what_differs_is_a_conflict(void)
{
	CHECK_STR(merge("a\nb\nc\n", NULL, "a\nB\nc\n"), "a\n<<<<<<< mine\nb\n=======\nB\n>>>>>>> released 2\nc\n");
	CHECK_EQ(last.conflicts, 1);
	CHECK_STR(merge("a\nb\n", NULL, "a\nb\n"), "a\nb\n");
	CHECK_EQ(last.conflicts, 0);
	CHECK_STR(merge("# $FreeBSD: 1 $\nb\n", NULL, "# $FreeBSD: 2 $\nb\n"), "# $FreeBSD: 2 $\nb\n");
	CHECK_EQ(last.conflicts, 0);
}

static void
version_tags_are_the_releases(void)
{
	/* the tag changed on both sides, an edit beside it */
	CHECK_STR(merge("# $FreeBSD: head/x 12 me $\nfoo=2\n", "# $FreeBSD: head/x 1 y $\nfoo=1\n", "# $FreeBSD$\nfoo=1\n"), "# $FreeBSD$\nfoo=2\n");
	CHECK_EQ(last.conflicts, 0);
	/* the edit touches the line that the release changes */
	CHECK_STR(merge("# $Id: x 1 $\nfoo=2\n", "# $Id: x 1 $\nfoo=1\n", "# $Id: x 2 $\nfoo=1\n"), "# $Id: x 2 $\nfoo=2\n");
	CHECK_EQ(last.conflicts, 0);
	/* the release has not changed the tag: mine stays */
	CHECK_STR(merge("# $Id: x 9 $\nfoo=2\n", "# $Id: x 1 $\nfoo=1\n", "# $Id: x 1 $\nfoo=3\n") , "# $Id: x 9 $\n<<<<<<< mine\nfoo=2\n"
	    "||||||| released 1\nfoo=1\n=======\nfoo=3\n>>>>>>> released 2\n");
	CHECK_EQ(last.conflicts, 1);
}

static void
version_comments_are_the_releases(void)
{
	CHECK_STR(merge("# Version 1.2 (2020-01-01)\nfoo=2\n", "# Version 1.2 (2020-01-01)\nfoo=1\n", "# Version 1.3 (2021-07-09)\nfoo=1\n"),
	    "# Version 1.3 (2021-07-09)\nfoo=2\n");
	CHECK_EQ(last.conflicts, 0);
	CHECK_STR(merge("; release: v9\nfoo=2\n", "; release: v7\nfoo=1\n", "; release: v8\nfoo=1\n"), "; release: v8\nfoo=2\n");
	CHECK_EQ(last.conflicts, 0);
	/* no comment, or one of something else */
	merge("version=1.2\nfoo=2\n", "version=1.1\nfoo=1\n", "version=1.3\nfoo=1\n");
	CHECK_EQ(last.conflicts, 1);
	merge("# port 80\nfoo=2\n", "# port 81\nfoo=1\n", "# port 82\nfoo=1\n");
	CHECK_EQ(last.conflicts, 1);
	/* more was changed in it here, but the release changed nothing but the tag */
	CHECK_STR(merge("# Version 1.2, mine\nfoo=2\n", "# Version 1.1\nfoo=1\n", "# Version 1.3\nfoo=1\n"), "# Version 1.2, mine\nfoo=2\n");
	CHECK_EQ(last.conflicts, 0);
}

static void
what_tags_do_not_settle_stays(void)
{
	CHECK_STR(merge("# $FreeBSD: 1 $\nfoo=2\n", "# $FreeBSD: 0 $\nfoo=1\n", "# $FreeBSD: 3 $\nfoo=3\n"), "# $FreeBSD: 3 $\n<<<<<<< mine\n"
	    "foo=2\n||||||| released 1\nfoo=1\n=======\nfoo=3\n>>>>>>> released 2\n");
	CHECK_EQ(last.conflicts, 1);
	merge("echo $Id: $x\na\n", "echo $Id: $y\nb\n", "echo $Id: $z\nb\n");
	CHECK_EQ(last.conflicts, 1);
}

static void
entries_of_both_sides_stand_together(void)
{
	CHECK_STR(accounts("root:x:0:\nme:x:1000:\n", "root:x:0:\n", "root:x:0:\nsvc:x:99:\n"), "root:x:0:\nsvc:x:99:\nme:x:1000:\n");
	CHECK_EQ(last.conflicts, 0);
	CHECK_STR(merge("root:x:0:\nme:x:1000:\n", "root:x:0:\n", "root:x:0:\nsvc:x:99:\n") + 10, "<<<<<<< mine\nme:x:1000:\n"
	    "||||||| released 1\n=======\nsvc:x:99:\n>>>>>>> released 2\n");
	/* an edit beside a removal, a comment, NIS at the end, no newline */
	CHECK_STR(accounts("# $FreeBSD: 1 $\n#\nroot:x:0:/bin/zsh\ndaemon:x:1:\nme:x:1000:\n+:::", "# $FreeBSD: 1 $\n#\nroot:x:0:/bin/sh\n"
	    "daemon:x:1:\ngames:x:5:\n", "# $FreeBSD: 2 $\n#\nroot:x:0:/bin/sh\ngames:x:5:\nntp:x:9:\n"),
	    "# $FreeBSD: 2 $\n#\nroot:x:0:/bin/zsh\nntp:x:9:\nme:x:1000:\n+:::");
	CHECK_EQ(last.conflicts, 0);
	CHECK_EQ(dray_merge3_kind("etc/group", 9), DRAY_MERGE3_ACCOUNTS);
	CHECK_EQ(dray_merge3_kind("etc/shadow", 10), DRAY_MERGE3_SHADOWS);
	CHECK_EQ(dray_merge3_kind("etc/groups", 10), DRAY_MERGE3_TEXT);
	CHECK_EQ(dray_merge3_kind("etc/grou", 8), DRAY_MERGE3_TEXT);
}

static void
one_entry_changed_twice_is_a_conflict(void)
{
	CHECK_STR(accounts("root:x:0:zsh\nme:x:1000:\n", "root:x:0:sh\n", "root:x:0:csh\nsvc:x:99:\n"), "<<<<<<< mine\nroot:x:0:zsh\n"
	    "||||||| released 1\nroot:x:0:sh\n=======\nroot:x:0:csh\n>>>>>>> released 2\nsvc:x:99:\nme:x:1000:\n");
	CHECK_EQ(last.conflicts, 1);
	accounts("root:x:0:sh\nsvc:x:99:zsh\n", "root:x:0:sh\nsvc:x:99:sh\n", "root:x:0:sh\n");
	CHECK_EQ(last.conflicts, 1);
	CHECK_STR(last.part[1].why, "changed here, removed in the release");
	/* a name that stands twice: by lines */
	accounts("a:x:1:\na:x:2:\nb:x:3:\n", "a:x:1:\n", "a:x:1:\nc:x:4:\n");
	CHECK_EQ(last.conflicts, 1);
}

static void
one_number_for_two_new_names_is_a_conflict(void)
{
	static const char base[] = "root:x:0:\na:x:1:\nb:x:2:\nc:x:3:\n";

	/* far from each other: by lines there is none */
	CHECK_STR(accounts("me:x:999:\nroot:x:0:\na:x:1:\nb:x:2:\nc:x:3:\n", base, "root:x:0:\na:x:1:\nb:x:2:\nc:x:3:\nsvc:x:999:\n"),
	    "<<<<<<< mine\nme:x:999:\n||||||| released 1\n=======\nsvc:x:999:\n>>>>>>> released 2\n"
	    "root:x:0:\na:x:1:\nb:x:2:\nc:x:3:\n");
	CHECK_EQ(last.conflicts, 1);
	CHECK_STR(last.part[0].why, "two names got the same number, one here and one in the release");
	CHECK_STR(merge_of(DRAY_MERGE3_SHADOWS, "me:x:999:\nroot:x:0:\na:x:1:\nb:x:2:\nc:x:3:\n", base,
	    "root:x:0:\na:x:1:\nb:x:2:\nc:x:3:\nsvc:x:999:\n"), "me:x:999:\nroot:x:0:\na:x:1:\nb:x:2:\nc:x:3:\nsvc:x:999:\n");
	CHECK_EQ(last.conflicts, 0);
	/* several of the release's */
	CHECK_STR(accounts("root:x:0:\nme:x:7:\n", "root:x:0:\n", "root:x:0:\none:x:7:\ntwo:x:7:\n"), "root:x:0:\n"
	    "<<<<<<< mine\n||||||| released 1\n=======\ntwo:x:7:\n>>>>>>> released 2\n"
	    "<<<<<<< mine\nme:x:7:\n||||||| released 1\n=======\none:x:7:\n>>>>>>> released 2\n");
	CHECK_EQ(last.conflicts, 2);
	/* the same name with the same number is none, nor is one that was there before */
	accounts("root:x:0:\nme:x:7:\n", "root:x:0:\n", "root:x:0:\nme:x:7:\nother:x:8:\n");
	CHECK_EQ(last.conflicts, 0);
	accounts("root:x:0:\ntoor:x:0:\n", "root:x:0:\n", "root:x:0:\nsvc:x:8:\n");
	CHECK_EQ(last.conflicts, 0);
}

static void
what_is_no_text_is_told(void)
{
	struct dray_merge3_in in = { .kind = DRAY_MERGE3_TEXT };
	struct dray_merge3 m;
	struct dray_err e = { 0 };
	uint8_t *big = malloc(DRAY_MERGE3_MAX_BYTES + 1);

	if (big == NULL)
		abort();
	memset(big, 'a', DRAY_MERGE3_MAX_BYTES + 1);
	in.side[0] = (struct dray_merge3_text){ (const uint8_t *)"a\n", 2, NULL };
	in.side[1] = (struct dray_merge3_text){ (const uint8_t *)"b\n", 2, NULL };
	in.side[2] = (struct dray_merge3_text){ (const uint8_t *)"c\0\n", 3, NULL };
	CHECK_EQ(dray_merge3(&in, &m, &e), 0);
	CHECK_STR(m.why, "it is not text");
	CHECK_EQ(m.why_side, DRAY_MERGE3_THEIRS);
	CHECK_EQ(m.conflicts, 1);
	CHECK(m.text == NULL);
	/* two are equal: it does not matter */
	in.side[0] = in.side[1];
	CHECK_EQ(dray_merge3(&in, &m, &e), 0);
	CHECK(m.why == NULL && m.len == 3 && memcmp(m.text, "c\0\n", 3) == 0);
	dray_merge3_free(&m);
	in.side[0] = (struct dray_merge3_text){ big, DRAY_MERGE3_MAX_BYTES + 1, NULL };
	in.side[2] = (struct dray_merge3_text){ (const uint8_t *)"c\n", 2, NULL };
	CHECK_EQ(dray_merge3(&in, &m, &e), 0);
	CHECK_STR(m.why, "it is longer than 16 MiB");
	CHECK_EQ(m.why_side, DRAY_MERGE3_MINE);
	memset(big, '\n', DRAY_MERGE3_MAX_LINES);
	in.side[0].len = DRAY_MERGE3_MAX_LINES;
	CHECK_EQ(dray_merge3(&in, &m, &e), 0);
	CHECK_STR(m.why, "it has more than a million lines");
	dray_merge3_free(&m);
	free(big);
}

static size_t
marker(const char *s)
{
	return dray_merge3_marker((const uint8_t *)s, strlen(s));
}

static void
markers_are_found_at_the_begin_of_lines(void)
{
	CHECK_EQ(marker("a\n<<<<<<< mine\n"), 2);
	CHECK_EQ(marker(">>>>>>> released 2"), 1);
	CHECK_EQ(marker("a\nb\n|||||||\n"), 3);
	CHECK_EQ(marker("a\n<<<<<<<\r\n"), 2);
	CHECK_EQ(marker("a\n<<<<<<<"), 2);
	CHECK_EQ(marker("Heading\n=======\n"), 0);
	CHECK_EQ(marker("<<<<<<\n"), 0);
	CHECK_EQ(marker("<<<<<<<<\n"), 0);
	CHECK_EQ(marker("<<<<<<<a\n <<<<<<< b\n"), 0);
	CHECK_EQ(marker(""), 0);
	CHECK_EQ(dray_merge3_marker((const uint8_t *)"\0\0\0\0\0\0\0\n", 8), 0);
}

/* @n lines by @line, which may be the same for many */
static char *
many(size_t n, unsigned (*line)(unsigned), size_t *len)
{
	char *p = malloc(n * 12 + 1);

	if (p == NULL)
		abort();
	*len = 0;
	for (size_t i = 0; i < n; i++)
		*len += (size_t)sprintf(p + *len, "%u\n", line((unsigned)i));
	return p;
}

static unsigned
up(unsigned i)
{
	return i;
}

static unsigned
shuffled(unsigned i)
{
	return i * 48271u % 100000u;
}

static unsigned
other(unsigned i)
{
	return i + 1000000;
}

static unsigned
reversed(unsigned i)
{
	return 99999 - i;
}

static unsigned
few(unsigned i)
{
	return i * 2654435761u >> 29;
}

static unsigned
few_else(unsigned i)
{
	return i * 2246822519u >> 29;
}

static unsigned
edited(unsigned i)
{
	return i % 1000 == 7 ? i + 5000000 : i;
}

static void
many_lines_take_bounded_work(void)
{
	unsigned (*const how[][3])(unsigned) = { { up, shuffled, other }, { reversed, up, shuffled }, { few, few_else, up } };
	struct dray_merge3_in in;
	struct dray_merge3 m;
	struct dray_err e = { 0 };
	char *p[3];

	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		in = (struct dray_merge3_in){ .kind = DRAY_MERGE3_TEXT };
		for (int s = 0; s < 3; s++) {
			p[s] = many(100000 + (size_t)s, how[i][s], &in.side[s].len);
			in.side[s].p = (const uint8_t *)p[s];
		}
		CHECK_EQ(dray_merge3(&in, &m, &e), 0);
		CHECK(m.why == NULL && m.text != NULL);
		dray_merge3_free(&m);
		for (int s = 0; s < 3; s++)
			free(p[s]);
	}
}

static void
many_edits_of_a_long_text_are_merged(void)
{
	struct dray_merge3_in in = { .kind = DRAY_MERGE3_TEXT };
	struct dray_merge3 m;
	struct dray_err e = { 0 };
	char *p[3];

	p[0] = many(100000, edited, &in.side[0].len);
	p[1] = many(100000, up, &in.side[1].len);
	p[2] = many(100001, up, &in.side[2].len);
	for (int s = 0; s < 3; s++)
		in.side[s].p = (const uint8_t *)p[s];
	CHECK_EQ(dray_merge3(&in, &m, &e), 0);
	CHECK_EQ(m.conflicts, 0);
	CHECK_EQ(m.n, 202);
	CHECK_EQ(m.len, in.side[0].len + 7);
	CHECK(memcmp(m.text, p[0], in.side[0].len) == 0 && memcmp(m.text + in.side[0].len, "100000\n", 7) == 0);
	dray_merge3_free(&m);
	for (int s = 0; s < 3; s++)
		free(p[s]);
}

int
main(void)
{
	RUN(changes_in_different_places_are_both_made);
	RUN(equal_changes_are_no_conflict);
	RUN(a_conflict_shows_all_three);
	RUN(ends_of_lines_are_kept);
	RUN(without_a_base_what_differs_is_a_conflict);
	RUN(version_tags_are_the_releases);
	RUN(version_comments_are_the_releases);
	RUN(what_tags_do_not_settle_stays);
	RUN(entries_of_both_sides_stand_together);
	RUN(one_entry_changed_twice_is_a_conflict);
	RUN(one_number_for_two_new_names_is_a_conflict);
	RUN(what_is_no_text_is_told);
	RUN(markers_are_found_at_the_begin_of_lines);
	RUN(many_lines_take_bounded_work);
	RUN(many_edits_of_a_long_text_are_merged);
	dray_merge3_free(&last);
	return test_done();
}
