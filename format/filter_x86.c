/*
 * filter_x86.c - targets of x86 calls and jumps from relative to absolute, so that two calls of one function look the
 * same wherever they stand. Source: spec/bundle-format.md 6.5.
 *
 * Why it can be undone on any bytes: whether a place is converted depends on its opcode, which stays, and on bits 24 to
 * 31 of its operand being equal, which conversion keeps; what a converted operand held is skipped both ways. So both
 * directions convert the same places, and each conversion is an addition modulo 2^25.
 */
#include <stdbool.h>

#include "dray/filter.h"
#include "dray/num.h"

static void
convert(uint8_t *p, size_t len, uint32_t at, bool add)
{
	size_t i = 0;

	while (len - i >= 5) {
		uint32_t v, here = at + (uint32_t)i + 5;

		if ((p[i] & 0xfe) != 0xe8) {	/* E8 call, E9 jmp */
			i++;
			continue;
		}
		v = dray_get_u32(p + i + 1);
		/* a target within 16 MiB: bits 24 .. 31 all 0 or all 1 */
		if (v >= 0x01000000u && v < 0xff000000u) {
			i++;
			continue;
		}
		v = (add ? v + here : v - here) & 0x01ffffffu;
		if ((v & 0x01000000u) != 0)
			v |= 0xff000000u;
		dray_put_u32(p + i + 1, v);
		i += 5;
	}
}

void
dray_x86_filter(uint8_t *p, size_t len, uint64_t at)
{
	convert(p, len, (uint32_t)at, true);
}

void
dray_x86_unfilter(uint8_t *p, size_t len, uint64_t at)
{
	convert(p, len, (uint32_t)at, false);
}
