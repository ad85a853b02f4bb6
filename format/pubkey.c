/*
 * pubkey.c - public keys from PEM, and one Ed25519 check. An SPKI of this algorithm is a fixed 12-byte prefix and the
 * key (RFC 8410), so it is compared instead of parsed: no ASN.1 reader sees a keyring, and a key has one encoding.
 */
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/num.h"
#include "dray/slot.h"
#include "dray/trust.h"

#include "pubkey.h"

/* SEQUENCE { SEQUENCE { OID 1.3.101.112 } BIT STRING { 0 unused bits, 32 bytes } } */
static const uint8_t ed25519_prefix[12] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00 };

enum { DER_MAX = 4096 };	/* room to tell an RSA key by its name */

void
dray_pub_spki(const uint8_t raw[32], uint8_t out[DRAY_SPKI_ED25519])
{
	memcpy(out, ed25519_prefix, sizeof ed25519_prefix);
	memcpy(out + sizeof ed25519_prefix, raw, 32);
}

static int
b64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* base64 with line breaks, strict otherwise: full groups, '=' at the end only, unused bits zero */
static bool
b64_decode(const char *p, size_t len, uint8_t *out, size_t cap, size_t *out_len)
{
	uint32_t acc = 0;
	unsigned have = 0, pad = 0;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int v;

		if (p[i] == '\n' || p[i] == '\r')
			continue;
		if (p[i] == '=') {
			if (have + ++pad > 4 || have < 2)
				return false;
			continue;
		}
		if (pad != 0 || (v = b64_value(p[i])) < 0)
			return false;
		acc = acc << 6 | (uint32_t)v;
		if (++have == 4) {
			if (n + 3 > cap)
				return false;
			out[n++] = (uint8_t)(acc >> 16);
			out[n++] = (uint8_t)(acc >> 8);
			out[n++] = (uint8_t)acc;
			acc = 0;
			have = 0;
		}
	}
	if (have == 0 && pad == 0) {
		*out_len = n;
		return true;
	}
	if (have + pad != 4 || n + 2 > cap || (acc & (have == 2 ? 0xf : 0x3)) != 0)
		return false;
	acc <<= 6 * pad;
	out[n++] = (uint8_t)(acc >> 16);
	if (have == 3)
		out[n++] = (uint8_t)(acc >> 8);
	*out_len = n;
	return true;
}

static bool
holds(const uint8_t *p, size_t len, const void *part, size_t plen)
{
	for (size_t i = 0; i + plen <= len; i++)
		if (memcmp(p + i, part, plen) == 0)
			return true;
	return false;
}

static int
refuse_algorithm(const uint8_t *der, size_t len, struct dray_err *e)
{
	static const uint8_t rsa[] = { 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01 };
	static const uint8_t ec[] = { 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01 };
	static const uint8_t ed448[] = { 0x06, 0x03, 0x2b, 0x65, 0x71 };
	const char *name = NULL;

	if (holds(der, len, rsa, sizeof rsa))
		name = "RSA";
	else if (holds(der, len, ec, sizeof ec))
		name = "ECDSA";
	else if (holds(der, len, ed448, sizeof ed448))
		name = "Ed448";
	if (name != NULL)
		return dray_fail(e, DRAY_E_TRUST, "a key has the algorithm %s; only Ed25519 is supported", name);
	return dray_fail(e, DRAY_E_TRUST, "a public key is damaged or of an unknown algorithm; only Ed25519 is supported");
}

static int
key_from_der(const uint8_t *der, size_t len, struct dray_pub *out, struct dray_err *e)
{
	struct dray_sha256 *h = NULL;
	int rc;

	if (len != DRAY_SPKI_ED25519 || memcmp(der, ed25519_prefix, sizeof ed25519_prefix) != 0)
		return refuse_algorithm(der, len, e);
	out->alg = DRAY_ALG_ED25519;
	memcpy(out->raw, der + sizeof ed25519_prefix, sizeof out->raw);
	if (dray_sha256_new(&h, e) != 0)
		return -1;
	rc = dray_sha256_once(h, der, len, out->id, e);
	dray_sha256_free(h);
	return rc;
}

/* one line without its end; false at the end of the text */
static bool
next_line(const char **p, size_t *left, const char **line, size_t *len)
{
	const char *nl;

	if (*left == 0)
		return false;
	nl = memchr(*p, '\n', *left);
	*line = *p;
	*len = nl != NULL ? (size_t)(nl - *p) : *left;
	*left -= nl != NULL ? *len + 1 : *len;
	*p += nl != NULL ? *len + 1 : *len;
	while (*len > 0 && ((*line)[*len - 1] == '\r' || (*line)[*len - 1] == ' '))
		--*len;
	return true;
}

static bool
line_is(const char *line, size_t len, const char *text)
{
	return len == strlen(text) && memcmp(line, text, len) == 0;
}

int
dray_pem_next(const char **text, size_t *left, struct dray_pub *out, struct dray_err *e)
{
	const char *line, *body;
	uint8_t der[DER_MAX];
	size_t len, der_len;

	do {
		if (!next_line(text, left, &line, &len))
			return 0;
	} while (len == 0 || line[0] == '#');
	if (!line_is(line, len, "-----BEGIN PUBLIC KEY-----")) {
		if (holds((const uint8_t *)line, len, "PRIVATE KEY", 11)) {
			dray_fail(e, DRAY_E_TRUST, "this is a private key; a keyring takes public keys only");
			return dray_hint(e, "use the .pub file, and keep the private key off this machine");
		}
		if (holds((const uint8_t *)line, len, "-----BEGIN", 10))
			return dray_fail(e, DRAY_E_TRUST, "this is no public key (a certificate or another PEM object)");
		return dray_fail(e, DRAY_E_TRUST, "neither a keyring document nor a PEM public key");
	}
	body = *text;
	do {
		if (!next_line(text, left, &line, &len))
			return dray_fail(e, DRAY_E_TRUST, "a public key is cut short");
	} while (!line_is(line, len, "-----END PUBLIC KEY-----"));
	if (!b64_decode(body, (size_t)(line - body), der, sizeof der, &der_len))
		return dray_fail(e, DRAY_E_TRUST, "a public key is damaged (not base64)");
	return key_from_der(der, der_len, out, e) == 0 ? 1 : -1;
}

int
dray_spki_sha256_pem(const char *pem, size_t len, uint8_t out[32], struct dray_err *e)
{
	struct dray_pub pub, second;
	int rc = dray_pem_next(&pem, &len, &pub, e);

	if (rc == 0)
		return dray_fail(e, DRAY_E_TRUST, "no public key");
	if (rc < 0)
		return -1;
	if ((rc = dray_pem_next(&pem, &len, &second, e)) < 0)
		return -1;
	if (rc > 0)
		return dray_fail(e, DRAY_E_TRUST, "more than one public key");
	memcpy(out, pub.id, 32);
	return 0;
}

int
dray_pub_verify(const struct dray_pub *pub, const void *text, size_t text_len, const uint8_t *sig, size_t sig_len,
    bool *ok, struct dray_err *e)
{
	EVP_PKEY *key = NULL;
	EVP_MD_CTX *ctx = NULL;
	int rc = -1;

	*ok = false;
	if (dray_crypto_init(e) != 0)
		return -1;
	key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, pub->raw, sizeof pub->raw);
	ctx = EVP_MD_CTX_new();
	if (key == NULL || ctx == NULL || EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) != 1) {
		dray_fail(e, DRAY_E_IO, "the cryptographic library cannot check signatures");
		goto out;
	}
	/* 1 is good; 0 and every error alike are not, but for want of memory nothing is known of the signature */
	errno = 0;
	*ok = EVP_DigestVerify(ctx, sig, sig_len, text, text_len) == 1;
	if (!*ok && errno == ENOMEM)
		dray_fail(e, DRAY_E_IO, "out of memory");
	else
		rc = 0;
out:
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
	return rc;
}

int
dray_spki_verify(const char *spki_hex, size_t hex_len, const void *text, size_t text_len, struct dray_sig *sig,
    struct dray_err *e)
{
	uint8_t der[DRAY_SPKI_ED25519];
	struct dray_pub pub = { 0 };
	bool ok;

	if (!dray_unhex(spki_hex, hex_len, der, sizeof der))
		return dray_fail(e, DRAY_E_TRUST, "the key is not an Ed25519 key in hexadecimal");
	if (key_from_der(der, sizeof der, &pub, e) != 0 ||
	    dray_pub_verify(&pub, text, text_len, sig->sig, sig->len, &ok, e) != 0)
		return -1;
	if (!ok)
		return dray_fail(e, DRAY_E_TRUST, "the signature is wrong: it or the text was changed");
	sig->alg = pub.alg;
	memcpy(sig->key, pub.id, sizeof sig->key);
	return 0;
}
