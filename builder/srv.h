/*
 * srv.h - which servers stand behind a name: SRV records of _http._tcp (RFC 2782).
 */
#ifndef BUILD_SRV_H
#define BUILD_SRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_SRV_MAX 16

struct build_srv {
	struct { char host[256]; uint16_t priority, weight; } v[BUILD_SRV_MAX];	/* in the order to try */
	size_t n;
};

/** build_srv_look - ask the resolver; none, or no answer: n is 0 */
void build_srv_look(const char *name, struct build_srv *out);

/**
 * build_srv_parse - the records in a DNS answer, bounds checked; a broken one ends it
 * @dice: numbers below the argument, for the choice by weight
 */
void build_srv_parse(const uint8_t *answer, size_t len, uint32_t (*dice)(uint32_t below), struct build_srv *out);

#endif
