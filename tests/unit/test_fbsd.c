/* what a freebsd-update server signs and lists */
#include <stdio.h>
#include <string.h>

#include "dray/fbsd.h"
#include "dray/num.h"
#include "test.h"

#define TAG "freebsd-update|amd64|13.2-RELEASE|9|d52383771b5314297098bfabdfecd1fbdbf8617ec4fa83aedb7c32cd2c675e17|1719792000\n"
#define H64 "3ad98500000000000000000000000000000000000000000000000000000000ff"

static uint8_t pem[4096], sig[1024];
static size_t pem_len, sig_len;

static size_t
load(const char *name, uint8_t *p, size_t cap)
{
	FILE *f = fopen(name, "rb");
	size_t n = f != NULL ? fread(p, 1, cap, f) : 0;

	if (f != NULL)
		fclose(f);
	return n;
}

static int
recover(const char *print, char *text, size_t cap, size_t *len, struct dray_err *e)
{
	uint8_t keyprint[32];

	dray_err_clear(e);
	if (!dray_unhex(print, strlen(print), keyprint, sizeof(keyprint)))
		return -2;
	return dray_fbsd_recover(pem, pem_len, keyprint, sig, sig_len, text, cap, len, e);
}

static void
the_projects_own_key_and_tag(void)
{
	struct dray_fbsd_tag tag;
	struct dray_err e;
	char text[600];
	size_t len = 0;

	pem_len = load("tests/data/freebsd-update/pub.ssl", pem, sizeof(pem));
	sig_len = load("tests/data/freebsd-update/latest.ssl", sig, sizeof(sig));
	CHECK_EQ(pem_len, 800);
	CHECK_EQ(sig_len, 512);
	CHECK_EQ(recover(dray_fbsd_keyprint, text, sizeof(text), &len, &e), 0);
	CHECK_EQ(len, strlen(TAG));
	CHECK(len == strlen(TAG) && memcmp(text, TAG, len) == 0);
	CHECK_EQ(dray_fbsd_tag_parse(text, len, "amd64", "13.2-RELEASE", &tag, &e), 0);
	CHECK_STR(tag.arch, "amd64");
	CHECK_STR(tag.release, "13.2-RELEASE");
	CHECK_EQ(tag.patch, 9);
	CHECK_EQ(tag.eol, 1719792000);
	CHECK_EQ(tag.tindex[0], 0xd5);
	CHECK_EQ(tag.tindex[31], 0x17);
	/* less room than the text needs */
	CHECK_EQ(recover(dray_fbsd_keyprint, text, strlen(TAG) - 1, &len, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
}

static void
one_flipped_bit_is_no_signature(void)
{
	struct dray_err e;
	char text[600];
	size_t len;

	for (size_t at = 0; at < sig_len; at += 37) {
		sig[at] ^= 1;
		CHECK_EQ(recover(dray_fbsd_keyprint, text, sizeof(text), &len, &e), -1);
		CHECK_EQ(e.code, DRAY_E_TRUST);
		CHECK_STR(e.text, "the signature of the tag is not by this key");
		sig[at] ^= 1;
	}
	sig_len--;
	CHECK_EQ(recover(dray_fbsd_keyprint, text, sizeof(text), &len, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	sig_len++;
	CHECK_EQ(recover(dray_fbsd_keyprint, text, sizeof(text), &len, &e), 0);
}

static void
a_key_of_another_print_is_not_even_read(void)
{
	struct dray_err e;
	char text[600];
	size_t len;

	pem[100] ^= 1;
	CHECK_EQ(recover(dray_fbsd_keyprint, text, sizeof(text), &len, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "wanted is 800651ef4b4c71c27e60786d7b487188970f4b4169cc055784e21eb71d410cc5");
	CHECK_HAS(e.hint, "compare it with what its owner publishes");
	pem[100] ^= 1;
	CHECK_EQ(recover(H64, text, sizeof(text), &len, &e), -1);
	CHECK_HAS(e.text, "the public key has the print 800651ef");
}

static void
tags_that_are_none(void)
{
	static const struct { const char *text, *says; } v[] = {
		{ "", "not one line" },
		{ "freebsd-update|amd64|13.2-RELEASE|9|" H64 "|1719792000", "not one line" },
		{ "freebsd-update|amd64|13.2-RELEASE|9|" H64 "|1719792000\n\n", "not one line" },
		{ "freebsd-update|amd64|13.2-RELEASE|9|" H64 "\n", "has not the form" },
		{ "freebsd-update|amd64|13.2-RELEASE|9|" H64 "|1719792000|x\n", "has not the form" },
		{ "portsnap|amd64|13.2-RELEASE|9|" H64 "|1719792000\n", "has not the form" },
		{ "freebsd-update|i386|13.2-RELEASE|9|" H64 "|1719792000\n", "is not for 13.2-RELEASE/amd64" },
		{ "freebsd-update|amd64|13x2-RELEASE|9|" H64 "|1719792000\n", "is not for 13.2-RELEASE/amd64" },
		{ "freebsd-update|amd64|13.2-RELEASE||" H64 "|1719792000\n", "no patch level" },
		{ "freebsd-update|amd64|13.2-RELEASE|-1|" H64 "|1719792000\n", "no patch level" },
		{ "freebsd-update|amd64|13.2-RELEASE|100000|" H64 "|1719792000\n", "no patch level" },
		{ "freebsd-update|amd64|13.2-RELEASE|9|00|1719792000\n", "no SHA-256" },
		{ "freebsd-update|amd64|13.2-RELEASE|9|" H64 "|99999999999999999999\n", "no end of life" },
		{ "freebsd-update|amd64|13.2-RELEASE|9|" H64 "|soon\n", "no end of life" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_tag tag;
		struct dray_err e;

		dray_err_clear(&e);
		CHECK_EQ(dray_fbsd_tag_parse(v[i].text, strlen(v[i].text), "amd64", "13.2-RELEASE", &tag, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_HAS(e.text, v[i].says);
	}
}

static void
the_metadata_index_names_each_file_once(void)
{
	static const char text[] = "INDEX-ALL|" H64 "\nNEWER-THING|of|many|fields\nINDEX-NEW|" H64 "\nINDEX-NEW|" H64 "\nINDEX-OLD|12\n";
	struct dray_err e = { .code = DRAY_OK };
	uint8_t sum[32];

	CHECK_EQ(dray_fbsd_tindex_find(text, strlen(text), "INDEX-ALL", sum, &e), 0);
	CHECK_EQ(sum[31], 0xff);
	CHECK_EQ(dray_fbsd_tindex_find(text, strlen(text), "INDEX-NEW", sum, &e), -1);
	CHECK_STR(e.text, "INDEX-NEW stands in it more than once");
	CHECK_EQ(dray_fbsd_tindex_find(text, strlen(text), "INDEX-OLD", sum, &e), -1);
	CHECK_STR(e.text, "the line of INDEX-OLD holds no SHA-256");
	CHECK_EQ(dray_fbsd_tindex_find(text, strlen(text), "INDEX", sum, &e), -1);
	CHECK_STR(e.text, "INDEX is not in it");
	CHECK_EQ(dray_fbsd_tindex_find("", 0, "INDEX-ALL", sum, &e), -1);
}

static void
lines_of_all_kinds(void)
{
	struct dray_fbsd_line l;
	const char *why, *t;

	t = "world|base|/bin/test|f|0|5|0555|0|" H64 "|/bin/[";
	CHECK(dray_fbsd_line_parse(t, strlen(t), &l, &why));
	CHECK_EQ(l.type, 'f');
	CHECK(l.path_len == 8 && memcmp(l.path, "bin/test", 8) == 0);
	CHECK(l.target_len == 5 && memcmp(l.target, "bin/[", 5) == 0);
	CHECK_EQ(l.gid, 5);
	CHECK_EQ(l.mode, 0555);
	CHECK_EQ(l.sha256[0], 0x3a);
	t = "world|base|/var/empty/|d|0|0|4754|400000||";
	CHECK(dray_fbsd_line_parse(t, strlen(t), &l, &why));
	CHECK_EQ(l.path_len, 9);
	CHECK_EQ(l.mode, 04754);
	CHECK_EQ(l.flags, 0400000);
	t = "world|base|/|d|0|0|044|0||";
	CHECK(dray_fbsd_line_parse(t, strlen(t), &l, &why));
	CHECK_EQ(l.path_len, 0);
	CHECK_EQ(l.mode, 044);
	t = "kernel|generic-dbg|/boot/kernel/if_igb.ko|L|0|0|0755|0|../if_em.ko|";
	CHECK(dray_fbsd_line_parse(t, strlen(t), &l, &why));
	CHECK(l.sub_len == 11 && l.component_len == 6);
	CHECK(l.target_len == 11 && memcmp(l.target, "../if_em.ko", 11) == 0);
	t = "world|base|/nonexistent,%@~+[|-||||||";
	CHECK(dray_fbsd_line_parse(t, strlen(t), &l, &why));
	CHECK_EQ(l.type, '-');
}

static void
lines_that_are_none(void)
{
	static const struct { const char *text, *says; } v[] = {
		{ "", "not ten fields" },
		{ "world|base|/a|d|0|0|0755|0|", "not ten fields" },
		{ "world|base|/a|d|0|0|0755|0|||", "not ten fields" },
		{ "World|base|/a|d|0|0|0755|0||", "no name of a component" },
		{ "world||/a|d|0|0|0755|0||", "no name of a component" },
		{ "world|base|/a b|d|0|0|0755|0||", "outside the class" },
		{ "world|base|/a\xc3\xa4|d|0|0|0755|0||", "outside the class" },
		{ "world|base|/a\n|d|0|0|0755|0||", "outside the class" },
		{ "world|base|/a/../b|d|0|0|0755|0||", "\"..\"" },
		{ "world|base|//a|d|0|0|0755|0||", "absolute" },
		{ "world|base|/a//|d|0|0|0755|0||", "empty" },
		{ "world|base|/a|x|0|0|0755|0||", "type" },
		{ "world|base|/a|dd|0|0|0755|0||", "type" },
		{ "world|base|/a|-|0|||||", "not there" },
		{ "world|base|/a|d||0|0755|0||", "no owner" },
		{ "world|base|/a|d|4294967296|0|0755|0||", "no owner" },
		{ "world|base|/a|d|0|0|0788|0||", "no owner" },
		{ "world|base|/a|d|0|0|00755|0||", "no owner" },
		{ "world|base|/a|d|0|0|7|0||", "no owner" },
		{ "world|base|/a|d|0|0|0755|9||", "no owner" },
		{ "world|base|/a|d|0|0|0755|0|x|", "a directory with a value" },
		{ "world|base|/a|f|0|0|0755|0||", "without SHA-256" },
		{ "world|base|/a|f|0|0|0755|0|" H64 "|/", "hard link to the root" },
		{ "world|base|/a|f|0|0|0755|0|" H64 "|/../x", "\"..\"" },
		{ "world|base|/a|L|0|0|0755|0||", "empty or too long target" },
		{ "world|base|/a|L|0|0|0755|0|b c|", "target of a symlink" },
		{ "world|base|/a|L|0|0|0755|0|b|/c", "a symlink that is a hard link" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_line l;
		const char *why = "";

		CHECK(!dray_fbsd_line_parse(v[i].text, strlen(v[i].text), &l, &why));
		CHECK_HAS(why, v[i].says);
	}
}

static void
names_of_releases(void)
{
	CHECK(dray_fbsd_release_ok("13.2-RELEASE"));
	CHECK(dray_fbsd_release_ok("14.0-RC2"));
	CHECK(!dray_fbsd_release_ok(""));
	CHECK(!dray_fbsd_release_ok(".."));
	CHECK(!dray_fbsd_release_ok("a/b"));
	CHECK(!dray_fbsd_release_ok("a b"));
	CHECK(!dray_fbsd_release_ok("-x"));
}

int
main(void)
{
	RUN(the_projects_own_key_and_tag);
	RUN(one_flipped_bit_is_no_signature);
	RUN(a_key_of_another_print_is_not_even_read);
	RUN(tags_that_are_none);
	RUN(the_metadata_index_names_each_file_once);
	RUN(lines_of_all_kinds);
	RUN(lines_that_are_none);
	RUN(names_of_releases);
	return test_done();
}
