/*
 * index_pack.c - tables to chunks: index/00 and index/01.
 *
 * Where a chunk is cut depends on row widths only, and each chunk is compressed by itself, so the bytes are the same
 * for any number of threads. Source: spec/bundle-format.md 5.1.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/num.h"
#include "dray/pool.h"

#include "index_priv.h"

#define TRIAL_LEVEL 3			/* enough to tell which filter suits a chunk */

struct packed {
	const uint8_t *rows;
	size_t n;
	uint16_t width;
	uint8_t filter, *p;		/* p: stored bytes */
	size_t stored;
	uint8_t sha256[DRAY_SHA256_LEN];
};

struct worker {
	struct dray_sha256 *hash;
	struct dray_encoder *trial, *final;
	uint8_t *planes, *out;
};

struct pack {
	int level;
	struct packed *chunks;
	size_t n;
	struct worker *workers;
};

static int
prepare(const struct pack *k, struct worker *w, struct dray_err *e)
{
	if (w->out != NULL)
		return 0;
	if (w->hash == NULL && dray_sha256_new(&w->hash, e) != 0)
		return -1;
	if (w->trial == NULL && dray_encoder_new(k->level < TRIAL_LEVEL ? k->level : TRIAL_LEVEL, &w->trial, e) != 0)
		return -1;
	if (w->final == NULL && dray_encoder_new(k->level, &w->final, e) != 0)
		return -1;
	if (w->planes == NULL && (w->planes = malloc(IX_CHUNK_MAX)) == NULL)
		return dray_fail_errno(e, "chunk buffer");
	if ((w->out = malloc(dray_encode_bound(IX_CHUNK_MAX))) == NULL)
		return dray_fail_errno(e, "chunk buffer");
	return 0;
}

static int
encode(struct worker *w, struct dray_encoder *enc, const struct packed *c, unsigned filter, size_t *len,
    struct dray_err *e)
{
	const uint8_t *from = c->rows;
	size_t bytes = c->n * c->width;

	if (filter != IX_ROWS) {
		dray_index_filter(filter, c->rows, w->planes, c->n, c->width);
		from = w->planes;
	}
	return dray_encode(enc, from, bytes, w->out, dray_encode_bound(IX_CHUNK_MAX), len, e);
}

static int
pack_chunk(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct pack *k = ctx;
	struct worker *w = &k->workers[worker];
	struct packed *c = &k->chunks[i];
	size_t best = SIZE_MAX, len;

	if (prepare(k, w, e) != 0)
		return -1;
	for (unsigned f = 0; f < IX_FILTERS && c->width != 1; f++) {
		if (encode(w, w->trial, c, f, &len, e) != 0)
			return -1;
		if (len < best) {
			best = len;
			c->filter = (uint8_t)f;
		}
	}
	if (encode(w, w->final, c, c->filter, &c->stored, e) != 0)
		return -1;
	if ((c->p = malloc(c->stored)) == NULL)
		return dray_fail_errno(e, "chunk");
	memcpy(c->p, w->out, c->stored);
	return dray_sha256_once(w->hash, c->p, c->stored, c->sha256, e);
}

static size_t
rows_per_chunk(unsigned t)
{
	return IX_CHUNK_MAX / dray_index_width[t];
}

/* one record per chunk, with the rows it covers; per_table gets the counts */
static int
cut(const struct dray_index *ix, struct pack *k, uint32_t per_table[DRAY_TABLES], struct dray_err *e)
{
	struct packed *c;

	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		per_table[t] = (uint32_t)((ix->rows[t] + rows_per_chunk(t) - 1) / rows_per_chunk(t));
		k->n += per_table[t];
	}
	if ((c = k->chunks = calloc(k->n + 1, sizeof *k->chunks)) == NULL)
		return dray_fail_errno(e, "chunks");
	for (unsigned t = 0; t < DRAY_TABLES; t++)
		for (size_t row = 0; row < ix->rows[t]; row += rows_per_chunk(t)) {
			size_t left = ix->rows[t] - row;

			*c++ = (struct packed){
				.rows = ix_row(ix, (enum dray_table)t, row), .width = dray_index_width[t],
				.n = left < rows_per_chunk(t) ? left : rows_per_chunk(t),
			};
		}
	return 0;
}

static int
compress(struct pack *k, unsigned threads, struct dray_err *e)
{
	int rc;

	if (threads > k->n)
		threads = (unsigned)k->n;
	threads = threads == 0 ? 1 : threads > 256 ? 256 : threads;
	if ((k->workers = calloc(threads, sizeof *k->workers)) == NULL)
		return dray_fail_errno(e, "workers");
	rc = dray_parallel(threads, k->n, 1, pack_chunk, k, e);
	for (unsigned i = 0; i < threads; i++) {
		dray_sha256_free(k->workers[i].hash);
		dray_encoder_free(k->workers[i].trial);
		dray_encoder_free(k->workers[i].final);
		free(k->workers[i].planes);
		free(k->workers[i].out);
	}
	free(k->workers);
	return rc;
}

/* index/00 */
static int
write_directory(const struct dray_index *ix, const struct pack *k, const uint32_t per_table[DRAY_TABLES],
    uint8_t **dir, size_t *dir_len, struct dray_err *e)
{
	size_t len = IX_HEAD + DRAY_TABLES * IX_TABLE_REC + k->n * IX_CHUNK_REC;
	uint32_t first = 0;
	uint8_t *p;

	if ((p = calloc(1, len)) == NULL)
		return dray_fail_errno(e, "index/00");
	*dir = p;
	*dir_len = len;
	memcpy(p, IX_MAGIC, 8);
	dray_put_u32(p + 8, DRAY_TABLES);
	dray_put_u32(p + 12, (uint32_t)k->n);
	p += IX_HEAD;
	for (unsigned t = 0; t < DRAY_TABLES; t++, p += IX_TABLE_REC) {
		dray_put_u16(p, (uint16_t)t);
		dray_put_u16(p + 2, dray_index_width[t]);
		dray_put_u32(p + 4, ix->rows[t]);
		dray_put_u32(p + 8, first);
		dray_put_u32(p + 12, per_table[t]);
		first += per_table[t];
	}
	for (size_t i = 0; i < k->n; i++, p += IX_CHUNK_REC) {
		const struct packed *c = &k->chunks[i];

		dray_put_u32(p, (uint32_t)c->stored);
		dray_put_u32(p + 4, (uint32_t)(c->n * c->width));
		p[8] = c->filter;
		memcpy(p + 16, c->sha256, DRAY_SHA256_LEN);
	}
	return 0;
}

int
dray_index_pack(const struct dray_index *ix, int level, unsigned threads, uint8_t **dir, size_t *dir_len,
    uint8_t **chunks, size_t *chunks_len, struct dray_err *e)
{
	struct pack k = { .level = level };
	uint32_t per_table[DRAY_TABLES];
	size_t total = 0, at = 0;
	int rc = -1;

	*dir = *chunks = NULL;
	*dir_len = *chunks_len = 0;
	if (cut(ix, &k, per_table, e) != 0 || compress(&k, threads, e) != 0 ||
	    write_directory(ix, &k, per_table, dir, dir_len, e) != 0)
		goto out;
	for (size_t i = 0; i < k.n; i++)
		total += k.chunks[i].stored;
	if ((*chunks = malloc(total != 0 ? total : 1)) == NULL) {
		dray_fail_errno(e, "index/01");
		goto out;
	}
	for (size_t i = 0; i < k.n; i++) {
		memcpy(*chunks + at, k.chunks[i].p, k.chunks[i].stored);
		at += k.chunks[i].stored;
	}
	*chunks_len = total;
	rc = 0;
out:
	for (size_t i = 0; i < k.n && k.chunks != NULL; i++)
		free(k.chunks[i].p);
	free(k.chunks);
	if (rc != 0) {
		free(*dir);
		*dir = NULL;
	}
	return rc;
}
