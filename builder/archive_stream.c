/*
 * archive_stream.c - the bytes of an archive, unpacked. gzip is unpacked here, because libarchive does not compare its
 * checksums; xz, zstd and bzip2 by libarchive, which does.
 */
#define ZLIB_CONST
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include "builder/archive_stream.h"
#include "tool/tool.h"

#define LAYERS_MAX 4u		/* an archive that is packed more often has no good reason to be */
#define GZIP_WINDOW (15 + 16)	/* inflateInit2: gzip alone, any window. Source: zlib.h */

struct build_stream {
	/* the next piece into *p; its length, 0 at the end, -1 */
	ssize_t (*pull)(struct build_stream *s, const uint8_t **p, struct dray_err *e);
	struct build_stream *below;
	const uint8_t *held;	/* looked at and not yet taken */
	size_t held_len;
	uint64_t at;		/* end of the last piece that was taken, held or not */
	uint64_t solid;		/* end of the last byte seen that is not zero */
	bool failed;		/* told to libarchive, which has no room for it */
	struct dray_err why;
	uint8_t *buf;		/* BUILD_PIECE */

	int fd;			/* of a file, else -1 */
	struct archive *from;	/* the member it stands at, or what unpacks the stream below */
	bool own_from;
	z_stream z;
	bool z_on;
	bool between;		/* behind a whole gzip member */
	bool ended;
};

static struct build_stream *
new_stream(ssize_t (*pull)(struct build_stream *s, const uint8_t **p, struct dray_err *e), struct dray_err *e)
{
	struct build_stream *s = calloc(1, sizeof(*s));

	if (s == NULL || (s->buf = malloc(BUILD_PIECE)) == NULL) {
		free(s);
		dray_fail(e, DRAY_E_IO, "out of memory");
		return NULL;
	}
	s->pull = pull;
	s->fd = -1;
	return s;
}

void
build_stream_free(struct build_stream *s)
{
	while (s != NULL) {
		struct build_stream *below = s->below;

		if (s->z_on)
			(void)inflateEnd(&s->z);
		if (s->own_from)
			archive_read_free(s->from);
		free(s->buf);
		free(s);
		s = below;
	}
}

/* all pieces come through here */
static ssize_t
next_piece(struct build_stream *s, const uint8_t **p, struct dray_err *e)
{
	ssize_t n;

	if (s->held_len > 0) {
		n = (ssize_t)s->held_len;
		*p = s->held;
		s->held_len = 0;
		return n;
	}
	if (tool_signal_seen() != 0)
		return dray_fail(e, DRAY_E_SIGNAL, "interrupted");
	if ((n = s->pull(s, p, e)) <= 0)
		return n;
	s->at += (uint64_t)n;
	for (ssize_t i = n; i > 0; i--)
		if ((*p)[i - 1] != 0) {
			s->solid = s->at - (uint64_t)(n - i) > s->solid ? s->at - (uint64_t)(n - i) : s->solid;
			break;
		}
	return n;
}

int
build_stream_peek(struct build_stream *s, const uint8_t **p, size_t *len, struct dray_err *e)
{
	if (s->held_len == 0) {
		ssize_t n = next_piece(s, &s->held, e);

		if (n < 0)
			return -1;
		s->held_len = (size_t)n;
	}
	*p = s->held;
	*len = s->held_len;
	return 0;
}

uint64_t
build_stream_at(const struct build_stream *s)
{
	return s->at - s->held_len;
}

int
build_stream_rest(struct build_stream *s, uint64_t at, uint64_t zeros, bool *more, struct dray_err *e)
{
	const uint8_t *p;
	ssize_t n = 1;

	while (n > 0 && s->solid <= at && build_stream_at(s) - at <= zeros)
		n = next_piece(s, &p, e);
	*more = s->solid > at || build_stream_at(s) - at > zeros;
	return n < 0 ? -1 : 0;
}

int
build_stream_sound(struct build_stream *s, uint64_t most, struct dray_err *e)
{
	const uint64_t from = s->at;
	const uint8_t *p;
	ssize_t n = 1;

	if (!s->z_on && !s->own_from)
		return 0;
	if (s->failed) {
		*e = s->why;
		return -1;
	}
	while (n > 0 && s->at - from < most)
		n = next_piece(s, &p, e);
	return n < 0 ? -1 : 0;
}

int
build_stream_fail(struct archive *a, const struct build_stream *s, struct dray_err *e)
{
	const char *text = archive_error_string(a);
	char quoted[300];

	if (s != NULL && s->failed) {
		*e = s->why;
		return -1;
	}
	if (archive_errno(a) == ENOMEM)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	if (text == NULL)
		text = "a header is missing or makes no sense";
	else if (strncmp(text, "Ignoring ", 9) == 0)	/* so says libarchive, and we do not */
		text += 9;
	dray_quote(text, strlen(text), quoted, sizeof(quoted));
	if (strncmp(text, "Unsupported", 11) == 0)
		return dray_fail(e, DRAY_E_FORMAT, "it is written in a way that is not read here: %s", quoted);
	return dray_fail(e, DRAY_E_FORMAT, "the archive is damaged or cut short: %s", quoted);
}

static la_ssize_t
read_for(struct archive *a, void *ctx, const void **p)
{
	struct build_stream *s = ctx;
	const uint8_t *piece = NULL;
	ssize_t n = next_piece(s, &piece, &s->why);

	*p = piece;
	s->failed = s->failed || n < 0;
	if (n < 0)
		archive_set_error(a, EINVAL, "%s", s->why.text);
	return n;
}

static la_int64_t
seek_for(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
	struct build_stream *s = ctx;
	off_t at = whence == SEEK_CUR ? lseek(s->fd, (off_t)build_stream_at(s) + offset, SEEK_SET) :
	    lseek(s->fd, offset, whence);

	if (at < 0) {
		archive_set_error(a, errno, "it cannot be read at another place");
		return ARCHIVE_FATAL;
	}
	s->held_len = 0;
	s->at = (uint64_t)at;
	return at;
}

int
build_stream_open(struct archive *a, struct build_stream *s)
{
	if (archive_read_set_callback_data(a, s) != ARCHIVE_OK || archive_read_set_read_callback(a, read_for) != ARCHIVE_OK ||
	    (s->fd != -1 && archive_read_set_seek_callback(a, seek_for) != ARCHIVE_OK))
		return ARCHIVE_FATAL;
	return archive_read_open1(a);
}

static ssize_t
pull_file(struct build_stream *s, const uint8_t **p, struct dray_err *e)
{
	ssize_t n;

	*p = s->buf;
	while ((n = pread(s->fd, s->buf, BUILD_PIECE, (off_t)s->at)) < 0 && errno == EINTR)
		;
	if (n < 0)
		dray_fail_errno(e, "cannot be read");
	return n;
}

int
build_stream_file(int fd, struct build_stream **out, struct dray_err *e)
{
	if ((*out = new_stream(pull_file, e)) == NULL)
		return -1;
	(*out)->fd = fd;
	return 0;
}

static ssize_t
pull_member(struct build_stream *s, const uint8_t **p, struct dray_err *e)
{
	la_ssize_t n = archive_read_data(s->from, s->buf, BUILD_PIECE);

	*p = s->buf;
	return n < 0 ? build_stream_fail(s->from, s->below, e) : n;
}

int
build_stream_member(struct archive *a, struct build_stream *of, struct build_stream **out, struct dray_err *e)
{
	if ((*out = new_stream(pull_member, e)) == NULL)
		return -1;
	(*out)->from = a;
	(*out)->below = of;
	return 0;
}

/* behind a whole member of a gzip file: another one, zeros that fill up a block, or what does not belong there */
static int
go_on(struct build_stream *s, struct dray_err *e)
{
	bool more;

	if (s->z.next_in[0] == 0x1f) {
		s->between = false;
		return inflateReset(&s->z) == Z_OK ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
	}
	s->ended = true;
	if (build_stream_rest(s->below, s->below->at - s->z.avail_in, UINT64_MAX, &more, e) != 0)
		return -1;
	return more ? dray_fail(e, DRAY_E_FORMAT, "the archive is damaged: what follows its gzip data is none") : 0;
}

/* something to unpack in s->z, or the end */
static int
feed(struct build_stream *s, struct dray_err *e)
{
	const uint8_t *in = NULL;
	ssize_t n;

	if (s->z.avail_in == 0) {
		if ((n = next_piece(s->below, &in, e)) < 0)
			return -1;
		if (n == 0) {
			s->ended = true;
			return s->between ? 0 :
			    dray_fail(e, DRAY_E_FORMAT, "the archive is damaged or cut short: its gzip data end too early");
		}
		s->z.next_in = in;
		s->z.avail_in = (uInt)n;
	}
	return s->between ? go_on(s, e) : 0;
}

static ssize_t
pull_gzip(struct build_stream *s, const uint8_t **p, struct dray_err *e)
{
	*p = s->buf;
	s->z.next_out = s->buf;
	s->z.avail_out = BUILD_PIECE;
	while (s->z.avail_out > 0 && !s->ended) {
		int rc;

		if (feed(s, e) != 0)
			return -1;
		if (s->ended)
			break;
		rc = inflate(&s->z, Z_NO_FLUSH);
		s->between = rc == Z_STREAM_END;
		if (rc == Z_MEM_ERROR)
			return dray_fail(e, DRAY_E_IO, "out of memory");
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return dray_fail(e, DRAY_E_FORMAT, "the archive is damaged or cut short: its gzip data: %s",
			    s->z.msg != NULL ? s->z.msg : "they cannot be made sense of");
	}
	return (ssize_t)(BUILD_PIECE - s->z.avail_out);
}

static int
put_gzip(struct build_stream **s, struct dray_err *e)
{
	struct build_stream *on = new_stream(pull_gzip, e);

	if (on == NULL)
		return -1;
	if (inflateInit2(&on->z, GZIP_WINDOW) != Z_OK) {
		build_stream_free(on);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	on->z_on = true;
	on->below = *s;
	*s = on;
	return 0;
}

static ssize_t
pull_unpacked(struct build_stream *s, const uint8_t **p, struct dray_err *e)
{
	const void *data = NULL;
	size_t len = 0;
	la_int64_t off;
	bool more;
	int rc;

	if (s->ended)
		return 0;
	rc = archive_read_data_block(s->from, &data, &len, &off);
	*p = data;
	if (rc == ARCHIVE_OK && len > 0 && len <= SSIZE_MAX)
		return (ssize_t)len;
	if (rc != ARCHIVE_EOF)
		return build_stream_fail(s->from, s->below, e);
	s->ended = true;
	if (build_stream_rest(s->below, (uint64_t)archive_filter_bytes(s->from, -1), UINT64_MAX, &more, e) != 0)
		return -1;
	return more ? dray_fail(e, DRAY_E_FORMAT, "the archive is damaged: what follows its packed data is none") : 0;
}

static int
put_unpacker(struct build_stream **s, struct dray_err *e)
{
	struct build_stream *on = new_stream(pull_unpacked, e);
	struct archive_entry *en;
	struct archive *a;

	if (on == NULL)
		return -1;
	on->below = *s;
	*s = on;	/* whatever happens now, it is freed with the rest */
	if ((a = on->from = archive_read_new()) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	on->own_from = true;
	/* a reader that would have to run a program instead comes back with a warning */
	if (archive_read_support_filter_xz(a) != ARCHIVE_OK || archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(a) != ARCHIVE_OK || archive_read_support_format_raw(a) != ARCHIVE_OK)
		return dray_fail(e, DRAY_E_IO, "this libarchive lacks a reader: %s", archive_error_string(a));
	if (build_stream_open(a, on->below) != ARCHIVE_OK || archive_read_next_header(a, &en) != ARCHIVE_OK)
		return build_stream_fail(a, on->below, e);
	if (archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE)
		return dray_fail(e, DRAY_E_FORMAT, "the archive is damaged or cut short within its first bytes");
	return 0;
}

enum packing { PLAIN, GZIP, OTHER };

static enum packing
packing_of(const uint8_t *p, size_t len)
{
	static const struct { const char *magic; size_t len; enum packing is; } kinds[] = {
		{ "\x1f\x8b", 2, GZIP }, { "\xfd" "7zXZ\0", 6, OTHER }, { "\x28\xb5\x2f\xfd", 4, OTHER }, { "BZh", 3, OTHER },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (len >= kinds[i].len && memcmp(p, kinds[i].magic, kinds[i].len) == 0)
			return kinds[i].is;
	/* a frame that zstd skips: sixteen magics, little-endian */
	return len >= 4 && (p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0 ? OTHER : PLAIN;
}

int
build_stream_unpack(struct build_stream **s, struct dray_err *e)
{
	enum packing is;
	const uint8_t *p;
	size_t len;

	for (unsigned i = 0;; i++) {
		if (build_stream_peek(*s, &p, &len, e) != 0)
			return -1;
		if ((is = packing_of(p, len)) == PLAIN)
			return 0;
		if (i == LAYERS_MAX)
			return dray_fail(e, DRAY_E_FORMAT, "the archive is packed more than %u times over", LAYERS_MAX);
		if ((is == GZIP ? put_gzip(s, e) : put_unpacker(s, e)) != 0)
			return -1;
	}
}
