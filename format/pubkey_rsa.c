/*
 * pubkey_rsa.c - the signed tag of a freebsd-update server: the one RSA operation of this library.
 */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/fbsd.h"
#include "dray/num.h"

static int
check_print(const void *pem, size_t len, const uint8_t keyprint[32], struct dray_err *e)
{
	uint8_t got[32];
	char is[65], wanted[65];

	if (dray_sha256_bytes(pem, len, got, e) != 0)
		return -1;
	if (memcmp(got, keyprint, 32) == 0)
		return 0;
	dray_fail(e, DRAY_E_TRUST, "the public key has the print %s, wanted is %s", dray_hex(got, 32, is),
	    dray_hex(keyprint, 32, wanted));
	return dray_hint(e, "another server, or a key that was replaced: compare it with what its owner publishes");
}

static EVP_PKEY *
read_key(const void *pem, size_t len, struct dray_err *e)
{
	BIO *b = BIO_new_mem_buf(pem, (int)len);
	EVP_PKEY *key = b != NULL ? PEM_read_bio_PUBKEY(b, NULL, NULL, NULL) : NULL;

	BIO_free(b);
	if (key == NULL || EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) {
		EVP_PKEY_free(key);
		dray_fail(e, DRAY_E_FORMAT, "the public key is not an RSA key in PEM");
		return NULL;
	}
	return key;
}

int
dray_fbsd_recover(const void *pem, size_t pem_len, const uint8_t keyprint[32], const uint8_t *sig, size_t sig_len,
    char *out, size_t cap, size_t *out_len, struct dray_err *e)
{
	uint8_t text[DRAY_FBSD_SIG_MAX];
	size_t len = sizeof(text);
	EVP_PKEY_CTX *ctx;
	EVP_PKEY *key;
	bool good;

	if (pem_len > DRAY_FBSD_KEY_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "the public key is larger than %u bytes", DRAY_FBSD_KEY_MAX);
	if (check_print(pem, pem_len, keyprint, e) != 0 || (key = read_key(pem, pem_len, e)) == NULL)
		return -1;
	ctx = EVP_PKEY_CTX_new(key, NULL);
	good = ctx != NULL && (size_t)EVP_PKEY_get_size(key) <= sizeof(text) && sig_len == (size_t)EVP_PKEY_get_size(key) &&
	    EVP_PKEY_verify_recover_init(ctx) > 0 && EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) > 0 &&
	    EVP_PKEY_verify_recover(ctx, text, &len, sig, sig_len) > 0 && len <= cap;
	ERR_clear_error();
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(key);
	if (!good)
		return dray_fail(e, DRAY_E_TRUST, "the signature of the tag is not by this key");
	memcpy(out, text, len);
	*out_len = len;
	return 0;
}
