/*
 * pubkey.h - public keys as the keyring holds them (private to format/).
 * Source: RFC 7468 (PEM), RFC 8410 (Ed25519 in SPKI), RFC 8032 (the signature).
 */
#ifndef DRAY_PUBKEY_H
#define DRAY_PUBKEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

struct dray_pub {
	uint8_t alg;		/* DRAY_ALG_*: follows from the key, never from a signature record */
	uint8_t raw[32];
	uint8_t id[32];		/* SHA-256 of the SPKI DER */
};

/* size of the SPKI DER of an Ed25519 key */
#define DRAY_SPKI_ED25519 44

/**
 * dray_pem_next - the next key in a PEM text
 * @text, @len: advanced past it. Outside of keys only blank lines and lines that begin with '#' may stand.
 * Return: 1 and a key; 0 at the end; -1 DRAY_E_TRUST with the reason.
 */
DRAY_MUST_CHECK int dray_pem_next(const char **text, size_t *len, struct dray_pub *out, struct dray_err *e);

/** dray_pub_spki - the DER of a key, exactly DRAY_SPKI_ED25519 bytes */
void dray_pub_spki(const uint8_t raw[32], uint8_t out[DRAY_SPKI_ED25519]);

/** dray_pub_verify - *ok: is @sig one by @pub over @text? -1 only when OpenSSL cannot tell (DRAY_E_IO) */
DRAY_MUST_CHECK int dray_pub_verify(const struct dray_pub *pub, const void *text, size_t text_len, const uint8_t *sig,
    size_t sig_len, bool *ok, struct dray_err *e);

/** dray_is_test_key - is the private half of this key in the repository? */
bool dray_is_test_key(const uint8_t id[32]);

#endif
