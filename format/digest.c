/*
 * digest.c - SHA-256 by OpenSSL. The algorithm is fetched once per process; contexts are reused.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "dray/digest.h"

struct dray_sha256 {
	EVP_MD_CTX *ctx;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static EVP_MD *sha256;	/* lives as long as the process */

/* no openssl.cnf: what it names (engines, providers) would be code we never checked */
static void
start_openssl(void)
{
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) == 1)
		sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

int
dray_crypto_init(struct dray_err *e)
{
	if (pthread_once(&once, start_openssl) != 0 || sha256 == NULL)
		return dray_fail(e, DRAY_E_IO, "the cryptographic library does not start");
	return 0;
}

int
dray_sha256_new(struct dray_sha256 **out, struct dray_err *e)
{
	struct dray_sha256 *h;

	*out = NULL;
	if (dray_crypto_init(e) != 0)
		return -1;
	h = calloc(1, sizeof(*h));
	if (h == NULL || (h->ctx = EVP_MD_CTX_new()) == NULL) {
		free(h);
		return dray_fail(e, DRAY_E_IO, "out of memory");
	}
	*out = h;
	return 0;
}

void
dray_sha256_free(struct dray_sha256 *h)
{
	if (h == NULL)
		return;
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

static int
hash_failed(struct dray_err *e)
{
	return dray_fail(e, DRAY_E_IO, "the cryptographic library failed to hash");
}

int
dray_sha256_begin(struct dray_sha256 *h, struct dray_err *e)
{
	return EVP_DigestInit_ex2(h->ctx, sha256, NULL) == 1 ? 0 : hash_failed(e);
}

int
dray_sha256_add(struct dray_sha256 *h, const void *p, size_t len, struct dray_err *e)
{
	if (len == 0)
		return 0;
	return EVP_DigestUpdate(h->ctx, p, len) == 1 ? 0 : hash_failed(e);
}

int
dray_sha256_end(struct dray_sha256 *h, uint8_t out[DRAY_SHA256_LEN], struct dray_err *e)
{
	unsigned len = 0;

	if (EVP_DigestFinal_ex(h->ctx, out, &len) != 1 || len != DRAY_SHA256_LEN)
		return hash_failed(e);
	return 0;
}

int
dray_sha256_once(struct dray_sha256 *h, const void *p, size_t len, uint8_t out[DRAY_SHA256_LEN],
    struct dray_err *e)
{
	if (dray_sha256_begin(h, e) != 0 || dray_sha256_add(h, p, len, e) != 0)
		return -1;
	return dray_sha256_end(h, out, e);
}

int
dray_sha256_bytes(const void *p, size_t len, uint8_t out[DRAY_SHA256_LEN], struct dray_err *e)
{
	struct dray_sha256 *h = NULL;
	int rc;

	if (dray_sha256_new(&h, e) != 0)
		return -1;
	assert(h != NULL);
	rc = dray_sha256_once(h, p, len, out, e);
	dray_sha256_free(h);
	return rc;
}

int
dray_sha256_fd(struct dray_sha256 *h, int fd, uint8_t *buf, size_t cap, uint64_t *size,
    uint8_t out[DRAY_SHA256_LEN], struct dray_err *e)
{
	return dray_sha256_fd_watch(h, fd, buf, cap, NULL, size, out, e);
}

int
dray_sha256_fd_watch(struct dray_sha256 *h, int fd, uint8_t *buf, size_t cap, const struct dray_watch *w,
    uint64_t *size, uint8_t out[DRAY_SHA256_LEN], struct dray_err *e)
{
	uint64_t at = 0;
	ssize_t n;

	if (dray_sha256_begin(h, e) != 0)
		return -1;
	for (;;) {
		n = pread(fd, buf, cap, (off_t)at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return dray_fail_errno(e, "read");
		if (n == 0)
			break;
		if (dray_sha256_add(h, buf, (size_t)n, e) != 0)
			return -1;
		at += (uint64_t)n;
		if (w != NULL && w->each(w->ctx, (size_t)n, e) != 0)
			return -1;
	}
	*size = at;
	return dray_sha256_end(h, out, e);
}
