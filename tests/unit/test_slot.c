/*
 * test_slot.c - the signature slot and the signed text: written, read, and every kind of damage refused by name.
 */
#include "dray/digest.h"
#include "dray/key.h"
#include "dray/num.h"
#include "dray/slot.h"

#include "test.h"

static struct dray_err e;
static const uint8_t sig_bytes[64] = { 7, 7, 7 };
static const uint8_t roots[] = { 2, 0, 0, 0, 'h', 'i' };

/* text "text", two signatures of 64 and 10 bytes, one root document */
static void
good_slot(uint8_t *p, size_t size, struct dray_slot *s)
{
	memset(s, 0, sizeof *s);
	s->text = "text";
	s->text_len = 4;
	s->roots = roots;
	s->roots_len = sizeof roots;
	s->n = 2;
	s->sigs[0] = (struct dray_sig){ .alg = 1, .key = { 1 }, .sig = sig_bytes, .len = 64 };
	s->sigs[1] = (struct dray_sig){ .alg = 2, .key = { 2 }, .sig = sig_bytes, .len = 10 };
	CHECK_EQ(dray_slot_write(s, p, size, &e), 0);
}

static void
what_was_written_is_read(void)
{
	struct dray_slot s, t;
	uint8_t p[512];

	good_slot(p, sizeof p, &s);
	CHECK_EQ(dray_slot_parse(p, sizeof p, &t, &e), 0);
	CHECK_EQ(t.text_len, 4);
	CHECK_EQ(memcmp(t.text, "text", 4), 0);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.sigs[0].alg, 1);
	CHECK_EQ(t.sigs[1].len, 10);
	CHECK_EQ(t.sigs[1].key[0], 2);
	CHECK_EQ(t.roots_len, sizeof roots);
	CHECK_EQ(memcmp(t.roots, roots, sizeof roots), 0);
	/* the bytes of spec/bundle-format.md 3 */
	CHECK_EQ(memcmp(p, "DRAYSIG1\4\0\2\0\6\0\0\0text\1\0\100\0\1\0", 26), 0);
}

static void
refused(const uint8_t *p, size_t size, const char *words)
{
	struct dray_slot t;

	dray_err_clear(&e);
	CHECK_EQ(dray_slot_parse(p, size, &t, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, words);
	CHECK_EQ(t.n > DRAY_SLOT_SIGS_MAX, 0);
}

static void
each_damage_has_its_message(void)
{
	struct dray_slot s;
	uint8_t p[512], q[512];

	good_slot(p, sizeof p, &s);
	refused(p, 511, "a signature slot of 511 bytes is not possible");
	refused(p, 0, "a signature slot of 0 bytes is not possible");
	memcpy(q, p, 512);
	q[7] = '2';
	refused(q, 512, "magic number");
	memcpy(q, p, 512);
	dray_put_u16(q + 8, 0);
	refused(q, 512, "signed text has an impossible length");
	dray_put_u16(q + 8, 513);
	refused(q, 512, "signed text has an impossible length");
	memcpy(q, p, 512);
	dray_put_u16(q + 10, 65);
	refused(q, 512, "more than 64 signatures");
	memcpy(q, p, 512);
	dray_put_u16(q + 10, 3);	/* the third would be the root document and zeros */
	refused(q, 512, "a signature has an impossible length");
	memcpy(q, p, 512);
	q[21] = 1;			/* the zero beside the algorithm */
	refused(q, 512, "damaged signature record");
	memcpy(q, p, 512);
	dray_put_u16(q + 22, 0);
	refused(q, 512, "a signature has an impossible length");
	dray_put_u16(q + 22, 8193);
	refused(q, 512, "a signature has an impossible length");
	dray_put_u16(q + 22, 500);
	refused(q, 512, "a signature has an impossible length");
	memcpy(q, p, 512);
	q[24] = 2;			/* both keys equal: one could count twice */
	refused(q, 512, "not in ascending order");
	q[24] = 3;
	refused(q, 512, "not in ascending order");
	memcpy(q, p, 512);
	dray_put_u32(q + 12, 0xffffffff);
	refused(q, 512, "root documents do not fit");
	dray_put_u32(q + 12, 5);
	refused(q, 512, "a root document does not fit");
	dray_put_u32(q + 12, 0);	/* its bytes are then behind the end */
	refused(q, 512, "bytes after the last record are not zero");
	memcpy(q, p, 512);
	q[511] = 1;
	refused(q, 512, "bytes after the last record are not zero");
}

static void
what_does_not_fit_is_not_written(void)
{
	static struct dray_slot s;
	uint8_t p[512];

	good_slot(p, sizeof p, &s);
	s.sigs[1].len = 400;
	CHECK_EQ(dray_slot_write(&s, p, 512, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_STR(e.text, "2 signatures need 562 bytes, the signature slot has 512");
	CHECK_HAS(e.hint, "larger slot");
	s.sigs[1].len = 10;
	s.sigs[1].key[0] = 1;
	CHECK_EQ(dray_slot_write(&s, p, 512, &e), -1);
	CHECK_HAS(e.text, "not in ascending order");
	s.n = 65;
	CHECK_EQ(dray_slot_write(&s, p, 512, &e), -1);
	CHECK_HAS(e.text, "65 signatures");
	s.n = 0;
	s.text_len = 0;
	CHECK_EQ(dray_slot_write(&s, p, 512, &e), -1);
	CHECK_HAS(e.text, "impossible length");
}

static void
a_signed_text_has_one_form(void)
{
	static const char good[] = "dray-bundle-v1\nproduct=demo\nversion=1.1+b\ncounter=2\nsize=4096\nsha256="
	    "0100000000000000000000000000000000000000000000000000000000000000\n";
	static const char *const bad[] = {
		"dray-bundle-v2\nproduct=demo\nversion=1\ncounter=2\nsize=4096\nsha256=",
		"dray-bundle-v1\nproduct=de mo\nversion=1\ncounter=2\nsize=4096\nsha256=",
		"dray-bundle-v1\nproduct=\nversion=1\ncounter=2\nsize=4096\nsha256=",
		"dray-bundle-v1\nproduct=demo\nversion=1\ncounter=02\nsize=4096\nsha256=",
		"dray-bundle-v1\nproduct=demo\nversion=1\ncounter=0\nsize=4096\nsha256=",
		"dray-bundle-v1\nproduct=demo\nversion=1\ncounter=9223372036854775808\nsize=4096\nsha256=",
		"dray-bundle-v1\nproduct=demo\nversion=1\ncounter=2\nsize= 4096\nsha256=",
		"dray-bundle-v1\nproduct=demo\nversion=1\ncounter=2\nsize=+4096\nsha256=",
		"dray-bundle-v1\nversion=1\nproduct=demo\ncounter=2\nsize=4096\nsha256=",
		"dray-bundle-v1\r\nproduct=demo\nversion=1\ncounter=2\nsize=4096\nsha256=",
	};
	char text[DRAY_SLOT_TEXT_MAX + 1], long_text[300];
	uint8_t hash[32] = { 1 };
	struct dray_signed s;
	size_t len;

	CHECK_EQ(dray_signed_text("demo", "1.1+b", 2, 4096, hash, text, &len, &e), 0);
	CHECK_STR(text, good);
	CHECK_EQ(len, sizeof good - 1);
	CHECK_EQ(dray_signed_parse(text, len, &s, &e), 0);
	CHECK_STR(s.product, "demo");
	CHECK_STR(s.version, "1.1+b");
	CHECK_EQ(s.counter, 2);
	CHECK_EQ(s.size, 4096);
	CHECK_EQ(memcmp(s.sha256, hash, 32), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		snprintf(long_text, sizeof long_text, "%s%s", bad[i], good + sizeof good - 66);
		CHECK_EQ(dray_signed_parse(long_text, strlen(long_text), &s, &e), -1);
		CHECK_EQ(e.code, DRAY_E_TRUST);
		CHECK_STR(e.text, "the signed text is not one of a dray bundle");
	}
	for (size_t cut = 0; cut < len; cut++)
		CHECK_EQ(dray_signed_parse(text, cut, &s, &e), -1);
	text[len - 2] = 'A';		/* upper case hex */
	CHECK_EQ(dray_signed_parse(text, len, &s, &e), -1);
	snprintf(long_text, sizeof long_text, "%s\n", good);
	CHECK_EQ(dray_signed_parse(long_text, strlen(long_text), &s, &e), -1);
}

static void
tokens_are_narrow(void)
{
	char long_one[66], text[DRAY_SLOT_TEXT_MAX + 1];
	size_t len;

	memset(long_one, 'a', 65);
	long_one[65] = 0;
	CHECK(dray_token_ok("A-z0._+", 7));
	CHECK(!dray_token_ok("", 0));
	CHECK(!dray_token_ok("a/b", 3));
	CHECK(!dray_token_ok("a b", 3));
	CHECK(!dray_token_ok("a\0b", 3));
	CHECK(!dray_token_ok("\xc3\xa4", 2));
	CHECK(dray_token_ok(long_one, 64));
	CHECK(!dray_token_ok(long_one, 65));
	CHECK_EQ(dray_signed_text("demo", "1\n", 1, 1, sig_bytes, text, &len, &e), -1);
	CHECK_EQ(e.code, DRAY_E_FORMAT);
}

/* the example of spec/bundle-format.md 3.3, byte for byte */
static void
the_example_of_the_spec_is_made(void)
{
	static const uint8_t head[] = { 0x44, 0x52, 0x41, 0x59, 0x53, 0x49, 0x47, 0x31, 0x85, 0x00, 0x01, 0x00, 0, 0, 0, 0,
		0x64, 0x72, 0x61, 0x79 };
	static const uint8_t record[] = { 0x01, 0x00, 0x40, 0x00, 0xc7, 0x5b, 0x33, 0x74 };
	char text[DRAY_SLOT_TEXT_MAX + 1], hex[129];
	static struct dray_slot s;
	uint8_t p[512], sig[DRAY_SIG_MAX], nothing[32];
	struct dray_sha256 *h;
	struct dray_key *k;

	CHECK_EQ(dray_sha256_new(&h, &e), 0);
	CHECK_EQ(dray_sha256_once(h, "", 0, nothing, &e), 0);
	dray_sha256_free(h);
	dray_err_clear(&e);
	CHECK_EQ(dray_key_load("tests/data/keys/test-a.key", NULL, &k, &e), 0);
	CHECK_STR(e.text, "");
	if (k == NULL)
		return;
	memset(&s, 0, sizeof s);
	CHECK_EQ(dray_signed_text("demo", "1.1", 2, 17920, nothing, text, &s.text_len, &e), 0);
	CHECK_EQ(s.text_len, 133);
	s.text = text;
	s.n = 1;
	s.sigs[0].sig = sig;
	dray_key_id(k, s.sigs[0].key);
	CHECK_EQ(dray_key_sign(k, text, s.text_len, &s.sigs[0].alg, sig, &s.sigs[0].len, &e), 0);
	CHECK_STR(dray_hex(sig, 64, hex), "31341bf2276cc377df36ed0ff6584b3d3293882ad92fe5a8e7784f78c7b24f31"
	    "0c2fe81d6cc9f504c549cc011e133a2f21fa81dd7644f9955f241c8d4dd9a204");
	CHECK_EQ(dray_slot_write(&s, p, sizeof p, &e), 0);
	CHECK_EQ(memcmp(p, head, sizeof head), 0);
	CHECK_EQ(memcmp(p + 149, record, sizeof record), 0);
	CHECK_EQ(memcmp(p + 149 + 36, sig, 64), 0);
	for (int i = 249; i < 512; i++)
		CHECK_EQ(p[i], 0);
	dray_key_free(k);
}

int
main(void)
{
	RUN(the_example_of_the_spec_is_made);
	RUN(what_was_written_is_read);
	RUN(each_damage_has_its_message);
	RUN(what_does_not_fit_is_not_written);
	RUN(a_signed_text_has_one_form);
	RUN(tokens_are_narrow);
	return test_done();
}
