/* patterns over paths */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dray/glob.h"
#include "test.h"

static bool
m(const char *pattern, const char *path)
{
	const char *why;

	if (!dray_glob_ok(pattern, strlen(pattern), &why))
		return false;
	return dray_glob_match(pattern, strlen(pattern), path, strlen(path));
}

static bool
covers(const char *pattern, const char *path)
{
	return dray_glob_covers(pattern, strlen(pattern), path, strlen(path));
}

static const char *
flaw(const char *pattern)
{
	const char *why = "none";

	return dray_glob_ok(pattern, strlen(pattern), &why) ? "none" : why;
}

static void
plain_text_matches_itself_alone(void)
{
	CHECK(m("etc/passwd", "etc/passwd"));
	CHECK(!m("etc/passwd", "etc/passwd-"));
	CHECK(!m("etc/passwd", "etc/passw"));
	CHECK(!m("etc/passwd", "etc"));
	CHECK(!m("etc", "etc/passwd"));
	CHECK(!m("passwd", "etc/passwd"));
	CHECK(!m("ETC", "etc"));
	CHECK(m("\xff\xfe", "\xff\xfe"));
}

static void
a_star_stays_within_its_part(void)
{
	CHECK(m("*", "a"));
	CHECK(m("*", ".hidden"));
	CHECK(!m("*", "a/b"));
	CHECK(m("a*", "a"));
	CHECK(m("*a", "banana"));
	CHECK(!m("*ab", "banana"));
	CHECK(m("b*n*a", "banana"));
	CHECK(m("etc/*/x", "etc/y/x"));
	CHECK(!m("etc/*/x", "etc/y/z/x"));
	CHECK(!m("etc/*", "etc"));
	CHECK(m("*.so.*", "libc.so.6"));
	CHECK(m("a*b*c", "aXbYbZc"));
	CHECK(!m("a*b*c", "aXbYbZ"));
}

static void
a_question_mark_is_one_byte(void)
{
	CHECK(m("a?c", "abc"));
	CHECK(!m("a?c", "ac"));
	CHECK(!m("a?c", "a/c"));
	CHECK(!m("?", "\xc3\xa4"));
	CHECK(m("??", "\xc3\xa4"));
}

static void
sets_hold_ranges_and_their_opposite(void)
{
	CHECK(m("[abc]x", "bx"));
	CHECK(!m("[abc]x", "dx"));
	CHECK(m("[a-cx-z]", "y"));
	CHECK(!m("[a-cx-z]", "d"));
	CHECK(m("[!a-c]", "d"));
	CHECK(!m("[!a-c]", "b"));
	CHECK(m("[^a-c]", "d"));
	CHECK(m("[]]", "]"));
	CHECK(m("[!]]", "x"));
	CHECK(!m("[!]]", "]"));
	CHECK(m("[a-]", "-"));
	CHECK(m("[-a]", "-"));
	CHECK(m("[\\]]", "]"));
	CHECK(m("[\\\\]", "\\"));
	CHECK(m("[\x80-\xff]", "\xe4"));
	CHECK(!m("a[!x]b", "a/b"));
	CHECK(!m("[z-a]", "m"));
	CHECK(m("[*]", "*"));
	CHECK(!m("[*]", "a"));
}

static void
two_stars_are_any_number_of_parts(void)
{
	CHECK(m("**", "a"));
	CHECK(m("**", "a/b/c"));
	CHECK(m("**/x", "x"));
	CHECK(m("**/x", "a/b/x"));
	CHECK(!m("**/x", "a/b/xy"));
	CHECK(m("a/**", "a"));
	CHECK(m("a/**", "a/b/c"));
	CHECK(!m("a/**", "ab"));
	CHECK(m("a/**/z", "a/z"));
	CHECK(m("a/**/z", "a/b/c/z"));
	CHECK(!m("a/**/z", "a/b/c"));
	CHECK(m("**/b/**/d", "a/b/c/b/d"));
	CHECK(m("a/**/b/*/c", "a/b/x/b/y/c"));
	CHECK(!m("a/**/b/*/c", "a/b/x/c/y"));
	CHECK(m("**/**", "a/b"));
	CHECK(m("**/lost+found", "home/lost+found"));
}

static void
a_backslash_takes_the_meaning_away(void)
{
	CHECK(m("a\\*", "a*"));
	CHECK(!m("a\\*", "ab"));
	CHECK(m("\\[x]", "[x]"));
	CHECK(m("\\\\", "\\"));
}

static void
covering_reaches_what_lies_beneath(void)
{
	CHECK(covers("usr/src", "usr/src"));
	CHECK(covers("usr/src", "usr/src/a/b"));
	CHECK(!covers("usr/src", "usr/srcs"));
	CHECK(!covers("usr/src", "usr"));
	CHECK(covers("*/doc", "usr/doc/x"));
	CHECK(covers("**/.git", "a/.git/config"));
	CHECK(covers("**/b/c", "b/x/b/c/d"));
	CHECK(!covers("a", ""));
	CHECK(!covers("**", ""));
}

/* what covering means, word by word */
static bool
covers_slowly(const char *pattern, const char *path)
{
	for (size_t n = 1; path[n - 1] != '\0'; n++)
		if ((path[n] == '\0' || path[n] == '/') && dray_glob_match(pattern, strlen(pattern), path, n))
			return true;
	return false;
}

static void
covering_is_matching_of_some_directory(void)
{
	static const char *const parts[] = { "a", "b", "**", "*", "a?" };
	char p[40], s[40];
	size_t n = 0;

	for (unsigned i = 0; i < 5 * 5 * 5 * 5; i++) {
		const unsigned np = i % 4 + 1;

		p[0] = '\0';
		for (unsigned k = 0, x = i; k < np; k++, x /= 5)
			snprintf(p + strlen(p), sizeof(p) - strlen(p), "%s%s", k > 0 ? "/" : "", parts[x % 5]);
		for (unsigned j = 0; j < 3 * 3 * 3 * 3 * 3; j++) {
			s[0] = '\0';
			for (unsigned k = 0, x = j; k <= j % 5; k++, x /= 3)
				snprintf(s + strlen(s), sizeof(s) - strlen(s), "%s%s", k > 0 ? "/" : "", x % 3 == 2 ? "ab" : parts[x % 3]);
			n += covers(p, s) != covers_slowly(p, s);
		}
	}
	CHECK_EQ(n, 0);
}

static void
what_is_no_pattern_is_told_why(void)
{
	CHECK_STR(flaw(""), "it is empty");
	CHECK_STR(flaw("/etc"), "it has an empty part (no slash in front, at the end, or twice)");
	CHECK_STR(flaw("etc/"), "it has an empty part (no slash in front, at the end, or twice)");
	CHECK_STR(flaw("a//b"), "it has an empty part (no slash in front, at the end, or twice)");
	CHECK_STR(flaw("a/../b"), "it has a part \".\" or \"..\"");
	CHECK_STR(flaw("./b"), "it has a part \".\" or \"..\"");
	CHECK_STR(flaw("a**"), "** stands for whole parts only");
	CHECK_STR(flaw("***"), "** stands for whole parts only");
	CHECK_STR(flaw("[a"), "a [ has no ]");
	CHECK_STR(flaw("[]"), "a [ has no ]");
	CHECK_STR(flaw("[!]"), "a [ has no ]");
	CHECK_STR(flaw("[a\\]"), "a [ has no ]");
	CHECK_STR(flaw("a\\"), "it ends in a backslash");
	CHECK_STR(flaw("a\\/b"), "it ends in a backslash");
	CHECK_STR(flaw("[a/b]"), "a [ has no ]");
	CHECK_STR(flaw("a/**/[!a-z]?*"), "none");
	CHECK(!dray_glob_ok("a\0b", 3, NULL));
}

/* any bytes: no read past the end (the sanitizers watch), and every accepted pattern can be matched */
static void
random_patterns_stay_in_bounds(void)
{
	static const char bytes[] = "ab/*?[]!^-\\.";
	unsigned x = 1;

	for (int i = 0; i < 200000; i++) {
		size_t n = 1 + (size_t)i % 9, k = 1 + (size_t)i % 7;
		char *p = malloc(n), *s = malloc(k);

		for (size_t j = 0; j < n; j++)
			p[j] = bytes[(x = x * 1103515245u + 12345u) / 65536 % (sizeof(bytes) - 1)];
		for (size_t j = 0; j < k; j++)
			s[j] = "ab/["[(x = x * 1103515245u + 12345u) / 65536 % 4];
		if (dray_glob_ok(p, n, NULL))
			(void)dray_glob_covers(p, n, s, k);
		free(p);
		free(s);
	}
	CHECK(true);
}

static void
hostile_patterns_take_little_time(void)
{
	char p[4000], s[4000];
	clock_t begin = clock();

	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = i % 2 == 0 ? '*' : 'a';
	memset(s, 'a', sizeof(s));
	s[sizeof(s) - 1] = 'b';
	CHECK(!dray_glob_match(p, 3999, s, 250));
	for (size_t i = 0; i + 5 <= sizeof(p); i += 5)
		memcpy(p + i, "**/a/", 5);
	for (size_t i = 0; i + 2 <= sizeof(s); i += 2)
		memcpy(s + i, "a/", 2);
	CHECK(!dray_glob_match(p, 3996, "b", 1));
	CHECK(!dray_glob_match("**/a/**/a/**/a/**/b", 19, s, 3999));
	for (size_t i = 0; i < 200; i++)
		CHECK(!dray_glob_covers("**/lost+found", 13, s, 3999));
	CHECK(clock() - begin < 2 * CLOCKS_PER_SEC);
}

int
main(void)
{
	RUN(plain_text_matches_itself_alone);
	RUN(a_star_stays_within_its_part);
	RUN(a_question_mark_is_one_byte);
	RUN(sets_hold_ranges_and_their_opposite);
	RUN(two_stars_are_any_number_of_parts);
	RUN(a_backslash_takes_the_meaning_away);
	RUN(covering_reaches_what_lies_beneath);
	RUN(covering_is_matching_of_some_directory);
	RUN(what_is_no_pattern_is_told_why);
	RUN(random_patterns_stay_in_bounds);
	RUN(hostile_patterns_take_little_time);
	return test_done();
}
