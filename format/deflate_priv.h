/*
 * deflate_priv.h - between deflate.c (which matches) and deflate_block.c (how a block of them is written).
 */
#ifndef DRAY_DEFLATE_PRIV_H
#define DRAY_DEFLATE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DEF_MATCH_MIN = 3, DEF_MATCH_MAX = 258,
	DEF_SYMBOLS = 32768,		/* most of a block */
	DEF_LITERALS = 286, DEF_DISTANCES = 30, DEF_LENGTHS = 19,	/* RFC 1951, 3.2.5 and 3.2.7 */
	DEF_NODES = 2 * DEF_LITERALS + 1,
};

struct def_code {			/* a Huffman code while it is made, and then made */
	uint16_t freq[DEF_NODES];
	uint16_t parent[DEF_NODES];
	uint8_t len[DEF_LITERALS + 1];
	uint16_t bits[DEF_LITERALS + 1];	/* first bit lowest */
	int last;			/* largest symbol that is used */
};

struct def_heap {			/* for making codes */
	int v[DEF_NODES];
	int n;				/* v[1] .. v[n]: nodes that have no parent yet, the rarest on top */
	int done;			/* v[done] ..: the others, the rarest last */
	uint8_t depth[DEF_NODES];
};

struct def_block {
	struct def_code lit, dist, len;
	struct def_heap heap;
	uint8_t sym[DEF_SYMBOLS];	/* a literal, or the length of a match less DEF_MATCH_MIN */
	uint16_t at[DEF_SYMBOLS];	/* its distance; 0: a literal */
	uint32_t n, matches;
	uint64_t own_bits, fixed_bits;	/* what it takes with codes of its own, and with the fixed ones */

	/* where bits go */
	uint64_t acc;
	unsigned acc_bits;
	uint8_t *dst;
	const uint8_t *want;		/* set: nothing is written, all is compared with this */
	size_t out, cap;
	bool failed;			/* no room, or it differs */
};

void dray_def_begin(struct def_block *b, uint8_t *dst, const uint8_t *want, size_t cap);
/* one more symbol; there is room for it */
void dray_def_literal(struct def_block *b, uint8_t c);
void dray_def_match(struct def_block *b, unsigned len, unsigned dist);
/* what the matches of the block take in distances, by a rough measure of GNU gzip: bits */
uint64_t dray_def_distance_bits(const struct def_block *b);
/* write all symbols; @raw: the bytes they stand for, NULL: out of reach; with @last also the end of the stream */
void dray_def_flush(struct def_block *b, const uint8_t *raw, size_t raw_len, bool last);

#endif
