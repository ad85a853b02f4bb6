/*
 * bytes.h - a growing run of bytes, and texts of the tables. The kit ends at once when memory or a disk fails it.
 */
#ifndef HOSTILE_BYTES_H
#define HOSTILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *p;
	size_t len, cap;
};

_Noreturn void hostile_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

uint8_t *bytes_room(struct bytes *b, size_t n);		/* @n more bytes, zero */
size_t bytes_put(struct bytes *b, const void *p, size_t n);	/* where they stand */
void bytes_number(struct bytes *b, uint64_t v, size_t n);	/* little-endian in @n bytes */
void bytes_text(struct bytes *b, const char *s);
void bytes_format(struct bytes *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bytes_pad(struct bytes *b);			/* zeros up to a multiple of 512 */
void bytes_free(struct bytes *b);

/** bytes_sub - the first @from becomes @to; false: it is not there */
bool bytes_sub(struct bytes *b, size_t from_len, const void *from, size_t to_len, const void *to);
/** bytes_cut - @n bytes at @at become @len others */
void bytes_splice(struct bytes *b, size_t at, size_t n, const void *p, size_t len);

void hostile_sha(const void *p, size_t n, uint8_t out[32]);

/** hostile_unescape - \n \s (blank) \xHH \\ and \{N:TEXT} (N times TEXT, not nested), appended */
void hostile_unescape(const char *s, struct bytes *out);
/** hostile_hex - pairs of digits, appended */
void hostile_hex(const char *s, struct bytes *out);
/** hostile_number - decimal, 0x..., max (all ones), none (2^32 - 1), 2^N, 2^N-M, 2^N+M, -M (two's complement) */
uint64_t hostile_number(const char *s);

#endif
