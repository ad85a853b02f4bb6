/*
 * slot.h - the signature slot, member dray.sig. Source: spec/bundle-format.md, "Signature slot".
 *
 *   0  8  magic "DRAYSIG1"
 *   8  2  length of the signed text, 1 .. 512       10  2  number of signatures, 0 .. 64
 *  12  4  length of part 2
 *  16  .  signed text, then the signature records, then part 2, then zeros to the end of the slot
 *
 * record: 1 algorithm (1 Ed25519; 2 ECDSA P-384 and 3 ML-DSA-87 reserved), 1 zero, 2 signature length (1 .. 8192),
 *         32 SHA-256 of the key's SPKI DER, signature. Strictly ascending by (key hash).
 * part 2: root documents, each 4 length (>= 1), bytes. Version 1 checks their lengths and does not read them.
 *
 * The slot is not covered by a signature: whatever is in it can at most take signers away. All errors DRAY_E_TRUST.
 */
#ifndef DRAY_SLOT_H
#define DRAY_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dray/err.h"

#define DRAY_SLOT_DEFAULT 8192u
#define DRAY_SLOT_MAX (256u * 1024u)
#define DRAY_SLOT_TEXT_MAX 512u
#define DRAY_SLOT_SIGS_MAX 64u
#define DRAY_SIG_MAX 8192u
#define DRAY_ALG_ED25519 1u

struct dray_sig {			/* borrowed from the slot's bytes */
	uint8_t alg;
	uint8_t key[32];		/* SHA-256 of the SPKI DER */
	const uint8_t *sig;
	size_t len;
};

struct dray_slot {			/* by value; pointers borrowed from the bytes given to dray_slot_parse */
	const char *text;		/* the signed text, not NUL-terminated */
	size_t text_len;
	const uint8_t *roots;		/* part 2, unread */
	size_t roots_len;
	unsigned n;
	struct dray_sig sigs[DRAY_SLOT_SIGS_MAX];
};

/** dray_slot_parse - allocation-free; @size: a multiple of 512, 512 .. DRAY_SLOT_MAX */
DRAY_MUST_CHECK int dray_slot_parse(const uint8_t *p, size_t size, struct dray_slot *out, struct dray_err *e);

/** dray_slot_write - into exactly @size bytes; sorts nothing: sigs must ascend; DRAY_E_TRUST if they do not fit */
DRAY_MUST_CHECK int dray_slot_write(const struct dray_slot *s, uint8_t *p, size_t size, struct dray_err *e);

/**
 * dray_signed_text - the text that is signed, NUL-terminated, its length returned in *len:
 * "dray-bundle-v1\nproduct=P\nversion=V\ncounter=N\nsize=S\nsha256=H\n"; S is the length of the whole bundle in
 * bytes, H the SHA-256 of dray.json. P and V: [A-Za-z0-9._+-]{1,64}, checked (DRAY_E_FORMAT).
 */
DRAY_MUST_CHECK int dray_signed_text(const char *product, const char *version, uint64_t counter, uint64_t size,
    const uint8_t json_sha256[32], char out[DRAY_SLOT_TEXT_MAX + 1], size_t *len, struct dray_err *e);

struct dray_signed {			/* what a signed text says */
	char product[65], version[65];
	uint64_t counter, size;		/* size of the whole bundle, bytes */
	uint8_t sha256[32];		/* of dray.json: the bundle id */
};

/** dray_signed_parse - take a signed text apart; anything but the exact form above is DRAY_E_TRUST */
DRAY_MUST_CHECK int dray_signed_parse(const char *text, size_t len, struct dray_signed *out, struct dray_err *e);

/** dray_token_ok - [A-Za-z0-9._+-]{1,64} ? */
bool dray_token_ok(const char *s, size_t len);

/** dray_part_ok - a token, or two of them with '/' between, in 64 bytes: "src", "world/base" ? */
bool dray_part_ok(const char *s, size_t len);

#endif
