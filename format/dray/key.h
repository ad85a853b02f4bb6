/*
 * key.h - private keys: making, reading, signing. Never linked into dray-install.
 * Ed25519 (RFC 8032) by OpenSSL; PKCS#8 PEM (RFC 7468, RFC 5958), encrypted with AES-256-CBC and scrypt
 * when a passphrase is given; SPKI PEM for public halves (RFC 8410).
 */
#ifndef DRAY_KEY_H
#define DRAY_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/slot.h"

struct dray_key;

DRAY_MUST_CHECK int dray_key_generate(struct dray_key **out, struct dray_err *e);
/** dray_key_load - @pass: passphrase or NULL (an encrypted key then fails with its own message) */
DRAY_MUST_CHECK int dray_key_load(const char *path, const char *pass, struct dray_key **out, struct dray_err *e);
void dray_key_free(struct dray_key *k);		/* wiped */
/** dray_key_save - PREFIX.key (0600, O_EXCL) and PREFIX.pub (0644); neither is left behind on failure */
DRAY_MUST_CHECK int dray_key_save(const struct dray_key *k, const char *prefix, const char *pass, struct dray_err *e);
void dray_key_id(const struct dray_key *k, uint8_t out[32]);	/* SHA-256 of the SPKI DER */
void dray_key_spki(const struct dray_key *k, uint8_t out[44]);	/* its public half, DER */
/** dray_key_sign - @sig: room for DRAY_SIG_MAX; *alg, *len filled */
DRAY_MUST_CHECK int dray_key_sign(const struct dray_key *k, const void *text, size_t text_len, uint8_t *alg,
    uint8_t *sig, size_t *len, struct dray_err *e);

#endif
