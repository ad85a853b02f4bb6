/*
 * test_fbsd_proof.c - a release against upstream's list: what is equal passes, each field that is not is named, and so is each link of
 * the chain from keyprint to list.
 */
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <stdlib.h>
#include <zstd.h>

#include "test.h"

#include "dray/fbsd_proof.h"
#include "dray/num.h"

#include "index_raw.h"
#include "plan_mini.h"

#define A "aa00000000000000000000000000000000000000000000000000000000000001"
#define B "bb00000000000000000000000000000000000000000000000000000000000002"

static const char list[] =
    "kernel|generic|/boot|d|0|0|0755|0||\n"
    "world|base|/boot|d|0|0|0700|0||\n"
    "kernel|generic|/boot/kernel|f|0|0|0555|400000|" A "|\n"
    "world|base|/|d|0|0|0755|0||\n"
    "world|base|/a|f|0|5|0444|0|" B "|\n"
    "world|base|/b|f|0|5|0444|0|" B "|/a\n"
    "world|base|/c|f|0|5|4555|0|" B "|\n"
    "world|base|/l|L|0|0|0755|0|../target|\n"
    "world|lib32|/lib32|d|0|0|0755|0||\n"
    "world|lib32|/lib32/x|f|0|0|0444|0|" A "|\n"
    "world|base|/tmp|d|0|0|1777|0||\n"
    "world|base|/tmp/x|f|0|0|0444|0|" A "|\n"
    "world|base|/z|f|0|0|0444|0|" A "|\n";
static const char left[] = "beneath|tmp|kept by itself\nall|z|not wanted\n";

struct row {
	const char *path;
	uint8_t type;
	uint16_t has;
	uint32_t uid, gid, mode, flags;
	const char *what;		/* hash or target */
	uint32_t link;			/* 1 + number of the first name */
	uint64_t comps;
	bool mtime, xattr;
};

#define UGM (DRAY_HAS_UID | DRAY_HAS_GID | DRAY_HAS_MODE)
#define ALL (UGM | DRAY_HAS_FLAGS)

/* components: 0 kernel/generic, 1 world/base */
static const struct row good[] = {
	{ "a", DRAY_FILE, ALL, 0, 5, 0444, 0, B, 1, 2, false, false },
	{ "b", DRAY_FILE, ALL, 0, 5, 0444, 0, B, 1, 2, false, false },
	{ "boot", DRAY_DIR, ALL, 0, 0, 0700, 0, NULL, 0, 3, false, false },
	{ "boot/kernel", DRAY_FILE, ALL, 0, 0, 0555, 0x20000, A, 0, 1, false, false },
	{ "c", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 2, false, false },
	{ "l", DRAY_SYMLINK, DRAY_HAS_UID | DRAY_HAS_GID, 0, 0, 0, 0, "../target", 0, 2, false, false },
	{ "tmp", DRAY_DIR, ALL, 0, 0, 01777, 0, NULL, 0, 2, false, false },
};
#define ROWS (sizeof(good) / sizeof(good[0]))

static void
put(struct dray_index_writer *w, const struct row *r)
{
	static const struct dray_xattr x = { "user.a", 6, (const uint8_t *)"1", 1 };
	const struct dray_attrs a = { .has = r->has, .uid = r->uid, .gid = r->gid, .mode = r->mode, .flags = r->flags };
	struct dray_state s = { .type = r->type, .link = r->link, .has_mtime = r->mtime, .content = DRAY_NONE };
	struct dray_entry en = { .path = r->path, .len = strlen(r->path) };
	struct dray_err e = { .code = DRAY_OK };
	uint8_t sha[32];
	uint32_t comps;

	raw_need(dray_iw_attrs(w, &a, &x, r->xattr ? 1 : 0, &s.attrs, &e), &e);
	raw_need(dray_iw_compset(w, r->comps, &comps, &e), &e);
	if (r->type == DRAY_SYMLINK) {
		s.target = r->what;
		s.target_len = strlen(r->what);
	}
	if (r->type == DRAY_FILE) {
		CHECK(dray_unhex(r->what, 64, sha, 32));
		raw_need(dray_iw_content(w, 100, sha, &s.content, &e), &e);
	}
	raw_need(dray_iw_state(w, &s, &en.target, &e), &e);
	en.compset = (uint16_t)comps;
	raw_need(dray_iw_entry(w, &en, NULL, 0, &e), &e);
}

/* @rows against the list; Return: as dray_fbsd_compare */
static int
compare(const struct row *rows, size_t n, const char *os, const char *left_out, struct dray_fbsd_proof *p, struct dray_err *e)
{
	const struct dray_fbsd_list l = { .file = "INDEX-ALL", .of = "14.0-RELEASE/amd64", .p = list, .len = sizeof(list) - 1,
		.tree = true };
	struct dray_err se = { .code = DRAY_OK };
	struct raw none = { 0 };
	struct dray_index_writer *w;
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_index *ix;
	struct dray_desc *d;
	int rc;

	raw_need(dray_iw_new(&w, &se), &se);
	for (size_t i = 0; i < n; i++)
		put(w, &rows[i]);
	raw_need(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &se), &se);
	dray_iw_free(w);
	d = raw_desc(&none, chunks_len);
	snprintf(d->os, sizeof(d->os), "%s", os);
	d->n_bases = 0;
	d->n_components = 2;
	snprintf(d->components[0], sizeof(d->components[0]), "kernel/generic");
	snprintf(d->components[1], sizeof(d->components[1]), "world/base");
	raw_need(raw_load(d, dir, dir_len, chunks, chunks_len, 1, &ix, &se), &se);
	*p = (struct dray_fbsd_proof){ .lines = 0 };
	dray_err_clear(e);
	rc = dray_fbsd_compare(d, ix, &l, left_out, strlen(left_out), p, e);
	dray_index_free(ix);
	free(dir);
	free(chunks);
	return rc;
}

static void
what_is_equal_passes_and_what_is_not_there_is_counted(void)
{
	struct dray_fbsd_proof p;
	struct dray_err e;

	CHECK_EQ(compare(good, ROWS, "freebsd", left, &p, &e), 0);
	CHECK_STR(e.text, "");
	CHECK_EQ(p.lines, 12);
	CHECK_EQ(p.paths, ROWS);
	CHECK_EQ(p.removed, 0);
	CHECK_EQ(p.n_left, 4);
	CHECK(p.n_left == 4 && p.left[0].how == DRAY_LEFT_COMPONENT && p.left[0].lines == 2 && memcmp(p.left[0].name, "world|lib32", 11) == 0);
	CHECK(p.n_left == 4 && p.left[1].how == DRAY_LEFT_BENEATH && p.left[1].lines == 1 && p.left[1].len == 3);
	CHECK(p.n_left == 4 && p.left[2].how == DRAY_LEFT_ALL && p.left[2].lines == 1);
	CHECK(p.n_left == 4 && p.left[3].how == DRAY_LEFT_TWICE && memcmp(p.left[3].name, "boot", 4) == 0);
	free(p.left);
}

static void
each_field_is_held_against_the_line(void)
{
	static const struct { size_t at; struct row is; const char *says; } v[] = {
		{ 0, { "a", DRAY_FILE, ALL, 1, 5, 0444, 0, B, 0, 2, false, false }, "a: owner: 1 in the bundle, 0 in the list" },
		{ 3, { "boot/kernel", DRAY_FILE, ALL, 0, 7, 0555, 0x20000, A, 0, 1, false, false }, "boot/kernel: group: 7 in the bundle, 0 in" },
		{ 4, { "c", DRAY_FILE, ALL, 0, 5, 0555, 0, B, 0, 2, false, false }, "c: mode: 0555 in the bundle, 4555 in the list" },
		{ 6, { "tmp", DRAY_DIR, ALL, 0, 0, 0777, 0, NULL, 0, 2, false, false }, "tmp: mode: 0777 in the bundle, 1777 in" },
		{ 3, { "boot/kernel", DRAY_FILE, ALL, 0, 0, 0555, 0, A, 0, 1, false, false }, "boot/kernel: flags: 0 in the bundle, 0x20000 in" },
		{ 3, { "boot/kernel", DRAY_FILE, UGM, 0, 0, 0555, 0, A, 0, 1, false, false }, "boot/kernel: flags: not told in the bundle, 0x20000" },
		{ 3, { "boot/kernel", DRAY_FILE, ALL, 0, 0, 0555, 0x20000, B, 0, 1, false, false }, "boot/kernel: content: " B " in the bundle, " A " in the list" },
		{ 4, { "c", DRAY_FILE, ALL | DRAY_HAS_XATTRS, 0, 5, 04555, 0, B, 0, 2, false, true }, "c: extended attributes: told in the bundle, not told" },
		{ 4, { "c", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 2, true, false }, "c: time: told in the bundle, not in the list" },
		{ 4, { "c", DRAY_DIR, ALL, 0, 5, 04555, 0, NULL, 0, 2, false, false }, "c: type: directory in the bundle, file in the list" },
		{ 4, { "c", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 1, false, false }, "c: components: others in the bundle" },
		{ 2, { "boot", DRAY_DIR, ALL, 0, 0, 0700, 0, NULL, 0, 1, false, false }, "boot: components: others in the bundle" },
		{ 5, { "l", DRAY_SYMLINK, DRAY_HAS_UID | DRAY_HAS_GID, 0, 0, 0, 0, "/target", 0, 2, false, false }, "l: target: \"/target\" in the bundle, \"../target\" in" },
		{ 5, { "l", DRAY_FIFO, ALL, 0, 0, 0755, 0, NULL, 0, 2, false, false }, "l: type: fifo in the bundle, symlink in the list" },
		{ 1, { "b", DRAY_FILE, ALL, 0, 5, 0444, 0, B, 0, 2, false, false },
		  "2 paths are not as upstream's list has them; the first: a: hard link: of none in the bundle, of a in the list" },
		{ 4, { "cc", DRAY_FILE, ALL, 0, 5, 04555, 0, B, 0, 2, false, false },
		  "2 paths are not as upstream's list has them; the first: c: it is in the list, and neither" },
		{ 6, { "zz", DRAY_DIR, ALL, 0, 0, 0755, 0, NULL, 0, 2, false, false },
		  "2 paths are not as upstream's list has them; the first: tmp: it is in the list" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_proof p;
		struct dray_err e;
		struct row rows[ROWS];

		memcpy(rows, good, sizeof(rows));
		rows[v[i].at] = v[i].is;
		if (v[i].at == 0)	/* then the other name stands alone */
			rows[1].link = 0;
		if (v[i].at == 1)
			rows[0].link = 0;
		CHECK_EQ(compare(rows, ROWS, "freebsd", left, &p, &e), -1);
		CHECK_EQ(e.code, DRAY_E_TRUST);
		CHECK_HAS(e.text, v[i].says);
		CHECK_HAS(e.hint, "whoever signed the bundle changed what upstream had signed");
		free(p.left);
	}
}

static void
a_path_too_many_is_named(void)
{
	struct dray_fbsd_proof p;
	struct dray_err e;
	struct row rows[ROWS + 1];

	memcpy(rows, good, sizeof(good));
	rows[ROWS] = (struct row){ "tmp2", DRAY_DIR, ALL, 0, 0, 0755, 0, NULL, 0, 2, false, false };
	CHECK_EQ(compare(rows, ROWS + 1, "freebsd", left, &p, &e), -1);
	CHECK_STR(e.text, "tmp2: it is in the bundle, and not in the list");
	free(p.left);
}

static void
flags_are_those_of_the_bundles_system(void)
{
	struct dray_fbsd_proof p;
	struct dray_err e;
	struct row rows[ROWS];

	memcpy(rows, good, sizeof(rows));
	rows[3].flags = 0x10;	/* chattr +i */
	CHECK_EQ(compare(rows, ROWS, "linux", left, &p, &e), 0);
	free(p.left);
	for (size_t i = 0; i < ROWS; i++) {
		rows[i].has &= (uint16_t)~DRAY_HAS_FLAGS;
		rows[i].flags = 0;
	}
	CHECK_EQ(compare(rows, ROWS, "any", left, &p, &e), 0);
	free(p.left);
}

static void
what_was_left_out_has_to_be_told_rightly(void)
{
	static const struct { const char *text, *says; } v[] = {
		{ "", "2 paths are not as upstream's list has them; the first: tmp/x: it is in the list" },
		{ "all|z|x\n", "tmp/x: it is in the list" },
		{ "beneath|tmp|x\nbeneath|z|x\n", "z: it is in the list" },
		{ "all|tmp|x\nall|z", "line 2 of notes/upstream-left-out says nothing" },
		{ "all|z|x\nall|tmp|x\n", "line 2 of notes/upstream-left-out says nothing" },
		{ "all|tmp|x\nall|tmp/x|x\n", "line 2 of notes/upstream-left-out says nothing" },
		{ "all|tmp|x\nall|z|\n", "line 2 of notes/upstream-left-out says nothing" },
		{ "some|tmp|x\n", "line 1 of notes/upstream-left-out says nothing" },
		{ "all||x\n", "line 1 of notes/upstream-left-out says nothing" },
		{ "all|../tmp|x\n", "line 1 of notes/upstream-left-out says nothing" },
		{ "\n", "line 1 of notes/upstream-left-out says nothing" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_proof p;
		struct dray_err e;

		CHECK_EQ(compare(good, ROWS, "freebsd", v[i].text, &p, &e), -1);
		CHECK_HAS(e.text, v[i].says);
		free(p.left);
	}
}

/* --- the chain ------------------------------------------------------------------------------------------------------ */

struct chain {			/* attachments as upstream and the builder make them; a test spoils one */
	EVP_PKEY *key;
	uint8_t *pem, print[32], sig[256], list[4096];
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
	c->pem = malloc(c->pem_len);
	memcpy(c->pem, p, c->pem_len);
	BIO_free(bio);
	CHECK_EQ(dray_sha256_bytes(c->pem, c->pem_len, c->print, &e), 0);
	list_is(c, list, sizeof(list) - 1);
}

static void
chain_free(struct chain *c)
{
	EVP_PKEY_free(c->key);
	free(c->pem);
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
		put(w, &rows[i]);
	raw_need(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &se), &se);
	dray_iw_free(w);
	strcpy(d->product, "FreeBSD");
	strcpy(d->version, "14.0-RELEASE-p3");
	strcpy(d->os, "freebsd");
	d->counter = 2;
	d->slot = 512;
	d->built = 1700000000;
	d->limit_frame = d->limit_window = 65536;
	d->limit_memory = 131072;
	d->n_components = 2;
	d->n_phases = d->n_encoders = 1;
	strcpy(d->components[0], "kernel/generic");
	strcpy(d->components[1], "world/base");
	strcpy(d->phases[0], "main");
	strcpy(d->encoders[0].name, "zstd");
	strcpy(d->encoders[0].id, dray_encoder_id());
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
	strcpy(c.tag, "hello\n");
	sign_tag(&c);
	refused(&c, "notes/upstream-latest.ssl: the tag \"hello\" has not the form");
	c = was;
	c.tindex[20] ^= 1;
	refused(&c, "notes/upstream-tINDEX is not what the signed tag names: its SHA-256 is another");
	strcpy(c.tindex, "INDEX-NEW|" A "\n");
	tag_index(&c);
	refused(&c, "notes/upstream-tINDEX: INDEX-ALL is not in it");
	strcpy(c.tindex, "INDEX-ALL|" A "\n");
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

/* --- lists ---------------------------------------------------------------------------------------------------------- */

static int
add(const char *text, const char *asked, struct dray_fbsd_lines *l, struct dray_err *e)
{
	const struct dray_fbsd_list t = { .file = "INDEX-ALL", .of = "14.0-RELEASE/amd64", .p = text, .len = strlen(text), .tree = true };
	struct dray_fbsd_parts parts = { .n = 0 };

	*l = (struct dray_fbsd_lines){ .v = NULL };
	dray_err_clear(e);
	if (asked != NULL && dray_fbsd_parts_add(&parts, asked, e) != 0)
		return -1;
	return dray_fbsd_lines_add(l, &t, &parts, e);
}

static void
a_list_that_is_no_tree_is_refused_with_its_line(void)
{
#define HEAD "world|base|/|d|0|0|0755|0||\n"
#define FILE_A "world|base|/a|f|0|0|0444|0|" A "|\n"
	static const struct { const char *text, *says; } v[] = {
		{ HEAD "world|base|/a|d|0|0\n", ", line 2 (world|base|/a|d|0|0): not ten fields" },
		{ HEAD "world|base|/var/lib/dray|d|0|0|0755|0||\nworld|base|/.dray|d|0|0|0755|0||\n", "a name that the installer keeps for itself" },
		{ HEAD FILE_A "world|base|/b|-||||||\n", "line 3 (b): the release is told to lack it" },
		{ FILE_A HEAD FILE_A, "(a): it stands there twice" },
		{ FILE_A "world|lib32|/a|f|0|0|0444|0|" B "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|f|0|1|0444|0|" A "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|f|1|0|0444|0|" A "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|f|0|0|0444|400000|" A "|\n", "line 2 (a): it stands there twice, not alike" },
		{ FILE_A "world|lib32|/a|d|0|0|0755|0||\n", "(a): it stands there twice, not alike" },
		{ "world|base|/l|L|0|0|0755|0|x|\nworld|lib32|/l|L|0|0|0755|0|xy|\n", "line 2 (l): it stands there twice, not alike" },
		{ FILE_A "world|base|/a/b|d|0|0|0755|0||\n", "line 2 (a/b): it lies beneath a file" },
		{ "world|base|/l|L|0|0|0755|0|x|\nworld|base|/l/b|d|0|0|0755|0||\n", "line 2 (l/b): it lies beneath a symlink" },
		{ FILE_A "world|base|/b|f|0|0|0444|0|" A "|/c\n", "line 2 (b): the file it is a hard link to is not there, or another" },
		{ FILE_A "world|base|/b|f|0|0|0444|0|" B "|/a\n", "line 2 (b): the file it is a hard link to is not there, or another" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct dray_fbsd_lines l;
		struct dray_err e;

		CHECK_EQ(add(v[i].text, NULL, &l, &e), -1);
		CHECK_EQ(e.code, DRAY_E_FORMAT);
		CHECK_HAS(e.text, "INDEX-ALL of 14.0-RELEASE/amd64, line ");
		CHECK_HAS(e.text, v[i].says);
		CHECK_HAS(e.hint, "signed but cannot be used");
		dray_fbsd_lines_free(&l);
	}
}

static void
components_that_are_asked_for_are_kept(void)
{
	static const struct { const char *asked; size_t n; } v[] = { { NULL, 12 }, { "world/lib32", 2 }, { "kernel", 2 }, { "world", 10 },
		{ "kernel/generic,world/base", 10 } };
	static const struct { const char *asked, *says; } bad[] = { { "", "the component \"\": one such as world" },
		{ "world,", "the component \"\"" }, { "World", "the component \"World\"" }, { "/world", "the component \"/world\"" },
		{ "world/", "the component \"world/\"" }, { "a/b/c", "the component \"a/b/c\"" },
		{ "world,doc", "14.0-RELEASE/amd64 has no component doc" },
		{ "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a", "more than 32 components" } };
	struct dray_fbsd_lines l;
	struct dray_err e;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		CHECK_EQ(add(list, v[i].asked, &l, &e), 0);
		CHECK_EQ(l.n, v[i].n);
		dray_fbsd_lines_free(&l);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(add(list, bad[i].asked, &l, &e), -1);
		CHECK_EQ(e.code, DRAY_E_USAGE);
		CHECK_HAS(e.text, bad[i].says);
		dray_fbsd_lines_free(&l);
	}
}

int
main(void)
{
	RUN(a_whole_chain_proves_every_path);
	RUN(each_link_that_does_not_hold_is_named);
	RUN(a_list_that_is_no_tree_is_refused_with_its_line);
	RUN(components_that_are_asked_for_are_kept);
	RUN(what_is_equal_passes_and_what_is_not_there_is_counted);
	RUN(each_field_is_held_against_the_line);
	RUN(a_path_too_many_is_named);
	RUN(flags_are_those_of_the_bundles_system);
	RUN(what_was_left_out_has_to_be_told_rightly);
	return test_done();
}
