/*
 * write.c - lay out the members and write them. What stands in dray.json is settled before the first byte is written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/readme.h"
#include "builder/temp.h"
#include "builder/write.h"
#include "dray/digest.h"
#include "dray/deflate.h"
#include "dray/frame.h"
#include "dray/num.h"
#include "dray/slot.h"
#include "dray/tar.h"

#define COPY_BYTES (1024u * 1024u)

struct writer {
	int fd;
	uint64_t at;		/* end of what has been written */
	struct dray_sha256 *sha;
	struct build_work *work;
	uint8_t *buf;		/* COPY_BYTES */
};

static int
put(struct writer *w, const void *p, size_t len, struct dray_err *e)
{
	if (build_temp_write(w->fd, w->at, p, len, e) != 0)
		return -1;
	w->at += len;
	return 0;
}

static int
put_zeros(struct writer *w, size_t len, struct dray_err *e)
{
	static const uint8_t zeros[DRAY_TAR_END];

	return put(w, zeros, len, e);
}

static int
put_header(struct writer *w, const char *name, uint64_t size, struct dray_err *e)
{
	uint8_t head[DRAY_TAR_BLOCK];

	if (dray_tar_header(name, size, head, e) != 0)
		return -1;
	return put(w, head, sizeof(head), e);
}

static int
put_padding(struct writer *w, uint64_t size, struct dray_err *e)
{
	return put_zeros(w, (size_t)((DRAY_TAR_BLOCK - size % DRAY_TAR_BLOCK) % DRAY_TAR_BLOCK), e);
}

static int
put_member(struct writer *w, const char *name, const void *p, size_t len, struct dray_err *e)
{
	if (put_header(w, name, len, e) != 0 || put(w, p, len, e) != 0)
		return -1;
	return put_padding(w, len, e);
}

/* one frame, from where it was put when it was made */
static int
copy_frame(struct writer *w, int from, const struct build_stored *f, struct dray_err *e)
{
	uint64_t at = f->at, len = f->len;

	while (len > 0) {
		size_t want = len > COPY_BYTES ? COPY_BYTES : (size_t)len;
		ssize_t n = pread(from, w->buf, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dray_fail_errno(e, "the temporary file cannot be read");
		if (n == 0)
			return dray_fail(e, DRAY_E_IO, "the temporary file has become shorter");
		if (put(w, w->buf, (size_t)n, e) != 0 || build_work_step(w->work, (uint64_t)n, e) != 0)
			return -1;
		at += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

static int
put_blocks(struct writer *w, const struct build_packed *p, struct dray_err *e)
{
	char name[32];
	size_t f = 0;

	for (size_t i = 0; i < p->n_blocks; i++) {
		uint64_t left = p->blocks[i];

		snprintf(name, sizeof(name), "blocks/%06zu", i);
		if (put_header(w, name, p->blocks[i], e) != 0)
			return -1;
		for (; left > 0; left -= p->frames[f++].len)
			if (copy_frame(w, p->fd, &p->frames[f], e) != 0)
				return -1;
		if (put_padding(w, p->blocks[i], e) != 0)
			return -1;
	}
	return put_zeros(w, DRAY_TAR_END, e);
}

static int
add_member(struct writer *w, struct dray_desc *d, const char *name, const void *p, size_t len, struct dray_err *e)
{
	struct dray_member *m;

	if (d->n_members == DRAY_MAX_MEMBERS)
		return dray_fail(e, DRAY_E_USAGE, "more than %u attachments", DRAY_MAX_MEMBERS - 3);
	m = &d->members[d->n_members++];
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->size = len;
	m->by_chunks = strcmp(name, "index/01") == 0;
	return m->by_chunks ? 0 : dray_sha256_once(w->sha, p, len, m->sha256, e);
}

static void
set_limits(struct dray_desc *d, const struct build_packed *p)
{
	/* index chunks are up to 1 MiB, and their window is held against the same limit */
	d->limit_frame = p->max_out > 0 ? p->max_out : 1;
	d->limit_window = p->max_raw > 1024 * 1024 ? p->max_raw : 1024 * 1024;
	d->limit_memory = p->max_memory > 0 ? p->max_memory : 1;
}

static void
name_encoder(struct dray_desc *d, const char *name, const char *id)
{
	snprintf(d->encoders[d->n_encoders].name, sizeof(d->encoders[0].name), "%s", name);
	snprintf(d->encoders[d->n_encoders++].id, sizeof(d->encoders[0].id), "%s", id);
}

static void
set_names(struct dray_desc *d, const struct build_packed *p, bool unsized)
{
	d->format = DRAY_FORMAT_VERSION;
	d->blocks = p->n_blocks;
	if (d->n_components == 0) {
		d->n_components = 1;
		snprintf(d->components[0], sizeof(d->components[0]), "main");
	}
	if (d->n_phases == 0) {
		d->n_phases = 1;
		snprintf(d->phases[0], sizeof(d->phases[0]), "main");
	}
	if (p->delta)
		snprintf(d->required[d->n_required++], sizeof(d->required[0]), "delta");
	if (p->gzip)
		snprintf(d->required[d->n_required++], sizeof(d->required[0]), "gzip");
	if (unsized)
		snprintf(d->required[d->n_required++], sizeof(d->required[0]), "history");
	if (p->by_lzma.n > 0)
		snprintf(d->required[d->n_required++], sizeof(d->required[0]), "lzma");
	if (p->gzip)
		name_encoder(d, "deflate", DRAY_DEFLATE_RULES);
	if (p->by_lzma.n > 0)
		name_encoder(d, "lzma", dray_lzma_id());
	name_encoder(d, "match", dray_match_id());
	name_encoder(d, "zstd", dray_encoder_id());
}

/* the slot: the signed text and no signature */
static int
make_slot(struct writer *w, const struct dray_desc *d, const char *json, size_t json_len, uint8_t *slot,
    struct dray_err *e)
{
	char text[DRAY_SLOT_TEXT_MAX + 1];
	struct dray_slot s = { .text = text };
	uint8_t id[32];

	if (dray_sha256_once(w->sha, json, json_len, id, e) != 0 ||
	    dray_signed_text(d->product, d->version, d->counter, d->length, id, text, &s.text_len, e) != 0)
		return -1;
	return dray_slot_write(&s, slot, (size_t)d->slot, e);
}

int
build_write(int fd, struct dray_desc *d, struct build_resolved *rs, const struct build_packed *packed,
    const struct build_notes *notes, int level, struct build_work *work, struct build_sizes *sizes, struct dray_err *e)
{
	struct writer w = { .fd = fd, .work = work, .buf = malloc(COPY_BYTES) };
	uint8_t *dir = NULL, *chunks = NULL, *slot = malloc((size_t)d->slot);
	char *json = NULL, *readme = NULL, name[128];
	size_t dir_len, chunks_len, json_len, readme_len;
	uint64_t blocks = 0, padded;
	int rc = -1;

	*sizes = (struct build_sizes){ .frames = packed->stored, .slot = d->slot };
	build_work_begin(work, "index", 0);
	if (w.buf == NULL || slot == NULL) {
		dray_fail(e, DRAY_E_IO, "out of memory");
		goto out;
	}
	set_names(d, packed, rs->unsized);
	set_limits(d, packed);
	if (dray_sha256_new(&w.sha, e) != 0 ||
	    dray_iw_finish(rs->tables, level, work->threads, &dir, &dir_len, &chunks, &chunks_len, e) != 0 ||
	    build_readme_text(d, &readme, &readme_len, e) != 0)
		goto out;
	(void)build_work_end(work, 0);
	build_work_begin(work, "write", packed->stored);
	d->n_members = 0;
	if (add_member(&w, d, "README.txt", readme, readme_len, e) != 0 ||
	    add_member(&w, d, "index/00", dir, dir_len, e) != 0 ||
	    add_member(&w, d, "index/01", chunks, chunks_len, e) != 0)
		goto out;
	for (size_t i = 0; i < notes->n; i++) {
		snprintf(name, sizeof(name), "notes/%s", notes->v[i].name);
		if (add_member(&w, d, name, notes->v[i].bytes, notes->v[i].len, e) != 0)
			goto out;
		sizes->notes += notes->v[i].len;
	}
	for (size_t i = 0; i < packed->n_blocks; i++)
		if (!dray_round_up(packed->blocks[i], DRAY_TAR_BLOCK, &padded) ||
		    !dray_add(blocks, padded + DRAY_TAR_BLOCK, &blocks)) {
			dray_fail(e, DRAY_E_FORMAT, "the bundle is too long");
			goto out;
		}
	if (dray_desc_layout(d, blocks, NULL, e) != 0 || dray_desc_write(d, &json, &json_len, e) != 0 ||
	    make_slot(&w, d, json, json_len, slot, e) != 0)
		goto out;
	if (put_member(&w, "dray.json", json, json_len, e) != 0 ||
	    put_member(&w, "dray.sig", slot, (size_t)d->slot, e) != 0 ||
	    put_member(&w, "README.txt", readme, readme_len, e) != 0 ||
	    put_member(&w, "index/00", dir, dir_len, e) != 0 ||
	    put_member(&w, "index/01", chunks, chunks_len, e) != 0)
		goto out;
	for (size_t i = 0; i < notes->n; i++) {
		snprintf(name, sizeof(name), "notes/%s", notes->v[i].name);
		if (put_member(&w, name, notes->v[i].bytes, notes->v[i].len, e) != 0)
			goto out;
	}
	if (put_blocks(&w, packed, e) != 0)
		goto out;
	if (w.at != d->length) {
		dray_fail(e, DRAY_E_IO, "internal: the bundle came out at %ju bytes instead of %ju", (uintmax_t)w.at,
		    (uintmax_t)d->length);
		goto out;
	}
	sizes->index = dir_len + chunks_len;
	sizes->descriptor = json_len;
	sizes->readme = readme_len;
	sizes->total = w.at;
	sizes->container = w.at - sizes->frames - sizes->index - json_len - readme_len - sizes->notes - d->slot;
	rc = 0;
out:
	dray_sha256_free(w.sha);
	free(w.buf);
	free(dir);
	free(chunks);
	free(slot);
	free(json);
	free(readme);
	return build_work_end(work, rc);
}
