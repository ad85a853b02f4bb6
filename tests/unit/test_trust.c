/*
 * test_trust.c - keyrings and the verdict: each refusal by its own words, never a key counted twice.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dray/trust.h"

#include "mini.h"
#include "test.h"

static struct dray_err e;
static struct dray_key *keys[3];
static char pem[3][160], json_pem[3][200];	/* the second with \n as two characters */
static uint8_t id[3][32];
static char dir[] = "/tmp/dray-trust-XXXXXX";

static struct dray_keyring *
ring_of(const char *text)
{
	struct dray_keyring *k;

	dray_err_clear(&e);
	if (dray_keyring_parse(text, strlen(text), "dir/ops.pub", false, &k, &e) != 0)
		printf("# %s\n", e.text);
	return k;
}

/* a document: @extra[i] is put behind key i's pem, NULL leaves the key out */
static const char *
document(const char *const extra[3], const char *threshold)
{
	static char text[2000];
	const char *comma = "";
	size_t n;

	n = (size_t)snprintf(text, sizeof text, "{\"dray_keyring\":1,\"keys\":[");
	for (int i = 0; i < 3; i++) {
		if (extra[i] == NULL)
			continue;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s\n  {\"name\":\"k%d\",\"pem\":\"%s\"%s}", comma, i,
		    json_pem[i], extra[i]);
		comma = ",";
	}
	snprintf(text + n, sizeof text - n, "],\"threshold\":%s}\n", threshold);
	return text;
}

/* a slot over @text signed by the keys whose bit is set in @mask; lives until the next call */
static struct dray_slot
slot_by(unsigned mask)
{
	static char text[DRAY_SLOT_TEXT_MAX + 1];
	static uint8_t bytes[1024];
	const struct dray_key *by[3];
	struct mini_opts o = { .keys = by };
	const uint8_t hash[32] = { 3 };
	struct dray_slot s;
	size_t len;

	for (unsigned i = 0; i < 3; i++)
		if ((mask >> i & 1) != 0)
			by[o.n_keys++] = keys[i];
	if (dray_signed_text("demo", "1.1", 2, 4096, hash, text, &len, &e) != 0 ||
	    mini_sign(&o, text, len, bytes, sizeof bytes, &e) != 0 || dray_slot_parse(bytes, sizeof bytes, &s, &e) != 0)
		abort();
	return s;
}

static struct dray_verdict v;

static int
check(const char *ring, const struct dray_slot *s)
{
	struct dray_keyring *k = ring_of(ring);
	int rc;

	if (k == NULL)
		return -2;
	dray_err_clear(&e);
	rc = dray_trust_check(k, s, &v, &e);
	dray_keyring_free(k);
	return rc;
}

static void
refused(const char *text, const char *words)
{
	struct dray_keyring *k;

	dray_err_clear(&e);
	CHECK_EQ(dray_keyring_parse(text, strlen(text), "ops.pub", false, &k, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, words);
	CHECK(k == NULL);
}

static void
one_bare_key_is_a_keyring(void)
{
	struct dray_keyring *k = ring_of(pem[0]);
	struct dray_slot s = slot_by(1);

	CHECK_EQ(dray_keyring_count(k), 1);
	CHECK_EQ(dray_keyring_threshold(k), 1);
	CHECK_EQ(dray_trust_check(k, &s, &v, &e), 0);
	CHECK_EQ(v.good, 1);
	CHECK_STR(v.signers[0].name, "ops");
	CHECK_EQ(v.signers[0].state, DRAY_SIGNER_GOOD);
	dray_keyring_free(k);
}

static void
comments_and_several_keys_in_one_file(void)
{
	char text[600];
	struct dray_keyring *k;

	snprintf(text, sizeof text, "# operations\r\n\n%s# and the other\n%s\n", pem[0], pem[1]);
	k = ring_of(text);
	CHECK_EQ(dray_keyring_count(k), 2);
	CHECK_EQ(dray_keyring_threshold(k), 1);
	dray_keyring_free(k);
}

static void
odd_keyrings_are_refused_by_name(void)
{
	char text[3000], one[400], b64[80];
	uint8_t der[44];

	refused("", "no key in it");
	refused(" \n\n", "no key in it");
	refused("# only a comment\n", "no key in it");
	refused("hello\n", "neither a keyring document nor a PEM public key");
	refused("-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n", "this is a private key");
	CHECK_HAS(e.hint, ".pub");
	refused("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "this is a private key");
	refused("-----BEGIN CERTIFICATE-----\nMC4=\n-----END CERTIFICATE-----\n", "this is no public key");
	snprintf(text, sizeof text, "%.*s", (int)strlen(pem[0]) - 20, pem[0]);
	refused(text, "a public key is cut short");
	snprintf(text, sizeof text, "%s", pem[0]);
	text[60] = '*';
	refused(text, "not base64");
	snprintf(text, sizeof text, "%s%s", pem[0], pem[0]);
	refused(text, "the same public key stands twice");
	snprintf(text, sizeof text, "%strailing\n", pem[0]);
	refused(text, "neither a keyring document");
	/* RSA, by the object identifier in the first bytes of its SPKI */
	refused("-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJB\n-----END PUBLIC KEY-----\n",
	    "a key has the algorithm RSA; only Ed25519 is supported");
	refused("-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n",
	    "a key has the algorithm ECDSA");
	/* a key that is one byte longer than it says */
	dray_key_spki(keys[0], der);
	memcpy(one, der, 44);
	one[44] = 0;
	EVP_EncodeBlock((uint8_t *)b64, (uint8_t *)one, 45);
	snprintf(one, sizeof one, "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n", b64);
	refused(one, "damaged or of an unknown algorithm");
}

static void
odd_documents_are_refused_by_name(void)
{
	char text[3000];

	refused(document((const char *const[3]){ "", NULL, NULL }, "0"), "a threshold of 0 would need no signature");
	refused(document((const char *const[3]){ "", NULL, NULL }, "-1"), "a threshold of -1 would need no signature");
	refused(document((const char *const[3]){ "", "", NULL }, "3"), "the threshold is 3, but only 2 keys can sign");
	refused(document((const char *const[3]){ "", ",\"revoked\":\"lost\"", NULL }, "2"),
	    "the threshold is 2, but only 1 keys can sign");
	refused(document((const char *const[3]){ NULL, NULL, NULL }, "1"), "only 0 keys can sign");
	refused(document((const char *const[3]){ ",\"product\":[\"demo\"]", NULL, NULL }, "1"), "product");
	refused(document((const char *const[3]){ ",\"products\":[]", NULL, NULL }, "1"), "bound to 0 products");
	refused(document((const char *const[3]){ ",\"products\":[\"a b\"]", NULL, NULL }, "1"), "no product name");
	refused(document((const char *const[3]){ ",\"revoked\":true", NULL, NULL }, "1"), "revoked");
	refused("{\"dray_keyring\":2,\"keys\":[],\"threshold\":1}", "keyring version 2 is newer");
	refused("{\"keys\":[],\"threshold\":1}", "dray_keyring");
	refused("{\"dray_keyring\":1,\"keys\":[1],\"threshold\":1}", "no object");
	refused("{\"dray_keyring\":1,\"keys\":[{\"name\":\"a\",\"pem\":\"\"}],\"threshold\":1}", "key a: its pem is empty");
	refused("{\"dray_keyring\":1,\"keys\":[{\"name\":\"a b\",\"pem\":\"\"}],\"threshold\":1}", "a key's name has");
	refused("{\"dray_keyring\":1", "JSON");
	refused("{\"dray_keyring\":1,\"keys\":[],\"threshold\":1}{}", "JSON");
	/* the same key under two names must not count twice */
	snprintf(text, sizeof text, "{\"dray_keyring\":1,\"keys\":[{\"name\":\"a\",\"pem\":\"%s\"},{\"name\":\"b\","
	    "\"pem\":\"# other\\n%s\"}],\"threshold\":2}", json_pem[0], json_pem[0]);
	refused(text, "the same public key stands twice (a, b)");
	snprintf(text, sizeof text, "{\"dray_keyring\":1,\"keys\":[{\"name\":\"a\",\"pem\":\"%s%s\"}],\"threshold\":1}",
	    json_pem[0], json_pem[1]);
	refused(text, "key a: its pem holds more than one key");
	snprintf(text, sizeof text, "{\"dray_keyring\":1,\"keys\":[{\"name\":\"a\",\"pem\":\"%s\"},{\"name\":\"a\","
	    "\"pem\":\"%s\"}],\"threshold\":1}", json_pem[0], json_pem[1]);
	refused(text, "two keys have the name a");
}

static void
a_threshold_counts_distinct_keys(void)
{
	const char *const all[3] = { "", "", "" };
	struct dray_slot s;

	s = slot_by(3);
	CHECK_EQ(check(document(all, "2"), &s), 0);
	CHECK_EQ(v.good, 2);
	CHECK_EQ(check(document(all, "3"), &s), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_STR(e.text, "2 of 3 needed signatures");
	s = slot_by(7);
	CHECK_EQ(check(document(all, "3"), &s), 0);
	/* one signature given twice: the slot's order forbids it, and a slot made by hand is refused before */
	s = slot_by(1);
	s.sigs[1] = s.sigs[0];
	s.n = 2;
	CHECK_EQ(dray_slot_write(&s, (uint8_t[1024]){ 0 }, 1024, &e), -1);
	CHECK_HAS(e.text, "ascending");
}

static void
each_refusal_has_its_message(void)
{
	struct dray_slot s = slot_by(0);
	static uint8_t sig[64];

	CHECK_EQ(check(pem[0], &s), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_STR(e.text, "the bundle is not signed");
	s = slot_by(2);
	CHECK_EQ(check(pem[0], &s), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "no signature by a key of the keyring (first signer: ");
	CHECK_EQ(v.n, 1);
	CHECK_EQ(v.signers[0].state, DRAY_SIGNER_UNKNOWN);
	CHECK_STR(v.signers[0].name, "");
	s = slot_by(1);
	memcpy(sig, s.sigs[0].sig, 64);
	sig[5] ^= 1;
	s.sigs[0].sig = sig;
	CHECK_EQ(check(pem[0], &s), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "the signature by ops (");
	CHECK_HAS(e.text, ") is wrong: it or the signed text was changed");
	CHECK_EQ(v.signers[0].state, DRAY_SIGNER_BAD);
	s = slot_by(1);
	CHECK_EQ(check(document((const char *const[3]){ ",\"revoked\":\"stolen \\u001b 2026\"", "", NULL }, "1"), &s), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "signed by k0 (");
	CHECK_HAS(e.text, "a key that is revoked: stolen \\x1b 2026");
	s = slot_by(3);		/* a revoked one beside a good one: enough, and told */
	CHECK_EQ(check(document((const char *const[3]){ ",\"revoked\":\"x\"", "", NULL }, "1"), &s), 0);
	CHECK_EQ(v.good, 1);
	CHECK_EQ(v.n, 2);
	s = slot_by(1);
	CHECK_EQ(check(document((const char *const[3]){ ",\"products\":[\"other\",\"more\"]", NULL, NULL }, "1"), &s), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "a key that does not count for the product demo");
	CHECK_EQ(check(document((const char *const[3]){ ",\"products\":[\"other\",\"demo\"]", NULL, NULL }, "1"), &s), 0);
}

static void
the_algorithm_is_the_keys(void)
{
	struct dray_slot s = slot_by(1);

	for (int alg = 0; alg < 256; alg++) {
		s.sigs[0].alg = (uint8_t)alg;
		CHECK_EQ(check(pem[0], &s), alg == DRAY_ALG_ED25519 ? 0 : -1);
		if (alg != DRAY_ALG_ED25519)
			CHECK_HAS(e.text, "is wrong");
	}
}

/* RFC 8032 5.1.7: S must be below the group order L; S + L satisfies the equation too and must not be accepted */
static void
a_signature_has_one_form(void)
{
	static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde,
		0xf9, 0xde, 0x14, [31] = 0x10 };
	struct dray_slot s = slot_by(1);
	static uint8_t sig[64];
	unsigned carry = 0;

	memcpy(sig, s.sigs[0].sig, 64);
	for (int i = 0; i < 32; i++) {
		carry += sig[32 + i] + order[i];
		sig[32 + i] = (uint8_t)carry;
		carry >>= 8;
	}
	CHECK_EQ(carry, 0);
	s.sigs[0].sig = sig;
	CHECK_EQ(check(pem[0], &s), -1);
	CHECK_HAS(e.text, "is wrong");
	s = slot_by(1);
	s.sigs[0].len = 63;
	CHECK_EQ(check(pem[0], &s), -1);
	CHECK_HAS(e.text, "is wrong");
}

/* a known key that signed something which is no bundle text does not make it one */
static void
a_signature_over_another_text_is_no_help(void)
{
	static const char text[] = "please sign here\n";
	static uint8_t sig[DRAY_SIG_MAX];
	struct dray_slot s = slot_by(1);

	s.text = text;
	s.text_len = sizeof text - 1;
	CHECK_EQ(dray_key_sign(keys[0], text, s.text_len, &s.sigs[0].alg, sig, &s.sigs[0].len, &e), 0);
	s.sigs[0].sig = sig;
	CHECK_EQ(check(pem[0], &s), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_STR(e.text, "the signed text is not one of a dray bundle");
}

static void
put(const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	if ((f = fopen(path, "w")) == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

static void
drop(const char *name)
{
	char path[200];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	CHECK_EQ(unlink(path), 0);
}

static int
load(const char *a, const char *b, bool test_keys, struct dray_keyring **k)
{
	char path[2][200];
	const char *p[2] = { path[0], path[1] };

	snprintf(path[0], sizeof path[0], "%s/%s", dir, a);
	snprintf(path[1], sizeof path[1], "%s/%s", dir, b != NULL ? b : "");
	dray_err_clear(&e);
	return dray_keyring_load(p, b != NULL ? 2 : 1, test_keys, k, &e);
}

static void
files_and_folders_load(void)
{
	struct dray_keyring *k;
	char path[200];

	put("a.pub", pem[0]);
	put("b.pub", pem[1]);
	put("ring.json", document((const char *const[3]){ "", "", NULL }, "2"));
	put("empty.pub", "");
	CHECK_EQ(load("a.pub", "b.pub", false, &k), 0);
	CHECK_EQ(dray_keyring_count(k), 2);
	CHECK_EQ(dray_keyring_threshold(k), 1);
	dray_keyring_free(k);
	CHECK_EQ(load("ring.json", NULL, false, &k), 0);
	CHECK_EQ(dray_keyring_threshold(k), 2);
	dray_keyring_free(k);
	CHECK_EQ(load("ring.json", "a.pub", false, &k), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "a.pub: a keyring is one document or bare keys, not a mix of both");
	CHECK_EQ(load("a.pub", "ring.json", false, &k), -1);
	CHECK_HAS(e.text, "ring.json: a keyring is one document or bare keys, not a mix of both");
	CHECK_EQ(load("ring.json", "ring.json", false, &k), -1);
	CHECK_HAS(e.text, "a second keyring document");
	CHECK_EQ(load("a.pub", "a.pub", false, &k), -1);
	CHECK_HAS(e.text, "the same public key stands twice (a, a)");
	CHECK_EQ(load("", NULL, false, &k), -1);
	CHECK_HAS(e.text, "empty.pub: no key in it");
	snprintf(path, sizeof path, "%s/empty.pub", dir);
	unlink(path);
	CHECK_EQ(load("", NULL, false, &k), 0);
	CHECK_EQ(dray_keyring_count(k), 2);
	dray_keyring_free(k);
	CHECK_EQ(load("none", NULL, false, &k), -1);
	CHECK_EQ(e.code, DRAY_E_IO);
	CHECK_HAS(e.text, "/none: cannot be opened: no such file");
	snprintf(path, sizeof path, "%s/fifo.pub", dir);
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(load("fifo.pub", NULL, false, &k), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, "fifo.pub: not a regular file");
	drop("a.pub");
	drop("b.pub");
	drop("ring.json");
	drop("fifo.pub");
	CHECK_EQ(load("", NULL, false, &k), -1);
	CHECK_HAS(e.text, "no file NAME.pub in this folder");
	put("big.pub", "#");
	snprintf(path, sizeof path, "%s/big.pub", dir);
	CHECK_EQ(truncate(path, DRAY_KEYRING_MAX_BYTES + 1), 0);
	CHECK_EQ(load("big.pub", NULL, false, &k), -1);
	CHECK_HAS(e.text, "longer than 1 MiB");
	drop("big.pub");
}

static void
test_keys_of_the_repository_are_refused(void)
{
	static const char *const names[] = { "tests/data/keys/test-a.pub", "tests/data/keys/test-b.pub",
		"tests/data/keys/test-c.pub" };
	struct dray_keyring *k;

	for (int i = 0; i < 3; i++) {
		dray_err_clear(&e);
		CHECK_EQ(dray_keyring_load(&names[i], 1, false, &k, &e), -1);
		CHECK_EQ(e.code, DRAY_E_TRUST);
		CHECK_HAS(e.text, "is a test key: everybody has its private half");
		CHECK_HAS(e.hint, "dray key new");
	}
	CHECK_EQ(dray_keyring_load(names, 3, true, &k, &e), 0);
	CHECK_EQ(dray_keyring_count(k), 3);
	dray_keyring_free(k);
}

static void
fingerprints_read_in_groups(void)
{
	uint8_t h[32] = { 0x9d, 0x3a, 0x77, 0xc0, [15] = 0x0f };
	char out[40];
	uint8_t got[32];

	CHECK_STR(dray_fingerprint(h, out), "9d3a 77c0 0000 0000 0000 0000 0000 000f");
	CHECK_EQ(dray_spki_sha256_pem(pem[1], strlen(pem[1]), got, &e), 0);
	CHECK_EQ(memcmp(got, id[1], 32), 0);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	for (int i = 0; i < 3; i++) {
		char *to = json_pem[i];

		if (dray_key_generate(&keys[i], &e) != 0)
			return 1;
		mini_pem(keys[i], pem[i]);
		dray_key_id(keys[i], id[i]);
		for (const char *p = pem[i]; *p != 0; p++) {
			if (*p == '\n')
				*to++ = '\\';
			*to++ = *p == '\n' ? 'n' : *p;
		}
	}
	RUN(one_bare_key_is_a_keyring);
	RUN(comments_and_several_keys_in_one_file);
	RUN(odd_keyrings_are_refused_by_name);
	RUN(odd_documents_are_refused_by_name);
	RUN(a_threshold_counts_distinct_keys);
	RUN(each_refusal_has_its_message);
	RUN(the_algorithm_is_the_keys);
	RUN(a_signature_has_one_form);
	RUN(a_signature_over_another_text_is_no_help);
	RUN(files_and_folders_load);
	RUN(test_keys_of_the_repository_are_refused);
	RUN(fingerprints_read_in_groups);
	for (int i = 0; i < 3; i++)
		dray_key_free(keys[i]);
	return rmdir(dir) != 0 ? 1 : test_done();
}
