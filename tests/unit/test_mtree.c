/*
 * test_mtree.c - names in mtree(5) lines: plain where every reader takes them plainly, octal else, and back again.
 */
#include <ctype.h>

#include "installer/mtree.h"

#include "test.h"

static void
plain_names_stay_as_they_are(void)
{
	static const char name[] = "usr/lib/x86_64-linux-gnu/libfoo++.so.1.2:3@4,5~%6!{7}";
	char out[INST_MTREE_CAP(sizeof(name))];

	CHECK_STR(inst_mtree_escape(name, sizeof(name) - 1, out), name);
}

static void
what_readers_take_for_something_else_is_octal(void)
{
	char out[INST_MTREE_CAP(16)];

	CHECK_STR(inst_mtree_escape(" a\tb\nc", 6, out), "\\040a\\011b\\012c");
	CHECK_STR(inst_mtree_escape("#*?[]=\\\"", 8, out), "\\043\\052\\077\\133\\135\\075\\134\\042");
	CHECK_STR(inst_mtree_escape("\x01\x7f\x80\xff", 4, out), "\\001\\177\\200\\377");
	CHECK_STR(inst_mtree_escape("", 0, out), "");
}

static void
every_byte_comes_back_and_the_longest_name_fits(void)
{
	char all[255], out[INST_MTREE_CAP(sizeof(all))], again[sizeof(all)];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)(i + 1);
	inst_mtree_escape(all, sizeof(all), out);
	for (const char *p = out; *p != '\0' && n < sizeof(again); p++) {
		CHECK(isgraph((unsigned char)*p));
		if (*p != '\\') {
			again[n++] = *p;
			continue;
		}
		again[n++] = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
		p += 3;
	}
	CHECK_EQ(n, sizeof(all));
	CHECK(memcmp(all, again, sizeof(all)) == 0);
	memset(all, ' ', sizeof(all));
	CHECK_EQ(strlen(inst_mtree_escape(all, sizeof(all), out)), sizeof(out) - 1);
}

int
main(void)
{
	RUN(plain_names_stay_as_they_are);
	RUN(what_readers_take_for_something_else_is_octal);
	RUN(every_byte_comes_back_and_the_longest_name_fits);
	return test_done();
}
