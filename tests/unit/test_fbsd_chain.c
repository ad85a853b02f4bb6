/*
 * test_fbsd_chain.c - from keyprint to every path: attachments as a server and the builder make them, with a key of the test's own;
 * whole they prove the release, and each link that does not hold is named.
 */
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "dray/fbsd_proof.h"

#include "fbsd_release.h"
#include "plan_mini.h"
#include "test.h"

struct chain {			/* attachments as upstream and the builder make them; a test spoils one */
	EVP_PKEY *key;
	uint8_t pem[1024], print[32], sig[256], list[4096];
	char tag[300], tindex[200];
	const char *left;
	size_t pem_len, list_len;
	size_t n;		/* attachments that are there, in the order of names */
};

static void
sign_tag(struct chain *c)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(c->key, NULL);
	size_t len = sizeof(c->sig);

	CHECK(EVP_PKEY_sign_init(ctx) == 1 && EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) == 1 &&
	    EVP_PKEY_sign(ctx, c->sig, &len, (const uint8_t *)c->tag, strlen(c->tag)) == 1);
	EVP_PKEY_CTX_free(ctx);
}

/* a tag that names the index as it stands */
static void
tag_index(struct chain *c)
{
	struct dray_err e;
	uint8_t sum[32];
	char hex[65];

	CHECK_EQ(dray_sha256_bytes(c->tindex, strlen(c->tindex), sum, &e), 0);
	snprintf(c->tag, sizeof(c->tag), "freebsd-update|amd64|14.0-RELEASE|3|%s|1719792000\n", dray_hex(sum, 32, hex));
	sign_tag(c);
}

/* an index that names @p as the list, and the list packed */
static void
list_is(struct chain *c, const char *p, size_t len)
{
	struct dray_err e;
	uint8_t sum[32];
	char hex[65];

	CHECK_EQ(dray_sha256_bytes(p, len, sum, &e), 0);
	snprintf(c->tindex, sizeof(c->tindex), "INDEX-ALL|%s\n", dray_hex(sum, 32, hex));
	c->list_len = ZSTD_compress(c->list, sizeof(c->list), p, len, 3);
	CHECK(!ZSTD_isError(c->list_len));
	tag_index(c);
}

static void
chain_make(struct chain *c)
{
	BIO *bio = BIO_new(BIO_s_mem());
	struct dray_err e;
	char *p;

	*c = (struct chain){ .key = EVP_RSA_gen(2048), .left = left, .n = 5 };
	CHECK_EQ(PEM_write_bio_PUBKEY(bio, c->key), 1);
	c->pem_len = (size_t)BIO_get_mem_data(bio, &p);
	if (c->pem_len > sizeof(c->pem))
		abort();
	memcpy(c->pem, p, c->pem_len);
	BIO_free(bio);
	CHECK_EQ(dray_sha256_bytes(c->pem, c->pem_len, c->print, &e), 0);
	list_is(c, list, sizeof(list) - 1);
}

static void
chain_free(struct chain *c)
{
	EVP_PKEY_free(c->key);
}

/* the release of @rows with these attachments, opened, and proven or not */
static int
prove(const struct chain *c, const struct row *rows, struct dray_fbsd_proof **p, struct dray_err *e)
{
	const struct pm_note notes[] = { { "notes/" DRAY_UPSTREAM_LIST, c->list, c->list_len }, { "notes/" DRAY_UPSTREAM_TAG, c->sig, sizeof(c->sig) },
		{ "notes/" DRAY_UPSTREAM_LEFT_OUT, c->left, strlen(c->left) }, { "notes/" DRAY_UPSTREAM_KEY, c->pem, c->pem_len },
		{ "notes/" DRAY_UPSTREAM_TINDEX, c->tindex, strlen(c->tindex) } };
	struct dray_err se = { .code = DRAY_OK };
	struct dray_desc *d = dray_desc_new();
	struct pm pm = { .fd = -1 };
	struct dray_index_writer *w;
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	int rc;

	raw_need(dray_iw_new(&w, &se), &se);
	for (size_t i = 0; i < ROWS; i++)
		release_put(w, &rows[i]);
	raw_need(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &se), &se);
	dray_iw_free(w);
	snprintf(d->product, sizeof(d->product), "FreeBSD");
	snprintf(d->version, sizeof(d->version), "14.0-RELEASE-p3");
	snprintf(d->os, sizeof(d->os), "freebsd");
	d->counter = 2;
	d->slot = 512;
	d->built = 1700000000;
	d->limit_frame = d->limit_window = 65536;
	d->limit_memory = 131072;
	d->n_components = 2;
	d->n_phases = d->n_encoders = 1;
	snprintf(d->components[0], sizeof(d->components[0]), "kernel/generic");
	snprintf(d->components[1], sizeof(d->components[1]), "world/base");
	snprintf(d->phases[0], sizeof(d->phases[0]), "main");
	snprintf(d->encoders[0].name, sizeof(d->encoders[0].name), "zstd");
	snprintf(d->encoders[0].id, sizeof(d->encoders[0].id), "%s", dray_encoder_id());
	mini_member(d, "README.txt", "read me\n", 8);
	mini_member(d, "index/00", dir, dir_len);
	mini_member(d, "index/01", chunks, chunks_len);
	for (size_t i = 0; i < c->n; i++)
		mini_member(d, notes[i].name, notes[i].p, notes[i].len);
	raw_need(pm_lay_out(&pm, d, dir, chunks, 0, notes, c->n, &se), &se);
	dray_err_clear(e);
	rc = dray_fbsd_prove(pm.b, c->print, p, e);
	pm_close(&pm);
	dray_desc_free(d);
	free(dir);
	free(chunks);
	return rc;
}

/* refused for @says, as a matter of trust */
static void
refused(const struct chain *c, const char *says)
{
	struct dray_fbsd_proof *p;
	struct dray_err e;

	CHECK_EQ(prove(c, good, &p, &e), -1);
	CHECK_EQ(e.code, DRAY_E_TRUST);
	CHECK_HAS(e.text, says);
	CHECK(p == NULL);
	dray_fbsd_proof_free(p);
}

static void
a_whole_chain_proves_every_path(void)
{
	struct dray_fbsd_proof *p;
	struct dray_err e;
	struct chain c;

	chain_make(&c);
	CHECK_EQ(prove(&c, good, &p, &e), 0);
	CHECK_STR(e.text, "");
	if (p != NULL) {
		CHECK_STR(p->of, "14.0-RELEASE/amd64");
		CHECK_EQ(p->tag.patch, 3);
		CHECK_EQ(p->lines, 12);
		CHECK_EQ(p->paths, ROWS);
		CHECK_EQ(p->n_left, 4);
	}
	dray_fbsd_proof_free(p);
	chain_free(&c);
}

static void
each_link_that_does_not_hold_is_named(void)
{
	static const uint8_t huge[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0 };	/* says that it holds 256 MiB */
	static const uint8_t untold[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x01, 0x00, 0x00 };	/* RFC 8878, 3.1.1.1: no size */
	struct chain c, was;

	chain_make(&c);
	was = c;
	c.n = 3;	/* key and index are not there */
	refused(&c, "nothing of upstream can be proven: it has no notes/upstream-pub.ssl");
	c = was;
	c.print[0] ^= 1;
	refused(&c, "notes/upstream-latest.ssl: the public key has the print ");
	c = was;
	c.sig[9] ^= 1;
	refused(&c, "notes/upstream-latest.ssl: the signature of the tag is not by this key");
	c = was;
	snprintf(c.tag, sizeof(c.tag), "%s", "hello\n");
	sign_tag(&c);
	refused(&c, "notes/upstream-latest.ssl: the tag \"hello\" has not the form");
	c = was;
	c.tindex[20] ^= 1;
	refused(&c, "notes/upstream-tINDEX is not what the signed tag names: its SHA-256 is another");
	snprintf(c.tindex, sizeof(c.tindex), "%s", "INDEX-NEW|" A "\n");
	tag_index(&c);
	refused(&c, "notes/upstream-tINDEX: INDEX-ALL is not in it");
	snprintf(c.tindex, sizeof(c.tindex), "%s", "INDEX-ALL|" A "\n");
	tag_index(&c);
	refused(&c, "notes/upstream-INDEX-ALL.zst is not what notes/upstream-tINDEX names: its SHA-256 is another");
	c = was;
	memcpy(c.list, "no frame", c.list_len = 8);
	refused(&c, "notes/upstream-INDEX-ALL.zst: not a zstd frame");
	memcpy(c.list, untold, c.list_len = sizeof(untold));
	refused(&c, "notes/upstream-INDEX-ALL.zst: zstd frame does not tell its content size");
	memcpy(c.list, huge, c.list_len = sizeof(huge));
	refused(&c, "notes/upstream-INDEX-ALL.zst: zstd frame holds 268435456 bytes, at most 134217728 are wanted");
	c = was;
	c.list_len -= 5;
	refused(&c, "notes/upstream-INDEX-ALL.zst: ");
	c = was;
	list_is(&c, "no line\n", 8);
	refused(&c, "INDEX-ALL of 14.0-RELEASE/amd64, line 1 (no line): not ten fields");
	c = was;
	c.left = "";
	refused(&c, "2 paths are not as upstream's list has them; the first: tmp/x: it is in the list");
	chain_free(&was);
}

int
main(void)
{
	RUN(a_whole_chain_proves_every_path);
	RUN(each_link_that_does_not_hold_is_named);
	return test_done();
}
