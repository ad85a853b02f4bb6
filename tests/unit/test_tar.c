/*
 * test_tar.c - canonical headers: bytes as POSIX has them, nothing else accepted.
 */
#include "dray/tar.h"

#include "test.h"

static struct dray_err e;

static void
a_header_is_what_posix_describes(void)
{
	uint8_t h[512];
	unsigned sum = 0, said = 0;

	CHECK_EQ(dray_tar_header("dray.json", 1234, h, &e), 0);
	CHECK_STR((const char *)h, "dray.json");
	CHECK_STR((const char *)h + 100, "0000644");
	CHECK_STR((const char *)h + 108, "0000000");
	CHECK_STR((const char *)h + 116, "0000000");
	CHECK_STR((const char *)h + 124, "00000002322");
	CHECK_STR((const char *)h + 136, "00000000000");
	CHECK_EQ(h[156], '0');
	CHECK_EQ(memcmp(h + 257, "ustar\00000", 8), 0);
	CHECK_STR((const char *)h + 329, "0000000");
	CHECK_STR((const char *)h + 337, "0000000");
	CHECK_EQ(h[154], 0);
	CHECK_EQ(h[155], ' ');
	for (int i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? ' ' : h[i];
	CHECK_EQ(sscanf((const char *)h + 148, "%o", &said), 1);
	CHECK_EQ(said, sum);
}

static void
names_and_sizes_that_do_not_fit_are_refused(void)
{
	char name[102];
	uint8_t h[512];

	memset(name, 'n', 101);
	name[101] = 0;
	CHECK_EQ(dray_tar_header(name, 1, h, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_STR(e.text, "a member name has 101 bytes, 1 to 100 fit");
	name[100] = 0;
	CHECK_EQ(dray_tar_header(name, DRAY_TAR_MEMBER_MAX, h, &e), 0);
	CHECK_EQ(memcmp(h + 124, "77777777777", 12), 0);
	CHECK_EQ(dray_tar_header("a", DRAY_TAR_MEMBER_MAX + 1, h, &e), -1);
	CHECK_HAS(e.text, "member a has 8589934592 bytes, at most 8589934591 fit");
	CHECK_EQ(dray_tar_header("", 1, h, &e), -1);
	CHECK_HAS(e.text, "has 0 bytes");
}

static void
a_size_comes_back(void)
{
	static const uint64_t sizes[] = { 0, 1, 511, 512, 1048576, DRAY_TAR_MEMBER_MAX };
	uint64_t got = 99;
	uint8_t h[512];

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		CHECK_EQ(dray_tar_header("index/00", sizes[i], h, &e), 0);
		CHECK_EQ(dray_tar_check(h, "index/00", DRAY_TAR_MEMBER_MAX, &got, &e), 0);
		CHECK_EQ(got, sizes[i]);
	}
	CHECK_EQ(dray_tar_header("index/00", 11, h, &e), 0);
	got = 99;
	CHECK_EQ(dray_tar_check(h, "index/00", 10, &got, &e), -1);
	CHECK_STR(e.text, "member index/00 has 11 bytes, at most 10 are allowed");
	CHECK_EQ(got, 99);
}

static void
any_other_byte_anywhere_is_refused(void)
{
	uint64_t got;
	uint8_t h[512];

	CHECK_EQ(dray_tar_header("dray.sig", 8192, h, &e), 0);
	for (int at = 0; at < 512; at++)
		for (int x = 1; x < 256; x++) {
			h[at] ^= (uint8_t)x;
			if (dray_tar_check(h, "dray.sig", DRAY_TAR_MEMBER_MAX, &got, &e) == 0 || e.code != DRAY_E_FORMAT ||
			    strstr(e.text, "member dray.sig") == NULL)
				CHECK_EQ(at, -1);
			h[at] ^= (uint8_t)x;
		}
	CHECK_EQ(dray_tar_check(h, "dray.sig", 8192, &got, &e), 0);
	CHECK_EQ(dray_tar_check(h, "dray.sid", 8192, &got, &e), -1);
	CHECK_STR(e.text, "no canonical header of member dray.sid (byte 7 differs)");
	h[124] = '8';
	CHECK_EQ(dray_tar_check(h, "dray.sig", 8192, &got, &e), -1);
	CHECK_STR(e.text, "no header of member dray.sig (its size is not a number)");
}

int
main(void)
{
	RUN(a_header_is_what_posix_describes);
	RUN(names_and_sizes_that_do_not_fit_are_refused);
	RUN(a_size_comes_back);
	RUN(any_other_byte_anywhere_is_refused);
	return test_done();
}
