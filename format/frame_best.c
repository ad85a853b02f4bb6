/*
 * frame_best.c - which kind of frame is smallest. A file of its own: it is what links the matcher.
 *
 * At a high level zstd costs twenty times as much as a trial at a lower one, and the trial tells which kind will win: so
 * all kinds are tried low, and only those that can still win are encoded high. A trial is a result too: short frames are
 * often smaller at the low level. The prefix comes first, as it is cheap, and where it leaves much, code was compiled
 * anew: addcopy seldom wins there, and the matcher has most to do. Everything depends on sizes only, never on time, so equal
 * inputs give equal bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/filter.h"
#include "dray/frame.h"
#include "dray/index.h"

#include "frame_priv.h"
#include "lzma_in.h"

enum {
	KINDS = 3,
	TRIAL_LEVEL = 9,
	GUESS_LEVEL = 3,	/* tells plain's size to a third */
	SURELY = 60,		/* per cent of the guess: with less, plain has lost at any level */
	GAINS_GUESS = 63,	/* per cent of the guess that plain takes at any level, at least */
	GAINS_TRIAL = 84,	/* ... of a trial */
	ANEW = 30,		/* per cent that a prefix leaves: above, addcopy seldom wins */
	ANEW_LOW = 10,		/* ... above, it wins too little for a level that is to be fast */
	NOTHING = 99,		/* per cent that the smallest trial leaves: above, no level gains */
	SLOWER = 98,		/* per cent of zstd's bytes that LZMA may take: it decodes five times as slowly */
};

struct work {
	const struct dray_encode_in *in;
	const uint8_t *src, *ref;	/* filtered */
	unsigned kinds;			/* still in the race */
	size_t n[KINDS];		/* what a trial has made of it; SIZE_MAX: none was made */
	size_t plain;			/* of struct dray_encode_out */
};

const char *
dray_match_id(void)
{
	return "2";
}

static int
room(struct dray_encode_buf *b, size_t want, struct dray_err *e)
{
	if (b->cap >= want && b->p != NULL)
		return 0;
	free(b->p);
	b->cap = 0;
	if ((b->p = malloc(want != 0 ? want : 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "encoder: out of memory");
	b->cap = want;
	return 0;
}

/* private copies, so that the caller's bytes stay what they are */
static int
filter(struct dray_encoder *c, struct work *w, struct dray_err *e)
{
	const struct dray_encode_in *in = w->in;
	size_t at = 0;

	w->src = in->src;
	w->ref = in->ref;
	if (in->filter == DRAY_FILTER_NONE)
		return 0;
	if (room(&c->src, in->len, e) != 0 || room(&c->ref, in->ref_len, e) != 0)
		return -1;
	memcpy(c->src.p, in->src, in->len);
	dray_x86_filter(c->src.p, in->len, in->content_at);
	if (in->ref_len != 0)
		memcpy(c->ref.p, in->ref, in->ref_len);
	for (size_t i = 0; i < in->n_ranges && in->ranges[i].len <= in->ref_len - at; at += (size_t)in->ranges[i++].len)
		dray_x86_filter(c->ref.p + at, (size_t)in->ranges[i].len, in->ranges[i].offset);
	if (at != in->ref_len)
		return dray_fail(e, DRAY_E_IO, "encoder: base ranges do not make the %zu bytes given", in->ref_len);
	w->src = c->src.p;
	w->ref = c->ref.p;
	return 0;
}

/* one kind at one level, into c->other */
static int
encode(struct dray_encoder *c, const struct work *w, unsigned kind, int level, size_t *n, struct dray_err *e)
{
	const uint8_t *from = kind == DRAY_FRAME_ADDCOPY ? c->delta.raw : w->src;
	size_t len = kind == DRAY_FRAME_ADDCOPY ? c->delta.len : w->in->len;
	size_t ref_len = kind == DRAY_FRAME_PREFIX ? w->in->ref_len : 0;

	if (room(&c->other, dray_encode_bound(len), e) != 0)
		return -1;
	return dray_encode_ref(c, level, ref_len != 0 ? w->ref : NULL, ref_len, from, len, c->other.p, c->other.cap, n, e);
}

/* what is in c->other is the smallest now */
static void
keep(struct dray_encoder *c)
{
	struct dray_encode_buf swap = c->best;

	c->best = c->other;
	c->other = swap;
}

/* one kind at one level; it becomes the result if nothing so far is as small, or needs less of a base for as many bytes */
static int
try_kind(struct dray_encoder *c, const struct work *w, unsigned kind, int level, size_t *n, struct dray_encode_out *out,
    struct dray_err *e)
{
	if (encode(c, w, kind, level, n, e) != 0)
		return -1;
	if (*n > out->len || (*n == out->len && kind >= out->kind))
		return 0;
	*out = (struct dray_encode_out){ .kind = (uint8_t)kind, .len = *n,
		.raw = (uint32_t)(kind == DRAY_FRAME_ADDCOPY ? c->delta.len : w->in->len) };
	keep(c);
	return 0;
}

/* the same with LZMA, if it may be smaller by enough. One that is larger ends early: it has no room */
static int
try_lzma(struct dray_encoder *c, const struct work *w, unsigned kind, struct dray_encode_out *out, struct dray_err *e)
{
	const uint8_t *from = kind == DRAY_FRAME_ADDCOPY ? c->delta.raw : w->src;
	size_t len = kind == DRAY_FRAME_ADDCOPY ? c->delta.len : w->in->len, n;
	size_t ref_len = kind == DRAY_FRAME_PREFIX ? w->in->ref_len : 0;
	size_t cap = out->codec == DRAY_CODEC_ZSTD ? (size_t)((uint64_t)out->len * SLOWER / 100) : out->len - 1;
	int r;

	if (room(&c->other, cap, e) != 0 ||
	    (r = dray_lzma_encode(from, len, w->ref, ref_len, c->other.p, cap, &n, e)) < 0)
		return -1;
	if (r != 0)
		return 0;
	*out = (struct dray_encode_out){ .kind = (uint8_t)kind, .codec = DRAY_CODEC_LZMA, .len = n, .raw = (uint32_t)len };
	keep(c);
	return 0;
}

static bool
in_race(const struct work *w, unsigned kind)
{
	return (w->kinds >> kind & 1) != 0;
}

static int
try_low(struct dray_encoder *c, struct work *w, unsigned kind, int level, struct dray_encode_out *out, struct dray_err *e)
{
	return in_race(w, kind) ? try_kind(c, w, kind, level, &w->n[kind], out, e) : 0;
}

/*
 * Addcopy, where it may win; without a share of equal bytes that is worth it, the prefix stands for it. Where the prefix
 * leaves much, it must find more than that in long stretches: zstd at a low level does not see all of a large base.
 */
static int
try_addcopy(struct dray_encoder *c, struct work *w, int level, bool high, struct dray_encode_out *out, struct dray_err *e)
{
	size_t prefix = w->n[DRAY_FRAME_PREFIX], len = w->in->len;
	int r;

	if (!in_race(w, DRAY_FRAME_ADDCOPY))
		return 0;
	c->delta.least = 0;
	if (prefix != SIZE_MAX && (uint64_t)prefix * 100 > (uint64_t)len * (high ? ANEW : ANEW_LOW))
		c->delta.least = prefix < len ? len - prefix : 1;
	if ((r = dray_delta_make(w->src, len, w->ref, w->in->ref_len, &c->delta, e)) < 0)
		return -1;
	if (r == 0)
		return try_low(c, w, DRAY_FRAME_ADDCOPY, level, out, e);
	w->kinds &= ~(unsigned)DRAY_TRY_ADDCOPY;
	if (w->kinds != 0)
		return 0;
	w->kinds = DRAY_TRY_PREFIX;
	return try_low(c, w, DRAY_FRAME_PREFIX, level, out, e);
}

/* plain, unless a guess shows that it has lost */
static int
try_plain(struct dray_encoder *c, struct work *w, int level, bool high, struct dray_encode_out *out, struct dray_err *e)
{
	size_t guess;

	if (!in_race(w, DRAY_FRAME_PLAIN))
		return 0;
	if (level > GUESS_LEVEL && out->len != SIZE_MAX) {
		if (encode(c, w, DRAY_FRAME_PLAIN, GUESS_LEVEL, &guess, e) != 0)
			return -1;
		if ((uint64_t)out->len * 100 <= (uint64_t)guess * SURELY) {
			w->plain = guess / 100 * GAINS_GUESS;
			w->kinds &= ~(unsigned)DRAY_TRY_PLAIN;
			return 0;
		}
	}
	if (try_low(c, w, DRAY_FRAME_PLAIN, level, out, e) != 0)
		return -1;
	w->plain = high ? w->n[DRAY_FRAME_PLAIN] / 100 * GAINS_TRIAL : w->n[DRAY_FRAME_PLAIN];
	return 0;
}

/*
 * Take the kinds out of the race that can no longer win. A high level gains most with a prefix, next to nothing with
 * plain and addcopy against it: over 250 files of two upgrades this drops no winner that saves more than 0.3 %.
 */
static void
drop_losers(struct work *w)
{
	static const size_t behind[KINDS] = { 105, 115, 100 };	/* per cent of the smallest */
	size_t least = SIZE_MAX;

	for (unsigned k = 0; k < KINDS; k++)
		if (in_race(w, k) && w->n[k] < least)
			least = w->n[k];
	if ((uint64_t)least * 100 > (uint64_t)w->in->len * NOTHING)
		w->kinds = 0;
	for (unsigned k = 0; k < KINDS; k++)
		if (in_race(w, k) && (uint64_t)w->n[k] * 100 > (uint64_t)least * behind[k])
			w->kinds &= ~(1u << k);
}

int
dray_encode_best(struct dray_encoder *c, const struct dray_encode_in *in, struct dray_encode_out *out,
    struct dray_err *e)
{
	struct work w = { .in = in, .kinds = in->kinds != 0 ? in->kinds & DRAY_TRY_ALL : DRAY_TRY_ALL,
		.n = { SIZE_MAX, SIZE_MAX, SIZE_MAX } };
	int level = in->level != 0 ? in->level : c->level, low = level < TRIAL_LEVEL ? level : TRIAL_LEVEL;
	bool high = level > low;

	*out = (struct dray_encode_out){ .len = SIZE_MAX };
	if (in->len == 0 || in->len > DRAY_FRAME_MAX || in->ref_len > DRAY_REF_MAX || level < 1 || level > DRAY_LEVEL_BEST)
		return dray_fail(e, DRAY_E_USAGE, "encoder: a frame of %zu bytes against %zu, level %d", in->len, in->ref_len, level);
	if (in->ref_len == 0)
		w.kinds = DRAY_TRY_PLAIN;
	if (filter(c, &w, e) != 0 || try_low(c, &w, DRAY_FRAME_PREFIX, low, out, e) != 0 ||
	    try_addcopy(c, &w, low, high, out, e) != 0 || try_plain(c, &w, low, high, out, e) != 0)
		return -1;
	if (high)
		drop_losers(&w);
	for (unsigned k = 0; k < KINDS && high; k++)
		if (in_race(&w, k) && try_kind(c, &w, k, level, &w.n[k], out, e) != 0)
			return -1;
	for (unsigned k = 0; k < KINDS && level == DRAY_LEVEL_BEST && (in->kinds & DRAY_TRY_ZSTD) == 0; k++)
		if (in_race(&w, k) && try_lzma(c, &w, k, out, e) != 0)
			return -1;
	if (high && in_race(&w, DRAY_FRAME_PLAIN))
		w.plain = w.n[DRAY_FRAME_PLAIN];
	out->p = c->best.p;
	out->plain = w.plain;
	return 0;
}
