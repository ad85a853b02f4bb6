/*
 * index_load.c - index/00 and index/01 into memory: bounds, hash, decode, then the rules of index_check.c.
 *
 * The chunk directory comes verified (its hash stands in dray.json). Every size is summed and compared before it
 * sizes the one allocation that holds all tables; a chunk's bytes are hashed before zstd sees them; chunks decode in
 * parallel straight to where their rows belong. Source: spec/bundle-format.md 5.1.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dray/cursor.h"
#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/num.h"
#include "dray/pool.h"

#include "index_priv.h"

struct chunk {
	uint64_t at;			/* stored bytes, from the start of the bundle */
	uint64_t to;			/* rows, from the start of ix->mem */
	uint32_t stored, out;
	uint8_t filter;
	uint16_t width;
	const uint8_t *sha256;		/* in the directory */
};

struct worker {				/* made when a thread gets its first chunk */
	struct dray_sha256 *hash;
	struct dray_decoder *decoder;
	uint8_t *stored, *planes;
};

struct load {
	struct dray_index *ix;
	struct chunk *chunks;
	uint32_t n;
	uint32_t largest;		/* stored bytes */
	struct worker *workers;
	dray_read_fn *read;
	void *ctx;
};

/* the largest stored size an honest encoder can need: see ZSTD_compressBound */
static uint32_t
stored_max(uint32_t out)
{
	return out + out / 256 + 1024;
}

/* index/01, or NULL */
static const struct dray_member *
find_chunks(const struct dray_desc *desc)
{
	for (size_t i = 0; i < desc->n_members; i++)
		if (strcmp(desc->members[i].name, "index/01") == 0)
			return &desc->members[i];
	return NULL;
}

/* the table records; *total: bytes of all tables */
static int
read_tables(struct dray_cursor *c, uint32_t n_tables, uint32_t n_chunks, struct dray_index *ix,
    uint32_t per_table[DRAY_TABLES], uint64_t *total, struct dray_err *e)
{
	uint32_t next = 0;

	*total = 0;
	for (uint32_t t = 0; t < n_tables; t++) {
		uint16_t id, width;
		uint32_t rows, first, chunks;

		if (!dray_cursor_u16(c, &id) || !dray_cursor_u16(c, &width) || !dray_cursor_u32(c, &rows) ||
		    !dray_cursor_u32(c, &first) || !dray_cursor_u32(c, &chunks))
			return dray_fail(e, DRAY_E_FORMAT, "ends at byte %" PRIu64, c->at);
		if (id >= DRAY_TABLES)
			return dray_fail(e, DRAY_E_NEWER, "table %u is not known to this version", id);
		if (id != t)
			return dray_fail(e, DRAY_E_FORMAT, "table %u stands where %" PRIu32 " must", id, t);
		if (width != dray_index_width[id])
			return dray_fail(e, DRAY_E_FORMAT, "rows of table %s have %u bytes, not %u", dray_index_name[id],
			    width, dray_index_width[id]);
		if (rows == DRAY_NONE || (id == DRAY_T_COMPSETS && rows > UINT16_MAX + 1u))
			return dray_fail(e, DRAY_E_FORMAT, "table %s has too many rows", dray_index_name[id]);
		if (first != next || chunks > n_chunks - next)
			return dray_fail(e, DRAY_E_FORMAT, "chunks of table %s do not follow those before it",
			    dray_index_name[id]);
		next += chunks;
		per_table[id] = chunks;
		ix->rows[id] = rows;
		*total += (uint64_t)rows * width;
	}
	if (n_tables != DRAY_TABLES)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " tables instead of %d", n_tables, DRAY_TABLES);
	if (next != n_chunks)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " chunks belong to no table", n_chunks - next);
	if (*total > IX_TOTAL_MAX)
		return dray_fail(e, DRAY_E_FORMAT, "tables of %" PRIu64 " bytes are above the limit", *total);
	return 0;
}

static int
read_chunk(struct dray_cursor *c, unsigned table, struct chunk *k, struct dray_err *e)
{
	uint16_t width = dray_index_width[table];

	if (!dray_cursor_u32(c, &k->stored) || !dray_cursor_u32(c, &k->out) || !dray_cursor_u8(c, &k->filter))
		return dray_fail(e, DRAY_E_FORMAT, "ends at byte %" PRIu64, c->at);
	if (!dray_cursor_zeros(c, 7))
		return dray_fail(e, DRAY_E_FORMAT, "a reserved byte is not zero");
	if (!dray_cursor_bytes(c, DRAY_SHA256_LEN, &k->sha256))
		return dray_fail(e, DRAY_E_FORMAT, "ends at byte %" PRIu64, c->at);
	if (k->filter >= IX_FILTERS)
		return dray_fail(e, DRAY_E_NEWER, "filter %u is not known to this version", k->filter);
	if (k->filter != IX_ROWS && table == DRAY_T_STRINGS)
		return dray_fail(e, DRAY_E_FORMAT, "strings have filter %u", k->filter);
	if (k->out == 0 || k->out > IX_CHUNK_MAX || k->out % width != 0)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " bytes of output are not 1 byte to 1 MiB of whole rows", k->out);
	if (k->stored == 0 || k->stored > stored_max(k->out))
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " stored bytes for %" PRIu32 " bytes of output", k->stored,
		    k->out);
	k->width = width;
	return 0;
}

/* the chunk records, and that they make exactly the tables and exactly index/01 */
static int
read_chunks(struct dray_cursor *c, const struct dray_member *m, const uint32_t per_table[DRAY_TABLES],
    struct load *l, struct dray_err *e)
{
	uint64_t at = m->offset, to = 0;
	uint32_t n = 0;

	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		uint64_t bytes = (uint64_t)l->ix->rows[t] * dray_index_width[t], got = 0;
		uint32_t first = n;

		for (; n - first < per_table[t]; n++) {
			struct chunk *k = &l->chunks[n];

			if (read_chunk(c, t, k, e) != 0)
				return dray_wrap(e, "chunk %" PRIu32 " (%s)", n, dray_index_name[t]);
			if (n != first && k[-1].out != l->chunks[first].out)
				return dray_fail(e, DRAY_E_FORMAT, "chunk %" PRIu32 " (%s) is not as long as the first of its table",
				    n - 1, dray_index_name[t]);
			k->at = at;
			k->to = to + got;
			at += k->stored;
			got += k->out;
			if (k->stored > l->largest)
				l->largest = k->stored;
		}
		if (n != first && l->chunks[n - 1].out > l->chunks[first].out)
			return dray_fail(e, DRAY_E_FORMAT, "chunk %" PRIu32 " (%s) is longer than the first of its table", n - 1,
			    dray_index_name[t]);
		if (got != bytes)
			return dray_fail(e, DRAY_E_FORMAT, "chunks of table %s hold %" PRIu64 " bytes, its rows are %" PRIu64,
			    dray_index_name[t], got, bytes);
		to += bytes;
	}
	if (at - m->offset != m->size)
		return dray_fail(e, DRAY_E_FORMAT, "chunks fill %" PRIu64 " bytes of index/01, which has %" PRIu64,
		    at - m->offset, m->size);
	return 0;
}

static int
read_directory(const struct dray_desc *desc, const uint8_t *dir, size_t dir_len, struct load *l, struct dray_err *e)
{
	struct dray_cursor c = { .p = dir, .left = dir_len };
	const struct dray_member *m = find_chunks(desc);
	uint32_t n_tables, n_chunks, per_table[DRAY_TABLES] = { 0 };
	uint64_t total, records;
	const uint8_t *magic;
	size_t bytes;

	if (m == NULL)
		return dray_fail(e, DRAY_E_FORMAT, "the bundle has no member index/01");
	if (!dray_cursor_bytes(&c, 8, &magic) || memcmp(magic, IX_MAGIC, 8) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "does not begin with " IX_MAGIC);
	if (!dray_cursor_u32(&c, &n_tables) || !dray_cursor_u32(&c, &n_chunks))
		return dray_fail(e, DRAY_E_FORMAT, "ends at byte %" PRIu64, c.at);
	records = (uint64_t)n_tables * IX_TABLE_REC + (uint64_t)n_chunks * IX_CHUNK_REC;
	if (records != c.left)
		return dray_fail(e, DRAY_E_FORMAT, "%" PRIu32 " tables and %" PRIu32 " chunks do not make %zu bytes", n_tables,
		    n_chunks, dir_len);
	if (read_tables(&c, n_tables, n_chunks, l->ix, per_table, &total, e) != 0)
		return -1;

	/* from here on n_chunks is known to be backed by bytes of the directory */
	l->n = n_chunks;
	if ((l->chunks = calloc((size_t)n_chunks + 1, sizeof *l->chunks)) == NULL)
		return dray_fail_errno(e, "chunk table");
	if (read_chunks(&c, m, per_table, l, e) != 0)
		return -1;
	if (!dray_fit(total, &bytes))
		return dray_fail(e, DRAY_E_IO, "tables of %" PRIu64 " bytes do not fit this machine's memory", total);
	if ((l->ix->mem = malloc(bytes != 0 ? bytes : 1)) == NULL)
		return dray_fail_errno(e, "tables of %" PRIu64 " bytes", total);
	total = 0;
	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		l->ix->t[t] = l->ix->mem + total;
		total += (uint64_t)l->ix->rows[t] * dray_index_width[t];
	}
	return 0;
}

static int
prepare(const struct load *l, struct worker *w, struct dray_err *e)
{
	if (w->stored != NULL)
		return 0;
	if (w->hash == NULL && dray_sha256_new(&w->hash, e) != 0)
		return -1;
	if (w->decoder == NULL && dray_decoder_new(&w->decoder, e) != 0)
		return -1;
	if (w->planes == NULL && (w->planes = malloc(IX_CHUNK_MAX)) == NULL)
		return dray_fail_errno(e, "chunk buffer");
	if ((w->stored = malloc(l->largest)) == NULL)
		return dray_fail_errno(e, "chunk buffer");
	return 0;
}

static int
load_chunk(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct load *l = ctx;
	struct worker *w = &l->workers[worker];
	const struct chunk *k = &l->chunks[i];
	uint8_t got[DRAY_SHA256_LEN], *rows = l->ix->mem + k->to, *to;

	if (prepare(l, w, e) != 0)
		return -1;
	to = k->filter == IX_ROWS ? rows : w->planes;
	if (l->read(l->ctx, k->at, w->stored, k->stored, e) != 0 ||
	    dray_sha256_once(w->hash, w->stored, k->stored, got, e) != 0)
		return dray_wrap(e, "chunk %zu", i);
	if (memcmp(got, k->sha256, sizeof got) != 0)
		return dray_fail(e, DRAY_E_FORMAT, "chunk %zu: digest differs from index/00", i);
	if (dray_decode(w->decoder, w->stored, k->stored, to, k->out, IX_CHUNK_MAX, e) != 0)
		return dray_wrap(e, "chunk %zu", i);
	if (k->filter != IX_ROWS)
		dray_index_unfilter(k->filter, to, rows, k->out / k->width, k->width);
	return 0;
}

static int
load_chunks(struct load *l, unsigned threads, struct dray_err *e)
{
	int rc;

	if (threads > l->n)
		threads = l->n;
	threads = threads == 0 ? 1 : threads > 256 ? 256 : threads;
	if ((l->workers = calloc(threads, sizeof *l->workers)) == NULL)
		return dray_fail_errno(e, "workers");
	rc = dray_parallel(threads, l->n, 1, load_chunk, l, e);
	for (unsigned i = 0; i < threads; i++) {
		dray_sha256_free(l->workers[i].hash);
		dray_decoder_free(l->workers[i].decoder);
		free(l->workers[i].stored);
		free(l->workers[i].planes);
	}
	free(l->workers);
	return rc;
}

int
dray_index_load(const struct dray_desc *desc, const uint8_t *dir, size_t dir_len, dray_read_fn *read, void *ctx,
    unsigned threads, struct dray_index **out, struct dray_err *e)
{
	struct load l = { .read = read, .ctx = ctx };
	int rc = -1;

	*out = NULL;
	if ((l.ix = calloc(1, sizeof *l.ix)) == NULL)
		return dray_fail_errno(e, "index");
	l.ix->os = strcmp(desc->os, "linux") == 0 ? "linux" : strcmp(desc->os, "freebsd") == 0 ? "freebsd" : "any";
	if (read_directory(desc, dir, dir_len, &l, e) != 0) {
		dray_wrap(e, "index/00");
		goto out;
	}
	if (load_chunks(&l, threads, e) != 0) {
		dray_wrap(e, "index/01");
		goto out;
	}
	if (dray_index_check(l.ix, desc, threads, e) != 0) {
		dray_wrap(e, "index");
		goto out;
	}
	*out = l.ix;
	l.ix = NULL;
	rc = 0;
out:
	free(l.chunks);
	dray_index_free(l.ix);
	return rc;
}
