/*
 * digest.h - SHA-256 (FIPS 180-4) by OpenSSL; the algorithm is fetched once, contexts are reused.
 * Also keeps OpenSSL from reading a configuration file.
 */
#ifndef DRAY_DIGEST_H
#define DRAY_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define DRAY_SHA256_LEN 32

struct dray_sha256;	/* one running hash; reusable, one thread at a time */

DRAY_MUST_CHECK int dray_sha256_new(struct dray_sha256 **out, struct dray_err *e);
void dray_sha256_free(struct dray_sha256 *h);
DRAY_MUST_CHECK int dray_sha256_begin(struct dray_sha256 *h, struct dray_err *e);
DRAY_MUST_CHECK int dray_sha256_add(struct dray_sha256 *h, const void *p, size_t len, struct dray_err *e);
DRAY_MUST_CHECK int dray_sha256_end(struct dray_sha256 *h, uint8_t out[DRAY_SHA256_LEN], struct dray_err *e);

/** dray_sha256_once - begin, add, end on a reused context */
DRAY_MUST_CHECK int dray_sha256_once(struct dray_sha256 *h, const void *p, size_t len,
    uint8_t out[DRAY_SHA256_LEN], struct dray_err *e);

/** dray_sha256_bytes - the same with a context of its own, for a single hash */
DRAY_MUST_CHECK int dray_sha256_bytes(const void *p, size_t len, uint8_t out[DRAY_SHA256_LEN], struct dray_err *e);

/** dray_sha256_fd - hash an open file from its start by pread into @buf (@cap bytes); *size: bytes hashed */
DRAY_MUST_CHECK int dray_sha256_fd(struct dray_sha256 *h, int fd, uint8_t *buf, size_t cap, uint64_t *size,
    uint8_t out[DRAY_SHA256_LEN], struct dray_err *e);

struct dray_watch {		/* whom to tell of a long piece of work, and whom to ask whether it shall go on */
	/* @len: bytes since the last call. -1 with @e: end the work with that */
	int (*each)(void *ctx, size_t len, struct dray_err *e);
	void *ctx;
};

/** dray_sha256_fd_watch - dray_sha256_fd, with a word after every read; @w: NULL for none */
DRAY_MUST_CHECK int dray_sha256_fd_watch(struct dray_sha256 *h, int fd, uint8_t *buf, size_t cap,
    const struct dray_watch *w, uint64_t *size, uint8_t out[DRAY_SHA256_LEN], struct dray_err *e);

/** dray_crypto_init - once per process, before anything else of OpenSSL: no configuration file, no atexit noise */
DRAY_MUST_CHECK int dray_crypto_init(struct dray_err *e);

#endif
