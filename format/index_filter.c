/*
 * index_filter.c - rows to byte planes and back, with or without the difference to the row before.
 *
 * A column of offsets or row numbers mostly counts up: as differences its planes are nearly constant and zstd makes
 * them vanish. Four planes are handled at a time, so that a pass writes whole words. Source: bundle-format.md 5.1.
 */
#include "index_priv.h"

void
dray_index_unfilter(unsigned filter, const uint8_t *src, uint8_t *dst, size_t n, size_t width)
{
	uint32_t keep = filter == IX_DELTA ? UINT32_MAX : 0;

	for (size_t w = 0; w < width; w += 4) {
		const uint8_t *p0 = src + w * n, *p1 = p0 + n, *p2 = p1 + n, *p3 = p2 + n;
		uint8_t *to = dst + w;
		uint32_t last = 0;

		for (size_t i = 0; i < n; i++, to += width) {
			uint32_t v = (uint32_t)p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 | (uint32_t)p3[i] << 24;

			v += last & keep;
			last = v;
			to[0] = (uint8_t)v;
			to[1] = (uint8_t)(v >> 8);
			to[2] = (uint8_t)(v >> 16);
			to[3] = (uint8_t)(v >> 24);
		}
	}
}

void
dray_index_filter(unsigned filter, const uint8_t *src, uint8_t *dst, size_t n, size_t width)
{
	uint32_t keep = filter == IX_DELTA ? UINT32_MAX : 0;

	for (size_t w = 0; w < width; w += 4) {
		uint8_t *p0 = dst + w * n, *p1 = p0 + n, *p2 = p1 + n, *p3 = p2 + n;
		const uint8_t *from = src + w;
		uint32_t last = 0;

		for (size_t i = 0; i < n; i++, from += width) {
			uint32_t v = dray_get_u32(from), d = v - (last & keep);

			last = v;
			p0[i] = (uint8_t)d;
			p1[i] = (uint8_t)(d >> 8);
			p2[i] = (uint8_t)(d >> 16);
			p3[i] = (uint8_t)(d >> 24);
		}
	}
}
