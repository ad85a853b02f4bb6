/*
 * mini.h - a tiny signed bundle in memory, for tests: three small files in one frame, a fourth whose two pieces lie in
 * two frames of two blocks, one note. Made of the same parts as a real one; every byte follows from the options.
 */
#ifndef MINI_H
#define MINI_H

#include <openssl/evp.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dray/descriptor.h"
#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/index_write.h"
#include "dray/key.h"
#include "dray/num.h"
#include "dray/slot.h"
#include "dray/tar.h"

enum { MINI_FILES = 4, MINI_FRAMES = 3, MINI_BLOCKS = 2 };

struct mini_opts {
	const char *product, *version;	/* NULL: "demo", "1.1" */
	uint64_t counter;		/* 0: 2 */
	uint64_t slot;			/* 0: 512 */
	unsigned seed;			/* contents; other seeds give frames of the same sizes */
	const struct dray_key *const *keys;
	size_t n_keys;
	/* flaws, each one refused by dray_bundle_check only: what a builder of bad will could sign */
	bool wrong_content;		/* the hash of a content of one piece is not that of its bytes */
	bool wrong_pieces;		/* the same for the content of two pieces */
};

struct mini {
	uint8_t *p;
	size_t len;
	size_t json, json_len, sig;	/* where the data of dray.json and dray.sig begin */
	size_t frame[MINI_FRAMES], stored[MINI_FRAMES];
	struct dray_desc *d;
};

/* bytes that do not compress, so that frames of two seeds have one size */
static inline void
mini_noise(uint8_t *p, size_t len, uint32_t seed)
{
	uint32_t x = seed * 2654435761u + 12345u;

	for (size_t i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
}

static inline int
mini_hash(const void *p, size_t len, uint8_t out[32], struct dray_err *e)
{
	struct dray_sha256 *h;
	int rc;

	if (dray_sha256_new(&h, e) != 0)
		return -1;
	rc = dray_sha256_once(h, p, len, out, e);
	dray_sha256_free(h);
	return rc;
}

struct mini_frames {
	uint8_t raw[MINI_FRAMES][512], z[MINI_FRAMES][1024], sha[MINI_FRAMES][32];
	size_t raw_len[MINI_FRAMES], z_len[MINI_FRAMES];
};

static inline int
mini_encode(struct mini_frames *f, const struct mini_opts *o, struct dray_err *e)
{
	static const size_t lens[MINI_FRAMES] = { 3 * 60, 200, 150 };
	struct dray_encoder *enc;
	int rc = 0;

	if (dray_encoder_new(3, &enc, e) != 0)
		return -1;
	for (int i = 0; i < MINI_FRAMES && rc == 0; i++) {
		f->raw_len[i] = lens[i];
		mini_noise(f->raw[i], lens[i], o->seed * 10 + (unsigned)i);
		rc = dray_encode(enc, f->raw[i], lens[i], f->z[i], sizeof f->z[i], &f->z_len[i], e);
		if (rc == 0)
			rc = mini_hash(f->z[i], f->z_len[i], f->sha[i], e);
	}
	dray_encoder_free(enc);
	return rc;
}

static inline int
mini_file(struct dray_index_writer *w, const char *name, uint64_t size, const uint8_t sha[32], struct dray_err *e)
{
	const struct dray_attrs attrs = { .has = DRAY_HAS_MODE, .mode = 0644 };
	const struct dray_alt absent = { DRAY_NONE, 1 };
	struct dray_state st = { .type = DRAY_FILE, .content = DRAY_NONE };
	struct dray_entry en = { .path = name, .len = strlen(name) };
	uint32_t set;

	if (dray_iw_attrs(w, &attrs, NULL, 0, &st.attrs, e) != 0 || dray_iw_compset(w, 1, &set, e) != 0 ||
	    dray_iw_content(w, size, sha, &st.content, e) != 0 || dray_iw_state(w, &st, &en.target, e) != 0)
		return -1;
	en.compset = (uint16_t)set;
	return dray_iw_entry(w, &en, &absent, 1, e);
}

static inline int
mini_index(const struct mini_frames *f, const struct mini_opts *o, uint8_t **dir, size_t *dir_len, uint8_t **chunks,
    size_t *chunks_len, struct dray_err *e)
{
	static const char *const names[MINI_FILES] = { "a", "b", "c\n\"", "large" };
	const struct dray_recipe one = { DRAY_RECIPE_FULL, 0, 0, 1 }, two = { DRAY_RECIPE_FULL, 0, 0, 2 };
	const struct dray_piece halves[2] = { { 1, 0, 200 }, { 2, 0, 150 } };
	const struct dray_piece *pieces = halves;
	struct dray_index_writer *w;
	uint8_t sha[32], large[350];
	uint32_t row;
	int rc = -1;

	if (dray_iw_new(&w, e) != 0)
		return -1;
	for (uint32_t i = 0; i < 3; i++) {
		if (mini_hash(f->raw[0] + 60 * i, 60, sha, e) != 0)
			goto out;
		sha[0] ^= o->wrong_content && i == 1 ? 1 : 0;
		if (mini_file(w, names[i], 60, sha, e) != 0)
			goto out;
	}
	memcpy(large, f->raw[1], 200);
	memcpy(large + 200, f->raw[2], 150);
	if (mini_hash(large, sizeof large, sha, e) != 0)
		goto out;
	sha[0] ^= o->wrong_pieces ? 1 : 0;
	if (mini_file(w, names[3], sizeof large, sha, e) != 0)
		goto out;
	for (uint32_t i = 0; i < MINI_FRAMES; i++) {
		const struct dray_frame fr = { .kind = DRAY_FRAME_PLAIN, .block = i / 2, .stored = (uint32_t)f->z_len[i],
			.out = (uint32_t)f->raw_len[i], .sha256 = f->sha[i] };

		if (dray_iw_frame(w, &fr, NULL, 0, &row, e) != 0)
			goto out;
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct dray_piece p = { 0, 60 * i, 60 }, *pp = &p;

		if (dray_iw_recipes(w, i, &one, 1, &pp, e) != 0)
			goto out;
	}
	if (dray_iw_recipes(w, 3, &two, 1, &pieces, e) != 0)
		goto out;
	rc = dray_iw_finish(w, 3, 1, dir, dir_len, chunks, chunks_len, e);
out:
	dray_iw_free(w);
	return rc;
}

static inline int
mini_put(struct mini *m, const char *name, const void *p, size_t len, struct dray_err *e)
{
	if (dray_tar_header(name, len, m->p + m->len, e) != 0)
		return -1;
	memcpy(m->p + m->len + DRAY_TAR_BLOCK, p, len);
	m->len += DRAY_TAR_BLOCK + (len + 511) / 512 * 512;
	return 0;
}

static inline int
mini_sign(const struct mini_opts *o, const char *text, size_t text_len, uint8_t *slot, size_t slot_len,
    struct dray_err *e)
{
	static _Thread_local uint8_t room[DRAY_SLOT_SIGS_MAX][128];
	struct dray_slot s = { .text = text, .text_len = text_len };

	for (size_t i = 0; i < o->n_keys; i++) {
		struct dray_sig sig = { .sig = room[i] };
		uint8_t big[DRAY_SIG_MAX];
		unsigned at = 0;

		dray_key_id(o->keys[i], sig.key);
		if (dray_key_sign(o->keys[i], text, text_len, &sig.alg, big, &sig.len, e) != 0)
			return -1;
		memcpy(room[i], big, sig.len);
		while (at < s.n && memcmp(s.sigs[at].key, sig.key, 32) < 0)
			at++;
		memmove(&s.sigs[at + 1], &s.sigs[at], (s.n - at) * sizeof s.sigs[0]);
		s.sigs[at] = sig;
		s.n++;
	}
	return dray_slot_write(&s, slot, slot_len, e);
}

static inline void
mini_member(struct dray_desc *d, const char *name, const void *p, size_t len)
{
	struct dray_member *m = &d->members[d->n_members++];
	struct dray_err e = { 0 };

	snprintf(m->name, sizeof m->name, "%s", name);
	m->size = len;
	m->by_chunks = strcmp(name, "index/01") == 0;
	if (mini_hash(p, len, m->sha256, &e) != 0)
		abort();
}

static inline void
mini_free(struct mini *m)
{
	free(m->p);
	dray_desc_free(m->d);
	memset(m, 0, sizeof *m);
}

/* the parts in file order; everything before the blocks is in @d and in the arguments */
static inline int
mini_lay_out(struct mini *m, const struct mini_opts *o, const struct mini_frames *f, const void *dir,
    const void *chunks, const char *readme, const char *note, struct dray_err *e)
{
	struct dray_desc *d = m->d;
	char *json = NULL, text[DRAY_SLOT_TEXT_MAX + 1];
	uint8_t id[32], block[2048], *slot = NULL;
	uint64_t blocks = 0, head;
	size_t text_len, n;
	int rc = -1;

	for (size_t i = 0; i < MINI_FRAMES; i += 2) {
		n = f->z_len[i] + (i + 1 < MINI_FRAMES ? f->z_len[i + 1] : 0);
		blocks += 512 + (n + 511) / 512 * 512;
	}
	if (dray_desc_layout(d, blocks, &head, e) != 0 || dray_desc_write(d, &json, &m->json_len, e) != 0 ||
	    mini_hash(json, m->json_len, id, e) != 0 ||
	    dray_signed_text(d->product, d->version, d->counter, d->length, id, text, &text_len, e) != 0)
		goto out;
	if ((slot = calloc(1, (size_t)d->slot)) == NULL || (m->p = calloc(1, (size_t)d->length)) == NULL)
		goto out;
	m->json = 512;
	if (mini_sign(o, text, text_len, slot, (size_t)d->slot, e) != 0 ||
	    mini_put(m, "dray.json", json, m->json_len, e) != 0)
		goto out;
	m->sig = m->len + 512;
	if (mini_put(m, "dray.sig", slot, (size_t)d->slot, e) != 0 ||
	    mini_put(m, "README.txt", readme, strlen(readme), e) != 0 ||
	    mini_put(m, "index/00", dir, (size_t)d->members[1].size, e) != 0 ||
	    mini_put(m, "index/01", chunks, (size_t)d->members[2].size, e) != 0 ||
	    mini_put(m, "notes/changes.txt", note, strlen(note), e) != 0 || m->len != head)
		goto out;
	for (unsigned i = 0; i < MINI_FRAMES; i += 2) {
		char name[32];

		n = 0;
		for (unsigned k = i; k < i + 2 && k < MINI_FRAMES; k++) {
			m->frame[k] = m->len + 512 + n;
			m->stored[k] = f->z_len[k];
			memcpy(block + n, f->z[k], f->z_len[k]);
			n += f->z_len[k];
		}
		snprintf(name, sizeof name, "blocks/%06u", i / 2);
		if (mini_put(m, name, block, n, e) != 0)
			goto out;
	}
	m->len += DRAY_TAR_END;
	rc = m->len == d->length ? 0 : -1;
out:
	free(json);
	free(slot);
	return rc;
}

static inline int
mini_make(const struct mini_opts *o, struct mini *m, struct dray_err *e)
{
	static const char readme[] = "read me\n", note[] = "what changed\n";
	static const struct dray_desc fresh;
	uint8_t *dir = NULL, *chunks = NULL;
	size_t dir_len, chunks_len;
	struct mini_frames f;
	struct dray_desc *d;
	int rc = -1;

	memset(m, 0, sizeof *m);
	if ((d = m->d = dray_desc_new()) == NULL)
		return -1;
	*d = fresh;
	snprintf(d->product, sizeof d->product, "%s", o->product != NULL ? o->product : "demo");
	snprintf(d->version, sizeof d->version, "%s", o->version != NULL ? o->version : "1.1");
	strcpy(d->os, "any");
	d->counter = o->counter != 0 ? o->counter : 2;
	d->slot = o->slot != 0 ? o->slot : 512;
	d->built = 1700000000;
	d->blocks = MINI_BLOCKS;
	d->limit_frame = 4096;
	d->limit_window = 4096;
	d->limit_memory = 8192;
	d->n_bases = d->n_components = d->n_phases = d->n_encoders = 1;
	strcpy(d->bases[0].version, "1.0");
	d->bases[0].counter = 1;
	strcpy(d->components[0], "base");
	strcpy(d->phases[0], "main");
	strcpy(d->encoders[0].name, "zstd");
	strcpy(d->encoders[0].id, dray_encoder_id());
	if (mini_encode(&f, o, e) != 0 || mini_index(&f, o, &dir, &dir_len, &chunks, &chunks_len, e) != 0)
		goto out;
	mini_member(d, "README.txt", readme, strlen(readme));
	mini_member(d, "index/00", dir, dir_len);
	mini_member(d, "index/01", chunks, chunks_len);
	mini_member(d, "notes/changes.txt", note, strlen(note));
	rc = mini_lay_out(m, o, &f, dir, chunks, readme, note, e);
out:
	free(dir);
	free(chunks);
	if (rc != 0)
		mini_free(m);
	return rc;
}

/* an unnamed file with these bytes */
static inline int
mini_fd(const void *p, size_t len)
{
	int fd = memfd_create("mini", MFD_CLOEXEC);

	if (fd == -1 || (len > 0 && pwrite(fd, p, len, 0) != (ssize_t)len))
		abort();
	return fd;
}

/* the public half as PEM text */
static inline void
mini_pem(const struct dray_key *k, char out[160])
{
	uint8_t der[44];
	char b64[80];

	dray_key_spki(k, der);
	EVP_EncodeBlock((uint8_t *)b64, der, sizeof der);
	snprintf(out, 160, "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n", b64);
}

#endif
