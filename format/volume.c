/*
 * volume.c - headers of volumes, and where a byte of the bundle lies. Source: spec/bundle-format.md, 12 "Volumes".
 */
#include <string.h>

#include "dray/num.h"
#include "dray/volume.h"

static const char magic[8] = "DRAYVOL1";

enum { AT_NUMBER = 8, AT_COUNT = 12, AT_AT = 16, AT_LEN = 24, AT_TOTAL = 32, AT_ID = 40, AT_SHA256 = 72, AT_ZEROS = 104 };

void
dray_volume_put(const struct dray_volume_head *h, uint8_t out[DRAY_VOLUME_HEAD])
{
	memset(out, 0, DRAY_VOLUME_HEAD);
	memcpy(out, magic, sizeof(magic));
	dray_put_u32(out + AT_NUMBER, h->number);
	dray_put_u32(out + AT_COUNT, h->count);
	dray_put_u64(out + AT_AT, h->at);
	dray_put_u64(out + AT_LEN, h->len);
	dray_put_u64(out + AT_TOTAL, h->total);
	memcpy(out + AT_ID, h->id, 32);
	memcpy(out + AT_SHA256, h->sha256, 32);
}

/* of equal size but for the last, which is not longer; together they are the bundle */
static bool
possible(const struct dray_volume_head *h)
{
	uint64_t end, before, all;

	if (h->count < 2 || h->count > DRAY_VOLUMES_MAX || h->number < 1 || h->number > h->count || h->len == 0)
		return false;
	if (h->total > INT64_MAX || !dray_add(h->at, h->len, &end) || end > h->total)
		return false;
	if (h->number < h->count)
		return dray_mul(h->len, h->number - 1, &before) && before == h->at && dray_mul(h->len, h->count, &all) &&
		    all >= h->total && all - h->len < h->total;
	return end == h->total && h->at % (h->count - 1) == 0 && h->at / (h->count - 1) >= h->len;
}

bool
dray_volume_begins(const uint8_t in[DRAY_VOLUME_HEAD])
{
	return memcmp(in, magic, sizeof(magic)) == 0;
}

bool
dray_volume_get(const uint8_t in[DRAY_VOLUME_HEAD], struct dray_volume_head *h)
{
	if (!dray_volume_begins(in))
		return false;
	for (size_t i = AT_ZEROS; i < DRAY_VOLUME_HEAD; i++)
		if (in[i] != 0)
			return false;
	h->number = dray_get_u32(in + AT_NUMBER);
	h->count = dray_get_u32(in + AT_COUNT);
	h->at = dray_get_u64(in + AT_AT);
	h->len = dray_get_u64(in + AT_LEN);
	h->total = dray_get_u64(in + AT_TOTAL);
	memcpy(h->id, in + AT_ID, 32);
	memcpy(h->sha256, in + AT_SHA256, 32);
	return possible(h);
}

uint64_t
dray_volume_cut(const struct dray_volume_head *h)
{
	return h->number < h->count ? h->len : h->at / (h->count - 1);
}

bool
dray_volume_same_cut(const struct dray_volume_head *a, const struct dray_volume_head *b)
{
	return memcmp(a->id, b->id, 32) == 0 && a->count == b->count && a->total == b->total && dray_volume_cut(a) == dray_volume_cut(b);
}

const struct dray_volume *
dray_volumes_at(const struct dray_volumes *s, uint64_t at, uint64_t *skip, uint64_t *left)
{
	uint64_t i;

	if (at >= s->total)
		return NULL;
	/* all but the last are of one size */
	i = at / s->v[0].len;
	if (i >= s->n)
		i = s->n - 1;
	*skip = DRAY_VOLUME_HEAD + (at - s->v[i].at);
	*left = s->v[i].len - (at - s->v[i].at);
	return &s->v[i];
}
