/*
 * tar.c - the canonical ustar header, made and compared. Source: spec/bundle-format.md, 1 "Container".
 *
 * dray_tar_check is the only parser that sees bundle bytes before the signature, so it reads one number and leaves
 * the rest to memcmp: whatever a stranger writes into a header, it is either the one we would have written or refused.
 */
#include <inttypes.h>
#include <string.h>

#include "dray/tar.h"

/* ustar field offsets, POSIX.1-2008 pax, "ustar Interchange Format" */
enum { AT_MODE = 100, AT_UID = 108, AT_GID = 116, AT_SIZE = 124, AT_MTIME = 136, AT_CHKSUM = 148, AT_TYPE = 156,
	AT_MAGIC = 257, AT_VERSION = 263, AT_DEVMAJOR = 329, AT_DEVMINOR = 337, NAME_LEN = 100, SIZE_DIGITS = 11 };

static void
put_octal(uint8_t *p, unsigned digits, uint64_t v)
{
	while (digits > 0) {
		p[--digits] = (uint8_t)('0' + (v & 7));
		v >>= 3;
	}
}

int
dray_tar_header(const char *name, uint64_t size, uint8_t out[DRAY_TAR_BLOCK], struct dray_err *e)
{
	size_t len = strlen(name);
	uint32_t sum = 0;

	if (len == 0 || len > NAME_LEN)
		return dray_fail(e, DRAY_E_FORMAT, "a member name has %zu bytes, 1 to %d fit", len, NAME_LEN);
	if (size > DRAY_TAR_MEMBER_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "member %s has %" PRIu64 " bytes, at most %llu fit", name, size,
		    DRAY_TAR_MEMBER_MAX);
	memset(out, 0, DRAY_TAR_BLOCK);
	memcpy(out, name, len);
	put_octal(out + AT_MODE, 7, 0644);
	put_octal(out + AT_UID, 7, 0);
	put_octal(out + AT_GID, 7, 0);
	put_octal(out + AT_SIZE, SIZE_DIGITS, size);
	put_octal(out + AT_MTIME, 11, 0);
	memset(out + AT_CHKSUM, ' ', 8);
	out[AT_TYPE] = '0';
	memcpy(out + AT_MAGIC, "ustar", 6);
	memcpy(out + AT_VERSION, "00", 2);
	put_octal(out + AT_DEVMAJOR, 7, 0);
	put_octal(out + AT_DEVMINOR, 7, 0);
	for (size_t i = 0; i < DRAY_TAR_BLOCK; i++)
		sum += out[i];
	put_octal(out + AT_CHKSUM, 6, sum);
	out[AT_CHKSUM + 6] = 0;		/* the eighth byte keeps its blank */
	return 0;
}

int
dray_tar_check(const uint8_t got[DRAY_TAR_BLOCK], const char *name, uint64_t max, uint64_t *size, struct dray_err *e)
{
	uint8_t want[DRAY_TAR_BLOCK];
	uint64_t n = 0;

	for (size_t i = 0; i < SIZE_DIGITS; i++) {
		uint8_t c = got[AT_SIZE + i];

		if (c < '0' || c > '7')
			return dray_fail(e, DRAY_E_FORMAT, "no header of member %s (its size is not a number)", name);
		n = n << 3 | (uint64_t)(c - '0');	/* 33 bits at most */
	}
	if (dray_tar_header(name, n, want, e) != 0)
		return -1;
	for (size_t i = 0; i < DRAY_TAR_BLOCK; i++)
		if (got[i] != want[i])
			return dray_fail(e, DRAY_E_FORMAT, "no canonical header of member %s (byte %zu differs)", name, i);
	if (n > max)	/* after the comparison: a flipped size is told as a wrong header */
		return dray_fail(e, DRAY_E_FORMAT, "member %s has %" PRIu64 " bytes, at most %" PRIu64 " are allowed",
		    name, n, max);
	*size = n;
	return 0;
}
