/*
 * gzip.h - the inside of a .gz and back. The inside is the header of its one member (RFC 1952), byte for byte, and then what
 * its deflate stream holds; so it says all that the .gz says but who made the stream. Source: spec/bundle-format.md 6.6.
 */
#ifndef DRAY_GZIP_H
#define DRAY_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/deflate.h"
#include "dray/err.h"

#define DRAY_GZIP_MAX (16u * 1024u * 1024u)	/* bytes of an inside, header included */
#define DRAY_GZIP_HEADER_MAX 4096u
/* the most that the .gz of an inside may take: one that has grown by more is not worth looking into */
#define DRAY_GZIP_BOUND(len) ((uint64_t)(len) + (len) / 256u + 1024u)

#define DRAY_GZIP_CONTEXTS (512u * 1024u)	/* about what contexts for both ways take */

struct dray_gunzip;		/* a reusable context of about 80 KiB; one thread at a time */

DRAY_MUST_CHECK int dray_gunzip_new(struct dray_gunzip **out, struct dray_err *e);
void dray_gunzip_free(struct dray_gunzip *g);

/**
 * dray_gzip_is - do these first bytes of a file look like a .gz?
 */
bool dray_gzip_is(const uint8_t *p, size_t len);

/**
 * dray_gunzip - the inside of a .gz that may be anything
 * @gz, @len: the whole file
 * @to: room for @cap bytes
 * Return: true, and the length of the inside in @out. False: not exactly one member, damaged (CRC-32, length), a longer
 * header than DRAY_GZIP_HEADER_MAX, more than @cap bytes.
 */
DRAY_MUST_CHECK bool dray_gunzip(struct dray_gunzip *g, const uint8_t *gz, size_t len, uint8_t *to, size_t cap, size_t *out);

/** dray_gunzip_fd - the same of the @size bytes at @at of a file that is open for reading; false also if it cannot be read */
DRAY_MUST_CHECK bool dray_gunzip_fd(struct dray_gunzip *g, int fd, uint64_t at, uint64_t size, uint8_t *to, size_t cap,
    size_t *out);

/**
 * dray_gzip_make - the .gz of an inside that may be anything
 * @id: DRAY_DEFLATE_*, not NONE
 * @gz: room for @gz_len bytes, not in the memory of @inside
 * Return: does it take exactly @gz_len bytes? That they are the right ones only their hash shows.
 */
DRAY_MUST_CHECK bool dray_gzip_make(struct dray_deflater *d, unsigned id, const uint8_t *inside, size_t len, uint8_t *gz,
    size_t gz_len);

/**
 * dray_gzip_prove - who made this .gz?
 * @inside: of @gz, by dray_gunzip
 * Return: DRAY_DEFLATE_* with which dray_gzip_make gives @gz; DRAY_DEFLATE_NONE if there is none.
 */
unsigned dray_gzip_prove(struct dray_deflater *d, const uint8_t *inside, size_t len, const uint8_t *gz, size_t gz_len);

/* what a reader of bundles needs for all this, taken when it is needed first; zero before that */
struct dray_gzip_room {
	struct dray_gunzip *g;
	struct dray_deflater *d;
	uint8_t *gz;
	size_t cap;
};

/**
 * dray_gzip_content - the content of a wrapped recipe
 * @size: of the content, at most DRAY_GZIP_BOUND(len): dray_index_load has checked that
 * @gz: @size bytes, until the next call. When they cannot be made, they are not what they should be, as their hash shows
 * Return: 0, or -1 with DRAY_E_IO (memory).
 */
DRAY_MUST_CHECK int dray_gzip_content(struct dray_gzip_room *r, unsigned wrap, const uint8_t *inside, size_t len, size_t size,
    const uint8_t **gz, struct dray_err *e);

/**
 * dray_gzip_base - the inside of a base content, @len bytes, from a file that should hold it
 * @here: whether that worked
 * Return: 0, or -1 with DRAY_E_IO (memory).
 */
DRAY_MUST_CHECK int dray_gzip_base(struct dray_gzip_room *r, int fd, uint64_t at, uint64_t size, uint8_t *to, size_t len,
    bool *here, struct dray_err *e);
void dray_gzip_room_free(struct dray_gzip_room *r);

#endif
