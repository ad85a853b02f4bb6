/*
 * zstd.c - zstd frames made by hand (RFC 8878): raw blocks only, and each flaw that a header or a block can have.
 */
#include <string.h>

#include "bundle.h"

#define MAGIC 0xfd2fb528u

enum { RAW = 0, RLE = 1, RESERVED = 3 };

static void
block(struct bytes *out, unsigned type, size_t size, bool last)
{
	bytes_number(out, (uint64_t)size << 3 | (uint64_t)type << 1 | (last ? 1 : 0), 3);
}

static void
blocks(struct bytes *out, const uint8_t *p, size_t len, unsigned type)
{
	for (size_t at = 0; at < len || at == 0; ) {
		const size_t n = len - at < 65536 ? len - at : 65536;

		block(out, type, n, at + n == len);
		bytes_put(out, p + at, n);
		at += n;
		if (n == 0)
			break;
	}
}

/* magic, descriptor, and for a frame of one segment its content size in 4 bytes */
static void
head(struct bytes *out, unsigned more, uint64_t size)
{
	bytes_number(out, MAGIC, 4);
	bytes_number(out, 0xa0 | more, 1);
	if ((more & 3) == 1)
		bytes_number(out, 7, 1);
	bytes_number(out, size, 4);
}

static void
plain(struct bytes *out, const uint8_t *p, size_t len)
{
	head(out, 0, len);
	blocks(out, p, len, RAW);
}

/* content size of eight bytes and a window of 2^@log bytes */
static void
windowed(struct bytes *out, const uint8_t *p, size_t len, unsigned log)
{
	bytes_number(out, MAGIC, 4);
	bytes_number(out, 0xc0, 1);
	bytes_number(out, (uint64_t)(log - 10) << 3, 1);
	bytes_number(out, len, 8);
	blocks(out, p, len, RAW);
}

static void
skippable(struct bytes *out)
{
	bytes_number(out, 0x184d2a50, 4);
	bytes_number(out, 4, 4);
	bytes_text(out, "skip");
}

/* flaws of the header; false: it is none of these */
static bool
bad_head(const uint8_t *p, size_t len, const char *how, struct bytes *out)
{
	if (strcmp(how, "no-size") == 0) {
		bytes_number(out, MAGIC, 4);
		bytes_number(out, 0, 2);	/* no size, a window of 1 KiB */
		blocks(out, p, len, RAW);
	} else if (strcmp(how, "size-more") == 0 || strcmp(how, "size-less") == 0 || strcmp(how, "size-max") == 0) {
		head(out, 0, how[5] == 'm' && how[6] == 'a' ? UINT32_MAX : how[5] == 'm' ? len + 1 : len - 1);
		blocks(out, p, len, RAW);
	} else if (strcmp(how, "size-2^64") == 0) {
		bytes_number(out, MAGIC, 4);
		bytes_number(out, 0xe0, 1);
		bytes_number(out, UINT64_MAX - 2, 8);
		blocks(out, p, len, RAW);
	} else if (strcmp(how, "checksum") == 0) {
		head(out, 4, len);
		blocks(out, p, len, RAW);
		bytes_number(out, 0, 4);
	} else if (strcmp(how, "dictionary") == 0) {
		head(out, 1, len);
		blocks(out, p, len, RAW);
	} else if (strcmp(how, "reserved-bit") == 0) {
		head(out, 8, len);
		blocks(out, p, len, RAW);
	} else if (strncmp(how, "window-", 7) == 0) {
		windowed(out, p, len, (unsigned)hostile_number(how + 7));
	} else if (strcmp(how, "old-magic") == 0) {
		plain(out, p, len);
		out->p[0] = 0x27;
	} else {
		return false;
	}
	return true;
}

/* flaws of blocks, and what stands before or behind the frame */
static bool
bad_body(const uint8_t *p, size_t len, const char *how, struct bytes *out)
{
	if (strcmp(how, "empty") == 0) {
		return true;
	} else if (strcmp(how, "head-only") == 0) {
		head(out, 0, len);
	} else if (strcmp(how, "cut") == 0) {
		plain(out, p, len);
		out->len--;
	} else if (strcmp(how, "trailing") == 0) {
		plain(out, p, len);
		bytes_number(out, 0, 1);
	} else if (strcmp(how, "skip-before") == 0) {
		skippable(out);
		plain(out, p, len);
	} else if (strcmp(how, "skip-after") == 0) {
		plain(out, p, len);
		skippable(out);
	} else if (strcmp(how, "skip-only") == 0) {
		skippable(out);
	} else if (strcmp(how, "two") == 0) {
		plain(out, p, len);
		plain(out, p, len);
	} else if (strcmp(how, "block-reserved") == 0) {
		head(out, 0, len);
		blocks(out, p, len, RESERVED);
	} else if (strcmp(how, "block-long") == 0) {	/* says more than is there */
		head(out, 0, len);
		block(out, RAW, len + 1, true);
		bytes_put(out, p, len);
	} else if (strcmp(how, "block-not-last") == 0) {
		head(out, 0, len);
		block(out, RAW, len, false);
		bytes_put(out, p, len);
	} else if (strcmp(how, "short") == 0) {		/* gives one byte less than it says */
		head(out, 0, len);
		blocks(out, p, len - 1, RAW);
	} else if (strcmp(how, "bomb") == 0) {		/* four bytes become 128 KiB, a hundred times */
		head(out, 0, len);
		for (unsigned i = 0; i < 100; i++) {
			block(out, RLE, 131072, i == 99);
			bytes_number(out, 0, 1);
		}
	} else {
		return false;
	}
	return true;
}

void
bundle_zstd(const uint8_t *p, size_t len, const char *how, struct bytes *out)
{
	out->len = 0;
	if (strcmp(how, "plain") == 0)
		plain(out, p, len);
	else if (!bad_head(p, len, how, out) && !bad_body(p, len, how, out))
		hostile_die("\"%s\" is no way to make a zstd frame", how);
}
