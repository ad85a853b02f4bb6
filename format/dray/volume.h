/*
 * volume.h - a bundle cut into volumes, each a file with a header of 512 bytes and a range of the bundle's bytes. The
 * header is a hint that brings the parts together; trust comes from the bundle alone. Source: spec/bundle-format.md, 12.
 */
#ifndef DRAY_VOLUME_H
#define DRAY_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

enum { DRAY_VOLUME_HEAD = 512, DRAY_VOLUMES_MAX = 9999 };

struct dray_volume_head {
	uint32_t number, count;		/* 1 .. count; count is 2 .. DRAY_VOLUMES_MAX */
	uint64_t at, len;		/* which bytes of the bundle follow the header; len >= 1 */
	uint64_t total;			/* bytes of the whole bundle */
	uint8_t id[32];			/* SHA-256 of its dray.json */
	uint8_t sha256[32];		/* of the len bytes */
};

void dray_volume_put(const struct dray_volume_head *h, uint8_t out[DRAY_VOLUME_HEAD]);

/** dray_volume_begins - does it begin as a header does? What follows may be damaged */
DRAY_MUST_CHECK bool dray_volume_begins(const uint8_t in[DRAY_VOLUME_HEAD]);

/** dray_volume_get - false: no header of a volume, or one whose values cannot be; *h is then undefined */
DRAY_MUST_CHECK bool dray_volume_get(const uint8_t in[DRAY_VOLUME_HEAD], struct dray_volume_head *h);

/** dray_volume_same_cut - do both belong to one cut of one bundle? */
bool dray_volume_same_cut(const struct dray_volume_head *a, const struct dray_volume_head *b);

/** dray_volume_cut - bytes that each volume of its cut holds, but the last, which may hold less */
uint64_t dray_volume_cut(const struct dray_volume_head *h);

struct dray_volume { int fd; uint64_t at, len; const char *name; };	/* borrowed; @name is for messages */

/* a whole bundle: volumes in order, the first at 0, each beginning where the one before ends, the last at @total's end */
struct dray_volumes { struct dray_volume *v; uint32_t n; uint64_t total; };

/**
 * dray_volumes_at - the volume that holds the bundle's byte @at, with *skip: where that is in the file, and *left: bytes
 * from there to the volume's end; NULL when @at is not below the total
 */
const struct dray_volume *dray_volumes_at(const struct dray_volumes *s, uint64_t at, uint64_t *skip, uint64_t *left);

#endif
