/*
 * test_digest.c - SHA-256 against the published values, in one go, in pieces, from a file.
 */
#include <stdlib.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/num.h"

#include "test.h"

static struct dray_sha256 *h;
static struct dray_err e;

static const char *
hex_of(const uint8_t out[32])
{
	static char text[65];

	return dray_hex(out, 32, text);
}

/* FIPS 180-4 examples: the empty text, "abc", and the 448-bit one */
static void
published_values_are_met(void)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	uint8_t out[32];

	CHECK_EQ(dray_sha256_once(h, "", 0, out, &e), 0);
	CHECK_STR(hex_of(out), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	CHECK_EQ(dray_sha256_once(h, "abc", 3, out, &e), 0);
	CHECK_STR(hex_of(out), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK_EQ(dray_sha256_once(h, two, sizeof(two) - 1, out, &e), 0);
	CHECK_STR(hex_of(out), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void
pieces_give_what_one_go_gives(void)
{
	uint8_t out[32];

	CHECK_EQ(dray_sha256_begin(h, &e), 0);
	CHECK_EQ(dray_sha256_add(h, "a", 1, &e), 0);
	CHECK_EQ(dray_sha256_add(h, NULL, 0, &e), 0);
	CHECK_EQ(dray_sha256_add(h, "bc", 2, &e), 0);
	CHECK_EQ(dray_sha256_end(h, out, &e), 0);
	CHECK_STR(hex_of(out), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void
an_unfinished_hash_leaves_no_trace_in_the_next(void)
{
	uint8_t out[32];

	CHECK_EQ(dray_sha256_begin(h, &e), 0);
	CHECK_EQ(dray_sha256_add(h, "left over", 9, &e), 0);
	CHECK_EQ(dray_sha256_once(h, "abc", 3, out, &e), 0);
	CHECK_STR(hex_of(out), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void
a_file_is_hashed_from_its_start_whatever_its_position(void)
{
	char name[] = "/tmp/dray-digest-XXXXXX";
	uint8_t buf[7], out[32], want[32], data[1000];
	uint64_t size = 0;
	int fd = mkstemp(name);
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 & 0xff);
	CHECK(fd != -1);
	CHECK_EQ(write(fd, data, sizeof(data)), sizeof(data));
	CHECK_EQ(dray_sha256_once(h, data, sizeof(data), want, &e), 0);
	CHECK_EQ(dray_sha256_fd(h, fd, buf, sizeof(buf), &size, out, &e), 0);
	CHECK_EQ(size, sizeof(data));
	CHECK(memcmp(out, want, 32) == 0);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), (off_t)sizeof(data));
	close(fd);
	unlink(name);
}

static void
a_file_that_cannot_be_read_is_told(void)
{
	uint8_t buf[8], out[32];
	uint64_t size;

	CHECK_EQ(dray_sha256_fd(h, -1, buf, sizeof(buf), &size, out, &e), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_STR(e.text, "read: bad file descriptor");
}

int
main(void)
{
	CHECK_EQ(dray_crypto_init(&e), 0);
	CHECK_EQ(dray_crypto_init(&e), 0);
	if (dray_sha256_new(&h, &e) != 0)
		return 1;
	RUN(published_values_are_met);
	RUN(pieces_give_what_one_go_gives);
	RUN(an_unfinished_hash_leaves_no_trace_in_the_next);
	RUN(a_file_is_hashed_from_its_start_whatever_its_position);
	RUN(a_file_that_cannot_be_read_is_told);
	dray_sha256_free(h);
	dray_sha256_free(NULL);
	return test_done();
}
