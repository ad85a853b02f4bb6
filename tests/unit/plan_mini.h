/*
 * plan_mini.h - a release described in a few words, as an open bundle without blocks, and trees described the same way.
 *
 * A state is words with commas between: a letter (f file, d directory, l symlink, p fifo, - absent), then in any order
 * digits (mode), @X (hard-link group), +N (mtime), %N (mask of components), anything else: content or link target.
 * "f,hello,755,@a"
 */
#ifndef PLAN_MINI_H
#define PLAN_MINI_H

#include <sys/stat.h>

#include <ctype.h>
#include <fcntl.h>

#include "dray/bundle.h"

#include "installer/files.h"
#include "installer/plan.h"
#include "tests/unit/mini.h"

struct pm_row { const char *path, *old, *target, *old2; };	/* path order; @old2: of a second base */

struct pm_words { char type, group; unsigned mode; int64_t mtime; uint64_t comps; char text[64]; };

static inline struct pm_words
pm_parse(const char *s)
{
	struct pm_words w = { .type = s == NULL ? '-' : s[0], .mtime = -1 };

	w.mode = w.type == 'd' ? 0755 : 0644;
	while (s != NULL && (s = strchr(s, ',')) != NULL) {
		size_t n = strcspn(++s, ",");

		if (*s == '@')
			w.group = s[1];
		else if (*s == '+')
			w.mtime = strtol(s + 1, NULL, 10);
		else if (*s == '%')
			w.comps = strtoul(s + 1, NULL, 10);
		else if (n >= 3 && strspn(s, "01234567") == n)
			w.mode = (unsigned)strtoul(s, NULL, 8);
		else
			snprintf(w.text, sizeof(w.text), "%.*s", (int)n, s);
	}
	return w;
}

/* of what components a row is: told by its target or its former state, else of the first alone */
static inline uint64_t
pm_comps(const struct pm_row *r)
{
	uint64_t comps = pm_parse(r->target).comps | pm_parse(r->old).comps;

	return comps != 0 ? comps : 1;
}

static uint64_t pm_base_counter = 1;	/* of every base; the release has 2 */

struct pm { struct dray_bundle *b; int fd; uint8_t *p; };

struct pm_make {
	struct dray_index_writer *w;
	uint32_t groups[3][128];	/* per side: 1 + row of the first member */
	uint32_t n_contents, bytes, sizes[256];
	bool no_recipes;
};

static inline int
pm_state(struct pm_make *m, const char *words, unsigned side, uint32_t row, uint32_t *out, struct dray_err *e)
{
	struct pm_words w = pm_parse(words);
	struct dray_attrs a = { .has = DRAY_HAS_MODE, .mode = w.mode };
	struct dray_state s = { .content = DRAY_NONE, .has_mtime = w.mtime >= 0, .mtime_sec = w.mtime >= 0 ? w.mtime : 0 };
	uint8_t sha[32];

	*out = DRAY_NONE;
	switch (w.type) {
	case 'f': s.type = DRAY_FILE; break;
	case 'd': s.type = DRAY_DIR; break;
	case 'l': s.type = DRAY_SYMLINK; break;
	case 'p': s.type = DRAY_FIFO; break;
	default: return 0;
	}
	if (s.type == DRAY_SYMLINK) {
		a.has = 0;
		a.mode = 0;
		s.target = w.text;
		s.target_len = strlen(w.text);
	}
	if (s.type == DRAY_FILE) {
		if (mini_hash(w.text, strlen(w.text), sha, e) != 0 ||
		    dray_iw_content(m->w, strlen(w.text), sha, &s.content, e) != 0)
			return -1;
		if (s.content == m->n_contents)
			m->sizes[m->n_contents++] = (uint32_t)strlen(w.text);
		if (w.group != 0) {
			uint32_t *first = &m->groups[side][(unsigned char)w.group];

			if (*first == 0)
				*first = row + 1;
			s.link = *first;
		}
	}
	return dray_iw_attrs(m->w, &a, NULL, 0, &s.attrs, e) != 0 ? -1 : dray_iw_state(m->w, &s, out, e);
}

static inline int
pm_index(struct pm_make *m, const struct pm_row *rows, size_t n, unsigned bases, uint8_t **dir, size_t *dir_len,
    uint8_t **chunks, size_t *chunks_len, struct dray_err *e)
{
	static const uint8_t zero[32];
	struct dray_frame f = { .kind = DRAY_FRAME_PLAIN, .stored = 10, .out = 0, .sha256 = zero };
	uint32_t set, row, at = 0;

	if (dray_iw_new(&m->w, e) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct dray_entry en = { .path = rows[i].path, .len = strlen(rows[i].path) };
		struct dray_alt alt[2] = { { DRAY_NONE, 1 }, { DRAY_NONE, 2 } };
		size_t n_alts = bases;
		bool same = bases > 0;

		if (dray_iw_compset(m->w, pm_comps(&rows[i]), &set, e) != 0)
			return -1;
		en.compset = (uint16_t)set;
		if (pm_state(m, rows[i].target, 0, i, &en.target, e) != 0 ||
		    (bases > 0 && pm_state(m, rows[i].old, 1, i, &alt[0].state, e) != 0) ||
		    (bases > 1 && pm_state(m, rows[i].old2, 2, i, &alt[1].state, e) != 0))
			return -1;
		for (unsigned k = 0; k < bases; k++)
			same &= alt[k].state == en.target;
		if (same) {
			en.flags |= DRAY_ENTRY_SAME;
			n_alts = 0;
		} else if (bases == 2 && alt[0].state == alt[1].state) {
			alt[0].bases = 3;
			n_alts = 1;
		}
		if (dray_iw_entry(m->w, &en, alt, n_alts, e) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < m->n_contents; i++)
		f.out += m->sizes[i];
	if (f.out > 0 && !m->no_recipes && dray_iw_frame(m->w, &f, NULL, 0, &row, e) != 0)
		return -1;
	for (uint32_t i = 0; i < m->n_contents && !m->no_recipes; i++) {
		const struct dray_recipe full = { DRAY_RECIPE_FULL, 0, 0, 1 };
		const struct dray_piece piece = { 0, at, m->sizes[i] }, *pieces = &piece;

		at += m->sizes[i];
		if (m->sizes[i] > 0 && dray_iw_recipes(m->w, i, &full, 1, &pieces, e) != 0)
			return -1;
	}
	return dray_iw_finish(m->w, 3, 1, dir, dir_len, chunks, chunks_len, e);
}

struct pm_note { const char *name; const void *p; size_t len; };	/* "notes/...", in order of names */

/* a bundle without blocks: signature slot, descriptor, index and notes, known by its id */
static inline int
pm_lay_out(struct pm *pm, struct dray_desc *d, const void *dir, const void *chunks, uint64_t blocks, const struct pm_note *notes,
    size_t n_notes, struct dray_err *e)
{
	struct mini m = { .len = 0 };
	char *json = NULL, text[DRAY_SLOT_TEXT_MAX + 1];
	uint8_t id[32], slot[512];
	struct dray_slot s = { .text = text };
	uint64_t head;
	int rc = -1;

	if (dray_desc_layout(d, blocks, &head, e) != 0 || dray_desc_write(d, &json, &m.json_len, e) != 0 ||
	    mini_hash(json, m.json_len, id, e) != 0 ||
	    dray_signed_text(d->product, d->version, d->counter, d->length, id, text, &s.text_len, e) != 0 ||
	    dray_slot_write(&s, slot, sizeof(slot), e) != 0)
		goto out;
	if ((pm->p = m.p = calloc(1, (size_t)head)) == NULL)
		goto out;
	if (mini_put(&m, "dray.json", json, m.json_len, e) != 0 || mini_put(&m, "dray.sig", slot, sizeof(slot), e) != 0 ||
	    mini_put(&m, "README.txt", "read me\n", 8, e) != 0 ||
	    mini_put(&m, "index/00", dir, (size_t)d->members[1].size, e) != 0 ||
	    mini_put(&m, "index/01", chunks, (size_t)d->members[2].size, e) != 0)
		goto out;
	for (size_t i = 0; i < n_notes; i++)
		if (mini_put(&m, notes[i].name, notes[i].p, notes[i].len, e) != 0)
			goto out;
	pm->fd = mini_fd(m.p, m.len);
	rc = dray_bundle_open(pm->fd, &(struct dray_bundle_opts){ .head_only = true, .expect_id = id, .threads = 1 },
	    &pm->b, e);
out:
	free(json);
	return rc;
}

static inline void
pm_close(struct pm *pm)
{
	dray_bundle_close(pm->b);
	if (pm->fd > 0)
		close(pm->fd);
	free(pm->p);
	memset(pm, 0, sizeof(*pm));
}

static inline int
pm_open(struct pm *pm, const struct pm_row *rows, size_t n, unsigned bases, bool no_recipes, struct dray_err *e)
{
	struct pm_make m = { .no_recipes = no_recipes };
	uint8_t *dir = NULL, *chunks = NULL;
	size_t dir_len, chunks_len;
	struct dray_desc *d;
	int rc = -1;

	memset(pm, 0, sizeof(*pm));
	if ((d = dray_desc_new()) == NULL || pm_index(&m, rows, n, bases, &dir, &dir_len, &chunks, &chunks_len, e) != 0)
		goto out;
	strcpy(d->product, "demo");
	strcpy(d->version, "1.1");
	strcpy(d->os, "any");
	d->counter = 2;
	d->slot = 512;
	d->built = 1700000000;
	d->blocks = m.n_contents > 0 && !no_recipes ? 1 : 0;
	d->limit_frame = d->limit_window = 65536;
	d->limit_memory = 131072;
	d->n_components = 2;
	d->n_phases = d->n_encoders = 1;
	d->n_bases = bases;
	for (unsigned i = 0; i < bases; i++) {
		snprintf(d->bases[i].version, sizeof(d->bases[i].version), "1.0.%u", i);
		d->bases[i].counter = pm_base_counter;
	}
	strcpy(d->components[0], "base");
	strcpy(d->components[1], "src");
	strcpy(d->phases[0], "main");
	strcpy(d->encoders[0].name, "zstd");
	strcpy(d->encoders[0].id, dray_encoder_id());
	mini_member(d, "README.txt", "read me\n", 8);
	mini_member(d, "index/00", dir, dir_len);
	mini_member(d, "index/01", chunks, chunks_len);
	rc = pm_lay_out(pm, d, dir, chunks, d->blocks * 1024, NULL, 0, e);
out:
	dray_iw_free(m.w);
	dray_desc_free(d);
	free(dir);
	free(chunks);
	if (rc != 0)
		pm_close(pm);
	return rc;
}

/* make one object in the tree; @group_first: path to link to */
static inline void
pm_put(int root, const char *path, const char *words, const char *group_first)
{
	struct pm_words w = pm_parse(words);
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = w.mtime } };
	int fd, rc = 0;

	switch (w.type) {
	case 'f':
		if (group_first != NULL) {
			rc = linkat(root, group_first, root, path, 0);
			break;
		}
		fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		rc = fd == -1 || write(fd, w.text, strlen(w.text)) != (ssize_t)strlen(w.text) || fchmod(fd, w.mode) != 0;
		close(fd);
		break;
	case 'd':
		rc = mkdirat(root, path, 0755) != 0 || fchmodat(root, path, w.mode, 0) != 0;
		break;
	case 'l':
		rc = symlinkat(w.text, root, path);
		break;
	case 'p':
		rc = mkfifoat(root, path, 0600) != 0 || fchmodat(root, path, w.mode, 0) != 0;
		break;
	default:
		return;
	}
	if (rc != 0 || (w.mtime >= 0 && utimensat(root, path, ts, AT_SYMLINK_NOFOLLOW) != 0)) {
		perror(path);
		abort();
	}
}

enum pm_side { PM_OLD, PM_NEW };

/* the whole tree as one side of the rows says; directories' times last */
static inline void
pm_tree(int root, const struct pm_row *rows, size_t n, enum pm_side side)
{
	const char *first[128] = { NULL };

	for (size_t i = 0; i < n; i++) {
		const char *words = side == PM_OLD ? rows[i].old : rows[i].target;
		struct pm_words w = pm_parse(words);

		pm_put(root, rows[i].path, words, w.group != 0 ? first[(unsigned char)w.group] : NULL);
		if (w.group != 0 && first[(unsigned char)w.group] == NULL)
			first[(unsigned char)w.group] = rows[i].path;
	}
	for (size_t i = n; i-- > 0; ) {
		struct pm_words w = pm_parse(side == PM_OLD ? rows[i].old : rows[i].target);
		struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = w.mtime } };

		if (w.type == 'd' && w.mtime >= 0 && utimensat(root, rows[i].path, ts, 0) != 0)
			abort();
	}
}

#endif
