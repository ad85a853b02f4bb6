/*
 * test_volume.c - headers of volumes: what is written is read, what cannot be is refused, and every byte has its place.
 */
#include "dray/num.h"
#include "dray/volume.h"

#include "test.h"

/* number @n of three of a bundle of 2,500 bytes, 1,000 each */
static struct dray_volume_head
part(uint32_t n)
{
	return (struct dray_volume_head){ .number = n, .count = 3, .at = (n - 1) * UINT64_C(1000), .len = n < 3 ? 1000 : 500,
		.total = 2500, .id = { 1, 2 }, .sha256 = { 3, (uint8_t)n } };
}

static bool
reads(const struct dray_volume_head *h)
{
	uint8_t p[DRAY_VOLUME_HEAD];
	struct dray_volume_head again;

	dray_volume_put(h, p);
	return dray_volume_get(p, &again) && again.number == h->number && again.count == h->count && again.at == h->at &&
	    again.len == h->len && again.total == h->total && memcmp(again.id, h->id, 32) == 0 &&
	    memcmp(again.sha256, h->sha256, 32) == 0;
}

static void
what_was_written_is_read(void)
{
	uint8_t p[DRAY_VOLUME_HEAD];
	struct dray_volume_head h = part(3);

	for (uint32_t n = 1; n <= 3; n++) {
		h = part(n);
		CHECK(reads(&h));
	}
	dray_volume_put(&h, p);
	/* the bytes of spec/bundle-format.md 12 */
	CHECK_EQ(memcmp(p, "DRAYVOL1\3\0\0\0\3\0\0\0\xd0\7\0\0\0\0\0\0\xf4\1\0\0\0\0\0\0\xc4\t\0\0\0\0\0\0\1\2", 42), 0);
}

static void
values_that_cannot_be_are_refused(void)
{
	static const struct { uint32_t number, count; uint64_t at, len, total; } bad[] = {
		{ 1, 1, 0, 2500, 2500 },	/* one is no volume */
		{ 0, 3, 0, 1000, 2500 }, { 4, 3, 3000, 500, 3500 }, { 1, 10000, 0, 1000, 9999500 },
		{ 1, 3, 0, 0, 2500 },		/* empty */
		{ 2, 3, 999, 1000, 2500 },	/* not at its place */
		{ 2, 3, 1000, 1000, 1500 },	/* longer than the bundle */
		{ 1, 3, 0, 1000, 2000 },	/* nothing would be left for the last */
		{ 1, 3, 0, 1000, 3001 },	/* the last would be longer */
		{ 3, 3, 2000, 400, 2500 },	/* does not end with the bundle */
		{ 3, 3, 2001, 499, 2500 },	/* those before it are not of one size */
		{ 3, 3, 1000, 1500, 2500 },	/* longer than those before it */
		{ 2, 3, UINT64_MAX - 10, 1000, 2500 }, { 1, 3, 0, UINT64_MAX, 2500 },
		{ 1, 3, 0, UINT64_C(1) << 62, UINT64_C(1) << 63 },
		{ 9999, 9999, 9998 * (UINT64_C(1) << 62), 1, 9998 * (UINT64_C(1) << 62) + 1 },
	};
	struct dray_volume_head h;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		h = (struct dray_volume_head){ .number = bad[i].number, .count = bad[i].count, .at = bad[i].at,
			.len = bad[i].len, .total = bad[i].total };
		if (reads(&h))
			printf("# number %zu was read\n", i);
		CHECK(!reads(&h));
	}
}

static void
a_flipped_bit_outside_the_hashes_makes_it_another_or_none(void)
{
	struct dray_volume_head h = part(2), again;
	uint8_t p[DRAY_VOLUME_HEAD];

	dray_volume_put(&h, p);
	for (size_t bit = 0; bit < 8 * sizeof(p); bit++) {
		if (bit >= 40 * 8 && bit < 104 * 8)
			continue;
		p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (dray_volume_get(p, &again))
			CHECK(!dray_volume_same_cut(&h, &again) || again.number != h.number);
		p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void
volumes_of_one_cut_are_known(void)
{
	struct dray_volume_head a = part(1), b = part(3), other = part(3);

	CHECK(dray_volume_same_cut(&a, &b));
	other.id[31] = 1;
	CHECK(!dray_volume_same_cut(&a, &other));
	other = part(1);
	other.len = 1100;
	CHECK(!dray_volume_same_cut(&b, &other));
}

static void
each_byte_has_its_place(void)
{
	struct dray_volume v[3];
	struct dray_volumes s = { .v = v, .n = 3, .total = 2500 };
	uint64_t skip, left;

	for (uint32_t i = 0; i < 3; i++)
		v[i] = (struct dray_volume){ .fd = (int)i, .at = i * UINT64_C(1000), .len = i < 2 ? 1000 : 500, .name = "x" };
	for (uint64_t at = 0; at < 2500; at++) {
		const struct dray_volume *in = dray_volumes_at(&s, at, &skip, &left);

		CHECK(in == &v[at / 1000]);
		CHECK_EQ(skip, DRAY_VOLUME_HEAD + at % 1000);
		CHECK_EQ(left, (at < 2000 ? 1000 : 500) - at % 1000);
	}
	CHECK(dray_volumes_at(&s, 2500, &skip, &left) == NULL);
	CHECK(dray_volumes_at(&s, UINT64_MAX, &skip, &left) == NULL);
}

int
main(void)
{
	RUN(what_was_written_is_read);
	RUN(values_that_cannot_be_are_refused);
	RUN(a_flipped_bit_outside_the_hashes_makes_it_another_or_none);
	RUN(volumes_of_one_cut_are_known);
	RUN(each_byte_has_its_place);
	return test_done();
}
