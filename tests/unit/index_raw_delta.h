/*
 * index_raw_delta.h - for tests and fuzzing of the index: a good index of a bundle with deltas, made as in index_raw.h.
 */
#ifndef INDEX_RAW_DELTA_H
#define INDEX_RAW_DELTA_H

#include "dray/frame.h"

#include "index_raw.h"

/* contents 0 to 2 and 6 are of bases; 3 is made by a prefix frame or in full, 4 by a filtered addcopy frame, 5 is a copy */
enum { OLD, OLD_0, OLD_1, NEW, CODE, MOVED, KEPT, CONTENTS };
enum { PREFIX, ADDCOPY, PLAIN, FRAMES };
enum { TO_NEW, TO_NEW_FULL, TO_CODE, TO_MOVED, RECIPES };

static const struct dray_range prefix_ranges[] = { { OLD, 10, 500, false }, { KEPT, 0, 64, false }, { OLD, 990, 10, false } },
    addcopy_range = { OLD_0, 100, 400, false };

static inline void
raw_delta_tree(struct dray_index_writer *w, uint32_t rows[CONTENTS])
{
	static const uint32_t sizes[CONTENTS] = { 1000, 500, 400, 900, 300, 77, 64 };
	static const struct dray_attrs mode = { .has = DRAY_HAS_MODE, .mode = 0644 };
	static const struct dray_alt old[] = { { 0, 7 } }, two[] = { { 1, 1 }, { 2, 2 }, { DRAY_NONE, 4 } },
	    absent[] = { { DRAY_NONE, 7 } }, moved[] = { { 5, 7 } };
	struct dray_err e = { 0 };
	uint8_t sha[32];
	uint32_t row, attrs;

	raw_need(dray_iw_attrs(w, &mode, NULL, 0, &attrs, &e), &e);
	raw_need(dray_iw_compset(w, 1, &row, &e), &e);
	for (uint32_t i = CONTENTS; i-- > 0; ) {	/* not in the order in which states name them */
		memset(sha, (int)(i + 1), sizeof sha);
		raw_need(dray_iw_content(w, sizes[i], sha, &rows[i], &e), &e);
	}
	for (uint32_t i = 0; i < CONTENTS; i++) {
		const struct dray_state s = { .type = DRAY_FILE, .attrs = attrs, .content = rows[i] };

		raw_need(dray_iw_state(w, &s, &row, &e), &e);
	}
	raw_put_entry(w, "a", 0, 3, old, 1);
	raw_put_entry(w, "b", 0, 4, two, 3);
	raw_put_entry(w, "c", 0, 5, absent, 1);
	raw_put_entry(w, "d", 0, DRAY_NONE, moved, 1);
	raw_put_entry(w, "s", DRAY_ENTRY_SAME, 6, NULL, 0);
}

static inline void
raw_delta_frames(struct dray_index_writer *w, const uint32_t rows[CONTENTS])
{
	static const uint8_t sha[32] = { 0xcd };
	static const struct dray_frame frames[FRAMES] = {
		[PREFIX] = { .kind = DRAY_FRAME_PREFIX, .stored = 100, .out = 900, .raw = 900, .sha256 = sha },
		[ADDCOPY] = { .kind = DRAY_FRAME_ADDCOPY, .filter = DRAY_FILTER_X86, .stored = 50, .out = 300, .raw = 332,
			.sha256 = sha },
		[PLAIN] = { .kind = DRAY_FRAME_PLAIN, .block = 1, .stored = 700, .out = 900, .sha256 = sha },
	};
	static const struct dray_piece new = { PREFIX, 0, 900 }, full = { PLAIN, 0, 900 }, code = { ADDCOPY, 0, 300 };
	static const struct dray_piece *const new_pieces[] = { &new, &full }, *const code_pieces[] = { &code },
	    *const none[] = { NULL };
	static const struct dray_recipe to_new[] = { { DRAY_RECIPE_DELTA, 0, 0, 1 }, { DRAY_RECIPE_FULL, 0, 0, 1 } },
	    to_code = { DRAY_RECIPE_DELTA, 0, 0, 1 }, to_moved = { DRAY_RECIPE_COPY, 0, 0, 0 };
	struct dray_range r[3] = { prefix_ranges[0], prefix_ranges[1], prefix_ranges[2] }, one = addcopy_range;
	struct dray_err e = { 0 };
	uint32_t row;

	for (size_t i = 0; i < 3; i++)
		r[i].content = rows[r[i].content];
	one.content = rows[one.content];
	raw_need(dray_iw_frame(w, &frames[PREFIX], r, 3, &row, &e), &e);
	raw_need(dray_iw_frame(w, &frames[ADDCOPY], &one, 1, &row, &e), &e);
	raw_need(dray_iw_frame(w, &frames[PLAIN], NULL, 0, &row, &e), &e);
	raw_need(dray_iw_recipes(w, rows[MOVED], &to_moved, 1, none, &e), &e);
	raw_need(dray_iw_recipes(w, rows[NEW], to_new, 2, new_pieces, &e), &e);
	raw_need(dray_iw_recipes(w, rows[CODE], &to_code, 1, code_pieces, &e), &e);
}

/* the index of a bundle with deltas, as a reader has it */
static inline struct dray_index *
raw_delta_load(void)
{
	static uint8_t frames[FRAMES * F_WIDTH];
	struct raw only = { .rows[DRAY_T_FRAMES] = FRAMES, .t[DRAY_T_FRAMES] = frames };
	struct dray_index_writer *w;
	struct dray_err e = { 0 };
	uint32_t rows[CONTENTS];
	uint8_t *dir, *chunks;
	size_t dir_len, chunks_len;
	struct dray_index *ix;

	raw_need(dray_iw_new(&w, &e), &e);
	raw_delta_tree(w, rows);
	raw_delta_frames(w, rows);
	raw_need(dray_iw_finish(w, 3, 1, &dir, &dir_len, &chunks, &chunks_len, &e), &e);
	dray_put_u32(frames + F_STORED, 100);
	dray_put_u32(frames + F_WIDTH + F_STORED, 50);
	dray_put_u32(frames + 2 * F_WIDTH + F_STORED, 700);
	dray_put_u32(frames + 2 * F_WIDTH + F_BLOCK, 1);
	raw_need(raw_load(raw_desc(&only, chunks_len), dir, dir_len, chunks, chunks_len, 1, &ix, &e), &e);
	dray_iw_free(w);
	free(dir);
	free(chunks);
	return ix;
}

static inline void
raw_delta_good(struct raw *r)
{
	struct dray_index *ix = raw_delta_load();

	raw_copy(ix, r);
	dray_index_free(ix);
}

#endif
