/* binary patches: those that are right, and those that a server of bad will may send */
#include <bzlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "builder/bspatch.h"
#include "dray/num.h"
#include "test.h"

#define OLD "The quick brown fox jumps over the lazy dog"
#define SIGN (UINT64_C(1) << 63)

struct made { uint8_t p[300000]; size_t len; unsigned puts; };

static struct made made;

static int
put(void *ctx, const uint8_t *p, size_t len, struct dray_err *e)
{
	struct made *m = ctx;

	m->puts++;
	if (len > sizeof(m->p) - m->len)
		return dray_fail(e, DRAY_E_ROOM, "no room in the test");
	memcpy(m->p + m->len, p, len);
	m->len += len;
	return 0;
}

/* a patch in the making; what a test does not set is put together from the streams */
struct patch {
	uint64_t control[64];		/* as they stand: sign and magnitude */
	size_t n_control;
	const void *diff, *extra;
	size_t n_diff, n_extra;
	uint64_t size;
	const char *magic;
	uint64_t x, y;			/* 0: right */
	size_t cut;			/* bytes taken off the end */
	int spoil;			/* a byte that is flipped; 0: none */
};

static size_t
squeeze(uint8_t *dst, size_t cap, const void *p, size_t len)
{
	unsigned n = (unsigned)cap;
	static char copy[600000];

	memcpy(copy, p, len);
	CHECK_EQ(BZ2_bzBuffToBuffCompress((char *)dst, &n, copy, (unsigned)len, 9, 0, 0), BZ_OK);
	return n;
}

static int
file_of(const void *p, size_t len)
{
	int fd = memfd_create("test", 0);

	CHECK(fd != -1 && pwrite(fd, p, len, 0) == (ssize_t)len);
	return fd;
}

static int
apply(const struct patch *p, const void *old, size_t old_len, uint64_t max, struct dray_err *e)
{
	static uint8_t file[800000], control[64 * 8];
	size_t x, y, z;
	struct build_bspatch b = { .max = max, .put = put, .ctx = &made };
	int rc;

	for (size_t i = 0; i < p->n_control; i++)
		dray_put_u64(control + 8 * i, p->control[i]);
	memcpy(file, p->magic != NULL ? p->magic : "BSDIFF40", 8);
	x = squeeze(file + 32, 200000, control, 8 * p->n_control);
	y = squeeze(file + 32 + x, 300000, p->diff != NULL ? p->diff : "", p->n_diff);
	z = squeeze(file + 32 + x + y, 200000, p->extra != NULL ? p->extra : "", p->n_extra);
	dray_put_u64(file + 8, p->x != 0 ? p->x : x);
	dray_put_u64(file + 16, p->y != 0 ? p->y : y);
	dray_put_u64(file + 24, p->size);
	file[p->spoil] ^= p->spoil != 0 ? 0x10 : 0;
	b.fd = file_of(file, 32 + x + y + z - p->cut);
	b.old = (struct build_reader){ .fd = file_of(old, old_len), .len = old_len };
	made.len = made.puts = 0;
	dray_err_clear(e);
	rc = build_bspatch(&b, e);
	close(b.fd);
	close(b.old.fd);
	return rc;
}

static void
gives(const struct patch *p, const char *wanted)
{
	struct dray_err e;

	CHECK_EQ(apply(p, OLD, strlen(OLD), 1000, &e), 0);
	CHECK_EQ(made.len, strlen(wanted));
	CHECK(memcmp(made.p, wanted, strlen(wanted)) == 0);
}

static void
fails(const struct patch *p, const char *why)
{
	struct dray_err e;

	CHECK_EQ(apply(p, OLD, strlen(OLD), 1000, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, why);
}

/* the first 9 bytes as they are, "red" for "brown", then from place 15 on */
static struct patch
good(void)
{
	static uint8_t zeros[64];

	return (struct patch){ .control = { 10, 3, 5, 10, 0, 0 }, .n_control = 6, .diff = zeros, .n_diff = 20, .extra = "red",
		.n_extra = 3, .size = 23 };
}

static void
old_bytes_differences_and_new_ones_are_put_together(void)
{
	struct patch p = good();

	gives(&p, "The quick red fox jumps");
}

static void
differences_are_added_modulo_256(void)
{
	const struct patch p = { .control = { 3, 0, 0 }, .n_control = 3, .diff = "\xf4\x05\x00", .n_diff = 3, .size = 3 };

	gives(&p, "Hme");
}

static void
the_place_goes_back_by_a_negative_number(void)
{
	static uint8_t zeros[64];
	const struct patch p = { .control = { 3, 0, SIGN | 3, 3, 0, SIGN, 3, 0, 0 }, .n_control = 9, .diff = zeros, .n_diff = 9,
		.size = 9 };

	gives(&p, "TheThe qu");
}

static void
old_bytes_outside_the_old_content_are_zero(void)
{
	const struct patch before = { .control = { 0, 0, SIGN | 2, 5, 0, 0 }, .n_control = 6, .diff = "ab\0\0\0", .n_diff = 5, .size = 5 };
	const struct patch behind = { .control = { 0, 0, 41, 4, 0, 0 }, .n_control = 6, .diff = "\0\0xy", .n_diff = 4, .size = 4 };
	const struct patch far = { .control = { 0, 0, INT64_MAX - 10, 2, 0, 0 }, .n_control = 6, .diff = "zz", .n_diff = 2, .size = 2 };
	const struct patch farther = { .control = { 0, 0, UINT64_MAX, 0, 0, SIGN | 1, 2, 0, 0 }, .n_control = 9, .diff = "zz", .n_diff = 2,
		.size = 2 };

	gives(&before, "abThe");
	gives(&behind, "ogxy");
	gives(&far, "zz");
	gives(&farther, "zz");
}

static void
nothing_comes_from_nothing(void)
{
	const struct patch p = { .size = 0 };
	struct dray_err e;

	gives(&p, "");
	CHECK_EQ(apply(&p, "", 0, 0, &e), 0);
	CHECK_EQ(made.len, 0);
}

static void
large_contents_come_in_pieces(void)
{
	static uint8_t old[200000], diff[200000], wanted[sizeof(old)];
	struct patch p = { .control = { sizeof(old), 0, 0 }, .n_control = 3, .diff = diff, .n_diff = sizeof(diff), .size = sizeof(old) };
	struct dray_err e;

	for (size_t i = 0; i < sizeof(old); i++) {
		old[i] = (uint8_t)(i * 7 >> 3);
		diff[i] = (uint8_t)(i % 1000 == 0);
		wanted[i] = (uint8_t)(old[i] + diff[i]);
	}
	CHECK_EQ(apply(&p, old, sizeof(old), sizeof(old), &e), 0);
	CHECK(made.len == sizeof(wanted) && memcmp(made.p, wanted, sizeof(wanted)) == 0);
	CHECK(made.puts > 1);
	CHECK_EQ(apply(&p, old, sizeof(old), sizeof(old) - 1, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
	CHECK_HAS(e.text, "makes more than 199999 bytes");
	CHECK_EQ(made.puts, 0);
}

static void
what_is_no_patch_is_refused(void)
{
	struct patch p = good();
	struct build_bspatch b = { .max = 10, .put = put, .fd = file_of("BSDIFF40", 8) };
	struct dray_err e = { .code = DRAY_OK };

	p.magic = "BSDIFF41";
	fails(&p, "no patch (BSDIFF40)");
	CHECK_EQ(build_bspatch(&b, &e), -1);
	CHECK_HAS(e.text, "too short");
	close(b.fd);
}

static void
lengths_that_are_negative_or_larger_than_the_file_are_refused(void)
{
	static const uint64_t negative[] = { SIGN | 1, UINT64_MAX }, large[] = { 5000, INT64_MAX, INT64_MAX - 31 };

	for (size_t i = 0; i < 2; i++) {
		struct patch p = good();

		p.x = negative[i];
		fails(&p, "a negative length");
		p = good();
		p.y = negative[i];
		fails(&p, "a negative length");
		p = good();
		p.size = negative[i];
		fails(&p, "a negative length");
		for (size_t k = 0; k < 2; k++) {	/* what SA-16:25 was about */
			p = good();
			p.control[k] = negative[i];
			fails(&p, "a negative length");
		}
	}
	for (size_t i = 0; i < 3; i++) {
		struct patch p = good();

		p.x = large[i];
		fails(&p, "cut short");
		p = good();
		p.y = large[i];
		fails(&p, "cut short");
	}
}

static void
more_bytes_than_the_patch_says_are_refused(void)
{
	static const uint64_t more[] = { 24, 1u << 20, INT64_MAX };

	for (size_t i = 0; i < 3; i++) {
		struct patch p = good();

		p.control[0] = more[i];
		fails(&p, "more than its 23 bytes");
		p = good();
		p.control[1] = more[i];
		fails(&p, "more than its 23 bytes");
		p = good();
		p.size = 22;
		fails(&p, "more than its 22 bytes");
	}
}

static void
places_beyond_all_numbers_are_refused(void)
{
	const struct patch over = { .control = { 0, 0, INT64_MAX, 1, 0, 0 }, .n_control = 6, .diff = "ab", .n_diff = 2, .size = 2 };
	const struct patch up = { .control = { 0, 0, INT64_MAX, 0, 0, 1 }, .n_control = 6, .size = 2 };
	const struct patch down = { .control = { 0, 0, UINT64_MAX, 0, 0, SIGN | 2 }, .n_control = 6, .size = 2 };

	fails(&over, "a place beyond all numbers");
	fails(&up, "a place beyond all numbers");
	fails(&down, "a place beyond all numbers");
}

static void
steps_that_get_nowhere_end(void)
{
	struct patch p = { .n_control = 63, .size = 5 };

	fails(&p, "more steps than bytes");
}

static void
streams_that_end_early_or_are_damaged_are_refused(void)
{
	struct patch p = good();

	p.size = 24;
	fails(&p, "its control stream ends early");
	p.n_control = 5;
	fails(&p, "its control stream ends early");
	p = good();
	p.n_diff = 19;
	fails(&p, "its difference stream ends early");
	p = good();
	p.n_extra = 2;
	fails(&p, "its extra stream ends early");
	p = good();
	p.cut = 20;	/* of about 40 */
	fails(&p, "its extra stream is cut short");
	p = good();
	p.x = 7;	/* the next stream begins inside this one */
	fails(&p, "its control stream is cut short");
	for (int at = 32; at < 60; at++) {
		struct dray_err e;

		p = good();
		p.spoil = at;
		CHECK_EQ(apply(&p, OLD, strlen(OLD), 1000, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
	}
}

static void
failures_of_the_taker_come_through(void)
{
	static uint8_t zeros[300001];
	const struct patch p = { .control = { 0, 300001, 0 }, .n_control = 3, .extra = zeros, .n_extra = 300001, .size = 300001 };
	struct dray_err e;

	CHECK_EQ(apply(&p, OLD, strlen(OLD), 400000, &e), -1);
	CHECK_EQ(e.code, DRAY_E_ROOM);
	CHECK_STR(e.text, "no room in the test");
}

int
main(void)
{
	RUN(old_bytes_differences_and_new_ones_are_put_together);
	RUN(differences_are_added_modulo_256);
	RUN(the_place_goes_back_by_a_negative_number);
	RUN(old_bytes_outside_the_old_content_are_zero);
	RUN(nothing_comes_from_nothing);
	RUN(large_contents_come_in_pieces);
	RUN(what_is_no_patch_is_refused);
	RUN(lengths_that_are_negative_or_larger_than_the_file_are_refused);
	RUN(more_bytes_than_the_patch_says_are_refused);
	RUN(places_beyond_all_numbers_are_refused);
	RUN(steps_that_get_nowhere_end);
	RUN(streams_that_end_early_or_are_damaged_are_refused);
	RUN(failures_of_the_taker_come_through);
	return test_done();
}
