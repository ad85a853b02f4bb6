/*
 * test_err.c - errors of fixed size, and foreign text made printable.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "dray/err.h"

#include "test.h"

static void
failing_again_overwrites_text_and_hint(void)
{
	struct dray_err e;

	CHECK_EQ(dray_fail(&e, DRAY_E_FORMAT, "cut short at byte %d", 7), -1);
	dray_hint(&e, "copy it again");
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "cut short at byte 7");
	CHECK_EQ(dray_fail(&e, DRAY_E_TRUST, "other"), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_STR(e.text, "other");
	CHECK_STR(e.hint, "");
}

static void
arguments_may_point_into_the_error_itself(void)
{
	struct dray_err e;

	dray_fail(&e, DRAY_E_IO, "inner");
	dray_fail(&e, DRAY_E_ROOM, "again %s", e.text);
	CHECK_STR(e.text, "again inner");
	CHECK_EQ(dray_wrap(&e, "(%s)", e.text), -1);
	CHECK_STR(e.text, "(again inner): again inner");
}

static void
errno_is_told_in_lower_case_and_stays(void)
{
	struct dray_err e;

	errno = ENOENT;
	CHECK_EQ(dray_fail_errno(&e, "open %s", "x"), -1);
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_STR(e.text, "open x: no such file or directory");
	errno = EIO;
	dray_fail_errno(&e, "read");
	CHECK_STR(e.text, "read: input/output error");
	errno = ENOMEM;
	dray_fail_errno(&e, "map");
	CHECK_STR(e.text, "map: out of memory");
	CHECK_EQ(e.code, DRAY_E_IO);
}

static void
a_full_disk_and_a_full_quota_are_lack_of_room(void)
{
	struct dray_err e;

	errno = EMFILE;
	dray_fail_errno(&e, "open");
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_STR(e.hint, "raise the limit of open files (ulimit -n), or take fewer threads (-j)");
	errno = ENOSPC;
	dray_fail_errno(&e, "write");
	CHECK_EQ(e.code, DRAY_E_ROOM);
	errno = EDQUOT;
	dray_fail_errno(&e, "write");
	CHECK_EQ(e.code, DRAY_E_ROOM);
}

static void
context_goes_in_front_until_it_is_too_long(void)
{
	char longer[sizeof(((struct dray_err *)0)->text)];
	struct dray_err e;

	dray_fail(&e, DRAY_E_FORMAT, "why");
	dray_wrap(&e, "entry %d", 1);
	dray_wrap(&e, "bundle");
	CHECK_STR(e.text, "bundle: entry 1: why");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CHECK_EQ(dray_wrap(&e, "%s", longer), -1);
	CHECK_STR(e.text, "bundle: entry 1: why");
	/* exactly full fits, one more does not */
	dray_fail(&e, DRAY_E_FORMAT, "y");
	longer[sizeof(longer) - 1 - 3] = '\0';
	dray_wrap(&e, "%s", longer);
	CHECK_EQ(strlen(e.text), sizeof(e.text) - 1);
	dray_fail(&e, DRAY_E_FORMAT, "yy");
	dray_wrap(&e, "%s", longer);
	CHECK_STR(e.text, "yy");
}

static void
a_text_that_is_too_long_is_cut_between_characters(void)
{
	char longer[4000];
	struct dray_err e;
	size_t i;

	for (i = 0; i + 2 < sizeof(longer); i += 2)
		memcpy(longer + i, "\xc3\xa4", 2);
	longer[i] = '\0';
	dray_fail(&e, DRAY_E_IO, "%s", longer);
	i = strlen(e.text);
	CHECK(i < sizeof(e.text) && i > sizeof(e.text) - 8);
	CHECK_STR(e.text + i - 3, "...");
	CHECK_EQ((unsigned char)e.text[i - 4], 0xa4);
	errno = EACCES;
	dray_fail_errno(&e, "x%s", longer);
	CHECK_HAS(e.text, "...: permission denied");
	dray_err_clear(&e);
	dray_hint(&e, "%s", longer);
	CHECK_STR(e.hint + strlen(e.hint) - 3, "...");
}

static void
the_first_hint_stays(void)
{
	struct dray_err e;

	dray_fail(&e, DRAY_E_IO, "x");
	CHECK_EQ(dray_hint(&e, "one"), -1);
	CHECK_EQ(dray_hint(&e, "two"), -1);
	CHECK_STR(e.hint, "one");
	dray_err_clear(&e);
	CHECK_EQ(e.code, DRAY_OK);
	CHECK_STR(e.hint, "");
	CHECK_STR(e.text, "");
}

static const char *
quoted(const char *s, size_t len)
{
	static char out[DRAY_QUOTE_CAP(64)];

	return dray_quote(s, len, out, sizeof(out));
}

static void
quoting_keeps_text_and_escapes_what_moves_the_cursor(void)
{
	CHECK_STR(quoted("etc/a b", 7), "etc/a b");
	CHECK_STR(quoted("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	CHECK_STR(quoted("a\n\t\x1b[2J\x7f", 8), "a\\x0a\\x09\\x1b[2J\\x7f");
	CHECK_STR(quoted("a\0b", 3), "a\\x00b");
	CHECK_STR(quoted("\\x41", 4), "\\x5cx41");
	CHECK_STR(quoted("", 0), "");
}

static void
quoting_escapes_c1_controls_and_bidi_by_bytes(void)
{
	CHECK_STR(quoted("\xc2\x9b", 2), "\\xc2\\x9b");
	CHECK_STR(quoted("\xc2\xa0", 2), "\xc2\xa0");
	CHECK_STR(quoted("\xe2\x80\xae", 3), "\\xe2\\x80\\xae");
	CHECK_STR(quoted("\xe2\x80\xaa", 3), "\\xe2\\x80\\xaa");
	CHECK_STR(quoted("\xe2\x81\xa6", 3), "\\xe2\\x81\\xa6");
	CHECK_STR(quoted("\xe2\x81\xa9", 3), "\\xe2\\x81\\xa9");
	CHECK_STR(quoted("\xe2\x81\xaa", 3), "\xe2\x81\xaa");
	CHECK_STR(quoted("\xe2\x80\xa8\xe2\x80\xa9", 6), "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
	CHECK_STR(quoted("\xe2\x80\x8e\xd8\x9c", 5), "\\xe2\\x80\\x8e\\xd8\\x9c");
}

static void
quoting_escapes_bytes_that_are_no_utf8(void)
{
	CHECK_STR(quoted("a\xff", 2), "a\\xff");
	CHECK_STR(quoted("\xc0\x80", 2), "\\xc0\\x80");			/* overlong */
	CHECK_STR(quoted("\xe0\x80\x80", 3), "\\xe0\\x80\\x80");
	CHECK_STR(quoted("\xed\xa0\x80", 3), "\\xed\\xa0\\x80");	/* surrogate */
	CHECK_STR(quoted("\xf4\x90\x80\x80", 4), "\\xf4\\x90\\x80\\x80");	/* above U+10FFFF */
	CHECK_STR(quoted("\xe2\x82", 2), "\\xe2\\x82");			/* cut short */
	CHECK_STR(quoted("\xe2\x82z", 3), "\\xe2\\x82z");
}

static void
quoting_never_passes_the_capacity_and_marks_the_cut(void)
{
	static const char src[] = "ab\ncd\xc3\xa4\xff\x1b";
	char buf[64];
	size_t cap, len;

	for (cap = 1; cap < 40; cap++) {
		memset(buf, '#', sizeof(buf));
		dray_quote(src, sizeof(src) - 1, buf, cap);
		len = strlen(buf);
		CHECK(len < cap);
		CHECK_EQ(buf[cap], '#');
		if (strcmp(buf, "ab\\x0acd\xc3\xa4\\xff\\x1b") != 0)
			CHECK_STR(buf + (len < 3 ? 0 : len - 3), len < 3 ? (len == 2 ? ".." : len == 1 ? "." : "") : "...");
		else
			CHECK(cap > len);
	}
	dray_quote("abc", 3, buf, 4);
	CHECK_STR(buf, "abc");
	dray_quote("abcd", 4, buf, 4);
	CHECK_STR(buf, "...");
	buf[0] = '#';
	dray_quote("abc", 3, buf, 0);
	CHECK_EQ(buf[0], '#');
}

int
main(void)
{
	RUN(failing_again_overwrites_text_and_hint);
	RUN(arguments_may_point_into_the_error_itself);
	RUN(errno_is_told_in_lower_case_and_stays);
	RUN(a_full_disk_and_a_full_quota_are_lack_of_room);
	RUN(context_goes_in_front_until_it_is_too_long);
	RUN(a_text_that_is_too_long_is_cut_between_characters);
	RUN(the_first_hint_stays);
	RUN(quoting_keeps_text_and_escapes_what_moves_the_cursor);
	RUN(quoting_escapes_c1_controls_and_bidi_by_bytes);
	RUN(quoting_escapes_bytes_that_are_no_utf8);
	RUN(quoting_never_passes_the_capacity_and_marks_the_cut);
	return test_done();
}
