/*
 * fflags.h - file flags: those that dray sets and compares, under one set of bits for all systems.
 * Source: chattr(1), ioctl_iflags(2); chflags(2) of FreeBSD. Others (archived, compressed, noatime, ...) are left alone.
 */
#ifndef DRAY_FFLAGS_H
#define DRAY_FFLAGS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DRAY_FF_IMMUTABLE = 1,		/* chattr +i; schg */
	DRAY_FF_APPEND = 2,		/* chattr +a; sappnd */
	DRAY_FF_NOUNLINK = 4,		/* sunlnk */
	DRAY_FF_NODUMP = 8,		/* chattr +d; nodump */
	DRAY_FF_UIMMUTABLE = 16,	/* uchg, uappnd, uunlnk: the owner's */
	DRAY_FF_UAPPEND = 32,
	DRAY_FF_UNOUNLINK = 64,
};
/* those that forbid to rename, remove or change */
#define DRAY_FF_LOCKS (DRAY_FF_IMMUTABLE | DRAY_FF_APPEND | DRAY_FF_NOUNLINK | DRAY_FF_UIMMUTABLE | DRAY_FF_UAPPEND | \
    DRAY_FF_UNOUNLINK)

#define DRAY_FF_TEXT 64u	/* bytes of the longest text and its end */

/** dray_fflags_known - DRAY_FF_* that the system @os ("linux", "freebsd") has; another one: none */
uint8_t dray_fflags_known(const char *os);

/** dray_fflags_of - from the flags of a bundle for @os (bundle-format.md 5.3) */
uint8_t dray_fflags_of(const char *os, uint32_t raw);

/** dray_fflags_raw - and to them; the owner's become the super-user's where there is no other kind, others are dropped */
uint32_t dray_fflags_raw(const char *os, uint8_t fflags);

/** dray_fflags_text - as chflags(1) and mtree(5) name them: "schg,nodump", "none"; gives @out */
const char *dray_fflags_text(uint8_t fflags, char out[DRAY_FF_TEXT]);

#endif
