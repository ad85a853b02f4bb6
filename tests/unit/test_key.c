/*
 * test_key.c - private keys: made, written once, read back, sealed with a passphrase; published signatures.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/key.h"
#include "dray/trust.h"

#include "mini.h"
#include "test.h"

static struct dray_err e;
static char dir[] = "/tmp/dray-key-XXXXXX", path[200];

static const char *
at(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void
a_saved_key_is_read_back(void)
{
	struct dray_key *k, *r;
	uint8_t a[32], b[32];
	struct stat st;

	umask(0);
	CHECK_EQ(dray_key_generate(&k, &e), 0);
	CHECK_EQ(dray_key_save(k, at("ops"), NULL, &e), 0);
	CHECK_EQ(stat(at("ops.key"), &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK_EQ(dray_key_load(at("ops.key"), NULL, &r, &e), 0);
	dray_key_id(k, a);
	dray_key_id(r, b);
	CHECK_EQ(memcmp(a, b, 32), 0);
	dray_key_free(r);
	umask(077);
	CHECK_EQ(stat(at("ops.pub"), &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0644);
	/* a name that is taken, be it by one of the two files only: nothing is written */
	CHECK_EQ(dray_key_save(k, at("ops"), NULL, &e), -1);
	CHECK_EQ(e.code, DRAY_E_USAGE);
	CHECK_HAS(e.text, "ops.key exists already");
	CHECK_EQ(unlink(at("ops.key")), 0);
	CHECK_EQ(dray_key_save(k, at("ops"), NULL, &e), -1);
	CHECK_HAS(e.text, "ops.pub exists already");
	CHECK_EQ(stat(at("ops.key"), &st), -1);
	CHECK_EQ(errno, ENOENT);
	dray_key_free(k);
}

static void
a_sealed_key_needs_its_passphrase(void)
{
	struct dray_key *k, *r;
	uint8_t a[32], b[32];

	CHECK_EQ(dray_key_generate(&k, &e), 0);
	CHECK_EQ(dray_key_save(k, at("sealed"), "correct horse", &e), 0);
	dray_err_clear(&e);
	CHECK_EQ(dray_key_load(at("sealed.key"), NULL, &r, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "sealed.key: the key is encrypted and no passphrase was given");
	CHECK_HAS(e.hint, "--passphrase-file");
	CHECK(r == NULL);
	CHECK_EQ(dray_key_load(at("sealed.key"), "wrong", &r, &e), -1);
	CHECK_HAS(e.text, "the passphrase does not open this key");
	CHECK_EQ(dray_key_load(at("sealed.key"), "correct horse", &r, &e), 0);
	dray_key_id(k, a);
	dray_key_id(r, b);
	CHECK_EQ(memcmp(a, b, 32), 0);
	dray_key_free(r);
	CHECK_EQ(dray_key_save(k, at("none"), "", &e), -1);
	CHECK_HAS(e.text, "the passphrase is empty");
	CHECK_EQ(access(at("none.key"), F_OK), -1);
	dray_key_free(k);
	/* one that openssl sealed */
	CHECK_EQ(dray_key_load("tests/data/keys/test-c-sealed.key", "correct-horse", &k, &e), 0);
	dray_key_free(k);
}

static void
what_is_no_private_key_is_refused_by_name(void)
{
	struct dray_key *k, *r;
	FILE *f;

	CHECK_EQ(dray_key_generate(&k, &e), 0);
	CHECK_EQ(dray_key_save(k, at("x"), NULL, &e), 0);
	dray_key_free(k);
	CHECK_EQ(dray_key_load(at("x.pub"), NULL, &r, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "this is a public key; signing needs the private one");
	CHECK_EQ(dray_key_load(at("nothing"), NULL, &r, &e), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_HAS(e.text, "nothing: cannot be opened: no such file");
	CHECK_EQ(dray_key_load(dir, NULL, &r, &e), -1);
	CHECK_HAS(e.text, "not a regular file");
	f = fopen(at("junk"), "w");
	fputs("junk\n", f);
	fclose(f);
	CHECK_EQ(dray_key_load(at("junk"), NULL, &r, &e), -1);
	CHECK_HAS(e.text, "no private key in it");
	f = fopen(at("p256"), "w");
	fputs("-----BEGIN PRIVATE KEY-----\n"
	    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAjqvfdpPV9SAP9Uj\n"
	    "cbPj9h3GPhYfOMI9QyL0IcwPBG2hRANCAASa6rtec3Kwlu5PBFvtJrzQlx9Ug07w\n"
	    "3yHZQ3hluCv3Bih82dl6TFunmkwWxdJGTCuEGnmw44+SsKUQtXSljLVN\n"
	    "-----END PRIVATE KEY-----\n", f);
	fclose(f);
	CHECK_EQ(dray_key_load(at("p256"), NULL, &r, &e), -1);
	CHECK_HAS(e.text, "not an Ed25519 key");
}

/* RFC 8032 7.1, TEST 2: one byte 0x72 */
static void
the_published_signature_is_made(void)
{
	static const uint8_t want[64] = {
		0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f, 0x64, 0x25, 0x40,
		0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76, 0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda,
		0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99, 0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c,
		0x38, 0x7b, 0x2e, 0xae, 0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00,
	};
	static uint8_t sig[DRAY_SIG_MAX];
	struct dray_key *k;
	uint8_t alg;
	size_t len;
	FILE *f = fopen(at("rfc"), "w");

	/* 4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb in PKCS#8 */
	fputs("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
	    "-----END PRIVATE KEY-----\n", f);
	fclose(f);
	dray_err_clear(&e);
	CHECK_EQ(dray_key_load(at("rfc"), NULL, &k, &e), 0);
	CHECK_STR(e.text, "");
	if (k == NULL)
		return;
	CHECK_EQ(dray_key_sign(k, "\x72", 1, &alg, sig, &len, &e), 0);
	CHECK_EQ(alg, DRAY_ALG_ED25519);
	CHECK_EQ(len, 64);
	CHECK_EQ(memcmp(sig, want, 64), 0);
	dray_key_free(k);
}

int
main(void)
{
	static const char *const left[] = { "ops.pub", "sealed.key", "sealed.pub", "x.key", "x.pub", "junk", "p256", "rfc" };

	if (mkdtemp(dir) == NULL)
		return 1;
	RUN(a_saved_key_is_read_back);
	RUN(a_sealed_key_needs_its_passphrase);
	RUN(what_is_no_private_key_is_refused_by_name);
	RUN(the_published_signature_is_made);
	for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
		unlink(at(left[i]));
	return rmdir(dir) != 0 ? 1 : test_done();
}
