/*
 * frame_base.h - the base that fuzz_frame decodes against and its seeds are made from.
 */
#ifndef FRAME_BASE_H
#define FRAME_BASE_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_BASE 4096u
#define FUZZ_OUT 4096u		/* output of an addcopy frame */

static inline void
fuzz_base(uint8_t *p)
{
	static const char text[] = "call me ishmael. some years ago - never mind how long precisely - having little money ";
	uint32_t x = 1;

	for (size_t i = 0; i < FUZZ_BASE; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = x >> 29 == 0 ? (uint8_t)(x >> 16) : (uint8_t)text[i % (sizeof text - 1)];
	}
}

#endif
