/*
 * archive_stream.h - private to the source "archive": the bytes of an archive, unpacked, one piece after the other.
 * Streams stand on each other: a file or a member of a Debian package, and what unpacks it.
 */
#ifndef BUILD_ARCHIVE_STREAM_H
#define BUILD_ARCHIVE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <archive.h>

#include "dray/err.h"

#define BUILD_PIECE (256u * 1024u)	/* bytes, about as many as a stream gives at once */

struct build_stream;

/** build_stream_file - all of @fd, borrowed, open for reading; it can seek */
DRAY_MUST_CHECK int build_stream_file(int fd, struct build_stream **out, struct dray_err *e);

/** build_stream_member - the contents of the member that @a stands at; both are borrowed */
DRAY_MUST_CHECK int build_stream_member(struct archive *a, struct build_stream *of, struct build_stream **out,
    struct dray_err *e);

/**
 * build_stream_unpack - put on *s what unpacks it (gzip, xz, zstd, bzip2), until it begins with something else
 * Every checksum that these formats have is compared; DRAY_E_FORMAT on the way, when one is wrong.
 */
DRAY_MUST_CHECK int build_stream_unpack(struct build_stream **s, struct dray_err *e);

/** build_stream_free - @s and all that it stands on */
void build_stream_free(struct build_stream *s);

/** build_stream_peek - the piece that comes next, without taking it; *len 0: the end */
DRAY_MUST_CHECK int build_stream_peek(struct build_stream *s, const uint8_t **p, size_t *len, struct dray_err *e);

/**
 * build_stream_rest - read on to the end, or to what should not be there
 * @at: how many bytes of it have had a use
 * @zeros: so many may follow behind them
 * @more: are there others than zeros, or more of those?
 */
DRAY_MUST_CHECK int build_stream_rest(struct build_stream *s, uint64_t at, uint64_t zeros, bool *more, struct dray_err *e);

/**
 * build_stream_sound - read on in what unpacks another stream, for about @most bytes or to the end
 * DRAY_E_FORMAT when something is wrong there. Others have nothing that would tell.
 */
DRAY_MUST_CHECK int build_stream_sound(struct build_stream *s, uint64_t most, struct dray_err *e);

/** build_stream_at - bytes given so far */
uint64_t build_stream_at(const struct build_stream *s);

/** build_stream_open - let @a read @s, with seeks where there are any; what it returns */
int build_stream_open(struct archive *a, struct build_stream *s);

/** build_stream_fail - why @a could not go on: @s below it, or its own words; always -1 */
int build_stream_fail(struct archive *a, const struct build_stream *s, struct dray_err *e);

#endif
