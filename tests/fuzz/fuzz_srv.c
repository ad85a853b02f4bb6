/*
 * fuzz_srv.c - what a resolver answers: hosts that come out are names and nothing else, lowest priority first. The first byte
 * is the seed of the dice.
 */
#include <stdlib.h>
#include <string.h>

#include "builder/srv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t seed;

static uint32_t
dice(uint32_t below)
{
	if (below == 0)
		abort();
	seed = seed * 1664525u + 1013904223u;
	return seed % below;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct build_srv s;
	uint8_t *exact;

	if (size == 0)
		return 0;
	seed = data[0];
	if ((exact = malloc(size)) == NULL)
		abort();
	memcpy(exact, data + 1, size - 1);
	build_srv_parse(exact, size - 1, dice, &s);
	free(exact);
	if (s.n > BUILD_SRV_MAX)
		abort();
	for (size_t i = 0; i < s.n; i++) {
		if (memchr(s.v[i].host, '\0', sizeof(s.v[i].host)) == NULL || s.v[i].host[0] == '\0' ||
		    strpbrk(s.v[i].host, "/:@?#%\\ \t\r\n") != NULL || (i > 0 && s.v[i].priority < s.v[i - 1].priority))
			abort();
	}
	return 0;
}
