/*
 * fuzz_merge3.c - three texts of bad will. The first byte of an input says of what kind they are and whether there is a
 * base; bytes of zero cut the rest in mine, base, theirs (what follows a third one belongs to theirs, which is no text then).
 * What comes out must hold together: parts follow each other and cover each side once, conflicts are counted and marked.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/merge3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* a copy of exactly so many bytes, so that a sanitizer sees the first one too many */
static void
side(const uint8_t **p, size_t *left, bool last, struct dray_merge3_text *out)
{
	const uint8_t *end = last || *left == 0 ? NULL : memchr(*p, '\0', *left);
	const size_t len = end == NULL ? *left : (size_t)(end - *p);
	uint8_t *copy = malloc(len > 0 ? len : 1);

	if (copy == NULL)
		abort();
	if (len > 0)
		memcpy(copy, *p, len);
	*out = (struct dray_merge3_text){ .p = copy, .len = len };
	*p += len + (end != NULL);
	*left -= len + (end != NULL);
}

static uint32_t
lines(const struct dray_merge3_text *t)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->len; i++)
		n += t->p[i] == '\n' || i + 1 == t->len;
	return n;
}

/* by lines the parts are in order on each side; by entries only mine is, and each line is in one part at most */
static void
look_at(const struct dray_merge3_in *in, const struct dray_merge3 *m)
{
	uint32_t done[3] = { 0, 0, 0 };
	size_t conflicts = 0;

	for (size_t i = 0; i < m->n; i++) {
		conflicts += m->part[i].take == DRAY_MERGE3_CONFLICT;
		for (int s = 0; s < 3; s++) {
			if (in->kind == DRAY_MERGE3_TEXT && m->part[i].side[s].n > 0 && m->part[i].side[s].at != done[s])
				abort();
			if (m->part[i].side[s].n > 0 && m->part[i].side[s].at + m->part[i].side[s].n > lines(&in->side[s]))
				abort();
			done[s] += m->part[i].side[s].n;
		}
	}
	if (conflicts != m->conflicts || (m->part != NULL && done[0] != lines(&in->side[0])))
		abort();
	if (m->part != NULL && in->kind == DRAY_MERGE3_TEXT && (done[2] != lines(&in->side[2]) || (!in->no_base && done[1] != lines(&in->side[1]))))
		abort();
	if (conflicts > 0 && dray_merge3_marker(m->text, m->len) == 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_merge3_in in;
	struct dray_merge3 m;
	struct dray_err e = { 0 };

	if (size == 0)
		return 0;
	in = (struct dray_merge3_in){ .kind = (enum dray_merge3_kind)((data[0] & 0x7f) % 3), .no_base = data[0] >= 0x80 };
	data++;
	size--;
	for (int s = 0; s < 3; s++)
		side(&data, &size, s == 2, &in.side[s]);
	if (dray_merge3(&in, &m, &e) != 0 || (m.why == NULL) != (m.text != NULL))
		abort();
	if (m.why == NULL)
		look_at(&in, &m);
	else if (m.conflicts != 1 || memchr(in.side[m.why_side].p, '\0', in.side[m.why_side].len) == NULL)
		abort();
	dray_merge3_free(&m);
	for (int s = 0; s < 3; s++) {
		uint8_t *p = NULL;

		memcpy(&p, &in.side[s].p, sizeof(p));
		free(p);
	}
	return 0;
}
