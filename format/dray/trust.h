/*
 * trust.h - keyrings, and whether a slot's signatures satisfy one. Verification only; signing is key.h.
 *
 * A keyring is ONE JSON document (threshold, names, products, revocations) or bare public keys (threshold 1), never
 * a mix. Source: spec/bundle-format.md, "Trust"; spec/cli.md, "--keyring".
 *
 *   {"dray_keyring":1,"keys":[{"name":"ops","pem":"-----BEGIN PUBLIC KEY-----...","products":["demo"],
 *     "revoked":"stolen 2026-03"}],"threshold":2}
 * products absent: every product. revoked present: the key never counts, and a signature by it is told.
 */
#ifndef DRAY_TRUST_H
#define DRAY_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"
#include "dray/slot.h"

struct dray_keyring;

#define DRAY_KEYRING_MAX_KEYS 256u
#define DRAY_KEYRING_MAX_BYTES (1024u * 1024u)

/**
 * dray_keyring_load - read the files at @paths (each a keyring document, a PEM file with one or more public keys, or
 * a directory of *.pub files); opened once, regular files only
 * @allow_test_keys: accept the keys whose private halves are in this repository (tests only)
 * Errors: DRAY_E_TRUST with the file and the reason (empty, mix, two documents, duplicate key, private key given,
 * unsupported algorithm, threshold 0 or above the number of usable keys, test key), DRAY_E_IO.
 */
DRAY_MUST_CHECK int dray_keyring_load(const char *const *paths, size_t n, bool allow_test_keys,
    struct dray_keyring **out, struct dray_err *e);

/** dray_keyring_parse - the same from memory: one document or PEM text; @name for messages. For tests and fuzzing. */
DRAY_MUST_CHECK int dray_keyring_parse(const char *text, size_t len, const char *name, bool allow_test_keys,
    struct dray_keyring **out, struct dray_err *e);
void dray_keyring_free(struct dray_keyring *k);
unsigned dray_keyring_threshold(const struct dray_keyring *k);
size_t dray_keyring_count(const struct dray_keyring *k);
bool dray_keyring_is_document(const struct dray_keyring *k);	/* JSON; else bare keys */

struct dray_known_key {			/* borrowed */
	const char *name;		/* of the document, or file name without .pub; may be empty */
	const uint8_t *id;		/* 32 bytes: SHA-256 of the SPKI DER */
	bool revoked, bound;		/* bound: counts for some products alone */
};
/** dray_keyring_key - number @i of dray_keyring_count */
struct dray_known_key dray_keyring_key(const struct dray_keyring *k, size_t i);

enum dray_signer_state { DRAY_SIGNER_GOOD, DRAY_SIGNER_UNKNOWN, DRAY_SIGNER_REVOKED, DRAY_SIGNER_WRONG_PRODUCT,
	DRAY_SIGNER_BAD };		/* BAD: the key is known and this is not its signature */

struct dray_signer {
	enum dray_signer_state state;
	uint8_t key[32];
	char name[65];			/* of the keyring, or file name without .pub; empty if unknown */
};

struct dray_verdict {
	unsigned good, needed, n;	/* distinct good keys, threshold, records told in @signers */
	struct dray_signer signers[DRAY_SLOT_SIGS_MAX];
};

/**
 * dray_trust_check - verify every signature of known keys over slot->text and count distinct good public keys
 * Products that keys are bound to are held against the product in the text, which is read after a signature matched.
 * Return: 0 if good >= threshold; -1 DRAY_E_TRUST, each case its own message: no signatures at all; only unknown
 * keys; N of K; a known key whose signature is wrong; revoked; bound to another product. @v is filled either way.
 */
DRAY_MUST_CHECK int dray_trust_check(const struct dray_keyring *k, const struct dray_slot *slot,
    struct dray_verdict *v, struct dray_err *e);

const char *dray_signer_text(enum dray_signer_state s);	/* "good", "unknown key", ... */

/** dray_spki_sha256_pem - SHA-256 of the SPKI DER of the one public key in a PEM text */
DRAY_MUST_CHECK int dray_spki_sha256_pem(const char *pem, size_t len, uint8_t out[32], struct dray_err *e);

/**
 * dray_spki_verify - check a signature by a key that comes with it (a detached signature file)
 * @spki_hex: its SPKI DER, lower case hex; @sig: sig and len are set, alg and key are filled
 * Says nothing about trust: only that the signature is one by that key. Errors: DRAY_E_TRUST.
 */
DRAY_MUST_CHECK int dray_spki_verify(const char *spki_hex, size_t hex_len, const void *text, size_t text_len,
    struct dray_sig *sig, struct dray_err *e);

/** dray_fingerprint - how people read a key or bundle hash: the first 16 bytes in groups of 4 hex digits ("9d3a 77c0 ...") */
const char *dray_fingerprint(const uint8_t hash[32], char out[40]);

#endif
