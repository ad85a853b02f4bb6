/*
 * filter_x86.c - addresses in x86-64 code from relative to absolute, so that two uses of one function or variable look
 * the same wherever they stand. Source: spec/bundle-format.md 6.5.
 *
 * Which instructions: calls, and the commonest ones with an operand relative to the instruction pointer. Jumps are left
 * out on purpose: most stay inside a function, where the relative target is what does not change (measured on two
 * Debian releases: with E9 small updates grow by a tenth, without E9 and with the operands they shrink by a seventh).
 *
 * Why it can be undone on any bytes: a byte that has decided is never part of an operand, neither of one before it (the
 * walk goes on behind operands) nor of one after it (which begins behind all bytes that were looked at). So the way back
 * sees the same bytes and finds the same operands. Whether an operand is changed depends on its bits 24 to 31 being
 * equal, and they are equal afterwards too. The change itself is an addition modulo 2^25.
 */
#include <stdbool.h>

#include "dray/filter.h"
#include "dray/num.h"

enum { OTHER, CALL, OPERAND, ESCAPE };	/* CALL: 4 bytes follow. OPERAND: ModRM, 4 bytes. ESCAPE: any byte, then so */

static const uint8_t kinds[256] = {
	[0x0f] = ESCAPE, [0x39] = OPERAND, [0x3b] = OPERAND, [0x63] = OPERAND, [0x80] = OPERAND, [0x83] = OPERAND,
	[0x89] = OPERAND, [0x8b] = OPERAND, [0x8d] = OPERAND, [0xe8] = CALL, [0xff] = OPERAND,
};

/* ModRM without base register: an operand relative to the next instruction */
static bool
relative(uint8_t modrm)
{
	return (modrm & 0xc7) == 0x05;
}

static void
convert(uint8_t *p, size_t len, uint32_t at, bool add)
{
	size_t i = 0;

	while (len - i >= 7) {
		uint32_t v, here;

		switch (kinds[p[i]]) {
		case CALL:
			i += 1;
			break;
		case OPERAND:
			if (!relative(p[i + 1])) {
				i++;
				continue;
			}
			i += 2;
			break;
		case ESCAPE:
			if (!relative(p[i + 2])) {
				i += 2;	/* not 1: a call there would change the byte just looked at */
				continue;
			}
			i += 3;
			break;
		default:
			i++;
			continue;
		}
		v = dray_get_u32(p + i);
		here = at + (uint32_t)i + 4;
		if (v < 0x01000000u || v >= 0xff000000u) {	/* within 16 MiB; farther is hardly an address */
			v = (add ? v + here : v - here) & 0x01ffffffu;
			dray_put_u32(p + i, (v & 0x01000000u) != 0 ? v | 0xff000000u : v);
		}
		i += 4;
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
