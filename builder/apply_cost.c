/*
 * apply_cost.c - a model of what applying costs. A new kind of frame is one more line in build_cost_frame.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "builder/apply_cost.h"
#include "dray/frame.h"

/*
 * Picoseconds for each byte, measured by `make bench` (bench_decode), SHA-256 as on a processor without instructions
 * for it; and nanoseconds for each path, measured on real runs. spec/performance.md 5 has the figures.
 */
enum {
	READ = 100,		/* from the cache of the system */
	HASH = 2200,
	WRITE = 300,
	ZSTD_OUT = 200,		/* zstd, for each byte it gives */
	ZSTD_STORED = 4500,	/* ... and for each byte that it has to decode */
	LZMA_OUT = 2400,	/* LZMA, for each byte it gives */
	LZMA_STORED = 57000,	/* ... and for each byte that it has to decode */
	ADDCOPY = 400,		/* put together from base and difference */
	X86 = 1600,		/* filter, for each byte of base and output */
	INFLATE = 4100,		/* the inside of a .gz of a base, for each of its bytes */
	DEFLATE = 46500,	/* a .gz made again, for each byte of its inside */
	DEFLATE_STEP = 2400,	/* ... and for each step of the search */
	PATH_NS = 200000,	/* a path that changes: plan, stage, switch */
	ENTRY_NS = 200,		/* a path of the index */
};

static uint64_t
ns(uint64_t bytes, uint64_t picoseconds)
{
	/* contents are below 2^40 bytes, and a frame below 2^32 */
	return bytes * picoseconds / 1000;
}

uint64_t
build_cost_frame(const struct build_cost_in *f)
{
	bool based = f->kind != DRAY_FRAME_PLAIN;
	bool lzma = f->codec == DRAY_CODEC_LZMA;
	uint64_t ref = based ? f->ref : 0, sum = ns(f->stored, READ + HASH + (lzma ? LZMA_STORED : ZSTD_STORED)) + ns(ref, READ);

	sum += ns(f->kind == DRAY_FRAME_ADDCOPY ? f->raw : f->out, lzma ? LZMA_OUT : ZSTD_OUT);
	sum += f->kind == DRAY_FRAME_ADDCOPY ? ns(f->out, ADDCOPY) : 0;
	if (f->filter == DRAY_FILTER_X86)
		sum += ns(ref + f->out, X86);
	return sum + (based ? ns(f->inside, INFLATE) : 0);
}

uint64_t
build_cost_deflate(uint64_t len, uint64_t steps)
{
	return ns(len, DEFLATE) + ns(steps, DEFLATE_STEP);
}

static uint64_t
bytes_of(const struct build_node *nd)
{
	return nd->type == DRAY_FILE && nd->size != DRAY_SIZE_UNKNOWN ? nd->size : 0;
}

/* does @a at this path hold what @b has to become? */
static bool
same_bytes(const struct build_node *a, const struct build_node *b)
{
	return a->type == b->type && a->size == b->size && memcmp(a->sha256, b->sha256, sizeof(a->sha256)) == 0 &&
	    a->target_len == b->target_len && (a->target_len == 0 || memcmp(a->target, b->target, a->target_len) == 0) &&
	    a->rdev_major == b->rdev_major && a->rdev_minor == b->rdev_minor;
}

static bool
same_attrs(const struct build_node *a, const struct build_node *b)
{
	return a->has == b->has && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid && a->flags == b->flags &&
	    a->mtime_sec == b->mtime_sec && a->mtime_nsec == b->mtime_nsec && build_xattrs_cmp(a, b) == 0;
}

/* @n former states of one path, perhaps none; @to: what comes, or NULL; @put: bytes that are written for it */
static uint64_t
cost_path(const struct build_node *from, size_t n, const struct build_node *to, uint64_t put)
{
	bool touched = n == 0 || to == NULL, made = n == 0;
	uint64_t old = 0;

	for (size_t i = 0; i < n; i++) {
		old = bytes_of(&from[i]) > old ? bytes_of(&from[i]) : old;
		made |= to != NULL && !same_bytes(&from[i], to);
		touched = touched || made || !same_attrs(&from[i], to);
	}
	if (!touched)
		return ENTRY_NS;
	return ENTRY_NS + PATH_NS + ns(old, READ + HASH) + (made && to != NULL ? ns(put, HASH + WRITE) : 0);
}

uint64_t
build_cost_paths(const struct build_release *from, const struct build_release *to)
{
	size_t n = from == NULL ? 0 : from->n, at = 0, next;
	uint64_t sum = 0;

	for (size_t i = 0; i < to->n || at < n; at = next) {
		const struct build_node *old = at < n ? &from->v[at] : NULL, *new = i < to->n ? &to->v[i] : NULL;
		bool linked = new != NULL && new->link != 0 && new->link != i + 1;	/* one more name of what is written */

		next = at;
		if (old != NULL && new != NULL && old->row != new->row) {
			old = old->row < new->row ? old : NULL;
			new = old != NULL ? NULL : new;
		}
		while (old != NULL && next < n && from->v[next].row == old->row)
			next++;
		sum += cost_path(old, next - at, new, new == NULL || linked ? 0 : bytes_of(new));
		i += new != NULL;
	}
	return sum;
}

uint64_t
build_cost_ms(uint64_t ns)
{
	return ns / 1000000 + (ns % 1000000 != 0);
}

const char *
build_cost_text(uint64_t ns, char *out)
{
	uint64_t ms = build_cost_ms(ns);

	snprintf(out, BUILD_COST_TEXT, "%" PRIu64 ".%03" PRIu64, ms / 1000, ms % 1000);
	return out;
}
