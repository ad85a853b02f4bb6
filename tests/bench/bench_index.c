/*
 * bench_index.c - how long an index takes to load, and how large it is.
 *
 *   bench_index              synthetic trees of 100,000 and 1,000,000 entries
 *   bench_index DIR [LEVEL]  the names, modes and times of a real tree (contents are not read: their hashes are made
 *                            up, which to zstd is the same), packed at this level
 *
 * "load" is dray_index_load from memory: hashes, decompression, all rules. The loads are counted in calls of malloc
 * and friends, to show that their number does not follow the entries.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dray/digest.h"
#include "dray/index.h"
#include "dray/index_write.h"
#include "dray/num.h"
#include "dray/os.h"
#include "dray/path.h"

#include "format/index_priv.h"

#define RUNS 11
#define INDEX_AT 4096u

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t m);

static _Atomic unsigned long allocations;

void *
malloc(size_t n)
{
	atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
	return __libc_malloc(n);
}

void *
calloc(size_t n, size_t m)
{
	atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
	return __libc_calloc(n, m);
}

struct item { char *path; struct stat st; };

static struct item *items;
static size_t n_items, cap_items, prefix_len;
static struct dray_err e;

static void
need(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench_index: %s\n", e.text);
	exit(1);
}

static double
clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
by_time(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
by_path(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return dray_path_cmp(x->path, strlen(x->path), y->path, strlen(y->path));
}

static void
add_item(const char *path, const struct stat *st)
{
	if (n_items == cap_items) {
		struct item *v = realloc(items, (cap_items * 2 + 4096) * sizeof *items);

		if (v == NULL)
			abort();
		items = v;
		cap_items = cap_items * 2 + 4096;
	}
	items[n_items++] = (struct item){ .path = strdup(path), .st = *st };
}

static int
visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type != FTW_NS && path[prefix_len] == '/' && !S_ISSOCK(st->st_mode))
		add_item(path + prefix_len + 1, st);
	return 0;
}

/* about what a system looks like: 12 files to a directory, two levels of them */
static void
synthetic(size_t n)
{
	char path[200];

	for (size_t i = 0; n_items < n; i++) {
		struct stat st = { .st_mode = S_IFDIR | 0755, .st_mtim.tv_sec = (time_t)(1700000000 + i * 7919 % 100000) };

		if (i % 100 == 0) {
			snprintf(path, sizeof path, "usr-%04zu", i / 100);
			add_item(path, &st);
		}
		snprintf(path, sizeof path, "usr-%04zu/package-%06zu", i / 100, i);
		add_item(path, &st);
		for (size_t k = 0; k < 12 && n_items < n; k++) {
			st.st_mode = S_IFREG | 0644;
			st.st_size = (off_t)(i * 131 + k * 977);
			st.st_mtim.tv_nsec = (long)(i * 7919 + k) % 1000000000;
			snprintf(path, sizeof path, "usr-%04zu/package-%06zu/some-file-%02zu.so", i / 100, i, k);
			add_item(path, &st);
		}
	}
}

/* a state as the builder would make it; contents get the hash of their number */
static uint32_t
put_state(struct dray_index_writer *w, const struct item *it, struct dray_sha256 *h, uint32_t *content)
{
	struct dray_attrs a = { .has = DRAY_HAS_MODE | DRAY_HAS_UID | DRAY_HAS_GID, .mode = it->st.st_mode & 07777,
		.uid = it->st.st_uid, .gid = it->st.st_gid };
	struct dray_state s = { .has_mtime = true, .mtime_sec = it->st.st_mtim.tv_sec,
		.mtime_nsec = (uint32_t)it->st.st_mtim.tv_nsec };
	static uint64_t number;
	uint8_t sha[32];
	uint32_t row;

	need(dray_iw_attrs(w, &a, NULL, 0, &s.attrs, &e));
	*content = DRAY_NONE;
	if (S_ISREG(it->st.st_mode)) {
		number++;
		need(dray_sha256_once(h, it->st.st_size != 0 ? &number : NULL, it->st.st_size != 0 ? sizeof number : 0, sha, &e));
		need(dray_iw_content(w, (uint64_t)it->st.st_size, sha, &s.content, &e));
		*content = s.content;
		s.type = DRAY_FILE;
	} else if (S_ISLNK(it->st.st_mode)) {
		s.type = DRAY_SYMLINK;
		s.target = it->path;	/* a text of about the right kind and length */
		s.target_len = strlen(it->path);
	} else {
		s.type = S_ISDIR(it->st.st_mode) ? DRAY_DIR : DRAY_FIFO;
	}
	need(dray_iw_state(w, &s, &row, &e));
	return row;
}

/* every third file is changed: an alternative in the base, a recipe, frames of about 1 MiB */
static struct dray_index_writer *
fill(struct dray_desc *d)
{
	struct dray_index_writer *w;
	struct dray_sha256 *h;
	uint64_t end = 0, in_block = 0, in_frame = 0;
	uint32_t frame = 0, compset, row;
	uint8_t sha[32] = { 0 };

	need(dray_sha256_new(&h, &e));
	need(dray_iw_new(&w, &e));
	need(dray_iw_compset(w, 1, &compset, &e));
	for (size_t i = 0; i < n_items; i++) {
		struct dray_entry en = { .path = items[i].path, .len = strlen(items[i].path), .flags = DRAY_ENTRY_SAME };
		struct dray_alt alt = { .bases = 1 };
		uint32_t content, old;

		en.target = put_state(w, &items[i], h, &content);
		if (content != DRAY_NONE && i % 3 == 0) {
			struct item was = items[i];
			uint64_t size = (uint64_t)was.st.st_size;
			struct dray_piece p = { .frame = frame, .offset = (uint32_t)in_frame, .len = (uint32_t)size };
			const struct dray_piece *list = &p;
			struct dray_recipe r = { .kind = DRAY_RECIPE_FULL, .piece_count = size != 0 };

			was.st.st_mtim.tv_sec -= 86400 * 90;
			alt.state = put_state(w, &was, h, &old);
			en.flags = 0;
			if (size < 4u << 20) {
				/* a content of no bytes may come many times */
				if (size != 0 || dray_iw_recipes(w, content, &r, 1, &list, &e) == 0)
					dray_err_clear(&e);
				if (size != 0)
					need(dray_iw_recipes(w, content, &r, 1, &list, &e));
				in_frame += size;
			}
		}
		need(dray_iw_entry(w, &en, &alt, en.flags == 0, &e));
		if (in_frame > 1u << 20 || (in_frame != 0 && i + 1 == n_items)) {
			struct dray_frame f = { .stored = (uint32_t)in_frame / 3 + 1, .out = (uint32_t)in_frame, .sha256 = sha };

			if (frame != 0 && in_block + f.stored > 4u << 20) {
				end = (end + 511) / 512 * 512 + 512;
				in_block = 0;
				d->blocks++;
			}
			f.block = (uint32_t)d->blocks;
			need(dray_sha256_once(h, &frame, sizeof frame, sha, &e));
			need(dray_iw_frame(w, &f, NULL, 0, &row, &e));
			end += f.stored;
			in_block += f.stored;
			in_frame = 0;
			frame++;
		}
	}
	if (frame != 0) {
		d->blocks++;
		end += 512;
	}
	d->length = (end + 511) / 512 * 512;	/* of the blocks; what stands before comes when it is known */
	dray_sha256_free(h);
	return w;
}

static const uint8_t *chunk_bytes;

static int
from_memory(void *ctx, uint64_t at, void *buf, size_t len, struct dray_err *err)
{
	(void)ctx;
	(void)err;
	memcpy(buf, chunk_bytes + (at - INDEX_AT), len);
	return 0;
}

static void
print_tables(const uint8_t *dir)
{
	for (unsigned t = 0; t < DRAY_TABLES; t++) {
		const uint8_t *rec = dir + IX_HEAD + t * IX_TABLE_REC;
		uint32_t rows = dray_get_u32(rec + 4), first = dray_get_u32(rec + 8), n = dray_get_u32(rec + 12), filters[IX_FILTERS] = { 0 };
		uint64_t stored = 0;

		for (uint32_t c = first; c < first + n; c++) {
			const uint8_t *p = dir + IX_HEAD + DRAY_TABLES * IX_TABLE_REC + (size_t)c * IX_CHUNK_REC;

			stored += dray_get_u32(p);
			filters[p[8]]++;
		}
		printf("  %-9s %9" PRIu32 " rows %10" PRIu64 " bytes %9" PRIu64 " stored %6.2f per entry, filters %u/%u/%u\n",
		    dray_index_name[t], rows, (uint64_t)rows * dray_index_width[t], stored, (double)stored / (double)n_items,
		    filters[0], filters[1], filters[2]);
	}
}

static void
measure(int level)
{
	static struct dray_desc d;
	struct dray_index_writer *w;
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	double t0 = clock_ms(CLOCK_MONOTONIC);

	memset(&d, 0, sizeof d);
	d.n_bases = d.n_components = d.n_phases = 1;
	d.limit_frame = d.limit_window = DRAY_FRAME_MAX;
	d.limit_memory = 4 * (uint64_t)DRAY_FRAME_MAX;
	d.n_members = 1;
	memcpy(d.members[0].name, "index/01", 9);
	w = fill(&d);
	need(dray_iw_finish(w, level, os_cpus(), &dir, &dir_len, &chunks, &chunks_len, &e));
	dray_iw_free(w);
	chunk_bytes = chunks;
	d.members[0].offset = INDEX_AT;
	d.members[0].size = chunks_len;
	d.length += (INDEX_AT + chunks_len + 511) / 512 * 512 + 1024;
	printf("%zu entries: %zu bytes, %.1f per entry; built in %.0f ms (level %d)\n", n_items, dir_len + chunks_len,
	    (double)(dir_len + chunks_len) / (double)n_items, clock_ms(CLOCK_MONOTONIC) - t0, level);
	print_tables(dir);
	for (unsigned threads = 1; threads <= 2; threads++) {
		double ms[RUNS], cpu[RUNS];
		unsigned long count = 0;

		for (int r = 0; r < RUNS; r++) {
			struct dray_index *ix;
			unsigned long before = allocations;

			cpu[r] = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
			t0 = clock_ms(CLOCK_MONOTONIC);
			need(dray_index_load(&d, dir, dir_len, from_memory, NULL, threads, &ix, &e));
			ms[r] = clock_ms(CLOCK_MONOTONIC) - t0;
			cpu[r] = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu[r];
			count = allocations - before;
			dray_index_free(ix);
		}
		qsort(ms, RUNS, sizeof ms[0], by_time);
		qsort(cpu, RUNS, sizeof cpu[0], by_time);
		printf("  load, %u thread%s: %.1f ms (median of %d, fastest %.1f), cpu %.1f ms, %lu allocations\n", threads,
		    threads == 1 ? "" : "s", ms[RUNS / 2], RUNS, ms[0], cpu[RUNS / 2], count);
	}
	free(dir);
	free(chunks);
	for (size_t i = 0; i < n_items; i++)
		free(items[i].path);
	n_items = 0;
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		prefix_len = strlen(argv[1]);
		if (nftw(argv[1], visit, 64, FTW_PHYS | FTW_MOUNT) != 0) {
			perror(argv[1]);
			return 1;
		}
		qsort(items, n_items, sizeof *items, by_path);
		measure(argc > 2 ? atoi(argv[2]) : 19);
		return 0;
	}
	synthetic(100000);
	measure(9);
	synthetic(1000000);
	measure(3);
	return 0;
}
