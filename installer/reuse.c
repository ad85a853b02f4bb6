/*
 * reuse.c - an interrupted staging costs nothing: what it wrote and still hashes right is taken over.
 *
 * The manifest says which slot holds which content: rows of 32 SHA-256, 8 size, 4 slot, 1 file system, 2 length, path
 * inside the slot. It is a hint only; each file is hashed again before it counts.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dray/cursor.h"
#include "dray/num.h"

#include "installer/files.h"
#include "installer/staging.h"

#define MANIFEST "manifest"
#define MANIFEST_MAX ((size_t)1 << 30)

struct old_file {
	const uint8_t *sha256;
	const char *rel;
	uint64_t size;
	uint32_t slot, want;
	uint16_t rel_len;
	uint8_t site;
};

struct reuse {
	struct stage *s;
	struct old_file *files;
	struct inst_place *from;	/* one per worker */
};

int
inst_stage_write_manifest(struct stage *s, struct dray_err *e)
{
	uint8_t *buf, row[47];
	struct dray_content c;
	struct dray_entry en;
	size_t i, at = 0, cap = 0;
	int fd, rc = -1;

	for (i = 0; i < s->n_wants; i++) {
		const struct inst_node *n = &s->p->nodes[s->wants[i].first_node];

		dray_index_entry(s->ix, n->entry, &en);
		cap += sizeof(row) + en.len - n->rel;
	}
	if ((buf = malloc(cap + 1)) == NULL)
		return dray_fail_errno(e, "manifest");
	for (i = 0; i < s->n_wants; i++) {
		const struct inst_node *n = &s->p->nodes[s->wants[i].first_node];

		dray_index_entry(s->ix, n->entry, &en);
		dray_index_content(s->ix, s->wants[i].content, &c);
		memcpy(row, c.sha256, 32);
		dray_put_u64(row + 32, c.size);
		dray_put_u32(row + 40, s->p->ops[n->op].slot);
		row[44] = s->p->ops[n->op].site;
		dray_put_u16(row + 45, (uint16_t)(en.len - n->rel));
		memcpy(buf + at, row, sizeof(row));
		memcpy(buf + at + sizeof(row), en.path + n->rel, en.len - n->rel);
		at += sizeof(row) + en.len - n->rel;
	}
	/* not flushed: after a power cut the files it names may be missing or empty all the same */
	if ((fd = openat(s->tx->dir, MANIFEST, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) == -1) {
		dray_fail_errno(e, "create the manifest");
		goto out;
	}
	rc = inst_write_all(fd, buf, at, e);
	if (close(fd) == -1 && rc == 0)
		rc = dray_fail_errno(e, "close the manifest");
out:
	free(buf);
	return rc;
}

struct sorted { const uint8_t *sha256; uint32_t want; };

static int
by_hash(const void *a, const void *b)
{
	return memcmp(((const struct sorted *)a)->sha256, ((const struct sorted *)b)->sha256, 32);
}

static bool
next_row(struct dray_cursor *c, struct old_file *f)
{
	const uint8_t *rel;

	if (!dray_cursor_bytes(c, 32, &f->sha256) || !dray_cursor_u64(c, &f->size) || !dray_cursor_u32(c, &f->slot) ||
	    !dray_cursor_u8(c, &f->site) || !dray_cursor_u16(c, &f->rel_len) || !dray_cursor_bytes(c, f->rel_len, &rel))
		return false;
	f->rel = (const char *)rel;
	return f->rel_len == 0 || dray_path_ok(f->rel, f->rel_len, NULL);
}

/* a rename must be able to bring it to where it is wanted */
static bool
same_fs(const struct stage *s, const struct old_file *f, const struct want *w)
{
	const struct inst_tx *from = s->o->reuse;
	const struct inst_slots *to = &s->tx->slots[s->p->ops[s->p->nodes[w->first_node].op].site];

	return f->site < from->n_slots && from->slots[f->site].dir != -1 && from->slots[f->site].len == to->len &&
	    memcmp(from->slots[f->site].path, to->path, to->len) == 0;
}

/* rows of the manifest that hold something wanted; a content at most once */
static int
match_rows(struct stage *s, const uint8_t *p, size_t len, struct old_file **out, size_t *n, struct dray_err *e)
{
	struct dray_cursor c = { .p = p, .left = len };
	struct sorted *by = NULL, key, *hit;
	struct old_file f, *files = NULL;
	struct dray_content content;
	uint8_t *taken = NULL;
	size_t i;
	int rc = -1;

	*n = 0;
	by = calloc(s->n_wants + 1, sizeof(*by));
	files = calloc(s->n_wants + 1, sizeof(*files));
	taken = calloc(s->n_wants + 1, 1);
	if (by == NULL || files == NULL || taken == NULL) {
		dray_fail_errno(e, "manifest");
		goto out;
	}
	for (i = 0; i < s->n_wants; i++) {
		dray_index_content(s->ix, s->wants[i].content, &content);
		by[i] = (struct sorted){ .sha256 = content.sha256, .want = (uint32_t)i };
	}
	if (s->n_wants > 1)
		qsort(by, s->n_wants, sizeof(*by), by_hash);
	while (c.left > 0 && next_row(&c, &f)) {
		key.sha256 = f.sha256;
		hit = bsearch(&key, by, s->n_wants, sizeof(*by), by_hash);
		if (hit == NULL || taken[hit->want] || !same_fs(s, &f, &s->wants[hit->want]) || s->next_node[s->wants[hit->want].first_node] != DRAY_NONE)
			continue;
		taken[hit->want] = 1;
		f.want = hit->want;
		files[(*n)++] = f;
	}
	*out = files;
	files = NULL;
	rc = 0;
out:
	free(by);
	free(files);
	free(taken);
	return rc;
}

static int
watch(void *ctx, size_t len, struct dray_err *e)
{
	(void)len;
	return inst_stage_stopped(ctx, e);
}

/* is it what the manifest says? 1 yes, 0 no (whatever the reason: then the bundle's frame is used), -1 failure */
static int
still_right(struct stage *s, struct stage_worker *w, const struct old_file *f, int fd, struct dray_err *e)
{
	const struct dray_watch each = { watch, s };
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_content c;
	struct stat st;
	uint64_t size;
	size_t cap = (size_t)dray_bundle_desc(s->b)->limit_frame;

	dray_index_content(s->ix, s->wants[f->want].content, &c);
	if (fstat(fd, &st) == -1)
		return dray_fail_errno(e, "look at a staged file");
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || (uint64_t)st.st_size != c.size)
		return 0;
	if (dray_sha256_fd_watch(w->sha, fd, w->out, cap, &each, &size, sum, e) != 0)
		return -1;
	return dray_content_is(&c, size, sum);
}

/* it or its directory may have been made immutable, when that staging was at its end */
static int
take_over(int dir, const char *leaf, int to_dir, const char *to_leaf)
{
	if (os_rename_noreplace(dir, leaf, to_dir, to_leaf) == 0)
		return 0;
	if (errno != EPERM || os_fflags_set(dir, leaf, DRAY_FF_LOCKS, 0) != 0 || os_fflags_set(dir, "", DRAY_FF_LOCKS, 0) != 0)
		return -1;
	return os_rename_noreplace(dir, leaf, to_dir, to_leaf);
}

static int
reuse_job(void *ctx, unsigned worker, size_t i, struct dray_err *e)
{
	struct reuse *r = ctx;
	struct stage *s = r->s;
	struct stage_worker *w = &s->workers[worker];
	const struct old_file *f = &r->files[i];
	struct want *want = &s->wants[f->want];
	char leaf[DRAY_NAME_MAX + 1], to_leaf[DRAY_NAME_MAX + 1];
	struct dray_err ignored = { 0 };	/* a missing or odd leftover is no failure: the frame is used */
	int dir, to_dir, fd, rc;

	if (inst_stage_stopped(s, e) != 0)
		return -1;
	if (inst_place_at(&r->from[worker], f->site, f->slot, f->rel, f->rel_len, &dir, leaf, &ignored) != 0)
		return 0;
	if ((fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1)
		return 0;
	rc = still_right(s, w, f, fd, e);
	if (rc == 1) {
		rc = inst_stage_node_at(s, &w->place, want->first_node, &to_dir, to_leaf, e);
		if (rc == 0 && take_over(dir, leaf, to_dir, to_leaf) == -1)
			rc = dray_fail_errno(e, "take over a staged file");
		if (rc == 0)
			rc = inst_stage_dress(s, &w->place, want->first_node, fd, e);
		if (rc == 0) {
			want->have = true;
			dray_meter_add(&s->meter, f->size, f->size * DRAY_COST_HASH);
		}
	}
	close(fd);	/* read only */
	return rc == 0 ? 0 : inst_stage_blame(s, want->first_node, e);
}

int
inst_stage_reuse(struct stage *s, struct dray_err *e)
{
	struct reuse r = { .s = s };
	uint8_t *p = NULL;
	size_t len, n = 0, i;
	int rc;

	if (s->o->reuse == NULL || s->n_wants == 0)
		return 0;
	rc = inst_read_file(s->o->reuse->dir, MANIFEST, MANIFEST_MAX, &p, &len, e);
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	rc = match_rows(s, p, len, &r.files, &n, e);
	if (rc == 0 && (r.from = calloc(s->threads, sizeof(*r.from))) == NULL)
		rc = dray_fail_errno(e, "manifest");
	if (rc == 0) {
		for (i = 0; i < s->threads; i++)
			inst_place_init(&r.from[i], s->o->reuse);
		rc = dray_parallel(s->threads, n, 8, reuse_job, &r, e);
		for (i = 0; i < s->threads; i++)
			inst_place_close(&r.from[i]);
	}
	free(r.from);
	free(r.files);
	free(p);
	return rc;
}
