/*
 * key.c - private keys: make, read, write, sign. An object of its own, so that dray-install can leave it out.
 * Source: RFC 8032 (Ed25519), RFC 5958 (PKCS#8), RFC 7468 (PEM), RFC 8018 and RFC 7914 (PBES2 with scrypt).
 */
#include <sys/stat.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/key.h"

#include "pubkey.h"

enum { KEY_FILE_MAX = 64 * 1024, SCRYPT_N = 16384, SCRYPT_R = 8, SCRYPT_P = 1, SALT_LEN = 16 };

struct dray_key {
	EVP_PKEY *pkey;		/* OpenSSL wipes it when freed */
	uint8_t spki[DRAY_SPKI_ED25519];
	uint8_t id[32];
};

/* takes over @pkey */
static int
wrap_pkey(EVP_PKEY *pkey, struct dray_key **out, struct dray_err *e)
{
	struct dray_sha256 *h = NULL;
	struct dray_key *k = NULL;
	uint8_t raw[32];
	size_t len = sizeof raw;
	int rc = -1;

	if (EVP_PKEY_get_id(pkey) != EVP_PKEY_ED25519) {
		dray_fail(e, DRAY_E_TRUST, "not an Ed25519 key; no other algorithm is supported");
		goto out;
	}
	if (EVP_PKEY_get_raw_public_key(pkey, raw, &len) != 1 || len != sizeof raw) {
		dray_fail(e, DRAY_E_TRUST, "the key has no public half");
		goto out;
	}
	if ((k = calloc(1, sizeof *k)) == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	dray_pub_spki(raw, k->spki);
	if (dray_sha256_new(&h, e) != 0 || dray_sha256_once(h, k->spki, sizeof k->spki, k->id, e) != 0)
		goto out;
	k->pkey = pkey;
	pkey = NULL;
	*out = k;
	k = NULL;
	rc = 0;
out:
	free(k);
	dray_sha256_free(h);
	EVP_PKEY_free(pkey);
	return rc;
}

int
dray_key_generate(struct dray_key **out, struct dray_err *e)
{
	EVP_PKEY *pkey;

	*out = NULL;
	if (dray_crypto_init(e) != 0)
		return -1;
	if ((pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")) == NULL)
		return dray_fail(e, DRAY_E_IO, "the cryptographic library cannot make a key");
	return wrap_pkey(pkey, out, e);
}

struct asked {
	const char *pass;
	bool was;		/* the key is encrypted */
};

/* OpenSSL's own callback would prompt on the terminal */
static int
give_pass(char *buf, int cap, int writing, void *ctx)
{
	struct asked *a = ctx;
	size_t len;

	(void)writing;
	a->was = true;
	if (a->pass == NULL || (len = strlen(a->pass)) == 0 || len > (size_t)cap)
		return -1;
	memcpy(buf, a->pass, len);
	return (int)len;
}

static int
read_key_file(const char *path, char *buf, size_t *len, struct dray_err *e)
{
	struct stat st;
	size_t have = 0;
	ssize_t n;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return dray_fail_errno(e, "cannot be opened");
	if (fstat(fd, &st) != 0) {
		dray_fail_errno(e, "cannot be looked at");
		close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return dray_fail(e, DRAY_E_TRUST, "not a regular file");
	}
	while (have < KEY_FILE_MAX) {
		if ((n = read(fd, buf + have, KEY_FILE_MAX - have)) == -1) {
			if (errno == EINTR)
				continue;
			dray_fail_errno(e, "cannot be read");
			close(fd);
			return -1;
		}
		if (n == 0)
			break;
		have += (size_t)n;
	}
	close(fd);
	if (have == KEY_FILE_MAX)
		return dray_fail(e, DRAY_E_TRUST, "too long for a key");
	*len = have;
	return 0;
}

static int
parse_key(const char *text, size_t len, const char *pass, struct dray_key **out, struct dray_err *e)
{
	struct asked asked = { .pass = pass };
	EVP_PKEY *pkey = NULL;
	BIO *bio;

	if ((bio = BIO_new_mem_buf(text, (int)len)) != NULL)
		pkey = PEM_read_bio_PrivateKey(bio, NULL, give_pass, &asked);
	BIO_free(bio);
	ERR_clear_error();
	if (pkey != NULL)
		return wrap_pkey(pkey, out, e);
	if (asked.was && pass == NULL) {
		dray_fail(e, DRAY_E_TRUST, "the key is encrypted and no passphrase was given");
		return dray_hint(e, "give the file that holds the passphrase with --passphrase-file");
	}
	if (asked.was)
		return dray_fail(e, DRAY_E_TRUST, "the passphrase does not open this key");
	if (strstr(text, "PUBLIC KEY") != NULL) {
		dray_fail(e, DRAY_E_TRUST, "this is a public key; signing needs the private one");
		return dray_hint(e, "use the .key file");
	}
	return dray_fail(e, DRAY_E_TRUST, "no private key in it");
}

int
dray_key_load(const char *path, const char *pass, struct dray_key **out, struct dray_err *e)
{
	size_t len = 0;
	char *buf;
	int rc;

	*out = NULL;
	if (dray_crypto_init(e) != 0)
		return -1;
	if ((buf = calloc(1, KEY_FILE_MAX + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	rc = read_key_file(path, buf, &len, e);
	if (rc == 0)
		rc = parse_key(buf, len, pass, out, e);
	OPENSSL_cleanse(buf, KEY_FILE_MAX + 1);
	free(buf);
	return rc == 0 ? 0 : dray_wrap(e, "key %s", path);
}

void
dray_key_free(struct dray_key *k)
{
	if (k == NULL)
		return;
	EVP_PKEY_free(k->pkey);
	OPENSSL_cleanse(k, sizeof *k);
	free(k);
}

/* PKCS#8; with a passphrase PBES2: scrypt (16 MiB per guess, the most that openssl(1) opens by default) and AES-256-CBC */
static int
write_private(const struct dray_key *k, const char *pass, BIO *bio, struct dray_err *e)
{
	PKCS8_PRIV_KEY_INFO *info = NULL;
	uint8_t salt[SALT_LEN];
	X509_ALGOR *pbe = NULL;
	X509_SIG *sealed = NULL;
	int rc = -1;

	if (pass == NULL) {
		if (PEM_write_bio_PKCS8PrivateKey(bio, k->pkey, NULL, NULL, 0, NULL, NULL) == 1)
			rc = 0;
		goto out;
	}
	if (RAND_bytes(salt, sizeof salt) != 1 || (info = EVP_PKEY2PKCS8(k->pkey)) == NULL ||
	    (pbe = PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), salt, sizeof salt, NULL, SCRYPT_N, SCRYPT_R, SCRYPT_P)) == NULL)
		goto out;
	if ((sealed = PKCS8_set0_pbe(pass, (int)strlen(pass), info, pbe)) == NULL)
		goto out;
	pbe = NULL;	/* now part of sealed */
	if (PEM_write_bio_PKCS8(bio, sealed) == 1)
		rc = 0;
out:
	if (rc != 0)
		dray_fail(e, DRAY_E_IO, "the cryptographic library cannot write the key");
	X509_ALGOR_free(pbe);
	X509_SIG_free(sealed);
	PKCS8_PRIV_KEY_INFO_free(info);
	return rc;
}

/* a new file, never over an old one; removed again when it cannot be written whole */
static int
write_new(const char *path, unsigned mode, BIO *bio, struct dray_err *e)
{
	char *p;
	long len = BIO_get_mem_data(bio, &p);
	size_t done = 0;
	ssize_t n;
	int fd;

	if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode)) == -1) {
		if (errno != EEXIST)
			return dray_fail_errno(e, "%s: cannot be created", path);
		dray_fail(e, DRAY_E_USAGE, "%s exists already", path);
		return dray_hint(e, "a key is never overwritten: choose another name");
	}
	if (fchmod(fd, (mode_t)mode) != 0)	/* whatever the umask says */
		goto fail;
	while (done < (size_t)len) {
		if ((n = write(fd, p + done, (size_t)len - done)) == -1) {
			if (errno == EINTR)
				continue;
			goto fail;
		}
		done += (size_t)n;
	}
	if (fsync(fd) != 0)
		goto fail;
	if (close(fd) != 0) {
		fd = -1;
		goto fail;
	}
	return 0;
fail:
	dray_fail_errno(e, "%s: cannot be written", path);
	if (fd != -1)
		close(fd);
	unlink(path);
	return -1;
}

int
dray_key_save(const struct dray_key *k, const char *prefix, const char *pass, struct dray_err *e)
{
	char *priv = NULL, *pub = NULL;
	BIO *priv_bio = NULL, *pub_bio = NULL;
	int rc = -1;

	priv_bio = BIO_new(BIO_s_secmem());	/* wiped when freed */
	pub_bio = BIO_new(BIO_s_mem());
	if (priv_bio == NULL || pub_bio == NULL || asprintf(&priv, "%s.key", prefix) == -1 ||
	    asprintf(&pub, "%s.pub", prefix) == -1) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	if (pass != NULL && pass[0] == 0) {
		dray_fail(e, DRAY_E_USAGE, "the passphrase is empty");
		goto out;
	}
	if (write_private(k, pass, priv_bio, e) != 0)
		goto out;
	if (PEM_write_bio_PUBKEY(pub_bio, k->pkey) != 1) {
		dray_fail(e, DRAY_E_IO, "the cryptographic library cannot write the key");
		goto out;
	}
	if (write_new(priv, 0600, priv_bio, e) != 0)
		goto out;
	if (write_new(pub, 0644, pub_bio, e) != 0) {
		unlink(priv);
		goto out;
	}
	rc = 0;
out:
	ERR_clear_error();
	BIO_free(priv_bio);
	BIO_free(pub_bio);
	free(priv);
	free(pub);
	return rc;
}

void
dray_key_id(const struct dray_key *k, uint8_t out[32])
{
	memcpy(out, k->id, sizeof k->id);
}

void
dray_key_spki(const struct dray_key *k, uint8_t out[44])
{
	memcpy(out, k->spki, sizeof k->spki);
}

int
dray_key_sign(const struct dray_key *k, const void *text, size_t text_len, uint8_t *alg, uint8_t *sig, size_t *len,
    struct dray_err *e)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = DRAY_SIG_MAX;
	int rc = -1;

	if (ctx != NULL && EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->pkey) == 1 &&
	    EVP_DigestSign(ctx, sig, &n, text, text_len) == 1) {
		*alg = DRAY_ALG_ED25519;
		*len = n;
		rc = 0;
	} else {
		dray_fail(e, DRAY_E_IO, "the cryptographic library cannot sign");
	}
	EVP_MD_CTX_free(ctx);
	return rc;
}
