/*
 * index_bad.h - spoil one thing of a good index, load it, and hold the whole message against what it must be.
 */
#ifndef INDEX_BAD_H
#define INDEX_BAD_H

#include <stddef.h>

#include "test.h"

#include "index_raw.h"

/* what is spoilt: a field, bytes of a path or of another text, the number of rows, a field of the descriptor */
enum what { NOTHING, FIELD, PATH, TEXT, ROWS, DESC };

struct patch {
	enum what what;
	enum dray_table t;
	size_t row, at, size;
	uint64_t value;
	const char *text;
};

struct bad {
	const char *name;
	enum dray_code code;
	const char *text;		/* the message after "index: "; with "..." at its end, how it begins */
	struct patch p[4];
};

#define DAMAGED DRAY_E_FORMAT
#define NEWER DRAY_E_NEWER
#define SET(t, row, at, size, value) { FIELD, t, row, at, size, value, NULL }
#define NAME(entry, text) { PATH, DRAY_T_ENTRIES, entry, 0, 0, 0, text }	/* no longer than the path that is there */
#define LETTER(t, row, at, skip, c) { TEXT, t, row, at, skip, c, NULL }	/* one byte of the text a field points to */
#define COUNT(t, n) { ROWS, t, n, 0, 0, 0, NULL }
#define DECLARE(field, value) { DESC, 0, 0, offsetof(struct dray_desc, field), sizeof(((struct dray_desc *)0)->field), value, NULL }

static inline void
put(uint8_t *p, size_t size, uint64_t value)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static inline void
spoil(const struct patch *p, struct raw *r)
{
	switch (p->what) {
	case FIELD:
		put(raw_row(r, p->t, p->row) + p->at, p->size, p->value);
		break;
	case PATH:
		memcpy(raw_path(r, p->row), p->text, strlen(p->text));
		break;
	case TEXT:
		r->t[DRAY_T_STRINGS][dray_get_u32(raw_row(r, p->t, p->row) + p->at) + p->size] = (uint8_t)p->value;
		break;
	case ROWS:
		r->rows[p->t] = (uint32_t)p->row;
		break;
	case NOTHING:
	case DESC:
		break;
	}
}

static inline void
declare(const struct patch *p, struct dray_desc *d)
{
	const bool b = p->value != 0;
	const uint32_t u32 = (uint32_t)p->value;

	if (p->what == DESC)
		memcpy((char *)d + p->at, p->size == 1 ? (const void *)&b : p->size == 4 ? (const void *)&u32 : &p->value,
		    p->size);
}

/* packs what the case spoilt and loads it */
static inline int
load_bad(const struct bad *b, void (*good)(struct raw *r), struct dray_err *e)
{
	const size_t n = sizeof b->p / sizeof b->p[0];
	struct raw r = { 0 };
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_index *ix;
	struct dray_desc *d;
	int rc;

	good(&r);
	for (size_t k = 0; k < n; k++)
		spoil(&b->p[k], &r);
	raw_pack(&r, &dir, &dir_len, &chunks, &chunks_len);
	d = raw_desc(&r, chunks_len);
	for (size_t k = 0; k < n; k++)
		declare(&b->p[k], d);
	rc = raw_load(d, dir, dir_len, chunks, chunks_len, 1, &ix, e);
	CHECK(rc == 0 || ix == NULL);
	dray_index_free(ix);
	free(dir);
	free(chunks);
	raw_free(&r);
	return rc;
}

/* each case against the index that @good makes */
static inline void
check_bads(const struct bad *bads, size_t n, void (*good)(struct raw *r))
{
	for (size_t i = 0; i < n; i++) {
		const struct bad *b = &bads[i];
		struct dray_err e = { 0 };
		unsigned before = test_bad;
		size_t len = strlen(b->text);
		char want[512];

		CHECK_EQ(load_bad(b, good, &e), -1);
		CHECK_EQ(e.code, b->code);
		snprintf(want, sizeof want, "index: %s", b->text);
		if (len > 3 && strcmp(b->text + len - 3, "...") == 0)
			e.text[len + 7 - 3] = want[len + 7 - 3] = '\0';
		CHECK_STR(e.text, want);
		if (test_bad != before)
			printf("# in case \"%s\"\n", b->name);
	}
}

#endif
