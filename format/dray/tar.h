/*
 * tar.h - canonical ustar headers. There is exactly one header for a member of a given name and size, so a reader
 * computes it and compares. Source: spec/bundle-format.md, "Container"; POSIX.1-2008 pax, "ustar Interchange Format".
 *
 * Fields: name (<= 100 bytes), mode 0000644, uid and gid 0000000, size as 11 octal digits, mtime 00000000000,
 * typeflag '0', magic "ustar\0", version "00", uname and gname empty, devmajor and devminor 0000000, prefix empty,
 * chksum as six octal digits, NUL, blank. The end is two zero blocks and the end of the file.
 */
#ifndef DRAY_TAR_H
#define DRAY_TAR_H

#include <stdint.h>

#include "dray/err.h"

#define DRAY_TAR_BLOCK 512u
#define DRAY_TAR_END 1024u
#define DRAY_TAR_MEMBER_MAX 077777777777ull	/* largest size a header can tell: 8 GiB - 1 */

/** dray_tar_header - the header of a regular member; -1 (DRAY_E_FORMAT) if name or size do not fit */
DRAY_MUST_CHECK int dray_tar_header(const char *name, uint64_t size, uint8_t out[DRAY_TAR_BLOCK], struct dray_err *e);

/**
 * dray_tar_check - is @got the canonical header of @name, with a size of at most @max? The only parser that sees
 * bytes before the signature: it reads 11 octal digits, computes the header and compares all 512 bytes.
 */
DRAY_MUST_CHECK int dray_tar_check(const uint8_t got[DRAY_TAR_BLOCK], const char *name, uint64_t max, uint64_t *size,
    struct dray_err *e);

#endif
