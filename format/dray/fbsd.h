/*
 * fbsd.h - what a freebsd-update server signs and lists: key, tag, metadata index, metadata lines. Text only, nothing is
 * fetched here. Everything is hostile until its hash or signature was checked, and its grammar after that.
 *
 * The chain: keyprint -> pub.ssl -> latest.ssl -> tag -> t/HASH (names of metadata files) -> m/HASH.gz (lines) -> contents.
 * Source: freebsd-update.sh and freebsd-update-build (build.subr), both of the FreeBSD project; spec/freebsd-update.md.
 */
#ifndef DRAY_FBSD_H
#define DRAY_FBSD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define DRAY_FBSD_KEY_MAX 16384u	/* bytes of pub.ssl */
#define DRAY_FBSD_SIG_MAX 2048u		/* bytes of latest.ssl: RSA of 16384 bits */
#define DRAY_FBSD_INDEX_MAX (1024u * 1024u * 1024u)	/* bytes of one metadata file, inflated */
#define DRAY_FBSD_TINDEX_MAX (64u * 1024u)

/* the keyprint of the FreeBSD project's servers */
extern const char dray_fbsd_keyprint[65];

struct dray_fbsd_tag {
	char arch[33], release[65];
	uint32_t patch;			/* 9: -p9; 0: the bare release */
	uint8_t tindex[32];		/* SHA-256 of t/... */
	int64_t eol;			/* end of life, seconds since the epoch */
};

/**
 * dray_fbsd_recover - the text that latest.ssl holds: RSA with PKCS #1 type 1 padding right over the text, no hash
 * (RFC 8017, 9.2 without DigestInfo)
 * @pem: pub.ssl, whose SHA-256 must be @keyprint; it is parsed only after that
 * @out: @cap bytes of room; *out_len of them are the text
 * Errors: DRAY_E_TRUST: wrong key (both hashes told), wrong signature; DRAY_E_FORMAT: the key is none of RSA.
 */
DRAY_MUST_CHECK int dray_fbsd_recover(const void *pem, size_t pem_len, const uint8_t keyprint[32], const uint8_t *sig,
    size_t sig_len, char *out, size_t cap, size_t *out_len, struct dray_err *e);

/**
 * dray_fbsd_tag_parse - one line "freebsd-update|ARCH|RELEASE|PATCH|TINDEX|EOL"
 * @arch, @release: what it must be for, compared as text; NULL: any
 * Errors: DRAY_E_FORMAT with what is wrong in it.
 */
DRAY_MUST_CHECK int dray_fbsd_tag_parse(const char *text, size_t len, const char *arch, const char *release,
    struct dray_fbsd_tag *out, struct dray_err *e);

/** dray_fbsd_tindex_find - the hash of the metadata file @name in t/...; it must stand there once */
DRAY_MUST_CHECK int dray_fbsd_tindex_find(const char *text, size_t len, const char *name, uint8_t out[32],
    struct dray_err *e);

struct dray_fbsd_line {			/* all pointers into the line */
	const char *component, *sub;	/* "world", "base" */
	const char *path;		/* as in a release: no '/' in front or behind; the root has length 0 */
	const char *target;		/* L: where it points; f: the first name of its hard-link group, like @path, or empty */
	uint32_t component_len, sub_len, path_len, target_len;
	char type;			/* 'f', 'd', 'L', '-' (was not there; nothing below holds) */
	uint32_t uid, gid, mode, flags;	/* mode: 12 bits; flags: st_flags */
	uint8_t sha256[32];		/* f */
};

/**
 * dray_fbsd_line_parse - "component|sub|path|type|uid|gid|mode|flags|value|hlink"
 * @why: on false, a static text
 */
DRAY_MUST_CHECK bool dray_fbsd_line_parse(const char *line, size_t len, struct dray_fbsd_line *out, const char **why);

/** dray_fbsd_name_ok - are all bytes of the class that servers and clients agree on: letters, digits, -+./:=,%@_[~ */
bool dray_fbsd_name_ok(const char *p, size_t len);

/** dray_fbsd_release_ok - "13.2-RELEASE", "14.0-RC2": letters, digits, '.', '-', '_', not "." or "..", no patch level */
bool dray_fbsd_release_ok(const char *p);

#endif
