/*
 * noise.h - bytes that do not compress, the same in every run
 */
#ifndef NOISE_H
#define NOISE_H

#include <stdint.h>
#include <stdlib.h>

/* bytes that no other seed gives */
static inline uint8_t *
noise(size_t len, uint64_t seed)
{
	uint8_t *p = malloc(len + 1);
	uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

	if (p == NULL)
		abort();
	for (size_t i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = (uint8_t)(x >> 32);
	}
	return p;
}

#endif
