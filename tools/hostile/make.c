/*
 * make.c - from parts to a bundle: chunks, their directory, dray.json, the signed text, the signature, the layout. Whatever
 * was bent before is hashed and signed as if it had always been so.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dray/slot.h"
#include "dray/tar.h"
#include "format/index_priv.h"

#include "bundle.h"

/* the flaws of chunk @i: `chunk N HOW`, `chunk N filter F`, `chunk N bytes HEX` */
static void
make_chunk(const struct bundle *b, size_t i, const uint8_t *p, size_t len, struct bytes *dir, struct bytes *chunks)
{
	struct bytes z = { 0 };
	uint8_t sha[32];
	uint64_t filter = 0, out = len;

	bundle_zstd(p, len, "plain", &z);
	for (size_t k = 0; k < b->chunk.n; k++) {
		const struct edit *e = &b->chunk.e[k];

		if (hostile_number(e->arg[0]) != i)
			continue;
		if (strcmp(e->arg[1], "filter") == 0) {
			filter = hostile_number(e->arg[2]);
		} else if (strcmp(e->arg[1], "output") == 0) {
			out = hostile_number(e->arg[2]);
		} else if (strcmp(e->arg[1], "bytes") == 0) {
			z.len = 0;
			hostile_hex(e->arg[2], &z);
		} else {
			bundle_zstd(p, len, e->arg[1], &z);
		}
	}
	hostile_sha(z.p, z.len, sha);
	bytes_number(dir, z.len, 4);
	bytes_number(dir, out, 4);
	bytes_number(dir, filter, 1);
	bytes_room(dir, 7);
	bytes_put(dir, sha, sizeof sha);
	bytes_put(chunks, z.p, z.len);
	bytes_free(&z);
}

static size_t
chunk_len(const struct bundle *b, size_t t)
{
	const size_t most = IX_CHUNK_MAX / dray_index_width[t] * dray_index_width[t];

	return b->chunk_len[t] != 0 ? b->chunk_len[t] : most;
}

static void
make_index(const struct bundle *b, struct bytes *dir, struct bytes *chunks)
{
	uint32_t n = 0;

	bytes_text(dir, IX_MAGIC);
	bytes_number(dir, DRAY_TABLES, 4);
	bytes_number(dir, 0, 4);
	for (size_t t = 0; t < DRAY_TABLES; t++) {
		const size_t len = b->table[t].len, c = (len + chunk_len(b, t) - 1) / chunk_len(b, t);

		bytes_number(dir, t, 2);
		bytes_number(dir, dray_index_width[t], 2);
		bytes_number(dir, len / dray_index_width[t], 4);
		bytes_number(dir, n, 4);
		bytes_number(dir, c, 4);
		n += (uint32_t)c;
	}
	for (size_t i = 0; i < 4; i++)
		dir->p[12 + i] = (uint8_t)(n >> 8 * i);
	n = 0;
	for (size_t t = 0; t < DRAY_TABLES; t++)
		for (size_t at = 0, step; at < b->table[t].len; at += step) {
			step = chunk_len(b, t) < b->table[t].len - at ? chunk_len(b, t) : b->table[t].len - at;
			make_chunk(b, n++, b->table[t].p + at, step, dir, chunks);
		}
	for (size_t k = 0; k < b->dir.n; k++) {
		const struct edit *e = &b->dir.e[k];

		if (strcmp(e->op, "dir-cut") == 0) {
			dir->len -= hostile_number(e->arg[0]);
		} else if (strcmp(e->op, "dir-more") == 0) {
			hostile_hex(e->arg[0], dir);
		} else {	/* dir AT SIZE VALUE */
			const size_t at = hostile_number(e->arg[0]), size = hostile_number(e->arg[1]);

			if (at + size > dir->len)
				hostile_die("dir: byte %zu is outside", at);
			for (size_t i = 0; i < size; i++)
				dir->p[at + i] = (uint8_t)(hostile_number(e->arg[2]) >> 8 * i);
		}
	}
}

/* stored bytes and hashes into FRAMES, where the rows still tell of what was made */
static void
frames_right(struct bundle *b)
{
	for (size_t i = 0; i < b->n_frames; i++) {
		uint8_t *row = b->table[DRAY_T_FRAMES].p + i * F_WIDTH, sha[32];

		if ((i + 1) * F_WIDTH > b->table[DRAY_T_FRAMES].len)
			break;
		for (size_t k = 0; k < 4; k++)
			row[F_STORED + k] = (uint8_t)(b->frame[i].len >> 8 * k);
		hostile_sha(b->frame[i].p, b->frame[i].len, sha);
		memcpy(row + F_SHA, sha, sizeof sha);
	}
	for (size_t k = 0; k < b->late.n; k++) {
		const struct edit *e = &b->late.e[k];

		bundle_set(b, DRAY_T_FRAMES, e->arg[1], e->arg[2], hostile_number(e->arg[3]));
	}
}

static void
member(struct bundle *b, const char *name, const void *p, size_t len)
{
	struct dray_err e = { .code = DRAY_OK };

	b->member_at[b->n_members++] = b->out.len;
	if (dray_tar_header(name, len, bytes_room(&b->out, 512), &e) != 0)
		hostile_die("%s", e.text);
	bytes_put(&b->out, p, len);
	bytes_pad(&b->out);
}

/* block n holds the frames whose row says so, as long as they ascend */
static void
make_blocks(const struct bundle *b, struct bytes block[FRAMES_MAX], size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < b->n_frames; i++) {
		const uint32_t of = i < 2 ? 0 : (uint32_t)i - 1;	/* frames 0 and 1 share a block */

		bytes_put(&block[of], b->frame[i].p, b->frame[i].len);
		*n = of + 1u;
	}
}

static void
record(struct bytes *slot, uint64_t alg, uint64_t zero, const uint8_t key[32], const uint8_t *sig, size_t len)
{
	bytes_number(slot, alg, 1);
	bytes_number(slot, zero, 1);
	bytes_number(slot, len, 2);
	bytes_put(slot, key, 32);
	bytes_put(slot, sig, len);
}

/* record ALG ZERO LEN KEYBYTE WHERE: one that is not ours, before or after it */
static unsigned
records(const struct bundle *b, struct bytes *slot, const char *where)
{
	unsigned n = 0;

	for (size_t k = 0; k < b->record.n; k++) {
		const struct edit *e = &b->record.e[k];
		uint8_t key[32], sig[UINT16_MAX + 1] = { 0 };

		if (strcmp(e->arg[4], where) != 0)
			continue;
		memset(key, (int)hostile_number(e->arg[3]), sizeof key);
		record(slot, hostile_number(e->arg[0]), hostile_number(e->arg[1]), key, sig,
		    hostile_number(e->arg[2]) & UINT16_MAX);
		n++;
	}
	return n;
}

static void
make_slot(struct bundle *b, const struct dray_key *key, const struct bytes *text)
{
	struct bytes *s = &b->out;
	struct dray_err e = { .code = DRAY_OK };
	uint8_t id[32], sig[DRAY_SIG_MAX], alg;
	const size_t from = s->len;
	size_t len;
	unsigned n;

	bytes_text(s, "DRAYSIG1");
	bytes_number(s, text->len, 2);
	bytes_number(s, 0, 6);
	bytes_put(s, text->p, text->len);
	n = records(b, s, "before");
	dray_key_id(key, id);
	if (dray_key_sign(key, text->p, text->len, &alg, sig, &len, &e) != 0)
		hostile_die("%s", e.text);
	if (!b->unsigned_) {
		record(s, alg, 0, id, sig, len);
		n++;
	}
	n += records(b, s, "after");
	s->p[from + 10] = (uint8_t)n;
	for (size_t k = 0; k < b->slot_bytes.n; k++) {
		const struct edit *ed = &b->slot_bytes.e[k];

		if (strcmp(ed->op, "roots") == 0) {	/* roots LENGTH HEX: part 2 */
			for (size_t i = 0; i < 4; i++)
				s->p[from + 12 + i] = (uint8_t)(hostile_number(ed->arg[0]) >> 8 * i);
			hostile_hex(ed->arg[1], s);
		}
	}
	if (s->len - from > b->slot)
		hostile_die("the slot is too small");
	bytes_room(s, b->slot - (s->len - from));
	for (size_t k = 0; k < b->slot_bytes.n; k++) {
		const struct edit *ed = &b->slot_bytes.e[k];
		struct bytes hex = { 0 };

		if (strcmp(ed->op, "slot") != 0)
			continue;
		hostile_hex(ed->arg[1], &hex);	/* slot AT HEX; a negative place counts from the end */
		len = ed->arg[0][0] == '-' ? b->slot + hostile_number(ed->arg[0]) : hostile_number(ed->arg[0]);
		if (hex.len > b->slot - len)
			hostile_die("slot: byte %zu is outside", len);
		memcpy(s->p + from + len, hex.p, hex.len);
		bytes_free(&hex);
	}
}

static void
make_text(struct bundle *b, struct bytes *text)
{
	uint8_t sha[32];

	hostile_sha(b->json_text.p, b->json_text.len, sha);
	bytes_format(text, "dray-bundle-v1\nproduct=demo\nversion=2\ncounter=2\nsize=%zu\nsha256=", b->length);
	for (size_t i = 0; i < 32; i++)
		bytes_format(text, "%02x", sha[i]);
	bytes_text(text, "\n");
	for (size_t k = 0; k < b->text.n; k++) {	/* text FROM TO */
		struct bytes from = { 0 }, to = { 0 };

		hostile_unescape(b->text.e[k].arg[0], &from);
		hostile_unescape(b->text.e[k].arg[1], &to);
		if (!bytes_sub(text, from.len, from.p, to.len, to.p))
			hostile_die("the signed text does not hold %s", b->text.e[k].arg[0]);
		bytes_free(&from);
		bytes_free(&to);
	}
}

/* dray.json tells where all members stand, and they stand behind it: until it no longer changes */
static void
settle(struct bundle *b, size_t blocks_len)
{
	size_t before;

	do {
		before = b->json_text.len;
		b->length = 512 + (before + 511) / 512 * 512 + 512 + b->slot + 512 + 512;	/* and README.txt */
		for (size_t i = 0; i < 2; i++)
			b->length += 512 + (b->index_len[i] + 511) / 512 * 512;
		for (size_t i = 0; i < b->n_notes; i++)
			b->length += 512 + (b->note[i].data.len + 511) / 512 * 512;
		b->length += blocks_len + 1024;
		bundle_json(b);
	} while (b->json_text.len != before);
}

void
bundle_make(struct bundle *b, const struct dray_key *key)
{
	struct bytes dir = { 0 }, chunks = { 0 }, block[FRAMES_MAX] = { { 0 } }, text = { 0 };
	size_t blocks_len = 0;

	frames_right(b);
	make_index(b, &dir, &chunks);
	b->index_len[0] = dir.len;
	b->index_len[1] = chunks.len;
	hostile_sha(HOSTILE_README, sizeof HOSTILE_README - 1, b->sha[0]);
	hostile_sha(dir.p, dir.len, b->sha[1]);
	make_blocks(b, block, &b->blocks);
	for (size_t i = 0; i < b->blocks; i++)
		blocks_len += 512 + (block[i].len + 511) / 512 * 512;
	settle(b, blocks_len);
	make_text(b, &text);
	member(b, "dray.json", b->json_text.p, b->json_text.len);
	member(b, "dray.sig", NULL, 0);
	b->out.len -= 512;
	if (dray_tar_header("dray.sig", b->slot, bytes_room(&b->out, 512), &(struct dray_err){ .code = DRAY_OK }) != 0)
		hostile_die("the slot is too large");
	make_slot(b, key, &text);
	member(b, "README.txt", HOSTILE_README, sizeof HOSTILE_README - 1);
	member(b, "index/00", dir.p, dir.len);
	member(b, "index/01", chunks.p, chunks.len);
	for (size_t i = 0; i < b->n_notes; i++)
		member(b, b->note[i].name, b->note[i].data.p, b->note[i].data.len);
	for (size_t i = 0; i < b->blocks; i++) {
		char name[32];

		snprintf(name, sizeof name, "blocks/%06zu", i);
		member(b, name, block[i].p, block[i].len);
		bytes_free(&block[i]);
	}
	bytes_room(&b->out, 1024);
	for (size_t k = 0; k < b->file.n; k++)
		bundle_apply_file(b, &b->file.e[k]);
	bytes_free(&dir);
	bytes_free(&chunks);
	bytes_free(&text);
}
