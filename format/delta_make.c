/*
 * delta_make.c - the encoder of addcopy frames: which base bytes to add to, which bytes to copy. Never in dray-install.
 *
 * After Colin Percival's bsdiff ("Naive differences of executable code"): an exact match is taken when it is better by
 * more than 8 bytes than going on with the alignment in use; the alignment is then stretched both ways as long as more
 * bytes agree than not. Moved code differs in a few address bytes only, so the differences are mostly zero. Every loop
 * walks src once between two decisions, so all is linear but the search, which is bounded by delta_match.c.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/delta.h"
#include "dray/frame.h"
#include "dray/num.h"

#include "delta_match.h"

enum {
	BETTER = 8,		/* bytes by which another alignment must win */
	WORTH = 20,		/* per cent; where more is new, zstd with a prefix does as well in less time */
	NUMBER_MAX = 5,		/* bytes of a number below 2^32 */
};

struct step { uint32_t ref, add, copy; };	/* add bytes from ref on, then copy bytes of src */

struct maker {
	struct dray_matcher m;
	struct step *steps;
	size_t n, cap;
	size_t at, ref;		/* src and ref where the alignment in use begins */
};

static int
add_step(struct maker *k, size_t add, size_t copy, struct dray_err *e)
{
	if (add == 0 && k->n != 0) {
		k->steps[k->n - 1].copy += (uint32_t)copy;
		return 0;
	}
	if (add == 0 && copy == 0)
		return 0;	/* the very beginning */
	if (k->n == k->cap) {
		size_t cap = k->cap * 2 + 256;
		struct step *v = realloc(k->steps, cap * sizeof *v);

		if (v == NULL)
			return dray_fail(e, DRAY_E_IO, "matching: out of memory");
		k->steps = v;
		k->cap = cap;
	}
	k->steps[k->n++] = (struct step){ (uint32_t)k->ref, (uint32_t)add, (uint32_t)copy };
	if (k->n > 1 || k->ref == 0)
		return 0;
	/* a decoder begins at 0 and cannot go elsewhere before it has made something: one byte, then */
	if (add <= 1) {
		k->steps[0].ref = 0;
		return 0;
	}
	k->steps[0] = (struct step){ 0, 1, 0 };
	k->ref++;
	return add_step(k, add - 1, copy, e);
}

/* is src[i] what the alignment @diag says? */
static bool
agrees(const struct dray_matcher *m, size_t i, int64_t diag)
{
	int64_t on = (int64_t)i + diag;

	return on >= 0 && (uint64_t)on < m->ref_len && m->ref[on] == m->src[i];
}

/* how far the alignment in use goes on towards @to with more bytes that agree than not */
static size_t
forward(struct maker *k, size_t to)
{
	const uint8_t *src = k->m.src + k->at, *ref = k->m.ref + k->ref;
	size_t max = to - k->at < k->m.ref_len - k->ref ? to - k->at : k->m.ref_len - k->ref, len = 0;
	int64_t score = 0, best = 0;

	k->m.work += max;
	for (size_t i = 0; i < max; i++) {
		score += src[i] == ref[i] ? 1 : -1;
		if (score > best) {
			best = score;
			len = i + 1;
		}
	}
	return len;
}

/* the same backwards from a match at @to, @pos */
static size_t
backward(struct maker *k, size_t to, size_t pos)
{
	size_t max = to - k->at < pos ? to - k->at : pos, len = 0;
	int64_t score = 0, best = 0;

	k->m.work += max;
	for (size_t i = 1; i <= max; i++) {
		score += k->m.src[to - i] == k->m.ref[pos - i] ? 1 : -1;
		if (score > best) {
			best = score;
			len = i;
		}
	}
	return len;
}

/* the two stretches overlap by @over bytes: the first keeps as many of them as are best with it */
static size_t
divide(const struct maker *k, size_t from, size_t pos, size_t over)
{
	const uint8_t *src = k->m.src + from, *a = k->m.ref + k->ref + (from - k->at), *b = k->m.ref + pos;
	int64_t score = 0, best = 0;
	size_t keep = 0;

	for (size_t i = 0; i < over; i++) {
		score += (src[i] == a[i]) - (src[i] == b[i]);
		if (score > best) {
			best = score;
			keep = i + 1;
		}
	}
	return keep;
}

/* end the alignment in use before a match at @to, @pos; at the end of src there is none, and @pos is not looked at */
static int
turn(struct maker *k, size_t to, size_t pos, struct dray_err *e)
{
	size_t ahead = forward(k, to), back = to < k->m.len ? backward(k, to, pos) : 0;

	if (k->at + ahead > to - back) {
		size_t over = k->at + ahead - (to - back), keep = divide(k, to - back, pos - back, over);

		ahead -= over - keep;
		back -= keep;
	}
	if (add_step(k, ahead, to - back - (k->at + ahead), e) != 0)
		return -1;
	k->at = to - back;
	k->ref = pos - back;
	return 0;
}

static int
scan(struct maker *k, struct dray_err *e)
{
	const struct dray_matcher *m = &k->m;
	size_t i = 0, len = 0, pos = 0;
	int64_t diag = 0;

	while (i < m->len) {
		size_t counted, agree = 0;	/* bytes of [i, counted) that the alignment in use has right */

		i += len;
		for (counted = i; i < m->len; i++) {
			len = dray_match_find(&k->m, i, diag, &pos);
			for (; counted < i + len || counted <= i; counted++, k->m.work++)
				agree += agrees(m, counted, diag);
			if ((len != 0 && len == agree) || len > agree + BETTER)
				break;
			agree -= agrees(m, i, diag);
		}
		if (i < m->len && len == agree)
			continue;	/* the alignment in use goes on */
		if (turn(k, i, pos, e) != 0)
			return -1;
		diag = (int64_t)pos - (int64_t)i;
	}
	return 0;
}

static uint8_t *
put_number(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Return: 0; 1: control would be longer than readers allow */
static int
write_parts(const struct maker *k, struct dray_delta *d, struct dray_err *e)
{
	size_t most = 12 + k->n * 3 * NUMBER_MAX + k->m.len, pos = 0;
	const uint8_t *src = k->m.src;
	uint8_t *p, *control, *diff;

	if (d->cap < most) {
		free(d->raw);
		d->cap = 0;
		if ((d->raw = malloc(most)) == NULL)
			return dray_fail(e, DRAY_E_IO, "matching: out of memory");
		d->cap = most;
	}
	p = control = d->raw + 12;
	for (size_t i = 0; i < k->n; i++) {
		const struct step *s = &k->steps[i];
		uint64_t to = i + 1 < k->n ? k->steps[i + 1].ref : s->ref + s->add, z;

		pos = s->ref + s->add;
		z = to >= pos ? (to - pos) * 2 : (pos - to) * 2 - 1;
		p = put_number(put_number(put_number(p, s->add), s->copy), z);
	}
	if ((size_t)(p - control) > DRAY_DELTA_OVERHEAD(k->m.len) - 12)
		return 1;
	dray_put_u32(d->raw, (uint32_t)(p - control));
	diff = p;
	for (size_t i = 0; i < k->n; src += k->steps[i].add + k->steps[i].copy, i++)
		for (size_t j = 0; j < k->steps[i].add; j++) {
			*p = (uint8_t)(src[j] - k->m.ref[k->steps[i].ref + j]);
			d->exact += *p++ == 0;
		}
	dray_put_u32(d->raw + 4, (uint32_t)(p - diff));
	d->diff = (uint64_t)(p - diff) - d->exact;
	d->extra = k->m.len - (uint64_t)(p - diff);
	dray_put_u32(d->raw + 8, (uint32_t)d->extra);
	src = k->m.src;
	for (size_t i = 0; i < k->n; i++) {
		src += k->steps[i].add;
		memcpy(p, src, k->steps[i].copy);
		p += k->steps[i].copy;
		src += k->steps[i].copy;
	}
	d->len = (size_t)(p - d->raw);
	d->steps = k->n;
	return 0;
}

int
dray_delta_make(const uint8_t *src, size_t len, const uint8_t *ref, size_t ref_len, struct dray_delta *d,
    struct dray_err *e)
{
	struct maker k = { .m = { .src = src, .len = len, .ref = ref, .ref_len = ref_len } };
	unsigned share = 100;
	int rc = -1;

	d->steps = d->exact = d->diff = d->extra = d->work = 0;
	d->len = 0;
	if (dray_match_blocks(&k.m, e) != 0)
		goto out;
	if (k.m.covered >= d->least && len >= 4096 && k.m.covered < len / 8 && dray_match_share(&k.m, &share, e) != 0)
		goto out;
	if (share < WORTH || k.m.covered < d->least) {
		rc = 1;
		goto out;
	}
	if (k.m.covered < len - len / 64 && dray_match_suffixes(&k.m, e) != 0)
		goto out;
	if (scan(&k, e) != 0)
		goto out;
	rc = write_parts(&k, d, e);
out:
	d->work = k.m.work;
	dray_match_free(&k.m);
	free(k.steps);
	return rc;
}

void
dray_delta_free(struct dray_delta *d)
{
	free(d->raw);
	*d = (struct dray_delta){ 0 };
}
