/*
 * texts.c - contents of the bundle as texts in memory, by their full recipes.
 */
#include <stdlib.h>
#include <string.h>

#include "dray/digest.h"
#include "dray/frame.h"
#include "dray/gzip.h"
#include "dray/num.h"

#include "installer/texts.h"

struct inst_texts {
	const struct dray_bundle *b;
	const struct dray_index *ix;
	struct dray_decoder *dec;
	struct dray_sha256 *h;
	uint8_t *stored, *out;		/* of the frame below: neighbours share one */
	size_t stored_cap, out_cap;
	uint32_t frame;			/* DRAY_NONE: none yet */
	struct dray_gzip_room gzip;
};

int
inst_texts_new(const struct dray_bundle *b, struct inst_texts **out, struct dray_err *e)
{
	struct inst_texts *t = calloc(1, sizeof(*t));

	*out = NULL;
	if (t == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	t->b = b;
	t->ix = dray_bundle_index(b);
	t->frame = DRAY_NONE;
	if (dray_decoder_new(&t->dec, e) != 0 || dray_sha256_new(&t->h, e) != 0) {
		inst_texts_free(t);
		return -1;
	}
	*out = t;
	return 0;
}

void
inst_texts_free(struct inst_texts *t)
{
	if (t == NULL)
		return;
	dray_decoder_free(t->dec);
	dray_sha256_free(t->h);
	dray_gzip_room_free(&t->gzip);
	free(t->stored);
	free(t->out);
	free(t);
}

static int
room(uint8_t **p, size_t *cap, size_t want, struct dray_err *e)
{
	if (*p != NULL && want <= *cap)
		return 0;
	free(*p);
	*cap = want;
	return (*p = malloc(want)) != NULL ? 0 : dray_fail(e, DRAY_E_IO, "out of memory");
}

/* hash, then decode: nothing unverified goes on; @at: where its output stands in the content */
static int
take_frame(struct inst_texts *t, uint32_t row, uint64_t at, struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN];
	struct dray_ref none = { .p = NULL };
	struct dray_frame f;

	if (t->frame == row)
		return 0;
	t->frame = DRAY_NONE;
	dray_index_frame(t->ix, row, &f);
	if (room(&t->stored, &t->stored_cap, f.stored, e) != 0 || room(&t->out, &t->out_cap, f.out, e) != 0 ||
	    dray_bundle_read(t->b, f.at, t->stored, f.stored, e) != 0 || dray_sha256_once(t->h, t->stored, f.stored, sum, e) != 0)
		return -1;
	if (memcmp(sum, f.sha256, sizeof(sum)) != 0) {
		dray_fail(e, DRAY_E_FORMAT, "it is damaged (its hash differs)");
		return dray_hint(e, "copy the bundle again; nothing on this machine was changed");
	}
	/* a frame with a filter, for which @at counts, is all of one piece */
	if (dray_decode_frame(t->dec, &f, t->stored, &none, at, dray_bundle_desc(t->b), t->out, e) != 0)
		return -1;
	t->frame = row;
	return 0;
}

/* the full recipe, which is always the last; false: there is none */
static bool
full_recipe(const struct dray_index *ix, const struct dray_content *c, struct dray_recipe *r)
{
	if (c->recipe_count == 0)
		return false;
	dray_index_recipe(ix, c->recipe_first + c->recipe_count - 1, r);
	return r->kind == DRAY_RECIPE_FULL;
}

static int
put_together(struct inst_texts *t, const struct dray_recipe *r, uint8_t *p, size_t len, struct dray_err *e)
{
	struct dray_piece pc;
	const uint8_t *gz;
	size_t at = 0;

	for (uint32_t i = 0; i < r->piece_count; i++) {
		dray_index_piece(t->ix, r->piece_first + i, &pc);
		if (take_frame(t, pc.frame, at, e) != 0)
			return dray_wrap(e, "frame %u", (unsigned)pc.frame);
		if (r->wrap != DRAY_DEFLATE_NONE) {	/* it has this one piece */
			if (dray_gzip_content(&t->gzip, r->wrap, t->out + pc.offset, pc.len, len, &gz, e) != 0)
				return -1;
			memcpy(p, gz, len);
			return 0;
		}
		memcpy(p + at, t->out + pc.offset, pc.len);	/* the index has proved that they make exactly the size */
		at += pc.len;
	}
	return 0;
}

int
inst_text_read(struct inst_texts *t, uint32_t content, uint64_t most, uint8_t **p, size_t *len, struct dray_err *e)
{
	uint8_t sum[DRAY_SHA256_LEN], *text;
	struct dray_content c;
	struct dray_recipe r = { .piece_count = 0 };

	*p = NULL;
	*len = 0;
	dray_index_content(t->ix, content, &c);
	if (c.size > most || !dray_fit(c.size, len) || (c.size > 0 && !full_recipe(t->ix, &c, &r)))
		return 1;
	if ((text = malloc(*len + 1)) == NULL)
		return dray_fail(e, DRAY_E_IO, "out of memory");
	text[*len] = 0;
	if ((c.size > 0 && put_together(t, &r, text, *len, e) != 0) || dray_sha256_once(t->h, text, *len, sum, e) != 0) {
		free(text);
		return -1;
	}
	if (memcmp(sum, c.sha256, sizeof(sum)) != 0) {
		free(text);
		return dray_fail(e, DRAY_E_FORMAT, "a content does not have the signed hash");
	}
	*p = text;
	return 0;
}
